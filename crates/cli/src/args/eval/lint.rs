//! Options of `proof eval lint`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::EvalFormat;
use super::report::ReportArgs;
use super::tools::ToolsArgs;

/// Find tools that models confuse, and cases that no answer can meet
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof eval lint -- npx -y my-server
  proof eval lint http://127.0.0.1:3000/mcp
  proof eval lint --tools tools.json
  proof eval lint --cases cases.yaml
  proof eval lint --cases cases.yaml --fail-on warning -- ./my-server
  proof eval lint --bfcl QUESTIONS.json ANSWERS.json

Needs no case and no model, and calls no tool. The tokens of the catalogue are
estimated.

Checks: https://github.com/proofhouse/proofhouse/blob/main/docs/eval.md

Exit codes: 0 nothing at or above --fail-on; 1 a finding; 2 usage error or
invalid file; 3 no MCP answer; 4 bug in proof.")]
pub(crate) struct LintArgs {
    /// Also check these cases; their `tools` are used where no others are given
    #[arg(long, value_name = "FILE", help_heading = "Tools")]
    pub(crate) cases: Option<PathBuf>,
    /// Check only a key of bfcl-eval: its questions and possible answers
    #[arg(long, num_args = 2, value_names = ["QUESTIONS", "ANSWERS"], conflicts_with_all = ["cases", "tools", "url", "command"], help_heading = "Tools")]
    pub(crate) bfcl: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) tools: ToolsArgs,
    /// Lowest severity that fails
    #[arg(long, value_enum, value_name = "SEVERITY", default_value = "error", help_heading = "Output")]
    pub(crate) fail_on: LintSeverity,
    #[command(flatten)]
    pub(crate) report: ReportArgs<EvalFormat>,
}

/// The lowest severity that fails.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintSeverity {
    /// Cases that no answer can meet
    Error,
    /// Also what misleads models
    Warning,
    /// Every finding
    Note,
}
