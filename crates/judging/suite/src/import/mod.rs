//! `proof test import`: converts tests for mcp-jest (JSON) or mcp-assert (YAML) to test files. It keeps their meaning, not the
//! bugs of those tools. Parts without a counterpart are reported, in the file and in the tally, and never become a case that
//! passes without checking anything. Starts no server.

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

use document::{FileError, FileErrors};

use crate::advice::Words;

use self::file::{Case, File};
pub use self::read::{Source, load};

/// The format of a file to import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON: a server, with expectations of its tools, resources and prompts.
    McpJest,
    /// YAML: a server, with one assertion.
    McpAssert,
}

/// A test file with the cases of all sources for one server.
#[derive(Debug)]
pub struct Imported {
    sources: Vec<PathBuf>,
    format: Format,
    file: File,
}

/// Numbers of what was imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cases, including those of the setup.
    pub cases: usize,
    /// Cases that are skipped because none of their checks could be imported.
    pub empty: usize,
    /// Cases that compare a snapshot.
    pub snapshots: usize,
    /// Imported conditions.
    pub conditions: usize,
    /// Parts that were not imported, by kind.
    pub not_imported: BTreeMap<String, usize>,
}

/// Makes test files, one for each server. `fixture` replaces `{{fixture}}` of mcp-assert.
pub fn import(sources: &[Source], fixture: Option<&str>, words: Words) -> Result<Vec<Imported>, Vec<FileErrors>> {
    let mut all: Vec<Imported> = Vec::new();
    let mut wrong = Vec::new();
    for source in sources {
        let mut errors = Vec::new();
        let file = match source.format {
            Format::McpJest => mcp_jest::file(source, &mut errors),
            Format::McpAssert => mcp_assert::file(source, (fixture, words), &mut errors),
        };
        if !errors.is_empty() {
            wrong.push(FileErrors::new(&source.path.display().to_string(), errors));
        } else if let Some(file) = file {
            join(&mut all, source, file);
        }
    }
    // Cases without a server go into a file with one.
    if let Some(at) = all.iter().position(|one| one.file.server.is_empty()) {
        let without_server = all.remove(at);
        match all.first_mut() {
            Some(first) => {
                first.sources.extend(without_server.sources);
                first.file.cases.extend(without_server.file.cases);
            }
            None => wrong.extend(without_server.sources.iter().map(|path| {
                let what = "only a trace of calls and no server, which `proof test` cannot run";
                FileErrors::new(
                    &path.display().to_string(),
                    vec![FileError::new(None, what, "import it together with files that have a `server`")],
                )
            })),
        }
    }
    for one in &mut all {
        one.file.make_names_unique();
    }
    if wrong.is_empty() { Ok(all) } else { Err(wrong) }
}

/// Joins a file with those of the same server.
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
    /// The source files.
    pub fn sources(&self) -> &[PathBuf] {
        &self.sources
    }

    /// The test file. `cwd` is the working directory of the server's command, relative to the file.
    pub fn text(&self, cwd: Option<&Path>) -> String {
        let whose = match self.format {
            Format::McpJest => "mcp-jest",
            Format::McpAssert => "mcp-assert",
        };
        let sources: BTreeSet<String> = self.sources.iter().map(|path| path.display().to_string()).collect();
        let sources = sources.into_iter().collect::<Vec<_>>().join(", ");
        write::file(&self.file, &format!("Imported from {whose}: {sources}"), cwd)
    }

    /// Numbers of what was imported.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        let mut left = |kinds: &[file::NotImported]| {
            for one in kinds {
                *tally.not_imported.entry(one.kind.clone()).or_default() += 1;
            }
        };
        left(&self.file.not_imported);
        let cases: Vec<&Case> = self.file.setup.iter().chain(&self.file.cases).collect();
        for case in &cases {
            left(&case.not_imported);
        }
        tally.cases = cases.len();
        tally.empty = cases.iter().filter(|case| case.is_empty()).count();
        tally.snapshots = cases.iter().filter(|case| case.has_snapshot()).count();
        tally.conditions = cases.iter().map(|case| case.expected.conditions).sum();
        tally
    }
}

#[cfg(test)]
mod tests;
