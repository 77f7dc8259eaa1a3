//! What a person sees, and what `--json` prints.

use serde_json::Value;

use crate::harness::{Ran, Serving, client, legacy, on};

/// It ended well, and no line is too wide for a terminal.
#[track_caller]
fn narrow(ran: Ran) -> String {
    let ran = ran.ends_with(0);
    for line in ran.stdout.lines() {
        assert!(line.chars().count() <= 80, "too wide: {line}");
    }
    ran.stdout
}

#[test]
fn lists_are_readable() {
    let url = Serving::start();
    let asked = |words: &[&str]| narrow(client(&[words, &["--url", &url.mcp()]].concat()));
    insta::assert_snapshot!("discover", asked(&[]));
    insta::assert_snapshot!("tools", asked(&["tools"]));
    insta::assert_snapshot!("resources", asked(&["resources"]));
    insta::assert_snapshot!("templates", asked(&["resources", "--templates"]));
    insta::assert_snapshot!("prompts", asked(&["prompts"]));
}

#[test]
fn results_are_readable() {
    let url = Serving::start();
    let asked = |words: &[&str]| narrow(client(&[words, &["--url", &url.mcp()]].concat()));
    insta::assert_snapshot!("everything", asked(&["call", "get_everything"]));
    insta::assert_snapshot!("weather", asked(&["call", "get_weather", "location=Bern"]));
    insta::assert_snapshot!("read", asked(&["read", "proof://docs/readme"]));
    insta::assert_snapshot!("bytes", asked(&["read", "proof://images/pixel"]));
    insta::assert_snapshot!("prompt", asked(&["get", "code_review", "code=1 + 1", "language=C"]));
    assert_eq!(asked(&["complete", "code_review", "language=py"]), "python\n");
    assert!(asked(&["ping"]).starts_with("http answers in "));
}

#[test]
fn json_is_the_result_and_nothing_else() {
    let url = Serving::start();
    for words in [
        &["discover"][..],
        &["tools"],
        &["call", "sum", "a=1", "b=2"],
        &["resources"],
        &["read", "proof://docs/readme"],
        &["prompts"],
        &["get", "describe_sound"],
        &["complete", "code_review", "language="],
        &["ping"],
        &["raw", "tools/list"],
    ] {
        let ran = client(&[words, &["--json", "--url", &url.mcp()]].concat()).ends_with(0);
        assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
        let result: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(result["resultType"], "complete", "{words:?}");
        assert_eq!(ran.stderr, "", "{words:?}");
    }
}

#[test]
fn pages_are_joined_to_one_list() {
    let url = Serving::start();
    let ran = client(&["resources", "--json", "--url", &url.mcp()]).ends_with(0);
    let result: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    // The reference server has three to a page.
    assert!(result["resources"].as_array().is_some_and(|all| all.len() > 3), "{result}");
    assert_eq!(result.get("nextCursor"), None);
}

#[test]
fn saved_files_have_safe_names() {
    let url = Serving::start();
    let folder = tempfile::tempdir().expect("a folder");
    let into = folder.path().to_string_lossy().into_owned();
    let ran = client(&["call", "get_everything", "--save", &into, "--url", &url.mcp()]).ends_with(0);
    let image = std::fs::read(folder.path().join("image-1.png")).expect("it is there");
    assert!(image.starts_with(b"\x89PNG"), "{ran:?}");
    assert!(ran.stdout.contains("audio-2.wav]"), "{ran:?}");
}

#[test]
fn a_tool_that_fails_ends_with_1_and_its_reason() {
    let url = Serving::start();
    let ran = client(&["call", "fail", "reason=because", "--url", &url.mcp()]).ends_with(1);
    assert_eq!((&*ran.stdout, &*ran.stderr), ("because\n", "error: the tool reports an error\n"));
    let ran = client(&["call", "fail", "as=error", "--url", &url.mcp()]).ends_with(1);
    assert_eq!(ran.stdout, "");
    ran.says(&["the server answers with error", "at tools/call"]);
}

#[test]
fn text_of_a_server_is_escaped_on_a_terminal() {
    let evil = r"\u001b]0;evil\u0007\u202ereversed\u0085";
    let tools = format!(
        r#"*tools/list*) answer '{{"tools":[{{"name":"t","description":"{evil}","inputSchema":{{"type":"object","properties":{{"{evil}":{{"description":"{evil}"}}}}}}}}]}}' ;;
        *tools/call*) answer '{{"content":[{{"type":"text","text":"{evil}"}},{{"type":"{evil}"}},{{"type":"image","mimeType":"{evil}","data":"AAAA"}}],"structuredContent":{{"a":"{evil}"}}}}' ;;"#
    );
    // The harness looks at every character that comes out.
    for arguments in [&["tools"][..], &["tools", "--json"], &["call", "t"], &["call", "t", "--json"]] {
        let ran = on(arguments, &legacy(&tools)).ends_with(0);
        assert!(ran.stdout.contains("evil") && !ran.stdout.contains('\u{202e}'), "{ran:?}");
    }
    let refusal = format!(
        r#"*tools/list*) printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-1,"message":"%s"}}}}\n' "$id" '{evil}' ;;"#
    );
    let ran = on(&["tools"], &legacy(&refusal)).ends_with(1);
    assert!(!ran.stderr.contains('\u{202e}'), "{ran:?}");
}
