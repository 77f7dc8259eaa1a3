//! Values made from a schema where nobody gave any: the plainest that it seems to admit.

use serde_json::{Map, Value, json};

/// How deep a schema is followed.
const DEPTH: usize = 6;

/// The members that an object's schema requires.
pub fn example(schema: &Value) -> Map<String, Value> {
    match value(schema, schema, DEPTH) {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// A value for one property.
pub(super) fn value(schema: &Value, root: &Value, depth: usize) -> Value {
    if let Some(given) = given(schema) {
        return given;
    }
    if let Some(target) = target(schema, root)
        && depth > 0
    {
        return value(target, root, depth - 1);
    }
    match kind(schema) {
        "string" => text(schema),
        "integer" | "number" => schema.get("minimum").filter(|least| least.is_number()).cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "array" => {
            let wanted = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(16);
            let item = schema.get("items").unwrap_or(&Value::Null);
            (0..if depth == 0 { 0 } else { wanted }).map(|_| value(item, root, depth - 1)).collect()
        }
        "null" => Value::Null,
        _ if depth == 0 => json!({}),
        _ => {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let member = |name: &Value| {
                let name = name.as_str()?;
                let property = schema.get("properties").and_then(|properties| properties.get(name));
                Some((name.to_owned(), value(property.unwrap_or(&Value::Null), root, depth - 1)))
            };
            Value::Object(required.filter_map(member).collect())
        }
    }
}

/// What the schema itself names.
fn given(schema: &Value) -> Option<Value> {
    let first = |name: &str| schema.get(name).and_then(Value::as_array).and_then(|values| values.first()).cloned();
    let titled = || first("oneOf").or_else(|| first("anyOf")).and_then(|choice| choice.get("const").cloned());
    schema.get("default").or_else(|| schema.get("const")).cloned().or_else(|| first("enum")).or_else(titled)
}

fn target<'s>(schema: &Value, root: &'s Value) -> Option<&'s Value> {
    root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or_default(),
        _ if schema.get("properties").is_some() => "object",
        _ => "string",
    }
}

fn text(schema: &Value) -> Value {
    let text = match schema.get("format").and_then(Value::as_str) {
        Some("email") => "ada@example.com",
        Some("uri") => "https://example.com/",
        Some("date") => "2026-07-28",
        Some("date-time") => "2026-07-28T12:00:00Z",
        _ => "text",
    };
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(1000) as usize;
    json!(format!("{text}{}", "x".repeat(least.saturating_sub(text.len()))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::example;
    use schema::fits;

    #[test]
    fn what_is_made_fits() {
        for schema in [
            json!({ "type": "object" }),
            json!({ "type": "object", "required": ["a", "b", "c", "d", "e", "f"], "properties": {
                "a": { "type": "integer", "minimum": 7 }, "b": { "type": "array", "items": { "type": "boolean" }, "minItems": 2 },
                "c": { "enum": ["x", "y"] }, "d": { "type": "string", "minLength": 9 },
                "e": { "$ref": "#/$defs/e" }, "f": { "type": "string", "oneOf": [{ "const": "p", "title": "P" }] } },
                "$defs": { "e": { "type": "object", "required": ["n"], "properties": { "n": { "type": "null" } } } } }),
        ] {
            let made = example(&schema).into();
            assert!(fits(&schema, &made), "{made} for {schema}");
        }
    }
}
