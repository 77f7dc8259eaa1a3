//! Rows 46–52 of the translation table: questions in the middle of a request.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gateway::settings::Limits;
use net::service::{Answer, Call, Reply};
use serde_json::{Value, json};
use wire::meta;
use wire::revision::{R2025_11_25, R2026_07_28};

use crate::scene::{Answers, Scene};
use crate::script::Script;

/// A server of 2026-07-28 that wants more once, and then is done.
fn once(wanted: &'static str) -> Script {
    let calls = AtomicUsize::new(0);
    Script::new(R2026_07_28, json!({ "tools": {} }), move |call: Call| {
        let is_call = call.message.method() == Some("tools/call");
        let first = is_call && calls.fetch_add(1, Ordering::Relaxed) == 0;
        let done = r#"{"resultType":"complete","content":[]}"#;
        let result = if first { wanted } else { done };
        let text = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, call.id().to_json());
        Answer::raw(text.into_bytes(), None).into()
    })
}

/// A server of 2025-11-25 that asks for a form and says what the answer was.
fn asking() -> Script {
    Script::new(R2025_11_25, json!({ "completions": {} }), |call: Call| {
        Reply::later(async move {
            let form = json!({ "message": "m", "requestedSchema": { "type": "object", "properties": {} } });
            let answer = call.link.request("elicitation/create", form).await;
            let text = answer.map_or_else(|why| why.to_string(), |message| message.text().to_owned());
            Answer::result(
                call.id(),
                &json!({ "content": [{ "type": "text", "text": text }],
                "completion": { "values": [text] } }),
            )
        })
    })
}

const ELICITATION: &str = r#"{"resultType":"input_required","requestState":"s\u0065 \/","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}}"#;

#[tokio::test]
async fn row_45_a_question_that_is_refused_ends_the_request() {
    let sampling = r#"{"resultType":"input_required","inputRequests":{"k":{"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[]}}}}"#;
    let scene = Scene::scripted(once(sampling)).await;
    let refused = scene.raw(R2025_11_25, json!({})).await.tool("a").await;
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
    assert_eq!(refused["error"]["data"][meta::LOSSES][0]["row"], "45", "{refused}");
    let scene = Scene::scripted(once(ELICITATION)).await;
    let cancelled = scene.raw(R2025_11_25, json!({})).await.tool("a").await;
    assert_eq!(cancelled["result"]["_meta"][meta::LOSSES][0]["row"], "45", "{cancelled}");
    let sent = scene.seen.last("tools/call").message;
    assert_eq!(sent["params"]["inputResponses"], json!({ "k": { "action": "cancel" } }));
}

#[tokio::test]
async fn row_46_the_state_goes_back_byte_for_byte() {
    let scene = Scene::scripted(once(ELICITATION)).await;
    let client = scene.client(R2025_11_25, Answers::All).await;
    let answer = client.call_unseen("a", serde_json::Map::new()).await.expect("an answer");
    assert!(!answer.text().contains("requestState"), "{}", answer.text());
    let sent = scene.seen.last("tools/call");
    assert!(sent.text.contains(r#""requestState":"s\u0065 \/""#), "{}", sent.text);
    let scene = Scene::scripted(once(ELICITATION)).await;
    let got = scene.raw(R2026_07_28, json!({ "elicitation": {} })).await;
    let asked = got.tool("a").await;
    assert_eq!(asked["result"]["requestState"], "se /", "{asked}");
}

#[tokio::test]
async fn row_47_a_server_that_wants_time_is_asked_again() {
    let later = r#"{"resultType":"input_required","requestState":"later"}"#;
    let scene = Scene::scripted(once(later)).await;
    let answer = scene.raw(R2025_11_25, json!({})).await.tool("a").await;
    assert_eq!(answer["result"], json!({ "content": [] }), "{answer}");
    let sent = scene.seen.of("tools/call");
    assert_eq!((sent.len(), &sent[1].message["params"]["requestState"]), (2, &json!("later")));
    let scene = Scene::scripted(once(later)).await;
    let passed = scene.raw(R2026_07_28, json!({})).await.tool("a").await;
    assert_eq!(passed["result"]["requestState"], "later", "{passed}");
}

#[tokio::test]
async fn row_48_an_answer_must_fit_the_request_that_waits() {
    let scene = Scene::scripted(asking()).await;
    let client = scene.raw(R2026_07_28, json!({ "elicitation": {} })).await;
    let asked = client.tool("a").await;
    let state = asked["result"]["requestState"].clone();
    let questions = asked["result"]["inputRequests"].as_object().cloned().unwrap_or_default();
    let key = questions.keys().next().expect("one question").clone();
    let retry = |name: &str, responses: Value| json!({ "name": name, "arguments": {}, "requestState": state, "inputResponses": responses });
    let other = client.call("tools/call", retry("b", json!({ &key: { "action": "decline" } }))).await;
    assert_eq!(other["error"]["code"], -32602, "{other}");
    let again = client.call("tools/call", retry("a", json!({}))).await;
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    let state = again["result"]["requestState"].clone();
    let answers = json!({ &key: { "action": "decline" } });
    let done = json!({ "name": "a", "arguments": {}, "requestState": state, "inputResponses": answers });
    let done = client.call("tools/call", done).await;
    assert!(done.to_string().contains("decline"), "{done}");
    assert_eq!(scene.seen.of("tools/call").len(), 1, "it ran once");
}

#[tokio::test]
async fn row_49_a_state_that_is_not_known_is_refused() {
    let scene = Scene::scripted(asking()).await;
    let client = scene.raw(R2026_07_28, json!({ "elicitation": {} })).await;
    let params = json!({ "name": "a", "requestState": "proof-gateway.1.0000", "inputResponses": {} });
    let refused = client.call("tools/call", params).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(refused["error"]["data"][meta::LOSSES][0]["row"], "49", "{refused}");
    assert_eq!(scene.seen.of("tools/call").len(), 0, "it did not run");
}

#[tokio::test]
async fn row_50_requests_that_may_ask_have_a_session_each() {
    let waiting = || {
        Script::new(R2025_11_25, json!({}), |call: Call| {
            Reply::later(async move {
                tokio::time::sleep(Duration::from_millis(300)).await;
                Answer::result(call.id(), &json!({ "content": [] }))
            })
        })
    };
    for (capabilities, sessions) in [(json!({ "sampling": {} }), 2), (json!({}), 1)] {
        let scene = Scene::scripted(waiting()).await;
        let client = scene.raw(R2026_07_28, capabilities).await;
        tokio::join!(client.tool("a"), client.tool("b"));
        let mut used: Vec<_> =
            scene.seen.of("tools/call").iter().map(|one| one.headers["mcp-session-id"].clone()).collect();
        used.sort();
        used.dedup();
        assert_eq!(used.len(), sessions);
    }
}

#[tokio::test]
async fn row_51_a_question_outside_the_three_methods_is_answered_here() {
    let scene = Scene::scripted(asking()).await;
    let client = scene.raw(R2026_07_28, json!({ "elicitation": {} })).await;
    let params = json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" } });
    let answer = client.call("completion/complete", params).await;
    let values = answer["result"]["completion"]["values"].to_string();
    assert!(values.contains("cancel"), "{answer}");
    assert_eq!(answer["result"]["_meta"][meta::LOSSES][0]["row"], "51", "{answer}");
    assert_eq!(scene.losses(), ["51"]);
}

#[tokio::test]
async fn row_52_a_question_that_nobody_answers_is_given_up() {
    let heard = Arc::new(Mutex::new(None));
    let kept = Arc::clone(&heard);
    let script = Script::new(R2025_11_25, json!({}), move |call: Call| {
        let kept = Arc::clone(&kept);
        Reply::later(async move {
            let form = json!({ "message": "m", "requestedSchema": { "type": "object", "properties": {} } });
            let answer = call.link.request("elicitation/create", form).await;
            *kept.lock().expect("a lock") = answer.ok().and_then(|answer| answer.result().cloned());
            Answer::result(call.id(), &json!({ "content": [] }))
        })
    });
    let limits = Limits { answer: Duration::from_millis(100), ..Limits::default() };
    let scene = Scene::scripted_within(script, limits).await;
    scene.raw(R2026_07_28, json!({ "elicitation": {} })).await.tool("a").await;
    for _ in 0..100 {
        if scene.losses().contains(&"52") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(scene.losses(), ["52"]);
    assert_eq!(*heard.lock().expect("a lock"), Some(json!({ "action": "cancel" })));
}
