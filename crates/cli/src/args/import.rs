//! `proof test import`: options as typed.

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

What a file is shows in what it says: JSON of mcp-jest, or YAML of mcp-assert.
What has no counterpart stands in comments, `# not imported`; a case of which
nothing is left to check is skipped. docs/test.md tells more. No server is
started.

Exit codes: 0 written; 2 usage or a file with mistakes; 4 our own bug.")]
pub(crate) struct ImportArgs {
    /// Files, or directories to look for *.json, *.yaml and *.yml in
    #[arg(value_name = "FILE|DIR", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// What {{fixture}} stands for in files of mcp-assert
    #[arg(long, value_name = "DIR")]
    pub(crate) fixture: Option<String>,
    /// Write a file, or into a directory one per server
    #[arg(long, short, value_name = "FILE|DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write over a file that was edited, or is none of ours
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}
