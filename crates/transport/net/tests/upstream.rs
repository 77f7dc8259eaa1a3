//! The client end for programs that pass traffic on, and answers that pass unread.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use net::HttpAddress;
use net::server::http::{Body, HeaderMap, HttpBody, Method, Options, listen};
use net::service::{Answer, Call, Reply, Service};
use net::upstream::{HttpUpstream, NextEvent};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use url::Url;

const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const SECOND: Duration = Duration::from_secs(1);

/// A server that answers one request with these parts, a pause before each.
async fn upstream(parts: &'static [&'static str]) -> HttpUpstream {
    let listener = TcpListener::bind(LOCAL).await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let _ = stream.read(&mut [0; 4096]).await;
        for part in parts {
            sleep(Duration::from_millis(30)).await;
            stream.write_all(part.as_bytes()).await.expect("it reads");
        }
    });
    let url = Url::parse(&format!("http://{address}/mcp")).expect("a URL");
    HttpUpstream::new(&HttpAddress::new(url), SECOND).expect("a valid address")
}

const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn an_event_that_is_awaited_again_has_lost_nothing() {
    let upstream = upstream(&[EVENTS, "data: a", "b", "c\n\ndata: d\n\n"]).await;
    let mut response = upstream.send(Method::POST, HeaderMap::new(), Bytes::new()).await.expect("a response");
    let mut data = Vec::new();
    while data.len() < 2 {
        // Each wait is given up within the event.
        match timeout(Duration::from_millis(3), response.next_event(1 << 10)).await {
            Ok(event) => data.push(event.expect("a stream").expect("an event").data.unwrap_or_default()),
            Err(_) => assert!(data.is_empty() || data.len() == 1),
        }
    }
    assert_eq!(data, ["abc", "d"]);
}

#[tokio::test]
async fn an_event_passes_to_its_end_and_no_further() {
    let upstream = upstream(&[EVENTS, "data: 12345678", "9\r\n", "\r\ndata: another\n\n"]).await;
    let mut response = upstream.send(Method::POST, HeaderMap::new(), Bytes::new()).await.expect("a response");
    let next = response.next_event_within(8, 1 << 10).await;
    assert!(matches!(next, Ok(NextEvent::Open)), "{next:?}");
    assert_eq!(response.open_event(), b"data: 12345678");
    let mut body = Body::boxed(response.into_event(SECOND));
    let mut came = Vec::new();
    while let Some(frame) = std::future::poll_fn(|context| std::pin::Pin::new(&mut body).poll_frame(context)).await {
        came.extend_from_slice(&frame.expect("it does not break off").into_data().unwrap_or_default());
    }
    assert!(matches!(came.as_slice(), b"data: 123456789\r\n\r\n" | b"data: 123456789\r\n\r"), "{came:?}");
}

/// Answers with a text of two lines that passes as it comes, after a notification.
struct Passing;

impl Service for Passing {
    fn call(&self, call: Call) -> Reply {
        assert!(call.takes_body());
        if call.message.string_member("name").is_some() {
            call.link.notify("notifications/progress", serde_json::json!({})).expect("it is heard");
        }
        Answer::passed(Body::Whole(Some(Bytes::from_static(b"{\"id\":1,\n\"result\":{}}")))).into()
    }
}

async fn asked(params: &str) -> String {
    let server = listen(Arc::new(Passing), LOCAL, Options::default()).await.expect("a free port");
    let address = server.local_addr();
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{params}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let length = body.len();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nConnection: \
         close\r\nContent-Length: {length}\r\n\r\n"
    );
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(format!("{head}{body}").as_bytes()).await.expect("it reads");
    let mut came = String::new();
    timeout(SECOND * 5, stream.read_to_string(&mut came)).await.expect("an end").expect("a text");
    came
}

#[tokio::test]
async fn a_passed_answer_is_a_body_or_the_last_event() {
    let alone = asked("").await;
    assert!(alone.contains("content-type: application/json") && alone.contains("content-length: 21"), "{alone}");
    assert!(alone.ends_with("{\"id\":1,\n\"result\":{}}"), "{alone}");
    let after = asked(r#""name":"x","#).await;
    assert!(after.contains("content-type: text/event-stream"), "{after}");
    let events: Vec<_> = after.lines().filter(|line| line.starts_with("data:")).collect();
    assert_eq!(events.len(), 2, "{after}");
    // Chunks cut the event: their sizes stand between its parts.
    assert!(after.contains("{\"id\":1, \"result\":{}}"), "{after}");
}
