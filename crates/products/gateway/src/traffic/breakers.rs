//! The breakers of all upstreams. Bounded in memory: only what fails has one.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::breaker::{Breaker, Era, State, Verdict};
use crate::settings::BreakerSettings;

/// The most tools that have a breaker of their own. Further ones share that of their upstream.
const MOST: usize = 1024;

/// An upstream, by its number, and a tool of it.
pub(super) type BreakerKey = (usize, Option<String>);

#[derive(Debug)]
pub(super) struct Breakers {
    pub(super) settings: BreakerSettings,
    all: Mutex<HashMap<BreakerKey, (String, Breaker)>>,
}

impl Breakers {
    pub(super) fn new(settings: &BreakerSettings) -> Self {
        Self { settings: settings.clone(), all: Mutex::default() }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<BreakerKey, (String, Breaker)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The breaker of a call: that of the tool, if tools have their own.
    pub(super) fn key(&self, upstream: usize, tool: Option<&str>) -> BreakerKey {
        (upstream, tool.filter(|_| self.settings.per_tool).map(str::to_owned))
    }

    /// For how long nothing passes, if nothing does.
    pub(super) fn closed_for(&self, key: &BreakerKey, now: Instant) -> Option<Duration> {
        match self.all().get(key)?.1.state {
            State::Open(until) => Some(until.saturating_duration_since(now)).filter(|wait| !wait.is_zero()),
            _ => None,
        }
    }

    /// Lets a request pass, or says for how long it would not.
    pub(super) fn enter(&self, key: &BreakerKey, now: Instant) -> Result<Era, Duration> {
        match self.all().get_mut(key) {
            Some((_, breaker)) => breaker.enter(&self.settings, now),
            None => Breaker::default().enter(&self.settings, now),
        }
    }

    /// What came of a request. True: the breaker opened by it.
    pub(super) fn leave(&self, key: &BreakerKey, name: &str, era: Era, verdict: Verdict, now: Instant) -> bool {
        let mut all = self.all();
        if !all.contains_key(key) {
            // Without a failure, there is nothing to remember.
            if verdict != Verdict::Bad {
                return false;
            }
            let is_full = key.1.is_some() && all.len() >= MOST;
            let key = if is_full { (key.0, None) } else { key.clone() };
            all.entry(key).or_insert_with(|| (name.to_owned(), Breaker::default()));
        }
        let key = if all.contains_key(key) { key } else { &(key.0, None) };
        let Some((name, breaker)) = all.get_mut(key) else { return false };
        if !breaker.leave(era, verdict, &self.settings, now) {
            return false;
        }
        let (tool, opened) = (key.1.as_deref(), matches!(breaker.state, State::Open(_)));
        if opened {
            let open_ms = self.settings.open.as_millis() as u64;
            tracing::warn!(upstream = name, tool, open_ms, "the breaker opens: nothing is sent");
        } else {
            tracing::info!(upstream = name, tool, "the breaker closes: requests are sent again");
        }
        opened
    }

    /// Forgets breakers of upstreams that are gone, and those that say nothing.
    pub(super) fn sweep(&self, is_there: impl Fn(usize) -> bool) {
        self.all().retain(|key, (_, breaker)| is_there(key.0) && !breaker.is_idle());
    }

    /// All of them, for `status`.
    pub(super) fn status(&self, now: Instant) -> Vec<Value> {
        let all = self.all();
        let mut rows: Vec<_> = all.iter().collect();
        rows.sort_by_key(|(key, _)| *key);
        let row = |(key, (name, breaker)): (&BreakerKey, &(String, Breaker))| {
            let (failures, of) = breaker.last();
            let again = match breaker.state {
                State::Open(until) => Some(until.saturating_duration_since(now).as_millis() as u64),
                _ => None,
            };
            json!({
                "upstream": name, "tool": key.1, "state": breaker.state.as_str(), "failures": failures,
                "of": of, "opened": breaker.opened, "again_ms": again,
            })
        };
        rows.into_iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Breakers, MOST, Verdict};
    use crate::settings::BreakerSettings;

    fn breakers(per_tool: bool) -> Breakers {
        Breakers::new(&BreakerSettings { failures: 1, of: 1, per_tool, ..BreakerSettings::default() })
    }

    fn fail(breakers: &Breakers, tool: &str, now: Instant) {
        let key = breakers.key(0, Some(tool));
        let era = breakers.enter(&key, now).expect("it passes");
        breakers.leave(&key, "a", era, Verdict::Bad, now);
    }

    #[test]
    fn tools_may_have_their_own() {
        let now = Instant::now();
        for per_tool in [false, true] {
            let breakers = breakers(per_tool);
            fail(&breakers, "x", now);
            assert!(breakers.closed_for(&breakers.key(0, Some("x")), now).is_some());
            assert_eq!(breakers.closed_for(&breakers.key(0, Some("y")), now).is_some(), !per_tool);
            assert!(breakers.closed_for(&breakers.key(1, Some("x")), now).is_none());
        }
    }

    #[test]
    fn names_that_a_client_makes_up_do_not_grow_without_end() {
        let (breakers, now) = (breakers(true), Instant::now());
        for number in 0..MOST + 10 {
            fail(&breakers, &number.to_string(), now);
        }
        assert_eq!(breakers.all().len(), MOST + 1);
        // What succeeds needs none.
        let key = breakers.key(7, Some("good"));
        let era = breakers.enter(&key, now).expect("it passes");
        breakers.leave(&key, "b", era, Verdict::Good, now);
        assert_eq!(breakers.all().len(), MOST + 1);
        breakers.sweep(|upstream| upstream != 0);
        assert!(breakers.all().is_empty());
    }

    #[test]
    fn one_that_is_closed_and_saw_no_failure_is_forgotten() {
        let (breakers, now) = (breakers(false), Instant::now());
        fail(&breakers, "x", now);
        breakers.sweep(|_| true);
        assert_eq!(breakers.status(now)[0]["state"], "open");
        let (key, later) = (breakers.key(0, None), now + Duration::from_secs(30));
        let era = breakers.enter(&key, later).expect("a try");
        assert!(!breakers.leave(&key, "a", era, Verdict::Good, later));
        breakers.sweep(|_| true);
        assert!(breakers.status(later).is_empty());
    }
}
