//! Which keywords strict schemas may have, and what is done with the others.

use regex::Regex;
use serde_json::{Map, Value, json};

/// Keywords that strict schemas may have, by type.
const KEPT: [(&str, &[&str]); 4] =
    [("string", &["pattern", "format"]), ("number", NUMBER), ("integer", NUMBER), ("array", &["minItems", "maxItems"])];
const NUMBER: &[&str] = &["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];

/// The formats that are checked.
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Keywords that restrict values of one type and are not checked.
const LOST: [(&str, &[&str]); 3] = [
    ("string", &["minLength", "maxLength"]),
    ("array", &["uniqueItems", "contains", "minContains", "maxContains", "unevaluatedItems", "additionalItems"]),
    (
        "object",
        &["minProperties", "maxProperties", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies"],
    ),
];

/// Keywords that restrict values of every type and are not checked.
const LOST_ANYWHERE: [&str; 2] = ["not", "if"];

/// Keywords that restrict nothing by themselves.
const ANNOTATIONS: [&str; 19] = [
    "title",
    "description",
    "default",
    "example",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$defs",
    "definitions",
    "then",
    "else",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "discriminator",
    "nullable",
];

/// The longest value that is said in a description.
const LONGEST: usize = 80;

/// A keyword that restricts values and is none of `known`.
pub(super) fn beside<'s>(schema: &'s Value, known: &[&str]) -> Option<&'s String> {
    let is_harmless = |word: &str| known.contains(&word) || ANNOTATIONS.contains(&word) || word.starts_with("x-");
    schema.as_object()?.keys().find(|word| !is_harmless(word))
}

/// The types that a schema names or implies; `None` where any fits.
pub(in crate::export) fn allowed_types(schema: &Value) -> Option<Vec<String>> {
    let has = |words: &[&str]| words.iter().any(|word| schema.get(word).is_some());
    match schema.get("type") {
        Some(Value::String(one)) => Some(vec![one.clone()]),
        Some(Value::Array(all)) => Some(all.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        Some(_) => None,
        None => match (schema.get("enum"), schema.get("const")) {
            (Some(Value::Array(values)), _) => Some(types_of(values)),
            (_, Some(value)) => Some(types_of(std::slice::from_ref(value))),
            _ if has(&["properties", "required", "additionalProperties"]) => Some(vec!["object".to_owned()]),
            _ if has(&["items", "prefixItems"]) => Some(vec!["array".to_owned()]),
            _ => None,
        },
    }
}

fn types_of(values: &[Value]) -> Vec<String> {
    let mut types: Vec<String> = Vec::new();
    for value in values {
        let one = type_of(value);
        if !types.iter().any(|known| known == one) {
            types.push(one.to_owned());
        }
    }
    types
}

/// The type of a value.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The keywords of a schema of these types that may stay, and the names of those whose loss matters.
pub(super) fn kept(schema: &Value, types: &[String]) -> (Map<String, Value>, Vec<String>) {
    let mut strict = Map::new();
    let mut lost = Vec::new();
    let types_value = if let [one] = types { json!(one) } else { json!(types) };
    strict.insert("type".to_owned(), types_value);
    strict
        .extend(schema.get("title").filter(|title| title.is_string()).map(|title| ("title".to_owned(), title.clone())));
    let mut hints = Vec::new();
    for (word, value) in schema.as_object().into_iter().flatten() {
        let has_type = |table: &[(&str, &[&str])]| {
            table.iter().any(|(one, words)| words.contains(&word.as_str()) && types.iter().any(|known| known == one))
        };
        if matches!(word.as_str(), "enum" | "const") || has_type(&KEPT) && is_checked(word, value) {
            strict.insert(word.clone(), value.clone());
        } else if has_type(&KEPT) || has_type(&LOST) && restricts(word, value) || LOST_ANYWHERE.contains(&word.as_str())
        {
            lost.push(word.clone());
            hints.push(hint(word, value));
        } else if word == "default" {
            hints.push(hint(word, value));
        }
    }
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let hints: Vec<String> = hints.into_iter().flatten().collect();
    let text =
        [description, &hints.join(" ")].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ");
    if !text.is_empty() {
        strict.insert("description".to_owned(), json!(text));
    }
    (strict, lost)
}

/// What a keyword that cannot stay says, for a model.
fn hint(word: &str, value: &Value) -> Option<String> {
    let text = value.to_string();
    let is_plain = !value.is_object() && (!value.is_array() || word == "default");
    (is_plain && text.len() <= LONGEST).then(|| format!("({word}: {text})"))
}

/// Whether a keyword with this value is checked.
fn is_checked(word: &str, value: &Value) -> bool {
    match word {
        // Look-around is not: what our engine cannot compile, theirs may not.
        "pattern" => value.as_str().is_some_and(|pattern| Regex::new(pattern).is_ok()),
        "format" => value.as_str().is_some_and(|format| FORMATS.contains(&format)),
        _ => value.is_number(),
    }
}

/// Whether a keyword with this value restricts anything.
fn restricts(word: &str, value: &Value) -> bool {
    match word {
        "minLength" | "minProperties" => value.as_u64() != Some(0),
        "uniqueItems" => *value == json!(true),
        // Without lists of schemas for single items, it says nothing.
        "additionalItems" | "unevaluatedItems" | "minContains" | "maxContains" => false,
        "dependentRequired" | "dependentSchemas" | "dependencies" => {
            value.as_object().is_some_and(|all| !all.is_empty())
        }
        _ => true,
    }
}

/// A schema with the description of another that stood around it.
pub(super) fn described(strict: Value, around: &Value) -> Value {
    let Some(text) = around.get("description").and_then(Value::as_str) else { return strict };
    match strict {
        Value::Object(members) if members.contains_key("$ref") => {
            json!({ "description": text, "anyOf": [members] })
        }
        Value::Object(mut members) => {
            members.insert("description".to_owned(), json!(text));
            Value::Object(members)
        }
        other => other,
    }
}
