//! Reads matchers from test files.

use document::{Filled, Wrong, nearest, quoted};
use regex::Regex;
use schema::Validator;
use serde_json::Value;

use super::bounds::bounds_at;
use super::{Matcher, Report};

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

impl Matcher {
    pub(super) fn read_at(value: &Value, pointer: &str, room: usize, report: Report<'_>) -> Self {
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

pub(super) fn wrong(what: impl Into<String>, remedy: &str) -> Wrong {
    Wrong { what: what.into(), remedy: remedy.to_owned() }
}
