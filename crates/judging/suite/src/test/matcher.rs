//! What may be expected of a value: equal to one, or of a certain form. A matcher is read once, with all that is wrong with it
//! told; judging it tells what it wanted and what there was.

use std::fmt;

use document::{Filled, Wrong, nearest, quoted};
use regex::Regex;
use schema::Validator;
use serde_json::{Map, Value};

/// The words of a mapping that is a matcher.
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

/// How deep matchers may stand in one another.
const DEEPEST: usize = 16;

/// Hears what is wrong, with the pointer to it below the matcher.
pub(super) type Complain<'c> = &'c mut dyn FnMut(&str, Wrong);

/// A matcher of one value.
#[derive(Debug)]
pub(super) enum Matcher {
    Equals(Filled),
    /// Within a text, among the items of a list, or as a part of a mapping.
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

/// At least, at most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    least: Option<f64>,
    most: Option<f64>,
}

/// A matcher of what a path leads to.
#[derive(Debug)]
pub(super) struct At {
    /// Whether it leads anywhere; `None` where it must and nothing is said.
    pub(super) exists: Option<bool>,
    /// To how many places it leads.
    pub(super) count: Option<Bounds>,
    /// What stands at each of them.
    pub(super) each: Matcher,
}

/// What was wanted of a value, and is not so.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unlike {
    /// In words.
    pub(super) wanted: String,
    /// The value that it should have been, where that is known.
    pub(super) exactly: Option<Value>,
}

impl At {
    /// Reads what stands at a path of `expect`.
    pub(super) fn read(value: &Value, complain: Complain<'_>) -> Self {
        let (mut exists, mut count) = (None, None);
        let mut rest = value.clone();
        if let Value::Object(members) = &mut rest {
            match members.remove("exists") {
                None => {}
                Some(Value::Bool(wanted)) => exists = Some(wanted),
                Some(_) => complain("/exists", wrong("`exists` is neither true nor false", "`exists: false`")),
            }
            count = members.remove("count").and_then(|value| bounds(&value, "count", complain));
        }
        let each = if rest == Value::Object(Map::new()) && value.as_object().is_some_and(|all| !all.is_empty()) {
            Matcher::All(Vec::new())
        } else {
            Matcher::read(&rest, complain)
        };
        if exists == Some(false) && !(matches!(&each, Matcher::All(all) if all.is_empty()) && count.is_none()) {
            complain("", wrong("what does not exist has no value", "`exists: false` alone"));
        }
        Self { exists, count, each }
    }
}

impl Matcher {
    /// Reads a matcher. A value that is no mapping is to be equal.
    pub(super) fn read(value: &Value, complain: Complain<'_>) -> Self {
        Self::read_at(value, "", DEEPEST, complain)
    }

    fn read_at(value: &Value, pointer: &str, room: usize, complain: Complain<'_>) -> Self {
        let Value::Object(members) = value else { return Self::Equals(filled(value, pointer, complain)) };
        if room == 0 {
            complain(pointer, wrong("matchers stand too deep in one another", "a flatter one"));
            return Self::All(Vec::new());
        }
        if members.is_empty() {
            complain(pointer, wrong("this matcher wants nothing", "`equals: {}` for an empty mapping"));
        }
        let mut all: Vec<Self> = members
            .iter()
            .filter_map(|(word, value)| Self::word(word, value, &format!("{pointer}/{word}"), room - 1, complain))
            .collect();
        if all.len() == 1 { all.remove(0) } else { Self::All(all) }
    }

    fn word(word: &str, value: &Value, pointer: &str, room: usize, complain: Complain<'_>) -> Option<Self> {
        Some(match word {
            "equals" => Self::Equals(filled(value, pointer, complain)),
            "contains" => Self::Contains(filled(value, pointer, complain)),
            "matches" => Self::Matches(regex(value, pointer, complain)?),
            "type" => {
                let Some(kind) = TYPES.into_iter().find(|kind| value.as_str() == Some(kind)) else {
                    let what = format!("there is no type {}", quoted(&value.to_string()));
                    complain(pointer, wrong(what, &nearest(value.as_str().unwrap_or_default(), TYPES.into_iter())));
                    return None;
                };
                Self::Type(kind)
            }
            "length" => Self::Length(bounds_at(value, word, pointer, complain)?),
            "range" => Self::Range(bounds_at(value, word, pointer, complain)?),
            "schema" => match Validator::trusted(value) {
                Ok(validator) => Self::Schema(Box::new(validator), value.clone()),
                Err(error) => {
                    let what = format!("this is no JSON Schema: {error}");
                    complain(pointer, wrong(what, "a schema that refers to nothing outside itself"));
                    return None;
                }
            },
            "unordered" | "anyOf" => {
                let Value::Array(items) = value else {
                    complain(pointer, wrong(format!("`{word}` is no list"), "a list of matchers"));
                    return None;
                };
                let items = items.iter().enumerate();
                let items = items.map(|(at, item)| Self::read_at(item, &format!("{pointer}/{at}"), room, complain));
                let items = items.collect();
                if word == "anyOf" { Self::AnyOf(items) } else { Self::Unordered(items) }
            }
            "not" => Self::Not(Box::new(Self::read_at(value, pointer, room, complain))),
            "exists" | "count" => {
                complain(pointer, wrong(format!("`{word}` belongs right under a path"), "beside the path's own words"));
                return None;
            }
            other => {
                let what = format!("there is no matcher {}", quoted(other));
                complain(pointer, wrong(what, &nearest(other, WORDS.into_iter())));
                return None;
            }
        })
    }

    /// Everything in it that is filled in.
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

    /// Judges `value`, with `vars` to fill in.
    pub(super) fn judge(&self, value: &Value, vars: &Value) -> Result<(), Unlike> {
        match self {
            Self::Equals(wanted) => {
                let wanted = wanted.fill(vars).map_err(|_| unlike("a value that is not too long to be filled in"))?;
                if same(&wanted, value) {
                    return Ok(());
                }
                Err(Unlike { wanted: shown(&wanted), exactly: Some(wanted) })
            }
            Self::Contains(wanted) => {
                let wanted = wanted.fill(vars).map_err(|_| unlike("a value that is not too long to be filled in"))?;
                if contains(value, &wanted) { Ok(()) } else { Err(unlike(format!("contains {}", shown(&wanted)))) }
            }
            Self::Matches(regex) => match value.as_str() {
                Some(text) if regex.is_match(text) => Ok(()),
                _ => Err(unlike(format!("a text that matches /{regex}/"))),
            },
            Self::Type(kind) => {
                if is_a(value, kind) {
                    Ok(())
                } else {
                    Err(unlike(format!("of type {kind}")))
                }
            }
            Self::Length(bounds) => match length(value) {
                Some(length) if bounds.hold(length as f64) => Ok(()),
                Some(length) => Err(unlike(format!("of length {bounds} (it is {length})"))),
                None => Err(unlike(format!("a text, list or mapping of length {bounds}"))),
            },
            Self::Range(bounds) => match value.as_f64() {
                Some(number) if bounds.hold(number) => Ok(()),
                _ => Err(unlike(format!("a number {bounds}"))),
            },
            Self::Schema(validator, _) => match validator.mismatches(value, 1).first() {
                Some(first) => Err(unlike(format!("fits the schema: {}", first.message))),
                None => Ok(()),
            },
            Self::Unordered(wanted) => unordered(wanted, value, vars),
            Self::AnyOf(wanted) => {
                let unlikes: Vec<Unlike> = wanted.iter().filter_map(|one| one.judge(value, vars).err()).collect();
                if unlikes.len() < wanted.len() {
                    return Ok(());
                }
                Err(unlike(unlikes.iter().map(|one| one.wanted.as_str()).collect::<Vec<_>>().join(", or ")))
            }
            Self::Not(unwanted) => match unwanted.judge(value, vars) {
                Err(_) => Ok(()),
                Ok(()) => Err(unlike(format!("not {unwanted}"))),
            },
            Self::All(all) => all.iter().try_for_each(|one| one.judge(value, vars)),
        }
    }
}

/// What is wanted, in words, where nothing is filled in yet.
impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |all: &[Self], by: &str| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(by);
        let fixed =
            |value: &Filled| value.fixed().map_or_else(|| "what is filled in".to_owned(), |value| shown(&value));
        match self {
            Self::Equals(value) => f.write_str(&fixed(value)),
            Self::Contains(value) => write!(f, "one that contains {}", fixed(value)),
            Self::Matches(regex) => write!(f, "one that matches /{regex}/"),
            Self::Type(kind) => write!(f, "of type {kind}"),
            Self::Length(bounds) => write!(f, "of length {bounds}"),
            Self::Range(bounds) => write!(f, "a number {bounds}"),
            Self::Schema(_, schema) => write!(f, "one that fits {}", shown(schema)),
            Self::Unordered(all) => write!(f, "in any order: {}", list(all, ", ")),
            Self::AnyOf(all) => f.write_str(&list(all, " or ")),
            Self::Not(one) => write!(f, "not {one}"),
            Self::All(all) => f.write_str(&list(all, " and ")),
        }
    }
}

impl Bounds {
    /// Whether a number is within them.
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
            (None, None) => f.write_str("of any size"),
        }
    }
}

/// Whether two values are equal, where `1` and `1.0` are.
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

/// Whether `part` stands in `whole`.
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

/// Whether every item is wanted once: a matching between matchers and items, found by augmenting paths, since the first that
/// fits a matcher may be the only one that fits another.
fn unordered(wanted: &[Matcher], value: &Value, vars: &Value) -> Result<(), Unlike> {
    let Value::Array(items) = value else { return Err(unlike(format!("a list of {}", wanted.len()))) };
    if items.len() != wanted.len() {
        return Err(unlike(format!("a list of {} in any order (it has {})", wanted.len(), items.len())));
    }
    let fits: Vec<Vec<usize>> =
        wanted.iter().map(|one| (0..items.len()).filter(|&at| one.judge(&items[at], vars).is_ok()).collect()).collect();
    let mut taken = vec![None; items.len()];
    for (number, one) in wanted.iter().enumerate() {
        if !place(number, &fits, &mut taken, &mut vec![false; items.len()]) {
            return Err(unlike(format!("in any order, with {one}")));
        }
    }
    Ok(())
}

fn place(one: usize, fits: &[Vec<usize>], taken: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    for &item in &fits[one] {
        if std::mem::replace(&mut seen[item], true) {
            continue;
        }
        if taken[item].is_none_or(|other| place(other, fits, taken, seen)) {
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

/// Characters, items or members.
fn length(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(members) => Some(members.len()),
        _ => None,
    }
}

fn filled(value: &Value, pointer: &str, complain: Complain<'_>) -> Filled {
    Filled::parse(value, "vars", &mut |below, wrong| complain(&format!("{pointer}{below}"), wrong))
}

fn regex(value: &Value, pointer: &str, complain: Complain<'_>) -> Option<Regex> {
    let Some(text) = value.as_str() else {
        complain(pointer, wrong("`matches` is no text", "a regular expression, in single quotes"));
        return None;
    };
    Regex::new(text)
        .map_err(|error| {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            complain(
                pointer,
                wrong(
                    format!("{} is no regular expression: {why}", quoted(text)),
                    "single quotes; a backslash before . ( [",
                ),
            );
        })
        .ok()
}

fn bounds(value: &Value, word: &str, complain: Complain<'_>) -> Option<Bounds> {
    bounds_at(value, word, &format!("/{word}"), complain)
}

/// A number, `[least, most]`, or a mapping of `min` and `max`.
fn bounds_at(value: &Value, word: &str, pointer: &str, complain: Complain<'_>) -> Option<Bounds> {
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
        complain(pointer, wrong(format!("`{word}` cannot be read"), example));
    }
    if let Some(Bounds { least: Some(least), most: Some(most) }) = bounds
        && least > most
    {
        complain(pointer, wrong(format!("`{word}` has no room: {least} is more than {most}"), "the smaller first"));
    }
    bounds
}

fn wrong(what: impl Into<String>, remedy: &str) -> Wrong {
    Wrong { what: what.into(), remedy: remedy.to_owned() }
}

fn unlike(wanted: impl Into<String>) -> Unlike {
    Unlike { wanted: wanted.into(), exactly: None }
}

fn shown(value: &Value) -> String {
    wire::escape::snippet(&value.to_string(), 200)
}

#[cfg(test)]
#[path = "matcher_tests.rs"]
mod tests;
