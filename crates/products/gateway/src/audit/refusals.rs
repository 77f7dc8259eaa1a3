//! How often refusals of strangers are recorded: many in a row fill no disk.

use std::time::Instant;

/// How many may come at once.
const BURST: f64 = 20.0;
/// How many a second may come for long.
const RATE: f64 = 1.0;

/// Counts what is recorded, and what is not.
pub(super) struct RefusalLimit {
    at: Instant,
    room: f64,
    /// How many were not recorded since the last one that was.
    left_out: u64,
}

impl RefusalLimit {
    pub(super) const fn new(now: Instant) -> Self {
        Self { at: now, room: BURST, left_out: 0 }
    }

    /// Somebody is refused: how many were left out before, if this one is to be recorded.
    pub(super) fn next(&mut self, now: Instant) -> Option<u64> {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.room = passed.mul_add(RATE, self.room).min(BURST);
        self.at = now;
        if self.room < 1.0 {
            self.left_out += 1;
            return None;
        }
        self.room -= 1.0;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::RefusalLimit;

    #[test]
    fn many_refusals_are_counted_and_few_are_recorded() {
        let begin = Instant::now();
        let mut limit = RefusalLimit::new(begin);
        let recorded = (0..1000).filter_map(|_| limit.next(begin)).count();
        assert_eq!(recorded, 20);
        assert_eq!(limit.next(begin + Duration::from_millis(1100)), Some(980));
        assert_eq!(limit.next(begin + Duration::from_millis(1200)), None);
    }
}
