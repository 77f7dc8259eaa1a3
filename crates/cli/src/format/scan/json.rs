//! One JSON document, `proof.report/1`.

use guard::scan::OWASP;
use serde_json::{Map, Value, json};

use super::{ScanView, Shown};

/// The report as one JSON document with a line feed at its end, harmless on a terminal.
pub(crate) fn json(view: &ScanView) -> String {
    let items: Map<String, Value> = view.items.iter().map(|(kind, n)| (kind.as_str().to_owned(), json!(n))).collect();
    let more: Map<String, Value> = view
        .more
        .iter()
        .map(|(rule, counts)| {
            let counts: Map<String, Value> = counts.iter().map(|(s, n)| (s.as_str().to_owned(), json!(n))).collect();
            ((*rule).to_owned(), Value::Object(counts))
        })
        .collect();
    let counts: Map<String, Value> =
        guard::scan::Severity::ALL.iter().map(|s| (s.as_str().to_owned(), json!(view.number(*s)))).collect();
    let document = json!({
        "schema": report::FORMAT,
        "proof": env!("CARGO_PKG_VERSION"),
        "subject": { "kind": "scan", "servers": view.servers },
        "owasp": OWASP,
        "summary": { "items": items, "strings": view.strings, "findings": counts, "suppressed": view.accepted() },
        "results": view.findings.iter().map(result).collect::<Vec<_>>(),
        "more": more,
        "incomplete": view.incomplete,
        "tried": view.tried,
        "notes": view.notes,
        "unused_suppressions": view.unused,
        "verdict": {
            "passed": !view.fails(),
            "exit_code": u8::from(view.fails()),
            "fail_on": view.fail_on.as_str(),
            "summary": view.summary(),
        },
    });
    let document = serde_json::to_string_pretty(&document).unwrap_or_default();
    wire::escape::json(&document).into_owned() + "\n"
}

fn result(shown: &Shown) -> Value {
    let (finding, rule) = (&shown.finding, shown.finding.rule);
    let place = &finding.place;
    let mut result = json!({
        "rule": rule.id,
        "severity": finding.severity.as_str(),
        "confidence": rule.confidence.as_str(),
        "weight": finding.weight,
        "message": finding.message,
        "place": {
            "server": place.server,
            "kind": place.kind.as_str(),
            "item": place.item,
            "pointer": place.pointer,
            "span": [place.span.start, place.span.end],
        },
        "excerpt": finding.excerpt,
        "fix": rule.fix,
        "owasp": rule.owasp,
        "class": rule.class.as_str(),
        "threats": rule.threats.iter().map(|threat| threat.as_str()).collect::<Vec<_>>(),
        "fingerprint": shown.fingerprint,
    });
    if let Some(decoded) = &finding.decoded {
        result["decoded"] = json!(decoded);
    }
    if let Some((reason, expires)) = &shown.accepted {
        result["suppressed"] = json!({ "reason": reason, "expires": expires });
    }
    if let Some(date) = &shown.expired {
        result["suppression_expired"] = json!(date);
    }
    result
}
