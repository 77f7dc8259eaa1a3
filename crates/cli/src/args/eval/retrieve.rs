//! Options of `proof eval retrieve`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::report::{ReportArgs, SelectArgs};
use super::tools::ToolsArgs;
use super::{EvalFormat, percent};

/// Measure whether a tool search finds the expected tools
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof eval retrieve cases.yaml
  proof eval retrieve cases.yaml -- npx -y my-server
  proof eval retrieve cases.yaml --at 5 --min-recall 90
  proof eval retrieve cases.yaml --mode zero-shot,bm25,oracle
  proof eval retrieve cases.yaml --embeddings vectors.jsonl

Searches for the `prompt` of each case, as the gateway's tool search does, and
calls no tool. The tokens of what is found are estimated.

Guide: https://github.com/proofhouse/proofhouse/blob/main/docs/eval.md

Exit codes: 0 measured; 1 less than --min-recall, or nothing was measured;
2 usage error or invalid file; 3 no MCP answer; 4 bug in proof.")]
pub(crate) struct RetrieveArgs {
    /// Cases with prompts and expected calls
    #[arg(value_name = "CASES")]
    pub(crate) cases: PathBuf,
    #[command(flatten)]
    pub(crate) tools: ToolsArgs,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// Search by the vectors of tools and cases in this file of JSON Lines, which an
    /// embedding model of yours made, and not by words
    #[arg(long, value_name = "FILE", conflicts_with = "mode", help_heading = "Tools")]
    pub(crate) embeddings: Option<PathBuf>,
    /// Compare these ways of choosing the tools that a model is shown (repeatable)
    #[arg(long, value_enum, value_name = "MODE", value_delimiter = ',', help_heading = "Output")]
    pub(crate) mode: Vec<ModeArg>,
    /// How many tools a search returns: the rest counts as not found
    #[arg(long, value_name = "K", default_value = "5", value_parser = clap::value_parser!(u16).range(1..=100), help_heading = "Output")]
    pub(crate) at: u16,
    /// Share of expected tools that must be found, in percent [default: 0]
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "Output")]
    pub(crate) min_recall: Option<f64>,
    #[command(flatten)]
    pub(crate) report: ReportArgs<EvalFormat>,
}

/// A way of choosing the tools that a model is shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// No search and no tool
    ZeroShot,
    /// The first tools of the search
    Bm25,
    /// The expected tools
    Oracle,
}
