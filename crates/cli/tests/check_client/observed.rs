//! Clients that nobody scripted.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::harness::{PROOF, command, outcomes, places};

#[test]
fn an_observed_client_is_judged_at_the_end() {
    let mut child = command(&["check-client", "--listen", "127.0.0.1:0", "--format", "json"]).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let url = line.split_whitespace().nth(1).unwrap().to_owned();
    let socket = url.replace("http:", "ws:").replace("/mcp", "/ws");
    let runs: [&[&str]; 4] = [
        &["--url", &url, "tools"],
        // Again: its ids begin anew, which is no fault of a client that was started twice.
        &["--url", &url, "tools"],
        &["--url", &url, "--revision", "2025-06-18", "tools"],
        &["--url", &socket, "tools"],
    ];
    for arguments in runs {
        let status = Command::new(PROOF).arg("client").args(arguments).stdout(Stdio::null()).status().unwrap();
        assert!(status.success(), "{arguments:?}");
    }
    crate::signal::send("INT", &child);
    // On a thread: a report is longer than a pipe is deep.
    let shown = std::thread::spawn(move || {
        let mut shown = String::new();
        stderr.read_to_string(&mut shown).unwrap();
        shown
    });
    let output = child.wait_with_output().unwrap();
    let shown = shown.join().unwrap();
    assert_eq!(output.status.code(), Some(0), "{shown}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(places(&report), ["http 2025-06-18", "http 2026-07-28", "ws 2026-07-28"]);
    assert_eq!(report["subject"]["name"], "proofhouse");
    assert!(outcomes(&report, "jsonrpc.request-ids-unique").iter().all(|outcome| *outcome != "fail"));
    assert!(shown.contains("client  tools/list"), "{shown}");
}

#[test]
fn a_client_is_judged_between_it_and_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json").to_string_lossy().into_owned();
    let server =
        ["check-client", "--stdio-wrap", "--format", "json", "--output", &report, "--", PROOF, "serve", "--stdio"];
    let mut client = Command::new(PROOF);
    client.args(["client", "call", "echo", "message=through", "--", PROOF]).args(server);
    let output = client.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "through\n");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!(places(&report), ["stdio 2026-07-28"]);
    assert!(outcomes(&report, "jsonrpc.version-member").iter().all(|outcome| *outcome == "pass"));
}
