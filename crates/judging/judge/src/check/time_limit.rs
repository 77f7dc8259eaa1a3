//! How long a check may take in all, so that no peer makes it last. Probes have the larger share of it; the rest is for the
//! second plays and for ending what still runs. Must not know what is played.

use std::time::Duration;

use rules::Stop;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

/// Which part of a check is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Every probe once.
    Probing,
    /// What was found, a second time.
    Confirming,
    /// What crossed is read.
    Judging,
}

impl Phase {
    /// How much of the time is over when it ends.
    const fn share(self) -> f64 {
        match self {
            Self::Probing => 0.75,
            Self::Confirming => 0.92,
            Self::Judging => 0.97,
        }
    }
}

/// The time that a check has. Copies are the same.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimit {
    begun: Instant,
    max: Option<Duration>,
    phase: Phase,
}

impl TimeLimit {
    /// Begins now; never over where there is no `max`.
    pub fn begin(max: Option<Duration>) -> Self {
        Self { begun: Instant::now(), max, phase: Phase::Probing }
    }

    /// The same limit in another phase.
    pub const fn in_phase(self, phase: Phase) -> Self {
        Self { phase, ..self }
    }

    fn end(self) -> Option<Instant> {
        Some(self.begun + self.max?.mul_f64(self.phase.share()))
    }

    /// How much of the time of the phase is left, if it is limited.
    pub fn left(self) -> Option<Duration> {
        self.end().map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Whether the time of the phase is up.
    pub fn is_up(self) -> bool {
        self.end().is_some_and(|end| Instant::now() >= end)
    }

    /// Resolves when the time of the phase is up.
    pub async fn up(self) {
        match self.end() {
            Some(end) => sleep_until(end).await,
            None => std::future::pending().await,
        }
    }

    /// What is stopped when no time is left for judging, and the task that stops it, which ends when it is dropped.
    pub fn stops_judging(self) -> (Stop, JoinSet<()>) {
        let (stop, mut timer) = (Stop::default(), JoinSet::new());
        let late = stop.clone();
        timer.spawn(async move {
            self.in_phase(Phase::Judging).up().await;
            late.stop();
        });
        (stop, timer)
    }

    /// What was not tried for want of time, in words.
    pub fn describe(self, untried: &[&'static str]) -> Option<String> {
        const NAMED: usize = 8;
        let max = self.max.filter(|_| !untried.is_empty())?;
        let named = untried.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = match untried.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!("the time limit of {} s left no time for {named}{more}", max.as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, sleep};

    use super::{Phase, TimeLimit};

    #[test]
    fn probes_end_before_second_plays() {
        let after = |seconds| {
            let begun =
                Instant::now().checked_sub(Duration::from_secs(seconds)).expect("the machine has run for a minute");
            let limit = TimeLimit { begun, ..TimeLimit::begin(Some(Duration::from_mins(1))) };
            [limit.is_up(), limit.in_phase(Phase::Confirming).is_up()]
        };
        assert_eq!(after(44), [false, false]);
        assert_eq!(after(46), [true, false]);
        assert_eq!(after(56), [true, true]);
        assert!(!TimeLimit::begin(None).is_up());
    }

    #[tokio::test]
    async fn judging_stops_when_the_time_is_over() {
        let after = |max: Option<Duration>| async move {
            let (stop, _timer) = TimeLimit::begin(max).stops_judging();
            sleep(Duration::from_millis(300)).await;
            stop.is_stopped()
        };
        assert!(after(Some(Duration::from_millis(50))).await);
        assert!(!after(Some(Duration::from_mins(1))).await);
        assert!(!after(None).await);
    }

    #[test]
    fn what_was_not_tried_is_named() {
        let limit = TimeLimit::begin(Some(Duration::from_mins(1)));
        assert_eq!(limit.describe(&[]), None);
        assert_eq!(limit.describe(&["a", "b"]).as_deref(), Some("the time limit of 60 s left no time for a, b"));
        let many = limit.describe(&["x"; 10]).unwrap_or_default();
        assert!(many.ends_with("x and 2 more"), "{many}");
    }
}
