//! Which revisions are judged, and servers whose greeting is broken: they are judged, and not sorted out.

use crate::children::{greeting, server};
use crate::harness::{Ran, check, proof};

const PROOF: &str = env!("CARGO_BIN_EXE_proof");

fn judged(arguments: &[&str], script: &str) -> Ran {
    check(&[arguments, &["--timeout", "2", "--", "sh", "-c", script]].concat()).run()
}

#[test]
fn the_newest_revision_of_each_era_is_the_default() {
    let command = ["--only", "ping.answered,discover.*", "--", PROOF, "serve", "--stdio"];
    let ran = check(&command).run();
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("stdio 2025-11-25") && text.contains("stdio 2026-07-28"), "{}", ran.output());
    let others = "Also supports, not checked: stdio 2024-11-05, 2025-03-26, 2025-06-18 (--revision all).";
    assert!(text.contains(others), "{}", ran.output());
    let ran = proof(&["check", "--revision", "all", "--format", "json"]).and(&command).run();
    assert!(ran.stdout.contains("2024-11-05") && !ran.stdout.contains("also_served"), "{}", ran.output());
    let ran = proof(&["check", "--format", "json"]).and(&command).run();
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a report");
    assert_eq!(report["also_served"][0]["revisions"].as_array().map(Vec::len), Some(3), "{}", report["also_served"]);
}

#[test]
fn greets_without_a_version() {
    let script = server(r#"initialize) result '{"capabilities":{},"serverInfo":{"name":"fake","version":"1"}}' ;;"#);
    for revision in [&[][..], &["--revision", "2025-06-18"]] {
        let ran = judged(revision, &script);
        ran.ends_with(1).within(30);
        assert!(ran.stdout.contains("FAIL") && ran.stdout.contains("fake 1"), "{}", ran.output());
    }
}

#[test]
fn greets_with_an_error() {
    let script = server("initialize) error -32603 'no' ;;");
    for revision in [&[][..], &["--revision", "2025-06-18"]] {
        let ran = judged(revision, &script);
        ran.ends_with(1).within(30);
        assert!(ran.stdout.contains("answers the greeting with an error"), "{}", ran.output());
    }
}

#[test]
fn lists_no_version_when_discovered() {
    let discovered =
        r#"{"resultType":"complete","supportedVersions":[],"capabilities":{},"ttlMs":0,"cacheScope":"public"}"#;
    let ran = judged(&[], &server(&format!("server/discover) result '{discovered}' ;;")));
    ran.ends_with(1).within(30);
    assert!(ran.stdout.contains("FAIL") && ran.stdout.contains("stdio 2026-07-28"), "{}", ran.output());
}

#[test]
fn fails_when_discovered() {
    let script = server("server/discover) error -32603 'no' ;;");
    let ran = judged(&["--revision", "2026-07-28"], &script);
    ran.ends_with(1).within(30);
    assert!(ran.stdout.contains("stdio 2026-07-28"), "{}", ran.output());
}

/// Servers of the legacy era refuse all before `initialize`, and may be slow to answer that.
#[test]
fn a_server_that_never_agreed_to_a_revision_is_not_judged_at_it() {
    let early = r#"echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'"#;
    let cases = "initialize) sleep 60 ;;\n *) error 0 'not initialized' ;;";
    let ran = judged(&[], &format!("{early}\n{}", server(cases)));
    ran.ends_with(3).within(30);
    assert!(!ran.output().contains("FAIL") && ran.stderr.contains("no answer"), "{}", ran.output());
}

/// What it serves without a working greeting shows the era over stdio too.
#[test]
fn fails_when_discovered_and_serves_all_the_same() {
    let listed = r#"{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}"#;
    let cases = format!("tools/list) result '{listed}' ;;\n *) error -32603 'no' ;;");
    let ran = judged(&[], &server(&cases));
    ran.ends_with(1).within(30);
    assert!(ran.stdout.contains("stdio 2026-07-28"), "{}", ran.output());
}

/// Each answer would be waited for in vain: with ids of another type, with none, and without the version of JSON-RPC.
#[test]
fn answers_that_break_the_envelope_are_judged_without_waiting() {
    let plain = greeting(r#""tools":{}"#, r#"tools/list) result '{"tools":[]}' ;;"#);
    // A text that is asked with has its quotes already.
    let unquoted = r#"id=${id#\"}; id=${id%\"}; method=$"#;
    for (name, script) in [
        ("a text for a number", plain.replace(r#""id":%s"#, r#""id":"%s""#).replace("method=$", unquoted)),
        ("no version", plain.replace(r#""jsonrpc":"2.0","#, "")),
        ("no id", plain.replace(r#""id":%s,"result""#, r#""result""#).replace("' \"$id\" \"$1\"; }", "' \"$1\"; }")),
    ] {
        let ran = check(&["--", "sh", "-c", &script]).run();
        ran.ends_with(1).within(30);
        assert!(ran.stdout.contains("FAIL  jsonrpc.") && !ran.stdout.contains("Cut short"), "{name}: {}", ran.output());
    }
}

#[test]
fn tools_that_are_left_alone_are_named() {
    let tools = r#"{"tools":[
        {"name":"book","inputSchema":{"type":"object"}},
        {"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},
        {"name":"erase\u001b[2J","inputSchema":{"type":"object"}}]}"#;
    let called = r#"tools/call) result '{"content":[]}' ;;"#;
    let script = greeting(r#""tools":{}"#, &format!("tools/list) result '{}' ;;\n{called}", tools.replace('\n', "")));
    let report = |arguments: &[&str]| judged(&[&["--only", "tools.*"], arguments].concat(), &script);
    let text = report(&[]).stdout;
    let line = r"Not called: 2 tools that may change something: book, erase\u{1b}[2J (readOnlyHint is not true)";
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(line), "{text}");
    let text = report(&["--allow-tool", "book"]).stdout;
    assert!(text.contains("1 tool that may change something: erase"), "{text}");
    for given in [&["--call", "all"][..], &["--call", "none"]] {
        let text = report(given).stdout;
        assert!(!text.contains("Not called"), "{text}");
    }
}
