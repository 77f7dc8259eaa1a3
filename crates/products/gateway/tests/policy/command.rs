//! `proof-gateway policy test` and `policy explain`, run as commands.

use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const GATEWAY: &str = r#"
upstreams:
  files:
    url: https://files.example/mcp
    headers: { Authorization: { from_env: A_VARIABLE_THAT_IS_NOT_SET } }
servers:
  default:
  readers:
auth:
  issuer: https://auth.example
  keys: no-such-file.json
  scopes: [mcp]
access:
  - effect: deny
    tools: ["*delete*"]
  - effect: allow
    tools: ["read_*"]
    when: claims.team == "data" && arguments.path.startsWith("/data/")
  - effect: allow
    resources: ["file:///data/*"]
    scopes: [files]
  - effect: allow
    when: server == "readers" && annotations.readOnlyHint && arguments.n < 3
"#;

const CASES: &str = r#"config: gateway.yaml
cases:
  - case: analysts read
    action: tools/call
    name: read_file
    claims: { team: data, scope: mcp }
    arguments: { path: /data/x }
    expect: allow
    rule: 2
  - action: tools/list
    name: read_file
    claims: { team: sales, scope: mcp }
    expect: allow
  - action: tools/call
    name: read_file
    claims: { team: sales, scope: mcp }
    arguments: { path: /data/x }
    expect: deny
    rule: none
  - { action: tools/call, name: delete_file, claims: { scope: mcp }, expect: deny, rule: 1 }
  - { action: resources/read, uri: "file:///data/a", claims: { scope: "mcp files" }, expect: allow, rule: 3 }
  - { action: resources/read, uri: "file:///data/../etc", claims: { scope: "mcp files" }, expect: deny, rule: none }
  - { action: resources/read, uri: "db://x", server: readers, claims: { scope: mcp }, expect: deny, rule: none }
  - { action: tools/call, name: read_file, expect: deny, rule: token }
  - { action: tools/call, name: read_file, claims: { scope: other }, expect: deny, rule: token }
  - { action: tools/call, name: x, server: readers, claims: { scope: mcp }, annotations: { readOnlyHint: true }, arguments: { n: 2 }, expect: allow, rule: 4 }
"#;

fn folder(cases: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("gateway.yaml"), GATEWAY).expect("a file");
    std::fs::write(folder.path().join("cases.yaml"), cases).expect("a file");
    folder
}

/// Exit code, stdout and stderr of `proof-gateway policy`.
fn policy(folder: &TempDir, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof-gateway"));
    let Output { status, stdout, stderr } =
        command.current_dir(folder.path()).arg("policy").args(arguments).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn cases_that_are_as_expected_pass() {
    let (code, out, err) = policy(&folder(CASES), &["test", "cases.yaml"]);
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "10 cases: 10 as expected, 0 not\n", ""));
}

/// Each expectation, turned into its opposite, is found with its place.
#[test]
fn each_case_that_is_not_as_expected_is_shown() {
    let opposite = |line: &str| {
        let (from, to) = if line.contains("expect: allow") { ("allow", "deny") } else { ("deny", "allow") };
        line.replace(&format!("expect: {from}"), &format!("expect: {to}"))
    };
    let lines: Vec<&str> = CASES.lines().collect();
    let mut found = 0;
    for at in 0..lines.len() {
        if !lines[at].contains("expect:") {
            continue;
        }
        let mut changed = lines.clone();
        let turned = opposite(lines[at]).replace(", rule: token", "");
        changed[at] = &turned;
        let (code, out, err) = policy(&folder(&changed.join("\n")), &["test", "cases.yaml"]);
        assert_eq!((code, err.as_str()), (Some(1), ""), "{turned}: {out}");
        assert!(out.contains("10 cases: 9 as expected, 1 not"), "{out}");
        let number = lines[..=at].iter().filter(|line| line.trim_start().starts_with("- ")).count();
        let first = (0..=at).rev().find(|line| lines[*line].trim_start().starts_with("- ")).expect("a case");
        let place = format!("cases.yaml:{}:5\n", first + 1);
        let remedy = format!("  try: proof-gateway policy explain cases.yaml --case {number}\n");
        assert!(out.contains(&format!(" – {place}{remedy}")), "no {place:?} in {out}");
        found += 1;
    }
    assert_eq!(found, 10);
}

#[test]
fn another_rule_than_the_expected_one_is_no_pass() {
    let cases = CASES.replace("    rule: 2\n", "    rule: 4\n");
    let (code, out, _) = policy(&folder(&cases), &["test", "cases.yaml"]);
    let line = "error: analysts read: expected allow by rule 4, got allow: rule 2 (gateway.yaml:16) – cases.yaml:3:5";
    assert!(code == Some(1) && out.starts_with(line), "{out}");
    let one =
        "config: gateway.yaml\ncases: [{ action: tools/list, name: delete_x, claims: { scope: mcp }, expect: deny }]\n";
    let (code, out, _) = policy(&folder(one), &["test", "cases.yaml"]);
    let unused = "rules that decided no case: 2 (gateway.yaml:16), 3 (gateway.yaml:19), 4 (gateway.yaml:22)\n";
    assert_eq!((code, out), (Some(0), format!("1 case: 1 as expected, 0 not\n{unused}")));
}

#[test]
fn the_report_is_json_too() {
    let folder = folder(&CASES.replace("    rule: 2\n", "    rule: 4\n"));
    let (code, out, _) = policy(&folder, &["test", "cases.yaml", "--json"]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &report["passed"], &report["failed"]), (Some(1), &9.into(), &1.into()), "{report:#}");
    let case = &report["cases"][0];
    assert_eq!((&case["passed"], &case["line"], &case["case"]), (&false.into(), &3.into(), &"analysts read".into()));
    assert_eq!((&case["expected"]["rule"], &case["actual"]["rule"]), (&4.into(), &2.into()));
    assert_eq!(report["unused_rules"], serde_json::json!([]));
}

#[test]
fn mistakes_in_files_have_places_and_remedies() {
    let case = |members: &str| format!("config: gateway.yaml\ncases:\n  - {{ {members} }}\n");
    let files = [
        ("cases: []\n".to_owned(), "cases.yaml:1"),
        ("config: gateway.yaml\n".to_owned(), "cases.yaml"),
        (case("action: tools/call, name: x"), "cases.yaml:3"),
        (case("action: tools/calls, name: x, expect: deny"), "cases.yaml:3"),
        (case("action: tools/call, name: x, expect: deny, argument: {}"), "cases.yaml:3"),
        (case("action: tools/call, name: x, expect: deny, claims: 1"), "cases.yaml:3"),
        (case("action: tools/call, uri: x, expect: deny"), "has a `name` and no `uri` – cases.yaml:3:27"),
        (case("action: resources/read, expect: deny"), "needs a `uri` – cases.yaml:3:7"),
        (case("action: resources/read, uri: x, expect: deny, arguments: {}"), "has no arguments"),
        (case("action: tools/list, name: x, expect: deny, arguments: {}"), "has no arguments"),
        (case("action: prompts/get, name: x, expect: deny, annotations: {}"), "only tools have annotations"),
        (case("action: tools/call, name: x, expect: deny, rule: 5"), "there is no rule 5: gateway.yaml has 4"),
        (case("action: tools/call, name: x, expect: deny, rule: 0"), "cases.yaml:3"),
        (case("action: tools/call, name: x, expect: allow, rule: token"), "allows nothing"),
        (case("action: tools/call, name: x, expect: deny, server: writers"), "has no server `writers`"),
        ("cases: [{ action: tools/call, name: x, expect: deny }]\n".to_owned(), "no gateway.yaml is named"),
        (case("action: tools/call, name: x, name: y, expect: deny"), "cases.yaml:3"),
    ];
    for (text, expected) in files {
        let (code, out, err) = policy(&folder(&text), &["test", "cases.yaml"]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{text}\n{err}");
        assert!(err.contains(expected) && err.contains("\n  try: "), "no {expected:?} in {err}\n{text}");
    }
    let folder = folder(CASES);
    for (wrong, expected) in [
        ("upstreams: {}\naccess: [{ effect: allow, when: 'claims.team = 1' }]\n", "wrong.yaml:2:"),
        ("access: [{ effect: maybe }]\n", "wrong.yaml:1:"),
        ("acess: []\n", "the key `acess` is unknown here"),
    ] {
        std::fs::write(folder.path().join("wrong.yaml"), wrong).expect("a file");
        let (code, out, err) = policy(&folder, &["test", "cases.yaml", "--config", "wrong.yaml"]);
        assert!(code == Some(2) && out.is_empty() && err.contains(expected), "no {expected:?} in {err}");
    }
    let (code, _, err) = policy(&folder, &["test", "nothing.yaml"]);
    assert!(code == Some(2) && err.contains("nothing.yaml"), "{err}");
}

#[test]
fn explain_shows_every_rule_and_the_value_of_its_condition() {
    let request = ["--config", "gateway.yaml", "--action", "tools/call", "--name", "read_file"];
    let claims = ["--claims", r#"{"team":"data","scope":"mcp"}"#, "--arguments", r#"{"path":"/etc"}"#];
    let (code, out, err) = policy(&folder(CASES), &[&["explain"], &request[..], &claims[..]].concat());
    let expected = r#"request:  tools/call read_file, server default, with a token
decision: deny: no rule fits

rule 1 (gateway.yaml:14) deny: does not fit
  is for tools *delete*: not this item

rule 2 (gateway.yaml:16) allow: does not fit
  is for tools read_*: this item
  when claims.team == "data" && arguments.path.startsWith("/data/")
    is false

rule 3 (gateway.yaml:19) allow: does not fit
  is for resources file:///data/*: not this item

rule 4 (gateway.yaml:22) allow: does not fit
  is for every item: this item
  when server == "readers" && annotations.readOnlyHint && arguments.n < 3
    is false
"#;
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), expected, ""));
    let claims = ["--claims", r#"{"scope":"mcp"}"#, "--json"];
    let (_, out, _) = policy(&folder(CASES), &[&["explain"], &request[..], &claims[..]].concat());
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&report["decision"], &report["rule"]), (&"deny".into(), &"none".into()));
    let rule = &report["rules"][1];
    assert_eq!((&rule["outcome"], &rule["fits"]), (&"condition-failed".into(), &false.into()), "{report:#}");
    assert!(rule["error"].as_str().is_some_and(|error| error.contains("No such key")), "{rule}");
}

#[test]
fn explain_takes_the_first_case_that_is_not_as_expected() {
    let cases = CASES.replace("expect: deny, rule: 1 }", "expect: allow }");
    let (code, out, _) = policy(&folder(&cases), &["explain", "cases.yaml"]);
    assert!(code == Some(0) && out.starts_with("case:     tools/call delete_file – cases.yaml:20\n"), "{out}");
    assert!(out.contains("rule 1 (gateway.yaml:14) deny: fits – decides"), "{out}");
    let (code, out, _) = policy(&folder(CASES), &["explain", "cases.yaml", "--case", "2"]);
    assert!(code == Some(0) && out.contains("some arguments may allow it"), "{out}");
    for arguments in [&["explain", "cases.yaml"][..], &["explain", "cases.yaml", "--case", "11"], &["explain"]] {
        let (code, out, err) = policy(&folder(CASES), arguments);
        assert!(code == Some(2) && out.is_empty() && !err.is_empty(), "{arguments:?}: {err}");
    }
    let twice = ["--config", "gateway.yaml", "--action", "tools/call", "--name", "x", "--claims", r#"{"a":1,"a":2}"#];
    let (code, _, err) = policy(&folder(CASES), &[&["explain"], &twice[..]].concat());
    assert!(code == Some(2) && err.contains("stands twice"), "{err}");
}

/// The example of the page is a good file, and the schema that editors use takes it.
#[test]
fn the_page_shows_cases_that_pass() {
    let page = include_str!("../../../../../docs/gateway-policy.md");
    let example = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let (code, out, err) = policy(&folder(example), &["test", "cases.yaml"]);
    assert!(code == Some(0) && out.starts_with("3 cases: 3 as expected, 0 not\n"), "{out}{err}");
}

/// Neither command asks the policy decision point, and both say so.
#[test]
fn a_decision_point_is_shown_and_not_asked() {
    let folder = folder(CASES);
    let point = "authzen: { url: 'https://pdp.example', headers: { A: { from_env: A_VARIABLE_THAT_IS_NOT_SET } }, \
                 claims: { team: team }, arguments: [path] }\n";
    std::fs::write(folder.path().join("gateway.yaml"), format!("{GATEWAY}{point}")).expect("a file");
    let note = "`authzen`: https://pdp.example/ must allow, too. It is not asked here: an allowed request may still be denied\n";
    let (code, out, err) = policy(&folder, &["test", "cases.yaml"]);
    assert_eq!((code, out, err.as_str()), (Some(0), format!("10 cases: 10 as expected, 0 not\n{note}"), ""));
    let (_, out, _) = policy(&folder, &["test", "cases.yaml", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&out).expect("JSON")["authzen_asked"], false);
    let claims = r#"{"sub":"ann","team":"data","scope":"mcp"}"#;
    let request = [
        "explain",
        "--config",
        "gateway.yaml",
        "--action",
        "tools/call",
        "--name",
        "read_file",
        "--claims",
        claims,
        "--json",
    ];
    let asked = |arguments: &str| {
        let (_, out, err) = policy(&folder, &[&request[..], &["--arguments", arguments]].concat());
        serde_json::from_str::<Value>(&out).unwrap_or_else(|_| panic!("no JSON: {out}{err}"))["authzen"].take()
    };
    let question = serde_json::json!({
        "subject": { "type": "user", "id": "ann", "properties": { "scopes": ["mcp"], "team": "data" } },
        "action": { "name": "tools/call" },
        "context": { "arguments": { "path": "/data/x" } },
        "resource": { "type": "tool", "id": "read_file", "properties": { "server": "default" } },
    });
    let shown = asked(r#"{"path":"/data/x","other":1}"#);
    assert_eq!(shown, serde_json::json!({ "url": "https://pdp.example/", "asked": false, "question": question }));
    assert_eq!(asked(r#"{"path":"/etc"}"#)["question"], Value::Null, "the rules deny it");
    let (_, out, _) = policy(&folder, &["explain", "cases.yaml", "--case", "4"]);
    assert!(out.contains(note) && out.contains("the gateway asks nothing: this is denied without it"), "{out}");
}
