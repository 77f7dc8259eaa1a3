//! Options of `proof snapshot`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wire::Revision;

use super::output::Destination;
use super::reach::ServerArgs;

/// Save what a server declares, or show what changed since
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof snapshot --output surface.json -- npx -y my-server
  proof snapshot --check surface.json -- npx -y my-server
  proof snapshot --check surface.json http://127.0.0.1:3000/mcp
  proof snapshot --check surface.json --fail-on breaking -- ./my-server

Commit the snapshot: --check shows what changed since, and which changes break
callers. proof calls no tool.

Exit codes: 0 unchanged; 1 changed; 2 usage error or invalid snapshot;
3 no MCP answer; 4 bug in proof.")]
pub(crate) struct SnapshotArgs {
    /// Revision to use [default: the snapshot's, or the newest of both]
    #[arg(long, value_name = "R", help_heading = "Connection")]
    pub(crate) revision: Option<Revision>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Compare with the snapshot in FILE
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) check: Option<PathBuf>,
    /// Which changes fail the comparison
    #[arg(long, value_enum, value_name = "WHAT", default_value = "any", requires = "check", help_heading = "Output")]
    pub(crate) fail_on: Drift,
    /// Output format of the changes
    #[arg(long, value_enum, default_value = "human", requires = "check", help_heading = "Output")]
    pub(crate) format: DriftFormat,
    #[command(flatten)]
    pub(crate) to: Destination,
}

/// Which changes fail a comparison.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Drift {
    /// Every change
    Any,
    /// Changes that break callers
    Breaking,
}

/// The output format of changes.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DriftFormat {
    /// Text
    Human,
    /// One JSON document: proof.drift/1
    Json,
    /// Markdown, for a pull request comment
    Markdown,
}
