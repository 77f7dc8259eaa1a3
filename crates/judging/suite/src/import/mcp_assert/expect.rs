//! Expectations of mcp-assert. It searches one text made of the whole answer; a test file searches the parts of the answer.

use serde_json::{Map, Value, json};

use crate::import::expected::{PathCondition, matcher};
use crate::import::file::Case;
use crate::import::paths;
use crate::import::server::plain;

/// Where a result holds the parts of the text that mcp-assert searches.
pub(super) struct ResultShape {
    /// The path of the list of parts; with two dots at its end, of everything within.
    items: &'static str,
    /// The text of a part.
    text: &'static str,
    /// The path of the value that JSON paths refer to.
    json: Option<&'static str>,
    /// The list whose items are counted.
    counted: Option<&'static str>,
    /// The outcome of a failure.
    fails: &'static str,
    /// The remark for a search in less text than mcp-assert searches.
    narrower: Option<&'static str>,
}

impl ResultShape {
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

    /// The path of the parts whose text matches a regular expression.
    fn with(&self, regex: &str) -> Option<String> {
        Some(format!("{}[?{}]", self.items, paths::search(self.text, regex)?))
    }
}

const NO_WHOLE: &str = "the items of a list are not joined to one text";

/// The remark of a case that reads structured content in place of text.
pub(super) const STRUCTURED: &str = "mcp-assert reads the text as JSON; here it is looked for in structuredContent";

/// The path in structured content for a JSON path of mcp-assert.
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

/// Adds the expectations to a case.
pub(super) fn expect(case: &mut Case, expected: &Map<String, Value>, shape: &ResultShape) {
    let is_true = |name: &str| expected.get(name) == Some(&Value::Bool(true));
    if is_true("is_error") {
        case.expected.expect_outcome(shape.fails);
    } else if is_true("not_error") {
        case.expected.expect_outcome("ok");
    }
    if is_true("is_error") && is_true("not_error") {
        case.mark_not_imported("not_error", "it contradicts `is_error`");
    }
    for (name, value) in expected {
        if let Err(why) = one(case, name, value, shape) {
            case.mark_not_imported(name, format!("{value}: {why}"));
        }
    }
    let looks = ["contains", "contains_any", "not_contains", "in_order", "matches_regex", "equals"];
    if looks.iter().any(|name| expected.contains_key(*name)) {
        case.remarks.extend(shape.narrower.map(str::to_owned));
    }
    if case.expected.conditions == 0 && case.not_imported.is_empty() {
        // The only expectation is an answer.
        case.expected.expect_outcome("ok");
    } else if case.expected.outcome.is_none() && shape.fails == "tool-error" {
        case.remarks.push("mcp-assert did not check for errors here; this case does".to_owned());
    }
}

/// Adds one expectation; `Err` says why it has no counterpart.
fn one(case: &mut Case, name: &str, value: &Value, shape: &ResultShape) -> Result<(), &'static str> {
    const NO_TEXT: &str = "not a text";
    let texts = || -> Vec<String> {
        value.as_array().map_or_else(|| vec![plain(value)], |all| all.iter().map(plain).collect())
    };
    match (name, value) {
        ("is_error" | "not_error", Value::Bool(_)) | ("not_empty", Value::Bool(false)) | (_, Value::Null) => Ok(()),
        ("not_empty", Value::Bool(true)) => not_empty(case, shape),
        ("contains" | "not_contains" | "matches_regex", _) => {
            for text in texts() {
                if let Err(why) = has(case, shape, name, &text) {
                    case.mark_not_imported(name, format!("{text}: {why}"));
                }
            }
            Ok(())
        }
        ("contains_any", _) => {
            let texts: Result<Vec<String>, _> = texts().iter().map(|text| escaped(text, shape)).collect();
            holds(case, shape, &texts?.join("|"), PathCondition::Exists)
        }
        ("in_order", _) => {
            let texts: Result<Vec<String>, _> = texts().iter().map(|text| escaped(text, shape)).collect();
            holds(case, shape, &format!("(?s){}", texts?.join(".*")), PathCondition::Exists)
        }
        ("equals", Value::String(_)) if shape.text == "@" => Err(NO_WHOLE),
        ("equals", Value::String(text)) => equals(case, shape, text),
        ("json_path", Value::Object(paths)) => json_paths(case, shape, paths),
        ("net_delta", Value::Number(_)) if shape.json == Some("$.structuredContent") => {
            json_paths(case, shape, &Map::from_iter([("net_delta".to_owned(), value.clone())]))
        }
        ("min_results" | "max_results", _) => {
            let counted = shape.counted.ok_or("the counted part of the JSON is unknown")?;
            let bound = value.as_u64().ok_or(NO_TEXT)?;
            let bound = if name == "min_results" { json!({ "min": bound }) } else { json!({ "max": bound }) };
            case.expected.add_condition(counted, PathCondition::Is("length", bound))
        }
        ("min_progress", Value::Number(least)) => {
            if least.as_u64().is_some_and(|least| (1..=100_000).contains(&least)) {
                case.expected.add_member("progress", value.clone());
                Ok(())
            } else {
                Err("not between 1 and 100000")
            }
        }
        (name, _) if name.starts_with("file_") => Err("files are not checked"),
        _ => Err("no counterpart"),
    }
}

/// Adds one text that must be present or absent.
fn has(case: &mut Case, shape: &ResultShape, name: &str, text: &str) -> Result<(), &'static str> {
    match name {
        "matches_regex" if shape.text == "@" => Err(NO_WHOLE),
        "matches_regex" => holds(case, shape, text, PathCondition::Exists),
        "not_contains" => holds(case, shape, &escaped(text, shape)?, PathCondition::Absent),
        _ => holds(case, shape, &escaped(text, shape)?, PathCondition::Exists),
    }
}

/// A regular expression for a text. JSON syntax cannot be found in the values of a list.
fn escaped(text: &str, shape: &ResultShape) -> Result<String, &'static str> {
    if text.is_empty() {
        return Err("every text contains the empty text");
    }
    if shape.text == "@" && text.contains(['"', '{', '}', '[', ']', '\\']) {
        return Err("JSON syntax does not occur in values");
    }
    Ok(regex::escape(text))
}

fn holds(case: &mut Case, shape: &ResultShape, regex: &str, condition: PathCondition) -> Result<(), &'static str> {
    let path = shape.with(regex).ok_or("not a regular expression, or too long")?;
    case.expected.add_condition(&path, condition)
}

/// Expects a text that is neither blank nor empty JSON, or a list with items.
fn not_empty(case: &mut Case, shape: &ResultShape) -> Result<(), &'static str> {
    if let Some(counted) = shape.counted {
        return case.expected.add_condition(counted, PathCondition::Is("length", json!({ "min": 1 })));
    }
    let (items, text) = (shape.items, shape.text);
    let nothing = paths::literal(r"\s*(null|\[\]|\{\})\s*");
    let path = format!("{items}[?search({text}, {}) && !match({text}, {nothing})]", paths::literal(r"\S"));
    case.expected.add_condition(&path, PathCondition::Exists)
}

/// Expects a trimmed text as the only part.
fn equals(case: &mut Case, shape: &ResultShape, text: &str) -> Result<(), &'static str> {
    let text = text.trim();
    if text.is_empty() {
        return holds(case, shape, r"\S", PathCondition::Absent);
    }
    let parts = shape.text.trim_start_matches('@');
    let path = format!("{}[?{}]{parts}", shape.items, shape.text);
    case.expected.add_condition(&path, PathCondition::Count(Some(1), Some(1)))?;
    case.expected.conditions -= 1;
    case.expected
        .add_condition(&path, PathCondition::Is("matches", json!(format!(r"\A\s*{}\s*\z", regex::escape(text)))))
}

/// Expects values at JSON paths. mcp-assert compares them as texts.
fn json_paths(case: &mut Case, shape: &ResultShape, all: &Map<String, Value>) -> Result<(), &'static str> {
    let root = shape.json.ok_or("texts are not read as JSON")?;
    let mut left = Vec::new();
    for (path, value) in all {
        let parsed = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let condition = match parsed.filter(|value| value.is_number() || value.is_boolean()) {
            Some(parsed) => PathCondition::Is("anyOf", json!([matcher(value), parsed])),
            None => PathCondition::Is("equals", document::unfilled(value)),
        };
        let done = within(root, path)
            .ok_or("not a path into a mapping")
            .and_then(|path| case.expected.add_condition(&path, condition));
        left.extend(done.err().map(|why| format!("{path}: {value}: {why}")));
    }
    if left.len() < all.len() && root != "$" {
        case.remarks.push(STRUCTURED.to_owned());
    }
    for detail in left {
        case.mark_not_imported("json_path", detail);
    }
    Ok(())
}
