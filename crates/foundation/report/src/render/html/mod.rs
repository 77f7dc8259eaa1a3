//! The report as one page to look at: a file that needs nothing else, asks nothing of any network, and can be read without
//! its script. The script only shows and hides what stands in the page.
//!
//! What a peer sent gets here as text and leaves through [`text::Text`]; nothing else may write it.

mod controls;
mod entries;
mod findings;
mod matrix;
pub(super) mod policy;
mod sheet;
mod summary;
#[cfg(test)]
mod tests;
pub(super) mod text;
mod unjudged;

use std::fmt::Write as _;

use workbench::report::{Finding, Report};

use sheet::Sheet;
use text::Text;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The report as one HTML document. `known` tells which findings a baseline has.
pub(crate) fn render(report: &Report, known: &dyn Fn(&Finding) -> bool) -> String {
    let sheet = Sheet::of(report, known);
    let mut out = String::new();
    head(&mut out, report);
    out.push_str("<body>\n<a class=\"skip\" href=\"#findings\">Skip to the findings</a>\n");
    summary::masthead(&mut out, report);
    out.push_str("<main>\n");
    summary::score(&mut out, &sheet);
    summary::runs(&mut out, report);
    out.push_str("<div class=\"columns\">\n<div class=\"side\">\n");
    controls::sidebar(&mut out, &sheet);
    out.push_str("</div>\n<div class=\"sheet\">\n");
    findings::section(&mut out, &sheet);
    matrix::section(&mut out, &sheet);
    unjudged::section(&mut out, &sheet);
    entries::section(&mut out, &sheet);
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
