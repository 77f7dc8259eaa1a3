//! Options of `proof eval judge`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::endpoint::{BudgetArgs, EndpointArgs};
use super::report::{GateArgs, ReportArgs, SelectArgs};
use super::{CallsFormat, EvalFormat};

/// Have a model judge answers: SoPR, SoWR, grades by a rubric
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof eval judge cases.yaml --calls eval-run.jsonl \\
      --endpoint https://api.openai.com/v1 --api responses --model gpt-5 \\
      --key-env OPENAI_API_KEY
  proof eval judge cases.yaml --calls new.jsonl --against old.jsonl --judge sowr …
  proof eval judge cases.yaml --calls eval-run.jsonl --labels labels.jsonl …
  proof eval judge cases.yaml --calls eval-run.jsonl --offline eval-judge.jsonl
  proof eval judge --print rubric > my-rubric.md

Sends tasks, calls, results and answers to the endpoint alone.
A judgement that is not exactly in the form that was asked for does not count.

Guide: https://github.com/proofhouse/proofhouse/blob/main/docs/eval.md

Exit codes: 0 the rate is high enough; 1 it is not, or nothing was judged, or the
budget is used up; 2 usage error or invalid file; 3 no answer of the endpoint;
4 bug in proof.")]
#[command(mut_arg("min_score", |arg| arg.help("Rate that is enough, in percent [default: 100; for sowr: 50]")))]
pub(crate) struct JudgeArgs {
    /// Cases with prompts
    #[arg(value_name = "CASES", required_unless_present = "print")]
    cases: Option<PathBuf>,
    /// Answers to judge: recordings of `proof eval run`, and what `score` reads (repeatable)
    #[arg(long, value_name = "FILE", required = true, help_heading = "Answers")]
    pub(crate) calls: Vec<PathBuf>,
    /// Answers of another run, for sowr (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Answers")]
    pub(crate) against: Vec<PathBuf>,
    /// Format of the answers [default: detected]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Answers")]
    pub(crate) from: Option<CallsFormat>,
    /// What is judged: sopr, sowr, rubric, or a file with a prompt. With sowr, a
    /// second one replaces the prompt of sopr
    #[arg(long, value_name = "KIND|FILE", default_value = "sopr", help_heading = "Judge")]
    pub(crate) judge: Vec<String>,
    /// What solved, unsure and unsolved count in sopr
    #[arg(long, value_name = "N,N,N", default_value = "1,0.5,0", value_delimiter = ',', value_parser = points, help_heading = "Judge")]
    pub(crate) points: Vec<f64>,
    /// Verdicts of people about the same answers: show how far the judge agrees
    #[arg(long, value_name = "FILE", help_heading = "Judge")]
    pub(crate) labels: Option<PathBuf>,
    /// How many judgements are asked for at a time
    #[arg(long, short, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u16).range(1..=64), help_heading = "Judge")]
    pub(crate) jobs: u16,
    /// Print the prompt that is used for a kind, and judge nothing
    #[arg(long, value_enum, value_name = "KIND", exclusive = true, help_heading = "Judge")]
    pub(crate) print: Option<KindArg>,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
    /// PEM file of certificates to trust in addition to the system's
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub(crate) ca_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
    /// Write the judgements to this file
    #[arg(long, value_name = "FILE", default_value = "eval-judge.jsonl", help_heading = "Recording")]
    pub(crate) record: PathBuf,
    /// Use the judgements of this recording, ask for the others, and append them
    #[arg(long, value_name = "FILE", conflicts_with = "record", help_heading = "Recording")]
    pub(crate) resume: Option<PathBuf>,
    /// Use the judgements of this recording alone; ask nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "resume", "endpoint"], help_heading = "Recording")]
    pub(crate) offline: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    #[command(flatten)]
    pub(crate) gate: GateArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs<EvalFormat>,
}

/// A kind of judge.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    /// Whether an answer solves its task
    Sopr,
    /// Which of two answers is better
    Sowr,
    /// A grade
    Rubric,
}

impl JudgeArgs {
    /// The file of cases: there is one, unless a prompt is printed.
    pub(crate) fn cases(&self) -> &Path {
        self.cases.as_deref().unwrap_or(Path::new(""))
    }
}

fn points(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(points) if (0.0..=1.0).contains(&points) => Ok(points),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}
