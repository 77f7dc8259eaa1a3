//! What is particular to stdio: eras side by side, order, cancellation, batches, the end.

use std::time::{Duration, Instant};

use net::server::stdio::Limits;
use reference::{Options, Server};
use serde_json::{Value, json};
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};
use wire::{Era, Revision};

use crate::line_client::{LineClient, modern_meta};

#[tokio::test]
async fn both_eras_live_in_one_process() {
    let mut talk = LineClient::start(R2025_11_25).await;
    let legacy = talk.call("sum", json!({ "a": 1, "b": 1 })).await;
    assert!(legacy.get("resultType").is_none());
    talk.revision = R2026_07_28;
    let modern = talk.call("sum", json!({ "a": 1, "b": 1 })).await;
    assert_eq!(modern["resultType"], "complete");
    // A progress token alone says nothing about the era.
    talk.revision = R2025_11_25;
    let params = json!({ "name": "echo", "arguments": { "message": "x" }, "_meta": { "progressToken": 1 } });
    assert!(talk.result("tools/call", params).await.get("resultType").is_none());
}

#[tokio::test]
async fn nothing_but_initialize_and_ping_comes_first() {
    let mut talk = LineClient::fresh(R2025_11_25);
    assert_eq!(talk.result("ping", json!({})).await, json!({}));
    assert_eq!(talk.error("tools/list", json!({})).await["code"], -32600);
    assert_eq!(talk.error("server/discover", json!({})).await["code"], -32602, "modern by its name, without `_meta`");
    talk.shake_hands(json!({})).await;
    talk.result("tools/list", json!({})).await;
}

#[tokio::test]
async fn versions_nobody_serves_are_refused() {
    let mut talk = LineClient::start(R2026_07_28).await;
    for version in ["v999.0.0", "2025-11-25"] {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": version });
        let error = talk.error("tools/list", json!({ "_meta": meta })).await;
        assert_eq!(error["code"], -32022);
        assert_eq!(error["data"]["requested"], version);
        let supported = error["data"]["supported"].as_array().unwrap();
        assert!(supported.contains(&json!("2026-07-28")) && !supported.contains(&json!(version)), "{error}");
    }
}

#[tokio::test]
async fn required_metadata_is_required() {
    let mut talk = LineClient::start(R2026_07_28).await;
    let key = |name: &str| format!("io.modelcontextprotocol/{name}");
    for (name, value) in [
        ("protocolVersion", json!(20_260_728)),
        ("clientCapabilities", Value::Null),
        ("clientCapabilities", json!([])),
        ("clientInfo", json!({ "name": "x" })),
        ("logLevel", json!("loud")),
    ] {
        let mut meta = modern_meta();
        meta[key(name)] = value.clone();
        let error = talk.error("tools/list", json!({ "_meta": meta })).await;
        assert_eq!(error["code"], -32602, "{name} {value}: {error}");
    }
    let mut meta = modern_meta();
    meta.as_object_mut().unwrap().remove(&key("clientInfo"));
    talk.write(&json!({ "jsonrpc": "2.0", "id": "i", "method": "tools/list", "params": { "_meta": meta } })).await;
    assert!(talk.next().await.get("result").is_some(), "clientInfo may be left out");
}

#[tokio::test]
async fn a_slow_tool_does_not_hold_up_others() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        let arguments = json!({ "steps": 1, "delay_ms": 300 });
        let slow = talk.send("tools/call", json!({ "name": "slow", "arguments": arguments })).await;
        let before = Instant::now();
        talk.call("echo", json!({ "message": "x" })).await;
        assert!(before.elapsed() < Duration::from_millis(200));
        assert_eq!(talk.until(slow).await.len(), 1);
    }
}

#[tokio::test]
async fn a_cancelled_request_is_not_answered() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        let arguments = json!({ "steps": 100, "delay_ms": 10 });
        let params = json!({ "name": "slow", "arguments": arguments, "_meta": { "progressToken": "p" } });
        let id = talk.send("tools/call", params).await;
        assert_eq!(talk.next().await["method"], "notifications/progress");
        talk.cancel(id).await;
        talk.cancel(id).await;
        talk.cancel(4711).await;
        // Progress that was on its way may come, an answer may not.
        let probe = talk.send("tools/call", json!({ "name": "echo", "arguments": { "message": "x" } })).await;
        let before = talk.until(probe).await;
        assert!(before.iter().all(|m| m["id"] != id), "{before:?}");
        talk.assert_quiet().await;
    }
}

#[tokio::test]
async fn an_id_in_use_is_refused() {
    let mut talk = LineClient::start(R2025_11_25).await;
    let arguments = json!({ "steps": 1, "delay_ms": 100 });
    let id = talk.send("tools/call", json!({ "name": "slow", "arguments": arguments })).await;
    talk.write(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })).await;
    assert_eq!(talk.next().await["error"]["code"], -32600);
    talk.write(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call" })).await;
    assert_eq!(talk.next().await["error"]["code"], -32600);
}

#[tokio::test]
async fn batches_exist_at_2025_03_26_only() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        talk.write_text(r#"[{"jsonrpc":"2.0","id":"a","method":"ping"}]"#).await;
        let answer = talk.line().await.unwrap();
        assert_eq!(answer.starts_with('['), revision == R2025_03_26, "{revision}: {answer}");
        if revision != R2025_03_26 {
            assert!(answer.contains("-32600"), "{answer}");
        }
        talk.assert_quiet().await;
    }
}

#[tokio::test]
async fn a_batch_is_answered_with_an_array() {
    let mut talk = LineClient::start(R2025_03_26).await;
    let slow = json!({ "name": "slow", "arguments": { "steps": 1, "delay_ms": 20 } });
    let batch = json!([
        { "jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": slow },
        { "jsonrpc": "2.0", "method": "notifications/roots/list_changed" },
        { "jsonrpc": "2.0", "id": "ping", "method": "ping" },
        { "jsonrpc": "2.0", "id": "init", "method": "initialize" },
        { "jsonrpc": "1.0", "id": "bad", "method": "ping" },
        7,
    ]);
    talk.write_text(&batch.to_string()).await;
    let answer: Value = serde_json::from_str(&talk.line().await.unwrap()).unwrap();
    let ids: Vec<_> = answer.as_array().unwrap().iter().map(|part| part["id"].clone()).collect();
    assert_eq!(json!(ids), json!(["slow", "ping", "init", "bad", null]));
    assert!(answer[0].get("result").is_some() && answer[1].get("result").is_some());
    for part in &answer.as_array().unwrap()[2..] {
        assert_eq!(part["error"]["code"], -32600);
    }
    talk.write_text(r#"[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]"#).await;
    talk.assert_quiet().await;
}

#[tokio::test]
async fn the_end_of_the_input_ends_the_server() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        let arguments = json!({ "steps": 1, "delay_ms": 50 });
        let quick = talk.send("tools/call", json!({ "name": "slow", "arguments": arguments })).await;
        let arguments = json!({ "steps": 100, "delay_ms": 10_000 });
        talk.send("tools/call", json!({ "name": "slow", "arguments": arguments })).await;
        let before = Instant::now();
        let rest = talk.close().await;
        assert!(before.elapsed() < Duration::from_secs(2));
        assert_eq!(rest.len(), 1, "what is done in time is answered: {rest:?}");
        assert_eq!(rest[0]["id"], quick);
    }
}

#[tokio::test]
async fn a_last_line_without_a_line_feed_is_answered() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (mut ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(theirs);
    let server = std::sync::Arc::new(Server::new(Options::default()));
    let served = tokio::spawn(net::server::stdio::serve(server, reader, writer, Limits::default()));
    ours.write_all(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await.unwrap();
    ours.shutdown().await.unwrap();
    let mut text = String::new();
    ours.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_line_too_long_is_refused_and_the_next_one_served() {
    let limits = Limits { line: 1000, ..Limits::default() };
    let mut talk = LineClient::with(Server::new(Options::default()), R2025_06_18, limits);
    talk.shake_hands(json!({})).await;
    talk.write_text(&"x".repeat(200_000)).await;
    assert_eq!(talk.next().await["error"]["code"], -32600);
    talk.assert_quiet().await;
}

#[tokio::test]
async fn one_server_serves_many_conversations() {
    let server = Server::new(Options::default());
    let mut first = LineClient::with(server.clone(), R2025_11_25, Limits::default());
    let mut second = LineClient::with(server, R2025_06_18, Limits::default());
    first.shake_hands(json!({})).await;
    second.shake_hands(json!({})).await;
    first.call("echo", json!({ "message": "x" })).await;
    let id = first.send("tools/call", json!({ "name": "toggle_tool" })).await;
    assert_eq!(first.until(id).await[0]["method"], "notifications/tools/list_changed");
    assert_eq!(second.next().await["method"], "notifications/tools/list_changed");
    assert_eq!(second.revision.era(), Era::Legacy);
}
