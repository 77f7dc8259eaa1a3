//! The matrix: every rule against every run, a sign in each cell. Rules of one area stand together.

use std::fmt::Write as _;

use super::grid::{Cell, Grid, OUTCOMES, Row, class};
use super::text::{Quoted, Text};

/// The matrix and what its signs mean.
pub(super) fn section(out: &mut String, grid: &Grid<'_>) {
    let _ = write!(
        out,
        "<section aria-labelledby=\"matrix\">\n<h2 id=\"matrix\" tabindex=\"-1\">Matrix <span class=\"count\">{} × {}</span></h2>\n\
         <ul class=\"legend\" aria-label=\"Signs\">",
        grid.rows.len(),
        grid.view.report.runs.len()
    );
    for (_, class, word) in OUTCOMES {
        let _ = write!(out, "<li><span class=\"sign {class}\"></span>{word}</li>");
    }
    if grid.has_known() {
        out.push_str("<li><span class=\"sign f k\"></span>broken, but known</li>");
    }
    out.push_str(
        "</ul>\n<div class=\"box tall\" role=\"region\" tabindex=\"0\" aria-label=\"Rules by run\">\n<table id=\"grid\">\n\
         <caption class=\"unseen\">What became of every rule in every run</caption>\n",
    );
    heads(out, grid);
    // What is broken comes first: among hundreds of rows nobody looks for it.
    let (broken, others): (Vec<_>, Vec<_>) = grid.rows.iter().partition(|row| row.is_broken());
    if !broken.is_empty() {
        body(out, grid, "broken", &broken);
    }
    for rows in others.chunk_by(|one, other| one.area() == other.area()) {
        body(out, grid, rows[0].area(), rows);
    }
    out.push_str(
        "</table>\n</div>\n<p class=\"nothing filtered\" hidden>No rule matches the filters.</p>\n</section>\n",
    );
}

/// Rules under a common heading.
fn body(out: &mut String, grid: &Grid<'_>, title: &str, rows: &[&Row<'_>]) {
    let class = if rows.iter().any(|row| row.is_broken()) { " class=\"problems\"" } else { "" };
    let _ = write!(out, "<tbody{class}>\n<tr class=\"area\"><th scope=\"rowgroup\">{}</th></tr>\n", Text(title));
    for row in rows {
        line(out, grid, row);
    }
    out.push_str("</tbody>\n");
}

/// Two lines of heads: transports over their revisions.
fn heads(out: &mut String, grid: &Grid<'_>) {
    let runs = &grid.view.report.runs;
    out.push_str("<thead><tr><th scope=\"col\" rowspan=\"2\">Rule</th>");
    for stretch in runs.chunk_by(|one, other| one.transport == other.transport) {
        let name = stretch[0].transport;
        let _ = write!(out, "<th scope=\"colgroup\" colspan=\"{}\" class=\"g\">{name}</th>", stretch.len());
    }
    out.push_str("</tr>\n<tr>");
    for (at, run) in runs.iter().enumerate() {
        let cut = run.cut_short.as_ref().map_or("", |_| " <b>cut short</b>");
        let _ = write!(
            out,
            "<th scope=\"col\"{} data-t=\"{}\" data-r=\"{}\"><span>{}{cut}</span></th>",
            if begins(grid, at) { " class=\"g\"" } else { "" },
            run.transport,
            run.revision,
            run.revision
        );
    }
    out.push_str("</tr></thead>\n");
}

/// Whether another transport begins with this run.
fn begins(grid: &Grid<'_>, at: usize) -> bool {
    let runs = &grid.view.report.runs;
    at == 0 || runs[at - 1].transport != runs[at].transport
}

/// One rule. End tags that HTML does not ask for are left out: there may be thousands of cells.
fn line(out: &mut String, grid: &Grid<'_>, row: &Row<'_>) {
    let (id, levels) = (Quoted(row.id), row.levels().join(" "));
    let _ = write!(
        out,
        "<tr data-rule=\"{id}\" data-l=\"{levels}\"><th scope=row><a href=\"#r.{id}\">{id}</a><i>{levels}</i>"
    );
    for (at, cell) in row.cells.iter().enumerate() {
        let edge = if begins(grid, at) { " g" } else { "" };
        let _ = match cell {
            Some(cell) => {
                write!(out, "<td class=\"{}{}{edge}\">{}", class(cell.finding.outcome), known(cell).0, word(cell))
            }
            None => write!(out, "<td class=\"x{edge}\">"),
        };
    }
    out.push('\n');
}

fn word(cell: &Cell<'_>) -> String {
    let word = OUTCOMES.iter().find(|(outcome, ..)| *outcome == cell.finding.outcome).map_or("", |(.., word)| word);
    format!("{word}{}", known(cell).1)
}

fn known(cell: &Cell<'_>) -> (&'static str, &'static str) {
    if cell.is_known() { (" k", ", known") } else { ("", "") }
}
