//! Options of `proof test import`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `test import`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof test import -o t.mcp.yaml mcp-jest.json
  proof test import -o t.mcp.yaml evals/
  proof test import -o tests/ --fixture data evals/
  proof test t.mcp.yaml

proof detects the format by content: JSON of mcp-jest, or YAML of mcp-assert.
What has no counterpart becomes a comment, `# not imported`; a case with
nothing left to check is skipped. No server is started.

Exit codes: 0 written; 2 usage error or invalid file; 4 bug in proof.")]
pub(crate) struct ImportArgs {
    /// Files, or directories with *.json, *.yaml and *.yml
    #[arg(value_name = "FILE|DIR", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Value of {{fixture}} in files of mcp-assert
    #[arg(long, value_name = "DIR")]
    pub(crate) fixture: Option<String>,
    /// Write to FILE, or one file per server to DIR
    #[arg(long, short, value_name = "FILE|DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite a file that was edited or that proof did not write
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}
