//! What steers the page: the way to its parts, the filters, the keys, and the panel that tells all of one rule. All but the
//! first needs the script and is not to be seen without it.

use std::fmt::Write as _;

use super::grid::{Grid, OUTCOMES, Row};
use super::text::{Quoted, number};

/// Where to go, what to show, and which keys do so.
pub(super) fn sidebar(out: &mut String, grid: &Grid<'_>) {
    out.push_str(
        "<nav aria-label=\"Parts of the report\"><ul>\n<li><a href=\"#findings\">Findings</a></li>\n\
         <li><a href=\"#matrix\">Matrix</a></li>\n<li><a href=\"#not-judged\">Not judged</a></li>\n\
         <li><a href=\"#rules\">Rules</a></li>\n</ul></nav>\n<details class=\"scripted\" id=\"filters\" open><summary>Filters</summary>\n\
         <form class=\"filters\" role=\"search\" aria-label=\"Filters\">\n\
         <label class=\"unseen\" for=\"q\">Search</label>\n\
         <input id=\"q\" type=\"search\" placeholder=\"Search rules and text\" autocomplete=\"off\" spellcheck=\"false\" aria-keyshortcuts=\"/\">\n\
         <p class=\"status\"><output id=\"status\" role=\"status\"></output>\
         <button type=\"button\" id=\"clear\" hidden>Clear</button></p>\n",
    );
    outcomes(out, grid);
    let mut levels: Vec<_> = grid.rows.iter().flat_map(Row::levels).collect();
    levels.sort_by_key(|level| ["MUST", "SHOULD", "MAY", "SAFETY"].iter().position(|one| one == level));
    facet(out, "level", "Level", &distinct(levels));
    let runs = &grid.view.report.runs;
    facet(out, "transport", "Transport", &distinct(runs.iter().map(|run| run.transport.as_str()).collect()));
    let mut revisions: Vec<_> = runs.iter().map(|run| run.revision).collect();
    revisions.sort_unstable();
    facet(out, "revision", "Revision", &distinct(revisions.iter().map(|revision| revision.as_str()).collect()));
    if grid.has_known() {
        facet(out, "baseline", "Baseline", &["new", "known"]);
    }
    out.push_str("</form>\n</details>\n");
    keys(out);
}

fn distinct(mut values: Vec<&'static str>) -> Vec<&'static str> {
    values.dedup();
    values
}

fn outcomes(out: &mut String, grid: &Grid<'_>) {
    out.push_str("<fieldset class=\"tall\"><legend>Outcome</legend>\n");
    for (key, (outcome, class, word)) in OUTCOMES.iter().enumerate() {
        let _ = writeln!(
            out,
            "<button type=\"button\" aria-pressed=\"false\" aria-keyshortcuts=\"{}\" data-facet=\"outcome\" data-value=\"{}\">\
             <span class=\"sign {class}\"></span>{word} <span class=\"count\">{}</span></button>",
            key + 1,
            outcome.as_str(),
            number(grid.count(*outcome))
        );
    }
    out.push_str("</fieldset>\n");
}

/// A group of buttons. One that would leave nothing to choose is left out.
fn facet(out: &mut String, name: &str, title: &str, values: &[&str]) {
    if values.len() < 2 {
        return;
    }
    let _ = writeln!(out, "<fieldset><legend>{title}</legend>");
    for value in values.iter().map(|value| Quoted(value)) {
        let _ = writeln!(
            out,
            "<button type=\"button\" aria-pressed=\"false\" data-facet=\"{name}\" data-value=\"{value}\">{value}</button>"
        );
    }
    out.push_str("</fieldset>\n");
}

/// Keys and what they do, in the order of the help line.
const KEYS: [(&[&str], &str); 8] = [
    (&["/"], "search"),
    (&["j", "k"], "next, previous"),
    (&["1", "5"], "outcomes"),
    (&["Enter"], "all of a rule"),
    (&["c"], "copy the command"),
    (&["t"], "light, dark"),
    (&["?"], "these keys"),
    (&["Esc"], "clear"),
];

fn keys(out: &mut String) {
    out.push_str("<details class=\"keys scripted\" id=\"help\">\n<summary>Keys <kbd>?</kbd></summary>\n<dl>\n");
    for (keys, what) in KEYS {
        let between = if keys.contains(&"1") { "–" } else { " " };
        let keys: Vec<_> = keys.iter().map(|key| format!("<kbd>{key}</kbd>")).collect();
        let _ = writeln!(out, "<div><dt>{}</dt><dd>{what}</dd></div>", keys.join(between));
    }
    // Letters as shortcuts get in the way of speech input: they can be turned off.
    out.push_str("</dl>\n<button type=\"button\" id=\"keys\">Turn letter keys off</button>\n</details>\n");
}

/// Where the script shows all of one rule.
pub(super) fn panel(out: &mut String) {
    out.push_str(
        "<dialog id=\"panel\" aria-labelledby=\"panel-title\">\n<header><h2 id=\"panel-title\"></h2>\
         <button type=\"button\" id=\"panel-close\">Close</button></header>\n\
         <p id=\"panel-place\"></p>\n<div id=\"panel-body\"></div>\n</dialog>\n",
    );
}
