//! `proof snapshot`: options as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wire::Revision;

use super::reach::ServerArgs;

/// Write down what a server declares; tell what changed since
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof snapshot --output surface.json -- npx -y my-server
  proof snapshot --check surface.json -- npx -y my-server
  proof snapshot --check surface.json --format markdown URL
  proof snapshot --check surface.json --fail-on breaking -- ./my-server

A snapshot is meant to be committed: --check tells what changed since, and
what of it breaks those who rely on the server. Nothing is called.

Exit codes: 0 as it was; 1 it changed; 2 usage or a damaged snapshot; 3 no MCP
answer; 4 our own bug.")]
pub(crate) struct SnapshotArgs {
    /// The revision to speak [default: the snapshot's, or the newest of both]
    #[arg(long, value_name = "R", help_heading = "Reaching the server")]
    pub(crate) revision: Option<Revision>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Compare with this snapshot, and tell what changed
    #[arg(long, value_name = "FILE", help_heading = "What comes out")]
    pub(crate) check: Option<PathBuf>,
    /// What fails the comparison
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value = "any",
        requires = "check",
        help_heading = "What comes out"
    )]
    pub(crate) fail_on: Drift,
    /// How the changes are told
    #[arg(long, value_enum, default_value = "human", requires = "check", help_heading = "What comes out")]
    pub(crate) format: DriftFormat,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE", help_heading = "What comes out")]
    pub(crate) output: Option<PathBuf>,
}

/// What fails a comparison.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Drift {
    /// Every change
    Any,
    /// Only what breaks callers
    Breaking,
}

/// How changes are told.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DriftFormat {
    /// For people
    Human,
    /// One JSON document: proof.drift/1
    Json,
    /// Markdown for a comment on a pull request
    Markdown,
}
