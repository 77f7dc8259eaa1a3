//! A server that answers as a test says, and keeps what it was sent.

use std::collections::BTreeMap;
use std::slice;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use net::service::{Answer, Call, Context, Opening, Reply, Service};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use wire::{Message, Revision};

/// A message that a server got.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) message: Value,
    pub(crate) text: String,
    pub(crate) headers: BTreeMap<String, String>,
}

/// Everything that a server got, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<Received>>>);

impl Seen {
    fn all(&self) -> MutexGuard<'_, Vec<Received>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, message: &Message, context: &Context) {
        let text = |value: &net::server::http::HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let headers = context.headers.iter().flatten().map(|(name, value)| (name.to_string(), text(value))).collect();
        self.all().push(Received { message: message.value().clone(), text: message.text().to_owned(), headers });
    }

    /// The methods, in order.
    pub(crate) fn methods(&self) -> Vec<String> {
        self.all().iter().map(|one| one.message["method"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The messages of a method.
    pub(crate) fn of(&self, method: &str) -> Vec<Received> {
        self.all().iter().filter(|one| one.message["method"] == method).cloned().collect()
    }

    /// The last message of a method.
    #[track_caller]
    pub(crate) fn last(&self, method: &str) -> Received {
        self.of(method).pop().unwrap_or_else(|| panic!("no {method} among {:?}", self.methods()))
    }

    /// Waits until the server got a message of a method, for two seconds at most.
    pub(crate) async fn wait(&self, method: &str) -> Received {
        for _ in 0..200 {
            if let Some(found) = self.of(method).pop() {
                return found;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        self.last(method)
    }
}

/// The server.
pub(crate) struct Script {
    pub(crate) revision: Revision,
    capabilities: Value,
    pub(crate) seen: Seen,
    answer: Box<dyn Fn(Call) -> Reply + Send + Sync>,
}

impl Script {
    /// A server of one revision that declares `capabilities`.
    pub(crate) fn new(
        revision: Revision,
        capabilities: Value,
        answer: impl Fn(Call) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self { revision, capabilities, seen: Seen::default(), answer: Box::new(answer) }
    }

    /// The same, and `notice` is called before a request of `method` is answered.
    pub(crate) fn watching(self, method: &'static str, notice: impl Fn() + Send + Sync + 'static) -> Self {
        let answer = self.answer;
        let watching = move |call: Call| {
            if call.message.method() == Some(method) {
                notice();
            }
            answer(call)
        };
        Self { answer: Box::new(watching), ..self }
    }

    /// A server that answers every request with the same result.
    pub(crate) fn fixed(revision: Revision, capabilities: Value, result: Value) -> Self {
        Self::new(revision, capabilities, move |call| Answer::result(call.id(), &result).into())
    }
}

impl Service for Script {
    fn call(&self, call: Call) -> Reply {
        self.seen.keep(&call.message, &call.context);
        let (server, capabilities) = (json!({ "name": "scripted", "version": "1" }), &self.capabilities);
        match call.message.method().unwrap_or_default() {
            "initialize" => {
                let params = call.message.params().cloned().unwrap_or_default();
                let (capabilities, client) = (params["capabilities"].clone(), params["clientInfo"].clone());
                if let Some(session) = &call.context.session {
                    let _ = session.open(Opening { revision: self.revision, capabilities, client });
                }
                let body = json!({ "protocolVersion": self.revision.as_str(), "serverInfo": server,
                    "capabilities": self.capabilities });
                Answer::result(call.id(), &body).into()
            }
            "server/discover" => {
                let body = json!({ "resultType": "complete", "supportedVersions": [self.revision.as_str()],
                    "capabilities": capabilities, "ttlMs": 0, "cacheScope": "private",
                    "_meta": { wire::meta::SERVER_INFO: server } });
                Answer::result(call.id(), &body).into()
            }
            _ => (self.answer)(call),
        }
    }

    fn notice(&self, message: &Message, context: &Context) {
        self.seen.keep(message, context);
    }

    fn revisions(&self) -> &[Revision] {
        slice::from_ref(&self.revision)
    }
}

/// An HTTP server of 2026-07-28 that has no time for any call: status 503 and `Retry-After`, no message.
pub(crate) async fn busy(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(refuse(stream));
    }
}

async fn refuse(mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    let length = |text: &str| {
        let line =
            text.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:").map(str::to_owned));
        line.and_then(|line| line.trim().parse::<usize>().ok()).unwrap_or_default()
    };
    loop {
        let n = stream.read(&mut buffer).await?;
        request.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&request);
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| body.len() >= length(head));
        if whole || n == 0 {
            break;
        }
    }
    let text = String::from_utf8_lossy(&request);
    let id = text.split("\"id\":").nth(1).and_then(|rest| rest.split([',', '}']).next()).unwrap_or("0");
    let response = if text.contains("server/discover") {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{{}},"ttlMs":0,"cacheScope":"private"}}}}"#
        );
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
        format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    } else {
        "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_owned()
    };
    stream.write_all(response.as_bytes()).await
}
