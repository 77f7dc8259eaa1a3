//! Options of `proof lock`, and of every verb that reads the texts of a server for digests.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::reach::ServerArgs;

/// Lock what a server tells the model, or show what changed since
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof lock -- npx -y my-server@1.2.3
  proof lock --check -- npx -y my-server@1.2.3
  proof lock --check --format markdown http://127.0.0.1:3000/mcp
  proof lock --approve 'tool buy' --by ada@example.com \\
             --reason 'reviewed, see #12' -- npx -y my-server@1.2.4
  proof lock --trace weather.jsonl --name weather

Commit the lock and review its changes: it holds the text of every description,
schema and instruction, each with its digest. proof calls no tool; it lists
twice, and once more under another client name.

Exit codes: 0 in sync; 1 drift; 2 usage error or invalid lock; 3 the server's
lists cannot be read; 4 bug in proof.")]
pub(crate) struct LockArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Compare with the lock; change nothing
    #[arg(long, conflicts_with = "approve", help_heading = "Lock")]
    pub(crate) check: bool,
    /// Take over one change, such as 'tool buy'; `*` for all (repeatable)
    #[arg(long, value_name = "ITEM", requires = "by", requires = "reason", help_heading = "Lock")]
    pub(crate) approve: Vec<String>,
    /// Record WHO as the approver
    #[arg(long, value_name = "WHO", requires = "approve", help_heading = "Lock")]
    pub(crate) by: Option<String>,
    /// Record WHY as the reason
    #[arg(long, value_name = "WHY", requires = "approve", help_heading = "Lock")]
    pub(crate) reason: Option<String>,
    /// Name of the server in the lock [default: the entry with the same address
    /// or command; of a new server, the name it gives itself]
    #[arg(long, value_name = "NAME", help_heading = "Lock")]
    pub(crate) name: Option<String>,
    /// Lock file
    #[arg(
        long = "output",
        short = 'o',
        alias = "lock",
        value_name = "FILE",
        default_value = "mcp.lock",
        help_heading = "Lock"
    )]
    pub(crate) file: PathBuf,
    /// Output format of the changes
    #[arg(long, value_enum, default_value = "human", help_heading = "Output")]
    pub(crate) format: LockFormat,
}

/// The client name of the last listing, by default.
pub(crate) const OTHER_CLIENT: &str = "claude-ai";

/// A server whose texts are digested: live, or in a trace.
#[derive(Args)]
#[group(skip)]
pub(crate) struct TargetArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Read a trace or a recording instead of a server
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "url_option", "command"], help_heading = "Target")]
    pub(crate) trace: Option<PathBuf>,
    /// Client name of the last listing
    #[arg(long = "as", value_name = "NAME", default_value = OTHER_CLIENT, help_heading = "Target")]
    pub(crate) client: String,
    /// Name of the server in a registry of MCP servers
    #[arg(long, value_name = "NAME", help_heading = "Target")]
    pub(crate) registry: Option<String>,
    /// Package URL, such as pkg:npm/my-server@1.2.3 [default: from npx or uvx]
    #[arg(long, value_name = "PURL", help_heading = "Target")]
    pub(crate) package: Option<String>,
    /// Digest of the package, as its registry states it
    #[arg(long, value_name = "DIGEST", help_heading = "Target")]
    pub(crate) package_digest: Option<String>,
}

/// The output format of changes.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LockFormat {
    /// Text
    Human,
    /// One JSON document: proof.lock-drift/1
    Json,
    /// Markdown, for a pull request comment
    Markdown,
}
