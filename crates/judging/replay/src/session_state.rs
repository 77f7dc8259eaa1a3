//! The state of a session: how often each request was sent, and its log level.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::request_key::Key;

/// Log levels, least severe first.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The state of one session, or of all clients without a session.
#[derive(Debug, Default)]
pub(super) struct SessionState(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    counts: HashMap<Key, u64>,
    log_level: usize,
}

impl SessionState {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request; returns how often it was sent before.
    pub(super) fn count(&self, key: Key) -> u64 {
        let mut inner = self.lock();
        let count = inner.counts.entry(key).or_default();
        *count += 1;
        *count - 1
    }

    /// Sets the lowest severity of log messages that the client receives.
    pub(super) fn set_log_level(&self, level: usize) {
        self.lock().log_level = level;
    }

    /// The lowest severity of log messages that the client receives.
    pub(super) fn log_level(&self) -> usize {
        self.lock().log_level
    }
}

/// The severity of a log level, from 0.
pub(super) fn severity(level: &str) -> Option<usize> {
    LEVELS.iter().position(|name| *name == level)
}
