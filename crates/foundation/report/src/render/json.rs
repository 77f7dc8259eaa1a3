//! The JSON report: one document, `proof.report/1`.

use serde_json::Value;

use super::sheet::{Sheet, Standing};

/// The report as one JSON document with a line feed at its end, harmless on a terminal. What the baseline knows says so, and
/// why; what it knows that no longer occurs stands in `stale`, an entry as it stands there.
pub(crate) fn render(sheet: &Sheet<'_>) -> String {
    let mut document = serde_json::to_value(sheet.report).unwrap_or_default();
    let results = document["results"].as_array_mut().into_iter().flatten();
    for (finding, result) in sheet.report.results.iter().zip(results) {
        if let Standing::Known(reason) = sheet.standing(finding) {
            result["known"] = Value::from(reason.unwrap_or_default());
        }
    }
    if sheet.baseline.is_some() {
        document["stale"] = serde_json::to_value(&sheet.stale).unwrap_or_default();
    }
    let document = serde_json::to_string_pretty(&document).unwrap_or_default();
    wire::escape::json(&document).into_owned() + "\n"
}
