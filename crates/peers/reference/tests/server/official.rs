//! The official catalogue: what the official suite asks for is there and answers as it expects. The suite itself needs
//! Node; these tests do not.

use std::sync::Arc;
use std::time::Duration;

use net::server::stdio::Limits;
use reference::catalogue::Catalogue;
use reference::{Options, Server};
use serde_json::{Value, json};
use wire::revision::{R2025_11_25, R2026_07_28};
use wire::{Era, Revision};

use crate::line_client::{LineClient, client_capabilities};
use crate::wire_http::Client;

fn options() -> Options {
    Options { catalogue: Arc::new(Catalogue::official()), ..Options::default() }
}

async fn talk(revision: Revision) -> LineClient {
    let mut talk = LineClient::with(Server::new(options()), revision, Limits::default());
    if revision.era() == Era::Legacy {
        talk.shake_hands(client_capabilities()).await;
    }
    talk
}

/// Arguments for the tools that want some.
fn arguments(tool: &str) -> Value {
    match tool {
        "test_sampling" => json!({ "prompt": "Test prompt for sampling" }),
        "test_elicitation" => json!({ "message": "Please provide your information" }),
        "json_schema_2020_12_tool" => json!({ "name": "Ada", "email": "ada@example.com" }),
        "greet" => json!({ "name": "Ada" }),
        "slow_compute" => json!({ "seconds": 0 }),
        "confirm_delete" => json!({ "filename": "a" }),
        _ => json!({}),
    }
}

/// What a client answers to whatever a tool of this catalogue asks.
fn answer(method: &str) -> Value {
    let content = json!({ "username": "testuser", "email": "test@example.com", "name": "Ada", "ok": true, "color": "red", "confirm": true });
    match method {
        "elicitation/create" => json!({ "action": "accept", "content": content }),
        "sampling/createMessage" => {
            json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "Paris" } })
        }
        _ => json!({ "roots": [{ "uri": "file:///test/root" }] }),
    }
}

/// Calls a tool to its end, answering what it asks; gives what preceded the result and the result.
async fn finish(talk: &mut LineClient, tool: &str) -> (Vec<Value>, Value) {
    let mut params = json!({ "name": tool, "arguments": arguments(tool), "_meta": { "progressToken": "p" } });
    let mut before = Vec::new();
    for _ in 0..4 {
        let id = talk.send("tools/call", params.clone()).await;
        let result = loop {
            let mut message = talk.next().await;
            if message["id"] == id && message.get("method").is_none() {
                break message["result"].take();
            }
            if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
                talk.write(&json!({ "jsonrpc": "2.0", "id": id, "result": answer(method) })).await;
            }
            before.push(message);
        };
        if result["resultType"] != "input_required" {
            return (before, result);
        }
        let requests = result["inputRequests"].as_object().unwrap();
        params["inputResponses"] =
            requests.iter().map(|(key, request)| (key.clone(), answer(request["method"].as_str().unwrap()))).collect();
        if let Some(state) = result.get("requestState") {
            params["requestState"] = state.clone();
        }
    }
    panic!("{tool} asks for ever");
}

#[tokio::test]
async fn every_tool_comes_to_an_end() {
    for (revision, count) in [(R2025_11_25, 23), (R2026_07_28, 35)] {
        let mut talk = talk(revision).await;
        let tools = talk.result("tools/list", json!({})).await["tools"].take();
        assert_eq!(tools[0]["name"], "test_simple_text", "the suite calls the first without arguments");
        assert_eq!(tools.as_array().unwrap().len(), count);
        for tool in tools.as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            // Two tools only run as tasks, and one gives nothing but an error: other tests have them.
            let elsewhere = ["failing_job", "test_tool_with_task", "protocol_error_job"];
            if name.starts_with("test_trigger") || elsewhere.contains(&name) {
                continue;
            }
            let (before, result) = finish(&mut talk, name).await;
            assert_eq!(result["isError"] == true, name == "test_error_handling", "{revision} {name}: {result}");
            let count = |method: &str| before.iter().filter(|message| message["method"] == method).count();
            let progress = if name == "test_tool_with_progress" { 3 } else { 0 };
            assert_eq!(count("notifications/progress"), progress, "{name}");
            if revision.era() == Era::Legacy {
                let logs = if name == "test_tool_with_logging" { 3 } else { 0 };
                assert_eq!(count("notifications/message"), logs, "{name}");
            }
        }
    }
}

#[tokio::test]
async fn prompts_and_resources_are_there() {
    for revision in [R2025_11_25, R2026_07_28] {
        let mut talk = talk(revision).await;
        let arguments = json!({ "arg1": "one", "arg2": "two" });
        let params = json!({ "name": "test_prompt_with_arguments", "arguments": arguments });
        let filled = talk.result("prompts/get", params).await["messages"][0]["content"]["text"].to_string();
        assert!(filled.contains("one") && filled.contains("two"), "{filled}");
        let arguments = json!({ "resourceUri": "test://example-resource" });
        let params = json!({ "name": "test_prompt_with_embedded_resource", "arguments": arguments });
        let embedded = talk.result("prompts/get", params).await["messages"][0]["content"].take();
        assert_eq!(embedded["resource"]["uri"], "test://example-resource");
        for (uri, mime) in [
            ("test://static-text", "text/plain"),
            ("test://static-binary", "image/png"),
            ("test://watched-resource", "text/plain"),
            ("test://template/123/data", "application/json"),
        ] {
            let contents = talk.result("resources/read", json!({ "uri": uri })).await["contents"].take();
            assert_eq!((&contents[0]["uri"], &contents[0]["mimeType"]), (&json!(uri), &json!(mime)));
        }
        talk.error("resources/read", json!({ "uri": "test://template/1/2/data" })).await;
    }
}

#[tokio::test]
async fn a_prompt_may_ask_first() {
    let mut talk = talk(R2026_07_28).await;
    let mut params = json!({ "name": "test_input_required_result_prompt" });
    let asked = talk.result("prompts/get", params.clone()).await;
    assert_eq!(asked["resultType"], "input_required");
    let answer = json!({ "action": "accept", "content": { "context": "the attic" } });
    params["inputResponses"] = json!({ "user_context": answer });
    params["requestState"] = asked["requestState"].clone();
    let done = talk.result("prompts/get", params.clone()).await;
    assert_eq!(done["messages"][0]["content"]["text"], "Use this context: the attic");
    params["requestState"] = json!(format!("{}-TAMPERED", asked["requestState"].as_str().unwrap()));
    assert_eq!(talk.error("prompts/get", params).await["code"], -32602);
}

#[tokio::test]
async fn without_a_state_an_answer_may_come_at_once_and_beside_others() {
    let mut talk = talk(R2026_07_28).await;
    let mut params = json!({ "name": "test_input_required_result_elicitation", "arguments": {} });
    let asked = talk.result("tools/call", params.clone()).await;
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(asked.get("requestState"), None);
    params["inputResponses"] = json!({ "user_name": { "action": "accept", "content": { "name": 3 } } });
    assert_eq!(talk.result("tools/call", params.clone()).await["resultType"], "input_required");
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    params["inputResponses"] = json!({ "nobody_asked": answer, "user_name": answer });
    let done = talk.result("tools/call", params.clone()).await;
    assert_eq!(done["content"][0]["text"], "Hello, Ada!");
    // It gave out no state, so this one is made up.
    params["requestState"] = json!("made up");
    assert_eq!(talk.error("tools/call", params).await["code"], -32602);
}

#[tokio::test]
async fn only_what_the_client_can_give_is_asked_for() {
    let mut talk = talk(R2026_07_28).await;
    let can = |capabilities: Value| json!({ "io.modelcontextprotocol/clientCapabilities": capabilities });
    let name = "test_input_required_result_capabilities";
    let params = json!({ "name": name, "_meta": can(json!({ "sampling": {} })) });
    let asked = talk.result("tools/call", params).await;
    let methods: Vec<_> = asked["inputRequests"].as_object().unwrap().values().map(|r| &r["method"]).collect();
    assert_eq!(methods, ["sampling/createMessage"]);

    let client = Client::serving(options()).await;
    let params = json!({ "name": "test_missing_capability", "arguments": {}, "_meta": can(json!({})) });
    let reply = client.modern("tools/call", params).await.whole().await;
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["error"]["data"]["requiredCapabilities"], json!({ "sampling": {} }));
}

#[tokio::test]
async fn a_stream_is_given_back_and_the_answer_waits() {
    let client = Client::serving(options()).await;
    let call = json!({ "name": "test_reconnection", "arguments": {} });
    let session = client.initialize("2025-11-25").await;
    for id in 1..=2 {
        let mut stream = client.ask(&session, id, "tools/call", call.clone()).await;
        let primed = stream.event().await.unwrap();
        assert_eq!(primed.data.as_deref(), Some(""));
        assert!(primed.retry.is_some());
        assert!(stream.event().await.is_none(), "the stream ends before the answer");
        // Once while the call goes on, once when it is over.
        tokio::time::sleep(Duration::from_millis(if id == 1 { 0 } else { 200 })).await;
        let last = primed.id.unwrap();
        let headers = [("Mcp-Session-Id", session.as_str()), ("Last-Event-ID", last.as_str())];
        let answer = client.open("GET", &headers, "").await.message().await.unwrap();
        assert_eq!((&answer["id"], answer.get("result").is_some()), (&json!(id), true));
    }
    // Without a priming event a client could not come back.
    let session = client.initialize("2025-06-18").await;
    let answer = client.ask(&session, 1, "tools/call", call.clone()).await.whole().await.json();
    assert!(answer.get("result").is_some());
    let modern = client.modern("tools/call", call).await.whole().await.json();
    assert_eq!(modern["result"]["resultType"], "complete");
}
