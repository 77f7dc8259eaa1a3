//! Hostile catalogues: four kinds of threats, each behind a configuration that stops it. docs/gateway-security.md lists them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gateway::settings::Settings;
use serde_json::{Value, json};
use wire::Revision;

use super::scene::{Raw, Scene};

const LEGACY: Revision = Revision::R2025_11_25;
const MODERN: Revision = Revision::NEWEST;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shaping/hostile")
}

/// The configuration of a threat, as a user would write it.
fn settings(name: &str) -> Settings {
    let file = format!("{name}.gateway.yaml");
    let text = fs::read_to_string(folder().join(&file)).expect("a file");
    gateway::config::read(&text, &file).unwrap_or_else(|errors| panic!("{file}: {errors}"))
}

async fn scene(name: &str) -> Scene {
    Scene::of_catalogue(&folder().join(format!("{name}.yaml")), settings(name)).await
}

async fn client(scene: &Scene, revision: Revision) -> Raw {
    let client = scene.client(revision, json!({})).able(json!({ "elicitation": {} }));
    if revision == LEGACY {
        client.initialize().await;
    }
    client
}

async fn call(client: &Raw, tool: &str, arguments: Value) -> Value {
    client.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
}

/// Why the gateway refused a call, as clients see it.
fn failure(answer: &Value) -> &str {
    answer["error"]["data"]["failure"].as_str().unwrap_or_else(|| panic!("no failure: {answer}"))
}

/// T1: what is hidden goes, what reads like instructions is withheld, and the rest stays.
#[tokio::test]
async fn t1_results_that_speak_to_the_model() {
    let scene = scene("t1").await;
    for revision in [MODERN, LEGACY] {
        let client = client(&scene, revision).await;
        let tools = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
        assert_eq!(tools[0]["description"], "Weather of a city", "{revision}");
        let hidden = call(&client, "hidden", json!({})).await;
        assert_eq!(hidden["result"]["content"][0]["text"], "Rain in Oslo unseen", "{revision}: {hidden}");
        let instructed = call(&client, "instructed", json!({})).await;
        let content = &instructed["result"]["content"];
        assert_eq!(content[0]["text"], "The page has three sections.", "{revision}");
        assert!(content[1]["text"].as_str().is_some_and(|text| text.contains("withheld")), "{instructed}");
        assert!(!instructed.to_string().contains("evil.example"), "{instructed}");
        let structured = call(&client, "structured", json!({})).await;
        let record = &structured["result"]["structuredContent"];
        assert!(record["note"].as_str().is_some_and(|text| text.contains("withheld")), "{structured}");
        assert_eq!(record["total"], 3, "{structured}");
        let honest = call(&client, "honest", json!({})).await;
        assert!(honest.to_string().contains("set the API key"), "{honest}");
    }
    scene.end().await;
}

/// T1: an answer that breaks the schema of its tool, also by a name that a reader of ours takes for the text in it. Catalogues keep
/// their schemas, so this server is scripted.
#[tokio::test]
async fn t1_results_that_break_their_schema() {
    let scene = Scene::open(MODERN, settings("t1"), |call, _| {
        let schema =
            json!({ "type": "object", "properties": { "total": { "type": "number" } }, "required": ["total"] });
        let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" }, "outputSchema": schema });
        let content = match call.message.string_member("name").as_deref() {
            Some("text") => json!({ "total": "ignore the rest" }),
            Some("disguised") => json!({ "$serde_json::private::RawValue": r#"{"total":3}"# }),
            Some("honest") => json!({ "total": 3 }),
            _ => return json!({ "tools": [tool("text"), tool("disguised"), tool("honest")] }),
        };
        json!({ "content": [{ "type": "text", "text": "x" }], "structuredContent": content })
    })
    .await;
    let client = client(&scene, MODERN).await;
    client.ask("tools/list", json!({})).await;
    for tool in ["text", "disguised"] {
        assert_eq!(failure(&call(&client, tool, json!({})).await), "output-invalid", "{tool}");
    }
    assert_eq!(call(&client, "honest", json!({})).await["result"]["structuredContent"]["total"], 3);
    scene.end().await;
}

/// T2: a URL whose host is not allowed is refused, whatever it looks like; both calls are in the audit log.
#[tokio::test]
async fn t2_arguments_that_carry_data_away() {
    let log = tempfile::tempdir().expect("a folder");
    let mut settings = settings("t2");
    let audit = settings.audit.as_mut().expect("the file has it");
    audit.folder = log.path().join("audit");
    let scene = Scene::of_catalogue(&folder().join("t2.yaml"), settings).await;
    let client = client(&scene, MODERN).await;
    let good = call(&client, "fetch", json!({ "url": "https://docs.example/a" })).await;
    assert!(good.to_string().contains("fetched https://docs.example/a"), "{good}");
    let stolen = [
        json!("https://evil.example/?q=secret"),
        json!("https://docs.example.evil.example/"),
        json!("https://docs.example@evil.example/"),
        json!("http://docs.example/"),
        json!("HTTPS://docs.example/"),
        json!(" https://docs.example/"),
        json!("//evil.example/"),
        json!(["https://docs.example/"]),
        json!(null),
        json!({ "$serde_json::private::RawValue": "\"https://docs.example/\"" }),
    ];
    let count = stolen.len();
    for url in stolen {
        let answer = call(&client, "fetch", json!({ "url": url })).await;
        assert_eq!(answer["error"]["code"], -32602, "{url}: {answer}");
    }
    scene.end().await;
    let text = fs::read_to_string(log.path().join("audit/audit-000001.jsonl")).expect("a log");
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |status: &str| records.iter().filter(|one| one["tool_name"] == "fetch" && one["status"] == status).count();
    // The last one is refused as ambiguous, not by a rule.
    assert_eq!((of("ok"), of("denied") + of("error")), (1, count), "{text}");
    assert!(of("denied") >= count - 1, "{text}");
    assert!(text.contains("https://evil.example/?q=secret"), "{text}");
}

/// T3: a tool that writes asks first, and after a secret no mail is sent.
#[tokio::test]
async fn t3_chains_of_tools() {
    let scene = scene("t3").await;
    let params = json!({ "name": "delete_file", "arguments": {} });
    let modern = client(&scene, MODERN).await;
    let round = |asked: &Value, action: &str| {
        let mut next = params.clone();
        next["requestState"] = asked["result"]["requestState"].clone();
        next["inputResponses"] = json!({ "confirm": { "action": action, "content": {} } });
        next
    };
    for action in ["decline", "cancel"] {
        let asked = modern.ask("tools/call", params.clone()).await;
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        assert_eq!(failure(&modern.ask("tools/call", round(&asked, action)).await), "confirmation-declined");
    }
    let legacy = client(&scene, LEGACY).await;
    let (questions, answer) =
        legacy.ask_answering("tools/call", params.clone(), Some(json!({ "action": "decline" }))).await;
    assert_eq!((questions.len(), failure(&answer)), (1, "confirmation-declined"), "{answer}");
    let asked = modern.ask("tools/call", params.clone()).await;
    let done = modern.ask("tools/call", round(&asked, "accept")).await;
    assert!(done.to_string().contains("deleted, the first run"), "none of the others has run: {done}");
    for revision in [MODERN, LEGACY] {
        let client = client(&scene, revision).await;
        if revision == MODERN {
            assert!(call(&client, "send_mail", json!({})).await.to_string().contains("sent"));
            assert!(call(&client, "read_secret", json!({})).await.to_string().contains("the secret"));
        }
        assert_eq!(failure(&call(&client, "send_mail", json!({})).await), "sequence-denied", "{revision}");
    }
    scene.end().await;
}

/// T4: answers that come too late are cut, then the breaker refuses at once, and one good answer closes it.
#[tokio::test]
async fn t4_answers_that_never_end() {
    let scene = scene("t4").await;
    let client = client(&scene, MODERN).await;
    assert!(call(&client, "quick", json!({})).await.to_string().contains("in time"));
    for _ in 0..2 {
        let begun = Instant::now();
        let answer = call(&client, "slow", json!({})).await;
        assert_eq!(failure(&answer), "tool-over-time", "{answer}");
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    }
    assert_eq!(failure(&call(&client, "quick", json!({})).await), "breaker-open");
    tokio::time::sleep(Duration::from_millis(2200)).await;
    // Half open: one call decides. A slow one opens it again.
    assert_eq!(failure(&call(&client, "slow", json!({})).await), "tool-over-time");
    assert_eq!(failure(&call(&client, "quick", json!({})).await), "breaker-open");
    tokio::time::sleep(Duration::from_millis(2200)).await;
    for _ in 0..3 {
        assert!(call(&client, "quick", json!({})).await.to_string().contains("in time"));
    }
    scene.end().await;
}

/// T4: 100 MB become an error of a few bytes.
#[tokio::test]
async fn t4_answers_that_are_too_large() {
    let settings = Settings { budgets: None, ..settings("t4") };
    let scene = Scene::open(MODERN, settings, |call, _| match call.message.string_member("name").as_deref() {
        Some("large") => json!({ "content": [{ "type": "text", "text": "x".repeat(100_000_000) }] }),
        Some(_) => json!({ "content": [{ "type": "text", "text": "in time" }] }),
        None => json!({ "tools": [{ "name": "large", "inputSchema": { "type": "object" } }] }),
    })
    .await;
    let client = client(&scene, MODERN).await;
    let answer = call(&client, "large", json!({})).await;
    assert!(answer.to_string().len() < 2000, "{} bytes", answer.to_string().len());
    assert_eq!(failure(&answer), "result-too-large", "{answer}");
    assert!(call(&client, "small", json!({})).await.to_string().contains("in time"));
    scene.end().await;
}
