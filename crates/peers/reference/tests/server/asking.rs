//! Tools that ask for more than one thing, for a whole form, or for a visit.

use serde_json::{Value, json};
use wire::revision::{R2025_06_18, R2025_11_25, R2026_07_28};

use crate::line_client::{LineClient, client_capabilities};

fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

async fn retry(talk: &mut LineClient, tool: &str, responses: Value, state: &Value) -> Value {
    let params = json!({ "name": tool, "inputResponses": responses, "requestState": state });
    talk.result("tools/call", params).await
}

#[tokio::test]
async fn two_things_are_asked_at_once_in_the_modern_era() {
    let mut talk = LineClient::start(R2026_07_28).await;
    let first = talk.call("ask_two", json!({})).await;
    let keys: Vec<_> = first["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["name", "colour"]);
    let half = json!({ "name": accept(json!({ "name": "Ada" })) });
    let again = retry(&mut talk, "ask_two", half, &first["requestState"]).await;
    assert_eq!(again["resultType"], "input_required", "one answer of two");
    let both = json!({ "name": accept(json!({ "name": "Ada" })), "colour": accept(json!({ "colour": "red" })) });
    let done = retry(&mut talk, "ask_two", both, &again["requestState"]).await;
    assert_eq!(text(&done), "This is Ada, who likes red best");
}

#[tokio::test]
async fn one_thing_after_another_keeps_the_first_answer() {
    let mut talk = LineClient::start(R2026_07_28).await;
    let first = talk.call("ask_in_turn", json!({})).await;
    let name = json!({ "name": accept(json!({ "name": "Ada" })) });
    let second = retry(&mut talk, "ask_in_turn", name, &first["requestState"]).await;
    assert_eq!(second["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["colour"]);
    assert_ne!(first["requestState"], second["requestState"]);
    let other = json!({ "colour": accept(json!({ "colour": "mauve" })) });
    let again = retry(&mut talk, "ask_in_turn", other, &second["requestState"]).await;
    assert_eq!(again["resultType"], "input_required", "a colour that was not offered");
    let colour = json!({ "colour": accept(json!({ "colour": "blue" })) });
    let done = retry(&mut talk, "ask_in_turn", colour, &again["requestState"]).await;
    assert_eq!(text(&done), "This is Ada, who likes blue best");
}

#[tokio::test]
async fn legacy_clients_are_asked_one_thing_after_another() {
    for tool in ["ask_two", "ask_in_turn"] {
        let mut talk = LineClient::start(R2025_11_25).await;
        let call = talk.send("tools/call", json!({ "name": tool })).await;
        for content in [json!({ "name": "Ada" }), json!({ "colour": "red" })] {
            let request = talk.next().await;
            talk.write(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": accept(content) })).await;
        }
        assert_eq!(text(&talk.until(call).await[0]["result"]), "This is Ada, who likes red best", "{tool}");
    }
}

#[tokio::test]
async fn the_form_has_every_kind_of_field_of_its_revision() {
    for revision in [R2025_06_18, R2025_11_25] {
        let mut talk = LineClient::start(revision).await;
        let call = talk.send("tools/call", json!({ "name": "ask_form" })).await;
        // The message is held against the official schema as it comes.
        let request = talk.next().await;
        let fields = request["params"]["requestedSchema"]["properties"].as_object().unwrap();
        let late = revision == R2025_11_25;
        assert_eq!(fields.len(), if late { 13 } else { 10 });
        assert_eq!(request["params"].get("mode").is_some(), late);
        let defaults = fields.values().filter(|field| field.get("default").is_some()).count();
        assert_eq!(defaults, if late { fields.len() } else { 1 });
        let filled: Value = fields.iter().filter_map(|(k, f)| Some((k.clone(), f.get("default")?.clone()))).collect();
        let content = if late { filled } else { json!({ "name": "Ada" }) };
        talk.write(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": accept(content) })).await;
        let result = talk.until(call).await[0]["result"].take();
        assert_eq!(result["isError"], false, "{result}");
    }
    let mut talk = LineClient::start(R2026_07_28).await;
    let asked = talk.call("ask_form", json!({})).await;
    assert_eq!(asked["inputRequests"]["form"]["params"]["mode"], "form");
}

fn visitor() -> Value {
    let mut capabilities = client_capabilities();
    capabilities["elicitation"] = json!({ "form": {}, "url": {} });
    capabilities
}

#[tokio::test]
async fn a_visit_is_asked_for_and_its_end_is_told() {
    let mut talk = LineClient::fresh(R2025_11_25);
    talk.shake_hands(visitor()).await;
    let call = talk.send("tools/call", json!({ "name": "ask_url" })).await;
    let request = talk.next().await;
    assert_eq!(request["params"]["mode"], "url");
    talk.write(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "action": "accept" } })).await;
    let all = talk.until(call).await;
    assert_eq!(all[0]["method"], "notifications/elicitation/complete");
    assert_eq!(all[0]["params"]["elicitationId"], request["params"]["elicitationId"]);

    let mut talk = LineClient::start(R2026_07_28).await;
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": visitor() });
    let asked = talk.result("tools/call", json!({ "name": "ask_url", "_meta": meta })).await;
    assert!(asked["inputRequests"]["page"]["params"].get("elicitationId").is_none());
    let error = talk.error("tools/call", json!({ "name": "ask_url" })).await;
    assert_eq!(error["data"]["requiredCapabilities"], json!({ "elicitation": { "url": {} } }));
}

#[tokio::test]
async fn a_visit_that_is_due_is_an_error_until_the_client_comes_back() {
    let mut talk = LineClient::fresh(R2025_11_25);
    talk.shake_hands(visitor()).await;
    let error = talk.error("tools/call", json!({ "name": "visit" })).await;
    assert_eq!(error["code"], -32042);
    let due = &error["data"]["elicitations"][0];
    assert_eq!(due["mode"], "url");
    let call = talk.send("tools/call", json!({ "name": "visit" })).await;
    let all = talk.until(call).await;
    assert_eq!(all[0]["method"], "notifications/elicitation/complete");
    assert_eq!(all[0]["params"]["elicitationId"], due["elicitationId"]);
    assert_eq!(text(&all[1]["result"]), "Thank you for the visit.");
    let again = talk.send("tools/call", json!({ "name": "visit" })).await;
    assert_eq!(talk.until(again).await.len(), 1, "the end of a visit is told once");
}

/// What a model says that uses the tool for two sums at a time.
fn two_uses() -> Value {
    let used = |id: &str, a: i64| json!({ "type": "tool_use", "id": id, "name": "add", "input": { "a": a, "b": 25 } });
    let content = [used("first", 17), used("second", 1)];
    json!({ "role": "assistant", "model": "m", "content": content, "stopReason": "toolUse" })
}

fn said(text: &str) -> Value {
    json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": text } })
}

#[tokio::test]
async fn a_model_gets_a_result_for_each_use_of_a_tool() {
    let mut talk = LineClient::fresh(R2025_11_25);
    talk.shake_hands(json!({ "sampling": { "tools": {} } })).await;
    let call = talk.send("tools/call", json!({ "name": "sample_with_tools" })).await;
    let first = talk.next().await;
    assert_eq!(first["params"]["tools"][0]["name"], "add");
    talk.write(&json!({ "jsonrpc": "2.0", "id": first["id"], "result": two_uses() })).await;
    let second = talk.next().await;
    let results = &second["params"]["messages"][2]["content"];
    assert_eq!(
        results[0],
        json!({ "type": "tool_result", "toolUseId": "first", "content": [{ "type": "text", "text": "42" }], "isError": false })
    );
    assert_eq!(results[1]["content"][0]["text"], "26");
    talk.write(&json!({ "jsonrpc": "2.0", "id": second["id"], "result": said("It is 42") })).await;
    assert_eq!(text(&talk.until(call).await[0]["result"]), "The model said: It is 42");
}

#[tokio::test]
async fn a_model_that_uses_tools_for_ever_is_stopped() {
    let mut talk = LineClient::start(R2026_07_28).await;
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": { "sampling": { "tools": {} } } });
    let mut params = json!({ "name": "sample_with_tools", "_meta": meta });
    for round in 0..4 {
        let asked = talk.result("tools/call", params.clone()).await;
        let question = &asked["inputRequests"]["conversation"]["params"];
        assert_eq!(question["messages"].as_array().unwrap().len(), 1 + 2 * round);
        assert_eq!(question["toolChoice"]["mode"], if round == 3 { "none" } else { "auto" });
        params["inputResponses"] = json!({ "conversation": two_uses() });
        params["requestState"] = asked["requestState"].clone();
    }
    assert_eq!(talk.result("tools/call", params).await["isError"], true);
}
