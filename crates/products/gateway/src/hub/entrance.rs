//! The service at one address: it stays while the server behind it comes, changes and goes with the configuration.

use std::sync::{Arc, PoisonError, RwLock};

use net::service::{Answer, Call, Context, Reply, Service};
use wire::{Message, RequestId};

use crate::changes::Changes;
use crate::failure;
use crate::gateway::Inner;
use crate::live::{self, Live};

/// The service at one address.
pub struct Entrance {
    pub(super) name: String,
    pub(super) changes: Arc<Changes>,
    /// Nothing once the server is no longer in the configuration.
    inner: RwLock<Option<Arc<Inner>>>,
    live: Arc<Live>,
}

impl std::fmt::Debug for Entrance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entrance").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Entrance {
    pub(super) fn new(name: &str, live: &Arc<Live>) -> Self {
        Self { name: name.to_owned(), changes: Arc::default(), inner: RwLock::default(), live: Arc::clone(live) }
    }

    pub(super) fn inner(&self) -> Option<Arc<Inner>> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, inner: Option<Arc<Inner>>) {
        *self.inner.write().unwrap_or_else(PoisonError::into_inner) = inner;
    }
}

impl Service for Entrance {
    fn call(&self, call: Call) -> Reply {
        let answer = |call: Call| match self.inner() {
            Some(inner) => inner.call(call),
            None => gone(call.id()).into(),
        };
        if self.live.is_watched() { live::answered(&self.live, &self.name, call, answer) } else { answer(call) }
    }

    fn notice(&self, message: &Message, context: &Context) {
        live::noticed(&self.live, &self.name, message, context);
        // Each conversation with an upstream begins by itself; what a client announces of its roots, servers ask when they
        // need it.
        tracing::debug!(method = message.method(), "a notification of a client ends here");
    }
}

/// The answer of a server that is no longer there.
pub(super) fn gone(id: &RequestId) -> Answer {
    Answer::error(Some(id), &failure::SERVER_GONE.error("This server is no longer in the gateway's configuration"))
}
