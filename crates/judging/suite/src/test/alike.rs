//! The same case at other places must get the same answer.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::judge::failure;
use super::outcome::{Failure, Place, Verdict};
use crate::step::step;

/// Fails every case whose answer is not the one that it got at the first place where it passed.
pub(super) fn compare(places: &mut [Place]) {
    let mut known: HashMap<String, (Value, String)> = HashMap::new();
    for place in places {
        let here = called(place);
        for case in place.cases.iter_mut().filter(|case| case.verdict == Verdict::Passed) {
            let Some(essence) = &case.essence else { continue };
            let Some((first, there)) = known.get(&case.name) else {
                known.insert(case.name.clone(), (essence.clone(), here.clone()));
                continue;
            };
            if let Some((pointer, one, other)) = difference(first, essence) {
                let shown = |value: &Value| wire::escape::snippet(&value.to_string(), 200);
                let (wanted, found) = (format!("{}, as at {there}", shown(&one)), shown(&other));
                case.verdict = Verdict::Failed(vec![Failure {
                    path: Some(pointer),
                    exactly: Some(one),
                    value: Some(other),
                    ..failure(case.at, wanted, found)
                }]);
            }
        }
    }
}

fn called(place: &Place) -> String {
    let revision = place.revision.map(|revision| revision.to_string()).unwrap_or_default();
    let transport = place.transport.map(|transport| format!(" over {transport}")).unwrap_or_default();
    format!("{revision}{transport}")
}

/// What a value is to the protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layer {
    /// A whole result.
    Result,
    /// The items of a list, each described by the protocol.
    Items,
    /// A tool, a content block and the like.
    Item,
    /// The server's own.
    Own,
}

/// What later revisions gave results and descriptions: an older one is silent about it, which is no other answer.
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
    fn forgives(self, name: &str) -> bool {
        matches!(self, Self::Result | Self::Item) && LATER.contains(&name)
    }
}

/// Where two results differ first: the path, and what each has there.
pub(super) fn difference(one: &Value, other: &Value) -> Option<(String, Value, Value)> {
    let mut path = "$".to_owned();
    let (one, other) = differing(one, other, Layer::Result, &mut path)?;
    Some((path, one, other))
}

fn differing(one: &Value, other: &Value, layer: Layer, path: &mut String) -> Option<(Value, Value)> {
    let length = path.len();
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let lacks = |has: &Map<String, Value>, lacks: &Map<String, Value>| {
                has.keys().any(|name| !lacks.contains_key(name) && !layer.forgives(name))
            };
            if lacks(a, b) || lacks(b, a) {
                return Some((one.clone(), other.clone()));
            }
            a.iter().find_map(|(name, value)| {
                path.truncate(length);
                path.push_str(&step(name));
                differing(value, b.get(name)?, layer.below(name), path)
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let layer = if layer == Layer::Items { Layer::Item } else { Layer::Own };
            a.iter().zip(b).enumerate().find_map(|(at, (a, b))| {
                path.truncate(length);
                _ = write!(path, "[{at}]");
                differing(a, b, layer, path)
            })
        }
        (Value::Array(a), Value::Array(b)) => {
            path.push_str(" (how many)");
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
    fn what_a_revision_is_silent_about_is_no_difference() {
        let old = json!({ "tools": [{ "name": "a", "inputSchema": { "type": "object" } }] });
        let new = json!({ "tools": [{ "name": "a", "title": "A", "icons": [], "inputSchema": { "type": "object" } }] });
        assert_eq!(difference(&old, &new), None);
        assert_eq!(difference(&new, &old), None);
    }

    #[test]
    fn everything_else_is() {
        for (one, other, path) in [
            (json!({ "tools": [{ "name": "a" }] }), json!({ "tools": [{ "name": "b" }] }), "$.tools[0].name"),
            (json!({ "tools": [] }), json!({ "tools": [{}] }), "$.tools (how many)"),
            (json!({ "a b": { "title": 1 } }), json!({ "a b": {} }), "$['a b']"),
            (json!({ "structuredContent": { "title": 1 } }), json!({ "structuredContent": {} }), "$.structuredContent"),
            (json!({ "content": [{ "title": "x" }] }), json!({ "content": [{ "title": "y" }] }), "$.content[0].title"),
        ] {
            assert_eq!(difference(&one, &other).map(|found| found.0).as_deref(), Some(path), "{one} {other}");
        }
    }
}
