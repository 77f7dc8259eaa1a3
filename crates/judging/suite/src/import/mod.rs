//! `proof test import`: tests that were written for mcp-jest (JSON) or mcp-assert (YAML), as a file that `proof test` reads. What
//! they mean is kept, not what those tools do wrong. What has no counterpart is told, in the file and in the tally, and never
//! becomes a case that passes anyway. Starts no server.

mod expected;
mod file;
mod mcp_assert;
mod mcp_jest;
mod paths;
mod read;
mod server;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use document::{Fault, Faults};

use crate::advice::Words;

use self::file::{Case, File};
pub use self::read::{Source, load};

/// Whose format a file is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON: a server, and what is expected of its tools, resources and prompts.
    McpJest,
    /// YAML: a server, and one assertion.
    McpAssert,
}

/// A test file to be: the cases of all that was read for one server.
#[derive(Debug)]
pub struct Imported {
    sources: Vec<PathBuf>,
    format: Format,
    file: File,
}

/// What became of what was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many cases there are, those of the setup counted.
    pub cases: usize,
    /// How many of them are skipped because nothing of what they check could be imported.
    pub empty: usize,
    /// How many of them compare a snapshot.
    pub snapshots: usize,
    /// How many conditions were imported.
    pub conditions: usize,
    /// What was not, and how often.
    pub left: BTreeMap<String, usize>,
}

/// Makes test files, one for each server. `fixture` is what mcp-assert's `{{fixture}}` stands for.
pub fn import(sources: &[Source], fixture: Option<&str>, words: Words) -> Result<Vec<Imported>, Vec<Faults>> {
    let mut all: Vec<Imported> = Vec::new();
    let mut wrong = Vec::new();
    for source in sources {
        let mut faults = Vec::new();
        let file = match source.format {
            Format::McpJest => mcp_jest::file(source, &mut faults),
            Format::McpAssert => mcp_assert::file(source, (fixture, words), &mut faults),
        };
        if !faults.is_empty() {
            wrong.push(Faults::new(&source.path.display().to_string(), faults));
        } else if let Some(file) = file {
            join(&mut all, source, file);
        }
    }
    // What needs no server goes with what has one.
    if let Some(at) = all.iter().position(|one| one.file.server.is_empty()) {
        let homeless = all.remove(at);
        match all.first_mut() {
            Some(first) => {
                first.sources.extend(homeless.sources);
                first.file.cases.extend(homeless.file.cases);
            }
            None => wrong.extend(homeless.sources.iter().map(|path| {
                let what = "a trace of calls alone, which `proof test` cannot judge: no server is named";
                Faults::new(&path.display().to_string(), vec![Fault::new(None, what, "files with a `server`")])
            })),
        }
    }
    for one in &mut all {
        one.file.settle();
    }
    if wrong.is_empty() { Ok(all) } else { Err(wrong) }
}

/// Puts a file to those of the same server.
fn join(all: &mut Vec<Imported>, source: &Source, file: File) {
    let same = |one: &&mut Imported| one.format == source.format && one.file.is_of(&file);
    match all.iter_mut().find(same) {
        Some(one) => {
            one.sources.push(source.path.clone());
            one.file.append(file);
        }
        None => all.push(Imported { sources: vec![source.path.clone()], format: source.format, file }),
    }
}

impl Imported {
    /// The files that it comes from.
    pub fn sources(&self) -> &[PathBuf] {
        &self.sources
    }

    /// The test file. `cwd` is where the server's command is started, from where the file will lie.
    pub fn text(&self, cwd: Option<&Path>) -> String {
        let whose = match self.format {
            Format::McpJest => "mcp-jest",
            Format::McpAssert => "mcp-assert",
        };
        let sources: BTreeSet<String> = self.sources.iter().map(|path| path.display().to_string()).collect();
        let sources = sources.into_iter().collect::<Vec<_>>().join(", ");
        write::file(&self.file, &format!("Imported from {whose}: {sources}"), cwd)
    }

    /// What became of what was read.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        let mut left = |kinds: &[file::Left]| {
            for one in kinds {
                *tally.left.entry(one.kind.clone()).or_default() += 1;
            }
        };
        left(&self.file.left);
        let cases: Vec<&Case> = self.file.setup.iter().chain(&self.file.cases).collect();
        for case in &cases {
            left(&case.left);
        }
        tally.cases = cases.len();
        tally.empty = cases.iter().filter(|case| case.is_empty()).count();
        tally.snapshots = cases.iter().filter(|case| case.has_snapshot()).count();
        tally.conditions = cases.iter().map(|case| case.expected.conditions).sum();
        tally
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
