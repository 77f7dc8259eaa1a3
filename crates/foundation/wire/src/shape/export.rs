//! The description of one revision as a JSON Schema (2020-12) document.
//!
//! It writes what [`describe`](super::describe) says and nothing of its own; it must not know the validator.

use super::describe::{Alternative, Definition, Field, Shape};
use super::{Extension, areas};
use crate::revision::Revision;
use serde_json::{Map, Value, json};

pub(super) fn json_schema(revision: Revision) -> Value {
    document(&format!("Model Context Protocol {revision}"), core(revision).collect())
}

/// The extension's definitions beside the core's, which they refer to.
pub(super) fn extension_schema(extension: Extension) -> Value {
    let revision = extension.revision();
    let own = areas::of(extension).iter().map(|d| (extension.local(d.name).to_owned(), described(d, revision)));
    document(extension.id(), core(revision).chain(own).collect())
}

fn core(revision: Revision) -> impl Iterator<Item = (String, Value)> {
    areas::all().filter(move |d| d.named.contains(revision)).map(move |d| (d.name.to_owned(), described(d, revision)))
}

fn described(definition: &Definition, revision: Revision) -> Value {
    let mut schema = Map::from_iter([("description".to_owned(), json!(definition.doc))]);
    schema.extend(schema_of(&definition.shape, revision));
    Value::Object(schema)
}

fn document(title: &str, definitions: Map<String, Value>) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "$defs": definitions,
    })
}

fn value_of(shape: &Shape, revision: Revision) -> Value {
    Value::Object(schema_of(shape, revision))
}

fn schema_of(shape: &Shape, revision: Revision) -> Map<String, Value> {
    let schema = match *shape {
        Shape::Any => json!({}),
        Shape::Text { format: None } => json!({ "type": "string" }),
        Shape::Text { format: Some(format) } => json!({ "type": "string", "format": format }),
        Shape::Integer { least, most } => integer(least, most),
        Shape::Number { within: None } => json!({ "type": "number" }),
        Shape::Number { within: Some((low, high)) } => json!({ "type": "number", "minimum": low, "maximum": high }),
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::Null => json!({ "type": "null" }),
        Shape::Exactly(word) => json!({ "type": "string", "const": word }),
        Shape::Words(words) => json!({ "type": "string", "enum": words }),
        Shape::Code(code) => json!({ "type": "integer", "const": code }),
        Shape::List { of, most: None } => json!({ "type": "array", "items": value_of(of, revision) }),
        Shape::List { of, most: Some(most) } => {
            json!({ "type": "array", "items": value_of(of, revision), "maxItems": most })
        }
        Shape::Map(of) => json!({ "type": "object", "additionalProperties": value_of(of, revision) }),
        Shape::Object(groups) => object(groups, revision),
        Shape::Named(name) => return reference(name, revision),
        Shape::Either(alternatives) => return union(alternatives, revision),
        Shape::Both(parts) => json!({ "allOf": parts.iter().map(|p| value_of(p, revision)).collect::<Vec<_>>() }),
    };
    match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn integer(least: Option<i64>, most: Option<i64>) -> Value {
    let mut schema = json!({ "type": "integer" });
    for (bound, value) in [("minimum", least), ("maximum", most)] {
        if let Some(value) = value {
            schema[bound] = json!(value);
        }
    }
    schema
}

fn object(groups: &[&[Field]], revision: Revision) -> Value {
    let fields = || groups.iter().copied().flatten().filter(|f| f.present.contains(revision));
    let properties: Map<String, Value> = fields().map(|f| (f.name.to_owned(), value_of(&f.shape, revision))).collect();
    let required: Vec<&str> = fields().filter(|f| f.is_required(revision)).map(|f| f.name).collect();
    let mut schema = Map::from_iter([("type".to_owned(), json!("object"))]);
    if !properties.is_empty() {
        schema.insert("properties".to_owned(), Value::Object(properties));
    }
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    Value::Object(schema)
}

/// A `$ref` where the revision has the name, else the shape itself.
fn reference(name: &str, revision: Revision) -> Map<String, Value> {
    let definition = areas::known(name);
    if definition.named.contains(revision) {
        return Map::from_iter([("$ref".to_owned(), json!(format!("#/$defs/{name}")))]);
    }
    schema_of(&definition.shape, revision)
}

/// `anyOf`, or the alternative itself where the revision leaves only one.
fn union(alternatives: &[Alternative], revision: Revision) -> Map<String, Value> {
    let live: Vec<&Shape> = alternatives.iter().filter(|a| a.present.contains(revision)).map(|a| &a.shape).collect();
    if let [only] = live.as_slice() {
        return schema_of(only, revision);
    }
    let schemas: Vec<Value> = live.into_iter().map(|s| value_of(s, revision)).collect();
    Map::from_iter([("anyOf".to_owned(), json!(schemas))])
}
