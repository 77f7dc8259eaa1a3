//! Options of `proof eval retrieve`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

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
    /// Only cases with TEXT in their name
    #[arg(long, value_name = "TEXT", help_heading = "Selection")]
    pub(crate) filter: Option<String>,
    /// Only cases with this tag (repeatable)
    #[arg(long, value_name = "TAG", help_heading = "Selection")]
    pub(crate) tag: Vec<String>,
    /// Compare these ways of choosing the tools that a model is shown (repeatable)
    #[arg(long, value_enum, value_name = "MODE", value_delimiter = ',', help_heading = "Output")]
    pub(crate) mode: Vec<ModeArg>,
    /// How many tools a search returns: the rest counts as not found
    #[arg(long, value_name = "K", default_value = "5", value_parser = clap::value_parser!(u16).range(1..=100), help_heading = "Output")]
    pub(crate) at: u16,
    /// Share of expected tools that must be found, in percent [default: 0]
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "Output")]
    pub(crate) min_recall: Option<f64>,
    /// List all cases, not only those with tools that were not found
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,
    /// Report format
    #[arg(long, value_enum, default_value = "human", help_heading = "Output")]
    pub(crate) format: EvalFormat,
    /// Write the report to FILE instead of stdout
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
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
