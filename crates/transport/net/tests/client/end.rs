//! What the tests of this crate share: addresses, time-outs, and how a trace is read.

use std::time::Duration;

use net::client::Command;
use net::{Address, Children, ConnectOptions, Connection, HttpAddress, Limits, Tap};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wire::trace::{Content, Header, Trace};
use wire::{Revision, Transport};

/// Long enough for anything on this machine.
pub(crate) const SOON: Duration = Duration::from_secs(5);
/// Long enough for a shell to start.
pub(crate) const SHORT: Duration = Duration::from_millis(120);

pub(crate) fn shell(program: &str) -> Address {
    Address::Stdio(Command::new("sh", ["-c", program]))
}

pub(crate) fn http(url: &str) -> Address {
    Address::Http(HttpAddress::new(url.parse().unwrap()))
}

pub(crate) fn options(limits: &Limits) -> ConnectOptions {
    ConnectOptions::new(limits.clone(), &Children::new())
}

pub(crate) async fn open(address: Address, limits: &Limits) -> (Connection, Tap) {
    open_with(address, Revision::NEWEST_LEGACY, limits).await
}

pub(crate) async fn open_with(address: Address, revision: Revision, limits: &Limits) -> (Connection, Tap) {
    let tap = Tap::new(Header::server(Transport::Stdio, revision, "test"));
    let connection = Connection::open(&address, revision, &tap, &options(limits)).await.unwrap();
    (connection, tap)
}

/// The marks of a trace, in order.
pub(crate) fn marks(trace: &Trace) -> Vec<(&str, Value)> {
    let marks = trace.frames.iter().filter_map(|frame| match &frame.content {
        Content::Mark(mark) => Some((mark.name(), mark.value())),
        _ => None,
    });
    marks.collect()
}

/// A server on loopback that hands every connection to `serve`, with its number from 0. Its URL.
pub(crate) async fn server<F, S>(serve: S) -> String
where
    S: Fn(usize, TcpStream) -> F + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        for number in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(number, stream));
        }
    });
    url
}

/// One HTTP request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// Request line and headers, names in lower case as they came.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.split_once(": ").filter(|(n, _)| *n == name).map(|(_, v)| v))
    }

    pub(crate) fn is(&self, method: &str) -> bool {
        self.head.starts_with(method)
    }

    pub(crate) fn message(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// Reads one request; `None` at the end of the connection.
pub(crate) async fn read(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let asked = Received { head: head.to_owned(), body: body.to_owned() };
            let length: usize = asked.header("content-length").map_or(0, |n| n.parse().unwrap());
            if body.len() >= length {
                return Some(asked);
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// Writes bytes; a peer that is gone is none of the fake's business.
pub(crate) async fn write(stream: &mut TcpStream, text: &str) {
    let _ = stream.write_all(text.as_bytes()).await;
}

/// An HTTP response with a body.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

/// A JSON response.
pub(crate) fn json_answer(status: &str, headers: &str, body: &Value) -> String {
    answer(status, &format!("content-type: application/json\r\n{headers}"), &body.to_string())
}

/// The result that answers `request`.
pub(crate) fn result(request: &Value, result: Value) -> Value {
    serde_json::json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })
}
