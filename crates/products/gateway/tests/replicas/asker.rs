//! A server of 2025-11-25 whose tools ask the client, take their time and announce changes.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use net::server::http::{self, Server};
use net::service::{Answer, Call, Link, Opening, Reply, Service};
use serde_json::{Value, json};
use wire::Revision;

#[derive(Clone, Default)]
pub(crate) struct Asker {
    ran: Arc<Mutex<Vec<String>>>,
    sessions: Arc<Mutex<Vec<Link>>>,
    given_up: Arc<AtomicUsize>,
}

/// Counts calls that end before their answer.
struct Working(Arc<AtomicUsize>, bool);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.fetch_add(usize::from(self.1), Ordering::SeqCst);
    }
}

impl Asker {
    pub(crate) async fn start() -> (Self, Server) {
        let asker = Self::default();
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = http::listen(Arc::new(asker.clone()), local, http::Options::default()).await;
        (asker, server.expect("a free port"))
    }

    /// How often a tool was called.
    pub(crate) fn ran(&self, tool: &str) -> usize {
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|name| *name == tool).count()
    }

    /// How many calls were given up.
    pub(crate) fn given_up(&self) -> usize {
        self.given_up.load(Ordering::SeqCst)
    }

    /// Announces to every session that a resource has changed.
    pub(crate) fn announce(&self) {
        for session in self.sessions.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = session.notify("notifications/resources/updated", json!({ "uri": "x:a" }));
        }
    }

    fn tool(&self, call: Call) -> Reply {
        let name = call.message.string_member("name").unwrap_or_default().into_owned();
        let ms = call.message.value()["params"]["arguments"]["ms"].as_u64().unwrap_or_default();
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).push(name.clone());
        let given_up = Arc::clone(&self.given_up);
        Reply::later(async move {
            let mut working = Working(given_up, true);
            let asked = match name.as_str() {
                "ask" => {
                    let form = json!({ "message": "m", "requestedSchema": { "type": "object", "properties": {} } });
                    Some(call.link.request("elicitation/create", form).await)
                }
                "sample" => {
                    let wanted = json!({ "maxTokens": 1, "messages": [] });
                    Some(call.link.request("sampling/createMessage", wanted).await)
                }
                "large" => {
                    working.1 = false;
                    return result(&call, &"x".repeat(200_000));
                }
                _ => {
                    let _ = call.link.notify("notifications/message", json!({ "level": "error", "data": "begun" }));
                    None
                }
            };
            tokio::time::sleep(Duration::from_millis(ms)).await;
            working.1 = false;
            let text = asked.map_or_else(
                || "done".to_owned(),
                |asked| asked.map_or_else(|why| why.to_string(), |answer| answer.text().to_owned()),
            );
            result(&call, &text)
        })
    }
}

fn result(call: &Call, text: &str) -> Answer {
    Answer::result(call.id(), &json!({ "content": [{ "type": "text", "text": text }] }))
}

impl Service for Asker {
    fn call(&self, call: Call) -> Reply {
        let plain = |body: Value| Answer::result(call.id(), &body).into();
        match call.message.method().unwrap_or_default() {
            "initialize" => {
                let session = call.link.of_session();
                self.sessions.lock().unwrap_or_else(PoisonError::into_inner).push(session);
                let params = call.message.params().cloned().unwrap_or_default();
                let (capabilities, client) = (params["capabilities"].clone(), params["clientInfo"].clone());
                if let Some(session) = &call.context.session {
                    let _ = session.open(Opening { revision: Revision::R2025_11_25, capabilities, client });
                }
                plain(json!({ "protocolVersion": "2025-11-25", "serverInfo": { "name": "asker", "version": "1" },
                    "capabilities": { "tools": {}, "logging": {}, "resources": { "subscribe": true } } }))
            }
            "tools/list" => {
                let tool = |name: &&str| {
                    json!({ "name": name, "inputSchema": { "type": "object" },
                    "annotations": { "readOnlyHint": true } })
                };
                let tools: Vec<_> = ["ask", "sample", "slow", "large"].iter().map(tool).collect();
                plain(json!({ "tools": tools }))
            }
            "resources/list" => plain(json!({ "resources": [{ "uri": "x:a", "name": "a" }] })),
            "tools/call" => self.tool(call),
            _ => plain(json!({})),
        }
    }

    fn revisions(&self) -> &[Revision] {
        &[Revision::R2025_11_25]
    }
}
