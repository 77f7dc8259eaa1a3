//! Every transport at every revision that it carries, and how the era is found out.

use crate::harness::{Serving, client, legacy, on, script};

const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

#[test]
fn a_tool_is_called_over_every_transport_at_every_revision() {
    let serving = Serving::start();
    let proof = env!("CARGO_BIN_EXE_proof");
    let (mcp, sse, ws) = (serving.mcp(), format!("http://{}/sse", serving.host), format!("ws://{}/ws", serving.host));
    for revision in REVISIONS {
        let mut ways = vec![vec!["--url", &ws], vec!["--", proof, "serve", "--stdio"]];
        ways.push(if revision == "2024-11-05" { vec!["--url", &sse] } else { vec!["--url", &mcp] });
        for way in ways {
            let arguments = [&["call", "echo", "message=hi", "--revision", revision], &way[..]].concat();
            assert_eq!(client(&arguments).prints("hi\n").stderr, "", "{arguments:?}");
        }
    }
}

#[test]
fn without_a_revision_the_newest_is_used() {
    let serving = Serving::start();
    let proof = env!("CARGO_BIN_EXE_proof");
    let (mcp, sse, ws) = (serving.mcp(), format!("http://{}/sse", serving.host), format!("ws://{}/ws", serving.host));
    for (way, said) in [
        (vec!["--url", &*mcp], "2026-07-28 over http\n"),
        (vec!["--url", &*ws], "2026-07-28 over ws\n"),
        (vec!["--url", &*sse], "2024-11-05 over sse\n"),
        (vec!["--", proof, "serve", "--stdio"], "2026-07-28 over stdio\n"),
    ] {
        let ran = client(&[&["discover"], &way[..]].concat()).ends_with(0);
        assert!(ran.stdout.contains(said), "{ran:?}");
    }
}

#[test]
fn a_legacy_server_gets_initialize_whatever_it_answers_to_discover() {
    let tools = r#"*tools/list*) answer '{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;"#;
    for refusal in ["-32601", "-32602", "-32000", "-1"] {
        let cases = format!("*server/discover*) fail {refusal} ;;\n{tools}");
        let ran = on(&["tools"], &legacy(&cases)).ends_with(0);
        assert!(ran.stdout.starts_with("t\n"), "{ran:?}");
    }
    // One that ends when it is not greeted first is started again.
    let ran = on(&["tools"], &legacy(&format!("*server/discover*) exit 1 ;;\n{tools}"))).ends_with(0);
    assert!(ran.stdout.starts_with("t\n"), "{ran:?}");
    // One that says nothing to what it does not know is greeted after a while.
    let ran = on(&["tools"], &legacy(&format!("*server/discover*) ;;\n{tools}"))).ends_with(0);
    assert!(ran.stdout.starts_with("t\n") && ran.took.as_secs() < 8, "{ran:?}");
}

#[test]
fn a_modern_server_of_another_version_gets_no_initialize() {
    let refused = r#"printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2099-01-01"]}}}\n' "$id""#;
    let ran = on(&["tools"], &script(&format!("*server/discover*) {refused} ;;\n*initialize*) exit 7 ;;")));
    ran.ends_with(3).says(&["2099-01-01"]);
}

#[test]
fn an_unknown_version_ends_the_connection() {
    let greeting = r#"*'"initialize"'*) answer '{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"a","version":"1"}}' ;;"#;
    on(&["tools"], &script(greeting)).ends_with(3).says(&["no revision in common", "1999-01-01"]);
}

#[test]
fn a_named_revision_must_be_negotiated() {
    let ran = on(&["tools", "--revision", "2025-11-25"], &legacy("")).ends_with(2);
    ran.says(&["does not support 2025-11-25", "--revision 2025-06-18"]);
}

#[test]
fn the_url_is_the_last_argument() {
    let serving = Serving::start();
    let url = serving.mcp();
    for words in [
        &["tools"][..],
        &["call", "echo", "message=hi"],
        &["read", "proof://docs/welcome"],
        &["get", "code_review", "code=x"],
        &["complete", "code_review", "language="],
        &["resources", "--templates"],
        &["raw", "tools/list"],
        &["raw", "tools/list", "{}"],
        &["watch", "proof://counter", "--for", "0.3"],
    ] {
        client(&[words, &[&url]].concat()).ends_with(0);
    }
}
