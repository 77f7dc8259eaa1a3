//! The JSON report: one document, `proof.report/1`.

use serde_json::{Value, json};

use super::phrases::GRADE;
use crate::{Disposition, Finding, ReportView};

/// The report as one JSON document with a line feed at its end, harmless on a terminal. Known findings carry the baseline's
/// reason, and `known_whole` where their entry names no defects; `stale` lists the baseline's stale entries as they stand there; `verdict` says whether the check failed, and why.
pub fn render(view: &ReportView<'_>) -> String {
    let mut document = serde_json::to_value(view.report).unwrap_or_default();
    let results = document["results"].as_array_mut().into_iter().flatten();
    for (finding, result) in view.report.results.iter().zip(results) {
        if let Disposition::Known(reason) = view.disposition(finding) {
            result["known"] = Value::from(reason.unwrap_or_default());
            if view.is_known_whole(finding) {
                result["known_whole"] = Value::from(true);
            }
        } else if finding.outcome.is_broken() {
            mark_known(view, finding, result);
        }
    }
    if view.report.is_perfect() {
        let must = view.report.summary.must;
        document["summary"]["grade"] =
            json!({ "grade": GRADE, "applicable": must.binding(), "not_exercised": must.not_exercised });
    }
    if view.has_baseline() {
        document["stale"] = serde_json::to_value(view.stale()).unwrap_or_default();
    }
    document["verdict"] = serde_json::to_value(view.conclusion()).unwrap_or_default();
    let document = serde_json::to_string_pretty(&document).unwrap_or_default();
    wire::escape::json(&document).into_owned() + "\n"
}

/// Marks the defects that the baseline knows, where others of the rule are new.
fn mark_known(view: &ReportView<'_>, finding: &Finding, result: &mut Value) {
    let shown = result["evidence"].as_array_mut().into_iter().flatten();
    for (_, one) in finding.evidence.iter().zip(shown).filter(|(evidence, _)| view.is_known_defect(finding, evidence)) {
        one["known"] = Value::from(true);
    }
}
