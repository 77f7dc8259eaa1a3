//! Whether a request is sent again, and when: only where a second one does no harm, within a budget.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use wire::http::retry_after;

use crate::sending::{Incoming, Unanswered};

/// The first pause; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(5);
/// What a retry costs, in requests that were answered, and how many retries may come at once.
const COST: u32 = 5;
const FULL: u32 = 10 * COST;

/// Retries that are left: a failing API gets at most a fifth more requests.
#[derive(Debug)]
pub(crate) struct Budget(AtomicU32);

impl Default for Budget {
    fn default() -> Self {
        Self(AtomicU32::new(FULL))
    }
}

impl Budget {
    /// Takes one retry, if there is one.
    pub(crate) fn take(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(COST)).is_ok()
    }

    /// A request was answered.
    pub(crate) fn earn(&self) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| (left < FULL).then_some(left + 1));
    }
}

/// How long to wait before request number `attempt + 1`; `None`: what came is final.
pub(crate) fn pause(result: &Result<Incoming, Unanswered>, attempt: u32, now: u64) -> Option<Duration> {
    let asked = match result {
        Ok(answer) if matches!(answer.status, 429 | 502..=504) => {
            wire::trace::header(&answer.headers, "retry-after").and_then(|value| retry_after(value, now))
        }
        Err(Unanswered::NotSent(_) | Unanswered::Unknown(_)) => None,
        _ => return None,
    };
    let longest = PAUSE.saturating_mul(1 << attempt.saturating_sub(1).min(8)).min(LONGEST);
    // Half of it is chance, so that callers that failed together do not come back together.
    let own = longest.mul_f64(0.5 + chance() / 2.0);
    Some(asked.map_or(own, |asked| Duration::from_millis(asked).max(own)))
}

/// A number from 0 to 1.
fn chance() -> f64 {
    let mut bytes = [0; 4];
    // Without random numbers the pause has its full length.
    if getrandom::fill(&mut bytes).is_err() {
        return 1.0;
    }
    f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn came(status: u16, after: Option<&str>) -> Incoming {
        let headers = after.map(|value| ("retry-after".to_owned(), value.to_owned()));
        Incoming { status, headers: headers.into_iter().collect(), body: Vec::new(), is_cut: false }
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for status in [429, 502, 503, 504] {
            assert!(pause(&Ok(came(status, None)), 1, 0).is_some(), "{status}");
        }
        for status in [200, 302, 400, 401, 404, 408, 500, 501] {
            assert_eq!(pause(&Ok(came(status, Some("1"))), 1, 0), None, "{status}");
        }
        assert!(pause(&Err(Unanswered::NotSent(String::new())), 1, 0).is_some());
        for last in
            [Unanswered::Forbidden(String::new()), Unanswered::TooLong(1), Unanswered::Unreadable(String::new())]
        {
            assert_eq!(pause(&Err(last), 1, 0), None);
        }
    }

    #[test]
    fn pauses_grow_and_respect_what_is_asked_for() {
        for (attempt, most) in [(1, 250), (2, 500), (3, 1000), (20, 5000)] {
            let pause = pause(&Ok(came(503, None)), attempt, 0).expect("a pause").as_millis();
            assert!(pause >= most / 2 && pause <= most, "{attempt}: {pause}");
        }
        assert_eq!(pause(&Ok(came(429, Some("7"))), 1, 0), Some(Duration::from_secs(7)));
    }

    #[test]
    fn the_budget_runs_out_and_is_earned() {
        let budget = Budget::default();
        assert_eq!((0..20).filter(|_| budget.take()).count(), 10);
        (0..COST).for_each(|_| budget.earn());
        assert!(budget.take() && !budget.take());
    }
}
