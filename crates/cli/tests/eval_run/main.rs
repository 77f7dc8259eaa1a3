//! `proof eval run`, `proof eval judge` and the simulator of `proof replay` against endpoints that a test scripts: conversations in
//! three APIs, budgets, refusals, what is recorded, and how a killed run goes on.

#[path = "../shared/ran.rs"]
mod ran;

mod fake;
mod judged;
mod refused;
mod resumed;
mod simulated;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use fake::{Asked, Fake, Reply, streamed, whole};
use ran::{PROOF, ends_with, proof};
use serde_json::{Value, json};

/// A key that must appear nowhere.
const KEY: &str = "sk-test-5b1f0c7a9e3d4286";

const CASES: &str = "\
cases:
  - name: two sums
    prompt: What is 1 + 2, and what is 3 + 4? Say both.
    calls:
      - { call: sum, arguments: { a: 1, b: 2 } }
      - { call: sum, arguments: { a: 3, b: 4 } }
      - { call: echo, arguments: { message: 3 and 7 } }
";

/// A folder with cases.
fn folder(cases: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("cases.yaml"), cases).expect("a file");
    folder
}

/// `proof eval run` with the reference server, not started yet.
fn command(folder: &Path, url: &str, api: &str, more: &[&str]) -> Command {
    let mut command = Command::new(PROOF);
    command.current_dir(folder).env("MODEL_KEY", KEY);
    command.args([
        "eval",
        "run",
        "cases.yaml",
        "--endpoint",
        url,
        "--api",
        api,
        "--model",
        "m",
        "--key-env",
        "MODEL_KEY",
    ]);
    command.args(more).args(["--", PROOF, "serve", "--stdio"]);
    command
}

fn run(folder: &Path, url: &str, api: &str, more: &[&str]) -> Output {
    command(folder, url, api, more).output().expect("the binary runs")
}

/// The lines of the recording of one kind.
fn recorded(folder: &Path, kind: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("eval-run.jsonl")).expect("a recording");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    lines.filter(|line| line["kind"] == kind).collect()
}

fn reply(api: &str, is_streamed: bool, calls: &[(&str, &str, Value)]) -> Reply {
    if is_streamed { Reply::Events(streamed(api, calls)) } else { Reply::Json(whole(api, calls)) }
}

/// Two calls at once, one more with their results, and a text.
fn dialogue(api: &'static str, is_streamed: bool) -> impl Fn(&Asked, usize) -> Reply {
    move |_, number| match number {
        0 => {
            let calls = [("c1", "sum", json!({ "a": 1, "b": 2 })), ("c2", "sum", json!({ "a": 3, "b": 4 }))];
            reply(api, is_streamed, &calls)
        }
        1 => reply(api, is_streamed, &[("c3", "echo", json!({ "message": "3 and 7" }))]),
        _ => reply(api, is_streamed, &[]),
    }
}

#[test]
fn a_conversation_in_every_api_with_and_without_streams() {
    for api in ["responses", "chat", "messages"] {
        for is_streamed in [false, true] {
            let (folder, fake) = (folder(CASES), Fake::start(dialogue(api, is_streamed)));
            let stream: &[&str] = if is_streamed { &["--stream"] } else { &[] };
            let shown = ends_with(0, &run(folder.path(), &fake.url, api, &[&["--price", "1,10,0.5"], stream].concat()));
            assert!(shown.contains("1 of 1 answer correct") && shown.contains("3 answers of the model"), "{shown}");
            // 180 fresh, 120 cached, 30 written.
            assert!(shown.contains("330 tokens      0.0005 dollars"), "{api} {is_streamed}: {shown}");
            assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
            handed_back(api, &fake.asked());
            let offline =
                proof(folder.path(), &["eval", "run", "cases.yaml", "--offline", "eval-run.jsonl", "--format", "json"]);
            ends_with(0, &offline);
            let scored = proof(folder.path(), &["eval", "score", "cases.yaml", "--calls", "eval-run.jsonl"]);
            assert!(ends_with(0, &scored).contains("1 of 1 answer correct"));
        }
    }
}

/// Every request has what was answered before, whole, and what the server returned.
fn handed_back(api: &str, asked: &[Asked]) {
    assert_eq!(asked.len(), 3);
    let last = &asked[2];
    let text = last.body.to_string();
    let (end, history) = match api {
        "responses" => ("/v1/responses", &last.body["input"]),
        "chat" => ("/v1/chat/completions", &last.body["messages"]),
        _ => ("/v1/messages", &last.body["messages"]),
    };
    assert_eq!(last.path, end);
    let (name, key) =
        if api == "messages" { ("x-api-key", KEY.to_owned()) } else { ("authorization", format!("Bearer {KEY}")) };
    assert_eq!(last.header(name), Some(key.as_str()));
    assert!(!text.contains(KEY));
    let length = history.as_array().map_or(0, Vec::len);
    let kept = match api {
        "responses" => (1 + 3 + 2 + 2 + 1, "gAAAAAB"),
        "chat" => (1 + 1 + 2 + 1 + 1, "reasoning_content"),
        _ => (1 + 2 + 2, "c2ln"),
    };
    assert_eq!(length, kept.0, "{history}");
    assert!(text.contains(kept.1) && text.contains("3 and 7"), "{text}");
    for id in ["c1", "c2", "c3"] {
        assert!(text.matches(&format!("\"{id}\"")).count() >= 2, "the call {id} and its result: {text}");
    }
}

#[test]
fn every_tool_choice_is_sent_and_judged() {
    let cases = "cases:\n  - { name: a, prompt: hi, call: sum, arguments: { a: 1, b: 2 } }\n";
    let calls = [("c1", "sum", json!({ "a": 1, "b": 2 })), ("c2", "sum", json!({ "a": 1, "b": 2 }))];
    for api in ["responses", "chat", "messages"] {
        for choice in ["auto", "required", "none", "tool:sum", "allowed:sum,echo", "allowed-required:echo"] {
            for parallel in [&[][..], &["--no-parallel"]] {
                let calls = calls.clone();
                let fake = Fake::start(move |_, number| reply(api, false, if number == 0 { &calls } else { &[] }));
                let folder = folder(cases);
                let shown =
                    ends_with(1, &run(folder.path(), &fake.url, api, &[&["--tool-choice", choice], parallel].concat()));
                let is_kept = parallel.is_empty() && !["none", "allowed-required:echo"].contains(&choice);
                assert_eq!(
                    !shown.contains("did not keep `tool_choice`"),
                    is_kept,
                    "{api} {choice} {parallel:?}: {shown}"
                );
                let sent = &fake.asked()[0].body;
                assert!(sent.get("tool_choice").is_some(), "{sent}");
                let is_off =
                    sent["parallel_tool_calls"] == false || sent["tool_choice"]["disable_parallel_tool_use"] == true;
                assert_eq!(is_off, !(parallel.is_empty() || api == "messages" && choice == "none"), "{api} {choice}");
            }
        }
    }
}

#[test]
fn tools_that_may_change_something_are_not_called() {
    let cases = "cases:\n  - { name: a, prompt: hi, call: touch_resource, arguments: { uri: x }, tags: [t] }\n";
    let script = |_: &Asked, number: usize| {
        let call = ("c1", "touch_resource", json!({ "uri": "x" }));
        reply("chat", false, if number == 0 { std::slice::from_ref(&call) } else { &[] })
    };
    let told = |fake: &Fake| fake.asked()[1].body["messages"][2]["content"].as_str().unwrap_or_default().to_owned();
    let (one, fake) = (folder(cases), Fake::start(script));
    let shown = ends_with(0, &run(one.path(), &fake.url, "chat", &[]));
    assert!(shown.contains("note: 4 of 26 tools may change something and will not be called:"), "{shown}");
    assert!(shown.contains("1 call not made, and the model was told so:\n  touch_resource"), "{shown}");
    assert!(told(&fake).starts_with("not called: this tool may change something"));
    for more in [&["--allow-tool", "touch_resource"][..], &["--call", "all"]] {
        let (one, fake) = (folder(cases), Fake::start(script));
        run(one.path(), &fake.url, "chat", more);
        assert!(!told(&fake).starts_with("not called"), "{}", told(&fake));
    }
}

#[test]
fn nulls_of_strict_schemas_do_not_reach_the_server() {
    let cases = "cases:\n  - { name: a, prompt: hi, call: get_weather, arguments: { location: Oslo } }\n";
    let fake = Fake::start(|_, number| {
        let call = ("c1", "get_weather", json!({ "location": "Oslo", "units": null }));
        reply("responses", true, if number == 0 { std::slice::from_ref(&call) } else { &[] })
    });
    let folder = folder(cases);
    ends_with(0, &run(folder.path(), &fake.url, "responses", &["--strict", "--stream"]));
    let asked = fake.asked();
    let tools = asked[0].body["tools"].as_array().expect("tools");
    let tool = tools.iter().find(|tool| tool["name"] == "get_weather").expect("the tool");
    assert_eq!((&tool["strict"], &tool["parameters"]["required"]), (&json!(true), &json!(["location", "units"])));
    assert_eq!(recorded(folder.path(), "results")[0]["results"][0]["error"], json!(false));
}

#[test]
fn without_a_server_the_first_answer_is_scored() {
    let folder = folder("tools: tools.json\ncases:\n  - { name: a, prompt: hi, call: f }\n");
    std::fs::write(folder.path().join("tools.json"), r#"{"tools":[{"name":"f","inputSchema":{"type":"object"}}]}"#)
        .expect("a file");
    let fake = Fake::start(|_, _| reply("chat", false, &[("c1", "f", json!({}))]));
    let ran =
        proof(folder.path(), &["eval", "run", "cases.yaml", "--endpoint", &fake.url, "--api", "chat", "--model", "m"]);
    assert!(ends_with(0, &ran).contains("note: no server is given"));
    assert_eq!((fake.asked().len(), fake.asked()[0].header("authorization")), (1, None));
}

#[test]
fn the_key_is_nowhere_and_secrets_of_the_server_are_concealed() {
    let cases = "cases:\n  - { name: a, prompt: hi, call: echo, arguments: { message: { matches: secret } } }\n";
    let fake = Fake::start(|_, number| {
        let message = format!("secret {KEY} ghp_0123456789abcdefghijklmnopqrstuvwxyz");
        let call = ("c1", "echo", json!({ "message": message }));
        reply("chat", false, if number == 0 { std::slice::from_ref(&call) } else { &[] })
    });
    let folder = folder(cases);
    let shown = ends_with(0, &run(folder.path(), &fake.url, "chat", &["-v"]));
    let text = std::fs::read_to_string(folder.path().join("eval-run.jsonl")).expect("a recording");
    for text in [&shown, &text] {
        assert!(!text.contains(KEY) && !text.contains("ghp_0123456789abcdef"), "{text}");
    }
    let mode = std::fs::metadata(folder.path().join("eval-run.jsonl")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o077, 0);
}

#[test]
fn a_loop_ends_at_the_limit_of_turns() {
    let fake = Fake::start(|_, _| reply("chat", false, &[("c1", "sum", json!({ "a": 1, "b": 2 }))]));
    let folder = folder(CASES);
    ends_with(1, &run(folder.path(), &fake.url, "chat", &["--max-turns", "3"]));
    assert_eq!((fake.asked().len(), recorded(folder.path(), "end")[0]["end"].as_str()), (3, Some("turns")));
}
