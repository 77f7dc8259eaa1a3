//! `proof replay --simulator-endpoint`: a model writes the free texts of simulated answers, and nothing else of them.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::fake::{Asked, Fake, Reply, whole};
use super::{KEY, PROOF};

const TAG: &str = "io.github.proofhouse/replay";
const TEXT_TAG: &str = "io.github.proofhouse/replay-text";

/// A recording with one call of each tool.
fn recording(folder: &Path) {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": { "type": "string" },
            "degrees": { "type": "integer" },
            "state": { "enum": ["wet", "dry"] },
            "summary": { "type": "string", "pattern": "^[^!]*$" },
        },
        "required": ["city", "degrees", "state", "summary"],
    });
    let forecast = json!({ "city": "Bern", "degrees": 7, "state": "wet", "summary": "Rain all day." });
    let note = json!({ "id": "n-0017", "title": "Buy some milk" });
    let tools = json!([
        { "name": "get_forecast", "description": "The weather of a city", "inputSchema": { "type": "object" }, "outputSchema": schema },
        { "name": "create_note", "inputSchema": { "type": "object" } },
        { "name": "get_note", "inputSchema": { "type": "object" } },
    ]);
    let shown = |value: &Value| json!([{ "type": "text", "text": value.to_string() }]);
    let exchanges = [
        (
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {} }),
            json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "w", "version": "1" } }),
        ),
        ("tools/list", json!({}), json!({ "tools": tools })),
        (
            "tools/call",
            json!({ "name": "get_forecast", "arguments": { "city": "Bern" } }),
            json!({ "content": shown(&forecast), "structuredContent": forecast }),
        ),
        (
            "tools/call",
            json!({ "name": "create_note", "arguments": { "about": "shopping" } }),
            json!({ "content": shown(&note) }),
        ),
        (
            "tools/call",
            json!({ "name": "get_note", "arguments": { "id": "n-0017" } }),
            json!({ "content": shown(&note) }),
        ),
    ];
    let mut lines = format!("{}\n", json!({ "trace": "proof.trace/1", "subject": "server", "transport": "stdio" }));
    for (id, (method, params, result)) in exchanges.into_iter().enumerate() {
        let question = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        for frame in [json!({ "from": "client", "line": question }), json!({ "from": "server", "line": answer })] {
            lines.push_str(&frame.to_string());
            lines.push('\n');
        }
    }
    std::fs::write(folder.join("case.jsonl"), lines).expect("a file");
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    recording(folder.path());
    folder
}

/// A replay, spoken to over stdio.
struct Replay {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u32,
    said: std::path::PathBuf,
}

impl Replay {
    fn start(folder: &Path, more: &[&str]) -> Self {
        let said = folder.join("stderr.txt");
        let stderr = File::create(&said).expect("a file");
        let mut command = Command::new(PROOF);
        command
            .current_dir(folder)
            .env("MODEL_KEY", KEY)
            .args(["replay", "case.jsonl", "--miss", "simulate"])
            .args(more);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).spawn().expect("it runs");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut replay = Self { child, stdin, stdout, next: 0, said };
        let client = json!({ "name": "test", "version": "1" });
        replay.ask("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }));
        writeln!(replay.stdin, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .expect("it reads");
        replay
    }

    /// A replay with an endpoint that speaks Chat Completions.
    fn written_by(folder: &Path, url: &str, more: &[&str]) -> Self {
        let first =
            ["--save", "--simulator-endpoint", url, "--simulator-model", "m-1", "--simulator-key-env", "MODEL_KEY"];
        Self::start(folder, &[&first, more].concat())
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        writeln!(self.stdin, "{request}").expect("it reads");
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("it answers");
        serde_json::from_str(&line)
            .unwrap_or_else(|_| panic!("{method}: {line}: {}", std::fs::read_to_string(&self.said).unwrap_or_default()))
    }

    fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.ask("tools/call", &json!({ "name": name, "arguments": arguments }))["result"].take()
    }

    fn forecast(&mut self, city: &str) -> Value {
        self.call("get_forecast", json!({ "city": city }))
    }

    /// What it said on stderr until its end.
    fn finish(mut self) -> String {
        drop(self.stdin);
        assert!(self.child.wait().expect("it ends").success());
        std::fs::read_to_string(&self.said).expect("a file")
    }
}

/// The document of a prompt.
fn document(asked: &Asked) -> Value {
    serde_json::from_str(asked.body["messages"][1]["content"].as_str().expect("a text")).expect("JSON")
}

fn says(text: &str) -> Reply {
    let mut answer = whole("chat", &[]);
    answer["choices"][0]["message"]["content"] = text.into();
    Reply::Json(answer)
}

/// How an endpoint answers.
type Script = fn(&Asked, usize) -> Reply;

/// A model that writes this in every place.
fn writes(text: &'static str) -> Fake {
    Fake::start(move |asked, _| {
        let numbers = document(asked)["texts"].as_object().expect("texts").clone();
        let texts: serde_json::Map<String, Value> =
            numbers.into_iter().map(|(number, _)| (number, json!(text))).collect();
        says(&Value::Object(texts).to_string())
    })
}

#[test]
fn a_model_writes_the_free_texts_and_the_second_run_asks_nothing() {
    let folder = folder();
    let fake = writes("Sun from noon on.");
    let mut replay = Replay::written_by(folder.path(), &fake.url, &[]);
    let answer = replay.forecast("Oslo");
    let expected = json!({ "city": "Oslo", "degrees": 7, "state": "wet", "summary": "Sun from noon on." });
    assert_eq!(answer["structuredContent"], expected, "only the summary is free: {answer}");
    let text: Value = serde_json::from_str(answer["content"][0]["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!(text, expected);
    assert_eq!((&answer["_meta"][TAG], &answer["_meta"][TEXT_TAG]), (&json!("simulated"), &json!("endpoint")));
    assert_eq!(replay.forecast("Oslo"), answer);
    let said = replay.finish();
    assert!(said.contains("1 answer of the model") && said.contains("110 tokens"), "{said}");
    let asked = fake.asked();
    assert_eq!((asked.len(), asked[0].path.as_str()), (1, "/v1/chat/completions"));
    assert_eq!(
        (asked[0].header("authorization"), &asked[0].body["model"]),
        (Some(&*format!("Bearer {KEY}")), &json!("m-1"))
    );
    let prompt = document(&asked[0]);
    assert_eq!(prompt["texts"], json!({ "1": "Rain all day." }));
    assert_eq!((&prompt["arguments"], &prompt["of"]["name"]), (&json!({ "city": "Oslo" }), &json!("get_forecast")));
    assert_eq!(prompt["recorded"][0]["answer"]["structuredContent"]["city"], "Bern");
    assert_eq!(prompt["of"]["outputSchema"]["properties"]["state"]["enum"], json!(["wet", "dry"]));

    let mut offline = Replay::start(folder.path(), &["--save"]);
    assert_eq!(offline.forecast("Oslo"), answer, "the second run needs no endpoint");
    offline.finish();
    let mut again = Replay::written_by(folder.path(), &fake.url, &["--seed", "9"]);
    assert_eq!(again.forecast("Oslo"), answer);
    assert_eq!(again.finish(), "");
    assert_eq!(fake.asked().len(), 1);
}

#[test]
fn a_key_that_the_model_repeats_is_not_shown() {
    let folder = folder();
    let fake = Fake::start(|_, _| says(&json!({ "1": format!("The key is {KEY}, is it?") }).to_string()));
    let mut replay = Replay::written_by(folder.path(), &fake.url, &[]);
    let secret = "hunter2-of-the-user";
    let answer = replay.call("get_forecast", json!({ "city": "Oslo", "password": secret }));
    assert!(
        answer["structuredContent"]["summary"].as_str().is_some_and(|text| text.starts_with("The key is ")),
        "{answer}"
    );
    let said = replay.finish();
    let kept = std::fs::read_to_string(folder.path().join("case.simulated.jsonl")).expect("a file");
    let sent = fake.asked()[0].body.to_string();
    assert!(kept.contains("The key is ") && sent.contains("Oslo"), "{kept}");
    for (place, text) in [("answer", answer.to_string()), ("stderr", said), ("file", kept), ("prompt", sent)] {
        assert!(!text.contains(KEY) && !text.contains(secret), "{place}: {text}");
    }
}

#[test]
fn what_cannot_be_used_leaves_the_simulators_texts() {
    let own = {
        let folder = folder();
        Replay::start(folder.path(), &[]).forecast("Oslo")["structuredContent"].take()
    };
    let scripts: [(&str, Script); 5] = [
        ("HTTP 500: busy", |_, _| Reply::Refusal(500, "", json!({ "error": { "message": "busy" } }))),
        ("the output schema refuses it", |_, _| says(r#"{"1": "Sun!"}"#)),
        ("it is not one JSON object", |_, _| says("Sunny, I guess")),
        ("HTTP 401: who?", |_, _| Reply::Refusal(401, "", json!({ "error": { "message": "who?" } }))),
        ("no answer within 0.3 s", |_, _| Reply::Silence(std::time::Duration::from_secs(2))),
    ];
    for (why, script) in scripts {
        let folder = folder();
        let fake = Fake::start(script);
        let mut replay = Replay::written_by(folder.path(), &fake.url, &["--simulator-timeout", "0.3"]);
        let answer = replay.forecast("Oslo");
        assert_eq!((&answer["structuredContent"], &answer["_meta"][TEXT_TAG]), (&own, &json!("simulator")), "{why}");
        assert_eq!(replay.forecast("Rome")["_meta"][TEXT_TAG], "simulator", "{why}");
        assert_eq!(fake.asked().len(), 1, "{why}: nothing is asked for a while");
        let said = replay.finish();
        let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            line.contains(why) && line.contains("try: ") && line.contains("2 simulated answers with"),
            "{why}: {said}"
        );
        let kept = std::fs::read_to_string(folder.path().join("case.simulated.jsonl")).expect("a file");
        assert_eq!(kept.lines().count(), 1, "{why}: a later run asks again: {kept}");
    }
}

#[test]
fn it_costs_no_more_than_it_may() {
    let cases: [(&[&str], usize, &str); 3] = [
        (&["--max-tokens", "150"], 2, "the budget is used up"),
        (&["--price", "1000,1000", "--max-cost", "0.1"], 1, "the budget is used up"),
        (&["--simulator-requests", "2"], 2, "as often as it may be"),
    ];
    for (more, answers, why) in cases {
        let (folder, fake) = (folder(), writes("Fog"));
        let mut replay = Replay::written_by(folder.path(), &fake.url, more);
        for (at, city) in ["Oslo", "Rome", "Lima", "Quito"].into_iter().enumerate() {
            let by = if at < answers { "endpoint" } else { "simulator" };
            assert_eq!(replay.forecast(city)["_meta"][TEXT_TAG], by, "{why}: {city}");
        }
        let said = replay.finish();
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.matches(why).count() == 1 && fake.asked().len() == answers, "{why}: {said}");
    }
}

#[test]
fn later_answers_about_an_object_keep_its_texts() {
    let (folder, fake) = (folder(), writes("Call the plumber"));
    let mut replay = Replay::written_by(folder.path(), &fake.url, &[]);
    let inner = |result: &Value| -> Value {
        serde_json::from_str(result["content"][0]["text"].as_str().expect("a text")).expect("JSON")
    };
    let created = inner(&replay.call("create_note", json!({ "about": "the house" })));
    assert_eq!((&created["title"], &created["id"]), (&json!("Call the plumber"), &json!("n-1018")));
    let read = inner(&replay.call("get_note", json!({ "id": "n-1018" })));
    assert_eq!((&read, fake.asked().len()), (&created, 1), "what was said is said again, without a question");
    replay.finish();
}

#[test]
fn options_that_miss_something_are_refused() {
    let folder = folder();
    let endpoint = ["--simulator-endpoint", "http://127.0.0.1:9/v1"];
    let with_model = [&endpoint[..], &["--simulator-model", "m"]].concat();
    let cases: [(Vec<&str>, &str); 6] = [
        ([&endpoint[..], &["--miss", "simulate", "--save"]].concat(), "--simulator-model"),
        ([&with_model[..], &["--miss", "simulate"]].concat(), "--save"),
        ([&with_model[..], &["--save"]].concat(), "--miss simulate"),
        (vec!["--miss", "simulate", "--save", "--max-tokens", "5"], "--simulator-endpoint"),
        ([&with_model[..], &["--miss", "simulate", "--save", "--max-cost", "5"]].concat(), "--price"),
        ([&with_model[..], &["--miss", "simulate", "--save", "--simulator-key-env", "NOT_SET"]].concat(), "NOT_SET"),
    ];
    for (more, named) in cases {
        let mut command = Command::new(PROOF);
        command.current_dir(folder.path()).args(["replay", "case.jsonl"]).args(&more);
        let ran = command.stdin(Stdio::null()).output().expect("it runs");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.code() == Some(2) && said.contains(named), "{more:?}: {said}");
    }
}
