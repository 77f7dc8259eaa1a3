//! `proof eval`: what a model did with tools, scored without a model, and tools for its API.

mod bfcl;
mod cases;
mod concealing;
pub(super) mod cost;
mod export;
mod files;
mod gorilla;
mod import;
mod judge;
mod kept;
mod lint;
pub(super) mod model;
mod offered;
mod progress;
mod retrieve;
mod run;

use std::path::Path;

use ::eval::summary::{self, Run as Scores};
use ::eval::{CaseFile, Catalogue, Sample, case};
use report::render::text::{count, wrap};
use wire::escape;
use wire::redact::Redactor;

use crate::args::eval::{Compat, EvalArgs, EvalVerb, ScoreArgs, ScoreFormat};
use crate::exit::{self, Exit, tell, usage};
use crate::format::eval::{self, Report};
use crate::run::Run;
use crate::verb::output;

/// Evaluates.
pub(crate) fn run(run: &Run, args: &EvalArgs) -> Exit {
    exit::conceal(run.redactor());
    let scored = match &args.verb {
        EvalVerb::Score(args) if args.schema => output::print(case::schema()).map(|()| Exit::Clean),
        EvalVerb::Score(args) if args.compat.is_some() && args.report.format == ScoreFormat::Html => {
            Err(usage("--compat has no HTML report", "--format human or json"))
        }
        EvalVerb::Score(args) if args.compat == Some(Compat::Bfcl) => bfcl::scored(args),
        EvalVerb::Score(args) if args.compat == Some(Compat::Gorilla) => gorilla::scored(args),
        EvalVerb::Score(args) => scored(run, args),
        EvalVerb::Cases(args) => cases::written(run, args),
        EvalVerb::Import(args) => import::written(args),
        EvalVerb::Run(args) => run::asked(run, args),
        EvalVerb::Judge(args) => judge::judged(run, args),
        EvalVerb::Lint(args) => lint::linted(run, args),
        EvalVerb::Retrieve(args) => retrieve::retrieved(run, args),
        EvalVerb::ExportTools(args) => export::exported(run, args),
    };
    scored.unwrap_or_else(|exit| exit)
}

fn scored(run: &Run, args: &ScoreArgs) -> Result<Exit, Exit> {
    args.report.to.check(&[])?;
    let [path] = args.files.as_slice() else {
        return Err(usage("several files of cases", "one file of cases, and answers with --calls FILE"));
    };
    if args.calls.is_empty() {
        return Err(usage("no answers to score", "--calls FILE, with what the model answered"));
    }
    let cases = files::cases(path)?;
    let tools = files::tools(path, &cases, args.tools.as_deref())?;
    let samples = files::samples(&args.calls, args)?;
    concluded(run, args, (path, &cases), tools.as_ref(), (&samples, false))
}

/// Scores answers and reports: the same for `score` and for `run`, which a budget may have cut short.
fn concluded(
    run: &Run,
    args: &ScoreArgs,
    (path, cases): (&Path, &CaseFile),
    tools: Option<&Catalogue>,
    (samples, is_cut): (&[Sample], bool),
) -> Result<Exit, Exit> {
    let selects = |name: &str, tags: &[String]| args.select.selects(name, tags);
    let score = |samples: &[Sample]| {
        summary::run(cases, samples, tools, &selects).map_err(|unnamed| {
            let what = format!("{} without the name of a case", count(unnamed.answers, "answer"));
            usage(&what, "--case NAME, or lines with `case`: {\"case\": \"NAME\", \"response\": {…}}")
        })
    };
    let scores = score(samples)?;
    let before = if args.against.is_empty() { None } else { Some(score(&files::samples(&args.against, args)?)?) };
    let comparison = before.as_ref().map(|before| summary::compare(before, &scores));
    let redactor = run.redactor();
    warn(&scores, &redactor);
    let (required, is_reached) = gate(&scores, args.gate.min_score);
    let has_passed = is_reached && !is_cut;
    let report = Report {
        file: path,
        scores: &scores,
        before: before.as_ref(),
        comparison: comparison.as_ref(),
        required,
        has_passed,
        is_cut,
    };
    let text = match args.report.format {
        ScoreFormat::Json => eval::json(&report, &redactor),
        ScoreFormat::Html => eval::html(&report, &redactor),
        ScoreFormat::Human => {
            let paint = args.report.to.paint();
            eval::human(&report, &redactor, paint, args.report.verbose)
        }
    };
    args.report.to.write(&text)?;
    Ok(if has_passed { Exit::Clean } else { Exit::Finding })
}

/// The share that is required, in percent, and whether it was reached. Cases without an answer count as wrong, and where
/// nothing was scored, nothing passes.
fn gate(scores: &Scores, min_score: Option<f64>) -> (f64, bool) {
    let required = min_score.unwrap_or(100.0);
    let total = scores.answers.len() + scores.unanswered.len();
    let passed = scores.answers.iter().filter(|answer| answer.scored.passes()).count();
    (required, !scores.answers.is_empty() && 100.0 * passed as f64 / total as f64 >= required)
}

/// Reports an error in lines of 80 columns.
fn tell_error(what: &str, remedy: &str) {
    let mut text = String::new();
    wrap(&mut text, 0, &format!("error: {}", exit::redacted(what)));
    wrap(&mut text, 2, &format!("try: {remedy}"));
    tell(text.trim_end());
}

fn warn(scores: &Scores, redactor: &Redactor) {
    const SHOWN: usize = 5;
    if scores.strangers.is_empty() {
        return;
    }
    let names: Vec<_> =
        scores.strangers.iter().take(SHOWN).map(|name| escape::snippet(&redactor.redact_text(name), 40)).collect();
    let more = scores.strangers.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    tell(format_args!("note: answers to unknown cases were left out: {}{more}", names.join(", ")));
}
