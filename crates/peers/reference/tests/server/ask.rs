//! Tools that ask the client: by a request in the legacy era, by a result that asks in the modern one.

use serde_json::{Value, json};
use wire::revision::{R2024_11_05, R2025_06_18, R2025_11_25, R2026_07_28};
use wire::{Era, Revision};

use crate::line_client::LineClient;

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

/// The tools, the revision they came with, what they ask, a good answer and what they make of it.
fn table() -> [(&'static str, Revision, &'static str, Value, &'static str); 3] {
    [
        (
            "ask",
            R2025_06_18,
            "elicitation/create",
            json!({ "action": "accept", "content": { "name": "Ada" } }),
            "Hello, Ada!",
        ),
        (
            "sample",
            R2024_11_05,
            "sampling/createMessage",
            json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "hello" } }),
            "The model said: hello",
        ),
        ("list_roots", R2024_11_05, "roots/list", json!({ "roots": [{ "uri": "file:///a" }] }), "Roots: file:///a"),
    ]
}

#[tokio::test]
async fn legacy_clients_are_sent_a_request() {
    for revision in Revision::ALL.into_iter().filter(|r| r.era() == Era::Legacy) {
        for (tool, since, method, answer, said) in table() {
            if !revision.at_least(since) {
                continue;
            }
            let mut talk = LineClient::start(revision).await;
            let call = talk.send("tools/call", json!({ "name": tool })).await;
            let request = talk.next().await;
            assert_eq!(request["method"], method);
            talk.write(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": answer })).await;
            assert_eq!(text(&talk.until(call).await[0]["result"]), said, "{tool} at {revision}");
        }
    }
}

#[tokio::test]
async fn legacy_answers_that_do_not_fit_make_the_tool_fail() {
    let mut talk = LineClient::start(R2025_11_25).await;
    for (member, answer) in [
        ("result", json!({ "action": "accept", "content": { "name": 5 } })),
        ("result", json!({ "action": "perhaps" })),
        ("result", json!({})),
        ("error", json!({ "code": -1, "message": "no" })),
    ] {
        let call = talk.send("tools/call", json!({ "name": "ask" })).await;
        let id = talk.next().await["id"].take();
        talk.write(&json!({ "jsonrpc": "2.0", "id": id, member: answer })).await;
        assert_eq!(talk.until(call).await[0]["result"]["isError"], true, "{member} {answer}");
    }
    for action in ["decline", "cancel"] {
        let call = talk.send("tools/call", json!({ "name": "ask" })).await;
        let id = talk.next().await["id"].take();
        talk.write(&json!({ "jsonrpc": "2.0", "id": id, "result": { "action": action } })).await;
        assert_eq!(talk.until(call).await[0]["result"]["isError"], false, "{action}");
    }
}

#[tokio::test]
async fn legacy_clients_that_cannot_answer_are_not_asked() {
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let mut talk = LineClient::fresh(R2025_11_25);
        talk.shake_hands(capabilities).await;
        assert_eq!(talk.call("ask", json!({})).await["isError"], true);
    }
    let mut talk = LineClient::fresh(R2025_11_25);
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} }, "clientInfo": { "name": "t", "version": "1" } });
    talk.result("initialize", params).await;
    assert_eq!(talk.call("ask", json!({})).await["isError"], true, "not before `notifications/initialized`");
}

#[tokio::test]
async fn a_cancelled_call_cancels_what_it_asked() {
    let mut talk = LineClient::start(R2025_11_25).await;
    let call = talk.send("tools/call", json!({ "name": "ask" })).await;
    let id = talk.next().await["id"].take();
    talk.cancel(call).await;
    let cancelled = talk.next().await;
    assert_eq!((&cancelled["method"], &cancelled["params"]["requestId"]), (&json!("notifications/cancelled"), &id));
    talk.write(&json!({ "jsonrpc": "2.0", "id": id, "result": {} })).await;
    talk.assert_quiet().await;
}

#[tokio::test]
async fn modern_clients_get_a_result_that_asks() {
    for (tool, _, method, answer, said) in table() {
        let mut talk = LineClient::start(R2026_07_28).await;
        let first = talk.call(tool, json!({})).await;
        assert_eq!(first["resultType"], "input_required");
        let requests = first["inputRequests"].as_object().unwrap();
        let (key, request) = requests.iter().next().unwrap();
        assert_eq!(request["method"], method);
        let responses = json!({ key: answer, "something else": {} });
        let retry = json!({ "name": tool, "inputResponses": responses, "requestState": first["requestState"] });
        let second = talk.result("tools/call", retry).await;
        assert_eq!(second["resultType"], "complete");
        assert_eq!(text(&second), said);
    }
}

#[tokio::test]
async fn modern_answers_that_do_not_fit_are_asked_for_again() {
    let mut talk = LineClient::start(R2026_07_28).await;
    let state = talk.call("ask", json!({})).await["requestState"].take();
    for responses in [
        json!({}),
        json!({ "wrong_key": { "action": "accept", "content": { "name": "x" } } }),
        json!({ "name": 12345 }),
        json!({ "name": { "action": "accept", "content": {} } }),
        json!({ "name": { "action": "accept", "content": { "name": "" } } }),
        Value::Null,
    ] {
        let params = json!({ "name": "ask", "inputResponses": responses, "requestState": state });
        let again = talk.result("tools/call", params).await;
        assert_eq!(again["resultType"], "input_required", "{responses}");
    }
    let unasked = json!({ "name": { "action": "accept", "content": { "name": "Ada" } } });
    let again = talk.result("tools/call", json!({ "name": "ask", "inputResponses": unasked })).await;
    assert_eq!(again["resultType"], "input_required", "an answer to a question that was not asked");
    let bad = json!({ "name": "ask", "inputResponses": [1], "requestState": state });
    assert_eq!(talk.error("tools/call", bad).await["code"], -32602);
}

#[tokio::test]
async fn a_state_is_bound_to_its_request() {
    let mut talk = LineClient::start(R2026_07_28).await;
    let state = talk.call("sample", json!({ "prompt": "a" })).await["requestState"].as_str().unwrap().to_owned();
    let params = |tool: &str, prompt: &str, state: &str| {
        let arguments = if tool == "sample" { json!({ "prompt": prompt }) } else { json!({}) };
        json!({ "name": tool, "arguments": arguments, "inputResponses": {}, "requestState": state })
    };
    let again = talk.result("tools/call", params("sample", "a", &state)).await;
    assert_eq!(again["resultType"], "input_required");
    let tampered = format!("{state}-TAMPERED");
    for bad in [
        params("sample", "b", &state),
        params("ask", "", &state),
        params("sample", "a", &tampered),
        params("sample", "a", ""),
        params("sample", "a", &state[..state.len() - 2]),
    ] {
        assert_eq!(talk.error("tools/call", bad.clone()).await["code"], -32602, "{bad}");
    }
}

#[tokio::test]
async fn modern_clients_that_cannot_answer_are_told_what_is_missing() {
    let mut talk = LineClient::start(R2026_07_28).await;
    for (tool, required) in [
        ("ask", json!({ "elicitation": { "form": {} } })),
        ("ask_url", json!({ "elicitation": { "url": {} } })),
        ("sample", json!({ "sampling": {} })),
        ("sample_with_tools", json!({ "sampling": { "tools": {} } })),
        ("list_roots", json!({ "roots": {} })),
    ] {
        let meta = json!({ "io.modelcontextprotocol/clientCapabilities": {} });
        let error = talk.error("tools/call", json!({ "name": tool, "_meta": meta })).await;
        assert_eq!(error["code"], -32021);
        assert_eq!(error["data"]["requiredCapabilities"], required);
    }
}
