//! The report for people.

use std::fmt::Write as _;

use eval::score::{Finding, Outcome};
use eval::summary::{Answered, Comparison, Summary};
use report::render::text::{Paint, count, wrap};
use wire::escape::{line, snippet};
use wire::redact::Redactor;

use super::{Report, redacted};

/// How much is shown of a value, and of a name.
const VALUE: usize = 60;
const NAME: usize = 48;
/// How many findings of one answer, and how many pairs of confused tools, are listed.
const MOST_FINDINGS: usize = 8;
const MOST_PAIRS: usize = 10;

/// The report for people.
pub(crate) fn human(report: &Report<'_>, redactor: &Redactor, paint: Paint, verbose: bool) -> String {
    let mut out = String::new();
    for answer in report.scores.answers.iter().filter(|answer| verbose || !answer.scored.passes()) {
        write_answer(&mut out, report, answer, redactor, paint);
    }
    for name in &report.scores.unanswered {
        let _ = writeln!(out, "{}  {}  no answer to score", paint.red("FAIL"), snippet(name, NAME));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let summary = report.scores.summary();
    write_summary(&mut out, report, &summary);
    write_confusions(&mut out, &summary);
    if let Some(comparison) = report.comparison {
        write_comparison(&mut out, comparison);
    }
    let verdict = if report.has_passed { paint.green("passed") } else { paint.red("failed") };
    let why = match (report.scores.answers.is_empty(), report.required < 100.0) {
        (true, _) => ": nothing was scored".to_owned(),
        _ if report.is_cut => ": not everything was asked".to_owned(),
        (false, true) => format!(": {} % of the cases must be answered correctly", report.required),
        (false, false) => String::new(),
    };
    let _ = writeln!(out, "{verdict}{why}");
    out
}

fn write_answer(out: &mut String, report: &Report<'_>, answer: &Answered, redactor: &Redactor, paint: Paint) {
    let scored = &answer.scored;
    let word = if scored.passes() { paint.green("pass") } else { paint.red("FAIL") };
    let attempt = if answer.attempt > 1 { format!(" (answer {})", answer.attempt) } else { String::new() };
    let _ = writeln!(out, "{word}  {}{attempt}  {}", snippet(&answer.case, NAME), scored.outcome);
    for finding in scored.findings.iter().take(MOST_FINDINGS) {
        wrap(out, 6, &said(finding, scored.outcome, redactor));
    }
    if scored.findings.len() > MOST_FINDINGS {
        let _ = writeln!(out, "      and {} more", scored.findings.len() - MOST_FINDINGS);
    }
    for note in &answer.notes {
        wrap(out, 6, &format!("note: {}", snippet(&redactor.redact_text(note), 200)));
    }
    if !scored.passes() {
        let file = line(&report.file.to_string_lossy()).into_owned();
        let _ = writeln!(out, "      {}:{}, score {:.2}", file, answer.line, scored.score);
    }
}

/// One finding in words.
fn said(finding: &Finding, outcome: Outcome, redactor: &Redactor) -> String {
    let text = |text: &str| snippet(&redacted(redactor, finding, text), VALUE);
    let place = match (finding.tool.as_str(), finding.pointer.as_str()) {
        ("", _) => String::new(),
        (tool, "") => format!("{}: ", snippet(tool, NAME)),
        (tool, pointer) => format!("{} {}: ", snippet(tool, NAME), snippet(pointer, NAME)),
    };
    let kind = if finding.outcome == outcome { String::new() } else { format!("{}: ", finding.outcome) };
    format!("{kind}{place}expected {}, got {}", text(&finding.expected), text(&finding.actual))
}

fn write_summary(out: &mut String, report: &Report<'_>, summary: &Summary) {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    if summary.answers > 0 {
        let (low, high) = summary.interval;
        let share = summary.passed as f64 / summary.answers as f64;
        let text = format!(
            "{} of {} correct: {} (95 % interval {} to {}), mean score {:.2}",
            summary.passed,
            count(summary.answers, "answer"),
            percent(share),
            percent(low),
            percent(high),
            summary.mean
        );
        wrap(out, 0, &text);
    }
    let outcomes: Vec<_> = summary
        .outcomes
        .iter()
        .filter(|(outcome, _)| **outcome != Outcome::Correct)
        .map(|(outcome, number)| format!("{number} {outcome}"))
        .collect();
    if !outcomes.is_empty() {
        wrap(out, 2, &outcomes.join(", "));
    }
    for (k, one, all) in &summary.attempts {
        let _ = writeln!(out, "  of {k}: one correct {}, all correct {}", percent(*one), percent(*all));
    }
    if !report.scores.unanswered.is_empty() {
        let _ = writeln!(out, "  {} without an answer", count(report.scores.unanswered.len(), "case"));
    }
    for (name, why) in &report.scores.skipped {
        wrap(out, 2, &format!("skipped: {}: {}", snippet(name, NAME), snippet(why, 100)));
    }
}

fn write_confusions(out: &mut String, summary: &Summary) {
    if summary.confusions.is_empty() {
        return;
    }
    out.push_str("\nExpected tool, and what was called:\n");
    let name = |name: &str| if name.is_empty() { "nothing".to_owned() } else { snippet(name, 32) };
    for (expected, actual, number) in summary.confusions.iter().take(MOST_PAIRS) {
        let _ = writeln!(out, "{number:>5} ×  {} → {}", name(expected), name(actual));
    }
    if summary.confusions.len() > MOST_PAIRS {
        let _ = writeln!(out, "  and {} more pairs (--format json)", summary.confusions.len() - MOST_PAIRS);
    }
    out.push('\n');
}

fn write_comparison(out: &mut String, comparison: &Comparison) {
    let Comparison { both, gained, lost, p } = comparison;
    let text = format!(
        "Against the other run: {} in both, {} gained, {} lost; McNemar's test: p = {p:.3}",
        count(*both, "answer"),
        gained.len(),
        lost.len()
    );
    wrap(out, 0, &text);
    for (word, list) in [("gained", gained), ("lost", lost)] {
        for (case, attempt) in list {
            let attempt = if *attempt > 1 { format!(" (answer {attempt})") } else { String::new() };
            let _ = writeln!(out, "  {word:<6}  {}{attempt}", snippet(case, NAME));
        }
    }
}
