//! Which rules and revisions to judge.

use clap::{Args, ValueEnum};
use judge::check::Selection;
use rules::Level;
use wire::Revision;

use crate::exit::{Exit, usage};

/// Which rules to judge.
#[derive(Args)]
#[group(skip)]
pub(crate) struct SelectArgs {
    /// Judge only these rules: ids or globs
    #[arg(long, value_name = "ID|GLOB", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) only: Vec<String>,
    /// Skip these rules: ids or globs
    #[arg(long, value_name = "ID|GLOB", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) skip: Vec<String>,
    /// Lowest level to judge [default: may]
    #[arg(long, value_enum, help_heading = "Selection")]
    pub(crate) level: Option<LevelArg>,
    /// Also judge the safety rules (reported separately, never scored)
    #[arg(long, help_heading = "Selection")]
    pub(crate) safety: bool,
    /// Also judge what goes further than the specification (documents.*); broken
    /// rules are warnings
    #[arg(long, help_heading = "Selection")]
    pub(crate) documents: bool,
}

/// A level.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LevelArg {
    /// MUST and MUST NOT
    Must,
    /// Also SHOULD and SHOULD NOT
    Should,
    /// Also MAY
    May,
}

impl SelectArgs {
    /// The selected rules, or the exit code after reporting an error.
    pub(crate) fn selection(&self) -> Result<Selection, Exit> {
        let level = self.level.map(|level| match level {
            LevelArg::Must => Level::Must,
            LevelArg::Should => Level::Should,
            LevelArg::May => Level::May,
        });
        let (only, skip) = (self.only.clone(), self.skip.clone());
        let selection = Selection { only, skip, level, safety: self.safety, documents: self.documents };
        if let Some(unknown) = selection.unknown_patterns().next() {
            return Err(super::unknown_rule(unknown));
        }
        Ok(selection)
    }
}

/// The named revisions; empty for all.
pub(crate) fn revisions(texts: &[String]) -> Result<Vec<Revision>, Exit> {
    if texts.iter().any(|r| r == "all") {
        return Ok(Vec::new());
    }
    let parse = |text: &String| {
        text.parse().map_err(|e: wire::revision::UnknownRevision| {
            usage(&e.to_string(), "one of these, several separated by commas, or `all`")
        })
    };
    texts.iter().map(parse).collect()
}
