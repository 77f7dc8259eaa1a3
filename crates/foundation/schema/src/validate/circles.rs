//! Whether a schema refers to itself without end. A validator follows references on the stack: an endless one overflows it.

use std::collections::HashMap;

use serde_json::Value;

/// How many schemas may apply to one value, each led to by the one before.
const FAR: usize = 64;

/// Whether a schema in `root` leads to itself before it looks at any part of a value, or to others for too long.
pub(super) fn goes_in_circles(root: &Value) -> bool {
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
        for one in in_place(name, value, root) {
            highest = highest.max(1 + height(one, root, below, heights)?);
        }
    }
    heights.insert(place, highest);
    Some(highest)
}

/// The schemas that a keyword applies to the same value.
pub(super) fn in_place<'s>(name: &str, value: &'s Value, root: &'s Value) -> Vec<&'s Value> {
    match (name, value) {
        ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
            // A reference by another name may lead anywhere, so to the whole.
            vec![reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer)).unwrap_or(root)]
        }
        ("allOf" | "anyOf" | "oneOf", Value::Array(ways)) => ways.iter().collect(),
        ("dependentSchemas" | "dependencies", Value::Object(each)) => each.values().collect(),
        ("not" | "if" | "then" | "else", one) => vec![one],
        _ => Vec::new(),
    }
}
