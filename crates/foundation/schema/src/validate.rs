//! What a stranger's JSON Schema may ask of a validator.

use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::Value;

/// How large a schema may be, in bytes and in depth, before it is not used to validate.
const BYTES: usize = 256 << 10;
const DEPTH: usize = 64;
/// How many schemas may apply to one value, each led to by the one before.
const FAR: usize = 64;

/// A validator, or why there is none. Nothing is fetched: a schema that refers to the network has none.
pub fn validator(schema: &Value) -> Result<Validator, String> {
    if schema.to_string().len() > BYTES || depth(schema, DEPTH) == 0 {
        return Err("it is too large to be read".to_owned());
    }
    if goes_in_circles(schema) {
        return Err("its schemas lead to themselves, or from one to another too often".to_owned());
    }
    jsonschema::validator_for(schema).map_err(|error| error.to_string())
}

/// Whether `value` is what `schema` admits. One that cannot be read admits nothing.
pub fn fits(schema: &Value, value: &Value) -> bool {
    validator(schema).is_ok_and(|validator| validator.is_valid(value))
}

/// What is left of `room` levels below the deepest value; 0 where it is deeper.
fn depth(value: &Value, room: usize) -> usize {
    if room == 0 {
        return 0;
    }
    match value {
        Value::Array(items) => items.iter().map(|item| depth(item, room - 1)).min().unwrap_or(room),
        Value::Object(members) => members.values().map(|member| depth(member, room - 1)).min().unwrap_or(room),
        _ => room,
    }
}

/// Whether a schema in `root` leads to itself before it looks at any part of a value, or to others for too long: a validator
/// follows each on the stack, and thousands leave none. Nobody means anything by such a schema.
pub fn goes_in_circles(root: &Value) -> bool {
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
    fn no_reference_leads_to_the_network() {
        let schema = json!({ "type": "object", "properties": { "a": { "$ref": "http://127.0.0.1:9/schema.json" } } });
        assert!(validator(&schema).is_err());
        assert!(!fits(&schema, &json!({ "a": 1 })));
    }

    #[test]
    fn a_schema_too_deep_is_not_read() {
        let deep = (0..100).fold(json!({}), |schema, _| json!({ "not": schema }));
        assert!(validator(&deep).is_err());
    }

    #[test]
    fn no_schema_takes_the_whole_stack() {
        let steps = (0..5000).map(|n| (n.to_string(), json!({ "$ref": format!("#/$defs/{}", n + 1) })));
        let long = json!({ "$defs": steps.collect::<serde_json::Map<_, _>>(), "$ref": "#/$defs/0" });
        assert!(validator(&long).is_err());
        assert!(validator(&json!({ "not": { "$ref": "#" } })).is_err());
        assert!(validator(&json!({ "properties": { "child": { "$ref": "#" } } })).is_ok());
    }

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
