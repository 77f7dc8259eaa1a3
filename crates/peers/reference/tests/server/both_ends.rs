//! One conversation written down at both ends: the traces tell the same, frame by frame, so that one rule can read either.

use std::sync::Arc;
use std::time::Duration;

use net::server::http::{self, OtherTransports};
use net::server::recorder::HttpRecorder;
use net::{Address, Children, ConnectOptions, Connection, HttpAddress, Limits, Tap};
use reference::{Options, Server};
use serde_json::json;
use wire::trace::{Closed, Content, Frame, Header, Trace};
use wire::{Era, Party, RequestId, Revision, Transport};

use crate::line_client::modern_meta;

const SOON: Duration = Duration::from_secs(5);

fn header(subject: Party, transport: Transport, revision: Revision) -> Header {
    Header { subject, transport, revision: Some(revision), case: "both-ends".to_owned() }
}

fn request(revision: Revision, id: i64, method: &str, mut params: serde_json::Value) -> String {
    if revision.era() == Era::Modern {
        params["_meta"] = modern_meta();
    }
    params["_meta"]["progressToken"] = json!(id);
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// Greets, lists, calls what answers at once, what reports progress and what is not there.
async fn converse(connection: &Connection, revision: Revision) {
    if revision.era() == Era::Legacy {
        let params = json!({ "protocolVersion": revision.as_str(), "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } });
        let text = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
        connection.send(&text).await.unwrap();
        connection.response(&RequestId::from(0), SOON).await.unwrap();
        connection.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await.unwrap();
    }
    let calls = [
        ("tools/list", json!({})),
        ("tools/call", json!({ "name": "echo", "arguments": { "message": "grüß Gott" } })),
        ("tools/call", json!({ "name": "slow", "arguments": { "delay_ms": 30, "steps": 2 } })),
        ("no/such", json!({})),
    ];
    for (id, (method, params)) in (1..).zip(calls) {
        connection.send(&request(revision, id, method, params)).await.unwrap();
        connection.response(&RequestId::from(id), SOON).await.unwrap();
    }
}

/// Both traces of one conversation: the client's, then the server's.
async fn both(transport: Transport, revision: Revision) -> [Trace; 2] {
    let far = Tap::new(header(Party::Client, transport, revision));
    let recorder = Arc::new(HttpRecorder::one(&far));
    let other_transports = OtherTransports { sse: true, websocket: true };
    let http = http::Options { other_transports, recorder: Some(recorder.clone()), ..http::Options::default() };
    let server = Server::new(Options { http, ..Options::default() });
    let server = server.http(([127, 0, 0, 1], 0).into()).await.unwrap();
    let at = server.local_addr();
    let url = |scheme: &str, path: &str| HttpAddress::new(url::Url::parse(&format!("{scheme}://{at}{path}")).unwrap());
    let address = match transport {
        Transport::HttpSse => Address::Sse(url("http", "/sse")),
        Transport::WebSocket => Address::WebSocket(url("ws", "/ws")),
        _ => Address::Http(url("http", "/mcp")),
    };
    let near = Tap::new(header(Party::Server, transport, revision));
    let connection =
        Connection::open(&address, revision, &near, &ConnectOptions::new(Limits::default(), &Children::new()))
            .await
            .unwrap();
    converse(&connection, revision).await;
    connection.close().await;
    drop(connection);
    let deserted = async {
        while !recorder.is_deserted() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(SOON, deserted).await.unwrap();
    server.shutdown().await;
    recorder.finish();
    [near.finish(), far.finish()]
}

/// A frame without its time, and without the headers that either end alone can know.
fn plain(frame: &Frame) -> String {
    const OWN: [&str; 5] = ["host", "date", "content-length", "transfer-encoding", "connection"];
    let kept = |headers: &[(String, String)]| {
        let mut kept: Vec<_> = headers
            .iter()
            .filter(|(name, _)| !OWN.contains(&name.as_str()))
            .map(|(n, v)| format!("{n}: {v}"))
            .collect();
        kept.sort();
        kept.join(", ")
    };
    let content = match &frame.content {
        Content::Request { method, target, headers } => format!("{method} {target} {}", kept(headers)),
        Content::Response { status, headers } => format!("{status} {}", kept(headers)),
        Content::Body { bytes, complete } => format!("body {complete} {}", String::from_utf8_lossy(bytes)),
        Content::WebSocket { bytes, .. } | Content::Sse(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => format!("{other:?}"),
    };
    format!("{:?} {} {content}", frame.from, frame.connection)
}

/// What either trace says of one stream: an exchange's two directions and its end.
fn streams(trace: &Trace) -> Vec<Vec<String>> {
    let mut exchanges: Vec<u32> = trace.frames.iter().map(|frame| frame.exchange).collect();
    exchanges.sort_unstable();
    exchanges.dedup();
    let of = |exchange: u32, from: Party| {
        trace.frames.iter().filter(move |f| f.exchange == exchange && f.from == from).map(plain).collect()
    };
    exchanges.into_iter().flat_map(|exchange| [of(exchange, Party::Client), of(exchange, Party::Server)]).collect()
}

#[tokio::test]
async fn both_ends_tell_the_same() {
    let places = [
        (Transport::StreamableHttp, Revision::NEWEST),
        (Transport::StreamableHttp, Revision::NEWEST_LEGACY),
        (Transport::StreamableHttp, Revision::R2025_03_26),
        (Transport::HttpSse, Revision::R2024_11_05),
        (Transport::WebSocket, Revision::NEWEST),
        (Transport::WebSocket, Revision::NEWEST_LEGACY),
    ];
    for (transport, revision) in places {
        let [near, far] = both(transport, revision).await;
        assert!(far.frames.len() > 8, "{transport} {revision}: {:#?}", far.frames);
        assert!(far.frames.iter().all(|frame| frame.done >= frame.at));
        let [near, far] = [streams(&near), streams(&far)];
        for (ours, theirs) in near.iter().zip(&far) {
            for (our, their) in ours.iter().zip(theirs) {
                assert_eq!(our, their, "{transport} {revision}");
            }
            assert_eq!(ours.len(), theirs.len(), "{transport} {revision}: {ours:#?} {theirs:#?}");
        }
        assert_eq!(near.len(), far.len(), "{transport} {revision}");
    }
}

#[tokio::test]
async fn a_client_that_lets_go_is_seen_to() {
    let far = Tap::new(header(Party::Client, Transport::StreamableHttp, Revision::NEWEST));
    let recorder = Arc::new(HttpRecorder::one(&far));
    let http = http::Options { recorder: Some(recorder.clone()), ..http::Options::default() };
    let server = Server::new(Options { http, ..Options::default() });
    let server = server.http(([127, 0, 0, 1], 0).into()).await.unwrap();
    let url = url::Url::parse(&format!("http://{}/mcp", server.local_addr())).unwrap();
    let near = Tap::new(header(Party::Server, Transport::StreamableHttp, Revision::NEWEST));
    let address = Address::Http(HttpAddress::new(url));
    let connection =
        Connection::open(&address, Revision::NEWEST, &near, &ConnectOptions::new(Limits::default(), &Children::new()))
            .await
            .unwrap();
    let params = json!({ "name": "slow", "arguments": { "delay_ms": 100, "steps": 50 } });
    let exchange = connection.send(&request(Revision::NEWEST, 1, "tools/call", params)).await.unwrap();
    exchange.event(|_| true, SOON).await.unwrap();
    exchange.abort();
    connection.close().await;
    let let_go = |frame: &Frame| frame.from == Party::Client && frame.content == Content::Closed(Closed::Aborted);
    let seen = async {
        while !far.snapshot().frames.iter().any(let_go) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(SOON, seen).await.expect("the trace says that the client let go");
    server.shutdown().await;
}
