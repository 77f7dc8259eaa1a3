//! Matchers: what a value must be equal to, or what form it must have. Reading a matcher reports all of its errors; a mismatch
//! says what was expected.

use std::fmt;

use document::{Filled, Wrong, nearest, quoted};
use regex::Regex;
use schema::Validator;
use serde_json::{Map, Value};

/// The keys of a matcher.
const WORDS: [&str; 12] = [
    "equals",
    "contains",
    "matches",
    "type",
    "length",
    "range",
    "schema",
    "unordered",
    "anyOf",
    "not",
    "exists",
    "count",
];
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

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

/// Inclusive bounds of a number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    least: Option<f64>,
    most: Option<f64>,
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

    fn read_at(value: &Value, pointer: &str, room: usize, report: Report<'_>) -> Self {
        let Value::Object(members) = value else { return Self::Equals(filled(value, pointer, report)) };
        if room == 0 {
            report(pointer, wrong("matchers nest too deep", "a flatter matcher"));
            return Self::All(Vec::new());
        }
        if members.is_empty() {
            report(pointer, wrong("empty matcher", "`equals: {}` for an empty mapping"));
        }
        let mut all: Vec<Self> = members
            .iter()
            .filter_map(|(word, value)| Self::word(word, value, &format!("{pointer}/{word}"), room - 1, report))
            .collect();
        if all.len() == 1 { all.remove(0) } else { Self::All(all) }
    }

    fn word(word: &str, value: &Value, pointer: &str, room: usize, report: Report<'_>) -> Option<Self> {
        Some(match word {
            "equals" => Self::Equals(filled(value, pointer, report)),
            "contains" => Self::Contains(filled(value, pointer, report)),
            "matches" => Self::Matches(regex(value, pointer, report)?),
            "type" => {
                let Some(kind) = TYPES.into_iter().find(|kind| value.as_str() == Some(kind)) else {
                    let what = format!("unknown type {}", quoted(&value.to_string()));
                    report(pointer, wrong(what, &nearest(value.as_str().unwrap_or_default(), TYPES.into_iter())));
                    return None;
                };
                Self::Type(kind)
            }
            "length" => Self::Length(bounds_at(value, word, pointer, report)?),
            "range" => Self::Range(bounds_at(value, word, pointer, report)?),
            "schema" => match Validator::trusted(value) {
                Ok(validator) => Self::Schema(Box::new(validator), value.clone()),
                Err(error) => {
                    let what = format!("invalid JSON Schema: {error}");
                    report(pointer, wrong(what, "a schema without external references"));
                    return None;
                }
            },
            "unordered" | "anyOf" => {
                let Value::Array(items) = value else {
                    report(pointer, wrong(format!("`{word}` is not a list"), "a list of matchers"));
                    return None;
                };
                let items = items.iter().enumerate();
                let items = items.map(|(at, item)| Self::read_at(item, &format!("{pointer}/{at}"), room, report));
                let items = items.collect();
                if word == "anyOf" { Self::AnyOf(items) } else { Self::Unordered(items) }
            }
            "not" => Self::Not(Box::new(Self::read_at(value, pointer, room, report))),
            "exists" | "count" => {
                report(
                    pointer,
                    wrong(format!("`{word}` is only valid directly under a path"), "move it up to the path"),
                );
                return None;
            }
            other => {
                let what = format!("unknown matcher {}", quoted(other));
                report(pointer, wrong(what, &nearest(other, WORDS.into_iter())));
                return None;
            }
        })
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

impl Bounds {
    /// Whether a number is within the bounds.
    pub(super) fn hold(self, number: f64) -> bool {
        self.least.is_none_or(|least| number >= least) && self.most.is_none_or(|most| number <= most)
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (Some(least), Some(most)) if least.total_cmp(&most).is_eq() => write!(f, "{least}"),
            (Some(least), Some(most)) => write!(f, "from {least} to {most}"),
            (Some(least), None) => write!(f, "{least} or more"),
            (None, Some(most)) => write!(f, "{most} or less"),
            (None, None) => f.write_str("any size"),
        }
    }
}

/// Whether two values are equal; `1` and `1.0` are.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Whether `whole` contains `part`.
fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::String(whole), Value::String(part)) => whole.contains(part.as_str()),
        (Value::Array(items), part) => items.iter().any(|item| same(item, part) || is_within(item, part)),
        (Value::Object(_), Value::Object(_)) => is_within(whole, part),
        _ => false,
    }
}

/// Whether a mapping has every member of `part`.
fn is_within(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part
            .iter()
            .all(|(name, part)| whole.get(name).is_some_and(|value| same(value, part) || is_within(value, part))),
        _ => false,
    }
}

/// Whether items and matchers can be paired: a bipartite matching by augmenting paths, because the first item that fits a
/// matcher may be the only one that fits another.
fn unordered(expected: &[Matcher], value: &Value, vars: &Value) -> Result<(), Mismatch> {
    let Value::Array(items) = value else { return Err(mismatch(format!("a list of {}", expected.len()))) };
    if items.len() != expected.len() {
        return Err(mismatch(format!("a list of {} in any order (it has {})", expected.len(), items.len())));
    }
    let fits: Vec<Vec<usize>> = expected
        .iter()
        .map(|one| (0..items.len()).filter(|&at| one.judge(&items[at], vars).is_ok()).collect())
        .collect();
    let mut taken = vec![None; items.len()];
    for (number, one) in expected.iter().enumerate() {
        if !assign(number, &fits, &mut taken, &mut vec![false; items.len()]) {
            return Err(mismatch(format!("in any order, with {one}")));
        }
    }
    Ok(())
}

fn assign(one: usize, fits: &[Vec<usize>], taken: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    for &item in &fits[one] {
        if std::mem::replace(&mut seen[item], true) {
            continue;
        }
        if taken[item].is_none_or(|other| assign(other, fits, taken, seen)) {
            taken[item] = Some(one);
            return true;
        }
    }
    false
}

fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        _ => value.is_null(),
    }
}

/// The number of characters, items or members.
fn length(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(members) => Some(members.len()),
        _ => None,
    }
}

fn filled(value: &Value, pointer: &str, report: Report<'_>) -> Filled {
    Filled::parse(value, "vars", &mut |below, wrong| report(&format!("{pointer}{below}"), wrong))
}

fn regex(value: &Value, pointer: &str, report: Report<'_>) -> Option<Regex> {
    let Some(text) = value.as_str() else {
        report(pointer, wrong("`matches` is not a text", "a regular expression in single quotes"));
        return None;
    };
    Regex::new(text)
        .map_err(|error| {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            report(
                pointer,
                wrong(
                    format!("{} is not a regular expression: {why}", quoted(text)),
                    "single quotes; a backslash before . ( [",
                ),
            );
        })
        .ok()
}

fn bounds(value: &Value, word: &str, report: Report<'_>) -> Option<Bounds> {
    bounds_at(value, word, &format!("/{word}"), report)
}

/// A number, `[least, most]`, or a mapping of `min` and `max`.
fn bounds_at(value: &Value, word: &str, pointer: &str, report: Report<'_>) -> Option<Bounds> {
    let bounds = match value {
        Value::Number(number) if word != "range" => number.as_f64().map(|n| Bounds { least: Some(n), most: Some(n) }),
        Value::Array(pair) => match pair.as_slice() {
            [least, most] if least.is_number() && most.is_number() => {
                Some(Bounds { least: least.as_f64(), most: most.as_f64() })
            }
            _ => None,
        },
        Value::Object(members)
            if members.iter().all(|(name, n)| matches!(name.as_str(), "min" | "max") && n.is_number()) =>
        {
            let bound = |name: &str| members.get(name).and_then(Value::as_f64);
            Some(Bounds { least: bound("min"), most: bound("max") }).filter(|_| !members.is_empty())
        }
        _ => None,
    };
    if bounds.is_none() {
        let example =
            if word == "range" { "[1, 10], {min: 1} or {max: 10}" } else { "3, [1, 10], {min: 1} or {max: 10}" };
        report(pointer, wrong(format!("invalid `{word}`"), example));
    }
    if let Some(Bounds { least: Some(least), most: Some(most) }) = bounds
        && least > most
    {
        report(pointer, wrong(format!("invalid `{word}`: {least} is more than {most}"), "the smaller number first"));
    }
    bounds
}

fn wrong(what: impl Into<String>, remedy: &str) -> Wrong {
    Wrong { what: what.into(), remedy: remedy.to_owned() }
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
