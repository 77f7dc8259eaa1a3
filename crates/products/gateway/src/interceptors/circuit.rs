//! When an interceptor that fails is asked no more for a while. Pure.

use std::time::{Duration, Instant};

/// So many failures in a row open the circuit.
const FAILURES: u32 = 5;
/// For so long.
const PAUSE: Duration = Duration::from_secs(5);

/// Failures in a row, and until when nothing is asked.
#[derive(Debug, Default)]
pub(super) struct Circuit {
    failures: u32,
    until: Option<Instant>,
}

impl Circuit {
    /// Whether a question may be asked. After the pause one is, and the next pause begins with it.
    pub(super) fn admits(&mut self, now: Instant) -> bool {
        match self.until {
            Some(until) if now < until => false,
            Some(_) => {
                self.until = Some(now + PAUSE);
                true
            }
            None => true,
        }
    }

    /// Takes note of how a question ended.
    pub(super) fn note(&mut self, is_good: bool, now: Instant) {
        if is_good {
            *self = Self::default();
            return;
        }
        self.failures = self.failures.saturating_add(1);
        if self.failures >= FAILURES {
            self.until = Some(now + PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_failures_in_a_row_open_it_and_one_success_closes_it() {
        let (mut circuit, begin) = (Circuit::default(), Instant::now());
        for _ in 0..FAILURES - 1 {
            circuit.note(false, begin);
        }
        circuit.note(true, begin);
        for _ in 0..FAILURES - 1 {
            circuit.note(false, begin);
            assert!(circuit.admits(begin));
        }
        circuit.note(false, begin);
        assert!(!circuit.admits(begin));
        let later = begin + PAUSE;
        assert!(circuit.admits(later), "one is tried");
        assert!(!circuit.admits(later), "and no other meanwhile");
        circuit.note(true, later);
        assert!(circuit.admits(later) && circuit.admits(later), "it is closed");
    }
}
