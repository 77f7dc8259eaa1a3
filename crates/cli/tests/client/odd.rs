//! Servers that hang, end, flood, or answer what no server may.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::harness::{client, legacy, on, script};

/// A modern server of a few lines of shell.
fn modern(cases: &str) -> Vec<String> {
    let greeting = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
    script(&format!("*server/discover*) answer '{greeting}' ;;\n{cases}"))
}

const LIST: &str = r#"*tools/list*) answer '{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;"#;

fn calls(cases: &str) -> String {
    format!("{LIST}\n{cases}")
}

#[test]
fn an_unknown_result_type_is_refused_and_a_missing_one_accepted() {
    let text = r#""content":[{"type":"text","text":"x"}]"#;
    on(&["call", "t"], &modern(&calls(&format!("*tools/call*) answer '{{{text}}}' ;;")))).prints("x\n");
    for kind in [r#""partial""#, "7", "null"] {
        let server = modern(&calls(&format!(r#"*tools/call*) answer '{{"resultType":{kind},{text}}}' ;;"#)));
        on(&["call", "t"], &server).ends_with(3).says(&["unknown type", kind.trim_matches('"')]);
    }
}

#[test]
fn request_state_is_echoed_unchanged_and_rounds_are_limited() {
    let state = r"a\u002fb\\ud800 é";
    let server = modern(&calls(&format!(
        r#"*'"requestState":"a\u002fb\ud800 é"'*) answer '{{"content":[{{"type":"text","text":"same"}}]}}' ;;
        *requestState*) answer '{{"content":[{{"type":"text","text":"other"}}]}}' ;;
        *tools/call*) answer '{{"resultType":"input_required","requestState":"{}"}}' ;;"#,
        state.replace(r"\\", r"\")
    )));
    on(&["call", "t"], &server).prints("same\n");
    let endless = modern(&calls(r#"*tools/call*) answer '{"resultType":"input_required","requestState":"s"}' ;;"#));
    on(&["call", "t"], &endless).ends_with(3).says(&["rounds"]);
}

#[test]
fn pages_are_followed_up_to_a_limit() {
    let page = |items: &str, cursor: &str| format!(r#"{{"tools":[{items}],"nextCursor":{cursor}}}"#);
    let tool = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
    // An empty page is not the last, and neither is one whose cursor is empty.
    let server = legacy(&format!(
        "*'\"cursor\":\"\"'*) answer '{{\"tools\":[{}]}}' ;;\n*'\"cursor\":\"b\\u002f\"'*) answer '{}' ;;\n*tools/list*) answer '{}' ;;",
        tool("last"),
        page("", r#""""#),
        page(&tool("first"), r#""b\u002f""#),
    ));
    let ran = on(&["tools"], &server).ends_with(0);
    assert_eq!(ran.stdout, "first\nlast\n\n2 tools\n", "{ran:?}");
    let server = legacy(&format!("*tools/list*) answer '{}' ;;", page("", r#""again""#)));
    on(&["tools"], &server).ends_with(3).says(&["cursor"]);
}

#[test]
fn a_silent_server_times_out_and_gets_a_cancellation() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = folder.path().join("told");
    let cases =
        calls(&format!("*tools/call*) ;;\n*notifications/cancelled*) printf '%s' \"$line\" > {} ;;", told.display()));
    for server in [legacy(&cases), modern(&cases)] {
        let ran = on(&["call", "t", "--timeout", "1.5"], &server).ends_with(3).says(&["no answer for 1."]);
        assert!(ran.took < Duration::from_secs(8), "{ran:?}");
        let told = std::fs::read_to_string(&told).expect("it was told");
        assert!(told.contains(r#""requestId":"#), "{told}");
    }
}

#[test]
fn a_server_that_does_not_exit_is_killed() {
    let stubborn = |cases: &str| {
        let mut server = legacy(cases);
        let script = server.pop().unwrap_or_default();
        server.push(format!("trap '' TERM; ({script}); sleep 1000"));
        server
    };
    let ran = on(&["tools"], &stubborn(LIST)).ends_with(0);
    assert!(ran.stdout.starts_with("t\n") && ran.took < Duration::from_secs(6), "{ran:?}");
}

#[test]
fn no_child_outlives_an_interrupted_client() {
    let mark = format!("sleep 86{}", std::process::id());
    let mut child = Command::new(env!("CARGO_BIN_EXE_proof"))
        .args(["client", "tools", "--", "sh", "-c", &format!("({mark}) & {mark}")])
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the binary runs");
    let running = || {
        let listed = Command::new("ps").args(["-eo", "args"]).output().expect("ps runs");
        String::from_utf8_lossy(&listed.stdout).lines().any(|line| line == mark)
    };
    let begun = Instant::now();
    while !running() && begun.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(running(), "the server was never started");
    crate::signal::send("INT", &child);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let begun = Instant::now();
    while running() && begun.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!running(), "left behind");
}

#[test]
fn an_interrupted_call_is_cancelled_at_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let (called, told) = (folder.path().join("called"), folder.path().join("told"));
    let cases = calls(&format!(
        "*tools/call*) touch {} ;;\n*notifications/cancelled*) printf '%s' \"$line\" > {} ;;",
        called.display(),
        told.display()
    ));
    for (server, id) in [(legacy(&cases), "4"), (modern(&cases), "3")] {
        let _ = (std::fs::remove_file(&called), std::fs::remove_file(&told));
        let mut child = Command::new(env!("CARGO_BIN_EXE_proof"))
            .args(["client", "call", "t"])
            .args(server)
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("the binary runs");
        let begun = Instant::now();
        while !called.exists() && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(10));
        }
        crate::signal::send("INT", &child);
        assert_eq!(child.wait().expect("it ends").code(), Some(130));
        let told = std::fs::read_to_string(&told).expect("it was told");
        assert!(told.contains(&format!("\"requestId\":{id}")), "{told}");
    }
}

#[test]
fn an_error_without_an_id_is_reported() {
    let cases = calls(
        r#"*tools/call*) echo '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}'; answer '{"content":[]}' ;;"#,
    );
    let ran = on(&["call", "t"], &modern(&cases)).ends_with(0);
    assert_eq!(ran.stderr, "note: the server complains of a message: Parse error\n");
}

#[test]
fn a_tool_that_requires_a_task_is_not_called() {
    let greeting = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"a","version":"1"}}"#;
    let tool = r#"{"name":"t","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}"#;
    let cases = format!(
        "*'\"initialize\"'*) answer '{greeting}' ;;\n*tools/list*) answer '{{\"tools\":[{tool}]}}' ;;\n*tools/call*) exit 9 ;;"
    );
    on(&["call", "t"], &script(&cases)).ends_with(2).says(&["only runs as a task"]);
}

#[test]
fn a_flood_or_a_crash_ends_the_request() {
    let flood = legacy(r#"*tools/list*) yes '{"jsonrpc":"2.0","method":"notifications/message","params":{}}' ;;"#);
    let ran = on(&["tools", "--timeout", "1"], &flood).ends_with(3);
    assert!(ran.took < Duration::from_secs(20), "{ran:?}");
    on(&["tools"], &legacy("*tools/list*) echo gone >&2; exit 3 ;;")).ends_with(3).says(&["ended", "gone"]);
    client(&["tools", "--timeout", "1", "--", "yes"]).ends_with(3);
}
