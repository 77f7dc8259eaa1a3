//! The state of a session: how often each request was sent, its log level, and the objects that simulated calls made up.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use super::objects::Objects;
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
    objects: Objects,
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

    /// The result of a call of a tool as the objects of this session demand it; see [`Objects::settle`].
    pub(super) fn settle(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        result: Option<&Value>,
        is_simulated: bool,
    ) -> Option<Value> {
        self.lock().objects.settle(tool, arguments, result, is_simulated)
    }

    /// Whether a call of a tool is about an object of this session; see [`Objects::knows`].
    pub(super) fn knows(&self, tool: &str, arguments: &Map<String, Value>) -> bool {
        self.lock().objects.knows(tool, arguments)
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
