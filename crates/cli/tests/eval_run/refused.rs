//! What goes wrong: refusals, redirects, broken streams, budgets, and command lines.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::fake::{Fake, Reply, events, streamed, whole};
use super::{CASES, ends_with, folder, proof, recorded, reply, run};

const ONE: &str = "cases:\n  - { name: a, prompt: hi, call: sum, arguments: { a: 1, b: 2 } }\n";

fn sum() -> [(&'static str, &'static str, Value); 1] {
    [("c1", "sum", json!({ "a": 1, "b": 2 }))]
}

#[test]
fn what_may_pass_is_tried_again_as_the_endpoint_asks() {
    let error = || json!({ "error": { "message": "slow down" } });
    let fake = Fake::start(move |_, number| match number {
        0 => Reply::Refusal(429, "Retry-After: 1", error()),
        1 => Reply::Refusal(529, "", error()),
        2 => reply("chat", false, &sum()),
        _ => reply("chat", false, &[]),
    });
    let (folder, begun) = (folder(ONE), Instant::now());
    ends_with(0, &run(folder.path(), &fake.url, "chat", &[]));
    assert_eq!(fake.asked().len(), 4);
    assert!(begun.elapsed() >= Duration::from_millis(1500), "1 s as asked for, then at least half of 1 s");

    let fake = Fake::start(move |_, _| Reply::Refusal(503, "Retry-After: 86400", error()));
    let folder = super::folder(ONE);
    let shown = ends_with(3, &run(folder.path(), &fake.url, "chat", &[]));
    assert!(shown.contains("no answer in 1 attempt") && shown.contains("HTTP 503: slow down"), "{shown}");
    assert_eq!(fake.asked().len(), 1, "a day is too long");
}

#[test]
fn a_refusal_that_concerns_all_ends_the_run() {
    for (status, hint) in [(401, "--key-env"), (404, "--model")] {
        let refusal =
            move || Reply::Refusal(status, "", json!({ "error": { "message": format!("no: {}", super::KEY) } }));
        let fake = Fake::start(move |_, _| refusal());
        let folder = folder(ONE);
        let shown = ends_with(3, &run(folder.path(), &fake.url, "chat", &["--samples", "9", "--jobs", "1"]));
        assert!(
            shown.contains(&format!("HTTP {status}")) && shown.contains(hint) && !shown.contains(super::KEY),
            "{shown}"
        );
        assert_eq!(fake.asked().len(), 1);
    }
    let folder = folder(ONE);
    let gone = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let shown = ends_with(3, &run(folder.path(), &format!("http://{gone}/v1"), "chat", &["--retries", "0"]));
    assert!(shown.contains("cannot be reached") && shown.matches("try:").count() == 2, "{shown}");
}

#[test]
fn an_endpoint_that_never_answers_is_no_wrong_answer() {
    let error = || json!({ "error": { "message": "overloaded" } });
    let two = "cases:\n  - { name: a, prompt: hi, abstain: true }\n  - { name: b, prompt: ho, abstain: true }\n";
    for score in ["0", "100"] {
        let fake = Fake::start(move |_, _| Reply::Refusal(500, "", error()));
        let folder = folder(two);
        let more = ["--retries", "0", "--min-score", score];
        let ran = run(folder.path(), &fake.url, "chat", &more);
        assert!(ran.stdout.is_empty(), "no report of what was not measured");
        let shown = ends_with(3, &ran);
        let line = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(line.contains("no answer in 2 attempts") && line.contains("HTTP 500: overloaded"), "{shown}");
        assert!(
            line.contains(&fake.url) && line.contains("try: go on later") && line.contains("--resume eval-run.jsonl"),
            "{shown}"
        );
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        let offline = ["eval", "run", "cases.yaml", "--offline", "eval-run.jsonl", "--min-score", score];
        assert!(ends_with(3, &proof(folder.path(), &offline)).contains("nothing was measured"));
    }
    // One of two is answered: the other counts as wrong.
    let fake = Fake::start(move |asked, _| {
        if asked.body["messages"][0]["content"] == "hi" {
            reply("chat", false, &[])
        } else {
            Reply::Refusal(500, "", error())
        }
    });
    let folder = folder(two);
    let shown = ends_with(1, &run(folder.path(), &fake.url, "chat", &["--retries", "0"]));
    assert!(shown.contains("FAIL  b  no answer") && shown.contains("1 of 2 answers correct"), "{shown}");
    ends_with(
        0,
        &proof(folder.path(), &["eval", "run", "cases.yaml", "--offline", "eval-run.jsonl", "--min-score", "50"]),
    );
}

#[test]
fn a_recording_that_exists_is_noticed_before_the_server_starts() {
    let fake = Fake::start(|_, _| reply("chat", false, &[]));
    for (more, what) in [(&[][..], "eval-run.jsonl exists"), (&["--resume", "cases.yaml"], "not a recording")] {
        let folder = folder(ONE);
        std::fs::write(folder.path().join("eval-run.jsonl"), "").expect("a file");
        let mut command = std::process::Command::new(super::PROOF);
        let at = ["eval", "run", "cases.yaml", "--endpoint", &fake.url, "--api", "chat", "--model", "m"];
        command.current_dir(folder.path()).args(at).args(more).args(["--", "sh", "-c", "touch started; cat"]);
        let shown = ends_with(2, &command.output().expect("the binary runs"));
        assert!(shown.contains(what) && !folder.path().join("started").exists(), "{shown}");
    }
}

#[test]
fn a_key_in_the_endpoints_query_is_recorded_and_reported_nowhere() {
    // Under a usual name, under an unusual one with an escape, and without a name. The version is no key.
    for (query, secrets) in [
        ("key=QSECRETQ-alpha&api-version=2026-01-31", &["QSECRETQ"][..]),
        ("x=wonder%20landish-words", &["wonder landish", "wonder%20landish"]),
        ("plainpassphrase", &["plainpassphrase"]),
    ] {
        let said = query.replace("%20", " ");
        let fake =
            Fake::start(move |_, _| Reply::Refusal(400, "", json!({ "error": { "message": format!("bad {said}") } })));
        let folder = folder(ONE);
        let shown = ends_with(3, &run(folder.path(), &format!("{}?{query}", fake.url), "chat", &[]));
        let recorded = std::fs::read_to_string(folder.path().join("eval-run.jsonl")).expect("a recording");
        assert!(fake.asked()[0].path.ends_with(&format!("?{query}")), "{:?}", fake.asked());
        assert!(
            shown.replace('\n', " ").contains("HTTP 400: bad") && recorded.contains("HTTP 400: bad"),
            "{shown} {recorded}"
        );
        assert_eq!(recorded.contains("2026-01-31"), query.contains("2026-01-31"), "{recorded}");
        for secret in secrets {
            assert!(!shown.contains(secret) && !recorded.contains(secret), "{shown} {recorded}");
        }
    }
}

#[test]
fn answers_of_very_many_values_end_in_a_clear_error() {
    for is_streamed in [false, true] {
        let fake = Fake::start(move |_, _| {
            let junk = vec![json!({ "": 0 }); 150_000];
            let message = json!({ "role": "assistant", "content": "x", "junk": junk });
            if is_streamed {
                let chunk = json!({ "choices": [{ "index": 0, "delta": message, "finish_reason": "stop" }] });
                Reply::Events(events(&[chunk]))
            } else {
                Reply::Json(json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] }))
            }
        });
        let (folder, stream) = (folder(ONE), if is_streamed { &["--stream"][..] } else { &[] });
        let shown = ends_with(3, &run(folder.path(), &fake.url, "chat", stream));
        assert!(shown.contains("no answer"), "{shown}");
        let end = &recorded(folder.path(), "end")[0];
        assert_eq!(end["error"], "the answer has more than 200000 values", "{end}");
    }
}

#[test]
fn redirects_do_not_get_the_key() {
    let thief = Fake::start(|_, _| reply("chat", false, &[]));
    let location: &'static str = Box::leak(format!("Location: {}/chat/completions", thief.url).into_boxed_str());
    for status in [301, 302, 303, 307, 308] {
        let fake = Fake::start(move |_, _| Reply::Refusal(status, location, Value::Null));
        let folder = folder(ONE);
        let shown = ends_with(3, &run(folder.path(), &fake.url, "chat", &[]));
        assert!(shown.contains("redirects"), "{shown}");
    }
    assert_eq!(thief.asked().len(), 0);
}

#[test]
fn broken_streams_end_in_a_clear_error() {
    let cut = |api: &'static str| {
        let bytes = streamed(api, &sum());
        bytes[..bytes.len() * 2 / 3].to_vec()
    };
    let error = |event: Value| [streamed("chat", &sum())[..60].to_vec(), b"\n\n".to_vec(), events(&[event])].concat();
    let no_end = |end: &[u8]| {
        let bytes = streamed("messages", &sum());
        bytes[..bytes.len() - end.len()].to_vec()
    };
    let broken: Vec<(&'static str, Vec<u8>, &str)> = vec![
        ("responses", cut("responses"), "before `response.completed`"),
        ("chat", cut("chat"), "before a `finish_reason`"),
        ("messages", cut("messages"), "before `message_stop`"),
        ("messages", no_end(b"data: {\"type\":\"message_stop\"}\n\n"), "before `message_stop`"),
        (
            "responses",
            events(&[json!({ "type": "error", "message": "overloaded" })]),
            "an error in the stream: overloaded",
        ),
        ("messages", events(&[json!({ "type": "error", "error": { "message": "overloaded" } })]), "overloaded"),
        ("chat", error(json!({ "error": { "message": "overloaded" } })), "not JSON"),
        ("chat", b"data: Sorry, no.\n\n".to_vec(), "an event of the stream is not JSON"),
        ("chat", Vec::new(), "no event of a known stream"),
    ];
    for (api, bytes, why) in broken {
        let fake = Fake::start(move |_, _| Reply::Events(bytes.clone()));
        let folder = folder(ONE);
        let shown = ends_with(3, &run(folder.path(), &fake.url, api, &["--stream"]));
        let end = &recorded(folder.path(), "end")[0];
        assert!(end["error"].as_str().is_some_and(|error| error.contains(why)), "{api} {why}: {end}");
        assert!(shown.contains("no answer in 1 attempt") && shown.contains("try: "), "{shown}");
    }
}

#[test]
fn a_call_that_cannot_be_read_is_malformed_and_not_made() {
    let fake = Fake::start(|_, _| {
        let mut answer = whole("chat", &sum());
        answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = json!("Sure: {\"a\": 1}");
        Reply::Json(answer)
    });
    let folder = folder(ONE);
    let shown = ends_with(1, &run(folder.path(), &fake.url, "chat", &[]));
    assert!(shown.contains("FAIL  a  malformed"), "{shown}");
    assert_eq!((fake.asked().len(), recorded(folder.path(), "results").len()), (1, 0));
}

#[test]
fn budgets_stop_a_run_before_the_next_request() {
    let endless = || Fake::start(|_, _| reply("chat", false, &sum()));
    // Each answer has 110 tokens: 100 read for 1 dollar a million, 10 written for 10.
    for (limit, most) in [(&["--max-tokens", "300"][..], 3), (&["--max-cost", "0.0005", "--price", "1,10"], 3)] {
        for jobs in ["1", "8"] {
            let (folder, fake) = (folder(CASES), endless());
            let more = [limit, &["--samples", "20", "--jobs", jobs]].concat();
            let shown = ends_with(1, &run(folder.path(), &fake.url, "chat", &more));
            assert!(
                shown.contains("error: the budget is used up")
                    && shown.contains("--resume eval-run.jsonl")
                    && shown.contains("\nfailed: "),
                "{shown}"
            );
            assert_eq!(fake.asked().len(), most, "{limit:?} {jobs}");
        }
    }
    let fake = Fake::start(|_, _| {
        let mut answer = whole("chat", &sum());
        answer["usage"] = Value::Null;
        Reply::Json(answer)
    });
    let folder = folder(CASES);
    let shown = ends_with(1, &run(folder.path(), &fake.url, "chat", &["--max-tokens", "1000"]));
    assert!(shown.contains("does not say how many tokens") && fake.asked().len() == 1, "{shown}");
}

#[test]
fn an_endpoint_that_says_nothing_is_not_waited_for() {
    let fake = Fake::start(|_, _| Reply::Silence(Duration::from_secs(5)));
    let folder = folder(ONE);
    let shown = ends_with(3, &run(folder.path(), &fake.url, "chat", &["--answer-timeout", "0.2"]));
    assert!(shown.contains("no answer within 0.2 s"), "{shown}");
}

#[test]
fn a_server_that_dies_is_not_the_models_fault() {
    let fake = Fake::start(|_, number| {
        let call = ("c1", "slow", json!({ "steps": 100, "delay_ms": 1000 }));
        reply("chat", false, if number == 0 { std::slice::from_ref(&call) } else { &[] })
    });
    let folder = folder("cases:\n  - { name: a, prompt: hi, call: slow, arguments: { steps: 100, delay_ms: 1000 } }\n");
    let shown = ends_with(3, &run(folder.path(), &fake.url, "chat", &["--timeout", "1"]));
    let line = shown.replace('\n', " ");
    assert!(line.contains("no answer") && line.contains("the server did not answer a call of `slow`"), "{shown}");
}

#[test]
fn command_lines_that_are_wrong_say_so_before_anything_is_sent() {
    let fake = Fake::start(|_, _| reply("chat", false, &[]));
    let folder = folder(ONE);
    std::fs::write(folder.path().join("bare.yaml"), "cases:\n  - { name: a, call: sum }\n").expect("a file");
    let wrong: [(&[&str], &str); 8] = [
        (&["--set", "messages=[]"], "proof sets this member itself"),
        (&["--tool-choice", "tool:none_such"], "there is no tool `none_such`"),
        (&["--tool-choice", "perhaps"], "invalid --tool-choice"),
        (&["--max-cost", "1"], "--max-cost needs prices"),
        (&["--price", "1"], "expected IN,OUT"),
        (&["--filter", "zzz"], "no case is selected"),
        (&["--record", "cases.yaml"], "cases.yaml exists"),
        (&["--resume", "cases.yaml"], "not a recording"),
    ];
    for (more, what) in wrong {
        let shown = ends_with(2, &run(folder.path(), &fake.url, "chat", more));
        assert!(shown.contains(what) && shown.contains("try:"), "{more:?}: {shown}");
    }
    for (url, what) in [
        ("http://192.0.2.1/v1", "no TLS"),
        ("http://user:hunter2pw@127.0.0.1/v1", "holds a password"),
        ("ftp://127.0.0.1/v1", "not an http(s):// URL"),
    ] {
        let shown = ends_with(2, &run(folder.path(), url, "chat", &[]));
        assert!(shown.contains(what) && !shown.contains("hunter2pw"), "{url}: {shown}");
    }
    let bare = [
        "eval",
        "run",
        "bare.yaml",
        "--endpoint",
        &fake.url,
        "--api",
        "chat",
        "--model",
        "m",
        "--key-env",
        "NOT_SET_KEY",
    ];
    assert!(ends_with(2, &proof(folder.path(), &bare)).contains("the case a has no prompt"));
    assert!(
        ends_with(2, &proof(folder.path(), &[&bare[..2], &["cases.yaml"], &bare[3..]].concat()))
            .contains("NOT_SET_KEY is not set")
    );
    assert_eq!(fake.asked().len(), 0);
}
