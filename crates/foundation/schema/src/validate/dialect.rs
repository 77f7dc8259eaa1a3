//! Which dialect a schema is compiled as. Compiling the first schema of JSON Schema 2020-12 also compiles that dialect's own
//! schema, eight documents with dynamic references: 3 ms, most of a server's start. Draft 7's own is one document.

use jsonschema::Draft;
use serde_json::Value;

/// The dialect to name to the validator: `None` where the schema itself decides.
pub(super) fn dialect(schema: &Value) -> Option<Draft> {
    means_the_same_in_draft_7(schema).then_some(Draft::Draft7)
}

/// Whether a schema uses only keywords that Draft 7 and 2020-12 define alike. Not among them, because the drafts differ:
/// `$ref` (it hides its neighbours in Draft 7), lists of `items`, `format` (asserted by default in Draft 7).
fn means_the_same_in_draft_7(schema: &Value) -> bool {
    let Value::Object(members) = schema else { return schema.is_boolean() };
    members.iter().all(|(keyword, rule)| match keyword.as_str() {
        "type" | "enum" | "const" | "required" | "title" | "description" | "default" | "examples" | "minimum"
        | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "minLength" | "maxLength"
        | "minItems" | "maxItems" | "uniqueItems" | "minProperties" | "maxProperties" | "pattern" => true,
        "properties" | "patternProperties" => {
            rule.as_object().is_some_and(|all| all.values().all(means_the_same_in_draft_7))
        }
        "items" | "additionalProperties" | "not" => means_the_same_in_draft_7(rule),
        "anyOf" | "oneOf" | "allOf" => rule.as_array().is_some_and(|all| all.iter().all(means_the_same_in_draft_7)),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::means_the_same_in_draft_7;

    #[test]
    fn only_schemas_without_what_the_drafts_define_differently_are_compiled_as_draft_7() {
        for schema in [
            json!(true),
            json!({ "type": "object", "properties": { "$ref": { "type": "string" } }, "required": ["a"] }),
            json!({ "anyOf": [{ "type": "array", "items": { "const": { "$ref": "#" } } }, { "not": false }] }),
        ] {
            assert!(means_the_same_in_draft_7(&schema), "{schema}");
        }
        for schema in [
            json!({ "$schema": "http://json-schema.org/draft-04/schema#" }),
            json!({ "properties": { "when": { "format": "date" } } }),
            json!({ "allOf": [{ "$ref": "#" }] }),
            json!({ "items": [{ "type": "string" }] }),
            json!({ "prefixItems": [] }),
            json!({ "dependentRequired": {} }),
            json!({ "unevaluatedProperties": false }),
            json!({ "definitions": {} }),
            json!(7),
        ] {
            assert!(!means_the_same_in_draft_7(&schema), "{schema}");
        }
    }
}
