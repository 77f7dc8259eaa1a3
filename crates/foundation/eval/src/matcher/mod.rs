//! What the value of an argument should be: the matchers of test files, and those that arguments need besides.

mod bounds;
mod describe;
mod judge;
mod read;

use regex::Regex;
use schema::Validator;
use serde_json::Value;

use crate::date::Moment;
use bounds::Bounds;

/// How deep matchers may nest.
const DEEPEST: usize = 16;

/// An expectation of one value.
#[derive(Debug)]
pub enum Matcher {
    /// An equal value; `1` equals `1.0`.
    Equals(Value),
    /// A text that contains it, a list with this item, a mapping with these members.
    Contains(Value),
    /// A text in which the expression matches.
    Matches(Regex),
    /// A value of this type.
    Type(&'static str),
    /// A number of characters, items or members.
    Length(Bounds),
    /// A number in a range.
    Range(Bounds),
    /// A number not farther than `by` from `of`; of `of` itself, where `is_relative`.
    Near {
        /// The expected number.
        of: f64,
        /// How far off it may be.
        by: f64,
        /// Whether `by` is a share of `of`.
        is_relative: bool,
    },
    /// The same date or instant, however written.
    Date(String, Moment),
    /// A value that fits the schema.
    Schema(Box<Validator>, Value),
    /// A list with exactly these items, in any order.
    Unordered(Vec<Self>),
    /// A list in which every item is one of these.
    Subset(Vec<Value>),
    /// A list with exactly these items, in order.
    Items(Vec<Self>),
    /// A mapping with exactly these members.
    Members(Vec<(String, Self)>),
    /// A text that is equal apart from case and white space.
    Text(String),
    /// What one of them accepts.
    AnyOf(Vec<Self>),
    /// What it rejects.
    Not(Box<Self>),
    /// What all of them accept.
    All(Vec<Self>),
    /// An argument that may be left out; if it is there, it must match.
    Optional(Box<Self>),
    /// An argument that must not be there.
    Absent,
    /// Anything, or nothing.
    Ignore,
}

/// Why a value does not match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where in the value: a JSON pointer.
    pub pointer: String,
    /// What was expected there, for a person.
    pub expected: String,
    /// What is there instead, shortened.
    pub actual: String,
}

/// Reports an error at a JSON pointer below the matcher's place: what happened, and what to try.
pub(crate) type Report<'r> = &'r mut dyn FnMut(&str, String, String);

impl Matcher {
    /// Reads a matcher: a mapping of matchers' words, or any other value, which must be equal.
    pub(crate) fn read(value: &Value, report: Report<'_>) -> Self {
        read::read(value, "", DEEPEST, report)
    }

    /// Whether the argument may be left out.
    pub const fn allows_absence(&self) -> bool {
        matches!(self, Self::Optional(_) | Self::Absent | Self::Ignore)
    }
}

/// A value for people. Whole, so that a secret in it keeps the shape by which it is found; or else its size.
pub(crate) fn shown(value: &Value) -> String {
    const MOST: usize = 4096;
    let text = value.to_string();
    if text.len() > MOST { format!("a value of {} bytes", text.len()) } else { wire::escape::line(&text).into_owned() }
}

#[cfg(test)]
mod tests;
