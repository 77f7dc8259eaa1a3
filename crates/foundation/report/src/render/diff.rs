//! What changed between two reports, for people and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::escape::plain;
use super::text::{Paint, count, wrap};
use crate::compare::{Comparison, FORMAT, Shift, TransportRevision};
use crate::saved::{Finding, Report, Subject};

/// How many lines a list that is not about findings may have.
const LINES: usize = 40;

#[derive(Serialize)]
struct Document<'r> {
    schema: &'static str,
    proof: &'static str,
    old: Side<'r>,
    new: Side<'r>,
    worse: bool,
    #[serde(flatten)]
    comparison: &'r Comparison<'r>,
}

#[derive(Serialize)]
struct Side<'r> {
    proof: &'r str,
    subject: &'r Subject,
    score: Option<f64>,
    judged: usize,
    cut_short: bool,
}

impl<'r> Side<'r> {
    fn of(report: &'r Report) -> Self {
        let cut_short = report.was_cut_short();
        let score = report.summary.score;
        Self { proof: &report.proof, subject: &report.subject, score, judged: report.judged(), cut_short }
    }
}

/// One JSON document, `proof.diff/1`, with a line feed at its end, harmless on a terminal.
pub fn json(old: &Report, new: &Report, comparison: &Comparison<'_>) -> String {
    let worse = comparison.is_worse();
    let proof = env!("CARGO_PKG_VERSION");
    let document = Document { schema: FORMAT, proof, old: Side::of(old), new: Side::of(new), worse, comparison };
    let document = serde_json::to_string_pretty(&document).unwrap_or_default();
    wire::escape::json(&document).into_owned() + "\n"
}

/// Plain words, 80 columns, ending with the one line a person needs.
pub fn human(old: &Report, new: &Report, comparison: &Comparison<'_>, paint: Paint) -> String {
    let mut out = String::new();
    side(&mut out, "old", old);
    side(&mut out, "new", new);
    out.push('\n');
    let coverage = &comparison.coverage;
    findings(&mut out, &paint.green("FIXED"), &comparison.findings.fixed, false);
    findings(&mut out, &paint.red("NEW"), &comparison.findings.new, true);
    shifts(&mut out, "No longer judged", &coverage.lost);
    shifts(&mut out, "Newly judged", &coverage.gained);
    runs(&mut out, "Runs that are gone", &comparison.runs.removed);
    runs(&mut out, "New runs", &comparison.runs.added);
    list(&mut out, "Rules that are gone", comparison.rules.removed.iter().map(|id| plain(id).into_owned()));
    list(&mut out, "New rules", comparison.rules.added.iter().map(|id| plain(id).into_owned()));
    let line = verdict(comparison);
    let line = if comparison.is_worse() { paint.red(&line) } else { paint.green(&line) };
    let _ = writeln!(out, "{line}");
    out
}

fn side(out: &mut String, which: &str, report: &Report) {
    let name = report.subject.name.as_deref().unwrap_or("unnamed");
    let version = report.subject.version.as_deref().unwrap_or_default();
    let must = report.summary.must;
    let score = match report.summary.score {
        Some(score) => format!("score {score:.1} %, coverage {} of {}", must.judged(), must.binding()),
        None => "no score".to_owned(),
    };
    let cut = if report.was_cut_short() { ", cut short" } else { "" };
    wrap(out, 0, &plain(&format!("{which}  {name} {version}: {score}{cut} (proof {})", report.proof)));
}

/// Findings that say the same are put together.
fn findings(out: &mut String, word: &str, findings: &[&Finding], at_length: bool) {
    let mut groups: BTreeMap<(&str, &str), Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        groups.entry((&finding.rule, &finding.message)).or_default().push(finding);
    }
    for ((rule, message), group) in groups {
        let Some(first) = group.first() else { continue };
        let _ = writeln!(out, "{word}  {}  {}", plain(rule), plain(&first.level));
        let runs: Vec<_> = group.iter().map(|f| format!("{} {}", f.transport, f.revision)).collect();
        wrap(out, 6, &plain(&runs.join(", ")));
        if at_length {
            wrap(out, 6, &plain(message));
            let _ = writeln!(out, "      {}", plain(&first.url));
        }
        out.push('\n');
    }
}

fn shifts(out: &mut String, title: &str, shifts: &[Shift<'_>]) {
    let line = |shift: &Shift<'_>| {
        let Finding { rule, revision, transport, outcome, .. } = shift.now;
        let (was, now) = (shift.was.as_str(), outcome.as_str());
        plain(&format!("{rule}  {transport} {revision}: was {was}, is {now}")).into_owned()
    };
    list(out, title, shifts.iter().map(line));
}

fn runs(out: &mut String, title: &str, runs: &[TransportRevision<'_>]) {
    list(out, title, runs.iter().map(|run| plain(&format!("{} {}", run.transport, run.revision)).into_owned()));
}

fn list(out: &mut String, title: &str, lines: impl ExactSizeIterator<Item = String>) {
    let number = lines.len();
    if number == 0 {
        return;
    }
    let _ = writeln!(out, "{title}: {number}");
    lines.take(LINES).for_each(|line| wrap(out, 2, &line));
    if number > LINES {
        let _ = writeln!(out, "  … and {} more: --format json lists all", number - LINES);
    }
    out.push('\n');
}

fn verdict(comparison: &Comparison<'_>) -> String {
    let findings = &comparison.findings;
    if comparison.is_vacuous {
        return "Worse: the newer report judged no rule.".to_owned();
    }
    let must = findings.new.iter().filter(|finding| finding.level == "MUST").count();
    let word = if comparison.is_worse() { "Worse" } else { "Not worse" };
    let cut = if comparison.is_cut_short { "; a run ended early" } else { "" };
    format!(
        "{word}: {} ({must} at MUST level), {} fixed, {} remaining{cut}.",
        count(findings.new.len(), "new finding"),
        findings.fixed.len(),
        findings.remaining.len()
    )
}
