//! `proof client watch`: what changes, as it is told; and servers that break off.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use wire::meta::SUBSCRIPTION_ID;

use crate::harness::{Serving, client, on, script};

#[test]
fn changes_are_printed_line_by_line_in_either_era() {
    let serving = Serving::start();
    let url = serving.mcp();
    for revision in ["2025-11-25", "2026-07-28"] {
        let mut watching = Command::new(env!("CARGO_BIN_EXE_proof"))
            .args(["client", "watch", "proof://counter", "--count", "2", "--for", "20", "--revision", revision])
            .args(["--url", &url])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut told = BufReader::new(watching.stderr.take().expect("a pipe"));
        let mut line = String::new();
        told.read_line(&mut line).expect("a line");
        assert!(line.starts_with("listening to tools, prompts, resources, proof://counter"), "{line}");
        // In the legacy era the stream is opened beside that.
        std::thread::sleep(Duration::from_millis(300));
        client(&["call", "touch_resource", "--url", &url]).ends_with(0);
        client(&["call", "toggle_tool", "--url", &url]).ends_with(0);
        let mut said = String::new();
        watching.stdout.take().expect("a pipe").read_to_string(&mut said).expect("it ends");
        let mut said: Vec<_> = said.lines().collect();
        said.sort_unstable();
        assert_eq!(said, ["proof://counter has changed", "the tools have changed"], "{revision}");
        assert_eq!(watching.wait().expect("it ends").code(), Some(0));
    }
}

/// A modern server that acknowledges a subscription and then does what `then` says.
fn telling(then: &str) -> Vec<String> {
    let greeting =
        r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}"#;
    let meta = format!(r#""_meta":{{"{SUBSCRIPTION_ID}":'$id'}}"#);
    script(&format!(
        r#"*server/discover*) answer '{greeting}' ;;
        *subscriptions/listen*)
            echo '{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{{meta},"notifications":{{"toolsListChanged":true}}}}}}'
            changed='{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{{meta}}}}}'
            {then} ;;"#
    ))
}

#[test]
fn changes_are_written_to_a_file_as_they_come() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("changes");
    let words = ["watch", "--count", "2", "--for", "15", "-o", &*file.to_string_lossy()];
    let ran = on(&words, &telling("echo \"$changed\"; echo \"$changed\"")).ends_with(0);
    assert_eq!(ran.stdout, "", "{ran:?}");
    let changes = std::fs::read_to_string(file).expect("the file");
    assert_eq!(changes, "the tools have changed\nthe tools have changed\n");
}

#[test]
fn a_watch_restarts_a_server_that_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let once = folder.path().join("once").display().to_string();
    let then = format!("if [ -e {once} ]; then echo \"$changed\"; else touch {once}; exit 1; fi");
    let ran = on(&["watch", "--count", "1", "--for", "15"], &telling(&then)).ends_with(0);
    assert_eq!(ran.stdout, "the tools have changed\n", "{ran:?}");
    assert!(ran.stderr.contains("interrupted"), "{ran:?}");
}

#[test]
fn notifications_of_other_subscriptions_are_ignored() {
    let params = format!(r#"{{"_meta":{{"{SUBSCRIPTION_ID}":4711}}}}"#);
    let stranger = format!(r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{params}}}"#);
    let ran = on(&["watch", "--for", "2"], &telling(&format!("echo '{stranger}'"))).ends_with(0);
    assert_eq!(ran.stdout, "");
    let ran = on(&["watch", "--for", "2"], &telling("echo \"$changed\"")).ends_with(0);
    assert_eq!(ran.stdout, "the tools have changed\n", "{ran:?}");
}

#[test]
fn a_finished_watch_cancels_its_subscription() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let mut server = telling("true");
    let script = server.pop().unwrap_or_default();
    let cancelled = format!("*notifications/cancelled*) printf '%s' \"$line\" > {} ;;\n*'\"id\"'*)", log.display());
    server.push(script.replacen("*'\"id\"'*)", &cancelled, 1));
    on(&["watch", "--for", "0.3"], &server).ends_with(0);
    let told = std::fs::read_to_string(log).expect("it was told");
    assert!(told.contains("\"requestId\":2"), "{told}");
}

#[test]
fn a_server_without_notifications_is_an_error() {
    let mut server = telling("true");
    let script = server.pop().unwrap_or_default();
    server.push(script.replace("\"toolsListChanged\":true", "\"toolsListChanged\":false"));
    on(&["watch", "--for", "20"], &server).ends_with(2).says(&["reports no changes"]);
}
