//! Whether a peer has stopped answering. One that hangs must not cost a time-out for each of a hundred requests: after a
//! few in a row, over all cases of a run, the run is over. Does not judge; that requests went unanswered is in the traces.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// So many requests in a row without an answer, and the peer counts as silent. Single ones go unanswered for a reason.
const ENOUGH: u32 = 6;

/// How many requests of a run went unanswered since the last answer. Greetings do not count: every new child greets.
#[derive(Debug, Default)]
pub struct Silence(AtomicU32, AtomicBool);

impl Silence {
    /// While a request waited in vain, answers came under ids that nobody asked with.
    pub fn misheard(&self) {
        self.1.store(true, Ordering::Relaxed);
    }

    /// Whether the silent peer says something, if nothing that fits.
    pub fn is_babble(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }

    /// A request was answered, or was not.
    pub fn heard(&self, answered: bool) {
        if answered {
            // Whoever was silent stays so, or a run would end in one case and go on in another.
            let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| (n < ENOUGH).then_some(0));
        } else {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The peer cannot be listened to any longer.
    pub fn fall(&self) {
        self.0.store(ENOUGH, Ordering::Relaxed);
    }

    /// Whether there is no point in asking on.
    pub fn is_total(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= ENOUGH
    }
}

#[cfg(test)]
mod tests {
    use super::{ENOUGH, Silence};

    #[test]
    fn an_answer_in_between_breaks_the_silence() {
        let silence = Silence::default();
        for _ in 0..2 * ENOUGH {
            silence.heard(false);
            silence.heard(true);
        }
        assert!(!silence.is_total());
    }

    #[test]
    fn silence_is_final() {
        let silence = Silence::default();
        for _ in 0..ENOUGH {
            assert!(!silence.is_total());
            silence.heard(false);
        }
        silence.heard(true);
        assert!(silence.is_total());
    }
}
