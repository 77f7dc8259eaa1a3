//! The results of cases, as data.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use document::Position;
use serde_json::Value;
use wire::{Revision, Transport};

use super::coverage::Coverage;

/// The result of a test file.
#[derive(Clone, Debug)]
pub struct FileResult {
    /// The file, as it was named.
    pub path: PathBuf,
    /// One run per combination of the matrix, in its order.
    pub runs: Vec<MatrixRun>,
    /// Which parts of the server the cases used, if requested.
    pub coverage: Option<Coverage>,
}

/// The result of a file in one combination of its matrix.
#[derive(Clone, Debug)]
pub struct MatrixRun {
    /// The transport, if the server was reached.
    pub transport: Option<Transport>,
    /// The revision that was used or requested.
    pub revision: Option<Revision>,
    /// Why no case was run.
    pub not_run: Option<NotRun>,
    /// The selected cases, in the file's order.
    pub cases: Vec<CaseResult>,
}

/// Why no case was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRun {
    /// The server was not reached.
    Unreached(String),
    /// The setup failed.
    Setup(String),
    /// The snapshots could not be read or written.
    Snapshots(String),
}

impl NotRun {
    /// The same with another text.
    pub(super) fn map(self, text: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Unreached(why) => Self::Unreached(text(why)),
            Self::Setup(why) => Self::Setup(text(why)),
            Self::Snapshots(why) => Self::Snapshots(text(why)),
        }
    }
}

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreached(why) | Self::Setup(why) | Self::Snapshots(why) => f.write_str(why),
        }
    }
}

/// The result of a case.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// Its name.
    pub name: String,
    /// Its position in the file.
    pub at: Position,
    /// How it ended.
    pub verdict: Verdict,
    /// The time of all its repetitions.
    pub elapsed: Duration,
    /// The answer without what may differ between runs, for the comparison.
    pub(super) essence: Option<Value>,
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The answer is as expected.
    Passed,
    /// The answer is not as expected.
    Failed(Vec<Failure>),
    /// The case failed as announced by `xfail`, with its reason.
    ExpectedFailure(String),
    /// The case was not run, with the reason.
    Skipped(String),
}

/// One difference from what was expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The position of the expectation in the file.
    pub at: Position,
    /// The place in the result: a normalised JSONPath.
    pub path: Option<String>,
    /// The expectation in words.
    pub expected: String,
    /// The expected value, if there is only one.
    pub expected_value: Option<Value>,
    /// What was found instead, in words.
    pub found: String,
    /// The value that was found.
    pub value: Option<Value>,
}

/// Numbers of cases by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Passed.
    pub passed: usize,
    /// Failed; a run without any case counts as one.
    pub failed: usize,
    /// Failed as announced by `xfail`.
    pub expected_failures: usize,
    /// Skipped.
    pub skipped: usize,
}

impl MatrixRun {
    /// Numbers of cases of this run.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally { failed: usize::from(self.not_run.is_some()), ..Tally::default() };
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

impl FileResult {
    /// Numbers of cases of all runs.
    pub fn tally(&self) -> Tally {
        Tally::sum(self.runs.iter().map(MatrixRun::tally))
    }
}

impl Tally {
    /// Numbers of cases of all files.
    pub fn of(played: &[FileResult]) -> Self {
        Self::sum(played.iter().map(FileResult::tally))
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
