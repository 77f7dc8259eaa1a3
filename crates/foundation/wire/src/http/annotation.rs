//! `x-mcp-header` in a tool's input schema (2026-07-28, basic/transports/streamable-http#schema-extension): which
//! parameters are mirrored into headers, and what is wrong with an annotation at a wrong place.

use std::fmt;

use serde_json::{Map, Value};

use super::is_token;
use crate::pointer::escape;

const KEYWORD: &str = "x-mcp-header";

/// Keywords whose value is a schema, or an array of schemas.
const SCHEMAS: [&str; 18] = [
    "items",
    "additionalItems",
    "prefixItems",
    "contains",
    "unevaluatedItems",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "contentSchema",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "extends",
    "disallow",
];

/// Keywords whose value is an object of schemas.
const MAPS: [&str; 5] = ["patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// A parameter that is mirrored into a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// What follows `Mcp-Param-`.
    pub name: String,
    /// The property's path in the call's arguments.
    pub path: Vec<String>,
    /// Where the annotation is in the input schema: a JSON pointer.
    pub pointer: String,
}

/// What is wrong with an annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnnotationFault {
    /// Its value is not a string.
    NotString,
    /// Its value is the empty string.
    Empty,
    /// Its value is not a header name by RFC 9110; control characters are not either.
    NotToken,
    /// Another annotation, at this pointer, has the same value, letter case aside.
    Duplicate(String),
    /// The parameter is not an integer, a string or a boolean.
    NotPrimitive,
    /// It is not on a property that is reached through `properties` alone.
    NotReachable,
}

impl fmt::Display for AnnotationFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotString => "the header name is not a string",
            Self::Empty => "the header name is empty",
            Self::NotToken => "the header name holds a character that header names may not hold",
            Self::Duplicate(other) => return write!(f, "the header name is taken by {other}, letter case aside"),
            Self::NotPrimitive => "the parameter's type is not integer, string or boolean",
            Self::NotReachable => "the annotation is not on a property reached through `properties` alone",
        })
    }
}

/// All `x-mcp-header` annotations of an input schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// The valid ones, in the schema's order.
    pub valid: Vec<Annotation>,
    /// What is wrong with the others and where: a JSON pointer to the annotation. One annotation may have several faults.
    /// A client over HTTP must not use a tool that has any.
    pub faults: Vec<(String, AnnotationFault)>,
}

/// Reads the annotations of a tool's `inputSchema`.
pub fn annotations(input_schema: &Value) -> Annotations {
    let mut walk = Walk::default();
    walk.schema(input_schema, "", Some(Vec::new()));
    walk.found
}

#[derive(Default)]
struct Walk {
    found: Annotations,
    /// Every name so far, lower case, and its pointer.
    names: Vec<(String, String)>,
}

impl Walk {
    /// `path` is the chain of properties that leads here; `None` behind any other keyword.
    fn schema(&mut self, schema: &Value, pointer: &str, path: Option<Vec<String>>) {
        let Some(members) = schema.as_object() else { return };
        if let Some(name) = members.get(KEYWORD) {
            self.annotation(name, members, format!("{pointer}/{KEYWORD}"), path.as_deref());
        }
        for (keyword, value) in members {
            let pointer = format!("{pointer}/{}", escape(keyword));
            match value {
                Value::Object(properties) if keyword == "properties" => {
                    for (name, property) in properties {
                        let path = path.as_ref().map(|path| [&path[..], std::slice::from_ref(name)].concat());
                        self.schema(property, &format!("{pointer}/{}", escape(name)), path);
                    }
                }
                Value::Object(schemas) if MAPS.contains(&keyword.as_str()) => {
                    for (name, schema) in schemas {
                        self.schema(schema, &format!("{pointer}/{}", escape(name)), None);
                    }
                }
                Value::Array(schemas) if SCHEMAS.contains(&keyword.as_str()) => {
                    for (index, schema) in schemas.iter().enumerate() {
                        self.schema(schema, &format!("{pointer}/{index}"), None);
                    }
                }
                _ if SCHEMAS.contains(&keyword.as_str()) => self.schema(value, &pointer, None),
                // Anything else is data (`default`, `enum`, …): what looks like an annotation there is not one.
                _ => {}
            }
        }
    }

    fn annotation(&mut self, name: &Value, schema: &Map<String, Value>, pointer: String, path: Option<&[String]>) {
        let mut faults = Vec::new();
        let path = path.filter(|path| !path.is_empty());
        if path.is_none() {
            faults.push(AnnotationFault::NotReachable);
        }
        if !is_primitive(schema) {
            faults.push(AnnotationFault::NotPrimitive);
        }
        match name.as_str() {
            None => faults.push(AnnotationFault::NotString),
            Some("") => faults.push(AnnotationFault::Empty),
            Some(name) => {
                if !is_token(name) {
                    faults.push(AnnotationFault::NotToken);
                }
                let lower = name.to_ascii_lowercase();
                match self.names.iter().find(|(other, _)| *other == lower) {
                    Some((_, other)) => faults.push(AnnotationFault::Duplicate(other.clone())),
                    None => self.names.push((lower, pointer.clone())),
                }
            }
        }
        if let (true, Some(path), Some(name)) = (faults.is_empty(), path, name.as_str()) {
            self.found.valid.push(Annotation { name: name.to_owned(), path: path.to_vec(), pointer });
        } else {
            self.found.faults.extend(faults.into_iter().map(|fault| (pointer.clone(), fault)));
        }
    }
}

/// Whether a schema says that its value is an integer, a string or a boolean. `null` beside one of them is not a fault: such
/// an argument has no header. A schema without a type is taken by the values it lists.
fn is_primitive(schema: &Map<String, Value>) -> bool {
    let primitive = |name: &Value| matches!(name.as_str(), Some("integer" | "string" | "boolean"));
    match schema.get("type") {
        Some(Value::Array(names)) => {
            names.iter().any(primitive) && names.iter().all(|name| primitive(name) || name == "null")
        }
        Some(name) => primitive(name),
        None => {
            let listed = |value: &Value| value.is_string() || value.is_boolean() || value.is_i64() || value.is_u64();
            let values = schema.get("enum").and_then(Value::as_array);
            schema.get("const").is_some_and(listed) || values.is_some_and(|v| !v.is_empty() && v.iter().all(listed))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(schema: &Value) -> Vec<(String, AnnotationFault)> {
        let found = annotations(schema);
        assert!(found.faults.is_empty() || found.valid.is_empty(), "{found:?}");
        for (pointer, _) in &found.faults {
            assert!(schema.pointer(pointer).is_some(), "{pointer}");
        }
        found.faults
    }

    #[test]
    fn annotations_are_found_along_properties() {
        let schema = json!({ "type": "object", "properties": {
            "zone": { "type": "string", "x-mcp-header": "Zone" },
            "deep/er": { "type": "object", "properties": { "n": { "type": ["integer", "null"], "x-mcp-header": "N" } } },
            "x-mcp-header": { "type": "number", "default": { "x-mcp-header": "no annotation" } },
            "mode": { "enum": ["a", "b"], "x-mcp-header": "Mode" },
        } });
        let valid = |name: &str, path: &[&str], pointer: &str| Annotation {
            name: name.to_owned(),
            path: path.iter().map(|&p| p.to_owned()).collect(),
            pointer: pointer.to_owned(),
        };
        let expected = [
            valid("Zone", &["zone"], "/properties/zone/x-mcp-header"),
            valid("N", &["deep/er", "n"], "/properties/deep~1er/properties/n/x-mcp-header"),
            valid("Mode", &["mode"], "/properties/mode/x-mcp-header"),
        ];
        assert_eq!(annotations(&schema), Annotations { valid: expected.to_vec(), faults: vec![] });
    }

    #[test]
    fn bad_names_and_types_are_faults() {
        use AnnotationFault::{Empty, NotPrimitive, NotString, NotToken};
        for (property, fault) in [
            (json!({ "type": "string", "x-mcp-header": "" }), Empty),
            (json!({ "type": "string", "x-mcp-header": 1 }), NotString),
            (json!({ "type": "string", "x-mcp-header": "a b" }), NotToken),
            (json!({ "type": "string", "x-mcp-header": "a\r\nb" }), NotToken),
            (json!({ "type": "string", "x-mcp-header": "a:b" }), NotToken),
            (json!({ "type": "string", "x-mcp-header": "ä" }), NotToken),
            (json!({ "type": "number", "x-mcp-header": "A" }), NotPrimitive),
            (json!({ "type": "object", "x-mcp-header": "A" }), NotPrimitive),
            (json!({ "type": ["string", "number"], "x-mcp-header": "A" }), NotPrimitive),
            (json!({ "type": ["null"], "x-mcp-header": "A" }), NotPrimitive),
            (json!({ "$ref": "#/$defs/a", "x-mcp-header": "A" }), NotPrimitive),
        ] {
            let pointer = "/properties/p/x-mcp-header".to_owned();
            assert_eq!(faults(&json!({ "properties": { "p": property } })), [(pointer, fault)]);
        }
    }

    #[test]
    fn header_names_are_unique_without_regard_to_case() {
        let property = |name: &str| json!({ "type": "string", "x-mcp-header": name });
        let schema = json!({ "properties": { "a": property("Zone"), "b": property("ZONE"), "c": property("Other") } });
        let found = annotations(&schema);
        let taken = AnnotationFault::Duplicate("/properties/a/x-mcp-header".to_owned());
        assert_eq!(found.faults, [("/properties/b/x-mcp-header".to_owned(), taken)]);
        assert_eq!(found.valid.len(), 2);
    }

    #[test]
    fn annotations_anywhere_else_are_faults() {
        let leaf = json!({ "type": "string", "x-mcp-header": "A" });
        for (schema, at) in [
            (leaf.clone(), ""),
            (json!({ "properties": { "p": { "items": leaf } } }), "/properties/p/items"),
            (json!({ "properties": { "p": { "prefixItems": [true, leaf] } } }), "/properties/p/prefixItems/1"),
            (json!({ "allOf": [{ "properties": { "p": leaf } }] }), "/allOf/0/properties/p"),
            (json!({ "anyOf": [leaf] }), "/anyOf/0"),
            (json!({ "oneOf": [leaf] }), "/oneOf/0"),
            (json!({ "not": leaf }), "/not"),
            (json!({ "if": leaf }), "/if"),
            (json!({ "then": { "properties": { "p": leaf } } }), "/then/properties/p"),
            (json!({ "else": leaf }), "/else"),
            (json!({ "$defs": { "d": leaf } }), "/$defs/d"),
            (json!({ "additionalProperties": leaf }), "/additionalProperties"),
            (json!({ "patternProperties": { "^a/": leaf } }), "/patternProperties/^a~1"),
        ] {
            let pointer = format!("{at}/x-mcp-header");
            assert_eq!(faults(&schema), [(pointer, AnnotationFault::NotReachable)]);
        }
    }
}
