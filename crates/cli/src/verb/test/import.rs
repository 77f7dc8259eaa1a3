//! `proof test import`: converts tests of other tools to test files.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use suite::import::{self, Imported, Source};
use suite::test;

use super::{ENDINGS, MAX_DEPTH, find_files};
use crate::args::import::ImportArgs;
use crate::exit::{Exit, tell, usage};
use crate::verb::generated_file::{self, Writer};
use crate::verb::output;

/// The endings of files to import.
const IMPORTED: [&str; 3] = [".json", ".yaml", ".yml"];
/// The name of the file in messages when it goes to stdout.
const UNNAMED: &str = "imported.mcp.yaml";

/// Writes test files.
pub(super) fn run(args: &ImportArgs) -> Exit {
    match written(args) {
        Ok(()) => Exit::Clean,
        Err(exit) => exit,
    }
}

fn written(args: &ImportArgs) -> Result<(), Exit> {
    let sources = sources(&args.paths)?;
    let made = import::import(&sources, args.fixture.as_deref(), crate::advice::testing).map_err(|wrong| {
        for faults in wrong {
            tell(faults);
        }
        Exit::Usage
    })?;
    let files = runs(args, &made)?;
    for (path, _) in &files {
        if let Some(path) = path {
            output::writable(path)?;
            generated_file::check_replaceable(Writer::Import, path, args.force)?;
        }
    }
    let texts = files.iter().map(|(path, one)| text(path.as_deref(), one)).collect::<Result<Vec<String>, Exit>>()?;
    for ((path, one), text) in files.iter().zip(&texts) {
        output::publish(path.as_deref(), text)?;
        tell(summary(one, path.as_deref()).trim_end());
    }
    Ok(())
}

/// Reads the given files. Files of neither format in a directory are skipped, with a note.
fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, Exit> {
    let mut sources = Vec::new();
    let mut wrong = false;
    for path in paths {
        let mut files = vec![path.clone()];
        if path.is_dir() {
            files.clear();
            find_files(path, &IMPORTED, MAX_DEPTH, &mut files);
            files.retain(|file| !ENDINGS.iter().any(|ending| file.to_string_lossy().ends_with(ending)));
            files.sort();
        }
        let before = sources.len();
        let mut others = 0;
        for file in &files {
            match import::load(file) {
                Ok(Some(source)) => sources.push(source),
                Ok(None) if path.is_dir() => others += 1,
                Ok(None) => {
                    let what = format!("{} is neither an mcp-jest nor an mcp-assert file", output::shown(file));
                    usage(&what, "JSON with `server` and `tests`, or YAML with `server` and `assert`");
                    wrong = true;
                }
                Err(faults) => {
                    tell(faults);
                    wrong = true;
                }
            }
        }
        if path.is_dir() && sources.len() == before && !wrong {
            let what = format!("no mcp-jest or mcp-assert file in {}", output::shown(path));
            return Err(usage(&what, "JSON with `server` and `tests`, or YAML with `server` and `assert`"));
        }
        if others > 0 {
            let (number, folder) = (files_of(others), output::shown(path));
            tell(format_args!("note: skipped {number} of neither format in {folder}"));
        }
    }
    if wrong { Err(Exit::Usage) } else { Ok(sources) }
}

/// The output path of each file.
fn runs<'i>(args: &ImportArgs, made: &'i [Imported]) -> Result<Vec<(Option<PathBuf>, &'i Imported)>, Exit> {
    let folder = args.output.as_deref().filter(|path| path.is_dir());
    match (made, folder) {
        (made, Some(folder)) => {
            let mut taken = HashSet::new();
            Ok(made.iter().map(|one| (Some(folder.join(name(one, &mut taken))), one)).collect())
        }
        ([one], None) => Ok(vec![(args.output.clone(), one)]),
        (several, None) => {
            let mut what = format!("tests of {} servers do not fit in one test file", several.len());
            for one in several {
                let (first, others) = one
                    .sources()
                    .split_first()
                    .map_or_else(Default::default, |(first, others)| (output::shown(first), others.len()));
                let others = if others == 0 { String::new() } else { format!(" and {others} more") };
                let _ = write!(what, "\n  {first}{others}");
            }
            Err(usage(&what, "-o DIR with an existing directory writes one file per server"))
        }
    }
}

/// The name of a file: that of its source, or of the directory of its sources.
fn name(one: &Imported, taken: &mut HashSet<String>) -> String {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let stem = match one.sources() {
        [only] => stem(only),
        [first, ..] => first
            .parent()
            .and_then(Path::file_name)
            .map(|name| name.to_string_lossy().into_owned())
            .or_else(|| stem(first)),
        [] => None,
    };
    let stem = stem.unwrap_or_else(|| "imported".to_owned());
    let mut name = format!("{stem}.mcp.yaml");
    let mut number = 2;
    while !taken.insert(name.clone()) {
        name = format!("{stem}-{number}.mcp.yaml");
        number += 1;
    }
    name
}

/// The text of the file, checked to be valid for `proof test`.
fn text(path: Option<&Path>, one: &Imported) -> Result<String, Exit> {
    let path = path.unwrap_or(Path::new(UNNAMED));
    // Commands start in the current directory, wherever the file is.
    let cwd = generated_file::relative(path.parent().unwrap_or(Path::new("")), Path::new("."));
    let text = one.text(cwd.as_deref());
    test::parse(&text, path).map_err(|faults| {
        tell(format_args!("error: bug in proof: the generated file is invalid\n{faults}"));
        Exit::Bug
    })?;
    Ok(generated_file::signed(Writer::Import, &text))
}

/// A summary of an import.
fn summary(one: &Imported, path: Option<&Path>) -> String {
    let tally = one.tally();
    let name = path.map_or_else(|| "the file".to_owned(), output::shown);
    let (cases, files) = (counted(tally.cases, "case", "cases"), files_of(one.sources().len()));
    let conditions = counted(tally.conditions, "condition", "conditions");
    let mut out = format!("{name}: {cases} from {files}, {conditions}\n");
    if !tally.not_imported.is_empty() {
        out.push_str("not imported (marked in the file):\n");
        for (kind, times) in &tally.not_imported {
            let _ = writeln!(out, "  {times:>5}  {}", wire::escape::snippet(kind, 60));
        }
    }
    if tally.empty > 0 {
        let skipped = counted(tally.empty, "case is", "cases are");
        let _ = writeln!(out, "{skipped} skipped: none of its checks could be imported");
    }
    if tally.snapshots > 0 {
        let (compare, them) =
            if tally.snapshots == 1 { ("case compares a snapshot", "it") } else { ("cases compare snapshots", "them") };
        let _ = writeln!(out, "{} {compare}: write {them} with `proof test --update`", tally.snapshots);
    }
    out
}

fn counted(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

fn files_of(number: usize) -> String {
    counted(number, "file", "files")
}
