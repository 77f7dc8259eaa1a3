//! How fast a peer answers, over all cases of a run: so that what it never answers is waited for no longer than makes sense,
//! and a busy machine is given its time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How many times as long as its slowest answer so far, and as its usual one, an answer may take.
const OF_THE_SLOWEST: u32 = 20;
const OF_THE_USUAL: u32 = 10;

/// The share of the longest patience that every answer is given.
const LEAST: f64 = 0.3;

/// How fast a peer answers. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    answers: Arc<Answers>,
    /// Whether what is owed is waited for as long as may be.
    patient: bool,
}

#[derive(Debug, Default)]
struct Answers {
    slowest_us: AtomicU64,
    usual_us: AtomicU64,
}

impl Pace {
    /// The same, but what is owed is waited for as long as may be.
    pub fn patiently(&self) -> Self {
        Self { patient: true, ..self.clone() }
    }

    /// A request was answered after `took`.
    pub fn answered(&self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1);
        self.answers.slowest_us.fetch_max(took, Ordering::Relaxed);
        let usual = |before: u64| Some(if before == 0 { took } else { before - before / 8 + took / 8 });
        _ = self.answers.usual_us.fetch_update(Ordering::Relaxed, Ordering::Relaxed, usual);
    }

    /// How long an answer is waited for that may take up to `most`.
    pub fn patience(&self, most: Duration) -> Duration {
        let slowest = Duration::from_micros(self.answers.slowest_us.load(Ordering::Relaxed));
        if self.patient || slowest.is_zero() {
            return most;
        }
        slowest.saturating_mul(OF_THE_SLOWEST).clamp(most.mul_f64(LEAST), most)
    }

    /// How long something is waited for that may well not come: between `least` and `most`.
    pub fn glance(&self, least: Duration, most: Duration) -> Duration {
        let usual = Duration::from_micros(self.answers.usual_us.load(Ordering::Relaxed));
        if usual.is_zero() { most } else { usual.saturating_mul(OF_THE_USUAL).clamp(least, most) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Pace;

    #[test]
    fn what_answers_at_once_is_not_waited_for_long() {
        let (most, ms) = (Duration::from_secs(10), Duration::from_millis);
        let pace = Pace::default();
        let glance = |pace: &Pace| pace.glance(ms(100), ms(375));
        assert_eq!((pace.patience(most), glance(&pace)), (most, ms(375)), "nothing was answered yet");
        pace.answered(ms(5));
        assert_eq!((pace.patience(most), glance(&pace)), (Duration::from_secs(3), ms(100)));
        pace.answered(ms(197));
        assert_eq!((pace.patience(most), glance(&pace)), (ms(3940), ms(290)), "a busy machine");
        pace.answered(Duration::from_secs(3));
        assert_eq!((pace.patience(most), glance(&pace)), (most, ms(375)));
        pace.answered(ms(1));
        assert_eq!(pace.clone().patience(most), most, "the slowest is remembered");
    }

    #[test]
    fn a_second_play_is_patient() {
        let (most, pace) = (Duration::from_secs(10), Pace::default());
        pace.answered(Duration::from_millis(1));
        assert_eq!(pace.patiently().patience(most), most);
        assert_eq!(pace.patiently().glance(Duration::ZERO, most), Duration::from_millis(10));
    }
}
