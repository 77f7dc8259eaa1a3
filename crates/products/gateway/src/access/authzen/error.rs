//! Why a policy decision point gave no decision. Each of these denies.

use std::fmt;

use net::upstream::{Failure, Lost};

/// Why there is no decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DecisionError {
    /// It cannot be reached.
    Unreached(String),
    /// It gave no answer in time.
    Timeout,
    /// It answered with this HTTP status; only 200 has a decision.
    Status(u16),
    /// The answer is longer than `answer_bytes`.
    TooLarge,
    /// The answer cannot be read as a decision.
    Invalid(&'static str),
    /// Its metadata cannot be used.
    Metadata(&'static str),
}

impl DecisionError {
    pub(super) const ALL: [&'static str; 6] = ["unreached", "timeout", "status", "too_large", "invalid", "metadata"];

    pub(super) const fn index(&self) -> usize {
        match self {
            Self::Unreached(_) => 0,
            Self::Timeout => 1,
            Self::Status(_) => 2,
            Self::TooLarge => 3,
            Self::Invalid(_) => 4,
            Self::Metadata(_) => 5,
        }
    }
}

impl fmt::Display for DecisionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreached(why) => write!(f, "it was not reached: {why}"),
            Self::Timeout => f.write_str("it gave no answer in time"),
            Self::Status(status) => write!(f, "it answered with HTTP status {status}"),
            Self::TooLarge => f.write_str("its answer is too large"),
            Self::Invalid(why) => write!(f, "its answer is invalid: {why}"),
            Self::Metadata(why) => write!(f, "its metadata cannot be used: {why}"),
        }
    }
}

impl From<Failure> for DecisionError {
    fn from(failure: Failure) -> Self {
        Self::Unreached(match failure {
            Failure::Forbidden(refusal) => refusal.to_string(),
            Failure::NotSent(why) | Failure::Unknown(why) => wire::escape::line(&why).into_owned(),
        })
    }
}

impl From<Lost> for DecisionError {
    fn from(lost: Lost) -> Self {
        match lost {
            Lost::TooLarge => Self::TooLarge,
            Lost::Broken => Self::Unreached("the answer broke off".to_owned()),
        }
    }
}
