//! A server whose tool notes each call before it answers.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use net::server::http::{self, Server};
use net::service::{Answer, Call, Link, Reply, Service};
use serde_json::{Value, json};
use wire::{RequestId, Revision, meta};

/// What ran: whose call, and its key.
pub(crate) type Line = (String, String);

#[derive(Clone, Default)]
pub(crate) struct Ledger {
    lines: Arc<Mutex<Vec<Line>>>,
    reads: Arc<Mutex<usize>>,
    lists: Arc<Mutex<usize>>,
    followers: Arc<Mutex<Vec<(RequestId, Link)>>>,
}

impl Ledger {
    /// A server at an address of its own.
    pub(crate) async fn start() -> (Self, Server) {
        let ledger = Self::default();
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = http::listen(Arc::new(ledger.clone()), local, http::Options::default()).await;
        (ledger, server.expect("a free port"))
    }

    pub(crate) fn lines(&self) -> Vec<Line> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often one call ran.
    pub(crate) fn ran(&self, owner: &str, key: &str) -> usize {
        self.lines().iter().filter(|(one, other)| one == owner && other == key).count()
    }

    /// How often the tools were listed.
    pub(crate) fn lists(&self) -> usize {
        *self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many follow its changes.
    pub(crate) fn followers(&self) -> usize {
        self.followers.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Announces other tools to one of those who follow its changes.
    pub(crate) fn announce_to_one(&self) {
        let followers = self.followers.lock().unwrap_or_else(PoisonError::into_inner);
        let (id, link) = followers.first().expect("a follower");
        let params = json!({ "_meta": { meta::SUBSCRIPTION_ID: id.to_value() } });
        let _ = link.notify("notifications/tools/list_changed", params);
    }

    /// Waits until a call runs.
    pub(crate) async fn wait_for(&self, owner: &str, key: &str) {
        let begun = Instant::now();
        while self.ran(owner, key) == 0 {
            assert!(begun.elapsed() < Duration::from_secs(20), "{key} of {owner} does not run");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn write(&self, call: &Call) -> Reply {
        let arguments = call.message.value()["params"]["arguments"].clone();
        let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let (owner, key) = (text("owner"), text("text"));
        let number = {
            let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
            lines.push((owner.clone(), key));
            lines.len()
        };
        let padding = "x".repeat(arguments["bytes"].as_u64().unwrap_or_default() as usize);
        later(call, &result(&format!("{owner} {number}{padding}")))
    }
}

/// The result of a call, after the milliseconds that its arguments say.
fn later(call: &Call, said: &Value) -> Reply {
    let time = call.message.value()["params"]["arguments"]["ms"].as_u64().unwrap_or_default();
    let answer = Answer::result(call.id(), said);
    Reply::later(async move {
        tokio::time::sleep(Duration::from_millis(time)).await;
        answer
    })
}

fn result(text: &str) -> Value {
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] })
}

impl Service for Ledger {
    fn call(&self, call: Call) -> Reply {
        let complete = |mut body: Value| {
            body["resultType"] = json!("complete");
            (body["ttlMs"], body["cacheScope"]) = (json!(0), json!("private"));
            Answer::result(call.id(), &body).into()
        };
        let name = call.message.string_member("name").unwrap_or_default().into_owned();
        match call.message.method().unwrap_or_default() {
            "server/discover" => complete(json!({ "supportedVersions": [Revision::R2026_07_28.as_str()],
                "capabilities": { "tools": { "listChanged": true } },
                "_meta": { meta::SERVER_INFO: { "name": "ledger", "version": "1" } } })),
            "tools/list" => {
                *self.lists.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                let schema = json!({ "type": "object" });
                complete(json!({ "tools": [{ "name": "write", "inputSchema": schema },
                    { "name": "read", "inputSchema": schema, "annotations": { "readOnlyHint": true } }] }))
            }
            "tools/call" if name == "read" => {
                let number = {
                    let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
                    *reads += 1;
                    *reads
                };
                later(&call, &result(&format!("read {number}")))
            }
            "tools/call" => self.write(&call),
            "subscriptions/listen" => {
                let subscription = json!({ meta::SUBSCRIPTION_ID: call.id().to_value() });
                let wanted = call.message.value()["params"]["notifications"].clone();
                let body = json!({ "_meta": subscription, "notifications": wanted });
                let _ = call.link.notify("notifications/subscriptions/acknowledged", body);
                let follower = (call.id().clone(), call.link.clone());
                self.followers.lock().unwrap_or_else(PoisonError::into_inner).push(follower);
                Reply::later(async move {
                    call.link.closing().await;
                    Answer::result(call.id(), &json!({ "resultType": "complete" }))
                })
            }
            _ => complete(json!({})),
        }
    }

    fn revisions(&self) -> &[Revision] {
        &[Revision::R2026_07_28]
    }
}
