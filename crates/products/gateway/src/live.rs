//! Live traffic for those who run the gateway: the messages on both sides of it, given to a few watchers by bounded queues. Where
//! nobody watches, it costs one load for each request. Must not know sockets, and never waits for a watcher.

mod clients;
mod queue;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use net::server::http::HeaderMap;
use serde_json::json;
use wire::redact::Redactor;
use wire::{Party, RequestId};

pub(crate) use self::clients::{answered, noticed};
pub use self::queue::Watcher;
use self::queue::{Item, Part, Queue};
use crate::recording;
use crate::settings::Settings;

/// How many may watch at a time.
const WATCHERS: usize = 4;

tokio::task_local! {
    /// The exchange with a client in whose course something happens.
    static WITHIN: u64;
}

/// The exchange with a client that the current task serves; 0 for none.
fn within() -> u64 {
    WITHIN.try_with(|number| *number).unwrap_or_default()
}

/// The same work in the course of the current exchange, for tasks of their own.
pub(crate) fn in_course<T>(work: impl Future<Output = T>) -> impl Future<Output = T> {
    WITHIN.scope(within(), work)
}

/// The live traffic of one gateway.
pub(crate) struct Live {
    begun: Instant,
    /// The number of the next exchange, from 1.
    next: AtomicU64,
    connections: AtomicU32,
    is_watched: AtomicBool,
    queues: RwLock<Vec<Arc<Queue>>>,
    redactor: RwLock<Redactor>,
}

impl Live {
    pub(crate) fn new(settings: &Settings) -> Self {
        let redactor = net::new_redactor().knowing(&recording::secrets(settings)).watching();
        Self {
            begun: Instant::now(),
            next: AtomicU64::new(1),
            connections: AtomicU32::new(1),
            is_watched: AtomicBool::new(false),
            queues: RwLock::default(),
            redactor: RwLock::new(redactor),
        }
    }

    /// Another configuration was taken over: its secrets are replaced, too. What was learned so far stays known.
    pub(crate) fn know(&self, settings: &Settings) {
        let mut redactor = self.redactor.write().unwrap_or_else(PoisonError::into_inner);
        *redactor = redactor.clone().knowing(&recording::secrets(settings));
    }

    /// Whether somebody watches.
    pub(crate) fn is_watched(&self) -> bool {
        self.is_watched.load(Ordering::Relaxed)
    }

    /// Begins to watch; `None` where enough do already.
    pub(crate) fn watch(self: &Arc<Self>) -> Option<Watcher> {
        let mut queues = self.queues.write().unwrap_or_else(PoisonError::into_inner);
        if queues.len() >= WATCHERS {
            return None;
        }
        let queue = Arc::new(Queue::since(self.next.load(Ordering::Relaxed)));
        queues.push(Arc::clone(&queue));
        self.is_watched.store(true, Ordering::Relaxed);
        Some(Watcher::new(Arc::clone(self), queue))
    }

    fn leave(&self, queue: &Arc<Queue>) {
        let mut queues = self.queues.write().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|other| !Arc::ptr_eq(other, queue));
        self.is_watched.store(!queues.is_empty(), Ordering::Relaxed);
    }

    fn redactor(&self) -> Redactor {
        self.redactor.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Learns the credentials in these headers: no later message shows them.
    pub(crate) fn learn(&self, headers: &HeaderMap) {
        if !self.is_watched() {
            return;
        }
        for value in headers.get_all("authorization").iter().filter_map(|value| value.to_str().ok()) {
            let secret = value.split_once(' ').map_or(value, |(_, secret)| secret.trim());
            self.redactor().learn(secret);
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn give(&self, item: Item) {
        let item = Arc::new(item);
        for queue in self.queues.read().unwrap_or_else(PoisonError::into_inner).iter() {
            queue.push(&item);
        }
    }
}

/// One side of the gateway: a principal at one of its servers, or an upstream.
#[derive(Clone)]
pub(crate) struct Side {
    live: Arc<Live>,
    /// Its names, as an object in JSON.
    names: Arc<str>,
    /// The connection that its ids belong to; 0 for none.
    connection: u32,
}

impl Side {
    /// The side of an upstream.
    pub(crate) fn upstream(live: &Arc<Live>, name: &str) -> Self {
        Self { live: Arc::clone(live), names: json!({ "upstream": name }).to_string().into(), connection: 0 }
    }

    /// The traffic that it is a side of.
    pub(crate) fn live(&self) -> &Live {
        &self.live
    }

    /// The same side with a connection of its own: ids on it are different from those on others.
    pub(crate) fn with_connection(&self) -> Self {
        let connection = self.live.connections.fetch_add(1, Ordering::Relaxed);
        Self { connection, ..self.clone() }
    }

    /// Begins an exchange: the request with this id, and what belongs to it. `None` where nobody watches.
    pub(crate) fn begin(&self, id: &RequestId) -> Option<Exchange> {
        if !self.live.is_watched() {
            return None;
        }
        let number = self.live.next.fetch_add(1, Ordering::Relaxed);
        let (side, within, is_over) = (self.clone(), within(), AtomicBool::new(false));
        let (id, since) = (id.clone(), Instant::now());
        Some(Exchange(Arc::new(Begun { side, number, within, id, since, is_over })))
    }

    /// Shows a message outside exchanges.
    pub(crate) fn shows(&self, from: Party, text: &str) {
        if self.live.is_watched() {
            self.give((0, 0), from, Part::Message(text.to_owned()));
        }
    }

    fn give(&self, (exchange, within): (u64, u64), from: Party, part: Part) {
        let (at, names, connection) = (self.live.now(), Arc::clone(&self.names), self.connection);
        self.live.give(Item { at, names, connection, exchange, within, from, part });
    }
}

/// One request on one side, and what belongs to it.
#[derive(Clone)]
pub(crate) struct Exchange(Arc<Begun>);

struct Begun {
    side: Side,
    number: u64,
    /// The exchange with a client in whose course this one began; 0 for none.
    within: u64,
    id: RequestId,
    since: Instant,
    is_over: AtomicBool,
}

impl Exchange {
    /// Shows a message of it.
    pub(crate) fn shows(&self, from: Party, text: &str) {
        self.give(from, Part::Message(text.to_owned()));
    }

    /// Shows its answer, the last message of it; nothing where the text is not known.
    pub(crate) fn answers(&self, text: &[u8]) {
        if !self.0.is_over.swap(true, Ordering::Relaxed) && !text.is_empty() {
            self.give(Party::Server, Part::Message(String::from_utf8_lossy(text).into_owned()));
        }
    }

    /// It gets no answer, unless it has one already.
    fn ends(&self) {
        if !self.0.is_over.swap(true, Ordering::Relaxed) {
            let after_ms = u64::try_from(self.0.since.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.give(Party::Client, Part::Unanswered(self.0.id.clone(), after_ms));
        }
    }

    fn give(&self, from: Party, part: Part) {
        self.0.side.give((self.0.number, self.0.within), from, part);
    }
}

/// Ends an exchange where it is dropped without its answer.
pub(crate) struct Open(pub(crate) Exchange);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.ends();
    }
}
