//! HTTP requests as an attacker writes them: any header, any number of times, any body. Knows the few messages that most
//! attempts send.

use serde_json::{Value, json};

/// The newest legacy revision, which has sessions, and the modern one, which has none.
pub(super) const LEGACY: &str = "2025-11-25";

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    method: String,
    pub(super) path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    /// A request with the headers of an honest client, to a server that calls itself `host`.
    pub(super) fn new(method: &str, path: &str, host: &str) -> Self {
        let headers = vec![
            ("Host".to_owned(), host.to_owned()),
            ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
        ];
        Self { method: method.to_owned(), path: path.to_owned(), headers, body: Vec::new() }
    }

    /// A message in a POST.
    pub(super) fn post(path: &str, host: &str, message: &Value) -> Self {
        Self::raw_post(path, host, message.to_string().as_bytes())
    }

    /// Any bytes in a POST that says that they are JSON.
    pub(super) fn raw_post(path: &str, host: &str, body: &[u8]) -> Self {
        let mut request = Self::new("POST", path, host).with("Content-Type", "application/json");
        request.body = body.to_vec();
        request
    }

    /// A form in a POST.
    pub(super) fn form(path: &str, host: &str, fields: &[(&str, &str)]) -> Self {
        let pairs: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", percent(value))).collect();
        let request = Self::raw_post(path, host, pairs.join("&").as_bytes());
        request.with("Content-Type", "application/x-www-form-urlencoded")
    }

    /// A WebSocket handshake.
    pub(super) fn upgrade(path: &str, host: &str) -> Self {
        let request = Self::new("GET", path, host).with("Upgrade", "websocket").with("Connection", "Upgrade");
        request.with("Sec-WebSocket-Version", "13").with("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
    }

    /// With this header in place of others of its name.
    pub(super) fn with(self, name: &str, value: &str) -> Self {
        self.without(name).plus(name, value)
    }

    /// With one more header.
    pub(super) fn plus(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Without a header.
    pub(super) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(found, _)| !found.eq_ignore_ascii_case(name));
        self
    }

    /// With a token, if there is one.
    pub(super) fn bearing(self, token: Option<&str>) -> Self {
        match token {
            Some(token) => self.with("Authorization", &format!("Bearer {token}")),
            None => self,
        }
    }

    /// As it crosses; a length is added where a body has no framing.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        let framed =
            |name: &str| name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("transfer-encoding");
        if !self.headers.iter().any(|(name, _)| framed(name)) && (!self.body.is_empty() || self.method == "POST") {
            head.extend(["Content-Length: ", &self.body.len().to_string(), "\r\n"]);
        }
        head.push_str("\r\n");
        [head.as_bytes(), &self.body].concat()
    }
}

/// The request that opens a legacy session.
pub(super) fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": { "name": "attack", "version": "0" } } })
}

/// A request without parameters.
pub(super) fn call(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// The notification that ends the handshake.
pub(super) fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

/// A text with everything but letters and digits percent-encoded.
pub(super) fn percent(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            out.extend(["%", &format!("{byte:02X}")]);
        }
    }
    out
}
