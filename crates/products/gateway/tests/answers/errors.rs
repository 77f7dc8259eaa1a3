//! What failures say, and failures as results.

use std::time::Duration;

use gateway::failure::failures;
use gateway::settings::{AnswerSettings, ErrorForm, Settings};
use net::service::{Answer, Call, Reply, RpcError};
use serde_json::{Value, json};
use wire::Revision;

use super::scene::{Raw, Scene, allow, result, text};

const MODERN: Revision = Revision::R2026_07_28;

fn as_results() -> AnswerSettings {
    AnswerSettings { errors: ErrorForm::Result, ..AnswerSettings::default() }
}

fn fine(call: Call) -> Reply {
    result(&call, "fine", json!({ "resources": [], "prompts": [], "ttlMs": 0, "cacheScope": "private" }))
}

/// The error is that row of the table, whole.
#[track_caller]
fn is_row(response: &Value, name: &str) {
    let row = failures().iter().find(|failure| failure.name == name).expect("a row");
    let error = &response["error"];
    let data = &error["data"];
    assert_eq!(data["failure"], name, "{response}");
    assert_eq!(data["category"], row.category.as_str(), "{response}");
    assert_eq!((&data["retryable"], &data["outcome"]), (&json!(row.retryable), &json!(row.outcome)), "{response}");
    assert_eq!(data["retry_after_ms"], json!(row.retry_after_ms), "{response}");
    assert_eq!(data["suggested_actions"], json!([row.suggested_action()]), "{response}");
    assert!(error["code"].is_i64() && error["message"].as_str().is_some_and(|text| !text.is_empty()), "{response}");
}

#[tokio::test]
async fn failures_say_their_kind_and_what_to_do() {
    let scene = Scene::guarded(MODERN, AnswerSettings::default(), Some(vec![allow(&["write"])]), fine).await;
    let client = scene.client("/mcp", MODERN, "me").await;
    is_row(&client.call("nothing", json!({})).await, "item-unknown");
    is_row(&client.ask("resources/read", json!({ "uri": "file:///none" }), &[]).await, "resource-unknown");
    is_row(&client.ask("tools/list", json!({ "cursor": "2" }), &[]).await, "params-invalid");
    is_row(&client.ask("made/up", json!({}), &[]).await, "method-unknown");
    let state = json!({ "name": "write", "arguments": {}, "requestState": "proof-gateway.1.00" });
    is_row(&client.ask("tools/call", state, &[]).await, "state-expired");
    let old = scene.client("/mcp", Revision::R2025_06_18, "me").await;
    let missing = old.ask("resources/read", json!({ "uri": "file:///none" }), &[]).await;
    is_row(&missing, "resource-unknown");
    assert_eq!((&missing["error"]["code"], &missing["error"]["data"]["uri"]), (&json!(-32002), &json!("file:///none")));
    is_row(&old.ask("tools/call", json!({ "arguments": {} }), &[]).await, "params-invalid");
    is_row(&old.ask("logging/setLevel", json!({ "level": "loud" }), &[]).await, "params-invalid");
    scene.end().await;
    let scene = Scene::open(MODERN, AnswerSettings::default(), fine).await;
    let other = scene.client("/other/mcp", MODERN, "").await;
    let mut settings = scene.settings.clone();
    settings.servers.truncate(1);
    scene.gateway.reload(&settings).expect("valid settings");
    is_row(&other.call("write", json!({})).await, "server-gone");
    scene.end().await;
}

/// What a client may not use fails as what does not exist, in every form.
#[tokio::test]
async fn a_failure_does_not_tell_what_is_denied() {
    for answers in [AnswerSettings::default(), as_results()] {
        let scene = Scene::guarded(MODERN, answers, Some(vec![allow(&["write"])]), fine).await;
        for revision in [MODERN, Revision::R2025_06_18, Revision::R2024_11_05] {
            let client = scene.client("/mcp", revision, "me").await;
            // `create` has an output schema, and the client may not use it.
            let (denied, unknown) = (client.call("create", json!({})).await, client.call("nosuch", json!({})).await);
            let same = |response: &Value, name: &str| {
                let mut response = response.clone();
                response["id"] = json!(0);
                response.to_string().replace(name, "X")
            };
            assert_eq!(same(&denied, "create"), same(&unknown, "nosuch"), "{revision}");
        }
        scene.end().await;
    }
}

#[tokio::test]
async fn failures_of_the_server_say_whether_it_ran() {
    let silent = |_: Call| Reply::later(std::future::pending());
    let scene = Scene::open(MODERN, AnswerSettings::default(), silent).await;
    let mut settings: Settings = scene.settings.clone();
    settings.limits.request = Duration::from_millis(300);
    scene.gateway.reload(&settings).expect("valid settings");
    let client = scene.client("/mcp", MODERN, "").await;
    is_row(&client.call("write", json!({})).await, "timed-out");
    scene.gateway.reload(&scene.settings).expect("valid settings");
    let (broken, ()) = tokio::join!(client.call("read", json!({})), async {
        scene.seen.wait("read").await;
        scene.end_upstream().await;
    });
    is_row(&broken, "no-answer");
    let mut refused = client.call("write", json!({})).await;
    assert_eq!(refused["error"]["data"]["upstream"].take(), json!("a"));
    is_row(&refused, "server-unreachable");
    scene.end().await;
}

/// What a server says stays as it is.
#[tokio::test]
async fn errors_of_servers_pass_unchanged() {
    let failing = |call: Call| {
        let error = RpcError::new(-31_000, "no").with_data(json!({ "a": 1 }));
        Answer::error(Some(call.id()), &error).into()
    };
    let scene = Scene::open(MODERN, AnswerSettings::default(), failing).await;
    let client = scene.client("/mcp", MODERN, "").await;
    let error = client.call("write", json!({})).await["error"].clone();
    assert_eq!(error, json!({ "code": -31_000, "message": "no", "data": { "a": 1 } }));
    scene.end().await;
}

fn failing_by_name(call: Call) -> Reply {
    let id = Some(call.id());
    let error = match call.message.string_member("name").as_deref() {
        Some("write" | "create") => RpcError::new(-32602, "amount is negative").with_data(json!({ "field": "amount" })),
        Some("read") => RpcError::new(-32042, "open a page").with_data(json!({ "elicitations": [] })),
        Some("usage") => return result(&call, "no money", json!({ "isError": true })),
        _ => RpcError::new(-31_000, "no"),
    };
    Answer::error(id, &error).into()
}

async fn failed(client: &Raw, tool: &str) -> Value {
    let response = client.call(tool, json!({})).await;
    assert_eq!(response["result"]["isError"], true, "{response}");
    response["result"].clone()
}

#[tokio::test]
async fn a_failed_call_is_answered_by_a_result() {
    let scene = Scene::open(MODERN, as_results(), failing_by_name).await;
    let client = scene.client("/mcp", MODERN, "").await;
    let result = failed(&client, "write").await;
    let details = &result["structuredContent"];
    assert_eq!((&details["code"], &details["message"]), (&json!(-32602), &json!("amount is negative")));
    assert_eq!((&details["category"], &details["failure"]), (&json!("INVALID_INPUT"), &json!("server-says-invalid")));
    assert_eq!((&details["retryable"], &details["data"]), (&json!(false), &json!({ "field": "amount" })));
    assert_eq!(result["resultType"], "complete");
    let sentence = result["content"][0]["text"].as_str().expect("a text");
    assert!(sentence.starts_with("amount is negative (INVALID_INPUT). Correct the request"), "{sentence}");
    let copy: Value = serde_json::from_str(result["content"][1]["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!(&copy, details);
    // The output schema of `create` does not allow it there.
    let keyed = failed(&client, "create").await;
    assert!(keyed.get("structuredContent").is_none(), "{keyed}");
    assert_eq!(keyed["_meta"]["dev.proofhouse/error"], *details);
    assert_eq!(failed(&client, "nosuch").await["structuredContent"]["category"], "UPSTREAM_FAILURE");
    // Clients act on such errors by themselves; and what a tool says stays as it is.
    assert_eq!(client.call("read", json!({})).await["error"]["code"], -32042);
    assert_eq!(text(&client.call("usage", json!({})).await), "no money");
    let old = failed(&scene.client("/mcp", Revision::R2024_11_05, "").await, "write").await;
    assert!(old.get("structuredContent").is_none() && old.get("resultType").is_none(), "{old}");
    assert_eq!(old["_meta"]["dev.proofhouse/error"]["failure"], "server-says-invalid");
    // Other requests fail by errors.
    let read = client.ask("resources/read", json!({ "uri": "file:///a" }), &[]).await;
    assert_eq!(read["error"]["code"], -31_000, "{read}");
    scene.end_upstream().await;
    let gone = failed(&client, "write").await;
    let details = gone.get("structuredContent").unwrap_or(&gone["_meta"]["dev.proofhouse/error"]);
    assert_eq!(
        (&details["failure"], &details["retry_after_ms"]),
        (&json!("server-unreachable"), &json!(500)),
        "{gone}"
    );
    scene.end().await;
}
