//! Matchers in words.

use std::fmt;

use super::{Matcher, shown};

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |all: &[Self], by: &str| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(by);
        match self {
            Self::Equals(value) => f.write_str(&shown(value)),
            Self::Contains(value) => write!(f, "a value that contains {}", shown(value)),
            Self::Matches(regex) => write!(f, "a text that matches /{regex}/"),
            Self::Type(kind) => write!(f, "a value of type {kind}"),
            Self::Length(bounds) => write!(f, "a length of {bounds}"),
            Self::Range(bounds) => write!(f, "a number {bounds}"),
            Self::Near { of, by, is_relative: false } => write!(f, "a number within {by} of {of}"),
            Self::Near { of, by, is_relative: true } => write!(f, "a number within {} % of {of}", by * 100.0),
            Self::Date(text, _) => write!(f, "the date {text}"),
            Self::Schema(_, schema) => write!(f, "a value that fits the schema {}", shown(schema)),
            Self::Unordered(all) => write!(f, "in any order: {}", list(all, ", ")),
            Self::Subset(values) => {
                write!(f, "a list of some of {}", values.iter().map(shown).collect::<Vec<_>>().join(", "))
            }
            Self::Items(all) => write!(f, "a list of {}", list(all, ", ")),
            Self::Members(all) => {
                let members: Vec<_> = all.iter().map(|(name, one)| format!("{name}: {one}")).collect();
                write!(f, "a mapping of {}", members.join(", "))
            }
            Self::Text(text) => write!(f, "the text {}, whatever its case and spaces", shown(&text.as_str().into())),
            Self::AnyOf(all) => f.write_str(&list(all, " or ")),
            Self::Not(one) => write!(f, "not {one}"),
            Self::All(all) => f.write_str(&list(all, " and ")),
            Self::Optional(one) => write!(f, "{one}, or nothing"),
            Self::Absent => f.write_str(crate::NOTHING),
            Self::Ignore => f.write_str("anything"),
        }
    }
}
