//! How often something may be done: one number for each key (GCRA). Bounded in memory. Knows no request.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;

use crate::settings::RateRule;

/// The most keys of one rule that are counted apart. New ones beyond that share one count: who makes keys up gets no fresh
/// count for it, and takes none away from those who have one.
pub(super) const MOST: usize = 65_536;

/// What has a count of its own.
#[derive(Clone, Debug, Hash)]
pub(super) struct Counted<'r> {
    pub(super) principal: Option<&'r Option<HeaderValue>>,
    pub(super) client: Option<&'r [u8]>,
    pub(super) server: Option<&'r str>,
    pub(super) tool: Option<Cow<'r, str>>,
    pub(super) upstream: Option<&'r str>,
}

/// One count that a request takes from.
#[derive(Clone, Debug)]
pub(super) struct Taken<'r> {
    /// The number of the rule.
    pub(super) rule: usize,
    /// The key of the count in this gateway.
    pub(super) key: u64,
    pub(super) of: Counted<'r>,
}

/// One rule in numbers, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The time that one request takes up.
    pub(super) each: u64,
    /// How far ahead of the clock requests may take up time.
    ahead: u64,
}

impl Pace {
    pub(super) fn new(rule: &RateRule) -> Self {
        let period = u64::try_from(rule.allow.period.as_nanos()).unwrap_or(u64::MAX);
        // Rounded up: rather less than allowed than more.
        let each = period.div_ceil(u64::from(rule.allow.count.max(1))).max(1);
        Self { each, ahead: each.saturating_mul(u64::from(rule.burst.max(1))) }
    }
}

/// Until when the time of each key is taken up, in nanoseconds since the start.
#[derive(Debug, Default)]
struct Counts {
    by_key: HashMap<u64, u64>,
    shared: u64,
}

impl Counts {
    fn taken(&self, key: u64) -> u64 {
        match self.by_key.get(&key) {
            Some(taken) => *taken,
            None if self.by_key.len() < MOST => 0,
            None => self.shared,
        }
    }

    fn take(&mut self, key: u64, until: u64) {
        if self.by_key.len() >= MOST && !self.by_key.contains_key(&key) {
            self.shared = until;
        } else {
            self.by_key.insert(key, until);
        }
    }

    /// Whose time is over has a full burst, as one who was never seen.
    fn forget(&mut self, now: u64) {
        self.by_key.retain(|_, until| *until > now);
    }
}

/// The counts of all rules.
#[derive(Debug)]
pub(super) struct Rates {
    pub(super) rules: Vec<RateRule>,
    paces: Vec<Pace>,
    start: Instant,
    hasher: RandomState,
    counts: Mutex<Vec<Counts>>,
}

impl Rates {
    pub(super) fn new(rules: &[RateRule], start: Instant) -> Self {
        let counts = rules.iter().map(|_| Counts::default()).collect();
        let paces = rules.iter().map(Pace::new).collect();
        Self { rules: rules.to_vec(), paces, start, hasher: RandomState::new(), counts: Mutex::new(counts) }
    }

    /// The key for what these values tell apart. Nobody outside can choose two values with one key.
    pub(super) fn key(&self, of: &impl Hash) -> u64 {
        self.hasher.hash_one(of)
    }

    fn nanos(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.start).as_nanos()).unwrap_or(u64::MAX)
    }

    fn counts(&self) -> MutexGuard<'_, Vec<Counts>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one from each of these counts, by rule and key, or from none: then the first rule that refuses, and when it would
    /// not.
    pub(super) fn take(
        &self,
        from: impl Iterator<Item = (usize, u64)> + Clone,
        now: Instant,
    ) -> Result<(), (usize, Duration)> {
        let (mut counts, now) = (self.counts(), self.nanos(now));
        self.fits(&counts, from.clone(), now)?;
        self.add(&mut counts, from, now);
        Ok(())
    }

    /// The same without taking anything.
    pub(super) fn look(&self, from: impl Iterator<Item = (usize, u64)>, now: Instant) -> Result<(), (usize, Duration)> {
        self.fits(&self.counts(), from, self.nanos(now))
    }

    /// Takes one from each, whether it fits or not.
    pub(super) fn note(&self, from: impl Iterator<Item = (usize, u64)>, now: Instant) {
        self.add(&mut self.counts(), from, self.nanos(now));
    }

    fn fits(
        &self,
        counts: &[Counts],
        mut from: impl Iterator<Item = (usize, u64)>,
        now: u64,
    ) -> Result<(), (usize, Duration)> {
        from.try_for_each(|(rule, key)| {
            let (Some(pace), Some(counts)) = (self.paces.get(rule), counts.get(rule)) else { return Ok(()) };
            let until = counts.taken(key).max(now).saturating_add(pace.each);
            let over = until.saturating_sub(now).saturating_sub(pace.ahead);
            if over > 0 { Err((rule, Duration::from_nanos(over))) } else { Ok(()) }
        })
    }

    fn add(&self, counts: &mut [Counts], from: impl Iterator<Item = (usize, u64)>, now: u64) {
        for (rule, key) in from {
            let (Some(pace), Some(counts)) = (self.paces.get(rule), counts.get_mut(rule)) else { continue };
            let until = counts.taken(key).max(now).saturating_add(pace.each);
            counts.take(key, until);
        }
    }

    pub(super) fn sweep(&self, now: Instant) {
        let now = self.nanos(now);
        self.counts().iter_mut().for_each(|counts| counts.forget(now));
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::{MOST, Rates};
    use crate::settings::{Amount, RateKey, RateRule};

    fn rule(count: u32, period: Duration, burst: u32) -> RateRule {
        RateRule { per: vec![RateKey::Principal], tools: None, allow: Amount { count, period }, burst }
    }

    fn rates(rules: &[RateRule]) -> (Rates, Instant) {
        let start = Instant::now();
        (Rates::new(rules, start), start)
    }

    fn one(key: u64) -> std::iter::Once<(usize, u64)> {
        std::iter::once((0, key))
    }

    const SECOND: Duration = Duration::from_secs(1);

    proptest! {
        /// Whatever comes when: within no time are there more than the burst and what the rate adds in that time; and what
        /// is refused is let in after the time that was named, and not before.
        #[test]
        fn never_more_than_allowed(
            count in 1_u32..50,
            burst in 1_u32..20,
            pauses in proptest::collection::vec(prop_oneof![Just(0_u64), 0_u64..2_000_000_000], 1..200),
        ) {
            let (rates, start) = rates(&[rule(count, SECOND, burst)]);
            let mut at = Duration::ZERO;
            let mut let_in: Vec<u128> = Vec::new();
            for pause in pauses {
                at += Duration::from_nanos(pause);
                match rates.take(one(1), start + at) {
                    Ok(()) => let_in.push(at.as_nanos()),
                    Err((_, again)) => {
                        prop_assert!(again <= SECOND);
                        let early = start + at + again.saturating_sub(Duration::from_nanos(1));
                        prop_assert!(rates.take(one(1), early).is_err());
                        at += again;
                        prop_assert!(rates.take(one(1), start + at).is_ok());
                        let_in.push(at.as_nanos());
                    }
                }
            }
            for (first, begin) in let_in.iter().enumerate() {
                for (more, end) in let_in[first..].iter().enumerate() {
                    let most = u128::from(burst) + (end - begin) * u128::from(count) / SECOND.as_nanos();
                    prop_assert!((more + 1) as u128 <= most, "{} in {} ns", more + 1, end - begin);
                }
            }
        }
    }

    #[test]
    fn a_rule_that_refuses_takes_nothing_from_the_others() {
        let (rates, now) = rates(&[rule(1, SECOND, 5), rule(1, SECOND, 1)]);
        let both = [(0, 7), (1, 7)];
        assert_eq!(rates.take(both.into_iter(), now), Ok(()));
        for _ in 0..10 {
            assert_eq!(rates.take(both.into_iter(), now), Err((1, SECOND)));
        }
        for _ in 0..4 {
            assert_eq!(rates.take(one(7), now), Ok(()));
        }
        assert_eq!(rates.take(one(7), now), Err((0, SECOND)));
    }

    /// Who makes keys up resets nobody's count, and has the count of one for all further keys.
    #[test]
    fn keys_that_are_made_up_reset_no_count() {
        let (rates, now) = rates(&[rule(1, SECOND * 3600, 2)]);
        assert!(rates.take(one(0), now).is_ok() && rates.take(one(0), now).is_ok());
        assert!(rates.take(one(0), now).is_err());
        for key in 1..MOST as u64 {
            assert!(rates.take(one(key), now).is_ok());
        }
        let further = (MOST as u64..MOST as u64 + 1000).filter(|key| rates.take(one(*key), now).is_ok());
        assert_eq!(further.count(), 2);
        assert!(rates.take(one(0), now).is_err());
        assert!(rates.take(one(5), now).is_ok(), "the second of its burst");
        assert_eq!(rates.counts.lock().expect("no panic")[0].by_key.len(), MOST);
        rates.sweep(now + SECOND * 7200);
        assert_eq!(rates.counts.lock().expect("no panic")[0].by_key.len(), 0);
    }
}
