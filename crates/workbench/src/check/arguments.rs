//! Arguments for a stranger's tool, made from its schema: the smallest value that the schema admits, and values that it
//! does not.
//!
//! Only what JSON Schema says plainly is used; where a schema is too clever to be met by construction, there are no
//! arguments and the tool is not called.

mod scalars;

use serde_json::{Map, Value, json};

use scalars::{REMARKS, fits, is_scalar, scalar, type_of};

/// How deep a schema is followed.
const DEPTH: usize = 8;

/// Arguments that the tool's `inputSchema` admits: required members only. `None` where we cannot make them.
pub fn example(schema: &Value) -> Option<Map<String, Value>> {
    match value(schema, schema, DEPTH)? {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// Arguments that the schema plainly refuses: a member of a known type given another type, a required one if there is
/// any. `None` where nothing has a type.
pub fn refused(schema: &Value) -> Option<Map<String, Value>> {
    // What stands beside a reference counts in some drafts and not in others.
    let properties = schema.get("properties").filter(|_| schema.get("$ref").is_none())?.as_object()?;
    let wrong = |name: &str| {
        let property = resolve(properties.get(name)?, schema, DEPTH)?;
        Some((name.to_owned(), of_another_type(property.get("type")?.as_str()?)?))
    };
    let names = required(schema).chain(properties.keys().map(String::as_str));
    let (name, value) = names.into_iter().find_map(wrong)?;
    let mut arguments = example(schema).unwrap_or_default();
    arguments.insert(name, value);
    Some(arguments)
}

/// Whether a scalar is plainly admitted by a property's schema.
pub fn admits(schema: &Value, value: &Value) -> bool {
    let plain =
        ["$ref", "anyOf", "oneOf", "allOf", "enum", "const"].iter().all(|keyword| schema.get(keyword).is_none());
    plain && CLEVER.iter().all(|keyword| schema.get(keyword).is_none()) && fits(value, schema)
}

/// A value of another type than `name`, which no reading of texts makes one of it.
fn of_another_type(name: &str) -> Option<Value> {
    Some(match name {
        "string" => json!({ "not": "a string" }),
        "number" | "integer" => json!("not a number"),
        "boolean" => json!("not a boolean"),
        "array" | "object" => json!("neither array nor object"),
        _ => return None,
    })
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Follows local references.
fn resolve<'s>(schema: &'s Value, root: &'s Value, depth: usize) -> Option<&'s Value> {
    match schema.get("$ref").and_then(Value::as_str) {
        None => Some(schema),
        Some(_) if depth == 0 => None,
        Some(reference) => resolve(root.pointer(reference.strip_prefix('#')?)?, root, depth - 1),
    }
}

/// Keywords that are not met by construction.
const CLEVER: &[&str] = &[
    "if",
    "not",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "minProperties",
    "propertyNames",
    "patternProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "prefixItems",
    "pattern",
    "$dynamicRef",
];

fn value(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    if depth == 0 {
        return None;
    }
    let schema = resolve(schema, root, depth)?;
    if schema == &Value::Bool(true) {
        return Some(json!("proof"));
    }
    if let Some(only) = schema.get("const") {
        return Some(only.clone());
    }
    if let Some(first) = schema.get("enum") {
        return first.get(0).cloned();
    }
    if let Some(default) = schema.get("default").filter(|default| is_scalar(default) && fits(default, schema)) {
        return Some(default.clone());
    }
    if CLEVER.iter().any(|keyword| schema.get(keyword).is_some()) {
        return None;
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        if let Some(schemas) = schema.get(choice).and_then(Value::as_array) {
            return chosen(choice, schema, schemas, root, depth - 1);
        }
    }
    match type_of(schema)? {
        "object" => object(schema, root, depth),
        "array" => array(schema, root, depth),
        "null" => Some(Value::Null),
        _ => scalar(schema),
    }
}

/// A value for one of several schemas, or for all of them where there is but one.
fn chosen(choice: &str, schema: &Value, schemas: &[Value], root: &Value, depth: usize) -> Option<Value> {
    let mut beside = schema.as_object()?.keys().filter(|key| *key != choice);
    let apart = match choice {
        "anyOf" => true,
        "oneOf" => are_apart(schemas, root),
        _ => schemas.len() == 1,
    };
    let free = apart && beside.all(|key| REMARKS.contains(&key.as_str()));
    free.then(|| schemas.iter().find_map(|one| value(one, root, depth)))?
}

/// Whether a value of one of the schemas is surely none of another: their types differ, or all have a member of the same
/// name with a constant of its own.
fn are_apart(schemas: &[Value], root: &Value) -> bool {
    let schemas: Option<Vec<_>> = schemas.iter().map(|schema| resolve(schema, root, DEPTH)).collect();
    let Some(schemas) = schemas else { return false };
    let differ = |marks: Vec<Option<Value>>| {
        let mut seen: Vec<&Value> = Vec::new();
        marks.iter().all(|mark| {
            mark.as_ref().is_some_and(|mark| {
                !seen.contains(&mark) && {
                    seen.push(mark);
                    true
                }
            })
        })
    };
    let kind = |schema: &&Value| match schema.get("type")?.as_str()? {
        "integer" => Some(json!("number")),
        other => Some(json!(other)),
    };
    let constant = |schema: &Value, name: &str| {
        let property = schema.get("properties")?.get(name)?;
        let only = || property.get("enum")?.as_array().filter(|all| all.len() == 1)?.first();
        required(schema).any(|r| r == name).then(|| property.get("const").or_else(only))?.cloned()
    };
    let names = schemas.first().into_iter().flat_map(|schema| required(schema));
    differ(schemas.iter().map(kind).collect())
        || names.into_iter().any(|name| differ(schemas.iter().map(|schema| constant(schema, name)).collect()))
}

fn object(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    let mut members = Map::new();
    for name in required(schema) {
        let property = schema.get("properties").and_then(|p| p.get(name))?;
        members.insert(name.to_owned(), value(property, root, depth - 1)?);
    }
    Some(Value::Object(members))
}

fn array(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    if least > 4 || (least > 1 && schema.get("uniqueItems") == Some(&json!(true))) {
        return None;
    }
    let item = |_| schema.get("items").map_or_else(|| Some(json!("proof")), |items| value(items, root, depth - 1));
    (0..least).map(item).collect::<Option<Vec<_>>>().map(Value::Array)
}

#[cfg(test)]
mod tests;
