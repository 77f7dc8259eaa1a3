//! The report of scores as one self-contained HTML page without scripts: outcomes, which tools were called for which, and
//! what each wrong answer lacks, next to the other run's. Whatever a model wrote gets in as [`Text`] alone.

mod answers;
mod matrix;

use std::fmt::Write as _;

use eval::summary::{Comparison, Summary};
use report::render::html::text::Text;
use report::render::text::count;
use wire::escape::snippet;
use wire::redact::Redactor;

use super::Report;
use crate::format::page::page;

/// How long names may be, and how many cases of a list are named.
const NAME: usize = 80;
const LISTED: usize = 200;

/// The report as one HTML document.
pub(crate) fn html(report: &Report<'_>, redactor: &Redactor) -> String {
    let summary = report.scores.summary();
    let mut body = String::new();
    outcomes(&mut body, &summary);
    matrix::section(&mut body, report.scores);
    if let Some(comparison) = report.comparison {
        compared(&mut body, comparison);
    }
    answers::section(&mut body, report, redactor);
    left_out(&mut body, report);
    page("proof eval score", !report.has_passed, &head(report, &summary), &body)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn head(report: &Report<'_>, summary: &Summary) -> String {
    let mut out = format!("<p>{}</p>", Text(&report.file.to_string_lossy()));
    if summary.answers == 0 {
        out.push_str("<p class=\"share\">Nothing was scored.</p>");
        return out;
    }
    let share = summary.passed as f64 / summary.answers as f64;
    let (low, high) = summary.interval;
    let _ = write!(
        out,
        "<p class=\"share\"><b>{}</b> {} of {} correct</p><p>95 % interval {} to {} · mean score {:.2} · {} % of the cases are \
         required</p>",
        percent(share),
        summary.passed,
        count(summary.answers, "answer"),
        percent(low),
        percent(high),
        summary.mean,
        report.required
    );
    for (k, one, all) in &summary.attempts {
        let _ = write!(out, "<p>of {k} answers: one correct {}, all correct {}</p>", percent(*one), percent(*all));
    }
    out
}

/// How often each outcome occurs: the most frequent has the whole bar.
fn outcomes(out: &mut String, summary: &Summary) {
    let Some(most) = summary.outcomes.values().max() else { return };
    out.push_str("<section>\n<h2>Outcomes</h2>\n<table class=\"outcomes\">\n");
    for (outcome, number) in &summary.outcomes {
        let class = if outcome.as_str() == "correct" { "p" } else { "f" };
        let width = 100.0 * *number as f64 / *most as f64;
        let _ = writeln!(
            out,
            "<tr class=\"{class}\"><th>{outcome}</th><td><svg class=\"bar\" aria-hidden=\"true\"><rect width=\"{width:.1}%\" \
             height=\"100%\"/></svg></td><td>{number}</td></tr>"
        );
    }
    out.push_str("</table>\n</section>\n");
}

fn compared(out: &mut String, comparison: &Comparison) {
    let Comparison { both, gained, lost, p } = comparison;
    let _ = writeln!(
        out,
        "<section>\n<h2>Against the other run</h2>\n<p>{} in both · {} gained · {} lost · p = {p:.3} (McNemar's exact test)</p>",
        count(*both, "answer"),
        gained.len(),
        lost.len()
    );
    for (class, word, list) in
        [("p", "gained", gained), ("f", "lost", lost)].iter().filter(|(.., list)| !list.is_empty())
    {
        let _ = writeln!(out, "<table class=\"moved\">");
        for (case, attempt) in list.iter().take(LISTED) {
            let name = snippet(case, NAME);
            let _ =
                writeln!(out, "<tr class=\"{class}\"><td>{word}</td><td>{}{}</td></tr>", Text(&name), nth(*attempt));
        }
        out.push_str("</table>\n");
        if list.len() > LISTED {
            let _ = writeln!(out, "<p>and {} more</p>", list.len() - LISTED);
        }
    }
    out.push_str("</section>\n");
}

/// Which answer to a case it is, where it is not the first.
fn nth(attempt: usize) -> String {
    if attempt > 1 { format!(" <small>answer {attempt}</small>") } else { String::new() }
}

/// Cases without an answer, and those that are not scored.
fn left_out(out: &mut String, report: &Report<'_>) {
    let scores = report.scores;
    if scores.unanswered.is_empty() && scores.skipped.is_empty() {
        return;
    }
    out.push_str("<section>\n<h2>Not scored</h2>\n<table class=\"moved\">\n");
    for name in scores.unanswered.iter().take(LISTED) {
        let _ = writeln!(out, "<tr class=\"f\"><td>no answer</td><td>{}</td></tr>", Text(&snippet(name, NAME)));
    }
    for (name, why) in scores.skipped.iter().take(LISTED) {
        let (name, why) = (snippet(name, NAME), snippet(why, 200));
        let _ = writeln!(out, "<tr><td>skipped</td><td>{}<br><small>{}</small></td></tr>", Text(&name), Text(&why));
    }
    out.push_str("</table>\n");
    let more = scores.unanswered.len().saturating_sub(LISTED) + scores.skipped.len().saturating_sub(LISTED);
    if more > 0 {
        let _ = writeln!(out, "<p>and {more} more</p>");
    }
    out.push_str("</section>\n");
}
