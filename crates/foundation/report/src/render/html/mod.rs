//! The report as one page to look at: a file that needs nothing else, asks nothing of any network, and can be read without
//! its script. The script only shows and hides what stands in the page.
//!
//! What a peer sent gets here as text and leaves through [`text::Text`]; nothing else may write it.

mod controls;
mod entries;
mod findings;
mod grid;
mod matrix;
pub mod policy;
mod summary;
#[cfg(test)]
mod tests;
pub mod text;
mod unjudged;

use std::fmt::Write as _;

use crate::{Report, ReportView};

use grid::Grid;
use text::Text;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The report as one HTML document.
pub fn render(view: &ReportView<'_>) -> String {
    let report = view.report;
    let grid = Grid::of(view);
    let mut out = String::new();
    head(&mut out, report);
    out.push_str("<body>\n<a class=\"skip\" href=\"#findings\">Skip to the findings</a>\n");
    summary::masthead(&mut out, report);
    out.push_str("<main>\n");
    summary::score(&mut out, &grid);
    summary::runs(&mut out, report);
    out.push_str("<div class=\"columns\">\n<div class=\"side\">\n");
    controls::sidebar(&mut out, &grid);
    out.push_str("</div>\n<div class=\"sheet\">\n");
    findings::section(&mut out, &grid);
    matrix::section(&mut out, &grid);
    unjudged::section(&mut out, &grid);
    entries::section(&mut out, &grid);
    out.push_str("</div>\n</div>\n</main>\n");
    controls::panel(&mut out);
    let _ = write!(
        out,
        "<footer><p>Made by proof {}. This page loads nothing and sends nothing.</p></footer>\n\
         <script>{}</script>\n</body>\n</html>\n",
        Text(report.proof),
        policy::asset(SCRIPT)
    );
    out
}

fn head(out: &mut String, report: &Report) {
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{} – Proof report</title>\n<style>{}</style>\n</head>\n",
        policy::content_security_policy(STYLE, SCRIPT),
        Text(&summary::title(report)),
        policy::asset(STYLE)
    );
}
