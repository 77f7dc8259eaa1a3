//! The frame of SARIF 2.1.0, for reports of tests and of scans. Must not know what is reported.

use report::render::sarif::SCHEMA;
use serde_json::{Value, json};

/// One run of `tool` as a JSON document with a line feed at its end, harmless on a terminal.
pub(super) fn document(tool: &str, rules: &[Value], invocation: Option<Value>, results: &[Value]) -> String {
    let mut run = json!({
        "tool": { "driver": {
            "name": tool,
            "organization": "Proofhouse",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "informationUri": "https://github.com/proofhouse/proofhouse",
            "rules": rules,
        } },
    });
    if let Some(invocation) = invocation {
        run["invocations"] = json!([invocation]);
    }
    run["columnKind"] = "unicodeCodePoints".into();
    run["results"] = json!(results);
    let document = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
    let document = serde_json::to_string_pretty(&document).unwrap_or_default();
    wire::escape::json(&document).into_owned() + "\n"
}
