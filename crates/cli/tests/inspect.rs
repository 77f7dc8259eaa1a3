//! `proof inspect` as a process: the page's address, a server that is tried, findings beside its messages, test files that run, and
//! nothing left after Ctrl-C.

#[path = "shared/ran.rs"]
mod ran;
#[path = "shared/signal.rs"]
mod signal;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
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
        // Clients' configurations are those of the test.
        command.arg("inspect").args(arguments).current_dir(folder).env("HOME", folder).env_remove("XDG_CONFIG_HOME");
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the binary runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        Self::at(child, &line)
    }

    #[track_caller]
    fn at(child: Child, line: &str) -> Self {
        let (address, fragment) = line.trim().split_once("/#token=").unwrap_or_else(|| panic!("no address: {line}"));
        let (_, address) = address.split_once("http://").expect("an address");
        let token = fragment.split('&').next().unwrap_or_default();
        Self { child, address: address.to_owned(), token: token.to_owned() }
    }

    /// As a client starts its server; the address is the first line on stderr.
    #[track_caller]
    fn wrap(command: &[&str], folder: &Path) -> (Self, BufReader<ChildStderr>) {
        let mut proof = Command::new(PROOF);
        proof.args(["inspect", "--wrap", "--"]).args(command).current_dir(folder).env("FROM_CLIENT", "given");
        let streams = proof.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = streams.spawn().expect("the binary runs");
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("a line");
        (Self::at(child, &line), stderr)
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

/// Waits until a process is gone.
#[track_caller]
fn ends(pid: &str) {
    let begun = Instant::now();
    while is_running(pid.trim()) {
        assert!(begun.elapsed() < PATIENCE, "the server is still there");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The text of a file, when it is there.
#[track_caller]
fn written(path: &Path) -> String {
    let begun = Instant::now();
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => assert!(begun.elapsed() < PATIENCE, "{} is not written", path.display()),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

const OPEN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#;

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
    ends(&pid);
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
    writeln!(stdin, "{OPEN}").expect("it reads");
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
        (&["inspect", "--gateway", "missing"], "missing is no folder"),
        (&["inspect", "--attach", "missing.jsonl"], "cannot read missing.jsonl"),
        (&["inspect", "--trace", "no.jsonl", "--", "x"], "cannot be used with"),
        (&["inspect", "--beside", "http://127.0.0.1:1/mcp"], "no server given"),
        (&["inspect", "--beside", "sh -c 'exit 1'", "--", "x"], "quotes are not read"),
        (&["inspect", "--beside-revision", "2025-11-25", "--trace", "no.jsonl"], "cannot be used with"),
        (&["inspect", "--wrap"], "required"),
        (&["inspect", "--wrap", "http://127.0.0.1:1/mcp"], "--wrap needs the command"),
        (&["inspect", "--from-client", "claude-cod"], "unknown client `claude-cod`"),
        (&["inspect", "--from-client", "claude-code", "--", "x"], "cannot be used with"),
        (&["inspect", "--from-client", "claude-code", "--header", "A: b"], "cannot be used with"),
    ] {
        let told = ends_with(2, &proof(folder.path(), arguments));
        assert!(told.contains(expected) && told.contains("try"), "{arguments:?}: {told}");
    }
}

#[test]
fn a_second_server_is_another_one_or_the_first_at_another_revision() {
    let folder = tempfile::tempdir().expect("a folder");
    let both = |page: &Inspected| {
        page.until("/api/state", |state| {
            state["targets"]
                .as_array()
                .is_some_and(|all| all.len() == 2 && all.iter().all(|one| one["state"] == "open"))
        })
    };
    let revisions = ["--revision", "2025-11-25", "--beside-revision", "2026-07-28", "--", PROOF, "serve", "--stdio"];
    let state = both(&Inspected::start(&revisions, folder.path()));
    assert_eq!(
        (&state["targets"][0]["revision"], &state["targets"][1]["revision"]),
        (&json!("2025-11-25"), &json!("2026-07-28"))
    );
    std::fs::write(folder.path().join("other.yaml"), "name: other\nversion: \"1\"\n").expect("a file");
    let command = format!("{PROOF} serve --stdio --catalog other.yaml");
    let other = ["--beside", &command, "--", PROOF, "serve", "--stdio"];
    let state = both(&Inspected::start(&other, folder.path()));
    assert_eq!(state["targets"][1]["server"]["name"], "other", "{state}");
    assert_ne!(state["targets"][0]["server"]["name"], "other", "{state}");
}

/// Listens, and gives the first request that comes.
fn heard() -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut bytes = [0; 4096];
        let length = stream.read(&mut bytes).expect("a request");
        let _ = sender.send(String::from_utf8_lossy(&bytes[..length]).to_lowercase());
    });
    (url, receiver)
}

#[test]
fn credentials_of_the_first_server_never_reach_another_origin() {
    let folder = tempfile::tempdir().expect("a folder");
    let ((first, at_first), (second, at_second)) = (heard(), heard());
    let words = ["--header", "X-Key: key-of-the-first", "--beside", &second, &first];
    let _page = Inspected::start(&words, folder.path());
    assert!(at_first.recv_timeout(PATIENCE).expect("a request").contains("key-of-the-first"));
    let request = at_second.recv_timeout(PATIENCE).expect("a request");
    assert!(request.starts_with("post /mcp") && !request.contains("key-of-the-first"), "{request}");
}

#[test]
fn a_connection_that_is_given_up_leaves_no_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = Inspected::start(&["--", "sh", "-c", "echo $$ > pid; exec sleep 600"], folder.path());
    let pid = written(&folder.path().join("pid"));
    assert_eq!(page.get("/api/state")["targets"][0]["state"], "connecting");
    page.act("/api/disconnect", json!({ "target": 1 }));
    page.until("/api/state", |state| state["targets"][0]["state"] == "closed");
    ends(&pid);
}

#[test]
fn a_client_notices_nothing_of_the_page_between_it_and_its_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = format!("echo $$ > pid; echo $FROM_CLIENT > given; echo hello >&2; exec {PROOF} serve --stdio");
    let (mut page, mut stderr) = Inspected::wrap(&["sh", "-c", &script], folder.path());
    let mut stdin = page.child.stdin.take().expect("a pipe");
    let mut stdout = BufReader::new(page.child.stdout.take().expect("a pipe"));
    writeln!(stdin, "{OPEN}").expect("it reads");
    let mut answer = String::new();
    stdout.read_line(&mut answer).expect("an answer");
    let rows = page.until("/api/rows?filter=method:initialize%20status:ok", |rows| rows["matched"] == 1);
    assert_eq!(rows["rows"][0][14], "2025-11-25");
    let state = page.get("/api/state");
    assert_eq!((&state["targets"][0]["kind"], &state["targets"][0]["state"]), (&json!("watched"), &json!("watched")));
    // What the page could send would be answered to the client.
    let ping = json!({ "target": 1, "method": "ping", "params": {} }).to_string();
    assert_eq!(page.asked("POST", "/api/request", &ping).0, 409);
    assert_eq!(page.asked("POST", "/api/connect", r#"{"target":1}"#).0, 409);
    let pid = written(&folder.path().join("pid"));
    assert_eq!(written(&folder.path().join("given")), "given\n");
    // The end of the client ends everything, and nothing but the server's words was on stdout.
    drop(stdin);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("text");
    assert_eq!(page.child.wait().expect("it ends").code(), Some(0));
    ends(&pid);
    let alone = Command::new("sh").args(["-c", &format!("echo '{OPEN}' | {PROOF} serve --stdio")]).output();
    let alone = String::from_utf8(alone.expect("it runs").stdout).expect("text");
    assert_eq!((answer, rest.as_str()), (alone, ""));
    let mut told = String::new();
    stderr.read_to_string(&mut told).expect("text");
    assert_eq!(told.lines().next(), Some("hello"), "{told}");
}

#[test]
fn a_wrapped_server_ends_as_it_would_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut page, _stderr) = Inspected::wrap(&["sh", "-c", "exit 7"], folder.path());
    assert_eq!(page.child.wait().expect("it ends").code(), Some(7));
    let (mut page, _stderr) = Inspected::wrap(&["sh", "-c", "echo $$ > pid; exec sleep 600"], folder.path());
    let pid = written(&folder.path().join("pid"));
    signal::send("TERM", &page.child);
    assert_eq!(page.child.wait().expect("it ends").code(), Some(128 + 15));
    ends(&pid);
    // Where the port is taken, the client still gets its server.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").to_string();
    let ran = proof(folder.path(), &["inspect", "--http", &port, "--wrap", "--", "echo", "from the server"]);
    let told = ends_with(0, &ran);
    assert!(told.contains("from the server") && told.contains("no page: cannot listen"), "{told}");
}

#[test]
fn servers_of_a_client_are_offered_and_picked() {
    let folder = tempfile::tempdir().expect("a folder");
    let secret = "tops3cretvalue01";
    let server = |more: Value| {
        let mut entry = json!({ "command": PROOF, "args": ["serve", "--stdio"] });
        entry.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        entry
    };
    let mine = json!({ "mcpServers": {
        "keyed": server(json!({ "env": { "API_TOKEN": secret } })),
        "plain": server(json!({})),
        "unset": server(json!({ "env": { "A": "${NOT_SET_ANYWHERE}" } })),
    } });
    std::fs::write(folder.path().join(".claude.json"), mine.to_string()).expect("a file");
    let ours = json!({ "mcpServers": { "ours": server(json!({})) } });
    std::fs::create_dir_all(folder.path().join("project/.git")).expect("a folder");
    std::fs::write(folder.path().join("project/.mcp.json"), ours.to_string()).expect("a file");
    let page = Inspected::start(&["--from-client", "claude-code"], folder.path());
    let state = page.get("/api/state");
    let targets = state["targets"].as_array().expect("targets");
    let labels: Vec<&str> =
        targets.iter().filter_map(|target| target["label"].as_str()?.split_once(" (")).map(|(name, _)| name).collect();
    assert_eq!(labels, ["keyed", "plain"], "{state}");
    assert!(targets.iter().all(|target| target["state"] == "idle") && !state.to_string().contains(secret), "{state}");
    page.act("/api/connect", json!({ "target": 2 }));
    let state = page.until("/api/state", |state| state["targets"][1]["state"] == "open");
    assert_eq!(state["targets"][0]["state"], "idle");
    drop(page);
    // One that is named is connected to, unless the author of the project wrote its entry.
    let page = Inspected::start(&["--from-client", "claude-code", "keyed"], folder.path());
    page.open();
    drop(page);
    let project = folder.path().join("project");
    let mut command = Command::new(PROOF);
    command.args(["inspect", "--from-client", "claude-code", "ours"]).current_dir(&project).env("HOME", folder.path());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the binary runs");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let page = Inspected::at(child, &line);
    assert!(line.trim().ends_with("&view=server"), "{line}");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(page.get("/api/state")["targets"][0]["state"], "idle");
    page.act("/api/connect", json!({ "target": 1 }));
    page.open();
    drop(page);
    for (arguments, expected) in [
        (&["inspect", "--from-client", "claude-code", "plan"][..], "no server `plan`"),
        (&["inspect", "--from-client", "claude-code", "unset"], "NOT_SET_ANYWHERE"),
        (&["inspect", "--from-client", "cursor"], "has no server here"),
    ] {
        let mut command = Command::new(PROOF);
        let ran = command.args(arguments).current_dir(folder.path()).env("HOME", folder.path()).output();
        let told = ends_with(2, &ran.expect("the binary runs"));
        assert!(told.contains(expected) && told.contains("try"), "{arguments:?}: {told}");
    }
}
