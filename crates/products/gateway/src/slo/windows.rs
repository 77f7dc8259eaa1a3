//! How many calls there were in each of several windows of time. Bounded in memory. Knows no clock.

use std::time::Duration;

/// One window that ends now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Its name, as Prometheus writes a duration.
    pub(crate) name: &'static str,
    pub(crate) seconds: u64,
}

pub(crate) const M5: Window = Window { name: "5m", seconds: 300 };
pub(crate) const M30: Window = Window { name: "30m", seconds: 1800 };
pub(crate) const H1: Window = Window { name: "1h", seconds: 3600 };
pub(crate) const H6: Window = Window { name: "6h", seconds: 6 * 3600 };
pub(crate) const D3: Window = Window { name: "3d", seconds: 72 * 3600 };
/// All of them.
pub(crate) const WINDOWS: [Window; 5] = [M5, M30, H1, H6, D3];

/// Calls, and those of them that were not good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    /// Too slow, or failed.
    pub(crate) bad: u64,
    /// Too slow.
    pub(crate) slow: u64,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.bad += other.bad;
        self.slow += other.slow;
    }
}

/// Counts by pieces of time, of which the newest are kept.
#[derive(Debug)]
struct Ring {
    /// How long one piece is, in seconds.
    piece: u64,
    /// The number of the newest piece.
    newest: u64,
    pieces: Box<[[u32; 3]]>,
}

impl Ring {
    fn new(piece: u64, covers: Window) -> Self {
        let count = usize::try_from(covers.seconds / piece).unwrap_or(usize::MAX);
        Self { piece, newest: 0, pieces: vec![[0; 3]; count].into() }
    }

    fn at(&self, number: u64) -> usize {
        (number % self.pieces.len() as u64) as usize
    }

    /// Forgets what is too long ago.
    fn advance(&mut self, at: Duration) {
        let now = at.as_secs() / self.piece;
        let passed = now.saturating_sub(self.newest).min(self.pieces.len() as u64);
        for step in 0..passed {
            let index = self.at(now - step);
            self.pieces[index] = [0; 3];
        }
        self.newest = self.newest.max(now);
    }

    fn record(&mut self, [bad, slow]: [bool; 2]) {
        let index = self.at(self.newest);
        for (count, add) in self.pieces[index].iter_mut().zip([true, bad, slow]) {
            *count = count.saturating_add(u32::from(add));
        }
    }

    /// The counts of a window; its first piece is the one that goes on.
    fn sum(&self, window: Window) -> Counts {
        let mut sum = Counts::default();
        for step in 0..(window.seconds / self.piece).min(self.newest + 1) {
            let [calls, bad, slow] = self.pieces[self.at(self.newest - step)].map(u64::from);
            sum.add(Counts { calls, bad, slow });
        }
        sum
    }
}

/// The counts of all windows.
#[derive(Debug)]
pub(crate) struct Windows {
    /// By the minute, for the windows of up to six hours.
    minutes: Ring,
    /// By the half hour, for the longest one.
    halves: Ring,
}

impl Default for Windows {
    fn default() -> Self {
        Self { minutes: Ring::new(60, H6), halves: Ring::new(1800, D3) }
    }
}

impl Windows {
    /// A call has ended, so long after the beginning.
    pub(crate) fn record(&mut self, at: Duration, is_bad: bool, is_slow: bool) {
        for ring in [&mut self.minutes, &mut self.halves] {
            ring.advance(at);
            ring.record([is_bad, is_slow]);
        }
    }

    /// The counts of a window that ends now.
    pub(crate) fn counts(&mut self, window: Window, at: Duration) -> Counts {
        let ring = if window == D3 { &mut self.halves } else { &mut self.minutes };
        ring.advance(at);
        ring.sum(window)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{Counts, D3, H1, H6, M5, M30, WINDOWS, Windows};

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn a_call_leaves_each_window_when_its_time_is_over() {
        let mut windows = Windows::default();
        windows.record(Duration::ZERO, true, true);
        let one = Counts { calls: 1, bad: 1, slow: 1 };
        let mut left = |window, minutes: u32| windows.counts(window, MINUTE * minutes);
        assert_eq!([left(M5, 4), left(M30, 4), left(D3, 4)], [one; 3]);
        assert_eq!((left(M5, 5), left(M30, 29)), (Counts::default(), one));
        assert_eq!((left(M30, 30), left(H1, 59)), (Counts::default(), one));
        assert_eq!((left(H1, 60), left(H6, 359)), (Counts::default(), one));
        assert_eq!((left(H6, 360), left(D3, 72 * 60 - 1)), (Counts::default(), one));
        assert_eq!(left(D3, 72 * 60), Counts::default());
        // Long after, nothing of the past comes back.
        assert!(WINDOWS.into_iter().all(|window| left(window, 1_000_000) == Counts::default()));
    }

    proptest! {
        /// Another way to count: all calls, with the piece of time that each was in.
        #[test]
        fn windows_agree_with_a_list_of_all_calls(
            calls in prop::collection::vec((0_u64..20_000, any::<bool>(), any::<bool>()), 1..60),
        ) {
            let (mut windows, mut all, mut at) = (Windows::default(), VecDeque::new(), 0);
            for (pause, bad, slow) in calls {
                at += pause;
                windows.record(Duration::from_secs(at), bad, slow);
                all.push_back((at, bad, slow));
                for window in WINDOWS {
                    let piece = if window == D3 { 1800 } else { 60 };
                    let in_it = all.iter().filter(|(then, ..)| at / piece - then / piece < window.seconds / piece);
                    let mut sum = Counts::default();
                    in_it.for_each(|(_, bad, slow)| {
                        sum.add(Counts { calls: 1, bad: u64::from(*bad), slow: u64::from(*slow) });
                    });
                    prop_assert_eq!(windows.counts(window, Duration::from_secs(at)), sum, "{}", window.name);
                }
            }
        }
    }
}
