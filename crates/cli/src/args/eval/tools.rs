//! The tools that a verb of `proof eval` looks at: of a server, or of a file.

use std::path::PathBuf;

use clap::Args;
use wire::Revision;

use crate::args::reach::ServerArgs;

/// A server, or a file with its tools.
#[derive(Args)]
pub(crate) struct ToolsArgs {
    /// Tools of a file: result of tools/list, snapshot, trace, `tools` of a request
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "command"], help_heading = "Tools")]
    pub(crate) tools: Option<PathBuf>,
    /// Revision to use [default: the newest of both]
    #[arg(long, value_name = "R", conflicts_with = "tools", help_heading = "Connection")]
    pub(crate) revision: Option<Revision>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
