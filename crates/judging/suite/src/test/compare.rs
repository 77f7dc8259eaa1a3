//! A case must get the same answer in every combination of the matrix.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};
use wire::redact::Redactor;

use super::judge::failure;
use super::outcome::{Failure, MatrixRun, Verdict};
use super::redacted;
use crate::jsonpath::child_segment;

/// Fails every case whose answer differs from that of the first run in which it passed.
pub(super) fn compare(runs: &mut [MatrixRun], redactor: &Redactor) {
    let mut known: HashMap<String, (Value, String)> = HashMap::new();
    for run in runs {
        let here = describe(run);
        for case in run.cases.iter_mut().filter(|case| case.verdict == Verdict::Passed) {
            let Some(essence) = &case.essence else { continue };
            let Some((first, first_run)) = known.get(&case.name) else {
                known.insert(case.name.clone(), (essence.clone(), here.clone()));
                continue;
            };
            if let Some((pointer, one, other)) = difference(first, essence) {
                let shown = |value: &Value| wire::escape::snippet(&value.to_string(), 200);
                let (expected, found) = (format!("{}, as at {first_run}", shown(&one)), shown(&other));
                let failure = Failure {
                    path: Some(pointer),
                    expected_value: Some(one),
                    value: Some(other),
                    ..failure(case.at, expected, found)
                };
                case.verdict = redacted::verdict(redactor, Verdict::Failed(vec![failure]));
            }
        }
    }
}

fn describe(run: &MatrixRun) -> String {
    let revision = run.revision.map(|revision| revision.to_string()).unwrap_or_default();
    let transport = run.transport.map(|transport| format!(" over {transport}")).unwrap_or_default();
    format!("{revision}{transport}")
}

/// The role of a value in the protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layer {
    /// A whole result.
    Result,
    /// The items of a list, each described by the protocol.
    Items,
    /// A tool, a content block and the like.
    Item,
    /// Data of the server, which the protocol does not describe.
    Own,
}

/// Members that later revisions added to results and descriptions. Their absence in an older revision is no difference.
const LATER: [&str; 9] = [
    "annotations",
    "title",
    "icons",
    "outputSchema",
    "execution",
    "structuredContent",
    "size",
    "lastModified",
    "_meta",
];

impl Layer {
    fn below(self, name: &str) -> Self {
        match (self, name) {
            (
                Self::Result,
                "tools" | "resources" | "resourceTemplates" | "prompts" | "content" | "contents" | "messages",
            )
            | (Self::Item, "arguments") => Self::Items,
            (Self::Item, "content" | "resource") => Self::Item,
            _ => Self::Own,
        }
    }

    /// Whether one side may lack a member.
    fn may_lack(self, name: &str) -> bool {
        matches!(self, Self::Result | Self::Item) && LATER.contains(&name)
    }
}

/// The first difference of two results: its path, and both values.
pub(super) fn difference(one: &Value, other: &Value) -> Option<(String, Value, Value)> {
    let mut path = "$".to_owned();
    let (one, other) = first_difference(one, other, Layer::Result, &mut path)?;
    Some((path, one, other))
}

fn first_difference(one: &Value, other: &Value, layer: Layer, path: &mut String) -> Option<(Value, Value)> {
    let length = path.len();
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let lacks = |has: &Map<String, Value>, lacks: &Map<String, Value>| {
                has.keys().any(|name| !lacks.contains_key(name) && !layer.may_lack(name))
            };
            if lacks(a, b) || lacks(b, a) {
                return Some((one.clone(), other.clone()));
            }
            a.iter().find_map(|(name, value)| {
                path.truncate(length);
                path.push_str(&child_segment(name));
                first_difference(value, b.get(name)?, layer.below(name), path)
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let layer = if layer == Layer::Items { Layer::Item } else { Layer::Own };
            a.iter().zip(b).enumerate().find_map(|(at, (a, b))| {
                path.truncate(length);
                _ = write!(path, "[{at}]");
                first_difference(a, b, layer, path)
            })
        }
        (Value::Array(a), Value::Array(b)) => {
            path.push_str(" (number of items)");
            Some((a.len().into(), b.len().into()))
        }
        (a, b) if super::matcher::same(a, b) => None,
        (a, b) => Some((a.clone(), b.clone())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::difference;

    #[test]
    fn members_of_later_revisions_may_be_missing() {
        let old = json!({ "tools": [{ "name": "a", "inputSchema": { "type": "object" } }] });
        let new = json!({ "tools": [{ "name": "a", "title": "A", "icons": [], "inputSchema": { "type": "object" } }] });
        assert_eq!(difference(&old, &new), None);
        assert_eq!(difference(&new, &old), None);
    }

    #[test]
    fn other_differences_are_found() {
        for (one, other, path) in [
            (json!({ "tools": [{ "name": "a" }] }), json!({ "tools": [{ "name": "b" }] }), "$.tools[0].name"),
            (json!({ "tools": [] }), json!({ "tools": [{}] }), "$.tools (number of items)"),
            (json!({ "a b": { "title": 1 } }), json!({ "a b": {} }), "$['a b']"),
            (json!({ "structuredContent": { "title": 1 } }), json!({ "structuredContent": {} }), "$.structuredContent"),
            (json!({ "content": [{ "title": "x" }] }), json!({ "content": [{ "title": "y" }] }), "$.content[0].title"),
        ] {
            assert_eq!(difference(&one, &other).map(|found| found.0).as_deref(), Some(path), "{one} {other}");
        }
    }
}
