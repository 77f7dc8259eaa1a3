//! How often requests are sent again: a budget for each upstream, and longer and longer pauses. Knows no request.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::settings::RetrySettings;

/// The most retries in a row that earlier requests pay for.
const SAVED: u64 = 10;
/// A retry, in parts that a percentage of is whole.
const WHOLE: u64 = 100;

#[derive(Debug)]
pub(super) struct Retries {
    pub(super) settings: RetrySettings,
    /// What is left, by upstream, in hundredths of a retry.
    left: Mutex<HashMap<usize, u64>>,
    jitter: RandomState,
    drawn: AtomicU64,
}

impl Retries {
    pub(super) fn new(settings: &RetrySettings) -> Self {
        Self {
            settings: settings.clone(),
            left: Mutex::default(),
            jitter: RandomState::new(),
            drawn: AtomicU64::new(0),
        }
    }

    /// A request to an upstream, which pays for a part of a retry.
    pub(super) fn save(&self, upstream: usize) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let left = left.entry(upstream).or_insert(SAVED * WHOLE);
        *left = (*left + u64::from(self.settings.budget_percent)).min(SAVED * WHOLE);
    }

    /// Whether a request may be sent again.
    pub(super) fn spend(&self, upstream: usize) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(left) = left.get_mut(&upstream).filter(|left| **left >= WHOLE) else { return false };
        *left -= WHOLE;
        true
    }

    /// The pause before the next attempt; `attempts` were made. Half of it is chance: what failed together shall not come
    /// together.
    pub(super) fn pause(&self, attempts: u32) -> Duration {
        let RetrySettings { backoff, longest_backoff, .. } = self.settings;
        let full = backoff.saturating_mul(1 << attempts.saturating_sub(1).min(16)).min(longest_backoff);
        let drawn = self.jitter.hash_one(self.drawn.fetch_add(1, Ordering::Relaxed)) % 1001;
        full / 2 + full / 2 * drawn as u32 / 1000
    }

    pub(super) fn keep_only(&self, is_there: impl Fn(usize) -> bool) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).retain(|upstream, _| is_there(*upstream));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Retries;
    use crate::settings::RetrySettings;

    #[test]
    fn no_more_than_the_budget_is_sent_again() {
        let retries = Retries::new(&RetrySettings { budget_percent: 20, ..RetrySettings::default() });
        assert!(!retries.spend(1), "nothing was sent");
        let mut again = 0;
        for _ in 0..1000 {
            retries.save(1);
            again += u32::from(retries.spend(1));
        }
        // Ten at first, then a fifth.
        assert!((209..=210).contains(&again), "{again}");
        for _ in 0..1000 {
            retries.save(3);
        }
        assert_eq!((0..100).filter(|_| retries.spend(3)).count(), 10, "no more are saved");
        retries.save(2);
        assert!(retries.spend(2), "each upstream has its own");
        retries.keep_only(|upstream| upstream == 1);
        assert!(!retries.spend(2));
    }

    #[test]
    fn pauses_grow_to_the_longest() {
        let (backoff, longest_backoff) = (Duration::from_millis(100), Duration::from_secs(1));
        let retries = Retries::new(&RetrySettings { backoff, longest_backoff, ..RetrySettings::default() });
        for (attempts, most) in [(1, 100), (2, 200), (3, 400), (5, 1000), (60, 1000)] {
            let most = Duration::from_millis(most);
            let all: Vec<_> = (0..100).map(|_| retries.pause(attempts)).collect();
            assert!(all.iter().all(|pause| (most / 2..=most).contains(pause)), "{attempts}: {all:?}");
            assert!(all.iter().max() > all.iter().min());
        }
    }
}
