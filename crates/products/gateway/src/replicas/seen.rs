//! Which sealed requests have come already: each counts once. Bounded: where too many have come, none is taken.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

/// The most requests in one period.
const MOST: usize = 1 << 20;

/// The names of requests.
type Names = HashSet<[u8; 16]>;

/// Those of this period and of the one before.
#[derive(Debug)]
pub(crate) struct Seen {
    period: Duration,
    state: Mutex<(Instant, Names, Names)>,
}

impl Seen {
    /// Remembers each for at least one period.
    pub(crate) fn new(period: Duration) -> Self {
        Self { period, state: Mutex::new((Instant::now(), Names::new(), Names::new())) }
    }

    /// Whether a request of this sender and number is new; from now on it is not.
    pub(crate) fn is_new(&self, sender: &str, number: u64, now: Instant) -> bool {
        let digest = Sha256::new().chain_update(number.to_be_bytes()).chain_update(sender).finalize();
        let Some(name) = digest.first_chunk::<16>().copied() else { return false };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, recent, before) = &mut *state;
        let age = now.saturating_duration_since(*since);
        if age >= self.period {
            *before = std::mem::take(recent);
            if age >= self.period * 2 {
                before.clear();
            }
            *since = now;
        }
        recent.len() < MOST && !before.contains(&name) && recent.insert(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_counts_once_for_at_least_a_period() {
        let period = Duration::from_mins(1);
        let (seen, begun) = (Seen::new(period), Instant::now());
        assert!(seen.is_new("a", 1, begun) && seen.is_new("a", 2, begun) && seen.is_new("b", 1, begun));
        for after in [0, 59, 61, 119] {
            assert!(!seen.is_new("a", 1, begun + Duration::from_secs(after)), "{after}");
        }
        let late = begun + Duration::from_secs(119);
        assert!(seen.is_new("c", 1, late) && !seen.is_new("c", 1, late + period));
        assert!(seen.is_new("a", 2, begun + period * 9), "what is too old is refused for its time");
    }
}
