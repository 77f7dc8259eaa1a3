//! Which refusals pass by themselves, and how long to wait for that.

use std::time::Duration;

use wire::http::retry_after;

/// The first pause; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(30);
/// The longest pause that an endpoint may ask for.
const MOST_ASKED: Duration = Duration::from_mins(2);

/// Whether another try may be answered.
pub(crate) const fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..=599)
}

/// How long to wait before try number `tries + 1`; `None` where the endpoint asks for too long. `now` is in seconds since 1970.
pub(crate) fn pause(asked: Option<&str>, tries: u32, now: u64) -> Option<Duration> {
    let longest = PAUSE.saturating_mul(1 << tries.saturating_sub(1).min(8)).min(LONGEST);
    // Half of it is chance, so that requests that failed together do not come back together.
    let own = longest.mul_f64(0.5 + chance() / 2.0);
    let asked = Duration::from_millis(asked.and_then(|value| retry_after(value, now)).unwrap_or(0));
    (asked <= MOST_ASKED).then(|| own.max(asked))
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

    #[test]
    fn pauses_grow_and_respect_what_is_asked_for() {
        for (tries, most) in [(1, 500), (2, 1000), (9, 30_000)] {
            let pause = pause(None, tries, 0).expect("a pause").as_millis();
            assert!(pause >= most / 2 && pause <= most, "{tries}: {pause}");
        }
        assert_eq!(pause(Some("7"), 1, 0), Some(Duration::from_secs(7)));
        assert_eq!(pause(Some("Thu, 01 Jan 1970 00:01:07 GMT"), 1, 60), Some(Duration::from_secs(7)));
        assert!(pause(Some("soon"), 1, 0).expect("a pause") <= PAUSE && pause(Some("-1"), 1, 0).is_some());
        assert_eq!((pause(Some("86400"), 1, 0), pause(Some("1e300"), 1, 0)), (None, None));
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        assert!([408, 429, 500, 503, 529].into_iter().all(may_pass));
        assert!(![200, 301, 307, 400, 401, 403, 404, 422].into_iter().any(may_pass));
    }
}
