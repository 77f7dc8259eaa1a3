//! The time of the store, which all gateways share: wrong clocks of machines change nothing.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// When the store was asked last, and what it said, in milliseconds.
#[derive(Debug, Default)]
pub(crate) struct StoreClock(Mutex<Option<(Instant, u64)>>);

impl StoreClock {
    /// The store says that it is this time.
    pub(crate) fn set(&self, millis: u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), millis));
    }

    /// The time in milliseconds; nothing before the store was asked.
    pub(crate) fn now(&self) -> Option<u64> {
        let (at, millis) = (*self.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        Some(millis.saturating_add(u64::try_from(at.elapsed().as_millis()).ok()?))
    }
}
