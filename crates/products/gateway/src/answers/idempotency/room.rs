//! How many keys are kept and how many calls run, in all and for each principal.

use std::time::Instant;

use super::{CallKey, Entry, State};
use crate::failure::{self, Failure};
use crate::settings::IdempotencySettings;

/// The most calls with a key that run at the same time: they go on when their clients leave.
pub(super) const MOST_RUNNING: usize = 1024;
/// How many bytes a key costs besides its texts and its result.
pub(super) const OVERHEAD: usize = 512;
/// The longest name of a tool, in bytes: a client may make one up.
pub(super) const LONGEST_NAME: usize = 1024;

impl State {
    /// Why one more key cannot be kept. A key is never given up for another one: its call could run twice.
    pub(super) fn lacks(&mut self, key: &CallKey, settings: &IdempotencySettings, now: Instant) -> Option<Failure> {
        if key.tool.len() > LONGEST_NAME {
            return Some(failure::IDEMPOTENCY_KEY_INVALID);
        }
        let cost = OVERHEAD + key.bytes();
        let fits = |state: &Self| {
            state.fits(key, 1, (state.entries.len(), settings.entries), |_, _| 1)
                && state.has_bytes(key, cost, settings.bytes)
        };
        if !fits(self) {
            self.sweep(now);
            if !fits(self) {
                return Some(failure::IDEMPOTENCY_FULL);
            }
        }
        (!self.may_run(key)).then_some(failure::IDEMPOTENCY_BUSY)
    }

    /// Whether one more call may run.
    pub(super) fn may_run(&self, key: &CallKey) -> bool {
        self.fits(key, 1, (self.running, MOST_RUNNING), |_, entry| usize::from(entry.is_running()))
    }

    /// Whether there is room for more of what `count` counts, of which there is `now` and may be `most`: in all, and for the
    /// principal of `key`.
    fn fits(
        &self,
        key: &CallKey,
        more: usize,
        (now, most): (usize, usize),
        count: impl Fn(&CallKey, &Entry) -> usize,
    ) -> bool {
        if now + more > most {
            return false;
        }
        // While most of it is free, nobody is in need.
        if key.principal.is_none() || now + more <= most / 4 {
            return true;
        }
        let of_principal = self.entries.iter().filter(|(other, _)| other.principal == key.principal);
        let own: usize = of_principal.map(|(key, entry)| count(key, entry)).sum();
        // Three quarters of what others leave: however many have all that they may, there is something for the next one.
        let left = most - (now - own);
        own + more <= (left - left / 4).max(1)
    }

    /// Whether a result of this size can be kept.
    pub(super) fn has_bytes(&self, key: &CallKey, more: usize, most: usize) -> bool {
        self.fits(key, more, (self.bytes, most), |key, entry| entry.bytes(key))
    }
}
