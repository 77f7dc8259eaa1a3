//! Catalogues that are read from a file, as a client sees them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use net::server::stdio::Limits;
use reference::catalogue::Catalogue;
use reference::{Options, Server};
use serde_json::{Value, json};
use wire::revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};
use wire::{Era, Revision};

use crate::line_client::{LineClient, client_capabilities};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/examples/weather.yaml")
}

async fn talk(catalogue: Catalogue, revision: Revision) -> LineClient {
    let server = Server::new(Options { catalogue: Arc::new(catalogue), ..Options::default() });
    let mut talk = LineClient::with(server, revision, Limits::default());
    if revision.era() == Era::Legacy {
        talk.shake_hands(client_capabilities()).await;
    }
    talk
}

/// A server of what `entries` add to the least that there is.
pub(crate) async fn serving(entries: &str, revision: Revision) -> LineClient {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalogue.yaml");
    std::fs::write(&path, format!("name: x\nversion: '1'\n{entries}")).unwrap();
    talk(Catalogue::load(&path).unwrap_or_else(|faults| panic!("{faults}")), revision).await
}

#[tokio::test]
async fn the_example_answers_at_every_revision() {
    for revision in Revision::ALL {
        let mut talk = talk(Catalogue::load(&example()).unwrap(), revision).await;
        let tools = talk.result("tools/list", json!({})).await["tools"].take();
        assert_eq!(tools[0].get("outputSchema").is_some(), revision.at_least(R2025_06_18));

        let said = talk.call("get_weather", json!({ "city": "Lima", "units": "fahrenheit" })).await;
        let expected = json!({ "city": "Lima", "degrees": 68, "units": "fahrenheit" });
        let text = said["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), expected);
        let structured = said.get("structuredContent");
        assert_eq!(structured, Some(&expected).filter(|_| revision.at_least(R2025_06_18)));

        let said = talk.call("get_weather", json!({ "city": "Atlantis" })).await;
        assert_eq!(said["isError"], true);
        assert_eq!(said["content"][0]["text"], "Atlantis has sunk: ask for a city above the sea");

        let read = talk.result("resources/read", json!({ "uri": "weather://city/Bogot%C3%A1" })).await;
        assert_eq!(read["contents"][0]["text"], "Bogotá: 20 degrees, some clouds\n");

        let prompt = json!({ "name": "plan_trip", "arguments": { "city": "Oslo" } });
        let said = talk.result("prompts/get", prompt).await;
        assert_eq!(said["messages"][0]["content"]["text"], "Plan a trip to Oslo in summer.");

        let complete = json!({ "ref": { "type": "ref/resource", "uri": "weather://city/{city}" },
            "argument": { "name": "city", "value": "o" } });
        let said = talk.result("completion/complete", complete).await;
        assert_eq!(said["completion"]["values"], json!(["Oslo", "Ouagadougou"]));
    }
}

#[tokio::test]
async fn what_comes_before_an_answer_comes_in_order() {
    for revision in [R2024_11_05, R2025_11_25, R2026_07_28] {
        let mut talk = talk(Catalogue::load(&example()).unwrap(), revision).await;
        let params = json!({ "name": "forecast", "arguments": { "city": "Lima" }, "_meta": { "progressToken": "p" } });
        let begun = Instant::now();
        let id = talk.send("tools/call", params).await;
        let said = talk.until(id).await;
        assert!(begun.elapsed() >= Duration::from_millis(50));
        let [first, second, answer] = said.as_slice() else { panic!("{said:?}") };
        assert_eq!((&first["params"]["progress"], &first["params"]["total"]), (&json!(1), &json!(2)));
        assert_eq!(second["params"]["progress"], 2);
        if revision.at_least(R2025_03_26) {
            assert_eq!(second["params"]["message"], "Reading the clouds over LIMA");
        }
        let content = &answer["result"]["content"];
        assert_eq!(content[0]["text"], "The next 3 days in Lima: much the same.");
        assert_eq!(content[1]["resource"]["text"], "city,metres\nOslo,94\nLima,154\n");
        assert_eq!(content[2]["mimeType"], "image/png");

        if revision.era() == Era::Legacy {
            talk.result("logging/setLevel", json!({ "level": "info" })).await;
            let id = talk.send("tools/call", json!({ "name": "get_weather", "arguments": { "city": "Lima" } })).await;
            let said = talk.until(id).await;
            assert_eq!(said[0]["params"]["data"], "Looking at Lima");
            assert_eq!(said.len(), 2);
        }
    }
}

#[tokio::test]
async fn answers_take_turns() {
    let mut talk = talk(Catalogue::load(&example()).unwrap(), R2025_11_25).await;
    let mut said = Vec::new();
    for _ in 0..4 {
        said.push(talk.call("toss", json!({})).await["content"][0]["text"].take());
    }
    assert_eq!(said, ["Take one.", "Leave it.", "Take one.", "Leave it."]);
}

const ODD: &str = r#"
tools:
  - name: odd
    description: d
    inputSchema: { type: object, additionalProperties: true }
    outputSchema: { type: object, properties: { n: { type: integer } }, required: [n] }
    answers:
      - when: { of: { kind: rpc } }
        error: { code: -32050, message: "no {{ arguments.of.kind }}", data: { all: "{{ arguments }}" } }
      - when: { n: 1 }
        structuredContent: { n: "{{ arguments.m }}" }
      - when: { n: 2 }
        isError: true
        text: "{{ arguments.long }}{{ arguments.long }}{{ arguments.long }}"
  - name: sound
    description: d
    answers: [{ content: [{ audio: { data: aGk=, mimeType: audio/wav } }] }]
  - name: link
    description: d
    inputSchema: { type: object, properties: { a: { type: string } } }
    answers:
      - content: [{ link: { uri: "x:{{ arguments.a }}", name: n } }, { link: { uri: "x:slow" } }]
resources:
  - { uri: "x:slow", name: slow, text: hi, delay: 80ms }
  - { uri: "x:gone", name: gone, error: { code: -32002, message: gone, data: 1 } }
templates:
  - { uriTemplate: "x:gone/{a}", name: gone, error: { code: -32051, message: gone too } }
prompts:
  - { name: refused, description: d, error: { code: -32052, message: not today } }
"#;

#[tokio::test]
async fn errors_are_those_of_the_file() {
    let mut talk = serving(ODD, R2025_11_25).await;
    let odd = |arguments: Value| json!({ "name": "odd", "arguments": arguments });
    let error = talk.error("tools/call", odd(json!({ "of": { "kind": "rpc", "more": 1 } }))).await;
    let all = json!({ "of": { "kind": "rpc", "more": 1 } });
    assert_eq!(error, json!({ "code": -32050, "message": "no rpc", "data": { "all": all } }));
    let error = talk.error("resources/read", json!({ "uri": "x:gone" })).await;
    assert_eq!(error, json!({ "code": -32002, "message": "gone", "data": 1 }));
    assert_eq!(talk.error("resources/read", json!({ "uri": "x:gone/b" })).await["code"], -32051);
    assert_eq!(talk.error("prompts/get", json!({ "name": "refused" })).await["message"], "not today");

    // What no answer is for is said to the model.
    assert_eq!(talk.result("tools/call", odd(json!({ "n": 3 }))).await["isError"], true);
    // 1.0 is 1. What arguments make of an answer is still held against its schema.
    let fits = talk.result("tools/call", odd(json!({ "n": 1.0, "m": 5 }))).await;
    assert_eq!(fits["structuredContent"], json!({ "n": 5 }));
    let error = talk.error("tools/call", odd(json!({ "n": 1, "m": "five" }))).await;
    assert_eq!(error["code"], -32603);
    let long = json!({ "n": 2, "long": "x".repeat(500_000) });
    assert_eq!(talk.error("tools/call", odd(long)).await["code"], -32603);
}

#[tokio::test]
async fn reading_takes_its_time() {
    let mut talk = serving(ODD, R2026_07_28).await;
    let begun = Instant::now();
    let slow = talk.send("resources/read", json!({ "uri": "x:slow" })).await;
    let fast = talk.send("tools/list", json!({})).await;
    assert_eq!(talk.until(fast).await.len(), 1, "others need not wait");
    assert_eq!(talk.until(slow).await[0]["result"]["contents"][0]["text"], "hi");
    assert!(begun.elapsed() >= Duration::from_millis(80));
}

#[tokio::test]
async fn older_revisions_see_what_they_can_read() {
    for (revision, expected) in [
        (R2024_11_05, &["odd"][..]),
        (R2025_03_26, &["odd", "sound"]),
        (R2025_06_18, &["odd", "sound", "link"]),
        (R2026_07_28, &["odd", "sound", "link"]),
    ] {
        let mut talk = serving(ODD, revision).await;
        let list = talk.result("tools/list", json!({})).await["tools"].take();
        let names: Vec<&str> = list.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, expected);
        if names.contains(&"link") {
            let said = talk.call("link", json!({ "a": "b c" })).await["content"].take();
            assert_eq!(said[0], json!({ "type": "resource_link", "uri": "x:b%20c", "name": "n" }));
            assert_eq!((&said[1]["uri"], &said[1]["name"]), (&json!("x:slow"), &json!("slow")));
        }
    }
}
