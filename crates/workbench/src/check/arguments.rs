//! Arguments for a stranger's tool, made from its schema: the smallest value that the schema admits, and values that it
//! does not.
//!
//! Only what JSON Schema says plainly is used; where a schema is too clever to be met by construction, there are no
//! arguments and the tool is not called.

use serde_json::{Map, Value, json};

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

/// Keywords that constrain nothing, so that they may stand beside alternatives.
const REMARKS: &[&str] =
    &["title", "description", "default", "examples", "deprecated", "$schema", "$defs", "definitions"];

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

fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => Some(one),
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).find(|t| *t != "null"),
        None if schema.get("properties").is_some() => Some("object"),
        None if schema.as_object().is_some_and(|all| all.keys().all(|key| REMARKS.contains(&key.as_str()))) => {
            Some("string")
        }
        _ => None,
    }
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

/// The first of some likely values that fits.
fn scalar(schema: &Value) -> Option<Value> {
    let mut likely: Vec<Value> =
        schema.get("examples").and_then(Value::as_array).into_iter().flatten().cloned().collect();
    match type_of(schema)? {
        "string" => likely.extend(texts(schema)),
        "integer" | "number" => likely.extend(numbers(schema)),
        "boolean" => likely.push(json!(false)),
        _ => {}
    }
    likely.into_iter().find(|value| is_scalar(value) && fits(value, schema))
}

const fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Object(_) | Value::Array(_))
}

fn texts(schema: &Value) -> Vec<Value> {
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(4096) as usize;
    let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(4096).min(4096) as usize;
    let of_format = match schema.get("format").and_then(Value::as_str).unwrap_or_default() {
        "uri" | "uri-reference" | "url" | "iri" | "iri-reference" | "uri-template" => "https://example.com/",
        "email" | "idn-email" => "proof@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "127.0.0.1",
        "ipv6" => "::1",
        "date" => "2025-01-31",
        "date-time" => "2025-01-31T12:00:00Z",
        "time" => "12:00:00Z",
        "duration" => "PT1S",
        "uuid" => "7d444840-9dc0-11d1-b245-5ffdce74fad2",
        "json-pointer" => "/proof",
        "relative-json-pointer" => "0",
        // Whatever else stands there is a remark.
        _ => {
            let text = if schema.get("contentEncoding").is_some() { "cHJvb2Y=" } else { "proof" };
            let cut = text.chars().cycle().take(most.min(least.max(text.len())));
            return vec![json!(text), json!(cut.collect::<String>())];
        }
    };
    vec![json!(of_format)]
}

fn numbers(schema: &Value) -> Vec<Value> {
    let bound = |names: [&'static str; 2]| names.into_iter().filter_map(move |name| schema.get(name)?.as_f64());
    let least = bound(["minimum", "exclusiveMinimum"]).reduce(f64::max);
    let most = bound(["maximum", "exclusiveMaximum"]).reduce(f64::min);
    let step = schema.get("multipleOf").and_then(Value::as_f64).filter(|step| *step > 0.0);
    let mut likely = vec![1.0, 0.0];
    likely.extend(least.into_iter().flat_map(|least| [least, least.ceil(), least + 1.0, least.floor() + 1.0]));
    likely.extend(most.into_iter().flat_map(|most| [most, most.floor(), most - 1.0, most.ceil() - 1.0]));
    likely.extend(least.zip(most).map(|(least, most)| f64::midpoint(least, most)));
    likely.extend(step.map(|step| (least.unwrap_or(step) / step).ceil() * step));
    likely.extend(step.map(|step| ((least.unwrap_or(0.0) / step).floor() + 1.0) * step));
    likely.into_iter().map(|n| if n.fract() == 0.0 && n.abs() < 9e15 { json!(n as i64) } else { json!(n) }).collect()
}

/// Whether a scalar is of the schema's type and within its bounds.
fn fits(value: &Value, schema: &Value) -> bool {
    let of = |name: &str| schema.get(name).and_then(Value::as_f64);
    match value {
        Value::Null => {
            schema.get("type").is_none_or(|t| t == "null" || t.as_array().is_some_and(|t| t.contains(&json!("null"))))
        }
        Value::Bool(_) => matches!(type_of(schema), Some("boolean")),
        Value::String(text) => {
            let length = text.chars().count() as f64;
            let within = of("minLength").is_none_or(|b| length >= b) && of("maxLength").is_none_or(|b| length <= b);
            type_of(schema) == Some("string") && within && schema.get("pattern").is_none()
        }
        Value::Number(number) => number.as_f64().is_some_and(|n| {
            let whole = type_of(schema) == Some("number") || (type_of(schema) == Some("integer") && n.fract() == 0.0);
            whole
                && of("minimum").is_none_or(|b| n >= b)
                && of("maximum").is_none_or(|b| n <= b)
                && of("exclusiveMinimum").is_none_or(|b| n > b)
                && of("exclusiveMaximum").is_none_or(|b| n < b)
                && of("multipleOf").is_none_or(|step| (n / step).fract() == 0.0)
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
