//! Leaves an upstream alone that fails: one breaker. Pure; time comes in as an argument.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::settings::BreakerSettings;

/// How long a request is told to wait while others try the upstream.
const PROBING: Duration = Duration::from_secs(1);

/// What a breaker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Everything passes.
    Closed,
    /// Nothing passes before this time.
    Open(Instant),
    /// A few requests pass, which decide.
    HalfOpen {
        /// How many are under way.
        trying: usize,
        /// How many have succeeded.
        good: usize,
    },
}

impl State {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open(_) => "open",
            Self::HalfOpen { .. } => "half-open",
        }
    }
}

/// What a request says of its upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It answered.
    Good,
    /// It failed.
    Bad,
    /// Nothing.
    Nothing,
}

/// Which state of a breaker let a request in. What it says counts in that state alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Era(u64);

#[derive(Debug)]
pub(super) struct Breaker {
    pub(super) state: State,
    era: u64,
    /// Whether each of the last requests failed.
    last: VecDeque<bool>,
    /// How often it opened.
    pub(super) opened: u64,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { state: State::Closed, era: 0, last: VecDeque::new(), opened: 0 }
    }
}

impl Breaker {
    fn become_state(&mut self, state: State) {
        self.state = state;
        self.era += 1;
        self.last.clear();
    }

    /// How many of the last requests failed, and how many they were.
    pub(super) fn last(&self) -> (usize, usize) {
        (self.last.iter().filter(|failed| **failed).count(), self.last.len())
    }

    /// Whether it lets everything pass, and would without what it remembers.
    pub(super) fn is_idle(&self) -> bool {
        self.state == State::Closed && self.last().0 == 0
    }

    /// Lets a request pass, or says for how long it would not.
    pub(super) fn enter(&mut self, settings: &BreakerSettings, now: Instant) -> Result<Era, Duration> {
        if let State::Open(until) = self.state {
            if now < until {
                return Err(until - now);
            }
            self.become_state(State::HalfOpen { trying: 0, good: 0 });
        }
        if let State::HalfOpen { trying, good } = &mut self.state {
            if *trying + *good >= settings.half_open {
                return Err(PROBING.min(settings.open));
            }
            *trying += 1;
        }
        Ok(Era(self.era))
    }

    /// What came of a request. True: its state is another one now.
    pub(super) fn leave(&mut self, era: Era, verdict: Verdict, settings: &BreakerSettings, now: Instant) -> bool {
        // What was sent before says nothing of how it is now.
        if era != Era(self.era) {
            return false;
        }
        match (&mut self.state, verdict) {
            (State::Open(_), _) | (State::Closed, Verdict::Nothing) => return false,
            (State::Closed, _) => {
                if self.last.len() >= settings.of {
                    self.last.pop_front();
                }
                self.last.push_back(verdict == Verdict::Bad);
                if self.last().0 < settings.failures {
                    return false;
                }
            }
            (State::HalfOpen { trying, .. }, Verdict::Nothing) => {
                *trying = trying.saturating_sub(1);
                return false;
            }
            (State::HalfOpen { trying, good }, Verdict::Good) => {
                *trying = trying.saturating_sub(1);
                *good += 1;
                if *good < settings.half_open {
                    return false;
                }
                self.become_state(State::Closed);
                return true;
            }
            (State::HalfOpen { .. }, Verdict::Bad) => {}
        }
        self.opened += 1;
        self.become_state(State::Open(now + settings.open));
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Breaker, State, Verdict};
    use crate::settings::BreakerSettings;

    const OPEN: Duration = Duration::from_secs(30);

    fn settings(failures: usize, of: usize, half_open: usize) -> BreakerSettings {
        BreakerSettings { failures, of, open: OPEN, half_open, per_tool: false }
    }

    fn run(breaker: &mut Breaker, settings: &BreakerSettings, now: Instant, verdicts: &[Verdict]) {
        for verdict in verdicts {
            let era = breaker.enter(settings, now).expect("it passes");
            breaker.leave(era, *verdict, settings, now);
        }
    }

    use Verdict::{Bad, Good, Nothing};

    #[test]
    fn it_opens_when_so_many_of_the_last_requests_failed() {
        let (settings, now) = (settings(3, 5, 1), Instant::now());
        let mut breaker = Breaker::default();
        run(&mut breaker, &settings, now, &[Bad, Bad, Good, Good, Good, Bad, Nothing, Bad]);
        assert_eq!((breaker.state, breaker.last()), (State::Closed, (2, 5)), "older failures are forgotten");
        run(&mut breaker, &settings, now, &[Bad]);
        assert_eq!((breaker.state, breaker.opened), (State::Open(now + OPEN), 1));
        assert_eq!(breaker.enter(&settings, now + OPEN / 3), Err(OPEN * 2 / 3));
    }

    #[test]
    fn half_open_a_few_try_and_decide() {
        let (settings, now) = (settings(1, 1, 2), Instant::now());
        let mut breaker = Breaker::default();
        run(&mut breaker, &settings, now, &[Bad]);
        let later = now + OPEN;
        let one = breaker.enter(&settings, later).expect("the first");
        let two = breaker.enter(&settings, later).expect("the second");
        assert_eq!(breaker.enter(&settings, later), Err(Duration::from_secs(1)));
        // A client that leaves decides nothing, and makes room.
        assert!(!breaker.leave(one, Nothing, &settings, later));
        let three = breaker.enter(&settings, later).expect("its place");
        assert!(!breaker.leave(two, Good, &settings, later));
        assert!(breaker.enter(&settings, later).is_err(), "one is under way, one has succeeded");
        assert!(breaker.leave(three, Good, &settings, later));
        assert_eq!(breaker.state, State::Closed);
        run(&mut breaker, &settings, later, &[Bad]);
        let again = later + OPEN;
        let probe = breaker.enter(&settings, again).expect("a try");
        assert!(breaker.leave(probe, Bad, &settings, again));
        assert_eq!((breaker.state, breaker.opened), (State::Open(again + OPEN), 3));
    }

    #[test]
    fn what_was_sent_before_decides_nothing() {
        let (settings, now) = (settings(1, 1, 1), Instant::now());
        let mut breaker = Breaker::default();
        let slow = breaker.enter(&settings, now).expect("it passes");
        run(&mut breaker, &settings, now, &[Bad]);
        assert!(!breaker.leave(slow, Good, &settings, now));
        let later = now + OPEN;
        let probe = breaker.enter(&settings, later).expect("a try");
        assert!(!breaker.leave(slow, Bad, &settings, later));
        assert!(breaker.leave(probe, Good, &settings, later));
        assert_eq!(breaker.state, State::Closed);
    }
}
