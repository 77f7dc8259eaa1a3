//! What was not judged, and why: neither green nor hidden.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::grid::Grid;
use super::text::{Places, Prose, Quoted, Text, number};
use crate::Outcome;

/// Rules that apply but were not exercised, then rules that do not apply.
pub(super) fn section(out: &mut String, grid: &Grid<'_>) {
    let (not_exercised, not_applicable) = (grid.count(Outcome::NotExercised), grid.count(Outcome::NotApplicable));
    let _ = writeln!(
        out,
        "<section aria-labelledby=\"not-judged\">\n<details class=\"fold\"><summary><h2 id=\"not-judged\" tabindex=\"-1\">Not judged <span class=\"count\">{}</span></h2></summary>",
        number(not_exercised + not_applicable)
    );
    if not_exercised == 0 {
        out.push_str("<p class=\"nothing\">Every rule that applies was exercised.</p>\n");
    } else {
        table(out, grid, not_exercised);
    }
    if not_applicable > 0 {
        elsewhere(out, grid, not_applicable);
    }
    out.push_str("</details>\n</section>\n");
}

fn table(out: &mut String, grid: &Grid<'_>, total: usize) {
    let _ = writeln!(
        out,
        "<h3 id=\"not-exercised\"><span class=\"sign e\"></span>Not exercised <span class=\"count\">{}</span></h3>\n\
         <p class=\"note\">These rules apply to this {}, but no traffic tested them.</p>\n\
         <div class=\"box\" role=\"region\" tabindex=\"0\" aria-labelledby=\"not-exercised\">\n<table class=\"reasons\">\n\
         <thead><tr><th scope=\"col\">Rule</th><th scope=\"col\">Level</th><th scope=\"col\">Why</th><th scope=\"col\">Where</th></tr></thead>\n<tbody>",
        number(total),
        Text(grid.view.report.subject.kind)
    );
    for row in &grid.rows {
        for group in row.groups(Outcome::NotExercised) {
            let (id, level) = (Quoted(row.id), group.first.finding.level.as_str());
            let _ = writeln!(
                out,
                "<tr data-rule=\"{id}\" data-c=\"{}\" data-l=\"{level}\"><th scope=\"row\"><a href=\"#r.{id}\">{id}</a></th><td>{level}</td><td>{}</td><td class=\"where\">{}</td></tr>",
                group.columns(),
                Prose(&group.says),
                Places(&grid.view.report.runs, &group.runs)
            );
        }
    }
    out.push_str(
        "</tbody>\n</table>\n</div>\n<p class=\"nothing filtered\" hidden>Nothing here matches the filters.</p>\n",
    );
}

/// What does not apply, by reason: that is mostly one page of the specification at a time.
fn elsewhere(out: &mut String, grid: &Grid<'_>, total: usize) {
    let mut reasons: BTreeMap<String, (usize, Vec<&str>)> = BTreeMap::new();
    for row in &grid.rows {
        for group in row.groups(Outcome::NotApplicable) {
            let (runs, ids) = reasons.entry(group.says.into_owned()).or_default();
            *runs += group.runs.len();
            ids.push(row.id);
        }
    }
    let _ = writeln!(
        out,
        "<h3><span class=\"sign n\"></span>Not applicable <span class=\"count\">{}</span></h3>\n\
         <p class=\"note\">Another revision, another transport, or a capability that was not declared.</p>",
        number(total)
    );
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, (runs, _))| std::cmp::Reverse(*runs));
    for (reason, (runs, ids)) in reasons {
        let _ = write!(
            out,
            "<details class=\"reason\"><summary>{} <span class=\"count\">{}</span></summary><p>",
            Prose(&reason),
            number(runs)
        );
        for (at, id) in ids.iter().enumerate() {
            let _ = write!(out, "{}<code>{}</code>", if at > 0 { ", " } else { "" }, Text(id));
        }
        out.push_str("</p></details>\n");
    }
}
