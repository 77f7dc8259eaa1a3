//! What came of the cases, as data: where, what, and what was wrong.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use document::Position;
use serde_json::Value;
use wire::{Revision, Transport};

use super::coverage::Coverage;

/// What came of a test file.
#[derive(Clone, Debug)]
pub struct Played {
    /// The file, as it was named.
    pub path: PathBuf,
    /// Everywhere that it was tried, in the matrix' order.
    pub places: Vec<Place>,
    /// What of the server the cases touched, where that was asked for.
    pub coverage: Option<Coverage>,
}

/// What came of a file at one place of its matrix.
#[derive(Clone, Debug)]
pub struct Place {
    /// Over what, where the server was reached.
    pub transport: Option<Transport>,
    /// What was spoken, or was to be.
    pub revision: Option<Revision>,
    /// Why nothing was tried: the server was not reached, or the setup failed.
    pub hindered: Option<Hindrance>,
    /// In the file's order; those that were filtered out are not among them.
    pub cases: Vec<Tried>,
}

/// Why nothing was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// The server was not reached.
    Unreached(String),
    /// The setup failed.
    Setup(String),
    /// The snapshots could not be read or written.
    Snapshots(String),
}

impl fmt::Display for Hindrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreached(why) | Self::Setup(why) | Self::Snapshots(why) => f.write_str(why),
        }
    }
}

/// What came of a case.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub at: Position,
    /// How it ended.
    pub verdict: Verdict,
    /// How long all its repetitions took.
    pub elapsed: Duration,
    /// The result, for the comparison with other places: without what may differ there.
    pub(super) essence: Option<Value>,
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// As expected.
    Passed,
    /// Otherwise.
    Failed(Vec<Failure>),
    /// Otherwise, which was expected: why.
    ExpectedFailure(String),
    /// It was not tried: why.
    Skipped(String),
}

/// One thing that is not as expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Where in the file it was expected.
    pub at: Position,
    /// Where in the result: a normalised JSONPath.
    pub path: Option<String>,
    /// What was expected, in words.
    pub wanted: String,
    /// The value that was expected, where there is just one.
    pub exactly: Option<Value>,
    /// What there was instead, in words.
    pub found: String,
    /// The value that there was.
    pub value: Option<Value>,
}

/// How many cases ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// As expected.
    pub passed: usize,
    /// Otherwise; a place where nothing could be tried counts as one.
    pub failed: usize,
    /// Otherwise, as expected.
    pub expected_failures: usize,
    /// Not tried.
    pub skipped: usize,
}

impl Place {
    /// How many cases ended how here.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally { failed: usize::from(self.hindered.is_some()), ..Tally::default() };
        for case in &self.cases {
            *match case.verdict {
                Verdict::Passed => &mut tally.passed,
                Verdict::Failed(_) => &mut tally.failed,
                Verdict::ExpectedFailure(_) => &mut tally.expected_failures,
                Verdict::Skipped(_) => &mut tally.skipped,
            } += 1;
        }
        tally
    }
}

impl Played {
    /// How many cases ended how, at every place.
    pub fn tally(&self) -> Tally {
        Tally::sum(self.places.iter().map(Place::tally))
    }
}

impl Tally {
    /// How many cases of all files ended how.
    pub fn of(played: &[Played]) -> Self {
        Self::sum(played.iter().map(Played::tally))
    }

    fn sum(tallies: impl Iterator<Item = Self>) -> Self {
        tallies.fold(Self::default(), |all, one| Self {
            passed: all.passed + one.passed,
            failed: all.failed + one.failed,
            expected_failures: all.expected_failures + one.expected_failures,
            skipped: all.skipped + one.skipped,
        })
    }
}
