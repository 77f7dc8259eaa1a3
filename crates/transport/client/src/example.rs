//! Values made from a schema where nobody gave any.

use schema::Rng;
use schema::sample::{Style, members, object};
use serde_json::{Map, Value};

/// The members that an object's schema requires, as a person would usually write them. Where the whole cannot be met, each as
/// well as it can be: the user may give the others.
pub fn example(schema: &Value) -> Map<String, Value> {
    let plain = Rng::plain();
    object(schema, Style::Typical, &plain).unwrap_or_else(|| members(schema, Style::Typical, &plain))
}

#[cfg(test)]
mod tests {
    use schema::fits;
    use serde_json::json;

    use super::example;

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
