//! How much work one judge may do on one trace, counted in steps: no clock, so the same trace always gets the same verdict.
//!
//! The view counts every message, frame and event that a judge is given, and readers of schemas and bytes count their own
//! work. Once the steps are used up the view returns nothing more, the judge soon ends, and [`crate::judge`] drops its verdict.
//! A check whose time is over stops judging with a [`Stop`], which has the same effect at once.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wire::trace::Trace;

/// The steps for every trace.
const BASE: u64 = 100_000_000;
/// The steps that each frame adds: a judge may look at a long recording a thousand times.
const PER_FRAME: u64 = 1_000;
/// The steps that each byte adds.
const PER_BYTE: u64 = 10;

/// Steps after which a [`Stop`] is looked at again.
const LOOK: u64 = 1 << 12;

/// Ends judging early, from another thread. Clones are the same stop.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// From now on, judges give no verdict.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether judging has been stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The steps that a judge has left.
#[derive(Clone, Debug)]
pub struct Budget {
    whole: u64,
    left: Rc<Cell<u64>>,
    used: Rc<Cell<u64>>,
    stop: Stop,
}

impl Budget {
    /// The steps for a trace. Not limited before the first [`Budget::refill`].
    pub(crate) fn of(trace: &Trace) -> Self {
        let (frames, bytes) = (trace.frames.len() as u64, trace.weight() as u64);
        let whole = BASE + frames.saturating_mul(PER_FRAME) + bytes.saturating_mul(PER_BYTE);
        Self::with(whole)
    }

    /// A budget of so many steps, not limited yet.
    pub(crate) fn with(whole: u64) -> Self {
        Self { whole, left: Rc::new(Cell::new(u64::MAX)), used: Rc::default(), stop: Stop::default() }
    }

    /// Obeys `stop`.
    pub(crate) fn obey(&mut self, stop: Stop) {
        self.stop = stop;
    }

    /// Whether judging has been stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    /// Gives the next judge all steps.
    pub(crate) fn refill(&self) {
        self.left.set(self.whole);
    }

    /// Lifts the limit: not every reader of a view is a judge.
    pub(crate) fn lift(&self) {
        self.used.set(self.whole.saturating_sub(self.left.get()));
        self.left.set(u64::MAX);
    }

    /// Takes steps. Whether there were that many; if not, none are left.
    pub(crate) fn spend(&self, steps: u64) -> bool {
        let before = self.left.get();
        let mut left = before.checked_sub(steps);
        if left.is_some_and(|left| left / LOOK != before / LOOK) && self.is_stopped() {
            left = None;
        }
        self.left.set(left.unwrap_or(0));
        left.is_some_and(|left| left > 0)
    }

    /// Whether the judge that works now has used up its steps.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// How many steps the judge that worked last has used.
    pub fn used(&self) -> u64 {
        self.used.get()
    }

    /// How many steps a judge has.
    pub const fn whole(&self) -> u64 {
        self.whole
    }

    /// The same items, a step each, as long as there are steps left.
    pub(crate) fn walk<I>(&self, items: I) -> Walk<I> {
        Walk { items, budget: self.clone() }
    }
}

/// Items that are counted as they are taken.
#[derive(Clone, Debug)]
pub(crate) struct Walk<I> {
    items: I,
    budget: Budget,
}

impl<I: Iterator> Iterator for Walk<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        if self.budget.spend(1) { self.items.next() } else { None }
    }

    fn nth(&mut self, skipped: usize) -> Option<I::Item> {
        if self.budget.spend(1) { self.items.nth(skipped) } else { None }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.items.size_hint().1)
    }
}

impl<I: DoubleEndedIterator> DoubleEndedIterator for Walk<I> {
    fn next_back(&mut self) -> Option<I::Item> {
        if self.budget.spend(1) { self.items.next_back() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, LOOK, Stop};

    #[test]
    fn a_judge_at_work_obeys_a_stop() {
        let mut budget = Budget::with(1_000_000);
        let stop = Stop::default();
        budget.obey(stop.clone());
        budget.refill();
        assert_eq!(budget.walk(0..100_000).count(), 100_000);
        stop.stop();
        let after = budget.walk(0..100_000).count() as u64;
        assert!(after <= LOOK && budget.is_spent(), "{after} steps after the stop");
    }
}
