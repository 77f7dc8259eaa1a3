//! Options of `proof eval import`.

use std::path::PathBuf;

use clap::Args;

use crate::args::output::Destination;

/// Translate tests of promptfoo or mcpchecker into cases
#[derive(Args)]
#[command(mut_arg("output", |output| output.help("Write to the new file FILE instead of stdout")))]
#[command(after_help = "\
Examples:
  proof eval import promptfooconfig.yaml
  proof eval import promptfooconfig.yaml --tools tools.json -o cases.yaml
  proof eval import eval.yaml -o cases.yaml

proof detects the format by content: a configuration of promptfoo, or an
evaluation of mcpchecker (`kind: Eval`) with its tasks. What a case cannot say
is listed on stderr with file and line; a test with nothing left is no case.
Runs no code and reads no file outside of the folder of FILE.

Guide: https://github.com/proofhouse/proofhouse/blob/main/docs/eval.md

Exit codes: 0 written; 1 nothing to make a case of; 2 usage error or invalid
file; 4 bug in proof.")]
pub(crate) struct ImportArgs {
    /// Configuration of promptfoo, or evaluation of mcpchecker
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// File with the tools that are offered, relative to the new file
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<String>,
    #[command(flatten)]
    pub(crate) to: Destination,
}
