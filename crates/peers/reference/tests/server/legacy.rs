//! Streamable HTTP as 2025-03-26 to 2025-11-25 have it: sessions, streams, resumption.

use std::time::Duration;

use net::server::http;
use serde_json::{Value, json};

use crate::schema;
use crate::wire_http::{Client, Stream};

const VERSIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn slow(steps: u64, delay: u64) -> Value {
    json!({ "name": "slow", "arguments": { "steps": steps, "delay_ms": delay }, "_meta": { "progressToken": "p" } })
}

async fn rest(stream: &mut Stream) -> Vec<Value> {
    let mut all = Vec::new();
    while let Some(message) = stream.message().await {
        all.push(message);
    }
    all
}

#[tokio::test]
async fn a_session_lives_from_initialize_to_delete() {
    let client = Client::start().await;
    for version in VERSIONS.into_iter().chain(["2024-11-05"]) {
        let session = client.initialize(version).await;
        assert_eq!(session.len(), 32);
        assert!(session.bytes().all(|b| b.is_ascii_hexdigit()));
        let id = ("Mcp-Session-Id", session.as_str());
        let reply = client.post(&[id, ("MCP-Protocol-Version", version)], PING).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
        assert_eq!(reply.text, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert_eq!(reply.header("mcp-session-id"), None);
        let mut get = client.open("GET", &[id], "").await;
        assert_eq!(client.open("DELETE", &[id], "").await.head.status, 204);
        assert!(rest(&mut get).await.is_empty(), "its streams end with the session");
        for method in ["POST", "GET", "DELETE"] {
            assert_eq!(client.open(method, &[id], PING).await.head.status, 404, "{method}");
        }
    }
}

#[tokio::test]
async fn sessions_are_named_and_known() {
    let client = Client::start().await;
    for method in ["POST", "GET", "DELETE"] {
        assert_eq!(client.open(method, &[], PING).await.head.status, 400, "{method} without a session");
        for id in ["0123456789abcdef0123456789abcdef", "x", "0123456789ABCDEF0123456789ABCDEF"] {
            assert_eq!(client.open(method, &[("Mcp-Session-Id", id)], PING).await.head.status, 404, "{method} {id}");
        }
    }
    let reply = client.post(&[], PING).await;
    assert_eq!((reply.json()["id"].clone(), reply.json()["error"]["code"].clone()), (json!(1), json!(-32600)));
    let session = client.initialize("2025-11-25").await;
    let again = json!({
        "jsonrpc": "2.0", "id": 5, "method": "initialize", "params":
        { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } },
    });
    let reply = client.post(&[("Mcp-Session-Id", &session)], &again.to_string()).await;
    assert_eq!(reply.json()["error"]["code"], -32600, "a session is initialized once");
    let refused = r#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{}}"#;
    let reply = client.post(&[], refused).await;
    assert_eq!((reply.json()["error"]["code"].clone(), reply.header("mcp-session-id")), (json!(-32602), None));
}

#[tokio::test]
async fn initialize_may_name_its_version_in_headers() {
    let client = Client::start().await;
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let request = json!({ "jsonrpc": "2.0", "id": 5, "method": "initialize", "params": params }).to_string();
    let version = ("MCP-Protocol-Version", "2025-11-25");
    assert_eq!(client.post(&[version], &request).await.status, 200);
    assert_eq!(client.post(&[version, ("Mcp-Method", "initialize")], &request).await.status, 200);
    // It is legacy by its name, and what follows by its session.
    let greeted = client.post(&[("Mcp-Method", "initialize")], &request).await;
    let session = greeted.header("mcp-session-id").expect("a session").to_owned();
    let list = json!({ "jsonrpc": "2.0", "id": 6, "method": "tools/list" }).to_string();
    let listed = client.post(&[("Mcp-Session-Id", &session), ("Mcp-Method", "tools/list")], &list).await;
    assert_eq!((greeted.status, listed.status), (200, 200));
}

#[tokio::test]
async fn the_version_header_must_name_a_version() {
    let client = Client::start().await;
    let session = client.initialize("2025-06-18").await;
    let id = ("Mcp-Session-Id", session.as_str());
    for (version, status) in [
        (Some("2025-06-18"), 200),
        (None, 200),
        (Some("2025-11-25"), 200),
        (Some("1999-01-01"), 400),
        (Some("nonsense"), 400),
        (Some("2026-07-28"), 400),
    ] {
        let mut headers = vec![id];
        headers.extend(version.map(|version| ("MCP-Protocol-Version", version)));
        assert_eq!(client.post(&headers, PING).await.status, status, "{version:?}");
        if status == 400 && version != Some("2026-07-28") {
            for method in ["GET", "DELETE"] {
                assert_eq!(client.open(method, &headers, "").await.head.status, status, "{method} {version:?}");
            }
        }
    }
    let strict = Client::with(http::Options { strict: true, ..http::Options::default() }).await;
    let capabilities =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": capabilities });
    let reply = strict.post(&[], &request.to_string()).await;
    let id = ("Mcp-Session-Id", reply.header("mcp-session-id").unwrap());
    assert_eq!(strict.post(&[id], PING).await.status, 400);
    assert_eq!(strict.post(&[id, ("MCP-Protocol-Version", "2025-06-18")], PING).await.status, 200);
    let older = strict.initialize("2025-03-26").await;
    assert_eq!(strict.post(&[("Mcp-Session-Id", &older)], PING).await.status, 200, "2025-03-26 has no such header");
}

#[tokio::test]
async fn what_is_kept_for_a_client_that_comes_back_is_bounded() {
    let mut options = http::Options::default();
    options.limits.events = 2;
    let client = Client::with(options).await;
    let session = client.initialize("2025-06-18").await;
    let id = ("Mcp-Session-Id", session.as_str());
    let mut stream = client.ask(&session, 1, "tools/call", slow(6, 10)).await;
    let first = stream.event().await.unwrap().id.unwrap();
    drop(stream);
    tokio::time::sleep(Duration::from_millis(600)).await;
    let mut resumed = client.open("GET", &[id, ("Last-Event-ID", &first)], "").await;
    let messages = rest(&mut resumed).await;
    let steps: Vec<_> = messages.iter().filter_map(|m| m["params"]["progress"].as_i64()).collect();
    assert!(steps.len() <= 2 && steps.last() == Some(&6), "the newest are kept: {steps:?}");
    assert_eq!(messages.last().unwrap()["id"], 1);
}

#[tokio::test]
async fn notifications_and_responses_are_accepted_without_a_body() {
    let client = Client::start().await;
    let session = client.initialize("2025-11-25").await;
    for text in [
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/nobody/knows"}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}"#,
    ] {
        let reply = client.post(&[("Mcp-Session-Id", &session)], text).await;
        assert_eq!((reply.status, reply.text.as_str()), (202, ""), "{text}");
        assert_eq!(client.post(&[], text).await.status, 400, "{text} without a session");
    }
}

#[tokio::test]
async fn what_precedes_an_answer_makes_a_stream() {
    let client = Client::start().await;
    for version in VERSIONS {
        let session = client.initialize(version).await;
        let mut stream = client.ask(&session, 1, "tools/call", slow(2, 1)).await;
        assert_eq!(stream.head.status, 200);
        assert_eq!(stream.head.header("content-type"), Some("text/event-stream"));
        assert_eq!(stream.head.header("x-accel-buffering"), Some("no"));
        let first = stream.event().await.unwrap();
        let primed = version == "2025-11-25";
        assert_eq!(first.data.as_deref() == Some(""), primed, "{version}: {first:?}");
        assert_eq!(first.retry.is_some(), primed);
        assert!(first.id.is_some());
        let messages = rest(&mut stream).await;
        assert_eq!(messages.len(), if primed { 3 } else { 2 });
        let revision = version.parse().unwrap();
        let (answer, progress) = messages.split_last().unwrap();
        for message in progress {
            schema::check(revision, None, message);
        }
        schema::check(revision, Some("tools/call"), answer);
        // What is silent is plain JSON, however long it takes.
        let params = json!({ "name": "slow", "arguments": { "delay_ms": 5 } });
        let plain = client.ask(&session, 2, "tools/call", params).await;
        assert_eq!(plain.head.header("content-type"), Some("application/json"));
        // Log messages that are sent at once precede the answer too.
        let mut logged = client.ask(&session, 3, "tools/call", json!({ "name": "log" })).await;
        assert_eq!(rest(&mut logged).await.len(), 8, "seven from `info` on, and the answer");
    }
}

#[tokio::test]
async fn a_broken_stream_is_taken_up_where_it_broke() {
    let client = Client::start().await;
    for version in VERSIONS {
        let session = client.initialize(version).await;
        let id = ("Mcp-Session-Id", session.as_str());
        let mut stream = client.ask(&session, 1, "tools/call", slow(4, 40)).await;
        let mut event = stream.event().await.unwrap();
        while event.data.as_deref() == Some("") {
            event = stream.event().await.unwrap();
        }
        let last = event.id.unwrap();
        drop(stream);
        tokio::time::sleep(Duration::from_millis(60)).await;
        for _ in 0..2 {
            let mut resumed = client.open("GET", &[id, ("Last-Event-ID", &last)], "").await;
            let messages = rest(&mut resumed).await;
            let steps: Vec<_> = messages.iter().filter_map(|m| m["params"]["progress"].as_i64()).collect();
            assert_eq!(steps, [2, 3, 4], "{version}");
            assert_eq!(messages[3]["id"], 1, "a lost connection cancels nothing");
        }
        let last_of_all = format!("{}-{}", last.split_once('-').unwrap().0, u64::MAX);
        let resumed = client.open("GET", &[id, ("Last-Event-ID", &last_of_all)], "").await;
        assert_eq!((resumed.head.status, resumed.whole().await.text.as_str()), (200, ""));
        for bad in ["", "x", "99-1", "1", "-", "1-x"] {
            let status = client.open("GET", &[id, ("Last-Event-ID", bad)], "").await.head.status;
            assert_eq!(status, 400, "{bad:?}");
        }
        let other = client.initialize(version).await;
        let foreign = client.open("GET", &[("Mcp-Session-Id", &other), ("Last-Event-ID", &last)], "").await;
        assert_eq!(foreign.head.status, 400, "streams belong to their session");
    }
}

#[tokio::test]
async fn a_stream_can_be_taken_up_from_its_priming_event() {
    let client = Client::start().await;
    let session = client.initialize("2025-11-25").await;
    let mut stream = client.ask(&session, 1, "tools/call", slow(2, 30)).await;
    let primed = stream.event().await.unwrap().id.unwrap();
    drop(stream);
    let headers = [("Mcp-Session-Id", session.as_str()), ("Last-Event-ID", &primed)];
    let mut resumed = client.open("GET", &headers, "").await;
    assert_eq!(rest(&mut resumed).await.len(), 3);
}

#[tokio::test]
async fn cancellation_is_a_notification() {
    let client = Client::start().await;
    for version in VERSIONS {
        let session = client.initialize(version).await;
        let mut stream = client.ask(&session, 1, "tools/call", slow(100, 20)).await;
        stream.message().await.unwrap();
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        assert_eq!(client.post(&[("Mcp-Session-Id", &session)], cancel).await.status, 202);
        assert!(rest(&mut stream).await.iter().all(|message| message.get("id").is_none()), "{version}");
    }
}

#[tokio::test]
async fn a_get_stream_carries_what_belongs_to_no_request() {
    let client = Client::start().await;
    for version in VERSIONS {
        let session = client.initialize(version).await;
        let id = ("Mcp-Session-Id", session.as_str());
        let toggle = json!({ "name": "toggle_tool" });
        // Nobody listens yet: the first who does is told.
        client.ask(&session, 1, "tools/call", toggle.clone()).await.whole().await;
        let mut first = client.open("GET", &[id], "").await;
        assert_eq!(first.head.header("content-type"), Some("text/event-stream"));
        assert_eq!(first.message().await.unwrap()["method"], "notifications/tools/list_changed");
        let mut second = client.open("GET", &[id], "").await;
        if version == "2025-11-25" {
            assert_eq!(second.event().await.unwrap().data.as_deref(), Some(""));
        }
        let answer = client.ask(&session, 2, "tools/call", toggle.clone()).await.whole().await;
        assert_eq!(answer.header("content-type"), Some("application/json"), "it does not belong to the call");
        let event = second.event().await.unwrap();
        assert!(event.data.unwrap().contains("list_changed"));
        drop(second);
        tokio::time::sleep(Duration::from_millis(50)).await;
        client.ask(&session, 3, "tools/call", toggle.clone()).await.whole().await;
        assert!(first.message().await.is_some(), "each message goes to one stream, and the first is read again");
        assert_eq!(client.open("DELETE", &[id], "").await.head.status, 204);
        assert!(first.message().await.is_none(), "neither stream got the other's message");
        let _ = client.initialize(version).await;
    }
}

#[tokio::test]
async fn a_get_stream_can_be_taken_up() {
    let client = Client::start().await;
    let session = client.initialize("2025-06-18").await;
    let id = ("Mcp-Session-Id", session.as_str());
    let mut stream = client.open("GET", &[id], "").await;
    let touch = |n: i64| client.ask(&session, n, "tools/call", json!({ "name": "toggle_prompt" }));
    touch(1).await.whole().await;
    let last = stream.event().await.unwrap().id.unwrap();
    drop(stream);
    tokio::time::sleep(Duration::from_millis(50)).await;
    touch(2).await.whole().await;
    let mut resumed = client.open("GET", &[id, ("Last-Event-ID", &last)], "").await;
    assert_eq!(resumed.message().await.unwrap()["method"], "notifications/prompts/list_changed");
    touch(3).await.whole().await;
    assert_eq!(resumed.message().await.unwrap()["method"], "notifications/prompts/list_changed");
}

#[tokio::test]
async fn requests_to_the_client_come_on_the_stream_of_their_call() {
    let client = Client::start().await;
    for version in ["2025-06-18", "2025-11-25"] {
        let session = client.initialize(version).await;
        let mut stream = client.ask(&session, 1, "tools/call", json!({ "name": "ask" })).await;
        let request = stream.message().await.unwrap();
        assert_eq!(request["method"], "elicitation/create");
        schema::check(version.parse().unwrap(), None, &request);
        let result = json!({ "action": "accept", "content": { "name": "Ada" } });
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string();
        assert_eq!(client.post(&[("Mcp-Session-Id", &session)], &answer).await.status, 202);
        let answer = stream.message().await.unwrap();
        assert_eq!(answer["result"]["content"][0]["text"], "Hello, Ada!");
        assert!(stream.message().await.is_none());
    }
}

#[tokio::test]
async fn batches_exist_in_sessions_at_2025_03_26_only() {
    let client = Client::start().await;
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        { "jsonrpc": "2.0", "method": "notifications/roots/list_changed" },
        { "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "slow", "arguments": { "delay_ms": 1 } } },
        { "jsonrpc": "2.0", "id": 3, "method": "initialize" },
        5,
    ])
    .to_string();
    for version in VERSIONS {
        let session = client.initialize(version).await;
        let reply = client.post(&[("Mcp-Session-Id", &session)], &batch).await;
        if version == "2025-03-26" {
            let answers = reply.json();
            let ids: Vec<_> = answers.as_array().unwrap().iter().map(|answer| answer["id"].clone()).collect();
            assert_eq!((reply.status, json!(ids)), (200, json!([1, 2, 3, null])));
            let many = json!(vec![json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }); 101]).to_string();
            assert_eq!(client.post(&[("Mcp-Session-Id", &session)], &many).await.status, 413);
            let silent = r#"[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]"#;
            let reply = client.post(&[("Mcp-Session-Id", &session)], silent).await;
            assert_eq!((reply.status, reply.text.as_str()), (202, ""));
        } else {
            assert_eq!((reply.status, reply.json()["error"]["code"].clone()), (400, json!(-32600)), "{version}");
        }
    }
    assert_eq!(client.post(&[], &batch).await.status, 400);
}

#[tokio::test]
async fn sessions_are_bounded_and_end_when_nobody_uses_them() {
    let mut options = http::Options::default();
    options.limits.sessions = 2;
    options.limits.idle = Duration::from_millis(200);
    let client = Client::with(options).await;
    let idle = client.initialize("2025-11-25").await;
    let listening = client.initialize("2025-11-25").await;
    let stream = client.open("GET", &[("Mcp-Session-Id", &listening)], "").await;
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let request = json!({ "jsonrpc": "2.0", "id": 5, "method": "initialize", "params": params }).to_string();
    assert_eq!(client.post(&[], &request).await.status, 503);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(client.post(&[("Mcp-Session-Id", &idle)], PING).await.status, 404);
    assert_eq!(client.post(&[("Mcp-Session-Id", &listening)], PING).await.status, 200, "a stream keeps it");
    assert_eq!(client.post(&[], &request).await.status, 200, "there is room again");
    drop(stream);
}

#[tokio::test]
async fn requests_in_flight_are_bounded_and_their_ids_unique() {
    let mut options = http::Options::default();
    options.limits.in_flight = 1;
    let client = Client::with(options).await;
    let session = client.initialize("2025-11-25").await;
    let mut first = client.ask(&session, 1, "tools/call", slow(2, 150)).await;
    first.event().await.unwrap();
    let same = client.ask(&session, 1, "ping", json!({})).await.whole().await;
    assert_eq!((same.status, same.json()["error"]["code"].clone()), (400, json!(-32600)));
    let second = client.ask(&session, 2, "tools/call", slow(1, 1)).await;
    assert_eq!(second.head.status, 429);
    assert_eq!(client.ask(&session, 3, "ping", json!({})).await.head.status, 200, "quick ones are not in flight");
    assert_eq!(rest(&mut first).await.len(), 3);
}

fn call(id: i64, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[tokio::test]
async fn requests_in_a_batch_are_in_flight_and_can_be_cancelled() {
    let mut options = http::Options::default();
    options.limits.in_flight = 3;
    let client = Client::with(options).await;
    let session = client.initialize("2025-03-26").await;
    let named = [("Mcp-Session-Id", session.as_str())];
    let batch = json!([call(1, &slow(1, 5000)), call(2, &slow(1, 300)), call(3, &slow(1, 1)), call(2, &slow(1, 1))]);
    let batch = batch.to_string();
    let (reply, ()) = tokio::join!(client.post(&named, &batch), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        assert_eq!(client.post(&named, cancelled).await.status, 202);
    });
    let block = reply.text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
    let answers: Value = serde_json::from_str(block.unwrap_or(&reply.text)).expect("an array");
    let outcome = |answer: &Value| (answer["id"].clone(), answer["error"]["code"].clone());
    let outcomes: Vec<_> = answers.as_array().unwrap().iter().map(outcome).collect();
    assert_eq!(outcomes, [(json!(2), json!(null)), (json!(3), json!(-32603)), (json!(2), json!(-32600))], "{answers}");
}

#[tokio::test]
async fn the_responses_to_a_batch_are_bounded() {
    let mut options = http::Options::default();
    options.limits.batch.bytes = 1000;
    let client = Client::with(options).await;
    let session = client.initialize("2025-03-26").await;
    let echo = |id: i64| call(id, &json!({ "name": "echo", "arguments": { "message": "m".repeat(400) } }));
    let reply = client.post(&[("Mcp-Session-Id", &session)], &json!([echo(1), echo(2), echo(3)]).to_string()).await;
    let answers = reply.json();
    let failed: Vec<_> = answers.as_array().unwrap().iter().map(|answer| answer.get("error").is_some()).collect();
    assert_eq!((failed.len(), failed[0], failed[2]), (3, false, true), "{answers}");
}

/// Sessions that were opened and never used lock nobody out.
#[tokio::test]
async fn unused_sessions_make_room() {
    let mut options = http::Options::default();
    options.limits.sessions = 4;
    let client = Client::with(options).await;
    let used = client.initialize("2025-11-25").await;
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let request = json!({ "jsonrpc": "2.0", "id": 5, "method": "initialize", "params": params }).to_string();
    for number in 0..20 {
        assert_eq!(client.post(&[], &request).await.status, 200, "{number}");
    }
    assert_eq!(client.post(&[("Mcp-Session-Id", &used)], PING).await.status, 200);
}

/// All streams together keep so many bytes; the oldest that ended cannot be resumed any more.
#[tokio::test]
async fn streams_that_are_kept_are_bounded_together() {
    let mut options = http::Options::default();
    options.limits.kept_bytes = 2000;
    let client = Client::with(options).await;
    let mut firsts = Vec::new();
    for _ in 0..8 {
        let session = client.initialize("2025-11-25").await;
        let mut stream = client.ask(&session, 1, "tools/call", slow(3, 1)).await;
        let first = stream.event().await.unwrap().id.unwrap();
        assert_eq!(rest(&mut stream).await.len(), 4);
        firsts.push((session, first));
    }
    let mut statuses = Vec::new();
    for (session, first) in &firsts {
        let headers = [("Mcp-Session-Id", session.as_str()), ("Last-Event-ID", first)];
        statuses.push(client.open("GET", &headers, "").await.head.status);
    }
    assert_eq!((statuses[0], statuses[7]), (400, 200), "{statuses:?}");
}
