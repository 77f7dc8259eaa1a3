//! `proof replay --prune` and `--verify`: recordings without failures, and recorded calls made again.

#[path = "shared/ran.rs"]
mod ran;

use std::path::Path;
use std::process::Output;

use ran::{PROOF, ends_with, proof};
use serde_json::{Value, json};
use tempfile::TempDir;

fn exchange(id: u32, method: &str, params: &Value, answer: (&str, Value)) -> [Value; 2] {
    let (kind, body) = answer;
    let question = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let answer = json!({ "jsonrpc": "2.0", "id": id, kind: body });
    [json!({ "from": "client", "line": question }), json!({ "from": "server", "line": answer })]
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn greeting(id: u32) -> [Value; 2] {
    let server = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {}, "resources": {} }, "serverInfo": { "name": "s", "version": "1" } });
    exchange(id, "initialize", &json!({ "protocolVersion": "2025-06-18", "capabilities": {} }), ("result", server))
}

fn written(folder: &Path, name: &str, frames: &[Value]) -> String {
    let header = json!({ "trace": "proof.trace/1", "subject": "server", "transport": "stdio" });
    let lines: Vec<_> = std::iter::once(&header).chain(frames).map(Value::to_string).collect();
    let path = folder.join(name);
    std::fs::write(&path, lines.join("\n") + "\n").expect("it can be written");
    path.to_string_lossy().into_owned()
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

#[test]
fn failed_calls_are_dropped_with_all_that_belongs_to_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut failed = text("no");
    failed["isError"] = json!(true);
    let with_progress = |token: &str| {
        let mut call = call("slow", json!({}));
        call["_meta"] = json!({ "progressToken": token });
        call
    };
    let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": "p", "progress": 1 } });
    let [slow, slow_failed] =
        exchange(4, "tools/call", &with_progress("p"), ("error", json!({ "code": -32000, "message": "late" })));
    let batch = |from: &str, one: &Value, other: &Value| json!({ "from": from, "line": [one["line"], other["line"]] });
    let [good, good_answer] = exchange(7, "tools/call", &call("a", json!({ "x": 7 })), ("result", text("seven")));
    let [bad, bad_answer] = exchange(8, "tools/call", &call("a", json!({ "x": 8 })), ("result", failed.clone()));
    let of_http = |exchange: u32, frames: [Value; 2]| {
        frames.map(|frame| json!({ "from": frame["from"], "conn": 2, "xch": exchange, "body": frame["line"] }))
    };
    let head = json!({ "from": "client", "conn": 2, "xch": 5, "request": { "method": "POST", "target": "/mcp", "headers": [] } });
    let frames = [
        greeting(1).to_vec(),
        exchange(2, "tools/call", &call("a", json!({ "x": 1 })), ("result", text("one"))).to_vec(),
        exchange(3, "tools/call", &call("a", json!({ "x": 2 })), ("result", failed.clone())).to_vec(),
        vec![slow, json!({ "from": "server", "line": progress }), slow_failed],
        vec![batch("client", &good, &bad), batch("server", &good_answer, &bad_answer)],
        vec![head],
        of_http(5, exchange(1, "tools/call", &call("b", json!({})), ("result", failed))).to_vec(),
        of_http(6, exchange(1, "tools/call", &call("b", json!({})), ("result", text("b")))).to_vec(),
    ]
    .concat();
    let file = written(folder.path(), "all.jsonl", &frames);
    let before = std::fs::read_to_string(&file).expect("it is there");
    let ran = proof(folder.path(), &["replay", &file, "--prune", "good.jsonl"]);
    ends_with(0, &ran);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(said.contains("3 failed calls dropped, 3 kept") && said.contains("tools/call slow"), "{said}");
    assert!(said.contains("1 failed call kept, too"), "{said}");
    let pruned = std::fs::read_to_string(folder.path().join("good.jsonl")).expect("it is there");
    let kept: Vec<&str> = pruned.lines().skip(1).collect();
    let all: Vec<&str> = before.lines().skip(1).collect();
    let expected: Vec<&str> = [0, 1, 2, 3, 9, 10, 14, 15].map(|at: usize| all[at]).to_vec();
    assert_eq!(kept, expected, "byte for byte");
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), before, "the recording stays as it is");
    // Never over another file.
    let again = proof(folder.path(), &["replay", &file, "--prune", "good.jsonl"]);
    ends_with(2, &again);
    assert!(String::from_utf8_lossy(&again.stderr).contains("exists already"));
    // What is left is a recording.
    ends_with(0, &proof(folder.path(), &["replay", "good.jsonl", "--prune", "better.jsonl"]));
    assert_eq!(std::fs::read_to_string(folder.path().join("better.jsonl")).expect("it is there"), pruned);
}

/// A recording, and another one that serves as the live server of today.
struct Drifted {
    folder: TempDir,
}

impl Drifted {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let refused = || ("error", json!({ "code": -32602, "message": "never worked" }));
        let calls = [
            ("same", json!({ "q": "x" }), ("result", text("then"))),
            ("gone", json!({ "q": "x" }), ("result", text("then"))),
            ("stricter", json!({ "q": "x" }), ("result", text("then"))),
            ("broken", json!({ "q": "x" }), ("result", text("then"))),
            ("typed", json!({ "q": "x" }), ("result", text("then"))),
            ("failing", json!({ "q": "x" }), ("result", text("then"))),
            ("never", json!({ "q": "x" }), refused()),
            ("writes", json!({ "q": "x" }), ("result", text("then"))),
            ("same", json!({ "password": "correct horse 42" }), ("result", text("then"))),
        ];
        let numbered = (3..).zip(calls);
        let recorded = numbered
            .flat_map(|(id, (name, arguments, answer))| exchange(id, "tools/call", &call(name, arguments), answer));
        let resource =
            exchange(20, "resources/read", &json!({ "uri": "note://1" }), ("result", json!({ "contents": [] })));
        written(folder.path(), "then.jsonl", &[greeting(1).to_vec(), recorded.collect(), resource.to_vec()].concat());

        let tool = |name: &str, required: Value| {
            let schema = json!({ "type": "object", "properties": {}, "required": required });
            json!({ "name": name, "inputSchema": schema, "annotations": { "readOnlyHint": name != "writes" } })
        };
        let mut typed = tool("typed", json!([]));
        typed["outputSchema"] = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
        let mut tools: Vec<Value> =
            ["same", "broken", "failing", "never", "writes"].map(|name| tool(name, json!([]))).to_vec();
        tools.extend([typed, tool("stricter", json!(["city"]))]);
        let mut mistyped = text("now");
        mistyped["structuredContent"] = json!({ "n": "one" });
        let failed = |why: &str| {
            let mut failed = text(why);
            failed["isError"] = json!(true);
            failed
        };
        let q = || json!({ "q": "x" });
        let answers = [
            ("same", ("result", text("now"))),
            ("stricter", ("result", failed("city is missing"))),
            ("broken", ("result", json!({ "content": "now" }))),
            ("typed", ("result", mistyped)),
            ("failing", ("result", failed("out of order"))),
            ("never", refused()),
            ("writes", ("result", text("written"))),
        ];
        let answered =
            (3..).zip(answers).flat_map(|(id, (name, answer))| exchange(id, "tools/call", &call(name, q()), answer));
        let listed = exchange(2, "tools/list", &json!({}), ("result", json!({ "tools": tools })));
        let resource = exchange(
            20,
            "resources/read",
            &json!({ "uri": "note://1" }),
            ("error", json!({ "code": -32002, "message": "no such resource" })),
        );
        let frames = [greeting(1).to_vec(), listed.to_vec(), answered.collect(), resource.to_vec()].concat();
        written(folder.path(), "now.jsonl", &frames);
        Self { folder }
    }

    fn verified(&self, more: &[&str], server: &[&str]) -> Output {
        proof(self.folder.path(), &[&["replay", "then.jsonl", "--verify"], more, &["--"], server].concat())
    }
}

#[test]
fn a_changed_server_shows_in_the_classes_of_drift() {
    let drifted = Drifted::new();
    let ran = drifted.verified(&["--format", "json"], &[PROOF, "replay", "now.jsonl"]);
    ends_with(1, &ran);
    let report: Value = serde_json::from_slice(&ran.stdout).expect("a report");
    let class = |name: &str| {
        let calls = report["calls"].as_array().expect("calls");
        let of = |one: &&Value| one["name"] == name;
        calls.iter().filter(of).map(|one| one["class"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(class("same"), ["answered", "not made"], "{report}");
    assert_eq!(class("gone"), ["not found"]);
    assert_eq!(class("note://1"), ["not found"]);
    assert_eq!(class("stricter"), ["parameters changed"]);
    assert_eq!(class("broken"), ["parsing error"]);
    assert_eq!(class("typed"), ["parsing error"]);
    assert_eq!(class("failing"), ["other failure"]);
    assert_eq!(class("never"), ["answered"], "it never worked");
    assert_eq!(class("writes"), ["not made"]);
    assert_eq!((&report["made"], &report["passed"]), (&json!(8), &json!(false)));

    let ran = drifted.verified(&["--call", "all"], &[PROOF, "replay", "now.jsonl"]);
    ends_with(1, &ran);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(said.contains("failed: 6 of 9 calls not answered as before"), "{said}");
    assert!(said.lines().any(|line| line.starts_with("not found") && line.contains('2')), "{said}");
    assert!(said.contains("not found: tools/call gone"), "{said}");
    assert!(!said.contains("correct horse"), "{said}");
}

#[test]
fn a_server_that_stayed_passes_and_one_that_is_away_does_not() {
    let drifted = Drifted::new();
    let same = drifted.folder.path().join("same.jsonl");
    let now = std::fs::read_to_string(drifted.folder.path().join("now.jsonl")).expect("it is there");
    std::fs::write(&same, now).expect("it can be written");
    let folder = drifted.folder.path();
    let ran =
        proof(folder, &["replay", "same.jsonl", "--verify", "--call", "all", "--", PROOF, "replay", "same.jsonl"]);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    // Two answers were invalid from the start: that is drift of no kind but theirs.
    assert!(said.contains("failed: 2 of 8 calls") && said.contains("parsing error: tools/call typed"), "{said}");

    let ran = drifted.verified(&[], &["false"]);
    ends_with(3, &ran);
    assert!(String::from_utf8_lossy(&ran.stdout).contains("not connectable"), "{ran:?}");
    let ran = drifted.verified(&["--call", "none"], &[PROOF, "replay", "now.jsonl"]);
    ends_with(1, &ran);
    // A server that demands a token.
    let http = ["replay", "then.jsonl", "--verify", "--live", "http://127.0.0.1:1/mcp"];
    ends_with(3, &proof(folder, &http));
}
