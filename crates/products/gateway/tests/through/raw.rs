//! A client that sends what a test says, letter by letter, and shows what comes back.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use net::client::HttpAddress;
use net::server::http::{HeaderMap, HeaderName, HeaderValue, Method};
use net::upstream::{HttpUpstream, Response};
use serde_json::{Value, json};
use url::Url;
use wire::http::modern_headers;
use wire::message::{Packet, parse};
use wire::{Era, Revision, meta};

/// How long a message may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A client of one revision.
pub(crate) struct Raw {
    http: HttpUpstream,
    pub(crate) revision: Revision,
    session: Option<String>,
    capabilities: Value,
    next: AtomicI64,
    /// The result of `initialize`.
    pub(crate) opening: Value,
}

/// A response and everything before it.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) messages: Vec<Value>,
}

impl Got {
    /// The response.
    pub(crate) fn response(&self) -> &Value {
        self.messages.last().unwrap_or(&Value::Null)
    }
}

impl Raw {
    /// Connects; a legacy client completes the handshake.
    pub(crate) async fn open(url: &Url, revision: Revision, capabilities: Value) -> Self {
        Self::asking_for(revision.as_str(), url, revision, capabilities).await
    }

    /// The same; a legacy client asks for another revision than it then speaks.
    pub(crate) async fn asking_for(asked: &str, url: &Url, revision: Revision, capabilities: Value) -> Self {
        let http = HttpUpstream::new(&HttpAddress::new(url.clone()), PATIENCE).expect("a valid address");
        let next = AtomicI64::new(1);
        let mut client = Self { http, revision, session: None, capabilities, next, opening: Value::Null };
        if revision.era() == Era::Legacy {
            let params = json!({ "protocolVersion": asked, "capabilities": client.capabilities,
                "clientInfo": { "name": "raw", "version": "1" } });
            let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
            let mut response = client.start(&message, &[]).await;
            client.session = response.header("mcp-session-id").map(str::to_owned);
            client.opening = Got::read(&mut response).await.response()["result"].clone();
            client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }), &[]).await;
        }
        client
    }

    /// A request with what its revision demands.
    pub(crate) fn request(&self, method: &str, mut params: Value) -> Value {
        if self.revision.era() == Era::Modern {
            params["_meta"][meta::PROTOCOL_VERSION] = json!(self.revision.as_str());
            params["_meta"][meta::CLIENT_INFO] = json!({ "name": "raw", "version": "1" });
            params["_meta"][meta::CLIENT_CAPABILITIES] = self.capabilities.clone();
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }

    /// Sends a message and returns the head of the response. Of headers that stand twice, the given ones win.
    pub(crate) async fn start(&self, message: &Value, headers: &[(&str, &str)]) -> Response {
        let mut all = self.headers();
        if self.revision.era() == Era::Modern
            && let Ok(Packet::Message(message)) = parse(message.to_string().as_bytes())
        {
            for (name, value) in modern_headers(&message, None) {
                insert(&mut all, &name, &value);
            }
        }
        for (name, value) in headers {
            insert(&mut all, name, value);
        }
        let body = Bytes::from(message.to_string());
        let sent = tokio::time::timeout(PATIENCE, self.http.send(Method::POST, all, body)).await;
        sent.expect("in time").expect("it answers")
    }

    fn headers(&self) -> HeaderMap {
        let mut all = HeaderMap::new();
        insert(&mut all, "accept", "application/json, text/event-stream");
        insert(&mut all, "content-type", "application/json");
        if let Some(session) = &self.session {
            insert(&mut all, "mcp-session-id", session);
            if self.revision.at_least(Revision::R2025_06_18) {
                insert(&mut all, "mcp-protocol-version", self.revision.as_str());
            }
        }
        all
    }

    /// Sends a message and reads all that comes back.
    pub(crate) async fn post(&self, message: &Value, headers: &[(&str, &str)]) -> Got {
        Got::read(&mut self.start(message, headers).await).await
    }

    /// Opens the stream of messages that belong to no request.
    pub(crate) async fn listen(&self) -> Response {
        let mut headers = self.headers();
        insert(&mut headers, "accept", "text/event-stream");
        self.http.send(Method::GET, headers, Bytes::new()).await.expect("it answers")
    }

    /// The response to a request.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        self.post(&self.request(method, params), &[]).await.response().clone()
    }

    /// The response to a call of a tool.
    pub(crate) async fn tool(&self, name: &str) -> Value {
        self.call("tools/call", json!({ "name": name, "arguments": {} })).await
    }
}

impl Got {
    async fn read(response: &mut Response) -> Self {
        let status = response.status.as_u16();
        let mut messages = Vec::new();
        if response.is_event_stream() {
            while let Some(message) = next(response).await {
                messages.push(message);
            }
        } else {
            let body = response.whole(16 << 20).await.expect("a body");
            messages.extend(serde_json::from_slice::<Value>(&body).ok());
        }
        Self { status, messages }
    }
}

/// The next message of a stream.
pub(crate) async fn next(response: &mut Response) -> Option<Value> {
    loop {
        let event = tokio::time::timeout(PATIENCE, response.next_event(16 << 20)).await.expect("in time");
        let data = event.ok()??.data?;
        if let Ok(message) = serde_json::from_str(&data) {
            return Some(message);
        }
    }
}

fn insert(headers: &mut HeaderMap, name: &str, value: &str) {
    let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
    headers.insert(name, HeaderValue::from_str(value).expect("a value"));
}
