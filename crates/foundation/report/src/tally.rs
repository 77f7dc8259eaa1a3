//! Counts of outcomes.

use serde::{Deserialize, Serialize};

use crate::Outcome;

/// How many findings came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Kept.
    pub pass: usize,
    /// Broken MUST or safety rules.
    pub fail: usize,
    /// Broken SHOULD or MAY rules.
    pub warn: usize,
    /// Not exercised by any trace.
    pub not_exercised: usize,
    /// Not binding here.
    pub not_applicable: usize,
}

impl Tally {
    /// Adds one.
    pub const fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Pass => self.pass += 1,
            Outcome::Fail => self.fail += 1,
            Outcome::Warn => self.warn += 1,
            Outcome::NotExercised => self.not_exercised += 1,
            Outcome::NotApplicable => self.not_applicable += 1,
        }
    }

    /// Judged one way or the other.
    pub const fn judged(&self) -> usize {
        self.pass + self.fail + self.warn
    }

    /// Those that bind here, judged or not.
    pub const fn binding(&self) -> usize {
        self.judged() + self.not_exercised
    }
}
