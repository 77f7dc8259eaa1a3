//! `proof test`: from files to cases tried, a report and the exit code.

mod import;
mod standin;
mod watched;

use std::ffi::OsStr;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ::suite::test::{self, Hindrance, Options, Played, Suite, Tally};
use wire::redact::Secrets;

use crate::advice;
use crate::args::test::{TestAction, TestArgs, TestFormat};
use crate::exit::{self, Exit, tell, usage};
use crate::format::suite::{self, Style};
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::output;
use report::render::text::Paint;
use standin::Instead;
use watched::Watched;

/// How a test file's name ends.
const ENDINGS: [&str; 2] = [".mcp.yaml", ".mcp.yml"];
/// How deep directories are looked into.
const DEEPEST: usize = 32;

/// Tries the cases of all files.
pub(crate) fn run(run: &Run, args: &TestArgs) -> Exit {
    if let Some(TestAction::Import(args)) = &args.action {
        return import::run(args);
    }
    if args.schema {
        return output::print(test::SCHEMA).err().unwrap_or(Exit::Clean);
    }
    match tried(run, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn tried(run: &Run, args: &TestArgs) -> Result<Exit, Exit> {
    if args.coverage && matches!(args.format, TestFormat::Junit | TestFormat::Tap | TestFormat::Sarif) {
        return Err(usage("this format has no room for coverage", "--format human, json, markdown or html"));
    }
    if let Some(path) = &args.output {
        output::writable(path)?;
    }
    let instead = standin::instead(args)?;
    // Before the first child starts.
    run.children.adopt_orphans();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: the runtime did not start: {error}"));
        Exit::Bug
    })?;
    let ended = runtime.block_on(async {
        let interrupted = interrupted();
        tokio::select! {
            ended = rounds(run, args, &instead) => ended,
            signal = interrupted => Err(Exit::Interrupted(signal)),
        }
    });
    // Whatever is still running is ours to end, on every way out.
    run.children.kill_all();
    runtime.shutdown_background();
    ended
}

/// Once, or again after every change.
async fn rounds(run: &Run, args: &TestArgs, instead: &Instead) -> Result<Exit, Exit> {
    loop {
        let mut roots = paths(args);
        let read = suites(args);
        if !args.watch {
            return round(run, args, &read?, instead).await;
        }
        let read = read.unwrap_or_default();
        roots.extend(read.iter().flat_map(Suite::local).collect::<std::collections::BTreeSet<PathBuf>>());
        let watched = Watched::new(roots);
        if !read.is_empty() {
            // What came of it was told.
            let _ = round(run, args, &read, instead).await;
        }
        tell("waiting for a file to change; Ctrl-C ends it");
        let changed = watched.change().await;
        tell(format_args!("\n{} has changed", output::shown(&changed)));
    }
}

async fn round(run: &Run, args: &TestArgs, suites: &[Suite], instead: &Instead) -> Result<Exit, Exit> {
    exit::conceal(run.redactor_of(&secrets(suites)));
    let begun = Instant::now();
    let played = all(run, args, suites, instead).await;
    conclude(run, args, suites, &played, begun.elapsed())
}

async fn all(run: &Run, args: &TestArgs, suites: &[Suite], instead: &Instead) -> Vec<Played> {
    let options = Options {
        standin: instead.standin.clone(),
        revisions: instead.revisions.clone(),
        filter: args.filter.clone(),
        tags: args.tag.clone(),
        shard: args.shard,
        fail_fast: args.fail_fast,
        timeout: args.timeout,
        jobs: args.jobs,
        update: args.update,
        coverage: args.coverage,
        words: advice::testing,
        children: run.children.clone(),
        ..Options::default()
    };
    let mut all = Vec::new();
    for suite in suites {
        let played = Box::pin(test::run(suite, &options)).await;
        let failed = played.tally().failed > 0;
        all.push(played);
        if failed && args.fail_fast {
            break;
        }
    }
    all
}

fn conclude(run: &Run, args: &TestArgs, suites: &[Suite], played: &[Played], elapsed: Duration) -> Result<Exit, Exit> {
    let stdout = args.output.is_none();
    let colour = stdout && std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let style = Style { paint: Paint { colour }, verbose: args.verbose };
    let text = match args.format {
        TestFormat::Human => suite::human(played, elapsed, style),
        TestFormat::Json => suite::json(played, elapsed),
        TestFormat::Junit => suite::junit(played),
        TestFormat::Tap => suite::tap(played),
        TestFormat::Sarif => suite::sarif(played),
        TestFormat::Markdown => suite::markdown(played),
        TestFormat::Html => suite::html(played, elapsed),
    };
    let text = run.redactor_of(&secrets(suites)).redact_known(&text).into_owned();
    match &args.output {
        Some(path) => output::write(path, &text)?,
        None => output::print(&text)?,
    }
    let tally = Tally::of(played);
    if tally.failed > 0 {
        let unreached = |place: &test::Place| matches!(place.hindered, Some(Hindrance::Unreached(_)));
        let out_of_reach = played.iter().flat_map(|one| &one.places).any(unreached);
        return Ok(if out_of_reach { Exit::NoAnswer } else { Exit::Finding });
    }
    if tally.passed + tally.expected_failures == 0 {
        tell("error: no case was tried\n  try: another --filter, --tag or --shard; what is skipped proves nothing");
        return Ok(Exit::Finding);
    }
    Ok(Exit::Clean)
}

fn secrets(suites: &[Suite]) -> Secrets {
    let mut all = Secrets::default();
    for suite in suites {
        suite.conceal(&mut all);
    }
    all
}

/// The files and directories that were named, or the one that this is.
fn paths(args: &TestArgs) -> Vec<PathBuf> {
    if args.paths.is_empty() { vec![PathBuf::from(".")] } else { args.paths.clone() }
}

/// Reads every file; the mistakes of all are told.
fn suites(args: &TestArgs) -> Result<Vec<Suite>, Exit> {
    let mut files = Vec::new();
    for path in &paths(args) {
        if path.is_dir() {
            let before = files.len();
            found(path, &ENDINGS, DEEPEST, &mut files);
            files[before..].sort();
            if files.len() == before {
                let what = format!("there is no *.mcp.yaml in {}", output::shown(path));
                return Err(usage(&what, "docs/test.md shows one; a file may be named whatever it is called"));
            }
        } else {
            files.push(path.clone());
        }
    }
    let mut suites = Vec::new();
    let mut wrong = false;
    for file in &files {
        match test::load(file) {
            Ok(suite) => suites.push(suite),
            Err(faults) => {
                tell(faults);
                wrong = true;
            }
        }
    }
    if wrong { Err(Exit::Usage) } else { Ok(suites) }
}

/// The files with such an ending in a directory and below, but in none that is hidden or holds what others wrote.
fn found(directory: &Path, endings: &[&str], room: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if !is_foreign(&entry.file_name()) && room > 0 {
                found(&path, endings, room - 1, files);
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            files.push(path.strip_prefix("./").map_or_else(|_| path.clone(), Path::to_owned));
        }
    }
}

/// Whether a directory is hidden or holds what others wrote.
fn is_foreign(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') || matches!(&*name, "node_modules" | "target" | "venv" | "__pycache__")
}
