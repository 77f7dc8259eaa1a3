//! Arguments for a stranger's tool, made from its schema: the smallest value that the schema admits or, with dice, one of
//! many; and values that it does not admit.
//!
//! Only what JSON Schema says plainly is used; where a schema is too clever to be met by construction, there are no
//! arguments and the tool is not called.

mod scalars;

use serde_json::{Map, Value, json};

use crate::dice::Dice;
pub(crate) use scalars::of_format;
use scalars::{REMARKS, fits, is_scalar, scalar, type_of};

/// How deep a schema is followed.
const DEPTH: usize = 8;
/// How many schemas are looked at for one value: one that names itself, and often, has no end of them.
const STEPS: usize = 4000;

/// How many items an array gets at most beyond those it must have, where they are drawn.
const MORE_ITEMS: u64 = 2;

/// Arguments that the tool's `inputSchema` admits: required members only. `None` where we cannot make them.
pub fn example(schema: &Value, dice: &mut Dice) -> Option<Map<String, Value>> {
    match (Maker { root: schema, dice, steps: STEPS }).value(schema, DEPTH)? {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// Arguments that the schema plainly refuses: a member of a known type given another type, a required one if there is
/// any. `None` where nothing has a type.
pub fn refused(schema: &Value, dice: &mut Dice) -> Option<Map<String, Value>> {
    // What stands beside a reference counts in some drafts and not in others.
    let properties = schema.get("properties").filter(|_| schema.get("$ref").is_none())?.as_object()?;
    let wrong = |name: &str| {
        let property = resolve(properties.get(name)?, schema, DEPTH)?;
        Some((name.to_owned(), of_another_type(property.get("type")?.as_str()?)?))
    };
    let names = required(schema).chain(properties.keys().map(String::as_str));
    let (name, value) = names.into_iter().find_map(wrong)?;
    let mut arguments = example(schema, dice).unwrap_or_default();
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

/// What makes one set of arguments.
struct Maker<'m> {
    root: &'m Value,
    dice: &'m mut Dice,
    /// How many schemas may still be looked at.
    steps: usize,
}

impl Maker<'_> {
    fn value(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        self.steps = self.steps.checked_sub(1).filter(|_| depth > 0)?;
        let root = self.root;
        let schema = resolve(schema, root, depth)?;
        if schema == &Value::Bool(true) {
            return Some(json!("proof"));
        }
        if let Some(only) = schema.get("const") {
            return Some(only.clone());
        }
        if let Some(members) = schema.get("enum") {
            return self.member(members.as_array()?, schema);
        }
        let default = schema.get("default").filter(|default| is_scalar(default) && fits(default, schema));
        if let Some(default) = default.filter(|_| !self.dice.strays()) {
            return Some(default.clone());
        }
        if CLEVER.iter().any(|keyword| schema.get(keyword).is_some()) {
            return default.cloned();
        }
        for choice in ["anyOf", "oneOf", "allOf"] {
            if let Some(schemas) = schema.get(choice).and_then(Value::as_array) {
                return self.chosen(choice, schema, schemas, depth - 1).or_else(|| default.cloned());
            }
        }
        match type_of(schema)? {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "null" => Some(Value::Null),
            _ => scalar(schema, self.dice),
        }
    }

    /// A member of an enumeration. One that the schema refuses for another reason is never drawn.
    fn member(&mut self, members: &[Value], schema: &Value) -> Option<Value> {
        let bound = schema.get("type").is_some();
        let free: Vec<_> = members.iter().filter(|m| !bound || (is_scalar(m) && fits(m, schema))).collect();
        if self.dice.is_plain() || free.is_empty() {
            return members.first().cloned();
        }
        free.get(self.dice.place(free.len())).copied().cloned()
    }

    /// A value for one of several schemas, or for all of them where there is but one.
    fn chosen(&mut self, choice: &str, schema: &Value, schemas: &[Value], depth: usize) -> Option<Value> {
        let mut beside = schema.as_object()?.keys().filter(|key| *key != choice);
        let apart = match choice {
            "anyOf" => true,
            "oneOf" => are_apart(schemas, self.root),
            _ => schemas.len() == 1,
        };
        if !apart || !beside.all(|key| REMARKS.contains(&key.as_str())) {
            return None;
        }
        let (before, from) = schemas.split_at(self.dice.place(schemas.len()));
        from.iter().chain(before).find_map(|one| self.value(one, depth))
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        let mut members = Map::new();
        for name in required(schema) {
            let property = schema.get("properties").and_then(|p| p.get(name))?;
            members.insert(name.to_owned(), self.value(property, depth - 1)?);
        }
        Some(Value::Object(members))
    }

    fn array(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
        let least = bound("minItems").unwrap_or(0);
        let unique = schema.get("uniqueItems") == Some(&json!(true));
        if least > 4 || (least > 1 && unique) {
            return None;
        }
        let most = if unique { 1 } else { least + MORE_ITEMS }.min(bound("maxItems").unwrap_or(u64::MAX));
        let more = self.dice.below(most.saturating_sub(least) + 1);
        let mut items = Vec::new();
        for number in 0..least + more {
            match schema.get("items").map_or_else(|| Some(json!("proof")), |one| self.value(one, depth - 1)) {
                Some(item) => items.push(item),
                // Fewer will do.
                None if number >= least => break,
                None => return None,
            }
        }
        Some(Value::Array(items))
    }
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

#[cfg(test)]
mod tests;
