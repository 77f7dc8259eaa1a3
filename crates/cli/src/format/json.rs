//! The JSON report: one document, `proof.report/1`.

use workbench::report::Report;

/// The report as one JSON document with a line feed at its end, harmless on a terminal.
pub(crate) fn render(report: &Report) -> String {
    let document = serde_json::to_string_pretty(report).unwrap_or_default();
    wire::escape::json(&document).into_owned() + "\n"
}
