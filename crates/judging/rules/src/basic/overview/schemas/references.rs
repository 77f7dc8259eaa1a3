//! References within a schema: where they lead. It knows nothing of MCP.

use serde_json::Value;

/// The first reference into the schema itself that leads nowhere. Where a schema has names of its own (`$id`), a pointer may
/// start elsewhere, and nothing is said.
pub(super) fn dangling(schema: &Value) -> Option<String> {
    let mut references = Vec::new();
    let mut is_named = false;
    super::walk(schema, 0, &mut |object, _| {
        is_named |= object.get("$id").or_else(|| object.get("id")).is_some_and(Value::is_string);
        references.extend(object.get("$ref").and_then(Value::as_str));
    });
    let leads_nowhere = |reference: &&str| {
        let pointer = reference.strip_prefix('#').filter(|p| p.starts_with('/') && !p.contains('%'));
        pointer.is_some_and(|pointer| schema.pointer(pointer).is_none())
    };
    references.into_iter().find(leads_nowhere).filter(|_| !is_named).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::dangling;

    #[test]
    fn only_what_surely_leads_nowhere_is_found() {
        let to = |reference: &str| json!({ "properties": { "a": { "$ref": reference } }, "$defs": { "a/b": {} } });
        for good in ["#", "#/$defs/a~1b", "#/properties/a", "#name", "https://example.com/x", "#/$defs/a%2Fb"] {
            assert_eq!(dangling(&to(good)), None, "{good}");
        }
        assert_eq!(dangling(&to("#/$defs/none")).as_deref(), Some("#/$defs/none"));
        assert_eq!(dangling(&json!({ "$id": "x", "not": { "$ref": "#/none" } })), None);
    }
}
