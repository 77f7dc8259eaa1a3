//! Recordings of the traffic over stdio, by the program itself.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::scripted::server;

#[test]
fn the_lines_of_a_client_over_stdio_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let mut gateway = Command::new(env!("CARGO_BIN_EXE_proof-gateway"))
        .arg("--stdio")
        .arg("--record")
        .arg(folder.path())
        .args(["--", "sh", "-c", &server("tool", "")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "c", "version": "1" } });
    let message = json!({ "jsonrpc": "2.0", "id": 41, "method": "initialize", "params": params });
    let mut stdin = gateway.stdin.take().unwrap();
    writeln!(stdin, "{message}").unwrap();
    let mut answer = String::new();
    let stdout = gateway.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut answer).unwrap();
    assert!(answer.contains(r#""id":41"#), "{answer}");
    drop(stdin);
    assert!(gateway.wait().unwrap().success());
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let text = std::fs::read_to_string(&files[0]).unwrap();
    let header = text.lines().next().unwrap_or_default();
    assert!(header.contains("stdio"), "{header}");
    for part in ["initialize", "serverInfo", "2025-06-18"] {
        assert!(text.lines().skip(1).any(|line| line.contains(part)), "no {part:?} in {text}");
    }
}
