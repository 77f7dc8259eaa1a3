//! The setup calls of an assertion, and the variables that they capture.

use document::{FileError, unfilled};
use serde_json::{Map, Value, json};

use super::{answer, expect};
use crate::import::file::{Case, variable_reference};
use crate::import::read::Source;
use crate::import::server::Server;

/// The cases of the setup.
pub(super) fn setup(
    source: &Source,
    name: &str,
    server: &Server,
    captured: &[(String, String)],
    errors: &mut Vec<FileError>,
) -> Option<Vec<Case>> {
    let steps = match source.root.get("setup") {
        None | Some(Value::Null) => return Some(Vec::new()),
        Some(Value::Array(steps)) => steps,
        Some(_) => {
            errors.push(source.error("/setup", "`setup` is not a list", "- tool: NAME"));
            return None;
        }
    };
    let mut cases = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let pointer = format!("/setup/{at}");
        let (Some(assertion), Some(tool)) = (step.as_object(), step["tool"].as_str()) else {
            errors.push(source.error(&pointer, "this step has no `tool`", "tool: NAME"));
            return None;
        };
        let mut case = Case::new(format!("{name}: setup {}, {tool}", at + 1)).with("call", unfilled(&json!(tool)));
        case.expected.expect_outcome("ok");
        for (name, value) in assertion {
            match (name.as_str(), value) {
                ("tool", _) => {}
                ("args", Value::Object(members)) if members.is_empty() => {}
                ("args", Value::Object(_)) => case = case.with("arguments", fill(value, captured)),
                ("capture", Value::Object(capture)) => captures(&mut case, capture, source, &pointer, errors),
                (name, value) => case.mark_not_imported(name, value.to_string()),
            }
        }
        answer(&mut case, server);
        cases.push(case);
    }
    Some(cases)
}

fn captures(
    case: &mut Case,
    capture: &Map<String, Value>,
    source: &Source,
    pointer: &str,
    errors: &mut Vec<FileError>,
) {
    let mut paths = Map::new();
    for (name, path) in capture {
        if let Some(path) = path.as_str().and_then(expect::structured) {
            paths.insert(variable(name), json!(path));
        } else {
            let what = format!("`{name}` cannot be captured: its path does not lead into a mapping");
            errors.push(source.error(&format!("{pointer}/capture/{name}"), what, "$.NAME, $.LIST[0].NAME"));
        }
    }
    case.members.insert("capture".to_owned(), Value::Object(paths));
    case.remarks.push(expect::STRUCTURED.to_owned());
}

/// The captured variables: their syntax in mcp-assert, and in test files.
pub(super) fn captured(root: &Map<String, Value>) -> Vec<(String, String)> {
    let steps = root.get("setup").and_then(Value::as_array).into_iter().flatten();
    let names = steps.filter_map(|step| step["capture"].as_object()).flat_map(Map::keys);
    names.map(|name| (format!("{{{{{name}}}}}"), variable_reference(&variable(name)))).collect()
}

/// A valid variable name.
fn variable(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("v{name}") }
}

/// A value with references to captured variables; other template syntax is escaped.
pub(super) fn fill(value: &Value, captured: &[(String, String)]) -> Value {
    match value {
        Value::String(text) => {
            let mut filled = String::new();
            let mut rest = text.as_str();
            while let Some(begin) = rest.find("{{") {
                filled.push_str(&rest[..begin]);
                rest = &rest[begin..];
                let (mark, hole) = captured
                    .iter()
                    .find(|(mark, _)| rest.starts_with(mark.as_str()))
                    .map_or(("{{", "{{ \"{{\" }}"), |(mark, hole)| (mark.as_str(), hole.as_str()));
                filled.push_str(hole);
                rest = &rest[mark.len()..];
            }
            json!(filled + rest)
        }
        Value::Array(items) => items.iter().map(|item| fill(item, captured)).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), fill(value, captured))).collect(),
        value => value.clone(),
    }
}

/// A value with its variable references escaped, for a case whose variables are not captured.
pub(super) fn without_references(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(text.replace("{{ vars.", "{{ \"{{\" }}")),
        Value::Array(items) => items.iter().map(without_references).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), without_references(value))).collect()
        }
        value => value.clone(),
    }
}
