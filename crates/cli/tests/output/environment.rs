//! What children get of our environment, and who may read what is written.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::printed::Printed;

/// A server that repeats its environment under innocent names.
const PARROT: &str = r#"
import json, os, sys
said = " ".join(f"{name[:3]}~{value}" for name, value in os.environ.items() if name.startswith("PROBE"))
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    results = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "instructions": said + "\u009b\u202e",
            "serverInfo": {"name": "parrot", "version": "1"}},
        "tools/list": {"tools": [{"name": "say", "description": said, "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": said}]},
    }
    answer = {"jsonrpc": "2.0", "id": request["id"]}
    if request["method"] in results:
        answer["result"] = results[request["method"]]
    else:
        answer["error"] = {"code": -32601, "message": said}
    print(json.dumps(answer), flush=True)
"#;

const KEY: &str = "correct-horse-battery";
const PLAIN: &str = "plain-word";

fn proof(folder: &Path, arguments: &[&str], inherited: &[&str]) -> Printed {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof"));
    command.args(arguments).args(inherited).args(["--", "python3", "-c", PARROT]);
    command.env("PROBE_KEY", KEY).env("PROBE_PLAIN", PLAIN).current_dir(folder).stdin(Stdio::null());
    Printed::by(&mut command)
}

#[test]
fn children_inherit_what_is_named_and_secrets_in_it_are_concealed() {
    let folder = tempfile::tempdir().expect("a folder");
    let verbs: [&[&str]; 4] = [
        &["client", "discover"],
        &["client", "call", "say"],
        &["snapshot"],
        &["check", "--only", "ping.*", "--revision", "2025-11-25", "--save-trace", "traces", "--timeout", "20"],
    ];
    for verb in verbs {
        for (inherited, plain) in
            [(&[][..], false), (&["--inherit-env", "PROBE_KEY,PROBE_PLAIN"], true), (&["--inherit-env", "all"], true)]
        {
            let ran = proof(folder.path(), verb, inherited);
            let traces = fs::read_dir(folder.path().join("traces")).into_iter().flatten().flatten();
            let traces: String = traces.map(|entry| fs::read_to_string(entry.path()).expect("a trace")).collect();
            let text = format!("{}{}{traces}", ran.stdout, ran.stderr);
            assert!(!text.contains(KEY), "{verb:?} {inherited:?}: {text}");
            assert_eq!(text.contains(PLAIN), plain, "{verb:?} {inherited:?}: {text}");
            let shown = format!("{}{}", ran.stdout, ran.stderr);
            assert!(!shown.contains(['\u{9b}', '\u{202e}']), "{verb:?}: {shown:?}");
            let _ = fs::remove_dir_all(folder.path().join("traces"));
        }
    }
}

#[test]
fn snapshots_of_two_runs_are_the_same_although_secrets_are_concealed() {
    let folder = tempfile::tempdir().expect("a folder");
    let inherited = ["--inherit-env", "all"];
    let ran = proof(folder.path(), &["snapshot", "--output", "s.json"], &inherited);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let ran = proof(folder.path(), &["snapshot", "--check", "s.json"], &inherited);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "nothing changed\n"));
}

#[test]
fn traces_and_reports_are_for_their_owner_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let old = folder.path().join("report.json");
    fs::write(&old, "").expect("a file");
    fs::set_permissions(&old, fs::Permissions::from_mode(0o644)).expect("permissions");
    let options =
        ["check", "--only", "ping.*", "--revision", "2025-11-25", "--timeout", "20", "--save-trace", "traces"];
    let outputs = ["--format", "json", "--output", "report.json", "--also", "html=report.html"];
    proof(folder.path(), &[&options[..], &outputs].concat(), &[]);
    let traces = fs::read_dir(folder.path().join("traces")).expect("traces").flatten().map(|entry| entry.path());
    let files: Vec<_> = traces.chain([old, folder.path().join("report.html")]).collect();
    assert!(files.len() > 2, "{files:?}");
    for file in files {
        assert_eq!(file.metadata().expect("a file").permissions().mode() & 0o777, 0o600, "{}", file.display());
    }
}
