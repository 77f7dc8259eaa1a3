//! Members whose names are nearly those that a shape has: `next_cursor` for `nextCursor`. Whether that matters is not decided
//! here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::describe::Shape;
use super::{areas, union};
use crate::pointer;
use crate::revision::Revision;

/// A member that a shape does not have, but for its spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misspelt {
    /// Where in the value it is, as an RFC 6901 JSON pointer.
    pub pointer: String,
    /// How the shape spells it.
    pub known: &'static str,
}

/// Objects by pointer, with the names that any shape of them has.
type Objects<'v> = BTreeMap<String, (&'v Map<String, Value>, BTreeSet<&'static str>)>;

/// Every such member. Where a value may be one of several, a name of any of them is right; where names are free, all are.
pub(super) fn misspelt(shape: &'static Shape, revision: Revision, value: &Value) -> Vec<Misspelt> {
    let (mut objects, mut free) = (Objects::new(), BTreeSet::new());
    walk(shape, revision, (value, ""), &mut objects, &mut free);
    objects.retain(|at, _| !free.contains(at));
    let found = objects.into_iter().flat_map(|(at, (members, known))| {
        let odd = move |(name, value): (&String, &Value)| {
            let known = nearly(name, &known).filter(|known| !value.is_null() && !members.contains_key(*known))?;
            Some(Misspelt { pointer: format!("{at}/{}", pointer::escape(name)), known })
        };
        members.iter().filter_map(odd).collect::<Vec<_>>()
    });
    found.collect()
}

/// Whether two names differ in nothing but letter case, underscores and hyphens. A leading underscore is not one of these.
pub fn are_alike(one: &str, other: &str) -> bool {
    let plain = |name: &str| -> String {
        let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
        let rest = rest.chars().filter(|c| !matches!(c, '_' | '-'));
        first.chars().chain(rest).flat_map(char::to_lowercase).collect()
    };
    plain(one) == plain(other)
}

fn nearly(name: &str, known: &BTreeSet<&'static str>) -> Option<&'static str> {
    let is_known = known.contains(name);
    known.iter().copied().find(|known| !is_known && are_alike(name, known))
}

fn walk<'v>(
    shape: &'static Shape,
    revision: Revision,
    (value, at): (&'v Value, &str),
    objects: &mut Objects<'v>,
    free: &mut BTreeSet<String>,
) {
    match (shape, value) {
        (Shape::Named(name), _) => walk(&areas::known(name).shape, revision, (value, at), objects, free),
        (Shape::Both(parts), _) => parts.iter().for_each(|part| walk(part, revision, (value, at), objects, free)),
        (Shape::Either(alternatives), _) => {
            for one in union::live(alternatives, revision) {
                walk(one, revision, (value, at), objects, free);
            }
        }
        (Shape::Any | Shape::Map(_), Value::Object(members)) => {
            free.insert(at.to_owned());
            if let Shape::Map(of) = shape {
                for (name, member) in members {
                    walk(of, revision, (member, &format!("{at}/{}", pointer::escape(name))), objects, free);
                }
            }
        }
        (Shape::List { of, .. }, Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                walk(of, revision, (item, &format!("{at}/{index}")), objects, free);
            }
        }
        (Shape::Object(groups), Value::Object(members)) => {
            let fields = || groups.iter().copied().flatten().filter(|field| field.present.contains(revision));
            let known = objects.entry(at.to_owned()).or_insert_with(|| (members, BTreeSet::new()));
            known.1.extend(fields().map(|field| field.name));
            for field in fields() {
                if let Some(member) = members.get(field.name) {
                    let at = format!("{at}/{}", pointer::escape(field.name));
                    walk(&field.shape, revision, (member, &at), objects, free);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Misspelt, are_alike};
    use crate::revision::{R2025_06_18, R2025_11_25, R2026_07_28};
    use crate::shape::misspelt;

    #[test]
    fn members_spelt_otherwise_are_found_at_every_depth() {
        let tool =
            json!({ "name": "a", "inputSchema": { "type": "object" }, "annotations": { "read_only_hint": true } });
        let page = json!({ "tools": [tool], "next_cursor": "2" });
        let found = misspelt("ListToolsResult", R2025_11_25, &page).expect("a definition");
        let expected = [("/next_cursor", "nextCursor"), ("/tools/0/annotations/read_only_hint", "readOnlyHint")];
        let expected = expected.map(|(pointer, known)| Misspelt { pointer: pointer.to_owned(), known });
        assert_eq!(found, expected);
    }

    #[test]
    fn free_names_other_names_and_twins_are_left_alone() {
        let result = json!({
            "content": [{ "type": "text", "text": "x", "meta": {} }],
            "structuredContent": { "is_error": true, "iserror": 1 },
            "isError": false,
            "is_error": false,
            "structured_content": null,
            "_meta": { "progress_token": 1 },
        });
        for revision in [R2025_06_18, R2025_11_25, R2026_07_28] {
            assert_eq!(misspelt("CallToolResult", revision, &result), Some(Vec::new()), "{revision}");
        }
    }

    #[test]
    fn a_leading_underscore_tells_names_apart() {
        assert!(are_alike("nextCursor", "next_cursor") && are_alike("list-changed", "listChanged"));
        assert!(!are_alike("_meta", "meta") && !are_alike("", "a"));
    }
}
