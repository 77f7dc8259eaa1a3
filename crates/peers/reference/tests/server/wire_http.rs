//! HTTP as bytes over plain sockets: what crosses is what these tests say.

use std::fmt::Write as _;
use std::time::Duration;

use net::server::http;
use reference::{Options, serve_http};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use wire::framing::sse::{Block, Blocks};

use crate::line_client::modern_meta;

/// A status line and header fields.
#[derive(Debug)]
pub struct Head {
    pub status: u16,
    fields: Vec<(String, String)>,
}

impl Head {
    pub fn read(text: &str) -> Self {
        let mut lines = text.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let fields = lines.take_while(|line| !line.is_empty()).filter_map(|line| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_lowercase(), value.to_owned()))
        });
        Self { status: status.unwrap_or_else(|| panic!("{text:?}")), fields: fields.collect() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A whole response.
pub struct Reply {
    pub status: u16,
    pub text: String,
    head: Head,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {:?}", self.text))
    }
}

/// A response that is still coming.
pub struct Stream {
    pub head: Head,
    socket: TcpStream,
    raw: Vec<u8>,
    blocks: Blocks,
    ended: bool,
}

impl Stream {
    async fn read(socket: TcpStream) -> Self {
        let mut stream = Self {
            head: Head { status: 0, fields: Vec::new() },
            socket,
            raw: Vec::new(),
            blocks: Blocks::new(1 << 20),
            ended: false,
        };
        let end = loop {
            if let Some(end) = stream.raw.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            assert!(stream.more().await, "the connection ended within the head");
        };
        stream.head = Head::read(std::str::from_utf8(&stream.raw[..end]).unwrap());
        stream.raw.drain(..end);
        stream
    }

    /// The connection, for what is no HTTP any more.
    pub fn into_socket(self) -> TcpStream {
        assert!(self.raw.is_empty() || self.head.status != 101, "nobody speaks before the client does");
        self.socket
    }

    async fn more(&mut self) -> bool {
        let read = self.socket.read_buf(&mut self.raw);
        tokio::time::timeout(Duration::from_secs(5), read).await.expect("the server says something").unwrap_or(0) > 0
    }

    fn is_chunked(&self) -> bool {
        self.head.header("transfer-encoding") == Some("chunked")
    }

    /// The next chunk of a chunked body; `None` at its end.
    async fn chunk(&mut self) -> Option<Vec<u8>> {
        assert!(self.is_chunked());
        loop {
            if self.ended {
                return None;
            }
            if let Some(end) = self.raw.windows(2).position(|window| window == b"\r\n") {
                let length = usize::from_str_radix(std::str::from_utf8(&self.raw[..end]).unwrap(), 16).unwrap();
                if self.raw.len() >= end + 4 + length {
                    let chunk = self.raw[end + 2..end + 2 + length].to_vec();
                    self.raw.drain(..end + 4 + length);
                    self.ended = length == 0;
                    if self.ended {
                        return None;
                    }
                    return Some(chunk);
                }
            }
            if !self.more().await {
                self.ended = true;
            }
        }
    }

    /// The next event that is more than a comment; `None` at the end.
    pub async fn event(&mut self) -> Option<Block> {
        loop {
            if let Some(piece) = self.blocks.next_block() {
                let block = Block::parse(piece.bytes());
                if block.data.is_some() {
                    return Some(block);
                }
                continue;
            }
            let chunk = self.chunk().await?;
            self.blocks.push(&chunk);
        }
    }

    /// The message of the next event that has one.
    pub async fn message(&mut self) -> Option<Value> {
        loop {
            let data = self.event().await?.data?;
            if !data.is_empty() {
                return Some(serde_json::from_str(&data).unwrap());
            }
        }
    }

    pub async fn whole(mut self) -> Reply {
        let mut body = Vec::new();
        if self.is_chunked() {
            while let Some(chunk) = self.chunk().await {
                body.extend(chunk);
            }
        } else {
            let length: usize = self.head.header("content-length").map_or(0, |length| length.parse().unwrap());
            while self.raw.len() < length && self.more().await {}
            body = std::mem::take(&mut self.raw);
        }
        Reply { status: self.head.status, text: String::from_utf8(body).unwrap(), head: self.head }
    }
}

/// A client of a server of its own.
pub struct Client {
    pub server: Option<http::Server>,
    pub host: String,
}

impl Client {
    pub async fn start() -> Self {
        Self::with(http::Options::default()).await
    }

    pub async fn with(http: http::Options) -> Self {
        Self::serving(Options { http, ..Options::default() }).await
    }

    pub async fn serving(options: Options) -> Self {
        let server = serve_http(([127, 0, 0, 1], 0).into(), options).await.unwrap();
        let host = server.local_addr().to_string();
        Self { server: Some(server), host }
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.host).await.unwrap()
    }

    /// Sends bytes and reads until the server closes.
    pub async fn raw(&self, text: &str) -> String {
        let mut socket = self.connect().await;
        socket.write_all(text.as_bytes()).await.unwrap();
        let mut all = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(5), socket.read_to_end(&mut all));
        read.await.expect("the server closes").unwrap();
        String::from_utf8(all).unwrap()
    }

    /// A request with exactly these headers beside `Content-Length`.
    pub async fn bare(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Stream {
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in headers {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        let _ = write!(text, "Content-Length: {}\r\n\r\n{body}", body.len());
        let mut socket = self.connect().await;
        socket.write_all(text.as_bytes()).await.unwrap();
        Stream::read(socket).await
    }

    pub async fn open(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Stream {
        let accept = if method == "GET" { "text/event-stream" } else { "application/json, text/event-stream" };
        let mut all = vec![("Host", self.host.as_str()), ("Content-Type", "application/json"), ("Accept", accept)];
        all.retain(|(name, _)| !headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
        all.extend(headers);
        self.bare(method, "/mcp", &all, body).await
    }

    pub async fn post(&self, headers: &[(&str, &str)], body: &str) -> Reply {
        self.open("POST", headers, body).await.whole().await
    }

    /// Opens a session and says that the client is ready.
    pub async fn initialize(&self, version: &str) -> String {
        let capabilities = crate::line_client::client_capabilities();
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities, "clientInfo": { "name": "t", "version": "1" },
        });
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let reply = self.post(&[], &request.to_string()).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        let session = reply.header("mcp-session-id").unwrap().to_owned();
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let reply = self.post(&[("Mcp-Session-Id", &session)], &ready.to_string()).await;
        assert_eq!((reply.status, reply.text.as_str()), (202, ""));
        session
    }

    /// A request within a session.
    pub async fn ask(&self, session: &str, id: i64, method: &str, params: Value) -> Stream {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.open("POST", &[("Mcp-Session-Id", session)], &request.to_string()).await
    }

    /// A modern request with the headers it must have.
    pub async fn modern(&self, method: &str, params: Value) -> Stream {
        let request = modern_request(method, params);
        let headers = modern_headers(&request);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.open("POST", &headers, &request.to_string()).await
    }
}

/// A modern request, its `_meta` filled in.
pub fn modern_request(method: &str, mut params: Value) -> Value {
    let mut meta = modern_meta();
    for (key, value) in params["_meta"].as_object().into_iter().flatten() {
        meta[key] = value.clone();
    }
    params["_meta"] = meta;
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// The headers that mirror a modern request.
pub fn modern_headers(request: &Value) -> Vec<(String, String)> {
    let Ok(wire::message::Packet::Message(message)) = wire::message::parse(request.to_string().as_bytes()) else {
        panic!("{request}");
    };
    wire::http::modern_headers(&message, None)
}
