//! The times of one tool, as a histogram of bounded size that forgets: it holds the last 256 to 512 calls. Knows no clock.

use std::time::Duration;

/// The first bucket ends here, in microseconds.
const FIRST: u32 = 10;
/// The last octave begins here: about 18 minutes.
const LAST: u32 = 30;
/// Into how many parts an octave is cut: a bucket is at most 1/16 wider than its beginning.
const PARTS: usize = 16;
const BUCKETS: usize = (LAST - FIRST) as usize * PARTS + 2;
/// After how many times the older half is forgotten.
const HALF: u16 = 256;

/// What is known of the time that something takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantiles {
    /// The median.
    pub p50: Duration,
    /// Nine of ten calls take at most this.
    pub p90: Duration,
    /// 99 of 100 calls do.
    pub p99: Duration,
}

impl Quantiles {
    /// The same for all, where nothing else is known.
    pub const fn all(time: Duration) -> Self {
        Self { p50: time, p90: time, p99: time }
    }

    /// What a call of a chain gets at least: twice what nine of ten calls take. A call that is cut off earlier would often
    /// have ended, and one that goes on longer may hang (docs/gateway-budgets.md has the figures).
    pub fn enough(self) -> Duration {
        self.p90.saturating_mul(2)
    }
}

/// Times by bucket. Two halves: the older one is forgotten when the newer one is full.
#[derive(Clone, Debug)]
pub struct Histogram {
    newer: Half,
    older: Half,
}

#[derive(Clone, Debug)]
struct Half {
    count: u16,
    buckets: Box<[u16; BUCKETS]>,
}

impl Half {
    fn new() -> Self {
        Self { count: 0, buckets: Box::new([0; BUCKETS]) }
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self { newer: Half::new(), older: Half::new() }
    }
}

impl Histogram {
    /// Takes a time in.
    pub fn record(&mut self, time: Duration) {
        if self.newer.count >= HALF {
            std::mem::swap(&mut self.newer, &mut self.older);
            self.newer.count = 0;
            self.newer.buckets.fill(0);
        }
        self.newer.count += 1;
        self.newer.buckets[bucket(time)] += 1;
    }

    /// Forgets the older half; what is the newer half becomes the older one.
    pub fn forget_older(&mut self) {
        self.older = std::mem::replace(&mut self.newer, Half::new());
    }

    /// How many times it holds.
    pub fn count(&self) -> usize {
        usize::from(self.newer.count) + usize::from(self.older.count)
    }

    /// Its quantiles; nothing where it is empty.
    pub fn quantiles(&self) -> Option<Quantiles> {
        Some(Quantiles { p50: self.quantile(0.5)?, p90: self.quantile(0.9)?, p99: self.quantile(0.99)? })
    }

    /// The time within which this share of the calls ends; nothing where it is empty. Within a bucket, times count as evenly
    /// spread.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        if self.count() == 0 {
            return None;
        }
        let rank = (self.count() as f64 * share).max(1.0);
        let mut below = 0.0;
        for (index, (newer, older)) in self.newer.buckets.iter().zip(self.older.buckets.iter()).enumerate() {
            let here = f64::from(*newer) + f64::from(*older);
            if here > 0.0 && below + here >= rank {
                let (begin, end) = (lower(index), lower(index + 1));
                return Some(Duration::from_micros((begin + (end - begin) * (rank - below) / here) as u64));
            }
            below += here;
        }
        Some(Duration::from_micros(lower(BUCKETS) as u64))
    }
}

fn bucket(time: Duration) -> usize {
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    if micros < 1 << FIRST {
        return 0;
    }
    let octave = micros.ilog2();
    if octave >= LAST {
        return BUCKETS - 1;
    }
    // The bits after the first one, as far as they decide.
    let part = ((micros >> (octave - 4)) & 15) as usize;
    1 + (octave - FIRST) as usize * PARTS + part
}

/// Where a bucket begins, in microseconds.
fn lower(index: usize) -> f64 {
    let Some(index) = index.checked_sub(1) else { return 0.0 };
    let octave = 2_f64.powi(i32::try_from(FIRST as usize + index / PARTS).unwrap_or(i32::MAX));
    octave * (1.0 + (index % PARTS) as f64 / PARTS as f64)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{BUCKETS, HALF, Histogram, bucket, lower};

    fn near(found: Duration, expected: u64) -> bool {
        let (found, expected) = (found.as_micros() as f64, expected as f64 * 1000.0);
        (found - expected).abs() <= expected / 15.0
    }

    #[test]
    fn quantiles_are_within_a_bucket() {
        let mut times = Histogram::default();
        assert_eq!(times.quantiles(), None);
        for ms in 1..=200 {
            times.record(Duration::from_millis(ms));
        }
        let found = times.quantiles().expect("times");
        assert!(near(found.p50, 100) && near(found.p90, 180) && near(found.p99, 198), "{found:?}");
        let mut same = Histogram::default();
        for _ in 0..10 {
            same.record(Duration::from_millis(500));
        }
        let found = same.quantiles().expect("times");
        assert!(near(found.p50, 500) && near(found.p99, 500), "{found:?}");
    }

    #[test]
    fn what_is_long_ago_is_forgotten() {
        let mut times = Histogram::default();
        for ms in [10_u64, 1000] {
            for _ in 0..2 * HALF {
                times.record(Duration::from_millis(ms));
            }
        }
        assert_eq!(times.count(), 2 * usize::from(HALF));
        let found = times.quantiles().expect("times");
        assert!(near(found.p50, 1000), "{found:?}");
        times.record(Duration::from_millis(10));
        assert_eq!(times.count(), usize::from(HALF) + 1);
    }

    proptest! {
        #[test]
        fn each_time_is_in_its_bucket(bits in any::<u64>(), length in 0_u32..40) {
            let micros = bits & ((1 << length) - 1);
            let at = bucket(Duration::from_micros(micros));
            prop_assert!(at < BUCKETS);
            prop_assert!(lower(at) <= micros as f64);
            prop_assert!(at == BUCKETS - 1 || (micros as f64) < lower(at + 1));
        }

        #[test]
        fn quantiles_are_in_order(times in prop::collection::vec(0_u64..100_000_000, 1..700)) {
            let mut all = Histogram::default();
            for micros in times {
                all.record(Duration::from_micros(micros));
            }
            let found = all.quantiles().expect("times");
            prop_assert!(found.p50 <= found.p90 && found.p90 <= found.p99);
        }
    }
}
