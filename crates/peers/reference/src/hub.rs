//! Who is told of changes: legacy sessions and modern subscriptions. Knows what changed, not why.

mod room;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use net::server::http::HeaderValue;
use net::service::{Link, Session};
use serde_json::{Value, json};
use wire::RequestId;

use crate::logging::SessionState;
use crate::subscriptions::{Filter, subscription};
use room::Room;

/// What changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    Tools,
    Prompts,
    Resources,
    Resource(&'a str),
}

impl Change<'_> {
    const fn method(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Resource(_) => "notifications/resources/updated",
        }
    }
}

struct Listener {
    id: RequestId,
    filter: Filter,
    link: Link,
    /// Whose token opened it.
    subject: Option<HeaderValue>,
    /// How long its filter is.
    bytes: usize,
}

/// The open subscriptions.
#[derive(Default)]
struct Listeners {
    by_key: HashMap<u64, Listener>,
    room: Room,
}

/// Everybody who may want to know.
#[derive(Default)]
pub(crate) struct Hub {
    sessions: Mutex<Vec<Weak<Session>>>,
    listeners: Mutex<Listeners>,
    next: AtomicU64,
}

impl Hub {
    /// Takes a legacy session in; it leaves by ending.
    pub(crate) fn join(&self, session: Arc<Session>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() == sessions.capacity() {
            sessions.retain(|session| session.strong_count() > 0);
        }
        sessions.push(Arc::downgrade(&session));
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a subscription in, after `first` has been sent on it; it leaves by [`Self::leave`]. `None` where there are too
    /// many.
    pub(crate) fn listen(
        &self,
        (id, filter): (RequestId, Filter),
        link: Link,
        subject: Option<HeaderValue>,
        first: impl FnOnce(&Link),
    ) -> Option<u64> {
        let mut listeners = self.listeners();
        let bytes = filter.bytes();
        if !listeners.room.take(subject.as_ref(), bytes) {
            return None;
        }
        first(&link);
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        listeners.by_key.insert(key, Listener { id, filter, link, subject, bytes });
        Some(key)
    }

    pub(crate) fn leave(&self, key: u64) {
        let mut listeners = self.listeners();
        if let Some(listener) = listeners.by_key.remove(&key) {
            listeners.room.give_back(listener.subject.as_ref(), listener.bytes);
        }
    }

    /// Tells everybody who asked for this task how it stands now, which no legacy client can.
    pub(crate) fn announce_task(&self, id: &str, task: Value) {
        let mut params = task;
        for listener in self.listeners().by_key.values().filter(|listener| listener.filter.wants_task(id)) {
            params["_meta"] = subscription(&listener.id);
            let _ = listener.link.notify("notifications/tasks", &params);
        }
    }

    /// Tells everybody who asked for it.
    pub(crate) fn announce(&self, change: Change<'_>) {
        for listener in self.listeners().by_key.values().filter(|listener| listener.filter.wants(change)) {
            let mut params = json!({ "_meta": subscription(&listener.id) });
            if let Change::Resource(uri) = change {
                params["uri"] = json!(uri);
            }
            let _ = listener.link.notify(change.method(), params);
        }
        let sessions: Vec<_> = {
            let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            sessions.iter().filter_map(Weak::upgrade).collect()
        };
        for session in sessions {
            announce_to(&session, change);
        }
    }
}

fn announce_to(session: &Session, change: Change<'_>) {
    let params: Option<Value> = match change {
        Change::Resource(uri) if session.state::<SessionState>().watched.has(uri) => Some(json!({ "uri": uri })),
        Change::Resource(_) => return,
        _ => None,
    };
    let _ = session.notify(change.method(), params);
}
