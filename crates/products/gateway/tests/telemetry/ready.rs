//! `proof-gateway ready`: each answer follows from what is there.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::scene::LOCAL;

const BINARY: &str = env!("CARGO_BIN_EXE_proof-gateway");

/// Ends its process.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind(LOCAL).expect("a free port").local_addr().expect("an address").port()
}

async fn ready(target: &str, more: &[&str]) -> Output {
    let mut command = Command::new(BINARY);
    // Options come before a command.
    let (first, rest) = if target == "--" { more.split_at(1) } else { (&[][..], more) };
    command.arg("ready").args(first).arg(target).args(rest);
    tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.expect("it ends")
}

async fn answers(target: &str, more: &[&str]) -> (Option<i32>, Value) {
    let output = ready(target, &[&["--json"], more].concat()).await;
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (output.status.code(), value)
}

fn answer<'v>(value: &'v Value, name: &str) -> (&'v str, &'v str) {
    let boxes = value["boxes"].as_array().expect("boxes");
    assert_eq!(boxes.len(), 11);
    let one = boxes.iter().find(|one| one["box"].as_str().is_some_and(|text| text.contains(name)));
    let one = one.unwrap_or_else(|| panic!("no box {name}: {value:#}"));
    (one["answer"].as_str().expect("a text"), one["evidence"].as_str().expect("a text"))
}

async fn start(file: &Path, port: u16) -> Running {
    let child = Command::new(BINARY).arg("--config").arg(file).stderr(Stdio::null()).spawn().expect("it starts");
    let running = Running(child);
    for _ in 0..500 {
        if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return running;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it does not listen");
}

#[tokio::test]
async fn every_answer_has_evidence_and_nothing_is_ticked_without() {
    let upstream = reference::Server::new(reference::Options::default()).http(LOCAL).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a folder");
    let (file, clients, admin) = (folder.path().join("gateway.yaml"), free_port(), free_port());
    let base = format!(
        "listen: 127.0.0.1:{clients}\nadmin: 127.0.0.1:{admin}\nupstreams:\n  a: {{ url: \"http://{}/mcp\" }}\n",
        upstream.local_addr()
    );
    std::fs::write(&file, format!("{base}audit: log\nidempotency: {{ writes: require }}\n")).expect("written");
    let name = file.to_string_lossy().into_owned();
    // Before it runs, what only a running gateway shows is not known.
    let (code, value) = answers(&name, &[]).await;
    assert_eq!((code, &value["ready"]), (Some(1), &Value::Bool(false)));
    for unknown in ["Health", "Metrics", "circuit breakers", "audit log"] {
        assert_eq!(answer(&value, unknown).0, "unknown", "{value:#}");
    }
    let running = start(&file, admin).await;
    let (code, value) = answers(&name, &[]).await;
    assert_eq!(code, Some(1));
    for (name, expected, evidence) in [
        ("typed JSON Schema", "yes", "tools have a type for each argument"),
        ("idempotency keys", "yes", "/metrics has idempotency_keys"),
        ("structured", "yes", "INVALID_INPUT"),
        ("Health", "yes", "answer 200"),
        ("Metrics", "yes", "proof_gateway_tool_duration_seconds"),
        ("audit log", "yes", "the log is consistent"),
        ("token", "no", "no `auth` and no `access`"),
        ("circuit breakers", "no", "no series of a circuit breaker"),
    ] {
        let (verdict, text) = answer(&value, name);
        assert_eq!((verdict, text.contains(evidence)), (expected, true), "{name}: {value:#}");
    }
    assert!(answer(&value, "descriptive").1.starts_with("tools/list: "), "{value:#}");
    // What runs has no such section: the file alone is no evidence.
    std::fs::write(&file, base.clone()).expect("written");
    let (_, value) = answers(&name, &[]).await;
    assert_eq!((answer(&value, "idempotency keys").0, answer(&value, "audit log").0), ("no", "no"), "{value:#}");
    let text = String::from_utf8(ready(&name, &[]).await.stdout).expect("a text");
    assert!(text.lines().all(|line| line.chars().count() <= 80) && text.contains("[no]"), "{text}");
    // The gateway as a server that one looks at from outside.
    let url = format!("http://127.0.0.1:{clients}/mcp");
    let (_, value) = answers(&url, &["--admin", &format!("http://127.0.0.1:{admin}")]).await;
    for (name, expected) in [("Health", "yes"), ("Metrics", "yes"), ("audit log", "unknown"), ("token", "no")] {
        assert_eq!(answer(&value, name).0, expected, "{value:#}");
    }
    drop(running);
    let (_, value) = answers(&url, &[]).await;
    for name in ["typed", "Health", "Metrics", "token"] {
        assert_eq!(answer(&value, name).0, "unknown", "{value:#}");
    }
}

#[tokio::test]
async fn a_command_is_a_target() {
    let upstream = reference::Server::new(reference::Options::default()).http(LOCAL).await.expect("a free port");
    let url = format!("http://{}/mcp", upstream.local_addr());
    let (code, value) = answers("--", &[BINARY, "--stdio", &url]).await;
    assert_eq!(code, Some(1));
    assert!(answer(&value, "descriptive").1.starts_with("tools/list: "), "{value:#}");
    for (name, expected) in [("typed", "yes"), ("Health", "unknown"), ("audit log", "unknown")] {
        assert_eq!(answer(&value, name).0, expected, "{value:#}");
    }
}

#[tokio::test]
async fn a_wrong_target_is_a_usage_error() {
    for target in ["no-such-file.yaml", "ftp://x/mcp", "http://me:secret@x/mcp"] {
        let output = ready(target, &[]).await;
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), error.contains("secret")), (Some(2), false), "{error}");
    }
}
