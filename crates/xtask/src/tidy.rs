//! `cargo xtask tidy`: holds the sources to the house rules that no compiler knows. Every violation says where, what,
//! and how to fix it.
//!
//! The checks are functions from texts to violations; only this file asks git and reads files.

mod arrows;
mod code;
mod options;
mod pages;
mod table_rows;
#[cfg(test)]
mod tests;
mod text;
mod verifiers;
mod words;

use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::Verdict;

/// One file as it is about to be committed.
#[derive(Debug)]
struct Source {
    /// Relative to the root of the workspace, with `/`.
    path: String,
    text: String,
}

impl Source {
    fn is(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }

    /// The workspace crate it belongs to: `crates/NAME` or, on a floor, `crates/FLOOR/NAME`.
    fn krate(&self) -> Option<&str> {
        let mut parts = self.path.strip_prefix("crates/")?.split('/');
        let first = parts.next()?;
        if arrows::is_floor(first) { parts.next() } else { Some(first) }
    }

    /// Its path inside its crate: `src/lib.rs`.
    fn inside(&self) -> Option<&str> {
        let krate = self.krate()?;
        let at = self.path.find(&format!("/{krate}/"))? + krate.len() + 2;
        self.path.get(at..)
    }
}

/// What is wrong, where, and the way out.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    path: String,
    line: usize,
    what: String,
    remedy: &'static str,
}

impl Violation {
    fn new(source: &Source, line: usize, what: impl Into<String>, remedy: &'static str) -> Self {
        Self { path: source.path.clone(), line, what: what.into(), remedy }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} – {} – {}", self.path, self.line, self.what, self.remedy)
    }
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if let Some(arg) = args.first() {
        bail!("tidy takes no arguments, but was given {arg:?}");
    }
    let sources = read(&crate::root())?;
    ensure!(sources.iter().any(|source| source.is("rs")), "git names no Rust source here");
    let violations = check(&sources);
    for violation in &violations {
        println!("{violation}");
    }
    if !violations.is_empty() {
        println!("\n{} to fix", violations.len());
    }
    Ok(violations.is_empty())
}

/// Every violation, in the order of paths and lines.
fn check(sources: &[Source]) -> Vec<Violation> {
    let mut violations: Vec<Violation> = sources.iter().flat_map(text::check).collect();
    violations.extend(sources.iter().flat_map(words::check));
    violations.extend(sources.iter().flat_map(words::check_screens));
    violations.extend(sources.iter().flat_map(options::check));
    violations.extend(sources.iter().flat_map(pages::check));
    violations.extend(sources.iter().flat_map(verifiers::check));
    violations.extend(text::check_long_list(sources));
    violations.extend(arrows::check(sources));
    violations.extend(table_rows::check(sources));
    violations.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    violations
}

/// Every file that git tracks or would track. Other than text files are skipped.
fn read(root: &Path) -> anyhow::Result<Vec<Source>> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(list).current_dir(root).output().context("cannot start git")?;
    ensure!(output.status.success(), "git: {}", String::from_utf8_lossy(&output.stderr).trim());
    let names = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let mut sources = Vec::new();
    for path in names.split_terminator('\0') {
        let bytes = match std::fs::read(root.join(path)) {
            Ok(bytes) => bytes,
            // Deleted, but not yet from the index.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
        };
        if let Ok(text) = String::from_utf8(bytes) {
            sources.push(Source { path: path.to_owned(), text });
        }
    }
    Ok(sources)
}
