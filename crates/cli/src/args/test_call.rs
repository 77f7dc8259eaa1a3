//! Options of `proof test --call`: one case without a file.

use clap::Args;

/// One call, its expectations and its server.
#[derive(Args)]
pub(crate) struct SingleCallArgs {
    /// Call this tool with NAME=VALUE; the server comes last, as a URL or after
    /// `--`
    #[arg(long, value_name = "TOOL", conflicts_with_all = ["watch", "update", "replay"], help_heading = "Single call")]
    pub(crate) call: Option<String>,
    /// Expect VALUE at a JSONPath of the result (repeatable)
    #[arg(long, value_name = "PATH=VALUE", requires = "call", help_heading = "Single call")]
    pub(crate) expect: Vec<String>,
    /// Add a header to every HTTP request (repeatable)
    #[arg(long, value_name = "K: V", requires = "call", help_heading = "Single call")]
    pub(crate) header: Vec<String>,
    /// Environment variable with the bearer token
    #[arg(long, value_name = "VAR", requires = "call", help_heading = "Single call")]
    pub(crate) bearer_env: Option<String>,
    /// Set an environment variable of the command (repeatable)
    #[arg(long, value_name = "K=V", requires = "call", help_heading = "Single call")]
    pub(crate) env: Vec<String>,
    /// Server command of --call and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND", requires = "call")]
    pub(crate) command: Vec<String>,
}
