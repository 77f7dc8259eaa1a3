//! What those who watch a gateway see of a call: the client's side and the upstream's, without waiting for them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use gateway::Watcher;
use serde_json::{Value, json};
use wire::Revision;

use super::{Scene, call, connect};

/// Reads until a line holds.
async fn until(watcher: &Watcher, holds: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut lines = Vec::new();
    loop {
        let line = tokio::time::timeout(Duration::from_secs(20), watcher.next()).await;
        let line: Value = serde_json::from_str(&line.unwrap_or_else(|_| panic!("{lines:#?}"))).expect("JSON");
        let is_last = holds(&line);
        lines.push(line);
        if is_last {
            return lines;
        }
    }
}

fn says(line: &Value, text: &str) -> bool {
    line["frame"].to_string().contains(text)
}

#[tokio::test(flavor = "multi_thread")]
async fn both_sides_of_a_call_are_seen() {
    for (there, seen) in
        [(Revision::R2025_11_25, Revision::R2026_07_28), (Revision::R2026_07_28, Revision::R2026_07_28)]
    {
        let scene = Scene::new(there).await;
        let client = connect(scene.http("/mcp"), seen).await;
        let watcher = scene.gateway.watch_live().expect("it is the first");
        assert!(call(&client, "b_echo", json!({ "message": "marked-5f1" })).await.contains("marked-5f1"));
        let is_answer = |line: &Value| line["side"]["server"] == "default" && line["frame"]["from"] == "server";
        let lines = until(&watcher, is_answer).await;
        let asked = lines.iter().find(|line| line["side"]["server"] == "default").expect("the client's request");
        assert!(says(asked, "b_echo") && asked["side"]["principal"].is_null(), "{asked}");
        let carried: Vec<_> =
            lines.iter().filter(|line| line["side"]["upstream"] == "b" && says(line, "marked-5f1")).collect();
        assert_eq!(carried.len(), 2, "the request and its answer at {there}: {lines:#?}");
        assert!(!says(carried[0], "b_echo"), "the upstream's own name: {}", carried[0]);
        assert!(carried.iter().all(|line| line["within"] == asked["exchange"]), "{carried:#?}");
        assert!(!lines.iter().any(|line| line["side"]["upstream"] == "a" && says(line, "tools/call")), "{lines:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watcher_that_does_not_read_delays_no_call() {
    let scene = Scene::new(Revision::R2026_07_28).await;
    let client = connect(scene.http("/mcp"), Revision::R2026_07_28).await;
    let watcher = scene.gateway.watch_live().expect("it is the first");
    let long = "x".repeat(1 << 20);
    // Each is shown four times: that is more than the watcher's queue holds.
    for _ in 0..8 {
        let answer = tokio::time::timeout(Duration::from_secs(20), call(&client, "a_echo", json!({ "message": long })));
        assert!(answer.await.expect("nothing waits for the watcher").contains("xxx"));
    }
    let lines = until(&watcher, |line| line.get("missed").is_some()).await;
    assert!(lines.len() < 32, "{}", lines.len());
    assert!(lines[lines.len() - 1]["missed"].as_u64() >= Some(8), "{}", lines[lines.len() - 1]);
    // What comes once it has read is seen again.
    while tokio::time::timeout(Duration::from_millis(200), watcher.next()).await.is_ok() {}
    call(&client, "a_echo", json!({ "message": "again" })).await;
    until(&watcher, |line| says(line, "again")).await;
}

/// A gateway as a process of its own, whose sockets are below this folder.
struct Program {
    child: Child,
    clients: String,
    socket: PathBuf,
}

impl Program {
    fn start(folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proof-gateway"));
        command.env("XDG_RUNTIME_DIR", folder).args(["--http", "127.0.0.1:0", "http://127.0.0.1:9/mcp"]);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("leads to")).expect("it says where it listens");
        std::thread::spawn(move || lines.for_each(drop));
        let url = line.split_whitespace().find_map(|word| word.strip_prefix("http://")).expect("an address");
        let clients = url.split('/').next().unwrap_or_default().to_owned();
        let socket = folder.join(format!("proof-gateway/{}.sock", child.id()));
        Self { child, clients, socket }
    }

    fn post(&self, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.clients).expect("it listens");
        let (host, length) = (&self.clients, body.len());
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer sk-live-4242424242424242\r\n\
             accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all((head + body).as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const OPENING: &str = r#"{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"sk-live-4242424242424242","version":"1"}}}"#;

#[test]
fn only_its_user_can_watch_a_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Program::start(folder.path());
    for _ in 0..400 {
        if UnixStream::connect(&program.socket).is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&program.socket), mode(&folder.path().join("proof-gateway"))), (0o600, 0o700));
    let mut stream = UnixStream::connect(&program.socket).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("set");
    stream.write_all(b"live\n").expect("it reads");
    let mut lines = BufReader::new(stream).lines();
    let mut next = || -> Value {
        let line = lines.next().expect("a line").expect("in time");
        assert!(!line.contains("sk-live-4242"), "{line}");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    };
    let greeting = next();
    assert_eq!(
        (&greeting["process"], &greeting["at"]),
        (&json!(program.child.id()), &json!(format!("http://{}", program.clients)))
    );
    program.post(OPENING);
    let (asked, answered) = (next(), next());
    assert!(
        says(&asked, "initialize") && asked["side"] == json!({ "principal": null, "server": "default" }),
        "{asked}"
    );
    assert!(answered["frame"]["from"] == "server" || answered["side"]["upstream"].is_string(), "{answered}");
}

#[test]
fn a_folder_that_others_may_open_has_no_socket() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::DirBuilder::new().mode(0o755).create(folder.path().join("proof-gateway")).expect("a folder");
    std::fs::set_permissions(folder.path().join("proof-gateway"), std::fs::Permissions::from_mode(0o755)).expect("set");
    let program = Program::start(folder.path());
    assert!(program.post(OPENING).contains("\r\n"), "clients are served");
    assert!(!program.socket.exists());
}
