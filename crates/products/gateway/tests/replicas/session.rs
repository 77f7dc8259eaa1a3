//! A client of either era that answers questions, at one address: a balancer's, or one gateway's.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use net::client::HttpAddress;
use net::server::http::{HeaderMap, HeaderName, HeaderValue, Method};
use net::upstream::{HttpUpstream, Response};
use serde_json::{Value, json};
use tokio::time::timeout;
use url::Url;
use wire::meta;

/// How long a message may take.
const PATIENCE: Duration = Duration::from_secs(40);
const LIMIT: usize = 1 << 20;

pub(crate) struct Session {
    http: HttpUpstream,
    /// None of a client of 2026-07-28.
    pub(crate) id: Option<String>,
    next: AtomicI64,
}

/// One path of a gateway, for a client with this token.
pub(crate) fn http(address: SocketAddr, path: &str, token: &str) -> HttpUpstream {
    let url = Url::parse(&format!("http://{address}{path}")).expect("a URL");
    let headers = vec![("authorization".to_owned(), format!("Bearer {token}"))];
    HttpUpstream::new(&HttpAddress { headers, ..HttpAddress::new(url) }, PATIENCE).expect("a valid address")
}

fn capabilities() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "extensions": { meta::TASKS_EXTENSION: {} } })
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    /// The last message.
    pub(crate) message: Value,
    /// What came before it.
    pub(crate) before: Vec<Value>,
}

impl Got {
    pub(crate) fn text(&self) -> &str {
        self.message["result"]["content"][0]["text"].as_str().unwrap_or_default()
    }

    pub(crate) fn failure(&self) -> &str {
        self.message["error"]["data"]["failure"].as_str().unwrap_or_default()
    }
}

impl Session {
    /// A client of 2026-07-28.
    pub(crate) fn modern(address: SocketAddr, token: &str) -> Self {
        Self { http: http(address, "/mcp", token), id: None, next: AtomicI64::new(1) }
    }

    /// One that goes on with a session.
    pub(crate) fn with_id(address: SocketAddr, token: &str, id: &str) -> Self {
        Self { id: Some(id.to_owned()), ..Self::modern(address, token) }
    }

    /// A client of 2025-11-25, initialized.
    pub(crate) async fn open(address: SocketAddr, token: &str) -> Self {
        let mut session = Self::modern(address, token);
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities(),
            "clientInfo": { "name": "a", "version": "1" } });
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let response = session.post(&message).await;
        session.id = response.header("mcp-session-id").map(str::to_owned);
        assert!(session.id.is_some(), "{:?}", response.status);
        let done = session.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        assert_eq!(done.status.as_u16(), 202);
        session
    }

    async fn send(&self, method: Method, more: &[(&str, &str)], body: Bytes) -> Response {
        let mut headers = HeaderMap::new();
        let session = self.id.as_deref().map(|id| ("mcp-session-id", id));
        let version = if self.id.is_some() { "2025-11-25" } else { "2026-07-28" };
        let fixed = [
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
            ("mcp-protocol-version", version),
        ];
        for (name, value) in fixed.into_iter().chain(session).chain(more.iter().copied()) {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            headers.insert(name, HeaderValue::from_str(value).expect("a value"));
        }
        let sent = timeout(PATIENCE, self.http.send(method, headers, body)).await.expect("an answer in time");
        sent.expect("an answer")
    }

    pub(crate) async fn post(&self, message: &Value) -> Response {
        let opens = message["method"] == "initialize";
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let name = message["params"]["name"].as_str().or(message["params"]["taskId"].as_str()).unwrap_or_default();
        let mut more = Vec::new();
        if opens {
            more.push(("mcp-protocol-version", "2025-11-25"));
        } else if self.id.is_none() {
            more.push(("mcp-method", method.as_str()));
            more.extend((!name.is_empty()).then_some(("mcp-name", name)));
        }
        self.send(Method::POST, &more, message.to_string().into()).await
    }

    pub(crate) async fn begin(&self, method: &str, mut params: Value) -> Response {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        if self.id.is_none() {
            params["_meta"] = json!({ meta::PROTOCOL_VERSION: "2026-07-28",
                meta::CLIENT_INFO: { "name": "a", "version": "1" }, meta::CLIENT_CAPABILITIES: capabilities() });
        }
        self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await
    }

    /// Sends a request, and answers what is asked on its stream.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Got {
        let response = self.begin(method, params).await;
        self.finish(response).await
    }

    /// Reads a response to its end.
    pub(crate) async fn finish(&self, mut response: Response) -> Got {
        let status = response.status.as_u16();
        if !response.is_event_stream() {
            let text = timeout(PATIENCE, response.whole(LIMIT)).await.expect("a body in time").expect("a body");
            return Got { status, message: serde_json::from_slice(&text).unwrap_or_default(), before: Vec::new() };
        }
        let mut all = Vec::new();
        while let Some(message) = next(&mut response).await {
            let is_question = message.get("id").is_some() && message.get("method").is_some();
            if is_question {
                let result = match message["method"].as_str() {
                    Some("elicitation/create") => json!({ "action": "accept", "content": {} }),
                    _ => json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "Ada" } }),
                };
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                assert_eq!(self.post(&answer).await.status.as_u16(), 202);
            }
            let is_response = message.get("method").is_none();
            all.push(message);
            if is_response {
                break;
            }
        }
        let message = all.pop().unwrap_or_default();
        Got { status, message, before: all }
    }

    pub(crate) async fn tool(&self, name: &str) -> Got {
        self.request("tools/call", json!({ "name": name, "arguments": {} })).await
    }

    /// A GET stream.
    pub(crate) async fn listen(&self) -> Response {
        self.send(Method::GET, &[("accept", "text/event-stream")], Bytes::new()).await
    }

    pub(crate) async fn delete(&self) -> u16 {
        self.send(Method::DELETE, &[], Bytes::new()).await.status.as_u16()
    }
}

/// The next message of a stream; nothing at its end.
pub(crate) async fn next(stream: &mut Response) -> Option<Value> {
    loop {
        let event = timeout(PATIENCE, stream.next_event(LIMIT)).await.expect("an event in time").ok()??;
        if let Some(message) = event.data.and_then(|data| serde_json::from_str(&data).ok()) {
            return Some(message);
        }
    }
}
