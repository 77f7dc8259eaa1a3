//! A run that was killed goes on: nothing that was recorded is asked again, and what may have been done is not repeated.

use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::fake::{Fake, Reply};
use super::{CASES, command, ends_with, folder, proof, recorded, reply, run};

/// Answers two turns, and then nothing until `is_open` says so.
fn script(number: usize) -> Reply {
    match number {
        0 => reply(
            "responses",
            false,
            &[("c1", "sum", json!({ "a": 1, "b": 2 })), ("c2", "sum", json!({ "a": 3, "b": 4 }))],
        ),
        1 => reply("responses", false, &[("c3", "echo", json!({ "message": "3 and 7" }))]),
        2 => Reply::Silence(Duration::from_mins(1)),
        _ => reply("responses", false, &[]),
    }
}

#[test]
fn a_killed_run_goes_on() {
    let (folder, fake) = (folder(CASES), Fake::start(|_, number| script(number)));
    let mut child = command(folder.path(), &fake.url, "responses", &[])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let begun = Instant::now();
    while fake.asked().len() < 3 {
        assert!(begun.elapsed() < Duration::from_mins(1), "the third request never comes");
        std::thread::sleep(Duration::from_millis(20));
    }
    // SIGKILL: nothing can be tidied up.
    child.kill().expect("a process");
    child.wait().expect("an end");
    // The line that was being written.
    let path = folder.path().join("eval-run.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("a recording");
    file.write_all(b"{\"kind\":\"answer\",\"case\":\"two").expect("room");
    let offline = ["eval", "run", "cases.yaml", "--offline", "eval-run.jsonl"];
    assert!(ends_with(1, &proof(folder.path(), &offline)).contains("1 attempt did not end"));

    let shown =
        ends_with(0, &run(folder.path(), &fake.url, "responses", &["--resume", "eval-run.jsonl", "--price", "1,10"]));
    assert!(shown.contains("1 of 1 answer correct") && shown.contains("3 answers of the model"), "{shown}");
    let asked = fake.asked();
    assert_eq!(asked.len(), 4, "only what was never answered is asked again");
    assert_eq!(asked[2].body, asked[3].body, "the conversation is the same");
    let report = |arguments: &[&str]| {
        proof(folder.path(), &[&arguments[..3], &["--format", "json"], &arguments[3..]].concat()).stdout
    };
    let again = report(&[
        "eval",
        "run",
        "cases.yaml",
        "--resume",
        "eval-run.jsonl",
        "--endpoint",
        &fake.url,
        "--api",
        "responses",
        "--model",
        "m",
        "--",
        super::PROOF,
        "serve",
        "--stdio",
    ]);
    assert!(!again.is_empty());
    assert_eq!(report(&offline), again, "the same score, with and without a connection");
    assert_eq!(fake.asked().len(), 4);
}

#[test]
fn a_call_in_doubt_is_repeated_only_if_it_reads() {
    for (tool, arguments, is_repeated) in
        [("sum", json!({ "a": 1, "b": 2 }), true), ("touch_resource", json!({ "uri": "test://counter" }), false)]
    {
        let cases = format!("cases:\n  - {{ name: a, prompt: hi, call: {tool}, others: ignore }}\n");
        let folder = folder(&cases);
        let call = ("c1", tool.to_owned(), arguments);
        let fake = Fake::start(move |_, number| {
            let calls = [(call.0, call.1.as_str(), call.2.clone())];
            reply("chat", false, if number == 0 { &calls } else { &[] })
        });
        run(folder.path(), &fake.url, "chat", &["--call", "all"]);
        // As if it had been killed while the server was at work.
        let path = folder.path().join("eval-run.jsonl");
        let text = std::fs::read_to_string(&path).expect("a recording");
        let at = text.find("{\"kind\":\"results\"").expect("results");
        std::fs::write(&path, &text[..at]).expect("room");
        run(folder.path(), &fake.url, "chat", &["--call", "all", "--resume", "eval-run.jsonl"]);
        let results = recorded(folder.path(), "results");
        let text = results[0]["results"][0]["parts"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(!text.contains("the outcome of this call is unknown"), is_repeated, "{tool}: {text}");
    }
}

#[test]
fn an_attempt_that_failed_is_tried_again_and_others_are_not() {
    let cases = "cases:\n  - { name: a, prompt: x, abstain: true }\n  - { name: b, prompt: y, abstain: true }\n";
    let fake = Fake::start(|asked, number| {
        let is_first = asked.body["messages"][0]["content"] == "x";
        let error = json!({ "error": { "message": "bad" } });
        if is_first && number < 2 { Reply::Refusal(400, "", error) } else { reply("chat", false, &[]) }
    });
    let folder = folder(cases);
    ends_with(1, &run(folder.path(), &fake.url, "chat", &[]));
    assert_eq!(fake.asked().len(), 2);
    ends_with(0, &run(folder.path(), &fake.url, "chat", &["--resume", "eval-run.jsonl"]));
    assert_eq!(fake.asked().len(), 3);
}

#[test]
fn another_run_is_not_resumed() {
    let folder = folder(CASES);
    let fake = Fake::start(|_, _| reply("chat", false, &[]));
    run(folder.path(), &fake.url, "chat", &[]);
    let before = fake.asked().len();
    let resume =
        |more: &[&str]| run(folder.path(), &fake.url, "chat", &[&["--resume", "eval-run.jsonl"], more].concat());
    let shown = ends_with(2, &resume(&["--set", "temperature=1"]));
    assert!(shown.contains("belongs to another run: `parameters` differs"), "{shown}");
    std::fs::write(folder.path().join("cases.yaml"), CASES.replace("Say both.", "Say one.")).expect("room");
    let shown = ends_with(2, &resume(&[]));
    assert!(shown.contains("the prompt of the case two sums has changed since"), "{shown}");
    assert_eq!(fake.asked().len(), before);
    let header: Value = serde_json::from_str(
        std::fs::read_to_string(folder.path().join("eval-run.jsonl")).expect("a file").lines().next().expect("a line"),
    )
    .expect("JSON");
    assert_eq!((header["format"].as_str(), header["model"].as_str()), (Some("proof.eval-run/1"), Some("m")));
}
