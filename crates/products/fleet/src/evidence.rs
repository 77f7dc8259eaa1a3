//! What shows why a finding is one: requests, answers and places from the report of its gate, and the traces that `proof check`
//! kept. They stay with the report, so that one content hash holds all of it. Must not know the store.

use std::io::Read as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use wire::redact::Redactor;

use crate::gate::{Finding, GateKind};

/// The member of a kept report that holds its traces by their names.
const KEPT: &str = "kept_traces";

/// The most bytes of all traces of one report.
const MOST_TRACES: usize = 4 << 20;

/// How many pieces of evidence of a finding are shown, and the longest text of one.
const MOST_SHOWN: usize = 5;
const LONGEST: usize = 4000;

/// Puts the traces that a report names into it, as far as there is room. `folder` is the job's own: nothing else is read.
pub fn keep_traces(report: &mut Value, folder: &Path, redactor: &Redactor) {
    let Some(place) = report["traces"].as_str().map(Path::new).filter(|place| place.starts_with(folder)) else {
        return;
    };
    let place = place.to_owned();
    let (mut kept, mut room) = (Map::new(), MOST_TRACES);
    for name in results(report).flat_map(evidence).filter_map(|one| one["trace"].as_str()) {
        let is_name = Path::new(name).file_name().is_some_and(|file| file == name);
        if kept.contains_key(name) || !is_name {
            continue;
        }
        let Some(text) = read(&place.join(name), room) else { continue };
        room -= text.len();
        kept.insert(name.to_owned(), redactor.redact_known(&text).into_owned().into());
    }
    if !kept.is_empty() {
        report[KEPT] = Value::Object(kept);
    }
}

/// A file of at most `room` bytes.
fn read(path: &Path, room: usize) -> Option<String> {
    let mut text = String::new();
    net::open_regular(path).ok()?.take(room as u64 + 1).read_to_string(&mut text).ok()?;
    (text.len() <= room).then_some(text)
}

fn results(report: &Value) -> impl Iterator<Item = &Value> {
    report["results"].as_array().into_iter().flatten().filter(|result| result["outcome"].as_str() == Some("fail"))
}

fn evidence(result: &Value) -> impl Iterator<Item = &Value> {
    result["evidence"].as_array().into_iter().flatten()
}

/// The report as `proof` wrote it.
pub fn without_traces(mut report: Value) -> Value {
    if let Some(members) = report.as_object_mut() {
        members.remove(KEPT);
    }
    report
}

/// A trace that was kept with a report.
pub fn trace<'r>(report: &'r Value, name: &str) -> Option<&'r str> {
    report[KEPT][name].as_str()
}

/// The evidence of a finding: where, what was sent, what came, and the trace that shows it.
pub fn of(gate: GateKind, report: &Value, finding: &Finding) -> Vec<Value> {
    let list = match gate {
        GateKind::Conforms => of_check(report, finding),
        GateKind::Tested | GateKind::Fast => of_test(report, finding),
        GateKind::Scanned => of_scan(report, finding),
        _ => Vec::new(),
    };
    list.into_iter().take(MOST_SHOWN).collect()
}

fn of_check(report: &Value, finding: &Finding) -> Vec<Value> {
    let place = |result: &Value| format!("{} {}", text(result, "transport"), text(result, "revision"));
    let all = report["results"].as_array().into_iter().flatten();
    let own = all.filter(|result| result["rule"] == finding.rule.as_str() && place(result) == finding.place);
    own.flat_map(|result| evidence(result).map(move |one| (result, one)))
        .map(|(result, one)| {
            let name = text(one, "trace");
            json!({
                "place": format!("{}, event {}{}", text(one, "case"), one["event"], pointer(one)),
                "facts": facts(&[
                    ("request", text(&one["sent"], "text")),
                    (if one["from"] == "client" { "sent" } else { "response" }, text(one, "excerpt")),
                    ("why", text(one, "message")),
                    ("reproduce", text(result, "repro")),
                    ("specification", text(result, "url")),
                ]),
                "trace": trace(report, &name).is_some().then_some(name),
            })
        })
        .collect()
}

fn pointer(one: &Value) -> String {
    match one["pointer"].as_str() {
        Some(pointer) if !pointer.is_empty() => format!(" at {pointer}"),
        _ => String::new(),
    }
}

/// The failures of a case.
fn of_test(report: &Value, finding: &Finding) -> Vec<Value> {
    let mut out = Vec::new();
    for file in report["files"].as_array().into_iter().flatten() {
        for place in file["places"].as_array().into_iter().flatten() {
            let cases = place["cases"].as_array().into_iter().flatten();
            for case in cases.filter(|case| case["name"] == finding.rule.as_str()) {
                let at = format!("{}:{} {}", text(file, "file"), case["line"], text(place, "revision"));
                if at != finding.place {
                    continue;
                }
                out.extend(case["failures"].as_array().into_iter().flatten().map(|failure| {
                    let values = [("at", "path"), ("expected", "expected"), ("found", "found")];
                    json!({ "place": at, "facts": facts(&values.map(|(label, member)| (label, text(failure, member)))) })
                }));
            }
        }
    }
    out
}

/// The text that a scan found something in.
fn of_scan(report: &Value, finding: &Finding) -> Vec<Value> {
    let all = report["results"].as_array().into_iter().flatten();
    let is_own = |result: &&Value| {
        result["rule"] == finding.rule.as_str()
            && wire::escape::snippet(&text(result, "message"), 300) == finding.message
    };
    all.filter(is_own)
        .map(|result| {
            let excerpt = ["excerpt", "text", "evidence"].into_iter().map(|member| text(result, member));
            json!({
                "place": finding.place,
                "facts": facts(&[("text", excerpt.into_iter().find(|text| !text.is_empty()).unwrap_or_default())]),
            })
        })
        .collect()
}

/// Those that say something, within limits.
fn facts(all: &[(&str, String)]) -> Value {
    let some = all.iter().filter(|(_, text)| !text.is_empty());
    some.map(|(label, text)| json!([label, wire::escape::snippet(text, LONGEST)])).collect()
}

/// A member as text; a value that is no text as JSON.
fn text(value: &Value, member: &str) -> String {
    match &value[member] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(folder: &Path) -> Value {
        json!({
            "schema": "proof.report/1", "traces": folder,
            "results": [
                { "rule": "a.b", "transport": "stdio", "revision": "2025-11-25", "outcome": "fail", "repro": "proof check x",
                  "evidence": [
                    { "case": "shared-session", "event": 7, "pointer": "/id", "from": "server", "trace": "one.jsonl",
                      "excerpt": "{\"id\":2}", "message": "no such id", "sent": { "text": "tools/list (id 1)" } },
                    { "case": "c", "event": 1, "trace": "../secret", "from": "server" },
                  ] },
                { "rule": "a.b", "transport": "http", "revision": "2025-11-25", "outcome": "pass", "evidence": [{ "trace": "two.jsonl" }] },
            ],
        })
    }

    fn finding() -> Finding {
        let [rule, level, place, message, fix] = ["a.b", "MUST", "stdio 2025-11-25", "m", "f"].map(str::to_owned);
        Finding { rule, level, place, message, fix, fails: true }
    }

    #[test]
    fn a_finding_shows_request_response_place_and_trace() {
        let folder = tempfile::tempdir().expect("a folder");
        let traces = folder.path().join("proof-1");
        std::fs::create_dir(&traces).expect("a folder");
        std::fs::write(folder.path().join("secret"), "outside").expect("a file");
        std::fs::write(traces.join("one.jsonl"), "{}\n{\"token\":\"s3cr3t-4829a7c1e5\"}\n").expect("a file");
        std::fs::write(traces.join("two.jsonl"), "{}\n").expect("a file");
        let mut known = wire::redact::Secrets::default();
        known.add("s3cr3t-4829a7c1e5");
        let mut report = report(&traces);
        keep_traces(&mut report, folder.path(), &Redactor::masking().knowing(&known));
        let kept = trace(&report, "one.jsonl").expect("kept");
        assert!(kept.starts_with("{}\n") && !kept.contains("s3cr3t"), "{kept}");
        assert!(trace(&report, "two.jsonl").is_none() && trace(&report, "../secret").is_none(), "{report}");
        let shown = of(GateKind::Conforms, &report, &finding());
        assert_eq!(shown[0]["place"], "shared-session, event 7 at /id");
        assert_eq!(shown[0]["facts"][0], json!(["request", "tools/list (id 1)"]));
        assert_eq!(shown[0]["facts"][1], json!(["response", "{\"id\":2}"]));
        assert_eq!((&shown[0]["trace"], &shown[1]["trace"]), (&json!("one.jsonl"), &Value::Null));
        assert!(without_traces(report).get(KEPT).is_none());
    }

    #[test]
    fn a_folder_elsewhere_and_traces_without_bound_are_not_read() {
        let [own, other] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        std::fs::write(other.path().join("one.jsonl"), "{}\n").expect("a file");
        let mut elsewhere = report(other.path());
        keep_traces(&mut elsewhere, own.path(), &Redactor::masking());
        assert!(elsewhere.get(KEPT).is_none());
        std::fs::write(own.path().join("one.jsonl"), "x".repeat(MOST_TRACES + 1)).expect("a file");
        let mut long = report(own.path());
        keep_traces(&mut long, own.path(), &Redactor::masking());
        assert!(long.get(KEPT).is_none());
    }
}
