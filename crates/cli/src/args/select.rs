//! Which rules a verb judges by, and at which revisions, as typed.

use clap::{Args, ValueEnum};
use judge::check::Selection;
use rules::Level;
use wire::Revision;

use crate::exit::{Exit, usage};

/// Which rules to judge by.
#[derive(Args)]
#[group(skip)]
pub(crate) struct SelectArgs {
    /// Judge by these rules only: ids or globs
    #[arg(long, value_name = "ID|GLOB", value_delimiter = ',', help_heading = "What to judge")]
    pub(crate) only: Vec<String>,
    /// Leave these rules out: ids or globs
    #[arg(long, value_name = "ID|GLOB", value_delimiter = ',', help_heading = "What to judge")]
    pub(crate) skip: Vec<String>,
    /// The weakest level to judge [default: may]
    #[arg(long, value_enum, help_heading = "What to judge")]
    pub(crate) level: Option<LevelArg>,
    /// Judge by the safety rules too (reported apart, never scored)
    #[arg(long, help_heading = "What to judge")]
    pub(crate) safety: bool,
}

/// A level as typed.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LevelArg {
    /// MUST and MUST NOT
    Must,
    /// SHOULD too
    Should,
    /// MAY too
    May,
}

impl SelectArgs {
    /// What the options mean, or the exit code after saying what is wrong with them.
    pub(crate) fn meaning(&self) -> Result<Selection, Exit> {
        let level = self.level.map(|level| match level {
            LevelArg::Must => Level::Must,
            LevelArg::Should => Level::Should,
            LevelArg::May => Level::May,
        });
        let selection = Selection { only: self.only.clone(), skip: self.skip.clone(), level, safety: self.safety };
        if let Some(unknown) = selection.unknown_patterns().next() {
            return Err(super::unknown_rule(unknown));
        }
        Ok(selection)
    }
}

/// The revisions that are named; none for all.
pub(crate) fn revisions(texts: &[String]) -> Result<Vec<Revision>, Exit> {
    if texts.iter().any(|r| r == "all") {
        return Ok(Vec::new());
    }
    let parse = |text: &String| {
        text.parse().map_err(|e: wire::revision::UnknownRevision| {
            usage(&e.to_string(), "name one of those, several with commas between, or `all`")
        })
    };
    texts.iter().map(parse).collect()
}
