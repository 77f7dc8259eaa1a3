//! Streamable HTTP and HTTP+SSE against fakes that write canned bytes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::end::{
    Received, SHORT, SOON, answer, http, json_answer, marks, open, open_with, options, read, result, server, shell,
    write,
};
use net::{Address, Connection, HttpAddress, Limits, OpenError, Outgoing, SendError, Tap};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use wire::trace::{Closed, Content, Header, header};
use wire::{Party, RequestId, Revision, Transport};

type Log = Arc<Mutex<Vec<Received>>>;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn limits() -> Limits {
    Limits { shutdown: Duration::from_millis(300), request: Duration::from_secs(3), ..Limits::default() }
}

/// A legacy server with a session; what it was asked goes into the log.
async fn legacy(mut stream: TcpStream, log: Log) {
    while let Some(asked) = read(&mut stream).await {
        log.lock().unwrap().push(asked.clone());
        let message = asked.message();
        let text = match message["method"].as_str() {
            _ if asked.is("DELETE") => answer("200 OK", "", ""),
            _ if asked.is("GET") => {
                let event = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
                write(&mut stream, &format!("{head}id: 9\ndata: {event}\n\n")).await;
                tokio::time::sleep(SOON).await;
                return;
            }
            Some("initialize") => {
                let version = json!({ "protocolVersion": "2025-06-18" });
                json_answer("200 OK", "Mcp-Session-Id: s-1\r\n", &result(&message, version))
            }
            _ if message.get("id").is_none() => answer("202 Accepted", "", ""),
            _ => json_answer("200 OK", "", &result(&message, json!({}))),
        };
        write(&mut stream, &text).await;
    }
}

async fn legacy_server() -> (String, Log) {
    let log = Log::default();
    let given = log.clone();
    (server(move |_, stream| legacy(stream, given.clone())).await, log)
}

#[tokio::test]
async fn a_legacy_session_is_carried_and_deleted() {
    let (url, log) = legacy_server().await;
    let (connection, tap) = open(http(&url), &limits()).await;
    connection.send(INITIALIZE).await.unwrap();
    connection.response(&RequestId::from(0), SOON).await.unwrap();
    assert_eq!(connection.session_id().as_deref(), Some("s-1"));
    let exchange = connection.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await.unwrap();
    assert_eq!(exchange.status(), Some(202));
    connection.send(PING).await.unwrap();
    connection.response(&RequestId::from(1), SOON).await.unwrap();
    connection
        .send_with(Outgoing::message(PING).session("other").header("Origin", "http://evil").without("accept"))
        .await
        .unwrap();
    connection.response(&RequestId::from(1), SOON).await.unwrap();
    connection.close().await;
    connection.close().await;
    let log = log.lock().unwrap().clone();
    assert_eq!(log.len(), 5, "{log:?}");
    assert_eq!((log[0].header("mcp-session-id"), log[0].header("mcp-protocol-version")), (None, None));
    for asked in [&log[1], &log[2], &log[4]] {
        assert_eq!(asked.header("mcp-session-id"), Some("s-1"));
        assert_eq!(asked.header("mcp-protocol-version"), Some("2025-06-18"));
    }
    assert_eq!(
        (log[3].header("mcp-session-id"), log[3].header("origin"), log[3].header("accept")),
        (Some("other"), Some("http://evil"), None)
    );
    assert!(log[4].is("DELETE /mcp HTTP/1.1"));
    assert!(connection.send(PING).await.is_err());

    let trace = tap.finish();
    let requests: Vec<_> = trace.frames.iter().filter(|f| matches!(f.content, Content::Request { .. })).collect();
    assert_eq!(requests.iter().map(|f| f.exchange).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let Content::Request { headers, .. } = &requests[2].content else { unreachable!() };
    // What is written down is what crossed.
    let crossed: Vec<String> = log[2].head.lines().skip(1).map(str::to_owned).collect();
    assert_eq!(headers.iter().map(|(n, v)| format!("{n}: {v}")).collect::<Vec<_>>(), crossed);
    let answered = trace.frames.iter().find(|f| matches!(f.content, Content::Response { .. })).unwrap();
    assert!(matches!(&trace.frames[answered.cause.unwrap()].content, Content::Body { .. }));
}

#[tokio::test]
async fn modern_requests_mirror_their_body() {
    let log = Log::default();
    let given = log.clone();
    let url = server(move |_, mut stream| {
        let log = given.clone();
        async move {
            while let Some(asked) = read(&mut stream).await {
                log.lock().unwrap().push(asked.clone());
                let schema =
                    json!({ "type": "object", "properties": { "zone": { "type": "string", "x-mcp-header": "Zone" } } });
                let tools = json!({ "tools": [{ "name": "t", "inputSchema": schema }] });
                write(&mut stream, &json_answer("200 OK", "Mcp-Session-Id: no\r\n", &result(&asked.message(), tools)))
                    .await;
            }
        }
    })
    .await;
    let (connection, _tap) = open_with(http(&url), Revision::R2026_07_28, &limits()).await;
    let ask = |id: i64, method: &str, mut params: Value| {
        params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
    };
    connection.send(&ask(1, "tools/list", json!({}))).await.unwrap();
    connection.response(&RequestId::from(1), SOON).await.unwrap();
    connection.send(&ask(2, "tools/call", json!({ "name": "t", "arguments": { "zone": " é" } }))).await.unwrap();
    connection.response(&RequestId::from(2), SOON).await.unwrap();
    connection.close().await;
    let log = log.lock().unwrap();
    assert_eq!(log.len(), 2, "no DELETE in the modern era: {log:?}");
    let of = |name: &str| log[1].header(name).map(str::to_owned);
    assert_eq!(of("mcp-protocol-version").as_deref(), Some("2026-07-28"));
    assert_eq!((of("mcp-method").as_deref(), of("mcp-name").as_deref()), (Some("tools/call"), Some("t")));
    assert_eq!(of("mcp-param-zone").as_deref(), Some("=?base64?IMOp?="));
    assert_eq!((connection.session_id(), of("mcp-session-id")), (None, None));
}

#[tokio::test]
async fn an_event_stream_is_read_as_it_comes() {
    let url = server(|_, mut stream| async move {
        read(&mut stream).await;
        write(
            &mut stream,
            "HTTP/1.1 200 OK\r\ncontent-type: Text/Event-Stream; x=y\r\ntransfer-encoding: chunked\r\n\r\n",
        )
        .await;
        for part in [
            ": hi\n\nid: 1\nda",
            "ta: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n",
            "\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n\r\nid: ha",
        ] {
            write(&mut stream, &format!("{:x}\r\n{part}\r\n", part.len())).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        write(&mut stream, "0\r\n\r\n").await;
        read(&mut stream).await;
    })
    .await;
    let (connection, tap) = open(http(&url), &limits()).await;
    let exchange = connection.send(PING).await.unwrap();
    let first = connection.wait_for(|_| true, SOON).await.unwrap();
    assert_eq!(first.method(), Some("n"));
    assert!(!exchange.finished(Duration::ZERO).await, "the first message waits for no second one");
    connection.response(&RequestId::from(1), SOON).await.unwrap();
    assert!(exchange.finished(SOON).await);
    assert_eq!(exchange.events().len(), 3);
    assert_eq!(exchange.body(), None);
    let trace = tap.finish();
    let seen: Vec<_> =
        trace.frames.iter().filter(|f| f.from == Party::Server && f.exchange == 1).map(|f| &f.content).collect();
    assert_eq!(seen[1], &Content::Sse(b": hi\n\n".to_vec()));
    assert_eq!(seen[2], &Content::Sse(b"id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n".to_vec()));
    assert_eq!(seen[4..], [&Content::Raw(b"id: ha".to_vec()), &Content::Closed(Closed::End)]);
    assert!(trace.frames.iter().all(|f| f.done >= f.at));
}

#[tokio::test]
async fn a_get_stream_lives_until_it_is_aborted() {
    let (url, log) = legacy_server().await;
    let (connection, tap) = open(http(&url), &limits()).await;
    connection.send(INITIALIZE).await.unwrap();
    connection.response(&RequestId::from(0), SOON).await.unwrap();
    let stream = connection.http().unwrap().open_stream(Some("8")).await.unwrap();
    let event = stream.event(|block| block.id.as_deref() == Some("9"), SOON).await.unwrap();
    assert!(event.data.is_some());
    connection.wait_for(|m| m.method() == Some("notifications/message"), SOON).await.unwrap();
    assert!(!stream.finished(SHORT).await);
    stream.abort();
    assert!(stream.finished(SOON).await);
    assert_eq!(stream.closed(), Some(Closed::Aborted));
    let log = log.lock().unwrap().clone();
    assert_eq!((log[1].header("last-event-id"), log[1].header("accept")), (Some("8"), Some("text/event-stream")));
    let trace = tap.snapshot();
    let closed = trace.frames.iter().find(|f| f.content == Content::Closed(Closed::Aborted)).unwrap();
    assert_eq!((closed.from, closed.exchange), (Party::Client, 2));
}

#[tokio::test]
async fn an_abort_closes_the_socket() {
    let (told, hears) = tokio::sync::oneshot::channel();
    let told = Arc::new(Mutex::new(Some(told)));
    let url = server(move |_, mut stream| {
        let told = told.clone();
        async move {
            read(&mut stream).await;
            let ended = read(&mut stream).await.is_none();
            told.lock().unwrap().take().map(|told| told.send(ended));
        }
    })
    .await;
    let (connection, _tap) = open(http(&url), &limits()).await;
    let exchange = connection.send(PING).await.unwrap();
    tokio::time::sleep(SHORT).await;
    exchange.abort();
    assert!(tokio::time::timeout(SOON, hears).await.unwrap().unwrap());
    // Nobody waits for an answer that we cut off ourselves.
    assert!(connection.response(&RequestId::from(1), Duration::from_mins(1)).await.is_none());
}

#[tokio::test]
async fn an_http_refusal_ends_the_waiting() {
    let url = server(|_, mut stream| async move {
        read(&mut stream).await;
        write(&mut stream, &answer("404 Not Found", "content-type: text/html\r\n", "<html>")).await;
    })
    .await;
    let (connection, tap) = open(http(&url), &limits()).await;
    let exchange = connection.send(PING).await.unwrap();
    let begun = Instant::now();
    assert!(connection.response(&RequestId::from(1), Duration::from_mins(1)).await.is_none());
    assert!(begun.elapsed() < SOON);
    assert_eq!((exchange.status(), exchange.body()), (Some(404), Some(b"<html>".to_vec())));
    assert_eq!(marks(&tap.finish()), []);
}

#[tokio::test]
async fn a_cut_answer_is_told() {
    let url = server(|_, mut stream| async move {
        read(&mut stream).await;
        write(&mut stream, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"js")
            .await;
    })
    .await;
    let (connection, tap) = open(http(&url), &limits()).await;
    let exchange = connection.send(PING).await.unwrap();
    assert!(connection.response(&RequestId::from(1), SOON).await.is_none());
    assert_eq!(exchange.closed(), Some(Closed::Reset));
    let trace = tap.finish();
    assert!(trace.frames.iter().any(|f| f.content == Content::Body { bytes: b"{\"js".to_vec(), complete: false }));
    assert_eq!(marks(&trace)[0].0, "unanswered");
}

#[tokio::test]
async fn what_is_not_http_is_kept() {
    let url = server(|_, mut stream| async move {
        read(&mut stream).await;
        write(&mut stream, "SSH-2.0-fake\r\n").await;
    })
    .await;
    let (connection, tap) = open(http(&url), &limits()).await;
    connection.send(PING).await.unwrap();
    assert!(connection.response(&RequestId::from(1), SOON).await.is_none());
    assert!(tap.finish().frames.iter().any(|f| f.content == Content::Raw(b"SSH-2.0-fake\r\n".to_vec())));
}

#[tokio::test]
async fn a_body_without_end_is_bounded() {
    let url = server(|_, mut stream| async move {
        read(&mut stream).await;
        write(&mut stream, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n").await;
        for _ in 0..2000 {
            write(&mut stream, &"x".repeat(64 << 10)).await;
        }
    })
    .await;
    let few = Limits { message_bytes: 1 << 20, ..limits() };
    let (connection, tap) = open(http(&url), &few).await;
    let exchange = connection.send(PING).await.unwrap();
    assert!(exchange.finished(SOON).await);
    assert_eq!(exchange.closed(), Some(Closed::Aborted));
    assert_eq!(marks(&tap.finish()), [("limit", json!("message"))]);
}

#[tokio::test]
async fn an_event_begins_with_its_own_bytes_however_lines_end() {
    for end in ["\n", "\r\n", "\r"] {
        let url = server(move |_, mut stream| async move {
            read(&mut stream).await;
            write(&mut stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n").await;
            write(&mut stream, &format!(": first{end}{end}")).await;
            tokio::time::sleep(SHORT).await;
            write(&mut stream, &format!(": second{end}{end}")).await;
        })
        .await;
        let (connection, tap) = open(http(&url), &limits()).await;
        let exchange = connection.send(PING).await.unwrap();
        assert!(exchange.finished(SOON).await);
        let trace = tap.finish();
        let events: Vec<_> = trace.frames.iter().filter(|f| matches!(f.content, Content::Sse(_))).collect();
        assert_eq!(events.len(), 2, "{end:?}");
        assert!(events[1].at >= events[0].done + 20_000, "{end:?}: {} and {}", events[0].done, events[1].at);
    }
}

#[tokio::test]
async fn a_stream_without_end_is_bounded() {
    let url = server(|_, mut stream| async move {
        read(&mut stream).await;
        write(&mut stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n").await;
        while tokio::io::AsyncWriteExt::write_all(&mut stream, b": tick\n\n").await.is_ok() {}
    })
    .await;
    let few = Limits { trace_bytes: 1 << 20, ..limits() };
    let (connection, tap) = open(http(&url), &few).await;
    let exchange = connection.send(PING).await.unwrap();
    assert!(exchange.finished(SOON).await);
    let found = tap.finish();
    assert_eq!(marks(&found), [("limit", json!("trace")), ("limit", json!("connection"))]);
}

#[tokio::test]
async fn an_idle_connection_that_the_server_closed_does_no_harm() {
    let url = server(|_, mut stream| async move {
        let asked = read(&mut stream).await.unwrap();
        write(&mut stream, &json_answer("200 OK", "", &result(&asked.message(), json!({})))).await;
    })
    .await;
    let (connection, _tap) = open(http(&url), &limits()).await;
    for id in 1..20 {
        let text = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string();
        connection.send(&text).await.unwrap();
        assert!(connection.response(&RequestId::from(id), SOON).await.is_some(), "{id}");
        // The close arrives: a POST that crosses it on the way fails, because it is not sent twice.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A call may have effects: where the server read it and closed the connection, it is not sent again.
#[tokio::test]
async fn a_post_that_may_have_arrived_is_not_sent_twice() {
    let log = Log::default();
    let seen = Arc::clone(&log);
    let url = server(move |_, mut stream| {
        let log = Arc::clone(&seen);
        async move {
            let first = read(&mut stream).await.unwrap();
            write(&mut stream, &json_answer("200 OK", "", &result(&first.message(), json!({})))).await;
            if let Some(second) = read(&mut stream).await {
                log.lock().unwrap().push(second);
            }
        }
    })
    .await;
    let (connection, _tap) = open(http(&url), &limits()).await;
    connection.send(PING).await.unwrap();
    assert!(connection.response(&RequestId::from(1), SOON).await.is_some());
    let exchange = connection.send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call"}"#).await.unwrap();
    assert!(exchange.finished(SOON).await);
    assert_eq!(exchange.closed(), Some(Closed::Reset));
    assert_eq!(log.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn raw_bytes_get_a_connection_of_their_own() {
    let url = server(|_, mut stream| async move {
        if read(&mut stream).await.is_some() {
            write(&mut stream, "HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    })
    .await;
    let (connection, tap) = open(http(&url), &limits()).await;
    let came = connection.http().unwrap().raw(b"POST /mcp HTTP/9.9\r\n\r\n", SOON).await.unwrap();
    assert_eq!(came, b"HTTP/1.1 400 Bad Request\r\n\r\n");
    assert_eq!(tap.finish().frames.iter().filter(|f| matches!(f.content, Content::Raw(_))).count(), 2);
    let (stdio, _tap) = open(shell("cat"), &limits()).await;
    assert!(matches!(stdio.http(), Err(SendError::Unsupported { .. })));
    assert!(matches!(
        stdio.send_with(Outgoing::message("{}").without("accept")).await,
        Err(SendError::Unsupported { .. })
    ));
}

async fn fails(address: Address, limits: &Limits) -> OpenError {
    let tap = Tap::new(Header::server(Transport::StreamableHttp, Revision::NEWEST_LEGACY, "test"));
    Connection::open(&address, Revision::NEWEST_LEGACY, &tap, &options(limits)).await.err().expect("a failure")
}

#[tokio::test]
async fn nobody_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    assert!(matches!(fails(http(&url), &limits()).await, OpenError::Refused { .. }));
    assert!(matches!(fails(http("http://no-such-host.invalid/"), &limits()).await, OpenError::Dns { .. }));
    assert!(matches!(fails(http("ftp://127.0.0.1/"), &limits()).await, OpenError::BadAddress { .. }));
}

#[tokio::test]
async fn the_old_transport_learns_its_endpoint() {
    let (posted, posts) = tokio::sync::mpsc::unbounded_channel::<Received>();
    let posts = Arc::new(tokio::sync::Mutex::new(posts));
    let url = server(move |_, mut stream| {
        let (posted, posts) = (posted.clone(), posts.clone());
        async move {
            while let Some(asked) = read(&mut stream).await {
                if !asked.is("GET") {
                    posted.send(asked).unwrap();
                    write(&mut stream, &answer("202 Accepted", "", "Accepted")).await;
                    continue;
                }
                write(
                    &mut stream,
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nevent: endpoint\ndata: /post?s=1\n\n",
                )
                .await;
                while let Some(asked) = posts.lock().await.recv().await {
                    assert!(asked.is("POST /post?s=1 "), "{asked:?}");
                    write(&mut stream, &format!("event: message\ndata: {}\n\n", result(&asked.message(), json!({}))))
                        .await;
                }
            }
        }
    })
    .await;
    let address = Address::Sse(HttpAddress::new(url.parse().unwrap()));
    let (connection, tap) = open_with(address, Revision::R2024_11_05, &limits()).await;
    let exchange = connection.send(PING).await.unwrap();
    connection.response(&RequestId::from(1), SOON).await.unwrap();
    assert_eq!(exchange.head(SOON).await.unwrap().0, 202);
    connection.close().await;
    let trace = tap.finish();
    let event = trace.frames.iter().find(|f| matches!(f.content, Content::Sse(_))).unwrap();
    assert_eq!(event.exchange, 1);
}

#[tokio::test]
async fn an_endpoint_elsewhere_is_refused() {
    let url = server(|_, mut stream| async move {
        read(&mut stream).await;
        let event = "event: endpoint\ndata: http://127.0.0.1:1/post\n\n";
        write(&mut stream, &format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{event}")).await;
        tokio::time::sleep(SOON).await;
    })
    .await;
    let error = fails(Address::Sse(HttpAddress::new(url.parse().unwrap())), &limits()).await;
    assert!(error.to_string().contains("another origin"), "{error}");
}

#[tokio::test]
async fn users_headers_replace_ours() {
    let (url, log) = legacy_server().await;
    let headers =
        vec![("User-Agent".to_owned(), "mine".to_owned()), ("Authorization".to_owned(), "Bearer t".to_owned())];
    let address = Address::Http(HttpAddress { headers, ..HttpAddress::new(url.parse().unwrap()) });
    let (connection, tap) = open(address, &limits()).await;
    connection.send(PING).await.unwrap();
    connection.response(&RequestId::from(1), SOON).await.unwrap();
    assert_eq!(log.lock().unwrap()[0].header("user-agent"), Some("mine"));
    let trace = tap.finish();
    let Some(Content::Request { headers, .. }) =
        trace.frames.iter().map(|f| &f.content).find(|c| matches!(c, Content::Request { .. }))
    else {
        panic!()
    };
    assert_eq!(header(headers, "authorization"), Some("Bearer t"));
}
