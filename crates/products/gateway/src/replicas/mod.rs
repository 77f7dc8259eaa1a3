//! Several gateways that serve clients as one. What only one of them has (a session, a question that waits, a task) says so in
//! its id; another gateway sends such a request there, once, and passes the answer on. Must not know what a request asks for.

mod answers;
mod clock;
mod ending;
mod envelope;
mod keys;
mod peers;
mod receiving;
mod seen;
mod sending;
mod tags;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use net::server::http::{self, Endpoints, HeaderName, HttpFuture, Parts, Response, Routed, Router};
use oauth::Secret;
use tokio::task::AbortHandle;
use wire::http::SESSION_ID;
use wire::message::{Packet, parse};

use self::keys::Keys;
use self::peers::Peers;
use self::receiving::Receiver;
use self::seen::Seen;
pub(crate) use self::tags::Tags;
use crate::metrics::Page;
use crate::settings::ReplicaSettings;
use crate::shared::SharedStore;

/// Where gateways take requests of others.
const PATH: &str = "/forward";
/// The header with the sealed head of a request, and the one by which a gateway proves that it has a key.
const FORWARD: HeaderName = HeaderName::from_static("proof-forward");
const PROVEN: &str = "proof-forwarded";
const ANSWER: &[u8] = b"proof-gateway.answer.1";
/// How far the date of a request may be off, by the clock of the store.
const WINDOW: Duration = Duration::from_secs(30);
/// How long a connection to another gateway may take.
const CONNECT: Duration = Duration::from_secs(2);
/// How the ids begin that gateways make.
const OURS: &str = "proof-gateway";
/// The largest head of a request of another gateway: what a client sends, in base64.
const HEAD: usize = 256 << 10;
/// How long such a head may take, and how many connections there may be: before a head is opened, anyone may have sent it, so
/// together they are the memory that strangers can take. Other gateways reuse a connection for 2 s.
const HEAD_TIME: Duration = Duration::from_secs(5);
const CONNECTIONS: usize = 2048;

/// This gateway among the others.
pub struct Replicas {
    store: Arc<SharedStore>,
    keys: Arc<Keys>,
    tags: Arc<Tags>,
    peers: Arc<Peers>,
    own: String,
    /// How many requests were sealed: each has a number.
    number: AtomicU64,
    seen: Seen,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    forwarded: AtomicU64,
    received: AtomicU64,
    refused: AtomicU64,
    away: AtomicU64,
    lost: AtomicU64,
}

impl fmt::Debug for Replicas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replicas").field("own", &self.own).finish_non_exhaustive()
    }
}

/// Says that a gateway is there; dropped, it does not any more.
#[derive(Debug)]
pub struct Announcing(AbortHandle, Arc<Replicas>);

impl Announcing {
    /// The gateway is about to end: the others learn it at once.
    pub async fn end(self) {
        self.0.abort();
        self.1.peers.leave().await;
    }
}

impl Drop for Announcing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a gateway proves with an answer: it opened the request of this number, and refuses it or not.
fn proof(sender: &str, number: u64, status: &str, refusal: &str) -> String {
    format!("{sender} {number} {status} {refusal}")
}

impl Replicas {
    /// This gateway; `None` where the keys are not keys.
    pub(crate) fn new(settings: &ReplicaSettings, store: &Arc<SharedStore>) -> Option<Self> {
        let keys = Arc::new(Keys::new(&settings.keys as &[Secret])?);
        Some(Self {
            store: Arc::clone(store),
            tags: Arc::new(Tags::new(Arc::clone(&keys), store.id())),
            peers: Arc::new(Peers::new(Arc::clone(store), Arc::clone(&keys))),
            keys,
            own: settings.own.as_str().trim_end_matches('/').to_owned(),
            number: AtomicU64::new(0),
            seen: Seen::new(WINDOW * 2),
            counts: Counts::default(),
        })
    }

    /// What the others call this process.
    fn id(&self) -> &str {
        self.store.id()
    }

    /// What makes ids.
    pub(crate) fn tags(&self) -> Arc<Tags> {
        Arc::clone(&self.tags)
    }

    /// Options of the listener for the others; `endpoints` and `clients` are those of the listener that clients reach.
    pub fn listener(self: &Arc<Self>, endpoints: Endpoints, clients: &http::Limits) -> http::Options {
        let receiver = Receiver { replicas: Arc::clone(self), endpoints };
        let mut options =
            http::Options { path: String::new(), layer: Some(Arc::new(receiver)), ..http::Options::default() };
        (options.limits.body, options.limits.grace) = (clients.body, clients.grace);
        (options.limits.head, options.limits.head_time) = (HEAD, HEAD_TIME);
        options.limits.connections = CONNECTIONS;
        options
    }

    /// Says that this gateway is there, from now on.
    pub fn announce(self: &Arc<Self>) -> Announcing {
        let replicas = Arc::clone(self);
        let task = tokio::spawn(async move { replicas.peers.announce(&replicas.own).await });
        Announcing(task.abort_handle(), Arc::clone(self))
    }

    /// Counters.
    pub(crate) fn write(&self, page: &mut Page) {
        for (name, count, help) in [
            ("replicas_forwarded_total", &self.counts.forwarded, "Requests that another gateway answered."),
            ("replicas_received_total", &self.counts.received, "Requests that another gateway sent here."),
            (
                "replicas_refused_total",
                &self.counts.refused,
                "Requests at the address for gateways that no gateway sent.",
            ),
            ("replicas_away_total", &self.counts.away, "Requests for another gateway that could not be reached."),
            ("replicas_lost_total", &self.counts.lost, "Requests to another gateway whose outcome is unknown."),
        ] {
            page.family(name, "counter", help);
            page.sample(name, &[], count.load(Ordering::Relaxed));
        }
    }
}

impl Router for Replicas {
    fn session_id(&self, digits: String) -> String {
        self.tags.tagged(&digits)
    }

    fn owner(&self, head: &Parts) -> Option<String> {
        let session = head.headers.get(SESSION_ID).and_then(|id| id.to_str().ok());
        let query = || head.uri.query()?.split('&').find_map(|pair| pair.strip_prefix("session="));
        self.tags.other(session.or_else(query)?).map(str::to_owned)
    }

    fn owner_of(&self, body: &[u8]) -> Option<String> {
        // Most requests need no second look.
        std::str::from_utf8(body).ok().filter(|text| text.contains(OURS))?;
        let Ok(Packet::Message(message)) = parse(body) else { return None };
        let other = |id: &str| self.tags.other(id).map(str::to_owned);
        let named = ["requestState", "taskId"].into_iter().find_map(|name| other(&message.string_member(name)?));
        let listed = || {
            let ids = message.params()?.get("notifications")?.get("taskIds")?.as_array()?;
            ids.iter().filter_map(|id| id.as_str()).find_map(other)
        };
        named.or_else(listed)
    }

    fn send(&self, owner: String, request: Routed) -> HttpFuture<'_, Option<Response>> {
        Box::pin(async move { self.forward(&owner, request).await })
    }
}
