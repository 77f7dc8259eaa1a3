//! What both eras share over HTTP: who is let in, what a body must be, limits.

use std::time::Duration;

use net::server::http;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::wire_http::{Client, modern_headers, modern_request};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn small(change: impl FnOnce(&mut http::Limits)) -> http::Options {
    let mut options = http::Options::default();
    change(&mut options.limits);
    options
}

#[tokio::test]
async fn only_names_of_this_machine_are_let_in() {
    let options = http::Options { hosts: vec!["mcp.example".to_owned()], ..http::Options::default() };
    let client = Client::with(options).await;
    let session = client.initialize("2025-11-25").await;
    let port = client.host.rsplit_once(':').unwrap().1.to_owned();
    for (host, origin, status) in [
        ("127.0.0.1", None, 200),
        ("localhost", None, 200),
        ("LocalHost", Some("http://localhost:5173"), 200),
        ("[::1]", Some("http://[::1]:1"), 200),
        ("mcp.example", Some("https://mcp.example"), 200),
        ("127.0.0.1", Some("https://127.0.0.1"), 200),
        ("evil.example.com", None, 403),
        ("127.0.0.1", Some("http://evil.example.com"), 403),
        ("127.0.0.1", Some("null"), 403),
        ("127.0.0.1", Some(""), 403),
        ("127.0.0.1", Some("http://localhost.evil.example"), 403),
        ("127.0.0.1", Some("http://localhost@evil.example"), 403),
        ("127.0.0.1.evil.example", None, 403),
        ("localhost:80:80", None, 403),
    ] {
        let named = if host.matches(':').count() == 2 && !host.starts_with('[') {
            host.to_owned()
        } else {
            format!("{host}:{port}")
        };
        let mut headers = vec![("Mcp-Session-Id", session.as_str()), ("Host", named.as_str())];
        headers.extend(origin.map(|origin| ("Origin", origin)));
        let reply = client.post(&headers, PING).await;
        assert_eq!(reply.status, status, "{host} {origin:?}: {}", reply.text);
        if status == 403 {
            assert!(reply.json().get("id").is_none());
            for method in ["GET", "DELETE"] {
                assert_eq!(client.open(method, &headers, "").await.head.status, 403);
            }
        }
    }
}

#[tokio::test]
async fn the_body_must_be_json_and_the_answer_acceptable() {
    let client = Client::start().await;
    let session = client.initialize("2025-11-25").await;
    let both = "application/json, text/event-stream";
    for (kind, accept, status) in [
        ("application/json; charset=utf-8", both, 200),
        ("Application/JSON", "text/event-stream;q=0.1,application/json", 200),
        ("application/json", "*/*", 200),
        ("text/plain", both, 415),
        ("application/jsonl", both, 415),
        ("application/json", "application/json", 406),
        ("application/json", "text/event-stream", 406),
        ("application/json", "text/html", 406),
        ("application/json", "application/json, text/event-stream;q=0", 406),
    ] {
        let headers = [("Mcp-Session-Id", session.as_str()), ("Content-Type", kind), ("Accept", accept)];
        assert_eq!(client.post(&headers, PING).await.status, status, "{kind} {accept}");
    }
    let bare = [("Host", client.host.as_str()), ("Mcp-Session-Id", session.as_str()), ("Accept", both)];
    assert_eq!(client.bare("POST", "/mcp", &bare, PING).await.head.status, 415, "no Content-Type");
    let headers = [("Mcp-Session-Id", session.as_str()), ("Accept", "application/json")];
    assert_eq!(client.open("GET", &headers, "").await.head.status, 406);
}

#[tokio::test]
async fn there_is_one_endpoint_with_three_methods() {
    let client = Client::start().await;
    let host = [("Host", client.host.as_str())];
    for path in ["/", "/mcp/", "/mcpx", "/sse"] {
        assert_eq!(client.bare("POST", path, &host, "").await.head.status, 404, "{path}");
    }
    for method in ["PUT", "PATCH", "OPTIONS", "HEAD"] {
        let stream = client.bare(method, "/mcp", &host, "").await;
        assert_eq!(stream.head.status, 405, "{method}");
        assert_eq!(stream.head.header("allow"), Some("GET, POST, DELETE"));
    }
}

#[tokio::test]
async fn bodies_and_heads_are_bounded() {
    let client = Client::with(small(|limits| {
        limits.body = 1000;
        limits.headers = 20;
        limits.head = 10_000;
    }))
    .await;
    let session = client.initialize("2025-11-25").await;
    let id = ("Mcp-Session-Id", session.as_str());
    let fits = format!("{PING}{}", " ".repeat(1000 - PING.len()));
    assert_eq!(client.post(&[id], &fits).await.status, 200);
    let reply = client.post(&[id], &format!("{fits} ")).await;
    assert_eq!((reply.status, reply.header("connection")), (413, Some("close")));
    let chunked = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: */*\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n{}\r\n",
        client.host,
        "x".repeat(0x800)
    );
    assert!(client.raw(&chunked).await.starts_with("HTTP/1.1 413"));
    let many: Vec<_> = (0..30).map(|i| (format!("X-{i}"), "x".to_owned())).collect();
    let many: Vec<_> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(client.post(&many, PING).await.status, 431);
    let long = "x".repeat(20_000);
    assert_eq!(client.post(&[("X-Long", &long)], PING).await.status, 431);
    assert_eq!(client.post(&[id], PING).await.status, 200, "the server goes on");
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let client = Client::with(small(|limits| limits.body_time = Duration::from_millis(50))).await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: 9\r\n\r\n{{",
        client.host
    );
    assert!(client.raw(&head).await.starts_with("HTTP/1.1 408"));
}

#[tokio::test]
async fn connections_are_kept_and_may_be_pipelined() {
    use tokio::io::AsyncWriteExt;
    let client = Client::start().await;
    let session = client.initialize("2025-11-25").await;
    let one = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: */*\r\nMcp-Session-Id: {session}\r\nContent-Length: {}\r\n\r\n{PING}",
        client.host,
        PING.len()
    );
    let last = one.replace("Accept: */*", "Accept: */*\r\nConnection: close");
    let mut socket = client.connect().await;
    socket.write_all(format!("{one}{one}{last}").as_bytes()).await.unwrap();
    let mut all = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut socket, &mut all).await.unwrap();
    assert_eq!(all.matches("HTTP/1.1 200").count(), 3, "{all}");
}

#[tokio::test]
async fn shutdown_ends_streams_and_answers_what_is_in_flight() {
    let mut client = Client::start().await;
    let session = client.initialize("2025-11-25").await;
    let mut get = client.open("GET", &[("Mcp-Session-Id", &session)], "").await;
    assert_eq!(get.event().await.unwrap().data.as_deref(), Some(""));
    let mut listen =
        client.modern("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } })).await;
    assert_eq!(listen.message().await.unwrap()["method"], "notifications/subscriptions/acknowledged");
    let slow = json!({ "name": "slow", "arguments": { "steps": 2, "delay_ms": 150 }, "_meta": { "progressToken": 1 } });
    let mut slow = client.modern("tools/call", slow).await;
    assert_eq!(slow.message().await.unwrap()["method"], "notifications/progress");
    let server = client.server.take().unwrap();
    let before = std::time::Instant::now();
    let shutdown = tokio::spawn(server.shutdown());
    assert!(get.event().await.is_none());
    assert_eq!(listen.message().await.unwrap()["method"], "notifications/cancelled");
    let end = listen.message().await.unwrap();
    assert_eq!(end["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    assert!(listen.message().await.is_none());
    slow.message().await.unwrap();
    assert_eq!(slow.message().await.unwrap()["result"]["resultType"], "complete");
    shutdown.await.unwrap();
    assert!(before.elapsed() < Duration::from_secs(1), "nothing more was waited for");
    assert!(TcpStream::connect(&client.host).await.is_err());
}

#[tokio::test]
async fn a_reader_that_does_not_read_is_dropped() {
    let client = Client::with(small(|limits| limits.write_time = Duration::from_millis(300))).await;
    let params = json!({ "name": "echo", "arguments": { "message": "x".repeat(1 << 20) } });
    let request = modern_request("tools/call", params);
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n", client.host);
    let mirrored: String =
        modern_headers(&request).iter().map(|(name, value)| [name, ": ", value, "\r\n"].concat()).collect();
    let body = request.to_string();
    let kinds = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    let text = format!("{head}{mirrored}{kinds}Content-Length: {}\r\n\r\n{body}", body.len());
    let mut socket = TcpStream::connect(&client.host).await.unwrap();
    // Its answers fill whatever the system keeps for it; then the server waits for it, but not for ever.
    let sent = async { while socket.write_all(text.as_bytes()).await.is_ok() {} };
    timeout(Duration::from_secs(10), sent).await.expect("the connection ends");
    assert_eq!(client.post(&[], PING).await.status, 400, "others are served");
}
