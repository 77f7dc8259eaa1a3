//! `proof inspect` as a process: the page's address, a server that is tried, findings beside its messages, test files that run, and
//! nothing left after Ctrl-C.

#[path = "shared/ran.rs"]
mod ran;
#[path = "shared/signal.rs"]
mod signal;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ran::{PROOF, ends_with, proof};
use serde_json::{Value, json};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

struct Inspected {
    child: Child,
    address: String,
    token: String,
}

impl Drop for Inspected {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Inspected {
    #[track_caller]
    fn start(arguments: &[&str], folder: &Path) -> Self {
        let mut command = Command::new(PROOF);
        command.arg("inspect").args(arguments).current_dir(folder);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the binary runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let (address, token) = line.trim().split_once("/#token=").expect("an address with a token");
        let address = address.strip_prefix("http://").expect("an address").to_owned();
        Self { child, address, token: token.to_owned() }
    }

    /// The status and the JSON of an answer.
    fn asked(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let (host, token, length) = (&self.address, &self.token, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}")))
    }

    fn get(&self, path: &str) -> Value {
        self.asked("GET", path, "").1
    }

    #[track_caller]
    fn act(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.asked("POST", path, &body.to_string());
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Asks again until it holds.
    #[track_caller]
    fn until(&self, path: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let answer = self.get(path);
            if holds(&answer) {
                return answer;
            }
            assert!(begun.elapsed() < PATIENCE, "{path}: {answer}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn open(&self) -> Value {
        self.until("/api/state", |state| state["targets"][0]["state"] == "open")
    }

    /// Calls a tool and waits for its answer; returns its row.
    fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let row = self.act("/api/request", json!({ "target": 1, "method": "tools/call", "params": params }));
        self.until(&format!("/api/row/{}", row["row"]), |row| row["row"][7] != "pending");
        row["row"].clone()
    }
}

fn is_running(pid: &str) -> bool {
    Command::new("kill").args(["-0", pid]).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[test]
fn a_server_is_tried_its_calls_become_tests_and_nothing_is_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = format!("echo $$ > pid; exec {PROOF} serve --stdio");
    let mut page = Inspected::start(&["--", "sh", "-c", &script], folder.path());
    page.open();
    page.act("/api/list", json!({ "target": 1, "what": "tools" }));
    let rows = [page.call("echo", json!({ "message": "hello" })), page.call("no-such-tool", json!({}))];
    let made = page.act("/api/tests", json!({ "rows": rows }));
    assert_eq!((&made["cases"], &made["left_out"]), (&json!(2), &json!([])), "{made}");
    let file = folder.path().join("kept.mcp.yaml");
    std::fs::write(&file, made["text"].as_str().expect("a text")).expect("a file");
    // A healthy server breaks no rule, also while its session is still open.
    std::thread::sleep(Duration::from_secs(3));
    let found = page.get("/api/findings");
    assert_eq!(found["findings"], json!([]), "{found}");
    let pid = std::fs::read_to_string(folder.path().join("pid")).expect("a process");
    assert!(is_running(pid.trim()));
    signal::send("INT", &page.child);
    assert_eq!(page.child.wait().expect("it ends").code(), Some(130));
    let begun = Instant::now();
    while is_running(pid.trim()) {
        assert!(begun.elapsed() < PATIENCE, "the server is still there");
        std::thread::sleep(Duration::from_millis(50));
    }
    let passed = ends_with(0, &proof(folder.path(), &["test", "kept.mcp.yaml"]));
    assert!(passed.contains('2'), "{passed}");
    // Another answer fails the case.
    let text = std::fs::read_to_string(&file).expect("a file").replace("hello", "hullo");
    std::fs::write(&file, text.replacen("hullo", "hello", 1)).expect("a file");
    ends_with(1, &proof(folder.path(), &["test", "kept.mcp.yaml"]));
}

#[test]
fn a_broken_rule_stands_beside_the_message_that_broke_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = Inspected::start(&["--", PROOF, "serve", "--stdio", "--fault", "tool-name-twice"], folder.path());
    page.open();
    page.act("/api/list", json!({ "target": 1, "what": "tools" }));
    let found = page.until("/api/findings", |found| found["findings"] != json!([]));
    let one = &found["findings"][0];
    assert_eq!((&one["rule"], &one["level"]), (&json!("tools.names-unique"), &json!("should")), "{found}");
    let row = page.get(&format!("/api/row/{}", one["row"]));
    assert_eq!((&row["row"][8], &row["row"][12]), (&json!("tools/list"), &json!(1)), "{row}");
    let rule = page.get("/api/rule/tools.names-unique");
    assert!(rule["text"].as_str().is_some_and(|text| text.contains("How to fix it")), "{rule}");
}

#[test]
fn a_recording_is_shown_while_it_grows() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut record = Command::new(PROOF);
    record.args(["record", "-o", "running.jsonl", "--", PROOF, "serve", "--stdio"]).current_dir(folder.path());
    let mut recorder = record.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the binary runs");
    let mut stdin = recorder.stdin.take().expect("a pipe");
    let begun = Instant::now();
    while !std::fs::read(folder.path().join("running.jsonl")).is_ok_and(|file| file.contains(&b'\n')) {
        assert!(begun.elapsed() < PATIENCE, "no recording");
        std::thread::sleep(Duration::from_millis(20));
    }
    let page = Inspected::start(&["--attach", "running.jsonl"], folder.path());
    assert_eq!(page.get("/api/state")["targets"][0]["state"], "file");
    let open = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#;
    writeln!(stdin, "{open}").expect("it reads");
    page.until("/api/rows?filter=method:initialize%20status:ok", |rows| rows["matched"] == 1);
    drop(stdin);
    recorder.wait().expect("it ends");
}

#[test]
fn what_is_wrong_with_the_command_line_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("no.jsonl"), "{}\n").expect("a file");
    for (arguments, expected) in [
        (&["inspect"][..], "no server given"),
        (&["inspect", "--http", "0.0.0.0:0", "--", "x"], "only served to this machine"),
        (&["inspect", "--trace", "no.jsonl"], "cannot judge no.jsonl"),
        (&["inspect", "--attach", "no.jsonl"], "no.jsonl is no recording"),
        (&["inspect", "--attach", "missing.jsonl"], "cannot read missing.jsonl"),
        (&["inspect", "--trace", "no.jsonl", "--", "x"], "cannot be used with"),
    ] {
        let told = ends_with(2, &proof(folder.path(), arguments));
        assert!(told.contains(expected) && told.contains("try"), "{arguments:?}: {told}");
    }
}
