//! How often each task is looked at. Bounded in memory. Knows no task.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Owner;

/// The longest id of a task that is watched, in bytes.
pub(super) const LONGEST: usize = 1 << 10;
/// The most tasks that are watched. Looks at further ones are not limited.
const MOST: usize = 16_384;

/// Whose task it is, and its id.
type Key = (Owner, String);

/// When each task was looked at last.
#[derive(Debug, Default)]
pub(crate) struct Polls(Mutex<HashMap<Key, Instant>>);

impl Polls {
    /// A look at a task. `Some`: it comes too early, by this time. A look that is refused counts for nothing, and one that is
    /// early by a twentieth is in time: networks are no clocks.
    pub(crate) fn look(&self, key: Key, now: Instant, interval: Duration) -> Option<Duration> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = all.get_mut(&key) {
            let early = interval.saturating_sub(now.saturating_duration_since(*last));
            if early > interval / 20 {
                return Some(early);
            }
            *last = now;
            return None;
        }
        if all.len() >= MOST {
            all.retain(|_, last| now.saturating_duration_since(*last) < interval);
        }
        if all.len() < MOST {
            all.insert(key, now);
        }
        None
    }

    /// Forgets what limits no look any more.
    pub(crate) fn sweep(&self, now: Instant, interval: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, last| now.saturating_duration_since(*last) < interval);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{MOST, Polls};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_task_is_looked_at_once_in_an_interval() {
        let (polls, now) = (Polls::default(), Instant::now());
        let look = |id: &str, ms: u64| polls.look((None, id.to_owned()), now + Duration::from_millis(ms), SECOND);
        assert_eq!(look("a", 0), None);
        assert_eq!(look("a", 400), Some(Duration::from_millis(600)));
        assert_eq!(look("b", 400), None);
        assert_eq!(look("a", 960), None);
        assert_eq!(look("a", 1900), Some(Duration::from_millis(60)));
    }

    #[test]
    fn ids_that_a_client_makes_up_make_room_again() {
        let (polls, now) = (Polls::default(), Instant::now());
        for number in 0..=MOST {
            assert_eq!(polls.look((None, number.to_string()), now, SECOND), None);
        }
        polls.sweep(now + SECOND, SECOND);
        assert!(polls.0.lock().expect("no panic").is_empty());
    }
}
