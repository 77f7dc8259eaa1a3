//! The keywords of JSON Schema from draft 6 on and the types of their values. It knows nothing of MCP.

use serde_json::Value;
use wire::pointer;

/// The dialects whose keywords are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Draft 6 and draft 7.
    Drafts,
    /// 2019-09.
    Middle,
    /// 2020-12.
    Newest,
}

impl Dialect {
    /// The dialect that a `$schema` names, if its keywords are known here.
    pub(super) fn named(uri: &str) -> Option<Self> {
        let bare = uri.trim_end_matches('#');
        let path = bare.strip_prefix("https://").or_else(|| bare.strip_prefix("http://"))?;
        match path.strip_prefix("json-schema.org/")? {
            "draft/2020-12/schema" => Some(Self::Newest),
            "draft/2019-09/schema" => Some(Self::Middle),
            "draft-07/schema" | "draft-06/schema" => Some(Self::Drafts),
            _ => None,
        }
    }
}

/// The dialect of a schema: what it names, else the newest. `None` where that is not known here.
pub(super) fn dialect(schema: &Value) -> Option<Dialect> {
    match schema.get("$schema") {
        Some(Value::String(uri)) => Dialect::named(uri),
        _ => Some(Dialect::Newest),
    }
}

/// The first keyword whose value is not of its type: pointer and words.
pub(super) fn fault(schema: &Value) -> Option<(String, String)> {
    schema_fault(schema, dialect(schema)?, String::new())
}

/// What the value of a keyword is.
#[derive(Clone, Copy)]
enum Takes {
    Schema,
    Schemas,
    SchemaOrSchemas,
    SchemaMap,
    Text,
    Texts,
    TextsMap,
    Flag,
    Count,
    Number,
    Positive,
    Array,
    Types,
}

/// The keywords, what they take, and the dialects that have them so.
const KEYWORDS: &[(&[&str], Takes, &[Dialect])] = {
    use Dialect::{Drafts, Middle, Newest};
    const ALL: &[Dialect] = &[Drafts, Middle, Newest];
    const LATE: &[Dialect] = &[Middle, Newest];
    &[
        (&["not", "contains", "propertyNames", "additionalProperties"], Takes::Schema, ALL),
        (&["if", "then", "else", "unevaluatedItems", "unevaluatedProperties"], Takes::Schema, LATE),
        (&["items"], Takes::Schema, &[Newest]),
        (&["items"], Takes::SchemaOrSchemas, &[Drafts, Middle]),
        (&["allOf", "anyOf", "oneOf"], Takes::Schemas, ALL),
        (&["prefixItems"], Takes::Schemas, &[Newest]),
        (&["properties", "patternProperties"], Takes::SchemaMap, ALL),
        (&["definitions"], Takes::SchemaMap, &[Drafts]),
        (&["$defs", "dependentSchemas"], Takes::SchemaMap, LATE),
        (&["$ref", "$schema", "$id", "title", "description", "pattern", "format"], Takes::Text, ALL),
        (&["$comment", "$anchor"], Takes::Text, LATE),
        (&["required"], Takes::Texts, ALL),
        (&["dependentRequired"], Takes::TextsMap, LATE),
        (&["uniqueItems"], Takes::Flag, ALL),
        (&["readOnly", "writeOnly", "deprecated"], Takes::Flag, LATE),
        (&["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"], Takes::Count, ALL),
        (&["minContains", "maxContains"], Takes::Count, LATE),
        (&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], Takes::Number, ALL),
        (&["multipleOf"], Takes::Positive, ALL),
        (&["enum", "examples"], Takes::Array, ALL),
        (&["type"], Takes::Types, ALL),
    ]
};

fn schema_fault(schema: &Value, dialect: Dialect, at: String) -> Option<(String, String)> {
    let members = match schema {
        Value::Bool(_) => return None,
        Value::Object(members) => members,
        _ => return Some((at, "a schema is an object or a boolean".to_owned())),
    };
    // Before 2019-09 whatever is next to a reference is ignored.
    if dialect == Dialect::Drafts && members.contains_key("$ref") {
        return None;
    }
    members.iter().find_map(|(name, value)| {
        let takes = KEYWORDS.iter().find(|(names, _, in_)| names.contains(&name.as_str()) && in_.contains(&dialect))?.1;
        keyword_fault(name, value, takes, dialect, &at)
    })
}

fn keyword_fault(name: &str, value: &Value, takes: Takes, dialect: Dialect, at: &str) -> Option<(String, String)> {
    let here = pointer::member(at, name);
    let wrong = |what: &str| Some((here.clone(), format!("`{name}` takes {what}")));
    let each = |items: &[Value]| {
        let inner = |(index, item): (usize, &Value)| schema_fault(item, dialect, format!("{here}/{index}"));
        items.iter().enumerate().find_map(inner)
    };
    match (takes, value) {
        (Takes::Schemas, Value::Array(items)) if !items.is_empty() => each(items),
        (Takes::SchemaOrSchemas, Value::Array(items)) => each(items),
        (Takes::Schemas, _) => wrong("an array of one schema or more"),
        (Takes::Schema | Takes::SchemaOrSchemas, _) => schema_fault(value, dialect, here.clone()),
        (Takes::SchemaMap, Value::Object(schemas)) => {
            schemas.iter().find_map(|(key, schema)| schema_fault(schema, dialect, pointer::member(&here, key)))
        }
        (Takes::SchemaMap, _) => wrong("an object of schemas"),
        _ if fits(takes, value) => None,
        _ => wrong(words(takes)),
    }
}

fn fits(takes: Takes, value: &Value) -> bool {
    let texts = |value: &Value| {
        let Value::Array(items) = value else { return false };
        let unique = items.iter().enumerate().all(|(i, item)| !items[..i].contains(item));
        unique && items.iter().all(Value::is_string)
    };
    match takes {
        Takes::Text => value.is_string(),
        Takes::Texts => texts(value),
        Takes::TextsMap => value.as_object().is_some_and(|map| map.values().all(texts)),
        Takes::Flag => value.is_boolean(),
        Takes::Count => value.as_f64().is_some_and(|n| n >= 0.0 && n.fract() == 0.0),
        Takes::Number => value.is_number(),
        Takes::Positive => value.as_f64().is_some_and(|n| n > 0.0),
        Takes::Array => value.is_array(),
        Takes::Types => match value {
            Value::Array(types) => !types.is_empty() && texts(value) && types.iter().all(is_type),
            one => is_type(one),
        },
        Takes::Schema | Takes::Schemas | Takes::SchemaOrSchemas | Takes::SchemaMap => true,
    }
}

fn is_type(value: &Value) -> bool {
    let types = ["array", "boolean", "integer", "null", "number", "object", "string"];
    value.as_str().is_some_and(|name| types.contains(&name))
}

const fn words(takes: Takes) -> &'static str {
    match takes {
        Takes::Text => "a string",
        Takes::Texts => "an array of different strings",
        Takes::TextsMap => "an object of arrays of different strings",
        Takes::Flag => "true or false",
        Takes::Count => "a whole number of 0 or more",
        Takes::Number => "a number",
        Takes::Positive => "a number above 0",
        Takes::Array => "an array",
        Takes::Types => "the name of a type or an array of different ones",
        Takes::Schema | Takes::Schemas | Takes::SchemaOrSchemas | Takes::SchemaMap => "a schema",
    }
}
