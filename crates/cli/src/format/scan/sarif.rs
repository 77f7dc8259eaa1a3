//! SARIF 2.1.0 for code scanning, with fingerprints that stay.

use guard::scan::{OWASP, RULES, Rule, Severity};
use report::render::sarif::braces;
use serde_json::{Value, json};

use super::{ScanView, Shown, place};
use crate::format::sarif::document;

/// The report as one JSON document with a line feed at its end, harmless on a terminal.
pub(crate) fn sarif(view: &ScanView) -> String {
    let notices: Vec<Value> = view
        .incomplete
        .iter()
        .map(|what| json!({ "level": "error", "message": { "text": braces(&format!("Incomplete: {what}")) } }))
        .collect();
    let invocation = json!({
        "executionSuccessful": notices.is_empty(),
        "exitCode": u8::from(view.fails()),
        "exitCodeDescription": braces(&view.summary()),
        "toolExecutionNotifications": notices,
    });
    let rules: Vec<Value> = RULES.iter().map(|rule| descriptor(rule)).collect();
    let results: Vec<Value> = view.findings.iter().map(result).collect();
    document("proof scan", &rules, Some(invocation), &results)
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
    }
}

/// What code scanning sorts by: from 0 to 10.
const fn score(severity: Severity) -> &'static str {
    match severity {
        Severity::High => "8.0",
        Severity::Medium => "5.0",
        Severity::Low => "2.0",
        Severity::Info => "0.0",
    }
}

fn descriptor(rule: &Rule) -> Value {
    let mut tags = vec!["security", "mcp", rule.owasp];
    tags.extend(rule.threats.iter().map(|threat| threat.as_str()));
    json!({
        "id": rule.id,
        "shortDescription": { "text": braces(rule.title) },
        "fullDescription": { "text": braces(rule.why) },
        "help": { "text": braces(&format!("{}\n\nHow to fix it: {}\n\n{OWASP}: {}", rule.why, rule.fix, rule.owasp)) },
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": {
            "tags": tags,
            "precision": rule.confidence.as_str(),
            "security-severity": score(rule.severity),
        },
    })
}

fn result(shown: &Shown) -> Value {
    let finding = &shown.finding;
    let at = place(&finding.place);
    let server = if finding.place.server.is_empty() { "all" } else { &finding.place.server };
    let uri: String = url::form_urlencoded::byte_serialize(server.as_bytes()).collect();
    let mut text = format!("{}. {at}", finding.message);
    if let Some(decoded) = &finding.decoded {
        text = text + ". Decoded: " + decoded;
    }
    let text = wire::escape::line(&text).replace("](", "] (");
    let mut result = json!({
        "ruleId": finding.rule.id,
        "ruleIndex": RULES.iter().position(|rule| rule.id == finding.rule.id),
        "kind": "fail",
        "level": level(finding.severity),
        "message": { "text": braces(&text) },
        // What a server says has no file, but code scanning shows nothing without one.
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": format!("proof/scan/{uri}") },
                "region": { "startLine": 1, "snippet": { "text": wire::escape::line(&finding.excerpt) } },
            },
            "logicalLocations": [{ "fullyQualifiedName": at, "kind": finding.place.kind.as_str() }],
        }],
        "partialFingerprints": { "primaryLocationLineHash": shown.fingerprint, "proofScan/v1": shown.fingerprint },
        "properties": { "severity": finding.severity.as_str(), "weight": finding.weight },
    });
    if let Some((reason, _)) = &shown.accepted {
        let reason = wire::escape::line(reason);
        result["suppressions"] = json!([{ "kind": "external", "status": "accepted", "justification": reason }]);
    }
    result
}
