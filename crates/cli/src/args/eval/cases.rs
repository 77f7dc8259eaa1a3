//! Options of `proof eval cases`.

use std::path::PathBuf;

use clap::Args;

use super::CallsFormat;
use crate::args::output::Destination;

/// Write cases that expect what was recorded
#[derive(Args)]
#[command(mut_arg("output", |output| output.help("Write to the new file FILE instead of stdout")))]
#[command(after_help = "\
Examples:
  proof eval cases session.trace.jsonl
  proof eval cases session.trace.jsonl --tools tools.json -o cases.yaml
  proof eval cases eval-run.jsonl -o cases.yaml

Reads what `proof eval score` reads. Each case expects the calls of one answer
with exactly their arguments: look through them before you use them.

Guide: https://github.com/proofhouse/proofhouse/blob/main/docs/eval.md

Exit codes: 0 written; 1 no answer to make a case of; 2 usage error or invalid
file; 4 bug in proof.")]
pub(crate) struct CasesArgs {
    /// Recordings: traces, answers, results of `proof eval run`
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Format of the recordings [default: detected]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) from: Option<CallsFormat>,
    /// File with the tools that were offered, relative to the new file
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<String>,
    #[command(flatten)]
    pub(crate) to: Destination,
}
