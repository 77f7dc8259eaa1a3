//! `proof replay` and `proof test --replay`: what was recorded once is answered again, over any transport, in any revision.

#[path = "shared/ran.rs"]
mod ran;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use ran::{PROOF, ends_with, proof};
use serde_json::{Value, json};
use tempfile::TempDir;
use wire::meta;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/reference.mcp.yaml");
const TAG: &str = "io.github.proofhouse/replay";

/// The example's cases, and a recording of the reference server under them for each revision of its matrix.
struct Recorded {
    folder: TempDir,
}

impl Recorded {
    fn new() -> Self {
        let recorded = Self { folder: tempfile::tempdir().expect("a folder") };
        let example = std::fs::read_to_string(EXAMPLE).expect("the example");
        let file = recorded.path("case.jsonl");
        let command = json!([PROOF, "record", "-o", file, "--", PROOF, "serve", "--stdio"]);
        let snapshots = EXAMPLE.replace(".mcp.yaml", ".mcp.snap.json");
        std::fs::copy(snapshots, recorded.path("reference.mcp.snap.json")).expect("the example's snapshots");
        let text = example.replace("[proof, serve, --stdio]", &command.to_string());
        std::fs::write(recorded.path("reference.mcp.yaml"), text).expect("it can be written");
        ends_with(0, &recorded.tested(&[]));
        recorded
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tested(&self, arguments: &[&str]) -> Output {
        let file = self.path("reference.mcp.yaml");
        let words = ["test", "--format", "json", &*file.to_string_lossy()];
        proof(self.folder.path(), &[&words, arguments].concat())
    }
}

#[test]
fn recorded_cases_have_the_same_results_over_any_transport_and_revision() {
    let recorded = Recorded::new();
    for name in ["case.jsonl", "case-2.jsonl", "case-3.jsonl"] {
        let file = recorded.path(name);
        for over in ["stdio", "http", "ws"] {
            let ran = recorded.tested(&["--replay", &file.to_string_lossy(), "--over", over]);
            ends_with(0, &ran);
            let report: Value = serde_json::from_slice(&ran.stdout).expect("a report");
            let places: Vec<_> = report.to_string().matches("\"passed\"").map(|_| ()).collect();
            assert!(places.len() >= 3 * 8, "{name} over {over}: {report}");
        }
    }
}

#[test]
fn a_case_that_was_not_recorded_fails() {
    let recorded = Recorded::new();
    let file = recorded.path("reference.mcp.yaml");
    let text = std::fs::read_to_string(&file).expect("the cases");
    std::fs::write(&file, text.replace("city: Oslo", "city: Oslo!")).expect("it can be written");
    let ran = recorded.tested(&["--replay", &recorded.path("case.jsonl").to_string_lossy()]);
    ends_with(1, &ran);
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(told.contains("Not in the recording") && told.contains("arguments.message"), "{told}");
}

/// A server over stdio, spoken to line by line.
struct Peer {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u32,
}

impl Peer {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(PROOF);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary runs");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, stdin, stdout, next: 0 }
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").expect("it reads");
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("it answers");
        serde_json::from_str(&line).expect("JSON")
    }

    /// The answer to a request; what comes before it goes by.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let heard = self.hear();
            if heard["id"] == id && heard.get("method").is_none() {
                return heard;
            }
        }
    }

    fn greet(&mut self, revision: &str) -> Value {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
        let answer = self.ask("initialize", &params);
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": name, "arguments": arguments }))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        (meta::PROTOCOL_VERSION): "2026-07-28",
        (meta::CLIENT_CAPABILITIES): {},
        (meta::CLIENT_INFO): { "name": "test", "version": "1" },
    });
    params
}

/// A recording, written by hand: what client and server said in turn.
fn written(folder: &Path, lines: &[(&str, Value)]) -> String {
    let header = json!({ "trace": "proof.trace/1", "subject": "server", "transport": "stdio" }).to_string();
    let frames = lines.iter().map(|(from, message)| json!({ "from": from, "line": message }).to_string());
    let text = std::iter::once(header).chain(frames).collect::<Vec<_>>().join("\n");
    let path = folder.join("written.jsonl");
    std::fs::write(&path, text + "\n").expect("it can be written");
    path.to_string_lossy().into_owned()
}

fn exchange(id: u32, method: &str, params: Value, answer: (&str, Value)) -> [(&'static str, Value); 2] {
    let (kind, body) = answer;
    [
        ("client", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })),
        ("server", json!({ "jsonrpc": "2.0", "id": id, kind: body })),
    ]
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// A greeting, a list, and calls with the answers that they got.
fn weather(folder: &Path) -> String {
    let server = json!({ "name": "weather", "version": "3" });
    let greeting = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": server });
    let output =
        json!({ "type": "object", "properties": { "degrees": { "type": "integer" } }, "required": ["degrees"] });
    let tool = |name: &str| json!({ "name": name, "title": "T", "inputSchema": { "type": "object" } });
    let mut typed = tool("degrees");
    typed["outputSchema"] = output;
    let call = |city: &str, now: u32| json!({ "name": "weather", "arguments": { "city": city, "now": now } });
    let refused = json!({ "code": -32000, "message": "closed today" });
    let lines = [
        exchange(1, "initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {} }), ("result", greeting)),
        exchange(2, "tools/list", json!({}), ("result", json!({ "tools": [tool("weather"), typed] }))),
        exchange(3, "tools/call", call("Oslo", 1), ("result", text("rain"))),
        exchange(4, "tools/call", call("Oslo", 1), ("result", text("sun"))),
        exchange(5, "tools/call", call("Rome", 1), ("error", refused)),
    ];
    written(folder, &lines.concat())
}

#[test]
fn answers_come_in_order_and_name_their_origin() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = weather(folder.path());
    let mut peer = Peer::start(&["replay", &file]);
    let greeting = peer.greet("2025-11-25");
    assert_eq!(greeting["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(greeting["result"]["serverInfo"]["name"], "weather");
    let oslo = json!({ "now": 1.0, "city": "Oslo" });
    for said in ["rain", "sun", "sun"] {
        let answer = peer.call("weather", &oslo);
        assert_eq!(answer["result"]["content"][0]["text"], said, "{answer}");
        assert_eq!(answer["result"]["_meta"][TAG], "recorded");
    }
    let refused = peer.call("weather", &json!({ "city": "Rome", "now": 1 }));
    assert_eq!(
        (refused["error"]["code"].clone(), refused["error"]["message"].clone()),
        (json!(-32000), json!("closed today"))
    );
    // A conversation of its own begins anew.
    let mut peer = Peer::start(&["replay", &file]);
    peer.greet("2024-11-05");
    assert_eq!(peer.call("weather", &oslo)["result"]["content"][0]["text"], "rain");
    let listed = peer.ask("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"][1].get("outputSchema"), None);
    assert_eq!(listed["result"]["tools"][1].get("title"), None);
}

#[test]
fn a_modern_client_is_served_from_a_legacy_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut peer = Peer::start(&["replay", &weather(folder.path()), "--stdio"]);
    let discovered = peer.ask("server/discover", &modern(json!({})));
    assert!(discovered["result"]["supportedVersions"].as_array().expect("versions").contains(&json!("2026-07-28")));
    let listed = peer.ask("tools/list", &modern(json!({})));
    assert_eq!(listed["result"]["resultType"], "complete");
    assert_eq!(listed["result"]["cacheScope"], "private");
    assert_eq!(listed["result"]["_meta"][meta::SERVER_INFO]["name"], "weather");
    let answer =
        peer.ask("tools/call", &modern(json!({ "name": "weather", "arguments": { "city": "Oslo", "now": 1 } })));
    assert_eq!(answer["result"]["content"][0]["text"], "rain");
    assert_eq!(answer["result"]["resultType"], "complete");
}

#[test]
fn a_miss_names_the_nearest_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = weather(folder.path());
    let mut peer = Peer::start(&["replay", &file]);
    peer.greet("2025-11-25");
    let missed = peer.call("weather", &json!({ "city": "Oslo", "now": 2 }));
    assert_eq!(missed["error"]["code"], -32602);
    assert_eq!(missed["error"]["data"]["nearest"]["arguments"], json!({ "city": "Oslo", "now": 1 }));
    assert_eq!(missed["error"]["data"]["differences"], json!(["arguments.now"]));
    assert_eq!(missed["error"]["data"][TAG], "miss");
    let missed = peer.call("wether", &json!({ "city": "Rome", "now": 1 }));
    assert_eq!(missed["error"]["data"]["nearest"]["arguments"]["city"], "Rome");
    assert_eq!(peer.ask("prompts/list", &json!({}))["error"]["code"], -32601);
    // What does not count cannot be missed.
    let mut peer = Peer::start(&["replay", &file, "--volatile", "$.now"]);
    peer.greet("2025-11-25");
    assert_eq!(peer.call("weather", &json!({ "city": "Oslo" }))["result"]["content"][0]["text"], "rain");
}

#[test]
fn simulated_answers_depend_on_the_seed_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = weather(folder.path());
    let degrees = |seed: &str| {
        let mut peer = Peer::start(&["replay", &file, "--miss", "simulate", "--seed", seed]);
        peer.greet("2025-11-25");
        assert_eq!(peer.call("nobody", &json!({}))["error"]["code"], -32602);
        assert_eq!(peer.call("weather", &json!({ "city": "Oslo", "now": 1 }))["result"]["_meta"][TAG], "recorded");
        let answer = peer.call("degrees", &json!({ "of": "Oslo" }));
        assert_eq!(answer["result"]["_meta"][TAG], "simulated", "{answer}");
        answer["result"]["structuredContent"]["degrees"].as_i64().expect("what the schema wants")
    };
    assert_eq!(degrees("7"), degrees("7"));
    assert!((1..9).any(|seed| degrees(&seed.to_string()) != degrees("7")));
}

#[test]
fn injected_failures_are_repeatable() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = weather(folder.path());
    let fates = || {
        let mut peer = Peer::start(&["replay", &file, "--error-rate", "50", "--seed", "3"]);
        peer.greet("2025-11-25");
        let mut fate = || peer.call("weather", &json!({ "city": "Oslo", "now": 1 })).get("error").is_some();
        (0..20).map(|_| fate()).collect::<Vec<_>>()
    };
    let first = fates();
    assert!(first.contains(&true) && first.contains(&false), "{first:?}");
    assert_eq!(fates(), first);
    let begun = std::time::Instant::now();
    let mut peer = Peer::start(&["replay", &file, "--latency", "300"]);
    peer.greet("2025-11-25");
    peer.call("weather", &json!({ "city": "Oslo", "now": 1 }));
    assert!(begun.elapsed().as_millis() >= 300);
}

#[test]
fn a_truncated_last_line_is_ignored_with_a_note() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = weather(folder.path());
    let text = std::fs::read_to_string(&file).expect("it is there");
    std::fs::write(&file, &text[..text.len() - 20]).expect("it can be written");
    let ran = Command::new(PROOF).args(["replay", &file]).stdin(Stdio::null()).output().expect("the binary runs");
    ends_with(0, &ran);
    let told = String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ");
    assert!(told.contains("ignoring truncated line 11"), "{told}");
}

/// What stands where in a long recording is in a file of its own.
#[test]
fn a_long_recording_is_answered_like_a_short_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = json!({ "name": "many", "version": "1" });
    let greeting = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": server });
    let mut lines = exchange(0, "initialize", json!({}), ("result", greeting)).to_vec();
    for number in 1..=12_000 {
        let call = json!({ "name": "count", "arguments": { "n": number } });
        lines.extend(exchange(number, "tools/call", call, ("result", text(&number.to_string()))));
    }
    let file = written(folder.path(), &lines);
    let mut peer = Peer::start(&["replay", &file]);
    peer.greet("2025-06-18");
    for number in [1, 6000, 12_000] {
        let answer = peer.call("count", &json!({ "n": number }));
        assert_eq!(answer["result"]["content"][0]["text"], number.to_string(), "{answer}");
    }
    let missed = peer.call("counts", &json!({ "n": 7 }));
    assert_eq!(missed["error"]["data"]["nearest"]["arguments"], json!({ "n": 7 }), "{missed}");
    let ran =
        Command::new(PROOF).args(["replay", &file]).env("TMPDIR", "/no/such/folder").stdin(Stdio::null()).output();
    let ran = ran.expect("the binary runs");
    let told = ends_with(2, &ran);
    assert!(told.contains("/no/such/folder") && told.contains("TMPDIR"), "{told}");
}

#[test]
fn questions_are_asked_again_in_both_eras() {
    let folder = tempfile::tempdir().expect("a folder");
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let asked = json!({ "message": "Who?", "requestedSchema": schema });
    let greeting = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "asker", "version": "1" },
    });
    let [call, answer] = exchange(2, "tools/call", json!({ "name": "ask" }), ("result", text("Hello Ada")));
    let question = json!({ "jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": asked });
    let said = json!({ "jsonrpc": "2.0", "id": 1, "result": { "action": "accept", "content": { "name": "Ada" } } });
    let mut lines = exchange(1, "initialize", json!({}), ("result", greeting)).to_vec();
    lines.extend([call, ("server", question), ("client", said.clone()), answer]);
    let file = written(folder.path(), &lines);

    let mut peer = Peer::start(&["replay", &file]);
    let client = json!({ "name": "test", "version": "1" });
    let able = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} }, "clientInfo": client });
    peer.ask("initialize", &able);
    peer.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    peer.say(&json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": { "name": "ask" } }));
    let heard = peer.hear();
    assert_eq!(
        (heard["method"].clone(), heard["params"]["message"].clone()),
        (json!("elicitation/create"), json!("Who?"))
    );
    peer.say(&json!({ "jsonrpc": "2.0", "id": heard["id"], "result": said["result"] }));
    assert_eq!(peer.hear()["result"]["content"][0]["text"], "Hello Ada");

    let mut params = modern(json!({ "name": "ask" }));
    assert_eq!(peer.ask("tools/call", &params)["error"]["code"], -32021);
    params["_meta"][meta::CLIENT_CAPABILITIES] = json!({ "elicitation": { "form": {} } });
    let asks = peer.ask("tools/call", &params)["result"].clone();
    assert_eq!(asks["resultType"], "input_required");
    assert_eq!(asks["inputRequests"]["question"]["params"]["message"], "Who?");
    params["requestState"] = asks["requestState"].clone();
    params["inputResponses"] = json!({ "question": said["result"] });
    assert_eq!(peer.ask("tools/call", &params)["result"]["content"][0]["text"], "Hello Ada");
    params["requestState"] = json!("replay.9.9");
    assert_eq!(peer.ask("tools/call", &params)["error"]["code"], -32602);
}

#[test]
fn a_live_server_receives_each_missing_request_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = weather(folder.path());
    // Torn where somebody was killed: that is cut off before anything is added.
    let whole = std::fs::read_to_string(&file).expect("it is there");
    std::fs::write(&file, format!("{whole}{{\"at\":1,\"fr")).expect("it can be written");
    let mut peer = Peer::start(&["replay", &file, "--", PROOF, "serve", "--stdio"]);
    peer.greet("2025-06-18");
    let echo = json!({ "message": "never recorded" });
    let live = peer.call("echo", &echo);
    assert_eq!(live["result"]["_meta"][TAG], "live", "{live}");
    let again = peer.call("echo", &echo);
    assert_eq!(again["result"]["_meta"][TAG], "recorded", "{again}");
    assert_eq!(again["result"]["content"], live["result"]["content"]);
    drop(peer);
    let text = std::fs::read_to_string(&file).expect("it is there");
    assert!(text.starts_with(&whole) && text.contains("never recorded"));
    // By itself, too.
    let mut peer = Peer::start(&["replay", &file]);
    peer.greet("2025-06-18");
    assert_eq!(peer.call("echo", &echo)["result"]["content"], live["result"]["content"]);
}

#[test]
fn an_answer_is_simulated_in_the_likeness_of_a_recorded_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let call = |city: &str| json!({ "name": "noon", "arguments": { "city": city } });
    let greeting = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": { "name": "n", "version": "1" } });
    let failed = json!({ "content": [{ "type": "text", "text": "no Atlantis" }], "isError": true });
    let lines = [
        exchange(1, "initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {} }), ("result", greeting)),
        exchange(2, "tools/call", call("Atlantis"), ("result", failed)),
        exchange(3, "tools/call", call("Bern"), ("result", text("It is noon in Bern."))),
    ];
    let file = written(folder.path(), &lines.concat());
    let mut peer = Peer::start(&["replay", &file, "--miss", "simulate"]);
    peer.greet("2025-06-18");
    let answer = peer.call("noon", &json!({ "city": "Oslo" }));
    assert_eq!(answer["result"]["content"][0]["text"], "It is noon in Oslo.", "{answer}");
    assert_eq!(answer["result"]["_meta"][TAG], "simulated");
}

#[test]
fn where_no_server_answers_a_simulated_answer_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = weather(folder.path());
    let recording = std::fs::read_to_string(&file).expect("it is there");
    let degrees = |more: &[&str]| {
        let ladder = ["replay", &file, "--miss", "live,simulate"];
        let mut peer = Peer::start(&[&ladder, more, &["--", "false"]].concat());
        peer.greet("2025-11-25");
        let answer = peer.call("degrees", &json!({ "of": "Oslo" }));
        assert_eq!(answer["result"]["_meta"][TAG], "simulated", "{answer}");
        let length = || std::fs::metadata(&file).expect("it is there").len();
        let before = length();
        peer.call("degrees", &json!({ "of": "Bern" }));
        assert_eq!(length(), before, "the server is not tried again at once");
        answer["result"]["structuredContent"]["degrees"].clone()
    };
    let kept = folder.path().join("written.simulated.jsonl");
    let (one, two) = (degrees(&["--seed", "1"]), degrees(&["--seed", "2"]));
    assert_ne!(one, two, "a seed of its own gives an answer of its own");
    assert!(!kept.exists());
    assert_eq!(degrees(&["--seed", "1", "--save"]), one);
    assert_eq!(degrees(&["--seed", "2", "--save"]), one, "the answer was kept");
    let now = std::fs::read_to_string(&file).expect("it is there");
    let added = now.strip_prefix(&recording).expect("nothing is taken out");
    assert!(!added.contains("tools/call") && !added.contains("\"result\""), "it has what a server said: {added}");
    // A recording in its place is not written to.
    let copied = std::fs::copy(&file, &kept).expect("it can be copied");
    let ran = Command::new(PROOF).args(["replay", &file, "--miss", "simulate", "--save"]).output().expect("it runs");
    assert_eq!(ran.status.code(), Some(2));
    let said = String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ");
    assert!(said.contains("written.simulated.jsonl") && said.contains("leave out --save"), "{said}");
    assert_eq!(std::fs::metadata(&kept).expect("it is there").len(), copied);
}

#[test]
fn a_server_that_answers_comes_before_simulation() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = weather(folder.path());
    let mut peer =
        Peer::start(&["replay", &file, "--miss", "live,simulate", "--save", "--", PROOF, "serve", "--stdio"]);
    peer.greet("2025-06-18");
    for origin in ["live", "recorded"] {
        let answer = peer.call("echo", &json!({ "message": "hi" }));
        assert_eq!(
            (&answer["result"]["_meta"][TAG], &answer["result"]["content"][0]["text"]),
            (&json!(origin), &json!("hi"))
        );
    }
    assert_eq!(peer.call("echo", &json!({}))["result"]["isError"], true, "what the server refuses is an answer");
}

#[test]
fn an_order_of_misses_that_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = weather(folder.path());
    for (arguments, named) in [
        (&["--miss", "simulate,live", "--live", "http://127.0.0.1:1/mcp"][..], "live,simulate"),
        (&["--miss", "error,simulate"], "live,simulate"),
        (&["--miss", "live,simulate"], "--live URL"),
        (&["--save"], "--miss simulate"),
        (&["--miss", "simulate", "--", "false"], "--miss live"),
    ] {
        let ran = Command::new(PROOF).arg("replay").arg(&file).args(arguments).output().expect("it runs");
        let said = String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ");
        assert!(ran.status.code() == Some(2) && said.contains(named), "{arguments:?}: {said}");
    }
}

#[test]
fn a_replay_breaks_no_rule() {
    let recorded = Recorded::new();
    let file = recorded.path("case-2.jsonl");
    let words = ["check", "--format", "json", "--", PROOF, "replay", &*file.to_string_lossy()];
    ends_with(0, &proof(recorded.folder.path(), &words));
}

/// A server of the legacy era that says -32602 where it should say -32002 is repeated, not mended.
#[test]
fn an_error_keeps_its_code_in_its_era() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("case.jsonl");
    let lines = [
        r#"{"trace":"proof.trace/1","subject":"server","transport":"stdio","revision":"2025-11-25","case":"recorded"}"#,
        r#"{"from":"client","line":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}"#,
        r#"{"from":"server","line":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"resources":{}},"serverInfo":{"name":"s","version":"1"}}}}"#,
        r#"{"from":"client","line":{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"no:such"}}}"#,
        r#"{"from":"server","line":{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"none"}}}"#,
        r#"{"from":"client","line":{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"nor:this"}}}"#,
        r#"{"from":"server","line":{"jsonrpc":"2.0","id":3,"error":{"code":-32002,"message":"none"}}}"#,
    ];
    std::fs::write(&file, lines.join("\n") + "\n").expect("it can be written");
    for (uri, revision, code) in [
        ("no:such", "2025-11-25", -32602),
        ("no:such", "2026-07-28", -32602),
        ("nor:this", "2025-06-18", -32002),
        ("nor:this", "2026-07-28", -32602),
    ] {
        let ran = Command::new(PROOF)
            .args(["client", "read", uri, "--revision", revision, "--", PROOF, "replay", "--stdio"])
            .arg(&file)
            .output()
            .expect("the binary runs");
        let said = String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ");
        assert!(said.contains(&format!("error {code}")), "{uri} {revision}: {said}");
    }
}
