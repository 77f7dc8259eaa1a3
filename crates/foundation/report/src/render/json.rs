//! The JSON report: one document, `proof.report/1`.

use serde_json::Value;

use crate::{Disposition, ReportView};

/// The report as one JSON document with a line feed at its end, harmless on a terminal. Known findings carry the baseline's
/// reason; `stale` lists the baseline's stale entries as they stand there; `verdict` says whether the check failed, and why.
pub fn render(view: &ReportView<'_>) -> String {
    let mut document = serde_json::to_value(view.report).unwrap_or_default();
    let results = document["results"].as_array_mut().into_iter().flatten();
    for (finding, result) in view.report.results.iter().zip(results) {
        if let Disposition::Known(reason) = view.disposition(finding) {
            result["known"] = Value::from(reason.unwrap_or_default());
        }
    }
    if view.has_baseline() {
        document["stale"] = serde_json::to_value(view.stale()).unwrap_or_default();
    }
    document["verdict"] = serde_json::to_value(view.conclusion()).unwrap_or_default();
    let document = serde_json::to_string_pretty(&document).unwrap_or_default();
    wire::escape::json(&document).into_owned() + "\n"
}
