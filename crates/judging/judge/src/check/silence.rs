//! Detects a peer that has stopped answering: after a few unanswered requests in a row, over all cases of a run, the run
//! ends, so that it does not wait for a hundred timeouts. Must not judge: the traces show what went unanswered.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// After so many unanswered requests in a row the peer counts as silent. Single ones may go unanswered for a reason.
const ENOUGH: u32 = 6;

/// The same for a peer that never answered anything but greetings.
const ENOUGH_FROM_THE_START: u32 = 3;

/// After so many unanswered requests of one method in a row, that method is asked no more: other methods are answered.
const ENOUGH_OF_A_KIND: u32 = 3;

/// How many requests of a run went unanswered since the last answer. Greetings do not count: every new child greets.
#[derive(Debug, Default)]
pub struct Silence {
    unanswered: AtomicU32,
    /// Whether answers came with ids that no request had.
    babble: AtomicBool,
    /// Whether anything but a greeting was ever answered.
    answered: AtomicBool,
    kinds: Mutex<HashMap<String, u32>>,
    /// That of the run, where this is the silence of a part of it.
    of_the_run: Option<Arc<Self>>,
}

impl Silence {
    /// Of a peer that has answered before.
    pub fn after_an_answer() -> Self {
        Self { answered: AtomicBool::new(true), ..Self::default() }
    }

    /// Of a part of a run that says nothing about the run, but ends where the run is hopeless.
    pub fn of_a_part(run: Arc<Self>) -> Self {
        Self { of_the_run: Some(run), ..Self::after_an_answer() }
    }

    /// While a request timed out, answers came with ids that no request had.
    pub fn misheard(&self) {
        self.babble.store(true, Ordering::Relaxed);
    }

    /// Whether the silent peer answers, but with other ids.
    pub fn is_babble(&self) -> bool {
        self.babble.load(Ordering::Relaxed)
    }

    /// A request was answered, or was not.
    pub fn heard(&self, answered: bool) {
        if answered {
            // A silent peer stays silent, or a run would end in one case and continue in another.
            let enough = self.enough();
            let _ = self
                .unanswered
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| (n < enough).then_some(0))
                .inspect(|_| self.answered.store(true, Ordering::Relaxed));
        } else {
            self.unanswered.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn enough(&self) -> u32 {
        if self.answered.load(Ordering::Relaxed) { ENOUGH } else { ENOUGH_FROM_THE_START }
    }

    /// A request for `method` was answered, or was not.
    pub fn heard_of(&self, method: &str, answered: bool) {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        match kinds.get_mut(method) {
            Some(unanswered) if *unanswered >= ENOUGH_OF_A_KIND => {}
            Some(unanswered) => *unanswered = if answered { 0 } else { *unanswered + 1 },
            None => _ = kinds.insert(method.to_owned(), u32::from(!answered)),
        }
    }

    /// Whether requests for `method` are pointless.
    pub fn is_over_for(&self, method: &str) -> bool {
        let kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.get(method).is_some_and(|unanswered| *unanswered >= ENOUGH_OF_A_KIND)
    }

    /// The peer counts as silent from now on.
    pub fn fall(&self) {
        self.unanswered.store(ENOUGH, Ordering::Relaxed);
    }

    /// Whether further requests are pointless.
    pub fn is_total(&self) -> bool {
        self.unanswered.load(Ordering::Relaxed) >= self.enough()
            || self.of_the_run.as_deref().is_some_and(Self::is_hopeless)
    }

    /// Whether a peer that is silent never answered anything but greetings.
    fn is_hopeless(&self) -> bool {
        !self.answered.load(Ordering::Relaxed) && self.is_total()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{ENOUGH, ENOUGH_FROM_THE_START, ENOUGH_OF_A_KIND, Silence};

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
    fn a_method_that_is_never_answered_is_asked_no_more() {
        let silence = Silence::default();
        for _ in 0..ENOUGH_OF_A_KIND {
            assert!(!silence.is_over_for("tools/call"));
            silence.heard_of("tools/call", true);
        }
        for _ in 0..ENOUGH_OF_A_KIND {
            assert!(!silence.is_over_for("tools/call"));
            silence.heard_of("tools/call", false);
            silence.heard_of("ping", true);
        }
        silence.heard_of("tools/call", true);
        assert!(silence.is_over_for("tools/call") && !silence.is_over_for("ping"));
    }

    #[test]
    fn a_part_ends_where_the_run_is_hopeless() {
        for answered_first in [true, false] {
            let run = Arc::new(Silence::default());
            if answered_first {
                run.heard(true);
            }
            let part = Silence::of_a_part(run.clone());
            (0..ENOUGH).for_each(|_| run.heard(false));
            assert!(run.is_total());
            assert_eq!(part.is_total(), !answered_first);
        }
    }

    #[test]
    fn silence_is_final() {
        for (answered_first, enough) in [(true, ENOUGH), (false, ENOUGH_FROM_THE_START)] {
            let silence = Silence::default();
            if answered_first {
                silence.heard(true);
            }
            for _ in 0..enough {
                assert!(!silence.is_total());
                silence.heard(false);
            }
            silence.heard(true);
            assert!(silence.is_total());
        }
    }
}
