//! `proof generate`: what it writes passes at once, is the same each time, and fails where the server is faulty.

#[path = "shared/ran.rs"]
mod ran;
#[path = "shared/serving.rs"]
mod serving;

use std::process::Command;

use ran::{PROOF, ends_with, proof};
use serde_json::Value;
use serving::Serving;
use tempfile::TempDir;

/// A folder with `t.mcp.yaml`, made from the reference server with these options.
#[track_caller]
fn made(options: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let words =
        [&["generate", "-o", "t.mcp.yaml", "--slowest", "0.3"], options, &["--", PROOF, "serve", "--stdio"]].concat();
    let said = ends_with(0, &proof(folder.path(), &words));
    let long: Vec<&str> = said.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(said.contains("--allow-tool") && long.is_empty(), "{long:?} of {said}");
    folder
}

fn read(folder: &TempDir, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).expect("a file")
}

#[test]
fn a_generated_file_passes_twice() {
    let folder = made(&["--revision", "2025-11-25"]);
    for _ in 0..2 {
        let said = ends_with(0, &proof(folder.path(), &["test", "t.mcp.yaml"]));
        let passed: usize = said.lines().last().and_then(|line| line.split(' ').next()?.parse().ok()).expect("a count");
        assert!(passed > 150, "{said}");
    }
    let said = ends_with(0, &proof(folder.path(), &["test", "t.mcp.yaml", "--tag", "negative"]));
    let passed: usize = said.lines().last().and_then(|line| line.split(' ').next()?.parse().ok()).expect("a count");
    assert!(passed > 80, "{said}");
}

#[test]
fn the_same_seed_writes_the_same_file() {
    let one = made(&["--seed", "7"]);
    let file = read(&one, "t.mcp.yaml");
    // Nobody edited it: it may be written anew.
    let words = ["generate", "-o", "t.mcp.yaml", "--slowest", "0.3", "--seed"];
    let server = ["--", PROOF, "serve", "--stdio"];
    ends_with(0, &proof(one.path(), &[&words[..], &["7"], &server].concat()));
    assert_eq!(read(&one, "t.mcp.yaml"), file);
    ends_with(0, &proof(one.path(), &[&words[..], &["8"], &server].concat()));
    assert_ne!(read(&one, "t.mcp.yaml"), file);
}

#[test]
fn an_edited_file_is_left_alone() {
    let folder = made(&["--depth", "basic"]);
    let path = folder.path().join("t.mcp.yaml");
    let edited = read(&folder, "t.mcp.yaml").replace("echo", "Echo");
    std::fs::write(&path, &edited).unwrap();
    let words = ["generate", "--depth", "basic", "--slowest", "0.3", "-o", "t.mcp.yaml"];
    let server = ["--", PROOF, "serve", "--stdio"];
    let said = ends_with(2, &proof(folder.path(), &[&words[..], &server].concat()));
    assert!(said.contains("was edited") && said.contains("--force"), "{said}");
    assert_eq!(read(&folder, "t.mcp.yaml"), edited);
    ends_with(0, &proof(folder.path(), &[&words[..], &["--force"], &server].concat()));
    assert_ne!(read(&folder, "t.mcp.yaml"), edited);
}

/// What each does shows in what a case got: in its outcome, or in what stands in the result.
const FAULTS: &[&str] = &[
    "wrong-id",
    "truncated-json",
    "unknown-method-code",
    "unknown-tool-result",
    "unknown-tool-code",
    "inputs-unchecked",
    "invalid-input-error",
    "tool-failure-as-error",
    "tool-name-twice",
    "tool-name-long",
    "tool-list-unknown",
    "tools-by-process",
    "not-structured",
    "structured-otherwise",
    "structured-alone",
    "resource-not-found-code",
    "resource-not-found-empty",
    "blob-not-base64",
    "resource-list-unknown",
    "resources-by-process",
    "unknown-prompt-code",
    "missing-argument-code",
    "prompt-image-not-base64",
    "prompt-audio-not-base64",
    "prompt-resource-without-uri",
    "prompt-resource-untyped",
    "prompt-resource-empty",
    "prompt-list-unknown",
    "completion-of-101",
    "completion-total-less",
    "completion-of-nothing",
    "completion-incomplete-code",
    "reserved-code",
    "id-type-changed",
    "completion-of-numbers",
    "result-type-unknown",
    "error-code-text",
    "retired-code",
    "own-code-inside",
    "internal-error-code",
    "malformed-call-result",
    "any-text-read",
    "tool-name-with-space",
    "tool-names-any-case",
    "template-open",
    "resource-uri-with-space",
    "prompts-by-process",
    "listed-version-refused",
    "missing-capability-code",
    "input-schema-null",
];

#[test]
fn a_faulty_server_fails_the_file_of_the_correct_one() {
    let folder = made(&[]);
    let file = read(&folder, "t.mcp.yaml");
    ends_with(0, &proof(folder.path(), &["test", "t.mcp.yaml"]));
    for fault in FAULTS {
        let faulty = file.replace("\"--stdio\"]", &format!("\"--stdio\", \"--fault\", {fault}]"));
        assert_ne!(faulty, file);
        let name = format!("{fault}.mcp.yaml");
        std::fs::write(folder.path().join(&name), faulty).unwrap();
        let ran = proof(folder.path(), &["test", &name, "--fail-fast", "--timeout", "1", "--format", "json"]);
        ends_with(1, &ran);
        let report: Value = serde_json::from_slice(&ran.stdout).expect("one JSON document");
        assert_eq!(report["summary"]["failed"], 1, "{fault}: {report}");
    }
}

/// A server of one's own making: what it accepts against its own word is told, and kept as known.
#[test]
fn accepted_violations_of_the_schema_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["generate", "-o", "lax.mcp.yaml", "--slowest", "0.3", "--format", "json", "--"];
    let server = [PROOF, "serve", "--stdio", "--fault", "inputs-unchecked"];
    let ran = proof(folder.path(), &[&words[..], &server].concat());
    ends_with(0, &ran);
    let report: Value = serde_json::from_slice(&ran.stdout).expect("one JSON document");
    let accepted = report["summary"]["accepted"].as_u64().expect("a count");
    assert!(accepted > 10, "{}", report["summary"]);
    let file = read(&folder, "lax.mcp.yaml");
    assert_eq!(file.matches("\n    xfail: accepted").count() as u64, accepted);
    let said = ends_with(0, &proof(folder.path(), &["test", "lax.mcp.yaml"]));
    assert!(said.contains("expected"), "{said}");
    // On the server that does check they are no longer right, and say so.
    let mended = file.replace(", \"--fault\", inputs-unchecked", "");
    assert_ne!(mended, file);
    std::fs::write(folder.path().join("lax.mcp.yaml"), mended).unwrap();
    let said = ends_with(1, &proof(folder.path(), &["test", "lax.mcp.yaml", "--tag", "accepted"]));
    assert!(said.contains("remove `xfail`"), "{said}");
}

#[test]
fn tools_that_may_change_something_are_skipped_until_allowed() {
    let folder = made(&["--depth", "basic"]);
    let file = read(&folder, "t.mcp.yaml");
    assert!(file.contains("skip: \"destructive"), "{file}");
    let folder = made(&["--depth", "basic", "--allow-tool", "touch_resource"]);
    let file = read(&folder, "t.mcp.yaml");
    let about =
        |tool: &str| file.split("\n  # ").find(|part| part.starts_with(&format!("tool {tool}\n"))).map(str::to_owned);
    assert!(about("touch_resource").is_some_and(|part| !part.contains("skip:")), "{file}");
    assert!(about("toggle_tool").is_some_and(|part| part.contains("skip:")), "{file}");
}

/// The server goes on while it is asked: `fickle` fails the third time, when it is played by the rules of `proof test`.
#[test]
fn changing_values_are_matched_by_pattern_or_omitted() {
    let folder = tempfile::tempdir().expect("a folder");
    let tool = |name: &str, answers: &str| {
        format!(
            "  - name: {name}\n    description: x\n    inputSchema: {{ type: object }}\n    choose: turn\n    \
             annotations: {{ readOnlyHint: true }}\n    answers: [{answers}]\n"
        )
    };
    let turns: Vec<String> = (1..=9).map(|number| format!("{{ text: ticket {number} of 9 }}")).collect();
    let fickle = "{ text: a }, { text: a }, { text: b, isError: true }";
    let text =
        format!("name: t\nversion: '1'\ntools:\n{}{}", tool("tickets", &turns.join(", ")), tool("fickle", fickle));
    std::fs::write(folder.path().join("t.yaml"), text).unwrap();
    let served = Serving::start(
        Command::new(PROOF).args(["serve", "--http", "127.0.0.1:0", "--catalog"]).arg(folder.path().join("t.yaml")),
    );
    let ran = proof(folder.path(), &["generate", "-o", "t.mcp.yaml", "--format", "json", &served.url]);
    ends_with(0, &ran);
    let report: Value = serde_json::from_slice(&ran.stdout).expect("one JSON document");
    let case = |name: &str| report["cases"].as_array().unwrap().iter().find(|case| case["name"] == name).cloned();
    assert_eq!(case("fickle: a typical call").unwrap()["verdict"], "left", "{report}");
    assert_eq!(case("tickets: a typical call").unwrap()["verdict"], "expected", "{report}");
    let file = read(&folder, "t.mcp.yaml");
    assert!(file.contains("^ticket [0-9]+ of 9$"), "{file}");
    assert!(!file.contains("fickle: a typical call"), "{file}");
    ends_with(0, &proof(folder.path(), &["test", "t.mcp.yaml"]));
}

#[test]
fn secrets_are_left_out_and_errors_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = [
        "generate",
        "--depth",
        "basic",
        "--slowest",
        "0.3",
        "--env",
        "API_TOKEN=tr0ub4dor-and-3-more",
        "--env",
        "MODE=plain",
    ];
    let server = ["--", PROOF, "serve", "--stdio"];
    let ran = proof(folder.path(), &[&words[..], &server].concat());
    let said = ends_with(0, &ran);
    assert!(
        !said.contains("tr0ub4dor") && said.contains("Needs API_TOKEN") && said.contains("env: { MODE: plain }"),
        "{said}"
    );
    assert!(ran.stdout.starts_with(b"# proof generate "), "{said}");
    assert!(ends_with(2, &proof(folder.path(), &["generate"])).contains("no server given"));
    ends_with(3, &proof(folder.path(), &["generate", "--", "./no-such-server"]));
    std::fs::write(folder.path().join("known.json"), "[]").unwrap();
    let said = ends_with(
        2,
        &proof(folder.path(), &["generate", "--arguments", "known.json", "--", PROOF, "serve", "--stdio"]),
    );
    assert!(said.contains("known.json"), "{said}");
}

/// A server in shell whose tool shows its environment.
const SHOWS_ENVIRONMENT: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) r='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"env","version":"1"}}' ;;
    *tools/list*) r='{"tools":[{"name":"get_env","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]}' ;;
    *'"get_env"'*) r="{\"content\":[],\"structuredContent\":{\"fixed\":\"stays\",\"user\":\"$USER\",\"home\":\"$HOME\",\"log\":\"in $HOME/log\",\"zone\":\"$TZ\"}}" ;;
    *'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id"; continue ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$r"
done
"#;

/// What a server answers from its environment is no property of the server: the file holds on another machine.
#[test]
fn no_fact_about_the_machine_gets_into_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("server.sh"), SHOWS_ENVIRONMENT).expect("a file");
    let on = |machine: &str, words: &[&str]| {
        let mut command = Command::new(PROOF);
        command.args(words).current_dir(folder.path()).env("USER", format!("ada-{machine}"));
        command.env("HOME", format!("/home/ada-{machine}")).env("TZ", "UTC").output().expect("the binary runs")
    };
    let server = ["--", "sh", "server.sh"];
    ends_with(0, &on("one", &[&["generate", "-o", "t.mcp.yaml", "--depth", "basic"][..], &server].concat()));
    let file = read(&folder, "t.mcp.yaml");
    assert!(file.contains("stays") && file.contains("^in .+/log$"), "{file}");
    assert!(!file.contains("ada-one") && !file.contains("UTC"), "{file}");
    ends_with(0, &on("two", &["test", "t.mcp.yaml"]));
    // Given on purpose, it is part of the file.
    let given = [&["generate", "-o", "g.mcp.yaml", "--depth", "basic", "--env", "TZ=UTC"][..], &server].concat();
    ends_with(0, &on("one", &given));
    assert!(read(&folder, "g.mcp.yaml").matches("UTC").count() > 1, "{}", read(&folder, "g.mcp.yaml"));
}

/// The file has no token: `proof test --oauth` gets one, and without it the server refuses.
#[test]
fn a_protected_server_is_generated_from_and_tested() {
    let folder = tempfile::tempdir().expect("a folder");
    let serving = Serving::start(Command::new(PROOF).args(["serve", "--http", "0", "--auth", "dev"]));
    let options = ["generate", "-o", "t.mcp.yaml", "--depth", "basic", "--slowest", "0.3", "--oauth", &serving.url];
    ends_with(0, &proof(folder.path(), &options));
    let file = read(&folder, "t.mcp.yaml");
    assert!(file.contains("run this file with --oauth") && !file.contains("Bearer"), "{file}");
    ends_with(0, &proof(folder.path(), &["test", "--oauth", "t.mcp.yaml"]));
    ends_with(3, &proof(folder.path(), &["test", "t.mcp.yaml"]));
}
