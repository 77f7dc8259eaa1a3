//! Matchers in words.

use std::fmt;

use document::Filled;

use super::{Matcher, shown};

/// The expectation in words, before variables are filled in.
impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |all: &[Self], by: &str| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(by);
        let fixed =
            |value: &Filled| value.fixed().map_or_else(|| "a value with variables".to_owned(), |value| shown(&value));
        match self {
            Self::Equals(value) => f.write_str(&fixed(value)),
            Self::Contains(value) => write!(f, "a value that contains {}", fixed(value)),
            Self::Matches(regex) => write!(f, "a text that matches /{regex}/"),
            Self::Type(kind) => write!(f, "a value of type {kind}"),
            Self::Length(bounds) => write!(f, "a length of {bounds}"),
            Self::Range(bounds) => write!(f, "a number {bounds}"),
            Self::Schema(_, schema) => write!(f, "a value that matches the schema {}", shown(schema)),
            Self::Unordered(all) => write!(f, "in any order: {}", list(all, ", ")),
            Self::AnyOf(all) => f.write_str(&list(all, " or ")),
            Self::Not(one) => write!(f, "not {one}"),
            Self::All(all) => f.write_str(&list(all, " and ")),
        }
    }
}
