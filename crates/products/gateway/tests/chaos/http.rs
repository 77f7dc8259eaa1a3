//! The ledger as an HTTP endpoint that does to its connections what a call tells it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What a call can tell it, by the point at which it happens.
pub(crate) const FAULTS: [&str; 14] = [
    // The request is read.
    "read-cut",
    "read-reset",
    "read-silent",
    "read-503",
    "read-restart",
    "read-down",
    // The first event is written, the ledger not yet.
    "first-cut",
    // The ledger is written.
    "written-cut",
    "written-garbage",
    "written-500",
    "written-silent",
    "written-flood",
    // Half an answer, a whole one.
    "half-cut",
    "answered-cut",
];

#[derive(Default)]
struct State {
    keys: Vec<String>,
    sessions: HashSet<String>,
    next: u32,
    /// Until when connections are closed before a byte is read.
    down: Option<Instant>,
}

/// A ledger over Streamable HTTP.
pub(crate) struct HttpLedger {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    server: JoinHandle<()>,
}

impl Drop for HttpLedger {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl HttpLedger {
    /// One of 2026-07-28, or else of 2025-06-18 with sessions.
    pub(crate) async fn start(name: &'static str, modern: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let state = Arc::<Mutex<State>>::default();
        let kept = Arc::clone(&state);
        let server = tokio::spawn(async move {
            // Dropped with the server, they end.
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let peer = Connection { name, modern, stream, state: Arc::clone(&kept) };
                connections.spawn(peer.run());
                while connections.try_join_next().is_some() {}
            }
        });
        Self { url, state, server }
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).keys.clone()
    }
}

struct Connection {
    name: &'static str,
    modern: bool,
    stream: TcpStream,
    state: Arc<Mutex<State>>,
}

struct Request {
    head: String,
    message: Value,
}

impl Connection {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn run(mut self) {
        if self.state().down.is_some_and(|until| Instant::now() < until) {
            return;
        }
        while let Some(request) = self.read().await {
            if !self.answer(&request).await {
                return;
            }
        }
    }

    async fn read(&mut self) -> Option<Request> {
        let mut bytes = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let head = head.to_ascii_lowercase();
                let length = head
                    .split("content-length: ")
                    .nth(1)
                    .map_or(0, |rest| rest.split("\r\n").next().and_then(|digits| digits.parse().ok()).unwrap_or(0));
                if body.len() >= length {
                    return Some(Request { head, message: serde_json::from_str(body).unwrap_or_default() });
                }
            }
            if self.stream.read_buf(&mut bytes).await.ok()? == 0 {
                return None;
            }
        }
    }

    async fn write(&mut self, text: &str) -> bool {
        self.stream.write_all(text.as_bytes()).await.is_ok()
    }

    async fn status(&mut self, status: &str) -> bool {
        self.write(&format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n")).await
    }

    async fn json(&mut self, headers: &str, body: &str) -> bool {
        let length = body.len();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{headers}content-length: {length}");
        self.write(&format!("{head}\r\n\r\n{body}")).await
    }

    /// Whether the connection goes on.
    async fn answer(&mut self, request: &Request) -> bool {
        let reply =
            |result: Value| json!({ "jsonrpc": "2.0", "id": request.message["id"], "result": result }).to_string();
        let tools = json!([{ "name": format!("{}_write", self.name), "inputSchema": { "type": "object" } }]);
        let complete = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
        let result = |mut body: Value| {
            if self.modern
                && let (Some(body), Some(complete)) = (body.as_object_mut(), complete.as_object())
            {
                body.extend(complete.clone());
            }
            reply(body)
        };
        let method = request.message["method"].as_str().unwrap_or_default().to_owned();
        let known = self.modern || self.state().sessions.iter().any(|session| request.head.contains(session));
        match method.as_str() {
            "server/discover" if self.modern => {
                let text = result(json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } }));
                self.json("", &text).await
            }
            "initialize" if !self.modern => {
                let session = {
                    let mut state = self.state();
                    state.next += 1;
                    let session = format!("session-{}-{}-end", self.name, state.next);
                    state.sessions.insert(session.clone());
                    session
                };
                let server = json!({ "name": self.name, "version": "1" });
                let body =
                    json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": server });
                self.json(&format!("mcp-session-id: {session}\r\n"), &reply(body)).await
            }
            "" => self.status("405 Method Not Allowed").await,
            _ if method.starts_with("notifications/") => self.status("202 Accepted").await,
            _ if !known => {
                self.status(if request.head.contains("session-") { "404 Not Found" } else { "400 Bad Request" }).await
            }
            "tools/list" => {
                let text = result(json!({ "tools": tools }));
                self.json("", &text).await
            }
            "tools/call" => {
                let arguments = &request.message["params"]["arguments"];
                let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
                let (key, fault) = (text("key"), text("fault"));
                let wrote = json!({ "content": [{ "type": "text", "text": format!("wrote {key}") }] });
                let answer = result(wrote);
                let token = request.message["params"]["_meta"]["progressToken"].clone();
                self.call(&key, &fault, &answer, &token).await
            }
            _ => self.status("400 Bad Request").await,
        }
    }

    async fn call(&mut self, key: &str, fault: &str, answer: &str, token: &Value) -> bool {
        const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        let params = json!({ "progressToken": token, "progress": 1 });
        let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
        let progress = format!("data: {progress}\n\n");
        match fault {
            "read-cut" => return false,
            "read-reset" => {
                // Closed with something unread, TCP resets.
                let _ = self.stream.set_zero_linger();
                return false;
            }
            "read-silent" => std::future::pending().await,
            "read-503" => return self.status("503 Service Unavailable").await,
            "read-restart" => {
                self.state().sessions.clear();
                // A modern server knows no session: its restart is a cut.
                return !self.modern && self.status("404 Not Found").await;
            }
            "read-down" => {
                self.state().down = Some(Instant::now() + Duration::from_millis(150));
                return false;
            }
            "first-cut" => {
                self.write(&format!("{STREAM}{progress}")).await;
                return false;
            }
            _ => {}
        }
        self.state().keys.push(key.to_owned());
        match fault {
            "written-cut" => false,
            "written-garbage" => self.json("", "<html>oops</html>").await,
            "written-500" => self.status("500 Internal Server Error").await,
            "written-silent" => std::future::pending().await,
            "written-flood" => {
                let mut on = self.write(STREAM).await;
                while on {
                    on = self.write(&progress.repeat(50)).await;
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                false
            }
            "half-cut" => {
                let half = &answer[..answer.len() / 2];
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
                self.write(&format!("{head}{}\r\n\r\n{half}", answer.len())).await;
                false
            }
            "answered-cut" => {
                self.json("", answer).await;
                false
            }
            _ if key.ends_with('5') => {
                self.write(&format!("{STREAM}{progress}data: {answer}\n\n")).await;
                false
            }
            _ => self.json("", answer).await,
        }
    }
}
