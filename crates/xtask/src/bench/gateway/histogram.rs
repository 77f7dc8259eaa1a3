//! Counts of durations in buckets that are at most 0.8 % wide, from one nanosecond to hours. Knows no request.

use std::time::Duration;

/// Buckets for each power of two.
const FINE: u64 = 128;

/// A log-linear histogram.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; (64 * FINE) as usize], total: 0 }
    }
}

impl Histogram {
    pub(super) fn add(&mut self, time: Duration) {
        self.counts[bucket(time.as_nanos() as u64)] += 1;
        self.total += 1;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.total += other.total;
    }

    /// The least time that `share` of all do not exceed, in milliseconds.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let wanted = (self.total as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        found.map_or(f64::NAN, |bucket| highest(bucket as u64) as f64 / 1e6)
    }
}

fn bucket(value: u64) -> usize {
    let power = value.max(1).ilog2();
    let fine = FINE.ilog2();
    if power < fine {
        return value as usize;
    }
    let within = (value >> (power - fine)) - FINE;
    (u64::from(power - fine + 1) * FINE + within) as usize
}

/// The largest value of a bucket.
fn highest(bucket: u64) -> u64 {
    if bucket < FINE {
        return bucket;
    }
    let (power, within) = (bucket / FINE - 1, bucket % FINE);
    ((FINE + within + 1) << power) - 1
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Histogram, bucket, highest};

    #[test]
    fn a_bucket_is_narrow_and_holds_its_values() {
        for value in (0..1000).chain((10..50).map(|power| (1_u64 << power) - 1)).chain([1_234_567, 987_654_321]) {
            let top = highest(bucket(value) as u64);
            assert!(top >= value && top as f64 <= value as f64 * 1.008 + 1.0, "{value}: {top}");
            assert_eq!(bucket(top), bucket(value));
            assert_eq!(bucket(top + 1), bucket(value) + 1);
        }
    }

    #[test]
    fn quantiles_are_of_all_that_was_added() {
        let (mut one, mut two) = (Histogram::default(), Histogram::default());
        (1..=99).for_each(|ms| one.add(Duration::from_millis(ms)));
        two.add(Duration::from_millis(500));
        one.merge(&two);
        for (share, ms) in [(0.5, 50.0), (0.99, 99.0), (1.0, 500.0)] {
            let found = one.quantile(share);
            assert!((ms..ms * 1.01).contains(&found), "{share}: {found}");
        }
        assert!(Histogram::default().quantile(0.5).is_nan());
    }
}
