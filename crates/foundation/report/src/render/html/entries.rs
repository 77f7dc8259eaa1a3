//! Every rule that was selected: what it demands, how it is judged, and what became of it in each run. The script shows an
//! entry in its panel; without the script the matrix links here.

use std::fmt::Write as _;

use super::findings::quote;
use super::grid::{Grid, OUTCOMES, Row};
use super::text::{Places, Prose, Quoted, Text};
use crate::{Outcome, RuleText, Sentence};

/// An entry per rule.
pub(super) fn section(out: &mut String, grid: &Grid<'_>) {
    let _ = writeln!(
        out,
        "<section aria-labelledby=\"rules\">\n<details class=\"fold\"><summary><h2 id=\"rules\" tabindex=\"-1\">Rules <span class=\"count\">{}</span></h2></summary>",
        grid.rows.len()
    );
    for row in &grid.rows {
        entry(out, grid, row);
    }
    out.push_str("<p class=\"nothing filtered\" hidden>No rule matches the filters.</p>\n</details>\n</section>\n");
}

fn entry(out: &mut String, grid: &Grid<'_>, row: &Row<'_>) {
    let (id, levels) = (Quoted(row.id), row.levels().join(" "));
    let _ = write!(
        out,
        "<details class=\"rule\" id=\"r.{id}\"><summary><span class=\"id\">{id}</span> <span class=\"level\">{levels}</span> <span class=\"tally\">"
    );
    let counts = OUTCOMES.iter().filter_map(|(outcome, _, word)| {
        let count = row.seen().filter(|cell| cell.finding.outcome == *outcome).count();
        (count > 0).then(|| format!("{count} {word}"))
    });
    out.push_str(&counts.collect::<Vec<_>>().join(", "));
    out.push_str("</span></summary>\n");
    let newest = row.rule.and_then(|rule| newest(row, rule).or(rule.newest()));
    if let Some(sentence) = newest {
        let _ = writeln!(out, "<p class=\"says\">{}</p>", Prose(sentence.text));
    }
    became(out, grid, row);
    if let Some(rule) = row.rule {
        out.push_str("<dl class=\"way-out\">");
        let broken = row.seen().any(|cell| matches!(cell.finding.outcome, Outcome::Fail | Outcome::Warn));
        for (name, text, due) in [("How it is judged", rule.how, true), ("How to fix it", rule.fix, broken)] {
            if due && !text.is_empty() {
                let _ = write!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", Prose(text));
            }
        }
        if let Some(sentence) = newest {
            let revision = sentence.revision;
            let _ = write!(
                out,
                "<div><dt>Specification</dt><dd><a href=\"{}\">{revision}, {}</a></dd></div>",
                Quoted(&sentence.url),
                Text(sentence.page.trim_end_matches("/index"))
            );
        }
        out.push_str("</dl>");
    }
    out.push_str("</details>\n");
}

/// The sentence as the newest revision in the report has it.
fn newest<'r>(row: &Row<'_>, rule: &'r RuleText) -> Option<&'r Sentence> {
    let mut revisions: Vec<_> = row.seen().map(|cell| cell.finding.revision).collect();
    revisions.sort_unstable();
    revisions.into_iter().rev().find_map(|revision| rule.sentence_at(revision))
}

/// What became of it: a line for all runs of which the same can be said.
fn became(out: &mut String, grid: &Grid<'_>, row: &Row<'_>) {
    out.push_str("<ul class=\"became\">\n");
    for (outcome, class, word) in OUTCOMES {
        for group in row.groups(outcome) {
            let known = if group.first.is_known() { ", known" } else { "" };
            let _ = write!(
                out,
                "<li data-c=\"{}\"><span class=\"sign {class}\"></span><b>{word}{known}</b> <span class=\"where\">{}</span>",
                group.columns(),
                Places(&grid.view.report.runs, &group.runs)
            );
            if !group.says.is_empty() {
                let _ = write!(out, "<p class=\"why\">{}</p>", Prose(&group.says));
            }
            // A pass shows what it saw, too. A broken rule's evidence stands in its card.
            if let (Outcome::Pass, Some(evidence)) = (outcome, group.first.finding.evidence.first()) {
                quote(out, "", evidence);
            }
            out.push_str("</li>\n");
        }
    }
    out.push_str("</ul>\n");
}
