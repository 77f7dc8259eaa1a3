//! A console on a free port, and requests to it.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use console::hub::Bounds;
use console::judging::{CaseWriter, Finding, KeptExchange, KeptServer, RuleBook, TestFile};
use console::{Console, Options};
use net::client::{Address, HttpAddress};
use net::server::http::Server;
use serde_json::{Value, json};
use wire::redact::Redactor;
use wire::trace::Content;
use wire::{Level, Revision, Trace};

/// Finds every stderr line of a trace, so that tests see where findings go.
struct Lines;

impl RuleBook for Lines {
    fn findings(&self, trace: &Trace, _: bool) -> Vec<Finding> {
        let found = trace.frames.iter().enumerate().filter(|(_, frame)| matches!(frame.content, Content::Stderr(_)));
        found
            .map(|(event, _)| Finding {
                rule: "test.stderr".into(),
                level: Level::Should,
                event,
                pointer: String::new(),
                why: "a line on stderr".to_owned(),
                sentence: "A server SHOULD be silent".to_owned(),
                fix: "be silent".to_owned(),
                url: "https://example.org/".to_owned(),
            })
            .collect()
    }

    fn explain(&self, id: &str) -> Option<String> {
        (id == "test.stderr").then(|| "what it says".to_owned())
    }
}

/// Writes the requests of the exchanges, a line each.
struct Requests;

impl CaseWriter for Requests {
    fn test_file(&self, server: &KeptServer, exchanges: Vec<KeptExchange>) -> Result<TestFile, String> {
        let line =
            |one: &KeptExchange| format!("{} {} {} {}\n", server.revision, one.method, one.params, one.answer.is_ok());
        let text = exchanges.iter().map(line).collect();
        Ok(TestFile { text, cases: exchanges.len(), left_out: Vec::new() })
    }
}

/// A console that is served, and what it needs to stay alive.
pub struct Page {
    pub console: Arc<Console>,
    pub address: SocketAddr,
    pub token: String,
    _serving: Server,
    _server: Option<Server>,
}

/// One answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// A console without targets.
pub async fn empty(bounds: Bounds) -> Page {
    with(bounds, None).await
}

async fn with(bounds: Bounds, server: Option<Server>) -> Page {
    let options = Options {
        bounds,
        redactor: Redactor::new([7; 32]).remembering(),
        rule_book: Arc::new(Lines),
        case_writer: Arc::new(Requests),
        words: ToString::to_string,
        doctor: doctor::Words {
            connecting: ToString::to_string,
            asking: ToString::to_string,
            authorizing: |advice| advice.to_string(),
            sign_in: "sign in",
        },
        authorization: oauth::Options::new(None),
        apps: true,
        version: "0".to_owned(),
    };
    let console = Console::new(options).expect("a token");
    let page = console.listen(([127, 0, 0, 1], 0).into()).await.expect("a free port");
    let (address, token) = (page.local_addr(), console.token().reveal().to_owned());
    Page { console, address, token, _serving: page, _server: server }
}

/// A console that is connected to the reference server at a revision.
pub async fn connected(revision: Revision) -> Page {
    let server = reference::Server::new(reference::Options::default());
    let server = server.http(([127, 0, 0, 1], 0).into()).await.expect("a free port");
    let options = client::Options { revision: Some(revision), ..server_at(server.local_addr()) };
    let page = with(Bounds::default(), Some(server)).await;
    page.console.add_server(options);
    page.until("it is connected", |state| state["targets"][0]["state"] == "open").await;
    page
}

/// The options of a client of a server at this address.
pub fn server_at(address: SocketAddr) -> client::Options {
    let url = format!("http://{address}/mcp").parse().expect("an address");
    client::Options::new(Address::Http(HttpAddress::new(url)), &net::Children::new())
}

impl Page {
    /// Sends a request as it stands; `Connection: close` is added.
    pub async fn send(&self, head: &str, body: &str) -> Answer {
        self.send_declaring(head, body.len(), body).await
    }

    /// The same with a body of which only a part is sent.
    pub async fn send_declaring(&self, head: &str, length: usize, body: &str) -> Answer {
        at(self.address, head, length, body).await
    }

    fn head(&self, method: &str, path: &str) -> String {
        format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}", self.address, self.token)
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(&self.head("GET", path), "").await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        let head = format!("{}\r\nContent-Type: application/json", self.head("POST", path));
        self.send(&head, &body.to_string()).await
    }

    /// Does an action that must succeed.
    pub async fn act(&self, path: &str, body: Value) -> Value {
        let answer = self.post(path, body).await;
        assert_eq!(answer.status, 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()
    }

    /// Waits for a state.
    pub async fn until(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let state = self.get("/api/state").await.json();
            if holds(&state) {
                return state;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{what}: {state}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until a row has a status, and returns the row in full.
    pub async fn row_with(&self, n: &Value, status: &str) -> Value {
        let begun = Instant::now();
        loop {
            let row = self.get(&format!("/api/row/{n}")).await.json();
            if row["row"][7] == status {
                return row;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{status}: {row}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The rows that a filter leaves.
    pub async fn rows(&self, filter: &str) -> Vec<Value> {
        let escaped = filter.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02x}"));
        let answer = self.get(&format!("/api/rows?filter={escaped}")).await.json();
        answer["rows"].as_array().unwrap_or_else(|| panic!("{filter}: {answer}")).clone()
    }

    /// Calls a tool; returns the number of its row.
    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.act("/api/request", json!({ "target": 1, "method": "tools/call", "params": params })).await["row"].clone()
    }

    /// Opens a feed; its blocks are read one by one.
    pub fn feed(&self, query: &str) -> Blocks {
        let request = format!("{}\r\n\r\n", self.head("GET", &format!("/api/feed?{query}")));
        let mut stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        stream.write_all(request.as_bytes()).expect("a request");
        Blocks { stream: Some(stream), raw: Vec::new(), head: None, text: String::new() }
    }
}

/// A feed as it comes.
pub struct Blocks {
    stream: Option<TcpStream>,
    /// What is not read yet of the coded body.
    raw: Vec<u8>,
    head: Option<String>,
    text: String,
}

impl Blocks {
    /// The status of the answer.
    pub async fn status(&mut self) -> u16 {
        while self.head.is_none() {
            self.more().await;
        }
        let head = self.head.as_deref().unwrap_or_default();
        head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status")
    }

    /// The next block of this event.
    pub async fn next(&mut self, event: &str) -> Value {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                let is_wanted = block.lines().any(|line| line == format!("event: {event}"));
                let data = block.lines().find_map(|line| line.strip_prefix("data: "));
                if let Some(data) = data.filter(|_| is_wanted) {
                    return serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"));
                }
            }
            self.more().await;
        }
    }

    async fn more(&mut self) {
        let mut stream = self.stream.take().expect("a stream");
        let reading = tokio::task::spawn_blocking(move || {
            let mut chunk = vec![0; 1 << 16];
            let count = stream.read(&mut chunk).expect("the next block in time");
            assert!(count > 0, "the feed ended");
            chunk.truncate(count);
            (stream, chunk)
        });
        let (stream, chunk) = reading.await.expect("a block");
        self.stream = Some(stream);
        self.raw.extend(chunk);
        if self.head.is_none()
            && let Some(end) = self.raw.windows(4).position(|window| window == b"\r\n\r\n")
        {
            self.head = Some(String::from_utf8_lossy(&self.raw[..end]).into_owned());
            self.raw.drain(..end + 4);
        }
        // Whole chunks of the coding only.
        while self.head.is_some()
            && let Some(end) = self.raw.windows(2).position(|window| window == b"\r\n")
        {
            let size = std::str::from_utf8(&self.raw[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
            let whole = end + 2 + size.expect("a chunk") + 2;
            if self.raw.len() < whole {
                return;
            }
            self.text.push_str(std::str::from_utf8(&self.raw[end + 2..whole - 2]).expect("text"));
            self.raw.drain(..whole);
        }
    }
}

/// Sends a request elsewhere, as it stands; `Connection: close` is added.
pub async fn request_at(address: SocketAddr, head: &str, body: &str) -> Answer {
    at(address, head, body.len(), body).await
}

async fn at(address: SocketAddr, head: &str, length: usize, body: &str) -> Answer {
    let request = format!("{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
    tokio::task::spawn_blocking(move || exchange(address, &request)).await.expect("an answer")
}

fn exchange(address: SocketAddr, request: &str) -> Answer {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut bytes = Vec::new();
    // A server that refuses early may reset the connection after its answer.
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let mut body = bytes[end + 4..].to_vec();
    if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        body = dechunked(&body);
    }
    Answer { status, head, body }
}

fn dechunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let size = size.expect("a chunk");
        if size == 0 {
            break;
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 2 + size + 2..];
    }
    body
}
