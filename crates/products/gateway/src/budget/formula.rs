//! How long one step of a chain may take: its share of the time that is left. Pure: knows no clock, no tool and no request.

use std::time::Duration;

/// A step that is about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The high quantile of its time: its weight among the steps that are left.
    pub weight: Duration,
    /// The least that it gets, as far as that is left.
    pub least: Duration,
    /// The most that it gets.
    pub most: Duration,
}

/// `clamp(least, left · weight / (weight + later), most)`, and never more than `left`. `later` are the weights of the steps
/// after it. What a step does not use is still in `left` when the next one begins.
pub fn limit(left: Duration, step: Step, later: impl IntoIterator<Item = Duration>) -> Duration {
    let later = later.into_iter().fold(Duration::ZERO, Duration::saturating_add);
    share(left, step.weight, later).max(step.least).min(step.most).min(left)
}

/// Whether a step that typically takes `typical` cannot be expected to end in time. It is not begun then.
pub fn is_hopeless(left: Duration, typical: Duration) -> bool {
    left.is_zero() || left < typical
}

/// `left · weight / (weight + later)`, rounded down to microseconds; all of `left` where nothing comes later.
fn share(left: Duration, weight: Duration, later: Duration) -> Duration {
    if later.is_zero() {
        return left;
    }
    let [left, weight, later] = [left, weight, later].map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    let all = (u128::from(weight) + u128::from(later)).max(1);
    let share = u128::from(left) * u128::from(weight) / all;
    Duration::from_micros(u64::try_from(share).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{Step, is_hopeless, limit};

    fn millis() -> impl Strategy<Value = Duration> {
        (0_u64..200_000_000).prop_map(Duration::from_micros)
    }

    fn step() -> impl Strategy<Value = Step> {
        (millis(), millis(), millis()).prop_map(|(weight, least, most)| Step { weight, least, most })
    }

    fn later(steps: &[Step]) -> impl Iterator<Item = Duration> + '_ {
        steps.iter().map(|step| step.weight)
    }

    /// What is left after each step used a part of its limit, in thousandths; and the limits.
    fn spent(mut left: Duration, steps: &[Step], used: &[u32]) -> (Duration, Vec<Duration>) {
        let mut limits = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let limit = limit(left, *step, later(&steps[at + 1..]));
            left -= limit * used.get(at).copied().unwrap_or(1000) / 1000;
            limits.push(limit);
        }
        (left, limits)
    }

    proptest! {
        #[test]
        fn a_chain_never_exceeds_its_budget(left in millis(), steps in prop::collection::vec(step(), 1..12)) {
            let (rest, limits) = spent(left, &steps, &[]);
            prop_assert_eq!(limits.iter().sum::<Duration>() + rest, left);
            let fits = |(limit, step): (&Duration, &Step)| *limit <= step.most;
            prop_assert!(limits.iter().zip(&steps).all(fits), "{:?}", limits);
        }

        /// Without bounds of the steps, the last one has all that the others left.
        #[test]
        fn surplus_is_conserved(
            left in millis(),
            weights in prop::collection::vec(millis(), 1..12),
            used in prop::collection::vec(0_u32..=1000, 12),
        ) {
            let free = |weight| Step { weight, least: Duration::ZERO, most: Duration::MAX };
            let steps: Vec<_> = weights.into_iter().map(free).collect();
            let before: Duration = {
                let (_, limits) = spent(left, &steps, &used);
                limits.iter().zip(&used).take(steps.len() - 1).map(|(limit, used)| *limit * *used / 1000).sum()
            };
            let (_, limits) = spent(left, &steps, &used);
            prop_assert_eq!(limits.last().copied(), left.checked_sub(before));
        }

        #[test]
        fn more_time_is_never_a_shorter_limit(
            left in millis(), more in millis(), one in step(), rest in prop::collection::vec(step(), 0..8),
        ) {
            prop_assert!(limit(left + more, one, later(&rest)) >= limit(left, one, later(&rest)));
        }

        #[test]
        fn a_slower_tool_has_no_shorter_limit_and_takes_from_the_others(
            left in millis(), slower in millis(), one in step(), rest in prop::collection::vec(step(), 1..8), at in 0_usize..8,
        ) {
            let heavy = Step { weight: one.weight + slower, ..one };
            prop_assert!(limit(left, heavy, later(&rest)) >= limit(left, one, later(&rest)));
            let mut heavier = rest.clone();
            let at = at % heavier.len();
            heavier[at].weight += slower;
            prop_assert!(limit(left, one, later(&heavier)) <= limit(left, one, later(&rest)));
        }

        /// What ends earlier leaves no less to those that come later.
        #[test]
        fn an_earlier_end_shortens_no_later_limit(
            left in millis(), steps in prop::collection::vec(step(), 2..8), used in 0_u32..=1000,
        ) {
            let (_, slow) = spent(left, &steps, &[1000]);
            let (_, fast) = spent(left, &steps, &[used]);
            prop_assert!(fast.iter().zip(&slow).all(|(fast, slow)| fast >= slow), "{:?} {:?}", fast, slow);
        }
    }

    #[test]
    fn shares_follow_the_weights() {
        let ms = Duration::from_millis;
        let step = |weight| Step { weight: ms(weight), least: Duration::ZERO, most: ms(30_000) };
        let rest = [150, 300, 400, 500].map(ms);
        assert_eq!(limit(ms(3100), step(200), rest), ms(400));
        assert_eq!(limit(ms(3100), Step { most: ms(250), ..step(200) }, rest), ms(250));
        assert_eq!(limit(ms(1000), Step { least: ms(220), ..step(200) }, rest), ms(220));
        assert_eq!(limit(ms(100), Step { least: ms(220), ..step(200) }, rest), ms(100));
        assert_eq!(limit(Duration::MAX, step(200), []), ms(30_000));
        assert_eq!(limit(ms(7), step(0), [Duration::ZERO]), ms(7));
        assert!(is_hopeless(ms(349), ms(350)) && !is_hopeless(ms(350), ms(350)));
        assert!(is_hopeless(Duration::ZERO, Duration::ZERO));
    }
}
