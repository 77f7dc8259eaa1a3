//! Options of `proof eval`.

pub(crate) mod cases;
pub(crate) mod endpoint;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod judge;
pub(crate) mod lint;
pub(crate) mod report;
pub(crate) mod retrieve;
pub(crate) mod run;
pub(crate) mod tools;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use cases::CasesArgs;
use export::ExportArgs;
use import::ImportArgs;
use judge::JudgeArgs;
use lint::LintArgs;
use report::{GateArgs, ReportArgs, SelectArgs};
use retrieve::RetrieveArgs;
use run::RunArgs;

/// Score what a model did with tools; lint and export tools
#[derive(Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  proof eval score cases.yaml --calls answers.jsonl
  proof eval score cases.yaml --calls session.trace.jsonl --case weather
  proof eval score cases.yaml --calls new.jsonl --against old.jsonl
  proof eval score --compat bfcl QUESTIONS.json ANSWERS.json RESULTS.json
  proof eval cases session.trace.jsonl -o cases.yaml
  proof eval import promptfooconfig.yaml -o cases.yaml
  proof eval run cases.yaml --endpoint URL --api chat --model NAME -- ./my-server
  proof eval judge cases.yaml --calls answers.jsonl --endpoint URL …
  proof eval lint -- npx -y my-server
  proof eval export-tools --format openai --strict -- npx -y my-server

Only `run` and `judge` ask a model.

Cases, matchers, outcomes and formats:
https://github.com/proofhouse/proofhouse/blob/main/docs/eval.md")]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    pub(crate) verb: EvalVerb,
}

/// What is evaluated.
#[derive(Subcommand)]
pub(crate) enum EvalVerb {
    /// Score recorded calls against the expected ones
    Score(Box<ScoreArgs>),
    /// Write cases that expect what was recorded
    Cases(CasesArgs),
    /// Translate tests of promptfoo or mcpchecker into cases
    Import(ImportArgs),
    /// Ask a model's endpoint, call the tools it asks for, and score the calls
    Run(Box<RunArgs>),
    /// Have a model judge answers: SoPR, SoWR, grades by a rubric
    Judge(Box<JudgeArgs>),
    /// Find tools that models confuse, and cases that no answer can meet
    Lint(Box<LintArgs>),
    /// Measure whether a tool search finds the expected tools
    Retrieve(Box<RetrieveArgs>),
    /// Print a server's tools in the form of a model's API
    ExportTools(Box<ExportArgs>),
}

/// Score recorded calls against the expected ones
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof eval score cases.yaml --calls answers.jsonl
  proof eval score cases.yaml --calls answers.jsonl --min-score 90
  proof eval score cases.yaml --calls stream.sse --case weather
  proof eval score cases.yaml --calls a.jsonl --format html --output a.html
  proof eval score cases.yaml --calls new.jsonl --against old.jsonl
  proof eval score --compat bfcl QUESTIONS.json ANSWERS.json RESULTS.json
  proof eval score --compat gorilla APIS.jsonl QUESTIONS.json RESPONSES.jsonl
  proof eval score --schema > eval-case.schema.json

Calls are read from responses and streams of the Responses API, Chat
Completions and Anthropic Messages, batches, traces of `proof record`,
OpenTelemetry spans, results of BFCL, and JSON Lines.

Guide: https://github.com/proofhouse/proofhouse/blob/main/docs/eval.md

Exit codes: 0 all as expected; 1 an answer is wrong or missing, or nothing was
scored; 2 usage error or invalid file; 4 bug in proof.")]
pub(crate) struct ScoreArgs {
    /// Cases; with --compat: the files of the other tool, in the order of the examples
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    pub(crate) files: Vec<PathBuf>,
    /// Answers of the model to score (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    pub(crate) calls: Vec<PathBuf>,
    /// Format of the answers [default: detected]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Answers")]
    pub(crate) from: Option<CallsFormat>,
    /// Case that the answers belong to, where they do not name one
    #[arg(long, value_name = "NAME", help_heading = "Answers")]
    pub(crate) case: Option<String>,
    /// Tools that the model was offered [default: `tools` of the case file]
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    pub(crate) tools: Option<PathBuf>,
    /// Answers of another run: show which cases moved (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    pub(crate) against: Vec<PathBuf>,
    /// Score as another tool does, its files for cases and calls
    #[arg(
        long,
        value_enum,
        value_name = "TOOL",
        conflicts_with_all = ["calls", "from", "case", "tools", "against", "filter", "tag"],
        help_heading = "Answers"
    )]
    pub(crate) compat: Option<Compat>,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    #[command(flatten)]
    pub(crate) gate: GateArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs<ScoreFormat>,
    /// Print the JSON Schema of case files, and score nothing
    #[arg(long, exclusive = true, help_heading = "Output")]
    pub(crate) schema: bool,
}

/// A tool whose scores are reproduced.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compat {
    /// bfcl-eval 2026.3.23: single-turn categories, no multi-turn or agentic ones
    Bfcl,
    /// Gorilla's APIBench
    Gorilla,
}

/// A format of answers.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CallsFormat {
    /// JSON Lines: one answer a line, also batches and results of BFCL
    Lines,
    /// Server-sent events of one answer
    Events,
    /// One answer or conversation as JSON
    Answer,
    /// Trace or recording of MCP traffic
    Trace,
    /// OpenTelemetry spans in OTLP's JSON
    Spans,
}

/// The format of a report.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvalFormat {
    /// Text
    Human,
    /// One JSON document: proof.eval/1
    Json,
}

fn percent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("expected a number from 0 to 100, such as 90".to_owned()),
    }
}

/// The format of a report of scores.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScoreFormat {
    /// Text
    Human,
    /// One JSON document: proof.eval/1
    Json,
    /// One page: outcomes, confused tools, differences; not with --compat
    Html,
}
