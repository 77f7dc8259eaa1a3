//! Traces that stay after a check that failed: the report names them, and they can be judged again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::harness::results;
use crate::printed::Printed;
use crate::serving::Serving;

const PROOF: &str = env!("CARGO_BIN_EXE_proof");

/// Checks the reference server with a fault, by one rule, with this folder for temporary files.
fn check(temporary: &Path, fault: &[&str], arguments: &[&str]) -> Printed {
    let mut command = Command::new(PROOF);
    command.args(["check", "--revision", "2025-11-25", "--only", RULE, "--timeout", "20"]).args(arguments);
    command.args(["--", PROOF, "serve", "--stdio"]).args(fault);
    Printed::by(command.env("TMPDIR", temporary).stdin(Stdio::null()).env_remove("RUST_LOG"))
}

/// A MUST that every check exercises, and the fault that breaks it.
const RULE: &str = "lifecycle.server-info-told";
const FAULT: [&str; 2] = ["--fault", "server-info-not-told"];

fn folders(temporary: &Path) -> Vec<PathBuf> {
    fs::read_dir(temporary).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn a_failing_check_keeps_the_traces_of_its_findings() {
    let temporary = tempfile::tempdir().expect("a folder");
    let ran = check(temporary.path(), &FAULT, &["--format", "json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).expect("a report");
    let [folder] = folders(temporary.path()).try_into().expect("one folder");
    assert_eq!(report["traces"].as_str(), folder.to_str());
    assert_eq!(fs::metadata(&folder).expect("a folder").permissions().mode() & 0o777, 0o700);
    let evidence = &results(&report)[0]["evidence"][0];
    let file = folder.join(evidence["trace"].as_str().expect("a file"));
    let event = usize::try_from(evidence["event"].as_u64().expect("an event")).expect("a number");
    let trace = fs::read_to_string(&file).expect("the trace");
    let line = trace.lines().nth(event + 1).expect("the event");
    assert!(line.contains("protocolVersion"), "the event that the report names: {line}");
    let again = Command::new(PROOF)
        .args(["check", "--only", RULE, "--trace", &file.to_string_lossy()])
        .output()
        .expect("the binary runs");
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(folders(&folder).len(), 1, "only what the finding names");
}

#[test]
fn the_report_for_people_names_the_folder_and_the_event() {
    let temporary = tempfile::tempdir().expect("a folder");
    let text = check(temporary.path(), &FAULT, &[]).stdout;
    let [folder] = folders(temporary.path()).try_into().expect("one folder");
    assert!(text.contains(&format!("Traces: {}", folder.display())), "{text}");
    assert!(text.contains(" of stdio-2025-11-25-"), "{text}");
}

#[test]
fn a_check_that_passes_leaves_nothing() {
    let temporary = tempfile::tempdir().expect("a folder");
    let ran = check(temporary.path(), &[], &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(folders(temporary.path()), Vec::<PathBuf>::new());
    assert!(!ran.stdout.contains("Traces:"), "{}", ran.stdout);
}

#[test]
fn a_named_folder_gets_all_traces_and_no_other_does() {
    let temporary = tempfile::tempdir().expect("a folder");
    let named = tempfile::tempdir().expect("a folder");
    let text = check(temporary.path(), &FAULT, &["--save-trace", &named.path().to_string_lossy()]).stdout;
    assert!(text.contains(&format!("Traces: {}", named.path().display())), "{text}");
    assert!(folders(named.path()).len() > 1, "traces of all cases");
    assert_eq!(folders(temporary.path()), Vec::<PathBuf>::new());
}

#[test]
fn a_finding_over_http_has_commands_that_show_it_again() {
    let mut server = Command::new(PROOF);
    let serving = Serving::start(server.args(["serve", "--http", "127.0.0.1:0", "--fault", "result-without-type"]));
    let temporary = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(PROOF);
    command.args(["check", "--format", "json", "--revision", "2026-07-28", "--only", "result.type-present"]);
    command.args(["--timeout", "20", "--header", "X-Api-Key: sesame-s3cret", &serving.url]);
    let ran = Printed::by(command.env("TMPDIR", temporary.path()).stdin(Stdio::null()));
    assert!(!ran.stdout.contains("sesame-s3cret"), "{}", ran.stdout);
    let report: Value = serde_json::from_str(&ran.stdout).expect("a report");
    let finding = &results(&report)[0];
    let place = "proof check --only result.type-present --revision 2026-07-28 --transport http";
    let again = format!("{place} --header 'X-Api-Key: YOUR-SECRET-HERE' --timeout 20 {}", serving.url);
    assert_eq!(finding["repro"].as_str(), Some(again.as_str()));
    let sent = &finding["evidence"][0]["sent"];
    assert_eq!(sent["answered"], true);
    let curl = sent["curl"].as_str().expect("a command");
    assert!(curl.starts_with(&format!("curl -i '{}' -H ", serving.url)), "{curl}");
    assert!(curl.contains("-H 'mcp-protocol-version: 2026-07-28'") && curl.contains(" -d '{\"jsonrpc\":"), "{curl}");
}

/// The reference server assigns sessions in the legacy era.
#[test]
fn a_finding_in_a_session_has_the_commands_that_open_one() {
    let mut server = Command::new(PROOF);
    let serving = Serving::start(server.args(["serve", "--http", "127.0.0.1:0", "--fault", "ping-unknown"]));
    let temporary = tempfile::tempdir().expect("a folder");
    let checked = |format| {
        let mut command = Command::new(PROOF);
        command.args(["check", "--format", format, "--revision", "2025-11-25", "--only", "ping.served"]);
        Printed::by(
            command.args(["--timeout", "20", &serving.url]).env("TMPDIR", temporary.path()).stdin(Stdio::null()),
        )
    };
    let report: Value = serde_json::from_str(&checked("json").stdout).expect("a report");
    let sent = &results(&report)[0]["evidence"][0]["sent"];
    let curl = sent["curl"].as_str().unwrap_or_else(|| panic!("a command: {sent}"));
    assert!(curl.contains(" -H 'mcp-session-id: SESSION-ID'") && curl.contains("\"method\":\"ping\""), "{curl}");
    let opening: Vec<&str> =
        sent["curl_session"].as_array().expect("commands").iter().filter_map(Value::as_str).collect();
    let [greeting, greeted] = opening[..] else { panic!("{opening:?}") };
    assert!(greeting.contains("\"initialize\"") && !greeting.contains("mcp-session-id"), "{greeting}");
    assert!(greeted.contains("notifications/initialized") && greeted.contains("SESSION-ID"), "{greeted}");
    let text = checked("human").stdout;
    assert!(text.contains("First, for a curl command of http 2025-11-25 with SESSION-ID:\n  curl -i "), "{text}");
}
