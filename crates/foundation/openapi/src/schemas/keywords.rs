//! Keywords with plain values: those that are JSON Schema are kept, those of OpenAPI 3.0 and Swagger 2 converted, everything
//! else is left out, so that no tool has a schema that is none.

use serde_json::{Map, Number, Value, json};

use crate::prose;

/// How large a default, an example or an item of `enum` may be.
const VALUE_BYTES: usize = 1 << 10;
/// How many items `enum` may have: more are no help for a model.
const ENUM: usize = 500;

/// `type`, where it names types; with `null` where the value may be null.
pub(super) fn types(from: &Map<String, Value>) -> Option<Value> {
    let mut kinds: Vec<&str> = match from.get("type")? {
        Value::String(kind) => vec![known_type(kind)?],
        Value::Array(list) => list.iter().map(|kind| known_type(kind.as_str()?)).collect::<Option<_>>()?,
        _ => return None,
    };
    if is_nullable(from) {
        kinds.push("null");
    }
    let mut distinct = Vec::new();
    for kind in kinds {
        if !distinct.contains(&kind) {
            distinct.push(kind);
        }
    }
    match distinct.as_slice() {
        [] => None,
        [one] => Some((*one).into()),
        several => Some(several.into()),
    }
}

/// Whether OpenAPI 3.0 or an extension says that the value may be null.
pub(super) fn is_nullable(from: &Map<String, Value>) -> bool {
    ["nullable", "x-nullable"].iter().any(|name| from.get(*name) == Some(&Value::Bool(true)))
}

/// JSON Schema's name of a type. Descriptions by hand have names of their languages.
fn known_type(name: &str) -> Option<&'static str> {
    Some(match name.trim().to_ascii_lowercase().as_str() {
        "string" | "file" | "date" | "datetime" | "date-time" | "uuid" | "text" => "string",
        "integer" | "int" | "int32" | "int64" | "long" => "integer",
        "number" | "float" | "double" | "decimal" => "number",
        "boolean" | "bool" => "boolean",
        "array" | "list" => "array",
        "object" | "map" => "object",
        "null" => "null",
        _ => return None,
    })
}

/// Description, or the title where there is no description, as plain text.
pub(super) fn prose(from: &Map<String, Value>, most: usize, to: &mut Map<String, Value>) {
    let text = |name: &str| from.get(name).and_then(Value::as_str).map(prose::plain).filter(|text| !text.is_empty());
    if let Some(description) = text("description") {
        to.insert("description".to_owned(), prose::shortened(&description, most).into());
    } else if let Some(title) = text("title") {
        to.insert("title".to_owned(), prose::shortened(&title, most).into());
    }
}

/// A keyword that is kept as it stands, if its value is what JSON Schema demands.
pub(super) fn plain(name: &str, value: &Value) -> Option<Value> {
    match name {
        "default" | "const" => small(value).then(|| value.clone()),
        "uniqueItems" => value.is_boolean().then(|| value.clone()),
        "deprecated" => (*value == Value::Bool(true)).then(|| value.clone()),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
        | "maxContains" => whole(value),
        "multipleOf" => value.as_f64().filter(|step| *step > 0.0).and(Some(value.clone())),
        "contentEncoding" | "contentMediaType" => value.is_string().then(|| value.clone()),
        "dependentRequired" => {
            let lists = value.as_object()?;
            let names = |list: &Value| list.as_array().is_some_and(|list| list.iter().all(Value::is_string));
            lists.values().all(names).then(|| value.clone())
        }
        _ => None,
    }
}

/// A count: some write `10.0` or `"10"`.
fn whole(value: &Value) -> Option<Value> {
    let count = match value {
        Value::String(text) => text.trim().parse().ok()?,
        _ => value.as_u64().or_else(|| value.as_f64().filter(|n| *n >= 0.0 && n.fract() == 0.0).map(|n| n as u64))?,
    };
    Some(count.into())
}

/// Bounds of numbers, with the flags of older drafts; `enum` without duplicates; examples.
pub(super) fn bounds(from: &Map<String, Value>, to: &mut Map<String, Value>) {
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        let number = |name: &str| from.get(name).and_then(number);
        let flag = from.get(exclusive) == Some(&Value::Bool(true));
        let name = if flag { exclusive } else { bound };
        if let Some(number) = number(bound) {
            to.insert(name.to_owned(), number.into());
        }
        if let Some(number) = number(exclusive) {
            to.insert(exclusive.to_owned(), number.into());
        }
    }
    if let Some(values) = from.get("enum").and_then(Value::as_array) {
        let values = distinct(values, is_nullable(from));
        if !values.is_empty() && values.len() <= ENUM {
            keep_usable(&values, to);
            to.insert("enum".to_owned(), values.into());
        }
    }
    let listed = from.get("examples").and_then(Value::as_array).map(Vec::as_slice);
    let examples = listed.or_else(|| from.get("example").map(std::slice::from_ref)).unwrap_or_default();
    let examples: Vec<Value> = examples.iter().filter(|one| is_short(one)).take(2).cloned().collect();
    if !examples.is_empty() {
        to.insert("examples".to_owned(), examples.into());
    }
}

/// A type that none of the values has would refuse every value.
fn keep_usable(values: &[Value], to: &mut Map<String, Value>) {
    let Some(kind) = to.get("type") else { return };
    let schema = json!({ "type": kind });
    if !values.iter().any(|value| !value.is_null() && schema::plain::admits(&schema, value)) {
        to.remove("type");
    }
}

fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => serde_json::from_str(text.trim()).ok(),
        _ => None,
    }
}

fn distinct(values: &[Value], null: bool) -> Vec<Value> {
    let mut seen = std::collections::HashSet::new();
    let null = null.then_some(Value::Null);
    let all = values.iter().chain(null.as_ref());
    all.filter(|value| small(value) && seen.insert(value.to_string())).cloned().collect()
}

fn small(value: &Value) -> bool {
    super::size(value) <= VALUE_BYTES
}

/// Examples are a hint: a long one costs more than it helps.
fn is_short(value: &Value) -> bool {
    !value.is_null() && super::size(value) <= 80
}

/// `format`; what stands for bytes is Base64.
pub(super) fn format(from: &Map<String, Value>, to: &mut Map<String, Value>) {
    let is_file = from.get("type").and_then(Value::as_str) == Some("file");
    let format = if is_file { Some("binary") } else { from.get("format").and_then(Value::as_str).map(str::trim) };
    let Some(format) = format.filter(|format| !format.is_empty() && format.len() <= 40) else { return };
    if matches!(format, "byte" | "binary") && to.get("type").is_none_or(|kind| kind.to_string().contains("string")) {
        to.entry("contentEncoding").or_insert_with(|| json!("base64"));
    }
    to.insert("format".to_owned(), format.into());
}

/// `items` as a list is `prefixItems` today.
pub(super) fn items_list(to: &mut Map<String, Value>) {
    if to.get("items").is_some_and(Value::is_array)
        && let Some(list) = to.remove("items")
    {
        to.insert("prefixItems".to_owned(), list);
    }
}

/// `required`, where it is a list of names; without those that are hidden.
pub(super) fn required(from: &Map<String, Value>, hidden: &[&str]) -> Vec<String> {
    let names = from.get("required").and_then(Value::as_array);
    let mut required: Vec<String> = Vec::new();
    for name in names.into_iter().flatten().filter_map(Value::as_str) {
        if !hidden.contains(&name) && !required.iter().any(|known| known == name) {
            required.push(name.to_owned());
        }
    }
    required
}
