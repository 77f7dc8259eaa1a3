//! How long calls of each tool take, as far as it decides whether they become tasks. Bounded in memory. Knows no clock.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::budget::quantiles::Histogram;

/// From how many calls on their median counts.
const ENOUGH: usize = 10;
/// The most tools. Of further ones nothing is learnt.
const MOST: usize = 1024;
/// The longest name that is kept.
const LONGEST: usize = 256;

/// By server and tool, as clients see them.
#[derive(Debug, Default)]
pub(crate) struct CallTimes(Mutex<HashMap<(String, String), Histogram>>);

impl CallTimes {
    /// A call has ended with a result, or took longer than a call may that is no task.
    pub(crate) fn record(&self, server: &str, tool: &str, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (server.to_owned(), tool.to_owned());
        if tool.len() <= LONGEST && (all.len() < MOST || all.contains_key(&key)) {
            all.entry(key).or_default().record(took);
        }
    }

    /// Whether half of the calls take longer than this.
    pub(crate) fn is_over(&self, server: &str, tool: &str, over: Duration) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let times = all.get(&(server.to_owned(), tool.to_owned())).filter(|times| times.count() >= ENOUGH);
        times.and_then(|times| times.quantile(0.5)).is_some_and(|median| median > over)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CallTimes, ENOUGH, LONGEST, MOST};

    const OVER: Duration = Duration::from_secs(10);

    #[test]
    fn a_tool_is_slow_when_half_of_enough_calls_are() {
        let times = CallTimes::default();
        for _ in 1..ENOUGH {
            times.record("s", "t", OVER * 2);
        }
        assert!(!times.is_over("s", "t", OVER), "too few calls");
        times.record("s", "t", OVER * 2);
        assert!(times.is_over("s", "t", OVER) && !times.is_over("s", "t", OVER * 3));
        assert!(!times.is_over("other", "t", OVER) && !times.is_over("s", "other", OVER));
        for _ in 0..=ENOUGH {
            times.record("s", "t", OVER / 10);
        }
        assert!(!times.is_over("s", "t", OVER), "half of them are fast by now");
    }

    #[test]
    fn tools_are_bounded() {
        let times = CallTimes::default();
        times.record("s", &"x".repeat(LONGEST + 1), OVER);
        for number in 0..MOST + 10 {
            times.record("s", &number.to_string(), OVER);
        }
        assert_eq!(times.0.lock().expect("no panic").len(), MOST);
    }
}
