//! Whether a schema leads to itself before it looks at any part of a value, or to others for too long: the validator follows
//! each on the stack, and thousands leave none. Nobody means anything by such a schema.

use std::collections::HashMap;

use serde_json::Value;

/// How many schemas may apply to one value, each led to by the one before.
const FAR: usize = 64;

/// Whether the schemas in `root` are to be left alone.
pub(crate) fn goes_in_circles(root: &Value) -> bool {
    let mut heights = HashMap::new();
    let mut schemas = vec![root];
    while let Some(schema) = schemas.pop() {
        if height(schema, root, FAR, &mut heights).is_none() {
            return true;
        }
        match schema {
            Value::Object(members) => schemas.extend(members.values()),
            Value::Array(items) => schemas.extend(items),
            _ => {}
        }
    }
    false
}

/// How many schemas apply to the value that `schema` applies to, one below the other; `None` where they are too many.
fn height(schema: &Value, root: &Value, room: usize, heights: &mut HashMap<*const Value, usize>) -> Option<usize> {
    let Value::Object(members) = schema else { return Some(0) };
    let place = std::ptr::from_ref(schema);
    if let Some(known) = heights.get(&place) {
        return (*known <= room).then_some(*known);
    }
    let below = room.checked_sub(1)?;
    let mut highest = 0;
    for (name, value) in members {
        let applied: Vec<&Value> = match (name.as_str(), value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                // What is named otherwise may be anything, the whole included.
                vec![reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer)).unwrap_or(root)]
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(ways)) => ways.iter().collect(),
            ("dependentSchemas" | "dependencies", Value::Object(each)) => each.values().collect(),
            ("not" | "if" | "then" | "else", one) => vec![one],
            _ => continue,
        };
        for one in applied {
            highest = highest.max(1 + height(one, root, below, heights)?);
        }
    }
    heights.insert(place, highest);
    Some(highest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn circles_are_told_from_trees() {
        let chain = |length: usize| {
            let all = (0..length).map(|n| (n.to_string(), json!({ "$ref": format!("#/$defs/{}", n + 1) })));
            let all = all.chain([(length.to_string(), json!({ "type": "object" }))]);
            json!({ "$defs": all.collect::<serde_json::Map<_, _>>(), "$ref": "#/$defs/0" })
        };
        for circle in [
            json!({ "$ref": "#" }),
            json!({ "anyOf": [{ "type": "null" }, { "$ref": "#" }] }),
            json!({ "properties": { "x": { "$ref": "#/$defs/a" } }, "$defs": { "a": { "not": { "$ref": "#/$defs/a" } } } }),
            json!({ "if": { "$dynamicRef": "#me" } }),
            chain(10_000),
        ] {
            assert!(goes_in_circles(&circle));
        }
        for tree in [
            json!({ "properties": { "child": { "$ref": "#" }, "more": { "items": { "allOf": [{ "$ref": "#" }] } } } }),
            json!({ "anyOf": vec![json!({ "$ref": "#/$defs/a" }); 40], "$defs": { "a": { "type": "null" } } }),
            chain(20),
        ] {
            assert!(!goes_in_circles(&tree), "{tree}");
        }
    }
}
