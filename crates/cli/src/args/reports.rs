//! Verbs that make no traffic, as typed: they read reports and the list of rules.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wire::Revision;

/// List the rules
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof rules --only 'http.*' --revision 2025-11-25
  proof rules --role client --json

`--role server` lists what binds a server: its own rules, and those that bind
both parties.")]
pub(crate) struct RulesArgs {
    /// Only rules that this revision has, at the level it gives them
    #[arg(long, value_name = "R", value_parser = |text: &str| text.parse::<Revision>())]
    pub(crate) revision: Option<Revision>,
    /// Only these rules: ids or globs
    #[arg(long, value_name = "ID|GLOB", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Only rules that bind this party
    #[arg(long, value_enum, value_name = "ROLE")]
    pub(crate) role: Option<RoleArg>,
    /// One JSON document, with every sentence and its address: proof.rules/1
    #[arg(long)]
    pub(crate) json: bool,
}

/// A party as typed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    /// What binds a server
    Server,
    /// What binds a client
    Client,
    /// What binds either party
    Both,
}

/// Say what changed between two JSON reports
#[derive(Args)]
#[command(after_help = "\
Example:
  proof check --format json --output new.json -- ./my-server
  proof diff old.json new.json

A rule that was broken and is no longer judged is not mended: it stands under
what is no longer judged.

Exit codes: 0 no worse; 1 a new finding at MUST level, or the newer report
judged nothing, or its server did not last where the older one's did; 2 usage.")]
pub(crate) struct DiffArgs {
    /// The older JSON report
    #[arg(value_name = "OLD.json")]
    pub(crate) old: PathBuf,
    /// The newer JSON report
    #[arg(value_name = "NEW.json")]
    pub(crate) new: PathBuf,
    /// For people, or for programs: proof.diff/1
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: DiffFormat,
}

/// The format of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// For people
    Human,
    /// One JSON document: proof.diff/1
    Json,
}

/// Draw a badge (SVG) from a JSON report
#[derive(Args)]
#[command(after_help = "\
Example:
  proof check --format json --output report.json -- ./my-server
  proof badge report.json --output proof.svg

Green: no MUST is broken. Red: one is. Grey: nothing was judged, or the server
did not last. The badge says the same in words.")]
pub(crate) struct BadgeArgs {
    /// A JSON report
    #[arg(value_name = "REPORT.json")]
    pub(crate) report: PathBuf,
    /// Write the badge to a file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
