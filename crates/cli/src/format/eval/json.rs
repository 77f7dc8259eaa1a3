//! The report as one JSON document: `proof.eval/1`.

use std::path::Path;

use eval::score::Finding;
use eval::summary::{Answered, Comparison, Summary};
use serde_json::{Map, Value, json};
use wire::escape;
use wire::redact::Redactor;

use super::{Report, redacted};

/// The report as JSON.
pub(crate) fn json(report: &Report<'_>, redactor: &Redactor) -> String {
    let scores = report.scores;
    let skipped: Vec<Value> = scores.skipped.iter().map(|(case, why)| json!({ "case": case, "why": why })).collect();
    let document = json!({
        "schema": "proof.eval/1",
        "proof": env!("CARGO_PKG_VERSION"),
        "cases": Path::display(report.file).to_string(),
        "passed": report.has_passed,
        "required": report.required / 100.0,
        "summary": summary(&scores.summary()),
        "unanswered": scores.unanswered,
        "skipped": skipped,
        "unknown": scores.strangers.iter().map(|name| redactor.redact_text(name)).collect::<Vec<_>>(),
        "answers": scores.answers.iter().map(|one| answer(one, redactor)).collect::<Vec<_>>(),
        "against": report.comparison.map(comparison),
    });
    format!("{}\n", escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default()))
}

fn summary(summary: &Summary) -> Value {
    let outcomes: Map<String, Value> =
        summary.outcomes.iter().map(|(outcome, number)| (outcome.as_str().to_owned(), json!(number))).collect();
    let confusions: Vec<Value> = summary
        .confusions
        .iter()
        .map(|(expected, actual, count)| json!({ "expected": expected, "actual": actual, "count": count }))
        .collect();
    let attempts: Vec<Value> =
        summary.attempts.iter().map(|(k, one, all)| json!({ "k": k, "passAtK": one, "passAllK": all })).collect();
    json!({
        "answers": summary.answers,
        "correct": summary.passed,
        "interval": [summary.interval.0, summary.interval.1],
        "score": summary.mean,
        "outcomes": outcomes,
        "confusions": confusions,
        "attempts": attempts,
    })
}

fn answer(answer: &Answered, redactor: &Redactor) -> Value {
    json!({
        "case": answer.case,
        "line": answer.line,
        "attempt": answer.attempt,
        "outcome": answer.scored.outcome.as_str(),
        "score": answer.scored.score,
        "findings": answer.scored.findings.iter().map(|one| finding(one, redactor)).collect::<Vec<_>>(),
        "notes": answer.notes.iter().map(|note| redactor.redact_text(note)).collect::<Vec<_>>(),
    })
}

fn finding(finding: &Finding, redactor: &Redactor) -> Value {
    json!({
        "outcome": finding.outcome.as_str(),
        "call": finding.call,
        "tool": finding.tool,
        "pointer": finding.pointer,
        "expected": redacted(redactor, finding, &finding.expected),
        "actual": redacted(redactor, finding, &finding.actual),
    })
}

fn comparison(comparison: &Comparison) -> Value {
    let list = |list: &[(String, usize)]| -> Vec<Value> {
        list.iter().map(|(case, attempt)| json!({ "case": case, "attempt": attempt })).collect()
    };
    json!({
        "both": comparison.both,
        "gained": list(&comparison.gained),
        "lost": list(&comparison.lost),
        "p": comparison.p,
    })
}
