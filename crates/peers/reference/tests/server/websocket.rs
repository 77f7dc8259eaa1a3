//! WebSocket over plain sockets: one connection is one conversation, one text frame one message.

use std::time::Duration;

use net::server::http::{Limits, Options, OtherTransports};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::frames::{ACCEPT, BINARY, CLOSE, PING, PONG, Socket, TEXT, frame, shake_hands, shake_hands_at};
use crate::wire_http::{Client, modern_request};

async fn client(change: impl FnOnce(&mut Limits)) -> Client {
    let mut options =
        Options { other_transports: OtherTransports { sse: false, websocket: true }, ..Options::default() };
    change(&mut options.limits);
    Client::with(options).await
}

fn ping(id: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
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
async fn the_handshake_is_proved_and_the_subprotocol_echoed() {
    let client = client(|_| {}).await;
    for (offered, echoed) in [("", None), ("mcp", Some("mcp")), ("chat, mcp", Some("mcp")), ("chat", None)] {
        let stream = shake_hands(&client, &[("Sec-WebSocket-Protocol", offered)]).await;
        assert_eq!(stream.head.status, 101);
        assert_eq!(stream.head.header("sec-websocket-accept"), Some(ACCEPT));
        assert_eq!(stream.head.header("sec-websocket-protocol"), echoed, "{offered:?} was offered");
    }
}

#[tokio::test]
async fn a_bad_handshake_is_refused_before_the_upgrade() {
    let mut options = Options::default();
    options.other_transports.websocket = true;
    options.origins = vec!["https://app.example:8443".to_owned()];
    let client = Client::with(options).await;
    let own = format!("http://{}", client.host);
    assert_eq!(shake_hands(&client, &[("Origin", &own)]).await.head.status, 101);
    for (header, status) in [
        (("Origin", "http://evil.example"), 403),
        (("Origin", "null"), 403),
        (("Host", "evil.example"), 403),
        (("Origin", "http://localhost:1"), 403),
        (("Origin", "http://127.0.0.1"), 403),
        (("Origin", "https://app.example:8443"), 101),
        (("Origin", "https://app.example"), 403),
        (("Upgrade", ""), 426),
        (("Upgrade", "h2c"), 426),
        (("Connection", "keep-alive"), 426),
        (("Sec-WebSocket-Version", "8"), 426),
        (("Sec-WebSocket-Version", ""), 426),
        (("Sec-WebSocket-Key", ""), 400),
        (("Sec-WebSocket-Key", "short"), 400),
    ] {
        let stream = shake_hands(&client, &[header]).await;
        assert_eq!(stream.head.status, status, "{header:?}");
        if header.0 == "Sec-WebSocket-Version" {
            assert_eq!(stream.head.header("sec-websocket-version"), Some("13"));
        }
    }
    let stream = client.bare("POST", "/ws", &[("Host", client.host.as_str())], "").await;
    assert_eq!((stream.head.status, stream.head.header("allow")), (405, Some("GET")));
}

#[tokio::test]
async fn a_socket_opens_at_the_path_of_http_where_that_is_wanted() {
    for sockets_at_path in [true, false] {
        let options = Options { sockets_at_path, ..Options::default() };
        let client =
            Client::with(Options { other_transports: OtherTransports { sse: false, websocket: true }, ..options })
                .await;
        for (path, otherwise) in [("/mcp", 400), ("/mcp/ws", 404)] {
            let stream = shake_hands_at(&client, path, &[]).await;
            assert_eq!(stream.head.status, if sockets_at_path { 101 } else { otherwise }, "{path}");
            let foreign = shake_hands_at(&client, path, &[("Origin", "http://localhost:1")]).await;
            let expected = if sockets_at_path { 403 } else { otherwise };
            assert_eq!(foreign.head.status, expected, "{path}: a page on another port opens no socket");
        }
        let accept = ("Accept", "text/event-stream");
        assert_eq!(client.open("GET", &[accept], "").await.head.status, 400, "a GET that asks for no socket");
    }
    let closed = Client::with(Options { sockets_at_path: true, ..Options::default() }).await;
    assert_eq!(shake_hands_at(&closed, "/mcp", &[]).await.head.status, 400, "no WebSocket is served");
}

#[tokio::test]
async fn every_revision_is_spoken() {
    let client = client(|_| {}).await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut socket = Socket::open(&client).await;
        assert_eq!(socket.ask(&initialize(version)).await["result"]["protocolVersion"], version);
        assert_eq!(socket.ask(&ping(1)).await, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        let answer = socket.ask(&json!([ping(2), ping(3)])).await;
        if version == "2025-03-26" {
            assert_eq!((&answer[0]["id"], &answer[1]["id"]), (&json!(2), &json!(3)));
        } else {
            assert_eq!(answer["error"]["code"], -32600, "no batches at {version}");
        }
    }
    let mut socket = Socket::open(&client).await;
    assert_eq!(socket.ask(&call(1, "echo", json!({}))).await["error"]["code"], -32600, "nobody said which revision");
    // Modern requests need no handshake, and stand beside legacy ones.
    let discovered = socket.ask(&modern_request("server/discover", json!({}))).await;
    assert!(discovered["result"]["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    assert!(socket.ask(&initialize("2025-06-18")).await["result"].is_object());
    assert!(socket.ask(&modern_request("tools/list", json!({}))).await["result"]["tools"].is_array());
}

#[tokio::test]
async fn a_message_may_come_in_pieces() {
    let client = client(|_| {}).await;
    let mut socket = Socket::open(&client).await;
    let text = ping(1).to_string();
    let (head, tail) = text.as_bytes().split_at(9);
    // Fragments, with a ping between them.
    socket.0.write_all(&frame(TEXT, head)).await.unwrap();
    socket.write(PING, b"there?").await;
    assert_eq!(socket.read().await, Some((PONG, b"there?".to_vec())));
    socket.0.write_all(&frame(0x80, tail)).await.unwrap();
    assert_eq!(socket.message().await["id"], 1);
    // One frame, byte by byte.
    for byte in frame(0x80 | TEXT, text.as_bytes()) {
        socket.0.write_all(&[byte]).await.unwrap();
    }
    assert_eq!(socket.message().await["id"], 1);
    assert_eq!(socket.ask(&json!("no message")).await["error"]["code"], -32600);
    socket.write(TEXT, b"{").await;
    assert_eq!(socket.message().await["error"]["code"], -32700);
}

#[tokio::test]
async fn what_is_no_message_in_a_text_frame_closes_the_connection() {
    let client = client(|limits| limits.body = 1000).await;
    let ping = ping(1).to_string();
    let mut unmasked = vec![0x80 | TEXT, ping.len() as u8];
    unmasked.extend(ping.as_bytes());
    for (bytes, code) in [
        (frame(0x80 | BINARY, ping.as_bytes()), 1003),
        (frame(0x80 | TEXT, &[0xff, 0xfe]), 1007),
        (frame(0x80 | TEXT, &[b' '; 1001]), 1009),
        ([frame(TEXT, &[b' '; 600]), frame(0x80, &[b' '; 600])].concat(), 1009),
        (frame(0x80 | TEXT, &vec![b' '; 3 << 20]), 1009),
        (unmasked, 1002),
        (frame(0xc0 | TEXT, ping.as_bytes()), 1002),
    ] {
        let mut socket = Socket::open(&client).await;
        let _ = socket.0.write_all(&bytes).await;
        assert_eq!(socket.closed().await, Some(code), "{:02x?}…", &bytes[..4]);
        socket.write(CLOSE, &code.to_be_bytes()).await;
        assert_eq!(socket.read().await, None, "{code}: then it ends");
    }
    let mut socket = Socket::open(&client).await;
    let fits = format!("{ping}{}", " ".repeat(1000 - ping.len()));
    socket.write(TEXT, fits.as_bytes()).await;
    assert_eq!(socket.message().await["id"], 1);
}

#[tokio::test]
async fn the_closing_handshake_is_answered() {
    let client = client(|limits| limits.sessions = 1).await;
    let mut socket = Socket::open(&client).await;
    assert_eq!(shake_hands(&client, &[]).await.head.status, 503, "one is as many as it takes");
    let begun = std::time::Instant::now();
    socket.write(CLOSE, &1000_u16.to_be_bytes()).await;
    assert_eq!(socket.closed().await, Some(1000));
    assert_eq!(socket.read().await, None);
    assert!(begun.elapsed() < Duration::from_millis(400), "the server closes first: {:?}", begun.elapsed());
    for _ in 0..100 {
        if shake_hands(&client, &[]).await.head.status == 101 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("there is no room again");
}

#[tokio::test]
async fn a_silent_peer_is_asked_and_then_given_up() {
    let client = client(|limits| limits.keep_alive = Duration::from_millis(150)).await;
    let mut answering = Socket::open(&client).await;
    let mut silent = Socket::open(&client).await;
    let mut stuck = Socket::open(&client).await;
    let whole = frame(0x80 | TEXT, ping(1).to_string().as_bytes());
    stuck.0.write_all(&whole[..whole.len() / 2]).await.unwrap();
    for _ in 0..5 {
        assert_eq!(answering.read().await, Some((PING, Vec::new())));
        answering.write(PONG, b"").await;
    }
    for socket in [&mut silent, &mut stuck] {
        assert_eq!(socket.read().await, Some((PING, Vec::new())));
        assert_eq!(socket.read().await, None);
    }
    answering.send(&ping(1)).await;
    assert_eq!(answering.message().await["id"], 1);
}

#[tokio::test]
async fn idle_connections_are_closed_and_flights_bounded() {
    let client = client(|limits| {
        limits.idle = Duration::from_millis(300);
        limits.keep_alive = Duration::from_millis(100);
        limits.in_flight = 1;
    })
    .await;
    let mut socket = Socket::open(&client).await;
    socket.ask(&initialize("2025-11-25")).await;
    socket.send(&call(1, "slow", json!({ "delay_ms": 600 }))).await;
    let refused = socket.ask(&call(2, "slow", json!({ "delay_ms": 600 }))).await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(2), &json!(-32603)));
    let (mut answered, begun) = (false, std::time::Instant::now());
    loop {
        match socket.read().await {
            Some((PING, _)) => socket.write(PONG, b"").await,
            Some((TEXT, _)) => answered = true,
            Some((CLOSE, payload)) => {
                assert_eq!(payload[..2], 1000_u16.to_be_bytes());
                break;
            }
            other => panic!("{other:?}"),
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "pongs are no messages");
    }
    assert!(answered, "what is under way keeps the connection");
}

#[tokio::test]
async fn a_reader_that_does_not_read_is_dropped() {
    let client = client(|limits| {
        limits.event_bytes = 1 << 20;
        limits.write_time = Duration::from_millis(300);
    })
    .await;
    let mut socket = Socket::open(&client).await;
    socket.ask(&initialize("2025-11-25")).await;
    let long = frame(0x80 | TEXT, call(1, "echo", json!({ "message": "x".repeat(1 << 20) })).to_string().as_bytes());
    let flood = async {
        for _ in 0..256 {
            if socket.0.write_all(&long).await.is_err() {
                return true;
            }
        }
        false
    };
    let dropped = tokio::time::timeout(Duration::from_secs(20), flood).await;
    assert_eq!(dropped, Ok(true), "neither taken for ever nor left hanging");
    let mut rest = vec![0; 1 << 16];
    let mut read = 0;
    while let Ok(more @ 1..) = socket.0.read(&mut rest).await {
        read += more;
    }
    assert!(read < 64 << 20, "what waited was bounded, not {read}");
}

#[tokio::test]
async fn shutting_down_answers_first_and_says_goodbye() {
    let mut client = client(|_| {}).await;
    let mut socket = Socket::open(&client).await;
    socket.ask(&initialize("2025-11-25")).await;
    socket.send(&call(1, "slow", json!({ "steps": 1, "delay_ms": 250 }))).await;
    socket.ask(&ping(2)).await;
    let server = client.server.take().unwrap();
    let ending = tokio::spawn(server.shutdown());
    assert_eq!(socket.message().await["id"], 1);
    assert_eq!(socket.closed().await, Some(1001));
    socket.write(CLOSE, &1001_u16.to_be_bytes()).await;
    assert_eq!(socket.read().await, None);
    tokio::time::timeout(Duration::from_secs(2), ending).await.expect("it waits for nobody else").unwrap();
}
