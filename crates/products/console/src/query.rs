//! The filter language: which rows are shown. Text in, a [`Query`] out, or an error with its position. Pure; the page has no
//! other implementation.

mod complete;
mod parse;
mod term;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::rows::Row;

pub use complete::{Completion, Suggestion, complete};
pub use term::Bodies;
use term::Term;

/// A filter that was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// All of them hold; if empty, everything matches.
    All(Vec<Query>),
    /// One of them holds.
    Any(Vec<Query>),
    /// It does not hold.
    Not(Box<Query>),
    /// One term.
    Term(Term),
}

/// Why a text is no filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// Where, in bytes.
    pub at: usize,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub remedy: String,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} – at {} – {}", self.what, self.at, self.remedy)
    }
}

impl std::error::Error for QueryError {}

impl Query {
    /// Reads a filter.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        parse::parse(text)
    }

    /// The filter that every row passes.
    pub const fn everything() -> Self {
        Self::All(Vec::new())
    }

    /// Whether a row passes. `bodies` looks into its frames, where a term asks for that.
    pub fn matches(&self, n: u64, row: &Row, bodies: &dyn Bodies) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.matches(n, row, bodies)),
            Self::Any(parts) => parts.iter().any(|part| part.matches(n, row, bodies)),
            Self::Not(part) => !part.matches(n, row, bodies),
            Self::Term(term) => term.matches(n, row, bodies),
        }
    }

    /// How many values are compared with each row.
    pub fn cost(&self) -> usize {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::cost).sum(),
            Self::Not(part) => part.cost(),
            Self::Term(term) => term.cost(),
        }
    }
}
