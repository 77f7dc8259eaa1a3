//! Arguments that a schema plainly refuses, without a validator.

use serde_json::{Map, Value, json};

use crate::plain::required;
use crate::rng::Rng;
use crate::sample::{Style, object};

/// How far references are followed.
const DEPTH: usize = 8;

/// A smallest object with one member of another type than the schema says, a required one if there is any. `None` where no
/// member has a type.
pub fn refused(schema: &Value, rng: &Rng) -> Option<Map<String, Value>> {
    let wrong = |property: &Value| of_another_type(property.get("type")?.as_str()?);
    changed(schema, schema, rng, wrong)
}

/// A smallest object in which one member of another object, at any depth, is of another type than the schema says. `None`
/// where no object in it has members with a type.
pub fn refused_within(schema: &Value, rng: &Rng) -> Option<Map<String, Value>> {
    within(schema, schema, rng, DEPTH)
}

fn within(schema: &Value, root: &Value, rng: &Rng, depth: usize) -> Option<Map<String, Value>> {
    let depth = depth.checked_sub(1)?;
    changed(schema, root, rng, |property| {
        let wrong = |inner: &Value| of_another_type(inner.get("type")?.as_str()?);
        let inner = || changed(property, root, rng, wrong).or_else(|| within(property, root, rng, depth));
        (property.get("type")? == "object").then(inner)?.map(Value::Object)
    })
}

/// A smallest object with the first member, required ones first, for which `change` has another value.
fn changed(
    schema: &Value,
    root: &Value,
    rng: &Rng,
    change: impl Fn(&Value) -> Option<Value>,
) -> Option<Map<String, Value>> {
    // What is next to a reference counts in some drafts and not in others.
    let properties = schema.get("properties").filter(|_| schema.get("$ref").is_none())?.as_object()?;
    let wrong = |name: &str| {
        let property = resolve(properties.get(name)?, root, DEPTH)?;
        // Of another type it could not be mirrored into its header, and would be refused for that.
        if property.get("x-mcp-header").is_some() {
            return None;
        }
        Some((name.to_owned(), change(property)?))
    };
    let names = required(schema).chain(properties.keys().map(String::as_str));
    let (name, value) = names.into_iter().find_map(wrong)?;
    let mut arguments = object(schema, Style::Smallest, rng).unwrap_or_default();
    arguments.insert(name, value);
    Some(arguments)
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

/// Follows local references.
fn resolve<'s>(schema: &'s Value, root: &'s Value, depth: usize) -> Option<&'s Value> {
    match schema.get("$ref").and_then(Value::as_str) {
        None => Some(schema),
        Some(_) if depth == 0 => None,
        Some(reference) => resolve(root.pointer(reference.strip_prefix('#')?)?, root, depth - 1),
    }
}
