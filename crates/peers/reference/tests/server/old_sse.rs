//! The old HTTP+SSE transport over plain sockets: one stream is one session.

use std::time::Duration;

use net::server::http::{Limits, Options, OtherTransports};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use crate::wire_http::{Client, Reply, Stream, modern_request};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

async fn client(change: impl FnOnce(&mut Limits)) -> Client {
    let mut options =
        Options { other_transports: OtherTransports { sse: true, websocket: false }, ..Options::default() };
    change(&mut options.limits);
    Client::with(options).await
}

async fn get(client: &Client, headers: &[(&str, &str)]) -> Stream {
    let mut all = vec![("Host", client.host.as_str()), ("Accept", "text/event-stream")];
    all.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
    all.extend(headers);
    client.bare("GET", "/sse", &all, "").await
}

/// Opens a stream and tells where it says to post.
async fn open(client: &Client) -> (Stream, String) {
    let mut stream = get(client, &[]).await;
    assert_eq!((stream.head.status, stream.head.header("content-type")), (200, Some("text/event-stream")));
    let first = stream.event().await.unwrap();
    assert_eq!(first.event.as_deref(), Some("endpoint"));
    let endpoint = first.data.unwrap();
    (stream, endpoint)
}

async fn post(client: &Client, endpoint: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let mut all = vec![("Host", client.host.as_str()), ("Content-Type", "application/json")];
    all.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
    all.extend(headers);
    client.bare("POST", endpoint, &all, body).await.whole().await
}

/// Posts a message, and its answer from the stream.
async fn ask(client: &Client, (stream, endpoint): &mut (Stream, String), message: &Value) -> Value {
    let reply = post(client, endpoint, &[], &message.to_string()).await;
    assert_eq!((reply.status, reply.text.as_str()), (202, ""));
    let event = stream.event().await.unwrap();
    assert_eq!(event.event.as_deref(), Some("message"));
    serde_json::from_str(&event.data.unwrap()).unwrap()
}

fn initialize(version: &str) -> Value {
    let params =
        json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

fn call(id: i64, name: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name, "arguments": arguments } })
}

#[tokio::test]
async fn the_stream_names_an_endpoint_and_carries_every_answer() {
    let client = client(|_| {}).await;
    let mut session = open(&client).await;
    let id = session.1.strip_prefix("/messages?session=").unwrap();
    assert!(id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()), "128 bits: {id}");
    assert_ne!(open(&client).await.1, session.1);
    // No later revision has this transport.
    for version in ["2024-11-05", "2025-11-25", "2026-07-28", "1999-01-01"] {
        let mut session = open(&client).await;
        let answer = ask(&client, &mut session, &initialize(version)).await;
        assert_eq!(answer["result"]["protocolVersion"], "2024-11-05", "asked for {version}");
    }
    ask(&client, &mut session, &initialize("2024-11-05")).await;
    let answer = ask(&client, &mut session, &call(7, "echo", json!({ "message": "hello" }))).await;
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(7), &json!("hello")));
    let answer = ask(&client, &mut session, &modern_request("server/discover", json!({}))).await;
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["data"]["supported"]),
        (&json!(-32022), &json!(["2024-11-05"]))
    );
    let answer = ask(&client, &mut session, &json!([{ "jsonrpc": "2.0", "id": 1, "method": "ping" }])).await;
    assert_eq!(answer["error"]["code"], -32600, "no batches at 2024-11-05");
    assert_eq!(post(&client, &session.1, &[], "{").await.status, 202);
    assert_eq!(session.0.message().await.unwrap()["error"]["code"], -32700);
}

#[tokio::test]
async fn who_is_not_let_in_is_told() {
    let client = client(|_| {}).await;
    let (_stream, endpoint) = open(&client).await;
    for bad in [("Origin", "http://evil.example"), ("Host", "evil.example")] {
        assert_eq!(get(&client, &[bad]).await.head.status, 403, "{bad:?}");
        assert_eq!(post(&client, &endpoint, &[bad], PING).await.status, 403, "{bad:?}");
    }
    assert_eq!(get(&client, &[("Origin", "http://localhost:1")]).await.head.status, 200);
    assert_eq!(get(&client, &[("Accept", "text/html")]).await.head.status, 406);
    assert_eq!(post(&client, &endpoint, &[("Content-Type", "text/plain")], PING).await.status, 415);
    assert_eq!(post(&client, "/messages", &[], PING).await.status, 400);
    for nobody in ["0", "00000000000000000000000000000000", "x", ""] {
        assert_eq!(post(&client, &format!("/messages?session={nobody}"), &[], PING).await.status, 404, "{nobody:?}");
    }
    let host = [("Host", client.host.as_str())];
    for (method, path, allowed) in [("POST", "/sse", "GET"), ("DELETE", "/sse", "GET"), ("GET", &endpoint, "POST")] {
        let stream = client.bare(method, path, &host, "").await;
        assert_eq!((stream.head.status, stream.head.header("allow")), (405, Some(allowed)), "{method} {path}");
    }
    let closed = Client::start().await;
    for (method, path) in [("GET", "/sse"), ("POST", "/messages?session=0"), ("GET", "/ws")] {
        let host = [("Host", closed.host.as_str())];
        assert_eq!(closed.bare(method, path, &host, "").await.head.status, 404, "{path} is not open");
    }
}

/// Asks until the session has ended, for a few seconds at most.
async fn ends(client: &Client, endpoint: &str) -> bool {
    for _ in 0..200 {
        if post(client, endpoint, &[], PING).await.status == 404 {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

#[tokio::test]
async fn the_session_ends_with_its_stream() {
    let client = client(|limits| limits.sessions = 2).await;
    let (stream, endpoint) = open(&client).await;
    let (_other, others) = open(&client).await;
    assert_eq!(get(&client, &[]).await.head.status, 503, "two are as many as it takes");
    assert_eq!(post(&client, &endpoint, &[], PING).await.status, 202);
    drop(stream);
    assert!(ends(&client, &endpoint).await);
    assert_eq!(post(&client, &others, &[], PING).await.status, 202, "the other goes on");
    assert_eq!(get(&client, &[]).await.head.status, 200, "there is room again");
}

#[tokio::test]
async fn bodies_flights_and_idle_sessions_are_bounded() {
    let client = client(|limits| {
        limits.body = 1000;
        limits.in_flight = 1;
        limits.idle = Duration::from_millis(400);
    })
    .await;
    let mut session = open(&client).await;
    ask(&client, &mut session, &initialize("2024-11-05")).await;
    let reply = post(&client, &session.1, &[], &" ".repeat(1001)).await;
    assert_eq!((reply.status, reply.header("connection")), (413, Some("close")));
    let slow = |id| call(id, "slow", json!({ "delay_ms": 700 })).to_string();
    assert_eq!(post(&client, &session.1, &[], &slow(1)).await.status, 202);
    assert_eq!(post(&client, &session.1, &[], &slow(2)).await.status, 202);
    let refused = session.0.message().await.unwrap();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(2), &json!(-32603)));
    assert_eq!(session.0.message().await.unwrap()["id"], 1, "what is under way keeps the session");
    assert!(session.0.message().await.is_none(), "then nobody uses it");
    assert!(ends(&client, &session.1).await);
}

#[tokio::test]
async fn a_reader_that_does_not_read_is_dropped() {
    let client = client(|limits| {
        limits.event_bytes = 1 << 20;
        limits.write_time = Duration::from_millis(300);
    })
    .await;
    let (stream, endpoint) = open(&client).await;
    let (_other, others) = open(&client).await;
    let long = call(1, "echo", json!({ "message": "x".repeat(1 << 20) })).to_string();
    assert_eq!(post(&client, &endpoint, &[], &initialize("2024-11-05").to_string()).await.status, 202);
    let mut taken = 0;
    while taken < 64 && post(&client, &endpoint, &[], &long).await.status == 202 {
        taken += 1;
    }
    assert!(taken < 64, "what waits for it is bounded");
    // Its connection is closed, not only its session: what is left in the pipe comes, and then the end.
    let mut socket = stream.into_socket();
    let mut sink = vec![0; 1 << 16];
    let drained = async { while socket.read(&mut sink).await.is_ok_and(|read| read > 0) {} };
    tokio::time::timeout(Duration::from_secs(5), drained).await.expect("the connection ends");
    assert_eq!(post(&client, &others, &[], PING).await.status, 202, "the other goes on");
}

#[tokio::test]
async fn shutting_down_answers_first() {
    let mut client = client(|_| {}).await;
    let mut session = open(&client).await;
    ask(&client, &mut session, &initialize("2024-11-05")).await;
    let slow = call(1, "slow", json!({ "steps": 1, "delay_ms": 250 })).to_string();
    assert_eq!(post(&client, &session.1, &[], &slow).await.status, 202);
    let begun = std::time::Instant::now();
    client.server.take().unwrap().shutdown().await;
    assert!(begun.elapsed() < Duration::from_millis(1500), "{:?}", begun.elapsed());
    assert_eq!(session.0.message().await.unwrap()["id"], 1);
    assert!(session.0.message().await.is_none());
}
