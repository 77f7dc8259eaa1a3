//! What the gateway keeps for a client's legacy session.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use net::server::link::Session;
use tokio::task::AbortHandle;

use crate::budget::Chain;

/// The levels of log messages, from the least important one up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The word on the wire.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl FromStr for LogLevel {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|level| level.as_str() == text).ok_or(())
    }
}

/// A subscription that ends when it is dropped.
pub(crate) struct Following(pub(crate) AbortHandle);

impl Drop for Following {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[derive(Default)]
struct State {
    level: Option<LogLevel>,
    /// The resources that the client follows, and what follows them for it.
    watched: HashMap<String, Option<Following>>,
}

/// What a legacy session has set.
#[derive(Default)]
pub(crate) struct ClientState(Mutex<State>, Arc<Chain>);

/// How many resources one session may follow.
const MOST: usize = 4096;

impl ClientState {
    pub(crate) fn of(session: &Session) -> &Self {
        session.state()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its calls, as far as they belong to no other chain.
    pub(crate) const fn chain(&self) -> &Arc<Chain> {
        &self.1
    }

    /// The level of log messages; none before it is set.
    pub(crate) fn level(&self) -> Option<LogLevel> {
        self.state().level
    }

    pub(crate) fn set_level(&self, level: LogLevel) {
        self.state().level = Some(level);
    }

    /// Whether the client follows a resource.
    pub(crate) fn watches(&self, uri: &str) -> bool {
        self.state().watched.contains_key(uri)
    }

    /// Follows a resource; `false` where there are too many.
    pub(crate) fn watch(&self, uri: &str, following: Option<Following>) -> bool {
        let mut state = self.state();
        let room = state.watched.len() < MOST || state.watched.contains_key(uri);
        if room {
            state.watched.insert(uri.to_owned(), following);
        }
        room
    }

    pub(crate) fn unwatch(&self, uri: &str) {
        self.state().watched.remove(uri);
    }
}
