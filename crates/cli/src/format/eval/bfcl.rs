//! Reports of `proof eval score --compat bfcl`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use eval::bfcl::{Mode, Verdict};
use eval::stats::wilson;
use report::render::text::count;
use serde_json::{Map, Value, json};
use wire::escape::{self, snippet};

/// What a category comes to.
#[derive(Default)]
pub(crate) struct Category {
    pub(crate) total: usize,
    pub(crate) valid: usize,
}

/// What all entries come to.
pub(crate) struct Report<'r> {
    pub(crate) mode: Mode,
    pub(crate) categories: BTreeMap<&'r str, Category>,
    /// Identifier and verdict, in the order of the questions.
    pub(crate) verdicts: Vec<(&'r str, Verdict)>,
    /// Questions without a result.
    pub(crate) missing: Vec<&'r str>,
}

const fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Calls => "calls",
        Mode::CallsWithUnderscores => "calls, dots as underscores",
        Mode::Prompt => "calls as text",
    }
}

/// The report for people.
pub(crate) fn human(report: &Report<'_>, has_passed: bool, verbose: bool) -> String {
    let mut out = String::new();
    let mut errors: BTreeMap<Verdict, usize> = BTreeMap::new();
    for (id, verdict) in &report.verdicts {
        if !verdict.is_valid() {
            *errors.entry(*verdict).or_default() += 1;
        }
        if verbose {
            let _ = writeln!(out, "{}  {verdict}", snippet(id, 60));
        }
    }
    let _ = writeln!(out, "{:<28} {:>7} {:>7}  {:>8}  95 % interval", "category", "valid", "total", "accuracy");
    for (name, Category { total, valid }) in &report.categories {
        let (low, high) = wilson(*valid, *total);
        let share = 100.0 * *valid as f64 / *total as f64;
        let (low, high) = (100.0 * low, 100.0 * high);
        let _ =
            writeln!(out, "{:<28} {valid:>7} {total:>7}  {share:>6.2} %  {low:.1} to {high:.1} %", snippet(name, 28));
    }
    for (verdict, number) in errors {
        let _ = writeln!(out, "  {number:>6}  {verdict}");
    }
    if !report.missing.is_empty() {
        let _ = writeln!(out, "  {} without a result", count(report.missing.len(), "question"));
    }
    let verdict = if has_passed { "passed" } else { "failed" };
    let _ = writeln!(out, "{verdict} (bfcl-eval 2026.3.23; results read as {})", mode(report.mode));
    out
}

/// The report as one JSON document: `proof.eval-bfcl/1`.
pub(crate) fn json(report: &Report<'_>, has_passed: bool) -> String {
    let categories: Map<String, Value> = report
        .categories
        .iter()
        .map(|(name, Category { total, valid })| {
            let accuracy = *valid as f64 / *total as f64;
            ((*name).to_owned(), json!({ "accuracy": accuracy, "correct_count": valid, "total_count": total }))
        })
        .collect();
    let entry = |(id, verdict): &(&str, Verdict)| {
        let error = match verdict {
            Verdict::Invalid(name) => Some(*name),
            _ => None,
        };
        let is_raised = *verdict == Verdict::Raises;
        json!({ "id": id, "valid": verdict.is_valid(), "error_type": error, "raises": is_raised, "supported": *verdict != Verdict::Unsupported })
    };
    let document = json!({
        "schema": "proof.eval-bfcl/1",
        "proof": env!("CARGO_PKG_VERSION"),
        "bfclEval": "2026.3.23",
        "mode": mode(report.mode),
        "passed": has_passed,
        "categories": categories,
        "entries": report.verdicts.iter().map(entry).collect::<Vec<_>>(),
        "missing": report.missing,
    });
    format!("{}\n", escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default()))
}
