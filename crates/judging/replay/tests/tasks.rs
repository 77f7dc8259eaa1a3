//! Recordings without failures, and recorded calls made again at a server that changed.

use std::path::Path;
use std::sync::Arc;

use client::CallPolicy;
use net::Children;
use net::client::{Address, HttpAddress};
use net::server::http;
use replay::{Class, Options, Replay, prune, recorded_calls, verify};
use serde_json::{Value, json};
use tempfile::TempDir;
use url::Url;

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
    let good = folder.path().join("good.jsonl");
    let found = prune(Path::new(&file), &good).expect("a recording");
    let dropped: Vec<_> = found.dropped.iter().map(|(name, number)| (name.as_str(), *number)).collect();
    assert_eq!(dropped, [("tools/call a", 1), ("tools/call b", 1), ("tools/call slow", 1)]);
    assert_eq!((found.kept, found.inseparable), (3, 1), "a batch stays whole");
    let pruned = std::fs::read_to_string(&good).expect("it is there");
    let kept: Vec<&str> = pruned.lines().skip(1).collect();
    let all: Vec<&str> = before.lines().skip(1).collect();
    let expected: Vec<&str> = [0, 1, 2, 3, 9, 10, 14, 15].map(|at: usize| all[at]).to_vec();
    assert_eq!(kept, expected, "byte for byte");
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), before, "the recording stays as it is");
    prune(Path::new(&file), &good).expect_err("another file is never replaced");
    let again = folder.path().join("again.jsonl");
    assert!(prune(&good, &again).expect("a recording").dropped.is_empty());
    assert_eq!(std::fs::read_to_string(&again).expect("it is there"), pruned);
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
}

/// The class of each call that was recorded then, at the server of today.
async fn classes(drifted: &Drifted, policy: CallPolicy) -> Vec<(String, Class)> {
    let world = Replay::open(&drifted.folder.path().join("now.jsonl"), Options::default()).expect("a recording");
    let server = http::listen(Arc::new(world), ([127, 0, 0, 1], 0).into(), http::Options::default()).await;
    let server = server.expect("it listens");
    let url = Url::parse(&format!("http://{}/mcp", server.local_addr())).expect("an address");
    let options = client::Options::new(Address::Http(HttpAddress::new(url)), &Children::new());
    let calls = recorded_calls(&drifted.folder.path().join("then.jsonl"), &[]).expect("a recording");
    verify(calls, options, &policy).await.into_iter().map(|one| (one.name, one.class)).collect()
}

#[tokio::test]
async fn a_changed_server_shows_in_the_classes_of_drift() {
    let drifted = Drifted::new();
    for (policy, of_writes) in [(CallPolicy::default(), Class::NotMade), (CallPolicy::All, Class::Answered)] {
        let expected = [
            ("same", Class::Answered),
            // Its arguments have a secret, which a recording lacks.
            ("same", Class::NotMade),
            ("gone", Class::NotFound),
            ("stricter", Class::ParametersChanged),
            ("broken", Class::Unparsable),
            ("typed", Class::Unparsable),
            ("failing", Class::OtherFailure),
            // It never worked.
            ("never", Class::Answered),
            ("writes", of_writes),
            ("note://1", Class::NotFound),
        ];
        let expected = expected.map(|(name, class)| (name.to_owned(), class));
        assert_eq!(classes(&drifted, policy).await, expected);
    }
}

#[tokio::test]
async fn a_server_that_is_away_is_not_connectable() {
    let drifted = Drifted::new();
    let url = Url::parse("http://127.0.0.1:1/mcp").expect("an address");
    let options = client::Options::new(Address::Http(HttpAddress::new(url)), &Children::new());
    let calls = recorded_calls(&drifted.folder.path().join("then.jsonl"), &[]).expect("a recording");
    let found = verify(calls, options, &CallPolicy::default()).await;
    assert!(found.iter().all(|one| one.class == Class::NotConnectable), "{found:?}");
}
