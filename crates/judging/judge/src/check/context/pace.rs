//! How fast a peer answers, over all cases of a run: so that what it never answers is waited for no longer than makes sense,
//! and a busy machine is given its time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How many times as long as its slowest answer so far, and as its usual one, an answer may take.
const OF_THE_SLOWEST: u32 = 5;
const OF_THE_USUAL: u32 = 10;

/// The share of the longest patience that an answer is given at least, by how many did not come before: who has left several
/// requests unanswered leaves the next, too, and a check has but so much time.
fn least(unanswered: u64) -> f64 {
    match unanswered {
        0 => 0.5,
        1..=3 => 0.3,
        4..=10 => 0.1,
        _ => 0.05,
    }
}

/// How fast a peer answers. Clones are the same.
#[derive(Clone, Debug)]
pub struct Pace {
    answers: Arc<Answers>,
    /// How many answers did not come; one at first, but none in a second play.
    unanswered: Arc<AtomicU64>,
}

#[derive(Debug, Default)]
struct Answers {
    slowest_us: AtomicU64,
    usual_us: AtomicU64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { answers: Arc::default(), unanswered: Arc::new(AtomicU64::new(1)) }
    }
}

impl Pace {
    /// The same, but the first answer that does not come is waited for longer.
    pub fn patiently(&self) -> Self {
        Self { unanswered: Arc::default(), ..self.clone() }
    }

    /// A request went unanswered.
    pub fn unanswered(&self) {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
    }

    /// A request was answered after `took`.
    pub fn answered(&self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1);
        self.answers.slowest_us.fetch_max(took, Ordering::Relaxed);
        // One slow answer says little about the next.
        let usual =
            |before: u64| Some(if before == 0 { took } else { before - before / 8 + took.min(before * 4 + 1_000) / 8 });
        _ = self.answers.usual_us.fetch_update(Ordering::Relaxed, Ordering::Relaxed, usual);
    }

    /// How long an answer is waited for that may take up to `most`.
    pub fn patience(&self, most: Duration) -> Duration {
        let slowest = Duration::from_micros(self.answers.slowest_us.load(Ordering::Relaxed));
        if slowest.is_zero() {
            return most;
        }
        let least = most.mul_f64(least(self.unanswered.load(Ordering::Relaxed)));
        slowest.saturating_mul(OF_THE_SLOWEST).clamp(least, most)
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
        (0..20).for_each(|_| pace.answered(ms(197)));
        assert_eq!((pace.patience(most), glance(&pace)), (Duration::from_secs(3), ms(375)), "a busy machine");
        pace.answered(Duration::from_secs(1));
        assert_eq!((pace.patience(most), glance(&pace)), (Duration::from_secs(5), ms(375)));
        pace.answered(ms(1));
        assert_eq!(pace.clone().patience(most), Duration::from_secs(5), "the slowest is remembered");
    }

    #[test]
    fn one_slow_answer_is_not_the_usual_one() {
        let (pace, ms) = (Pace::default(), Duration::from_millis);
        let glance = |pace: &Pace| pace.glance(ms(10), ms(5_000));
        pace.answered(ms(4));
        pace.answered(ms(2_000));
        assert!(glance(&pace) < ms(60), "{:?}", glance(&pace));
        (0..30).for_each(|_| pace.answered(ms(200)));
        assert!(glance(&pace) > ms(1_500), "a machine that has become busy: {:?}", glance(&pace));
    }

    #[test]
    fn who_leaves_much_unanswered_is_given_less_time() {
        let (most, pace) = (Duration::from_secs(10), Pace::default());
        pace.answered(Duration::from_millis(1));
        let mut given = Vec::new();
        for _ in 0..12 {
            given.push(pace.patience(most).as_millis());
            pace.unanswered();
        }
        assert_eq!(given, [[3000; 3].as_slice(), &[1000; 7], &[500; 2]].concat());
        pace.answered(Duration::from_millis(400));
        assert_eq!(pace.patience(most), Duration::from_secs(2), "a busy machine");
    }

    #[test]
    fn a_second_play_is_patient_once() {
        let (most, pace) = (Duration::from_secs(10), Pace::default());
        pace.answered(Duration::from_millis(1));
        let second = pace.patiently();
        assert_eq!(second.patience(most), Duration::from_secs(5));
        second.unanswered();
        assert_eq!((second.patience(most), pace.patience(most)), (Duration::from_secs(3), Duration::from_secs(3)));
        assert_eq!(pace.patiently().glance(Duration::ZERO, most), Duration::from_millis(10));
    }
}
