//! Matchers: what a value must be equal to, or what form it must have. Reading a matcher reports all of its errors; a mismatch
//! says what was expected.

mod bounds;
mod compare;
mod describe;
mod read;

use document::{Filled, Wrong};
use regex::Regex;
use schema::Validator;
use serde_json::{Map, Value};

use bounds::bounds;
use compare::{contains, is_a, length, unordered};
use read::wrong;

pub(super) use bounds::Bounds;
/// Whether two values are equal; `1` and `1.0` are.
pub(super) use wire::json::same;

/// How deep matchers may nest.
const DEEPEST: usize = 16;

/// Receives errors, with their pointer below the matcher.
pub(super) type Report<'c> = &'c mut dyn FnMut(&str, Wrong);

/// A matcher of one value.
#[derive(Debug)]
pub(super) enum Matcher {
    Equals(Filled),
    /// Part of a text, an item of a list, or some members of a mapping.
    Contains(Filled),
    Matches(Regex),
    Type(&'static str),
    Length(Bounds),
    Range(Bounds),
    Schema(Box<Validator>, Value),
    Unordered(Vec<Matcher>),
    AnyOf(Vec<Matcher>),
    Not(Box<Matcher>),
    All(Vec<Matcher>),
}

/// A matcher of the values at a path.
#[derive(Debug)]
pub(super) struct At {
    /// Whether the path must match; `None` counts as true.
    pub(super) exists: Option<bool>,
    /// How many values it must match.
    pub(super) count: Option<Bounds>,
    /// What each value must match.
    pub(super) each: Matcher,
}

/// An expectation that a value does not meet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mismatch {
    /// In words.
    pub(super) expected: String,
    /// The expected value, if there is only one.
    pub(super) expected_value: Option<Value>,
}

impl At {
    /// Reads the value at a path of `expect`.
    pub(super) fn read(value: &Value, report: Report<'_>) -> Self {
        let (mut exists, mut count) = (None, None);
        let mut rest = value.clone();
        if let Value::Object(members) = &mut rest {
            match members.remove("exists") {
                None => {}
                Some(Value::Bool(expected)) => exists = Some(expected),
                Some(_) => report("/exists", wrong("`exists` is neither true nor false", "`exists: false`")),
            }
            count = members.remove("count").and_then(|value| bounds(&value, "count", report));
        }
        let each = if rest == Value::Object(Map::new()) && value.as_object().is_some_and(|all| !all.is_empty()) {
            Matcher::All(Vec::new())
        } else {
            Matcher::read(&rest, report)
        };
        if exists == Some(false) && !(matches!(&each, Matcher::All(all) if all.is_empty()) && count.is_none()) {
            report("", wrong("`exists: false` cannot be combined with other matchers", "`exists: false` alone"));
        }
        Self { exists, count, each }
    }
}

impl Matcher {
    /// Reads a matcher. A value other than a mapping must be equal.
    pub(super) fn read(value: &Value, report: Report<'_>) -> Self {
        Self::read_at(value, "", DEEPEST, report)
    }

    /// The names of the variables in it.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::Equals(value) | Self::Contains(value) => {
                value.patterns().into_iter().flat_map(|pattern| pattern.names().map(str::to_owned)).collect()
            }
            Self::Unordered(all) | Self::AnyOf(all) | Self::All(all) => all.iter().flat_map(Self::names).collect(),
            Self::Not(inner) => inner.names(),
            _ => Vec::new(),
        }
    }

    /// Judges `value`, with the variables `vars`.
    pub(super) fn judge(&self, value: &Value, vars: &Value) -> Result<(), Mismatch> {
        match self {
            Self::Equals(expected) => {
                let expected = expected
                    .fill(vars)
                    .map_err(|_| mismatch("a shorter value: this one is too long with its variables filled in"))?;
                if same(&expected, value) {
                    return Ok(());
                }
                Err(Mismatch { expected: shown(&expected), expected_value: Some(expected) })
            }
            Self::Contains(expected) => {
                let expected = expected
                    .fill(vars)
                    .map_err(|_| mismatch("a shorter value: this one is too long with its variables filled in"))?;
                if contains(value, &expected) {
                    Ok(())
                } else {
                    Err(mismatch(format!("a value that contains {}", shown(&expected))))
                }
            }
            Self::Matches(regex) => match value.as_str() {
                Some(text) if regex.is_match(text) => Ok(()),
                _ => Err(mismatch(format!("a text that matches /{regex}/"))),
            },
            Self::Type(kind) => {
                if is_a(value, kind) {
                    Ok(())
                } else {
                    Err(mismatch(format!("a value of type {kind}")))
                }
            }
            Self::Length(bounds) => match length(value) {
                Some(length) if bounds.hold(length as f64) => Ok(()),
                Some(length) => Err(mismatch(format!("a length of {bounds} (it is {length})"))),
                None => Err(mismatch(format!("a text, list or mapping of length {bounds}"))),
            },
            Self::Range(bounds) => match value.as_f64() {
                Some(number) if bounds.hold(number) => Ok(()),
                _ => Err(mismatch(format!("a number {bounds}"))),
            },
            Self::Schema(validator, _) => match validator.mismatches(value, 1).first() {
                Some(first) => Err(mismatch(format!("a value that matches the schema: {}", first.message))),
                None => Ok(()),
            },
            Self::Unordered(expected) => unordered(expected, value, vars),
            Self::AnyOf(expected) => {
                let mismatches: Vec<Mismatch> =
                    expected.iter().filter_map(|one| one.judge(value, vars).err()).collect();
                if mismatches.len() < expected.len() {
                    return Ok(());
                }
                Err(mismatch(mismatches.iter().map(|one| one.expected.as_str()).collect::<Vec<_>>().join(", or ")))
            }
            Self::Not(unexpected) => match unexpected.judge(value, vars) {
                Err(_) => Ok(()),
                Ok(()) => Err(mismatch(format!("not {unexpected}"))),
            },
            Self::All(all) => all.iter().try_for_each(|one| one.judge(value, vars)),
        }
    }
}

fn mismatch(expected: impl Into<String>) -> Mismatch {
    Mismatch { expected: expected.into(), expected_value: None }
}

fn shown(value: &Value) -> String {
    wire::escape::snippet(&value.to_string(), 200)
}

#[cfg(test)]
#[path = "matcher_tests.rs"]
mod tests;
