//! Options of the verbs that read reports or list rules.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wire::Revision;

use super::output::Destination;

/// List the rules
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof rules --only 'http.*' --revision 2025-11-25
  proof rules --role client --json

`--role server` lists the rules for servers and those for both parties.")]
pub(crate) struct RulesArgs {
    /// Only rules of this revision, with their level in it
    #[arg(long, value_name = "R", value_parser = |text: &str| text.parse::<Revision>())]
    pub(crate) revision: Option<Revision>,
    /// Only these rules: ids or globs
    #[arg(long, value_name = "ID|GLOB", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Only rules for this party
    #[arg(long, value_enum, value_name = "ROLE")]
    pub(crate) role: Option<RoleArg>,
    /// Print JSON with every sentence and its source: proof.rules/1
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) to: Destination,
}

/// A party.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    /// Rules for servers
    Server,
    /// Rules for clients
    Client,
    /// Rules for both parties
    Both,
}

/// Compare two JSON reports
#[derive(Args)]
#[command(after_help = "\
Example:
  proof check --format json --output new.json -- ./my-server
  proof diff old.json new.json

A rule that was broken and is no longer judged does not count as fixed.

Exit codes: 0 no regression; 1 a new finding at MUST level, or the newer
report judged nothing, or its server stopped early; 2 usage error.")]
pub(crate) struct DiffArgs {
    /// Older JSON report
    #[arg(value_name = "OLD.json")]
    pub(crate) old: PathBuf,
    /// Newer JSON report
    #[arg(value_name = "NEW.json")]
    pub(crate) new: PathBuf,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
    pub(crate) format: DiffFormat,
    #[command(flatten)]
    pub(crate) to: Destination,
}

/// The format of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// Text
    Human,
    /// One JSON document: proof.diff/1
    Json,
}

/// Make an SVG badge from a JSON report
#[derive(Args)]
#[command(after_help = "\
Example:
  proof check --format json --output report.json -- ./my-server
  proof badge report.json --output proof.svg

Green: no MUST is broken. Red: a MUST is broken. Grey: nothing was judged, or
the server stopped early.")]
pub(crate) struct BadgeArgs {
    /// JSON report
    #[arg(value_name = "REPORT.json")]
    pub(crate) report: PathBuf,
    #[command(flatten)]
    pub(crate) to: Destination,
}
