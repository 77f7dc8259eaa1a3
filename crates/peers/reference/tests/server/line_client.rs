//! A conversation with the server over an in-memory byte stream, as stdio carries it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use net::server::stdio::{Limits, serve};
use reference::{Options, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use wire::{Era, Revision};

use crate::schema;

/// The client's side.
pub struct LineClient {
    pub revision: Revision,
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: Option<WriteHalf<DuplexStream>>,
    asked: HashMap<String, String>,
    next: i64,
    server: JoinHandle<std::io::Result<()>>,
}

impl LineClient {
    pub fn with(server: Server, revision: Revision, limits: Limits) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let server = tokio::spawn(async move { serve(Arc::new(server), reader, writer, limits).await });
        let (reader, writer) = tokio::io::split(ours);
        let reader = BufReader::new(reader);
        Self { revision, reader, writer: Some(writer), asked: HashMap::new(), next: 1, server }
    }

    /// A fresh server, nothing said yet.
    pub fn fresh(revision: Revision) -> Self {
        Self::with(Server::new(Options::default()), revision, Limits::default())
    }

    /// A fresh server that is ready to be asked, and a client that can do everything.
    pub async fn start(revision: Revision) -> Self {
        let mut talk = Self::fresh(revision);
        if revision.era() == Era::Legacy {
            talk.shake_hands(client_capabilities()).await;
        }
        talk
    }

    pub async fn shake_hands(&mut self, capabilities: Value) -> Value {
        let params = json!({
            "protocolVersion": self.revision.as_str(),
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = self.ask("initialize", params).await;
        self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        answer
    }

    /// `params` as the revision wants them: with the required `_meta` in the modern era.
    pub fn dress(&self, mut params: Value) -> Value {
        if self.revision.era() == Era::Modern {
            let meta = &mut params["_meta"];
            if meta.is_null() {
                *meta = json!({});
            }
            for (key, value) in modern_meta().as_object().unwrap() {
                meta.as_object_mut().unwrap().entry(key.clone()).or_insert(value.clone());
            }
        }
        params
    }

    pub async fn write_text(&mut self, text: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(text.as_bytes()).await.unwrap();
        writer.write_all(b"\n").await.unwrap();
    }

    pub async fn write(&mut self, message: &Value) {
        if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
            self.asked.insert(id.to_string(), method.to_owned());
        }
        self.write_text(&message.to_string()).await;
    }

    /// Sends a request and gives its id.
    pub async fn send(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next;
        self.next += 1;
        let params = self.dress(params);
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    pub async fn cancel(&mut self, id: i64) {
        let params = json!({ "requestId": id });
        self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
    }

    /// The next line, as it came; `None` at the end.
    pub async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = tokio::time::timeout(Duration::from_secs(5), self.reader.read_line(&mut line));
        (read.await.expect("the server says something").unwrap() > 0).then_some(line)
    }

    /// The next message, held against the schema.
    pub async fn next(&mut self) -> Value {
        let line = self.line().await.expect("the server is there");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        for part in message.as_array().unwrap_or(&vec![message.clone()]) {
            let asked = part.get("id").and_then(|id| self.asked.get(&id.to_string())).map(String::as_str);
            schema::check(self.revision, asked, part);
        }
        message
    }

    /// Everything until the answer to `id`, the answer last.
    pub async fn until(&mut self, id: i64) -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            let message = self.next().await;
            let done = message["id"] == id && message.get("method").is_none();
            all.push(message);
            if done {
                return all;
            }
        }
    }

    /// The answer to a request, which nothing may precede.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> impl Future<Output = Value> {
        let method = method.to_owned();
        async move {
            let id = self.send(&method, params).await;
            let mut all = self.until(id).await;
            assert_eq!(all.len(), 1, "{method}: {all:?}");
            all.remove(0)
        }
    }

    pub async fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    pub async fn error(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await;
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].take()
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Asserts that the server has nothing to say: what it answers to a probe is the next thing it says.
    pub async fn assert_quiet(&mut self) {
        let (method, params) = match self.revision.era() {
            Era::Legacy => ("ping", json!({})),
            Era::Modern => ("server/discover", json!({})),
        };
        tokio::time::sleep(Duration::from_millis(80)).await;
        self.ask(method, params).await;
    }

    /// Closes the input and gives what the server still says; it must end.
    pub async fn close(mut self) -> Vec<Value> {
        self.writer.take().unwrap().shutdown().await.unwrap();
        let mut rest = Vec::new();
        while let Some(line) = self.line().await {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        self.server.await.unwrap().unwrap();
        rest
    }
}

/// A client that can do everything.
pub fn client_capabilities() -> Value {
    json!({ "sampling": {}, "elicitation": {}, "roots": { "listChanged": true } })
}

/// The required `_meta` of a modern request.
pub fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": client_capabilities(),
    })
}
