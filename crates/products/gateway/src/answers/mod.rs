//! Answers that are used again: calls with an idempotency key run once, and results are cached. Must not know how a request
//! reaches its server, nor decide who may ask.

pub(crate) mod cache;
pub(crate) mod idempotency;
pub(crate) mod request;
pub(crate) mod store;

use std::fmt::Write as _;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use wire::Message;

use self::cache::{AnswerCache, Lead};
use self::idempotency::KeptCalls;
use crate::settings::{AnswerSettings, StoreSettings};
use crate::shared::SharedStore;

/// What all servers keep, each under its own name.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) calls: Arc<KeptCalls>,
    pub(crate) cache: Arc<AnswerCache>,
    /// What other gateways share.
    pub(crate) shared: Option<Arc<SharedStore>>,
}

impl Kept {
    /// Nothing, and what the store has.
    pub(crate) fn open(store: Option<&StoreSettings>) -> io::Result<Self> {
        let shared = match store {
            Some(StoreSettings::Shared(settings)) => Some(Arc::new(SharedStore::open(settings))),
            Some(StoreSettings::Folder(_)) | None => None,
        };
        let calls = store.map(|settings| KeptCalls::open(settings, shared.as_ref())).transpose()?.unwrap_or_default();
        Ok(Self { calls, cache: Arc::default(), shared })
    }

    /// Forgets what is too old.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        self.calls.sweep(now);
        self.cache.sweep(now);
    }

    /// Counters in the Prometheus format, of what the settings ask for.
    pub(crate) fn metrics(&self, settings: &AnswerSettings) -> String {
        let mut page = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, value: u64| {
            let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        };
        if settings.idempotency.is_some() {
            let (keys, bytes, replayed) = self.calls.counts();
            metric("idempotency_keys", "gauge", "Idempotency keys that are kept.", keys as u64);
            metric("idempotency_bytes", "gauge", "Bytes of results that are kept for them.", bytes as u64);
            metric("idempotency_replayed_total", "counter", "Calls that got a kept result and did not run.", replayed);
        }
        if let Some(conflicts) = self.calls.conflicts() {
            let help = "Keys whose call ran at two gateways while the store was away.";
            metric("idempotency_conflicts_total", "counter", help, conflicts);
        }
        if let Some(shared) = &self.shared {
            let (is_up, lost, failed) = shared.counts();
            metric("store_up", "gauge", "Whether the shared store can be used.", u64::from(is_up));
            metric("store_lost_total", "counter", "Times that the connection to the shared store was lost.", lost);
            metric("store_failed_total", "counter", "Operations that the shared store did not do in time.", failed);
        }
        if settings.cache.is_some() {
            let (entries, bytes, hits, misses) = self.cache.counts();
            metric("cache_entries", "gauge", "Results in the cache.", entries as u64);
            metric("cache_bytes", "gauge", "Bytes of the cache.", bytes as u64);
            metric("cache_hits_total", "counter", "Requests that the cache answered.", hits);
            metric("cache_misses_total", "counter", "Requests that may be cached and went to a server.", misses);
        }
        page
    }
}

/// The answers of one server.
pub(crate) struct Answers {
    /// Which settings these are, for the cache.
    pub(crate) generation: u64,
    pub(crate) settings: Arc<AnswerSettings>,
    pub(crate) kept: Arc<Kept>,
}

/// What a server says of how long its result stays valid (2026-07-28, server/utilities/caching).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hints {
    pub(crate) ttl: Duration,
    pub(crate) is_public: bool,
}

impl Hints {
    /// The hints of a response; none where it has none that count.
    pub(crate) fn of(message: &Message) -> Option<Self> {
        let ttl = message.body_member("ttlMs")?.parse::<u64>().ok()?;
        let is_public = message.string_member("cacheScope").as_deref() == Some("public");
        Some(Self { ttl: Duration::from_millis(ttl), is_public })
    }
}

/// What is noted of a request under way whose answer may be kept.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// The client was asked something: the answer depends on more than the request.
    asked: AtomicBool,
    hints: Mutex<Option<Hints>>,
    /// What equal requests wait for.
    lead: Mutex<Option<Lead>>,
}

impl Watch {
    /// The client is asked something. Its answer may never come, and is not for others: they wait no longer.
    pub(crate) fn note_question(&self) {
        self.asked.store(true, Ordering::Relaxed);
        self.lead(None);
    }

    /// Equal requests wait while this is held, or no longer.
    pub(crate) fn lead(&self, lead: Option<Lead>) {
        let before = std::mem::replace(&mut *self.lead.lock().unwrap_or_else(PoisonError::into_inner), lead);
        drop(before);
    }

    /// The server answered.
    pub(crate) fn note_response(&self, message: &Message) {
        *self.hints.lock().unwrap_or_else(PoisonError::into_inner) = Hints::of(message);
    }

    /// Whether the client was asked something.
    pub(crate) fn has_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// What the server said last.
    pub(crate) fn hints(&self) -> Option<Hints> {
        *self.hints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
