//! One self-contained page without scripts. What fails the scan is open, the rest is collapsed.

use std::fmt::Write as _;

use report::render::html::text::Text;

use super::ScanView;
use super::cases::{Case, Outcome, cases};
use crate::format::page::page;

/// The report as one HTML page.
pub(crate) fn html(view: &ScanView) -> String {
    let mut out = String::new();
    for note in &view.notes {
        let _ = writeln!(out, "<p>{}</p>", Text(note));
    }
    let (failed, rest): (Vec<_>, Vec<_>) =
        cases(view).into_iter().partition(|case| matches!(case.outcome, Outcome::Failed | Outcome::Incomplete));
    for case in &failed {
        let severity = case.severity.unwrap_or_default();
        let (rule, place) = (Text(case.class), Text(&case.name));
        let _ = writeln!(out, "<div class=\"case f\"><p><b>{rule}</b> <span>{severity}</span><br>{place}</p>");
        body(&mut out, case);
        out.push_str("</div>\n");
    }
    let name = if failed.is_empty() { "rules and findings" } else { "other rules and findings" };
    let _ = writeln!(out, "<details><summary>{} {name}</summary>\n<table>", rest.len());
    for case in &rest {
        row(&mut out, case);
    }
    out.push_str("</table>\n</details>\n");
    for fingerprint in &view.unused {
        let _ = writeln!(out, "<p>Unused suppression: {} was not found.</p>", Text(fingerprint));
    }
    let summary = format!("<p>{}</p><p>{}</p>", Text(&view.summary()), Text(&view.scope()));
    page("proof scan", view.fails(), &summary, &out)
}

fn row(out: &mut String, case: &Case<'_>) {
    let (class, word) = match &case.outcome {
        Outcome::Passed => ("p", "ok"),
        Outcome::Suppressed(_) => ("s", "skip"),
        _ => ("x", "warn"),
    };
    let _ = writeln!(out, "<tr class=\"{class}\"><td>{word}</td><td>{}<br>{}", Text(case.class), Text(&case.name));
    if let Outcome::Suppressed(why) = &case.outcome {
        let _ = writeln!(out, "<br><small>{}</small>", Text(why));
    }
    if !case.message.is_empty() {
        body(out, case);
    }
    let _ = writeln!(out, "</td><td>{}</td></tr>", case.severity.unwrap_or_default());
}

fn body(out: &mut String, case: &Case<'_>) {
    let _ = writeln!(out, "<pre>{}", Text(&case.message));
    for (name, text) in case.details() {
        let _ = writeln!(out, "{name}: {}", Text(text));
    }
    out.push_str("</pre>");
}
