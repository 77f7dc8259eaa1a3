//! Rows 11–23 of the translation table: HTTP, streams and framing.

use net::service::{Answer, Call, Reply, RpcError};
use serde_json::{Value, json};
use wire::meta;
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};

use crate::raw::next;
use crate::scene::Scene;
use crate::script::Script;

fn called() -> Value {
    json!({ "content": [], "resultType": "complete" })
}

#[tokio::test]
async fn row_11_an_id_comes_back_as_it_was() {
    for (seen, spoken) in [(R2025_11_25, R2026_07_28), (R2026_07_28, R2025_11_25), (R2025_06_18, R2025_11_25)] {
        let scene = Scene::scripted(Script::fixed(spoken, json!({}), called())).await;
        let client = scene.raw(seen, json!({})).await;
        for id in [json!("a-1"), json!(9_007_199_254_740_993_u64), json!("9")] {
            let mut request = client.request("tools/call", json!({ "name": "a" }));
            request["id"] = id.clone();
            assert_eq!(client.post(&request, &[]).await.response()["id"], id, "{seen} at {spoken}");
        }
    }
}

#[tokio::test]
async fn row_12_a_session_that_has_ended_is_opened_again() {
    let scene = Scene::scripted(Script::fixed(R2025_11_25, json!({}), called())).await;
    let client = scene.raw(R2026_07_28, json!({})).await;
    client.tool("a").await;
    let session = scene.seen.last("tools/call").headers["mcp-session-id"].clone();
    end_session(&scene, &session).await;
    let answer = client.tool("a").await;
    assert!(answer.get("result").is_some(), "{answer}");
    assert_eq!(scene.seen.of("initialize").len(), 2);
    assert_eq!(scene.seen.of("tools/call").len(), 2, "the ended session ran nothing");
}

async fn end_session(scene: &Scene, session: &str) {
    use net::client::HttpAddress;
    let headers = [("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
    let mut address = HttpAddress::new(scene.behind.clone());
    address.headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let http = net::upstream::HttpUpstream::new(&address, std::time::Duration::from_secs(5)).expect("valid");
    let empty = (net::server::http::HeaderMap::new(), bytes::Bytes::new());
    let ended = http.send(net::server::http::Method::DELETE, empty.0, empty.1).await.expect("an answer");
    assert!(ended.status.is_success(), "{ended:?}");
}

#[tokio::test]
async fn row_13_the_get_stream_carries_changes() {
    for spoken in [R2026_07_28, R2025_11_25] {
        let scene = Scene::through(spoken).await;
        let client = scene.raw(R2025_11_25, json!({})).await;
        client.call("tools/list", json!({})).await;
        let mut stream = client.listen().await;
        let received = tokio::spawn(async move { next(&mut stream).await });
        change_tools(&client, &received).await;
        let change = received.await.expect("it ends").expect("a message");
        assert_eq!(change["method"], "notifications/tools/list_changed", "{spoken}: {change}");
        assert_eq!(change["params"]["_meta"].get(meta::SUBSCRIPTION_ID), None, "{change}");
        scene.end().await;
    }
}

/// Changes the tools of the reference server until somebody hears of it.
pub(crate) async fn change_tools<T>(client: &crate::raw::Raw, heard: &tokio::task::JoinHandle<T>) {
    for _ in 0..50 {
        client.tool("toggle_tool").await;
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        if heard.is_finished() {
            return;
        }
    }
}

#[tokio::test]
async fn row_14_a_broken_stream_is_resumed() {
    let script = Script::new(R2025_11_25, json!({}), |call| {
        Reply::later(async move {
            let _ = call.link.notify("notifications/message", json!({ "level": "info", "data": "first" }));
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            call.link.break_stream();
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            Answer::result(call.id(), &called())
        })
    });
    let scene = Scene::scripted(script).await;
    let answer = scene.raw(R2026_07_28, json!({})).await.tool("a").await;
    assert!(answer.get("result").is_some(), "{answer}");
    assert_eq!(scene.seen.of("tools/call").len(), 1, "it ran once");
}

#[tokio::test]
async fn row_15_the_outcome_of_a_broken_stream_is_unknown() {
    let scene = Scene::scripted(Script::new(R2026_07_28, json!({}), |call| {
        Reply::later(async move {
            let _ = call.link.notify("notifications/message", json!({ "level": "info", "data": "first" }));
            std::future::pending().await
        })
    }))
    .await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    let request = client.request("tools/call", json!({ "name": "a" }));
    let (got, ()) = tokio::join!(client.post(&request, &[]), async {
        scene.seen.wait("tools/call").await;
        scene.end_upstream().await;
    });
    let error = &got.response()["error"];
    assert_eq!((&error["data"]["outcome"], &error["data"]["retryable"]), (&json!("unknown"), &json!(false)), "{got:?}");
    assert_eq!(scene.seen.of("tools/call").len(), 1);
}

#[tokio::test]
async fn row_16_json_and_streams_are_read() {
    for (seen, spoken) in [(R2025_11_25, R2026_07_28), (R2026_07_28, R2025_11_25)] {
        let scene = Scene::scripted(Script::new(spoken, json!({}), |call| {
            if call.message.params().is_some_and(|params| params["name"] == "streams") {
                let token = call.message.meta().and_then(|meta| meta.get("progressToken")).cloned();
                let _ = call.link.notify("notifications/progress", json!({ "progressToken": token, "progress": 1 }));
            }
            Answer::result(call.id(), &called()).into()
        }))
        .await;
        let client = scene.raw(seen, json!({})).await;
        for (name, messages) in [("plain", 1), ("streams", 2)] {
            let params = json!({ "name": name, "_meta": { "progressToken": "p" } });
            let got = client.post(&client.request("tools/call", params), &[]).await;
            assert_eq!(got.messages.len(), messages, "{name}, {seen} at {spoken}: {got:?}");
            assert!(got.response().get("result").is_some(), "{got:?}");
        }
    }
}

#[tokio::test]
async fn row_17_a_response_to_nothing_is_dropped() {
    let scene = Scene::scripted(Script::fixed(R2026_07_28, json!({}), called())).await;
    let stray = json!({ "jsonrpc": "2.0", "id": 77, "result": {} });
    let client = scene.raw(R2025_11_25, json!({})).await;
    assert_eq!(client.post(&stray, &[]).await.status, 202);
    let modern = scene.raw(R2026_07_28, json!({})).await;
    assert_eq!(modern.post(&stray, &[("mcp-protocol-version", "2026-07-28")]).await.status, 400);
}

#[tokio::test]
async fn row_18_a_batch_is_taken_apart() {
    let scene = Scene::scripted(Script::fixed(R2026_07_28, json!({}), called())).await;
    let client = scene.raw(R2025_03_26, json!({})).await;
    let two = json!([client.request("tools/call", json!({ "name": "a" })), client.request("ping", json!({}))]);
    let got = client.post(&two, &[]).await;
    let answers: Vec<Value> = match got.messages.as_slice() {
        [Value::Array(all)] => all.clone(),
        all => all.to_vec(),
    };
    let mut ids: Vec<_> = answers.iter().filter_map(|answer| answer["id"].as_i64()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2], "{got:?}");
    assert_eq!(scene.seen.of("tools/call").len(), 1);
}

#[tokio::test]
async fn row_19_stdio_leads_to_http() {
    let scene = Scene::scripted(Script::fixed(R2026_07_28, json!({}), called())).await;
    let opening = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "a" } });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let lines = scene.over_stdio(&[opening, initialized, call]).await;
    assert_eq!(lines[0]["result"]["protocolVersion"], "2025-11-25", "{lines:?}");
    assert_eq!((&lines[1]["id"], &lines[1]["result"]["content"]), (&json!(2), &json!([])), "{lines:?}");
}

#[tokio::test]
async fn row_20_headers_say_what_the_body_says() {
    let scene = Scene::scripted(Script::fixed(R2026_07_28, json!({}), called())).await;
    scene.raw(R2025_11_25, json!({})).await.tool("a tool").await;
    let headers = scene.seen.last("tools/call").headers;
    assert_eq!((headers["mcp-method"].as_str(), headers["mcp-name"].as_str()), ("tools/call", "a tool"));
    let scene = Scene::scripted(Script::fixed(R2025_11_25, json!({}), called())).await;
    let client = scene.raw(R2026_07_28, json!({})).await;
    client.tool("a").await;
    let headers = scene.seen.last("tools/call").headers;
    assert!(!headers.contains_key("mcp-method") && !headers.contains_key("mcp-name"), "{headers:?}");
    let refused = client.post(&client.request("tools/call", json!({ "name": "a" })), &[("mcp-name", "b")]).await;
    assert_eq!((refused.status, &refused.response()["error"]["code"]), (400, &json!(-32020)), "{refused:?}");
}

#[tokio::test]
async fn row_21_arguments_stand_in_headers_where_the_schema_says_so() {
    let schema =
        json!({ "type": "object", "properties": { "region": { "type": "string", "x-mcp-header": "Region" } } });
    let tools = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "content": [],
        "tools": [{ "name": "a", "inputSchema": schema }] });
    let params = json!({ "name": "a", "arguments": { "region": "eu" } });
    let scene = Scene::scripted(Script::fixed(R2026_07_28, json!({ "tools": {} }), tools.clone())).await;
    scene.raw(R2025_11_25, json!({})).await.call("tools/call", params.clone()).await;
    assert_eq!(scene.seen.last("tools/call").headers["mcp-param-region"], "eu");
    let scene = Scene::scripted(Script::fixed(R2025_11_25, json!({ "tools": {} }), tools)).await;
    let client = scene.raw(R2026_07_28, json!({})).await;
    let request = client.request("tools/call", params);
    let refused = client.post(&request, &[("mcp-param-region", "us")]).await;
    assert_eq!((refused.status, &refused.response()["error"]["code"]), (400, &json!(-32020)), "{refused:?}");
    let lacking = client.request("tools/call", json!({ "name": "a", "arguments": {} }));
    let refused = client.post(&lacking, &[("mcp-param-region", "us")]).await;
    assert_eq!((refused.status, &refused.response()["error"]["code"]), (400, &json!(-32020)), "{refused:?}");
    assert!(client.post(&request, &[("mcp-param-region", "eu")]).await.response().get("result").is_some());
    assert!(!scene.seen.last("tools/call").headers.contains_key("mcp-param-region"));
}

#[tokio::test]
async fn row_21_headers_that_cannot_be_compared_are_refused() {
    let script = Script::new(R2025_11_25, json!({ "tools": {} }), |call: Call| match call.message.method() {
        Some("tools/list") => Answer::error(Some(call.id()), &RpcError::new(-32603, "not now")).into(),
        _ => Answer::result(call.id(), &json!({ "content": [] })).into(),
    });
    let scene = Scene::scripted(script).await;
    let client = scene.raw(R2026_07_28, json!({})).await;
    let request = client.request("tools/call", json!({ "name": "a", "arguments": {} }));
    let refused = client.post(&request, &[("mcp-param-region", "us")]).await;
    assert_eq!(refused.response()["error"]["data"]["outcome"], "not run", "{refused:?}");
    assert_eq!(scene.seen.of("tools/call").len(), 0);
    assert!(client.post(&request, &[]).await.response().get("result").is_some());
}

#[tokio::test]
async fn row_22_the_token_of_a_client_stays_here() {
    for (seen, spoken) in [(R2025_11_25, R2026_07_28), (R2026_07_28, R2025_11_25), (R2026_07_28, R2026_07_28)] {
        let scene = Scene::scripted(Script::fixed(spoken, json!({}), called())).await;
        let client = scene.raw(seen, json!({})).await;
        let secret = [("authorization", "Bearer of-the-client"), ("cookie", "a=b"), ("x-own", "1")];
        client.post(&client.request("tools/call", json!({ "name": "a" })), &secret).await;
        let headers = scene.seen.last("tools/call").headers;
        assert!(secret.iter().all(|(name, _)| !headers.contains_key(*name)), "{headers:?}");
    }
}

#[tokio::test]
async fn row_23_a_status_without_a_message_is_in_the_error() {
    let scene = Scene::busy().await;
    let client = scene.raw(R2026_07_28, json!({})).await;
    let got = client.post(&client.request("tools/call", json!({ "name": "a" })), &[]).await;
    let error = &got.response()["error"];
    assert_eq!((got.status, &error["code"], &error["data"]["status"]), (200, &json!(-32603), &json!(503)), "{got:?}");
    assert_eq!(error["data"]["retryAfter"], "7", "{got:?}");
}
