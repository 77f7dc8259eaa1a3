//! Options of `proof eval run`.

use std::path::PathBuf;

use clap::Args;
use client::CallPolicy;

use super::endpoint::{BudgetArgs, EndpointArgs};
use super::report::{GateArgs, ReportArgs, SelectArgs};
use super::tools::ToolsArgs;
use super::{ScoreArgs, ScoreFormat};
use crate::args::check::CallArg;

/// Ask a model's endpoint, call the tools it asks for, and score the calls
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof eval run cases.yaml --endpoint https://api.openai.com/v1 \\
      --api responses --model gpt-5 --key-env OPENAI_API_KEY -- ./my-server
  proof eval run cases.yaml --endpoint http://127.0.0.1:8000/v1 --api chat \\
      --model local http://127.0.0.1:3000/mcp
  proof eval run cases.yaml --api messages … --samples 5 --max-cost 2 --price 3,15
  proof eval run cases.yaml … --resume eval-run.jsonl -- ./my-server
  proof eval run cases.yaml --offline eval-run.jsonl

Sends the `prompt` of each case and the server's tools to the endpoint, and to
nobody else. Tools that may change something are not called without --call all
or --allow-tool. Every exchange is appended to the recording.

Guide: https://github.com/proofhouse/proofhouse/blob/main/docs/eval.md

Exit codes: 0 all as expected; 1 an answer is wrong or missing, or the budget is
used up; 2 usage error or invalid file; 3 no answer of the server or of the
endpoint; 4 bug in proof.")]
pub(crate) struct RunArgs {
    /// Cases with prompts and expected calls
    #[arg(value_name = "CASES")]
    pub(crate) cases: PathBuf,
    #[command(flatten)]
    pub(crate) tools: ToolsArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Which tools may be called
    #[arg(long, value_enum, value_name = "WHICH", default_value = "safe", help_heading = "Tools")]
    call: CallArg,
    /// Call this tool, too, although it may do more than read (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Tools")]
    allow_tool: Vec<String>,
    /// Make schemas strict where that is possible (responses and chat)
    #[arg(long, help_heading = "Tools")]
    pub(crate) strict: bool,
    /// What the model may or must call first: auto, required, none, tool:NAME,
    /// allowed:NAME[,NAME], allowed-required:NAME[,NAME]
    #[arg(long, value_name = "CHOICE", default_value = "auto", help_heading = "Tools")]
    pub(crate) tool_choice: String,
    /// Ask for at most one call at a time
    #[arg(long, help_heading = "Tools")]
    pub(crate) no_parallel: bool,
    /// How often each case is asked
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=1000), help_heading = "Run")]
    pub(crate) samples: u16,
    /// How many cases are asked at a time
    #[arg(long, short, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u16).range(1..=64), help_heading = "Run")]
    pub(crate) jobs: u16,
    /// How many answers the model may give to one case
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u16).range(1..=1000), help_heading = "Run")]
    pub(crate) max_turns: u16,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    /// Write the recording to this file
    #[arg(long, value_name = "FILE", default_value = "eval-run.jsonl", help_heading = "Recording")]
    pub(crate) record: PathBuf,
    /// Go on where this recording stops, and append to it
    #[arg(long, value_name = "FILE", conflicts_with = "record", help_heading = "Recording")]
    pub(crate) resume: Option<PathBuf>,
    /// Score this recording; ask nothing
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["record", "resume", "endpoint", "url", "command", "tools"],
        help_heading = "Recording"
    )]
    pub(crate) offline: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// Answers of another run: show which cases moved (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) against: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) gate: GateArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs<ScoreFormat>,
}

/// The model, and how it is asked.
#[derive(Args)]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
    /// File with instructions that precede every prompt
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub(crate) system: Option<PathBuf>,
    /// Have answers streamed
    #[arg(long, help_heading = "Model")]
    pub(crate) stream: bool,
}

impl RunArgs {
    /// Which tools may be called.
    pub(crate) fn calls(&self) -> CallPolicy {
        self.call.policy(&self.allow_tool)
    }

    /// How the recording is scored.
    pub(crate) fn score(&self) -> ScoreArgs {
        ScoreArgs {
            files: vec![self.cases.clone()],
            calls: Vec::new(),
            from: None,
            case: None,
            tools: None,
            against: self.against.clone(),
            compat: None,
            select: self.select.clone(),
            gate: self.gate,
            report: self.report.clone(),
            schema: false,
        }
    }
}
