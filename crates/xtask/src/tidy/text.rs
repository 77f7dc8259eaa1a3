//! The house rules that one file can break by itself: size, layout, names, and what must never be left in a text.

use std::path::Path;

use super::code::{code_only, has_word};
use super::{Source, Violation};

/// A Rust file may have this many lines.
const LINES: usize = 600;

/// The files that may have more, each with its reason.
const LONG: &[(&str, &str)] = &[];

const BANNED_NAMES: &[&str] = &["util", "utils", "common", "helper", "helpers", "manager", "managers", "imp"];

/// Written apart, so that this file does not break its own rule.
const MACHINE_PATHS: &[&str] = &[concat!("/", "work/"), concat!("/", "root/")];

/// Everything wrong with one file as a text.
pub(super) fn check(source: &Source) -> Vec<Violation> {
    let mut violations = machine_paths(source);
    if ["rs", "md", "toml"].iter().any(|extension| source.is(extension)) {
        violations.extend(white_space(source));
    }
    if source.is("rs") {
        violations.extend(size(source, LONG));
        violations.extend(lead(source));
        violations.extend(names(source));
        violations.extend(left_overs(source));
    }
    violations
}

fn machine_paths(source: &Source) -> Vec<Violation> {
    let begins_a_path = |before: &str| {
        let inside_a_word = |c: char| c.is_alphanumeric() || "_-.~/)}]".contains(c);
        before.ends_with("file://") || !before.ends_with(inside_a_word)
    };
    let named = |line: &str| {
        let mut places = MACHINE_PATHS.iter().flat_map(|path| line.match_indices(*path));
        places.find(|(at, _)| begins_a_path(&line[..*at])).map(|(_, path)| path.to_owned())
    };
    let lines = source.text.lines().enumerate();
    let lines = lines
        .filter_map(|(at, line)| named(line).map(|path| (at + 1, format!("names a place on one machine, {path}"))));
    let remedy = "say it relative to the workspace";
    lines.map(|(line, what)| Violation::new(source, line, what, remedy)).collect()
}

fn white_space(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    // Not `lines`, which would hide a carriage return.
    for (at, line) in source.text.split('\n').enumerate() {
        if line.ends_with(char::is_whitespace) {
            violations.push(Violation::new(source, at + 1, "white space at the end of the line", "take it away"));
        }
        if line.contains('\t') {
            violations.push(Violation::new(source, at + 1, "a tab", "use spaces, or \\t inside a string"));
        }
    }
    if !source.text.is_empty() && !source.text.ends_with('\n') {
        let last = source.text.lines().count();
        violations.push(Violation::new(source, last, "the last line does not end", "end the file with a newline"));
    }
    violations
}

fn size(source: &Source, long: &[(&str, &str)]) -> Option<Violation> {
    let lines = source.text.lines().count();
    let listed = long.iter().any(|(path, _)| *path == source.path);
    let remedy = "split it, or list it with a reason in xtask's tidy/text.rs";
    (lines > LINES && !listed)
        .then(|| Violation::new(source, lines, format!("{lines} lines, of {LINES} allowed"), remedy))
}

/// A file that is listed as long, but is not there or not long.
pub(super) fn check_long_list(sources: &[Source]) -> Vec<Violation> {
    stale(sources, LONG)
}

pub(super) fn stale(sources: &[Source], long: &[(&str, &str)]) -> Vec<Violation> {
    let is_long = |path: &str| sources.iter().any(|source| source.path == path && size(source, &[]).is_some());
    let stale = long.iter().filter(|(path, _)| !is_long(path));
    let violation = |(path, _): &(&str, &str)| Violation {
        path: (*path).to_owned(),
        line: 1,
        what: "listed as a long file, but is not long".to_owned(),
        remedy: "take it off the list in xtask's tidy/text.rs",
    };
    stale.map(violation).collect()
}

fn lead(source: &Source) -> Option<Violation> {
    let leads = source.text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with("//! "));
    let remedy = "begin with a //! paragraph: what this is, what it must not know";
    (!leads).then(|| Violation::new(source, 1, "does not say what it is", remedy))
}

fn names(source: &Source) -> Vec<Violation> {
    let remedy = "name it after what it holds";
    let mut violations = Vec::new();
    let path = Path::new(&source.path).with_extension("");
    if let Some(name) = path.iter().filter_map(|part| part.to_str()).find(|part| BANNED_NAMES.contains(part)) {
        violations.push(Violation::new(source, 1, format!("a module called {name}"), remedy));
    }
    for (at, line) in code_only(&source.text).lines().enumerate() {
        let inline = line.split_once("mod ").and_then(|(_, rest)| rest.split_once(" {")).map(|(name, _)| name);
        if let Some(name) = inline.filter(|name| BANNED_NAMES.contains(name)) {
            violations.push(Violation::new(source, at + 1, format!("a module called {name}"), remedy));
        }
    }
    violations
}

fn left_overs(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (at, line) in code_only(&source.text).lines().enumerate() {
        if has_word(line, "todo!") || has_word(line, "unimplemented!") {
            violations.push(Violation::new(source, at + 1, "work left undone", "do it, or write it down in an issue"));
        }
        if line.contains("#[ignore") {
            let remedy = "make it pass, assert the failure with its reason, or take it out";
            violations.push(Violation::new(source, at + 1, "a test that does not run", remedy));
        }
    }
    violations
}
