//! Program, start, output, end.

use std::os::unix::fs::PermissionsExt as _;

use net::client::{Address, Command};
use wire::redact::Secrets;

use crate::served::{fails_at, outcomes, to_command, to_script, to_with};

/// A server of the legacy era; `BEFORE` is done first, `ANSWER` in place of the answer to `initialize`.
const SERVER: &str = r#"
BEFORE
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}';;
    *tools/list*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[]}}';;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"unknown"}}';;
  esac
done
exit 3
"#;

fn server(before: &str) -> String {
    SERVER.replace("BEFORE", before)
}

#[tokio::test]
async fn a_command_in_order_is_clean() {
    let report = to_script(&server("echo ready >&2")).await;
    assert!(report.works() && report.failed().is_none(), "{report:#?}");
    let all = ["program ok", "start ok", "stdout ok", "stderr ok", "end ok", "handshake ok", "list ok"];
    assert_eq!(outcomes(&report), all);
    let text = format!("{report:?}");
    for seen in [
        "1 message, nothing else",
        "ready",
        "code 3 after its stdin was closed",
        "initialize: sh 1",
        "not spoken (error -32601)",
    ] {
        assert!(text.contains(seen), "{seen}: {report:#?}");
    }
}

#[tokio::test]
async fn programs_that_cannot_start() {
    fails_at(&to_command("no-such-program", &[]).await, "program", "no folder of PATH has it", "install it");
    fails_at(&to_command("/no/such/program", &[]).await, "program", "there is no such file", "install it");
    let folder = tempfile::tempdir().expect("a folder");
    let script = |name: &str, text: &str, mode: u32| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("its own file");
        path.to_string_lossy().into_owned()
    };
    let plain = script("plain", "#!/bin/sh\n", 0o644);
    fails_at(&to_command(&plain, &[]).await, "program", "may not be executed", "chmod +x");
    let lost = script("lost", "#!/no/such/interpreter\n", 0o755);
    fails_at(&to_command(&lost, &[]).await, "program", "wants the interpreter /no/such/interpreter", "first line");
    let here = folder.path().to_string_lossy().into_owned();
    fails_at(&to_command(&here, &[]).await, "program", "is a folder", "name the program in it");
}

#[tokio::test]
async fn what_is_no_file_is_not_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let [pipe, socket] = ["pipe", "socket"].map(|name| folder.path().join(name));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    for path in [socket, pipe] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("its own file");
        let report = to_command(&path.to_string_lossy(), &[]).await;
        fails_at(&report, "program", "is not a regular file", "name a program");
    }
}

/// Only whole secrets are recognized, so nothing is cut before they are replaced.
#[tokio::test]
async fn a_secret_at_the_end_of_what_is_shown_is_not_shown() {
    let mut secrets = Secrets::default();
    secrets.add("hunter2-swordfish-battery");
    for length in [190, 245] {
        let line = format!("{}hunter2-swordfish-battery", "x ".repeat(length / 2));
        for script in [format!("echo '{line}'; read -r line"), format!("echo '{line}' >&2; exit 7")] {
            let command = Command::new("sh", ["-c", &script]);
            let report = to_with(Address::Stdio(command), &secrets).await;
            let shown = format!("{report:?}");
            assert!(shown.contains("x x x x") && !shown.contains("hunter"), "{length}: {shown}");
        }
    }
}

#[tokio::test]
async fn a_command_that_exits() {
    let report = to_script("echo 'Error: no API key' >&2; exit 7").await;
    fails_at(&report, "start", "ended with code 7 before it answered: Error: no API key", "run the command by itself");
}

/// One line may be the least of what it said.
#[tokio::test]
async fn a_command_that_exits_says_its_last_five_lines() {
    let report = to_script("for n in 1 2 3 4 5 6 7; do echo \"line $n\" >&2; done; exit 7").await;
    fails_at(&report, "start", "ended with code 7 before it answered", "run the command by itself");
    let seen = &report.failed().expect("the start").seen;
    let lines = ["its last lines on stderr:", "line 3", "line 4", "line 5", "line 6", "line 7"];
    assert_eq!(seen[1..], lines, "{seen:?}");
}

#[tokio::test]
async fn a_command_that_prints_a_banner() {
    let report = to_script(&server("echo 'Welcome to the server'")).await;
    fails_at(&report, "stdout", "1 line is no JSON-RPC; the first: Welcome to the server", "stderr");
    assert!(outcomes(&report).contains(&"handshake ok".to_owned()), "the way goes on: {report:#?}");
}

#[tokio::test]
async fn a_command_that_says_something_else() {
    fails_at(&to_script("echo hello; sleep 30").await, "stdout", "no JSON-RPC; the first: hello", "stderr");
}

#[tokio::test]
async fn a_command_that_hangs() {
    fails_at(&to_script("sleep 30").await, "stdout", "no answer within", "does it read stdin");
}
