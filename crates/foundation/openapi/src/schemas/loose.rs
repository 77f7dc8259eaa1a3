//! A schema of answers that real answers fit: clients refuse what does not, and APIs send what they do not describe.

use serde_json::{Map, Value, json};

use super::shrink::for_parts;

/// What says which values are refused, besides types.
const STRICT: [&str; 22] = [
    "required",
    "enum",
    "const",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "uniqueItems",
    "dependentRequired",
    "not",
    "default",
    "examples",
    "patternProperties",
];

/// The same schema for a model to read: names, types and prose stay; nothing is required, everything may be null.
/// `None` where it describes no object: structured content is one.
pub(crate) fn loosened(schema: &Value) -> Option<Value> {
    let kind = schema.get("type").and_then(Value::as_str);
    let is_object = kind == Some("object") || (kind.is_none() && schema.get("properties").is_some());
    if !is_object {
        return None;
    }
    let mut schema = schema.clone();
    loosen(&mut schema);
    schema.as_object_mut()?.insert("type".to_owned(), json!("object"));
    prune(&mut schema);
    Some(schema)
}

/// Drops the definitions that nothing refers to any more.
fn prune(schema: &mut Value) {
    let Some(Value::Object(mut definitions)) = schema.as_object_mut().and_then(|members| members.remove("$defs"))
    else {
        return;
    };
    let mut kept = Map::new();
    let mut open = Vec::new();
    references(schema, &mut open);
    while let Some(name) = open.pop() {
        if let Some(definition) = definitions.remove(&name) {
            references(&definition, &mut open);
            kept.insert(name, definition);
        }
    }
    if let Some(members) = schema.as_object_mut().filter(|_| !kept.is_empty()) {
        kept.sort_keys();
        members.insert("$defs".to_owned(), Value::Object(kept));
    }
}

fn references(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            let name = members.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix("#/$defs/"));
            names.extend(name.map(str::to_owned));
            members.values().for_each(|member| references(member, names));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        _ => {}
    }
}

fn loosen(schema: &mut Value) {
    if let Value::Bool(_) = schema {
        *schema = json!({});
    }
    if let Value::Object(members) = schema {
        members.retain(|name, value| match name.as_str() {
            "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems" => value.is_object(),
            // Which variant an answer is of is not known; that it is one of them is not demanded.
            "oneOf" | "if" | "then" | "else" | "contains" | "propertyNames" => false,
            name => !STRICT.contains(&name),
        });
        let kinds = match members.get("type") {
            Some(Value::String(kind)) if kind != "null" => Some(json!([numeric(kind), "null"])),
            Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "null") => {
                Some(kinds.iter().cloned().chain([json!("null")]).collect())
            }
            _ => None,
        };
        if let Some(kinds) = kinds {
            members.insert("type".to_owned(), kinds);
        }
        // A combination of variants that each allow null and anything more says little, and may contradict itself.
        members.remove("anyOf");
    }
    for_parts(schema, &mut loosen);
}

/// Whole numbers are often not.
fn numeric(kind: &str) -> &str {
    if kind == "integer" { "number" } else { kind }
}
