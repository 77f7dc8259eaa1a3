//! Reads matchers from case files.

use document::{nearest, quoted};
use regex::RegexBuilder;
use schema::Validator;
use serde_json::Value;

use super::bounds::Bounds;
use super::{Matcher, Report, shown};
use crate::date::Moment;
use wire::pointer;

/// The keys of a matcher.
const WORDS: [&str; 20] = [
    "equals",
    "contains",
    "matches",
    "type",
    "length",
    "range",
    "tolerance",
    "date",
    "schema",
    "unordered",
    "set",
    "subset",
    "items",
    "members",
    "text",
    "anyOf",
    "not",
    "optional",
    "absent",
    "ignore",
];
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];
/// How large a regular expression may be when compiled, in bytes.
const REGEX_BYTES: usize = 1 << 20;

pub(super) fn read(value: &Value, at: &str, room: usize, report: Report<'_>) -> Matcher {
    let Value::Object(members) = value else { return Matcher::Equals(value.clone()) };
    if room == 0 {
        report(at, "matchers nest too deep".to_owned(), "a flatter matcher".to_owned());
        return Matcher::Ignore;
    }
    if members.is_empty() {
        report(at, "empty matcher".to_owned(), "`equals: {}` for an empty mapping".to_owned());
        return Matcher::Ignore;
    }
    let mut all = Vec::new();
    for (word, value) in members {
        let below = format!("{at}/{}", pointer::escape(word));
        match self::word(word, value, &below, room - 1, report) {
            Ok(matcher) => all.push(matcher),
            Err(Wrong(what, remedy)) => report(&below, what, remedy),
        }
    }
    if all.len() == 1 { all.remove(0) } else { Matcher::All(all) }
}

/// What is wrong with a matcher, and what to try.
struct Wrong(String, String);

fn wrong<T>(what: impl Into<String>, remedy: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong(what.into(), remedy.into()))
}

fn word(word: &str, value: &Value, at: &str, room: usize, report: Report<'_>) -> Result<Matcher, Wrong> {
    Ok(match word {
        "equals" => Matcher::Equals(value.clone()),
        "contains" => Matcher::Contains(value.clone()),
        "matches" => return regex(value),
        "type" => return kind(value),
        "length" => Matcher::Length(bounds(value, "length")?),
        "range" => Matcher::Range(bounds(value, "range")?),
        "tolerance" => return tolerance(value),
        "date" => return date(value),
        "schema" => match Validator::new(value) {
            Ok(validator) => Matcher::Schema(Box::new(validator), value.clone()),
            Err(error) => {
                return wrong(format!("unusable JSON Schema: {error}"), "a schema without external references");
            }
        },
        "unordered" | "set" => Matcher::Unordered(list(word, value, at, room, report)?),
        "items" => Matcher::Items(list(word, value, at, room, report)?),
        "anyOf" => match list(word, value, at, room, report)? {
            all if all.is_empty() => return wrong("`anyOf` is empty: nothing can match", "at least one matcher"),
            all => Matcher::AnyOf(all),
        },
        "subset" => match value.as_array() {
            Some(items) => Matcher::Subset(items.clone()),
            None => return wrong("`subset` is not a list", "a list of values"),
        },
        "members" => match value.as_object() {
            Some(members) => Matcher::Members(
                members
                    .iter()
                    .map(|(name, one)| {
                        (name.clone(), read(one, &format!("{at}/{}", pointer::escape(name)), room, report))
                    })
                    .collect(),
            ),
            None => return wrong("`members` is not a mapping", "a mapping of names to matchers"),
        },
        "text" => match value.as_str() {
            Some(text) => Matcher::Text(text.to_owned()),
            None => return wrong("`text` is not a text", "quotes around it"),
        },
        "not" => Matcher::Not(Box::new(read(value, at, room, report))),
        "optional" => Matcher::Optional(Box::new(read(value, at, room, report))),
        "absent" | "ignore" if *value != Value::Bool(true) => {
            return wrong(format!("`{word}` is not `true`"), format!("`{word}: true`"));
        }
        "absent" => Matcher::Absent,
        "ignore" => Matcher::Ignore,
        other => {
            let near = nearest(other, WORDS.into_iter());
            return wrong(format!("unknown matcher {}", quoted(other)), format!("{near}; `equals` for a mapping"));
        }
    })
}

fn list(word: &str, value: &Value, at: &str, room: usize, report: Report<'_>) -> Result<Vec<Matcher>, Wrong> {
    let Value::Array(items) = value else { return wrong(format!("`{word}` is not a list"), "a list of matchers") };
    Ok(items.iter().enumerate().map(|(index, item)| read(item, &format!("{at}/{index}"), room, report)).collect())
}

fn bounds(value: &Value, word: &str) -> Result<Bounds, Wrong> {
    let example = if word == "range" { "[1, 10], {min: 1} or {max: 10}" } else { "3, [1, 10], {min: 1} or {max: 10}" };
    Bounds::read(value, word == "range").or_else(|why| wrong(format!("invalid `{word}`: {why}"), example))
}

fn kind(value: &Value) -> Result<Matcher, Wrong> {
    let name = value.as_str().unwrap_or_default();
    let known = TYPES.into_iter().find(|kind| *kind == name).map(Matcher::Type);
    known.ok_or_else(|| Wrong(format!("unknown type {}", shown(value)), nearest(name, TYPES.into_iter())))
}

fn date(value: &Value) -> Result<Matcher, Wrong> {
    let text = value.as_str().unwrap_or_default();
    let read = Moment::read(text).map(|moment| Matcher::Date(text.to_owned(), moment));
    let remedy = "2026-11-26 or \"2026-11-26T09:30:00Z\"";
    read.ok_or_else(|| Wrong(format!("{} is no date", shown(value)), remedy.to_owned()))
}

/// `{ of: 3.14, by: 0.01 }` or `{ of: 100, percent: 5 }`.
fn tolerance(value: &Value) -> Result<Matcher, Wrong> {
    let of = value.get("of").and_then(Value::as_f64);
    let room = |name: &str| value.get(name).and_then(Value::as_f64).filter(|room| *room >= 0.0);
    let known = value.as_object().is_some_and(|members| members.len() == 2);
    match (of, room("by"), room("percent")) {
        (Some(of), Some(by), None) if known => Ok(Matcher::Near { of, by, is_relative: false }),
        (Some(of), None, Some(percent)) if known => Ok(Matcher::Near { of, by: percent / 100.0, is_relative: true }),
        _ => wrong("invalid `tolerance`", "{ of: 3.14, by: 0.01 } or { of: 100, percent: 5 }"),
    }
}

fn regex(value: &Value) -> Result<Matcher, Wrong> {
    let Some(text) = value.as_str() else {
        return wrong("`matches` is not a text", "a regular expression in single quotes");
    };
    RegexBuilder::new(text).size_limit(REGEX_BYTES).build().map(Matcher::Matches).or_else(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let what = format!("{} is not a regular expression: {why}", quoted(text));
        wrong(what, "single quotes; a backslash before . ( [")
    })
}
