//! What mcp-assert expects of an answer. It looks into one text, made of the whole answer; a test file looks where that comes from.

use serde_json::{Map, Value, json};

use crate::import::expected::{Demand, matcher};
use crate::import::file::Case;
use crate::import::paths;
use crate::import::server::plain;

/// Where a result holds what mcp-assert makes a text of.
pub(super) struct Said {
    /// The list of parts; two dots at its end look at everything within.
    items: &'static str,
    /// The text of a part.
    text: &'static str,
    /// What is the JSON that paths lead into.
    json: Option<&'static str>,
    /// The list that results are counted in.
    counted: Option<&'static str>,
    /// How it ends where a tool or the request fails.
    fails: &'static str,
    /// What is said where a text is looked for in less than mcp-assert makes one of.
    narrower: Option<&'static str>,
}

impl Said {
    pub(super) const TOOL: Self = Self {
        items: "$.content",
        text: "@.text",
        json: Some("$.structuredContent"),
        counted: None,
        fails: "tool-error",
        narrower: None,
    };
    pub(super) const READ: Self =
        Self { items: "$.contents", text: "@.text", json: None, counted: None, fails: "error", narrower: None };
    pub(super) const GET: Self = Self {
        items: "$.messages",
        text: "@.content.text",
        json: None,
        counted: None,
        fails: "error",
        narrower: Some("mcp-assert also looks into the prompt's description; here only its messages are looked into"),
    };
    pub(super) const RESOURCES: Self = Self::listed("$.resources..", "$.resources");
    pub(super) const PROMPTS: Self = Self::listed("$.prompts..", "$.prompts");
    pub(super) const COMPLETION: Self = Self::listed("$.completion.values", "$.completion.values");

    const fn listed(items: &'static str, counted: &'static str) -> Self {
        let narrower = Some("mcp-assert looks into the list as JSON; here it is looked for in the values of its items");
        Self { items, text: "@", json: Some("$"), counted: Some(counted), fails: "error", narrower }
    }

    /// The path to the parts whose text has what a regular expression fits.
    fn with(&self, regex: &str) -> Option<String> {
        Some(format!("{}[?{}]", self.items, paths::search(self.text, regex)?))
    }
}

const NO_WHOLE: &str = "a list is not made one text here";

/// What a case says that reads structured content where mcp-assert reads a text.
pub(super) const STRUCTURED: &str = "mcp-assert reads the text as JSON; here it is looked for in structuredContent";

/// The path to what mcp-assert finds in a tool's text, read as JSON.
pub(super) fn structured(path: &str) -> Option<String> {
    within("$.structuredContent", path)
}

fn within(root: &str, path: &str) -> Option<String> {
    let dotted = path.strip_prefix("$.").unwrap_or(path);
    if dotted.starts_with(['[', '$']) || dotted.is_empty() {
        return None;
    }
    let path = paths::steps(dotted).map(|steps| format!("{root}{steps}"));
    paths::valid(path.unwrap_or_else(|| format!("{root}.{dotted}")))
}

/// Puts what is expected into a case.
pub(super) fn expect(case: &mut Case, expected: &Map<String, Value>, said: &Said) {
    let is_true = |name: &str| expected.get(name) == Some(&Value::Bool(true));
    if is_true("is_error") {
        case.expected.ends(said.fails);
    } else if is_true("not_error") {
        case.expected.ends("ok");
    }
    if is_true("is_error") && is_true("not_error") {
        case.leave("not_error", "it contradicts `is_error`");
    }
    for (name, value) in expected {
        if let Err(why) = one(case, name, value, said) {
            case.leave(name, format!("{value}: {why}"));
        }
    }
    let looks = ["contains", "contains_any", "not_contains", "in_order", "matches_regex", "equals"];
    if looks.iter().any(|name| expected.contains_key(*name)) {
        case.remarks.extend(said.narrower.map(str::to_owned));
    }
    if case.expected.conditions == 0 && case.left.is_empty() {
        // It is answered: that is what was asked.
        case.expected.ends("ok");
    } else if case.expected.outcome.is_none() && said.fails == "tool-error" {
        case.remarks.push("mcp-assert did not say whether it may fail; here it may not".to_owned());
    }
}

/// `Err` says why something has no counterpart.
fn one(case: &mut Case, name: &str, value: &Value, said: &Said) -> Result<(), &'static str> {
    const NO_TEXT: &str = "no text that can be looked for";
    let texts = || -> Vec<String> {
        value.as_array().map_or_else(|| vec![plain(value)], |all| all.iter().map(plain).collect())
    };
    match (name, value) {
        ("is_error" | "not_error", Value::Bool(_)) | ("not_empty", Value::Bool(false)) | (_, Value::Null) => Ok(()),
        ("not_empty", Value::Bool(true)) => not_empty(case, said),
        ("contains" | "not_contains" | "matches_regex", _) => {
            for text in texts() {
                if let Err(why) = has(case, said, name, &text) {
                    case.leave(name, format!("{text}: {why}"));
                }
            }
            Ok(())
        }
        ("contains_any", _) => {
            let texts: Result<Vec<String>, _> = texts().iter().map(|text| escaped(text, said)).collect();
            holds(case, said, &texts?.join("|"), Demand::Exists)
        }
        ("in_order", _) => {
            let texts: Result<Vec<String>, _> = texts().iter().map(|text| escaped(text, said)).collect();
            holds(case, said, &format!("(?s){}", texts?.join(".*")), Demand::Exists)
        }
        ("equals", Value::String(_)) if said.text == "@" => Err(NO_WHOLE),
        ("equals", Value::String(text)) => equals(case, said, text),
        ("json_path", Value::Object(paths)) => json_paths(case, said, paths),
        ("net_delta", Value::Number(_)) if said.json == Some("$.structuredContent") => {
            json_paths(case, said, &Map::from_iter([("net_delta".to_owned(), value.clone())]))
        }
        ("min_results" | "max_results", _) => {
            let counted = said.counted.ok_or("which of the text's JSON is counted is not known")?;
            let bound = value.as_u64().ok_or(NO_TEXT)?;
            let bound = if name == "min_results" { json!({ "min": bound }) } else { json!({ "max": bound }) };
            case.expected.demand(counted, Demand::Is("length", bound))
        }
        ("min_progress", Value::Number(least)) => {
            if least.as_u64().is_some_and(|least| (1..=100_000).contains(&least)) {
                case.expected.beside("progress", value.clone());
                Ok(())
            } else {
                Err("it demands nothing, or too much")
            }
        }
        (name, _) if name.starts_with("file_") => Err("files are not looked at"),
        _ => Err("it has no counterpart"),
    }
}

/// One of several texts that must be there, or must not.
fn has(case: &mut Case, said: &Said, name: &str, text: &str) -> Result<(), &'static str> {
    match name {
        "matches_regex" if said.text == "@" => Err(NO_WHOLE),
        "matches_regex" => holds(case, said, text, Demand::Exists),
        "not_contains" => holds(case, said, &escaped(text, said)?, Demand::Absent),
        _ => holds(case, said, &escaped(text, said)?, Demand::Exists),
    }
}

/// A text as a regular expression that finds it. What is JSON's own in a list cannot be found in its values.
fn escaped(text: &str, said: &Said) -> Result<String, &'static str> {
    if text.is_empty() {
        return Err("every text contains nothing");
    }
    if said.text == "@" && text.contains(['"', '{', '}', '[', ']', '\\']) {
        return Err("it is looked for in values, and this is JSON");
    }
    Ok(regex::escape(text))
}

fn holds(case: &mut Case, said: &Said, regex: &str, demand: Demand) -> Result<(), &'static str> {
    let path = said.with(regex).ok_or("no regular expression, or too long a one")?;
    case.expected.demand(&path, demand)
}

/// A text that is neither blank nor JSON for nothing; a list with something in it.
fn not_empty(case: &mut Case, said: &Said) -> Result<(), &'static str> {
    if let Some(counted) = said.counted {
        return case.expected.demand(counted, Demand::Is("length", json!({ "min": 1 })));
    }
    let (items, text) = (said.items, said.text);
    let nothing = paths::literal(r"\s*(null|\[\]|\{\})\s*");
    let path = format!("{items}[?search({text}, {}) && !match({text}, {nothing})]", paths::literal(r"\S"));
    case.expected.demand(&path, Demand::Exists)
}

/// The text, blanks around it aside. Where there are several parts, none is the whole.
fn equals(case: &mut Case, said: &Said, text: &str) -> Result<(), &'static str> {
    let text = text.trim();
    if text.is_empty() {
        return holds(case, said, r"\S", Demand::Absent);
    }
    let parts = said.text.trim_start_matches('@');
    let path = format!("{}[?{}]{parts}", said.items, said.text);
    case.expected.demand(&path, Demand::Count(Some(1), Some(1)))?;
    case.expected.conditions -= 1;
    case.expected.demand(&path, Demand::Is("matches", json!(format!(r"\A\s*{}\s*\z", regex::escape(text)))))
}

/// Values in the text's JSON. mcp-assert compares them as texts.
fn json_paths(case: &mut Case, said: &Said, all: &Map<String, Value>) -> Result<(), &'static str> {
    let root = said.json.ok_or("a text is not read as JSON")?;
    let mut left = Vec::new();
    for (path, value) in all {
        let parsed = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let demand = match parsed.filter(|value| value.is_number() || value.is_boolean()) {
            Some(parsed) => Demand::Is("anyOf", json!([matcher(value), parsed])),
            None => Demand::Is("equals", document::unfilled(value)),
        };
        let done = within(root, path)
            .ok_or("it does not lead into a mapping")
            .and_then(|path| case.expected.demand(&path, demand));
        left.extend(done.err().map(|why| format!("{path}: {value}: {why}")));
    }
    if left.len() < all.len() && root != "$" {
        case.remarks.push(STRUCTURED.to_owned());
    }
    for detail in left {
        case.leave("json_path", detail);
    }
    Ok(())
}
