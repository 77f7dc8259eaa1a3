//! Where a conversation stands: which of several answers comes next, and what it wants to hear.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::key::Key;

/// Severities, least first.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// How far a conversation has come.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    asked: HashMap<Key, u64>,
    level: usize,
}

impl Turns {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many times this was asked before.
    pub(super) fn next(&self, key: Key) -> u64 {
        let mut inner = self.inner();
        let asked = inner.asked.entry(key).or_default();
        *asked += 1;
        *asked - 1
    }

    /// From now on weaker log messages than these are not wanted.
    pub(super) fn want(&self, level: usize) {
        self.inner().level = level;
    }

    /// The weakest log message that is wanted.
    pub(super) fn wanted(&self) -> usize {
        self.inner().level
    }
}

/// How severe a level is.
pub(super) fn severity(level: &str) -> Option<usize> {
    LEVELS.iter().position(|name| *name == level)
}
