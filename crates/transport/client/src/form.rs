//! Values from what a person types and a schema: the fields of a form (client/elicitation) and the arguments of a call.

use std::fmt::Write as _;

use schema::fits;
use serde_json::{Map, Number, Value};

/// How deep local references are followed.
const REFERENCES: usize = 8;

/// What was given for one field or argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A text, to be read as the schema says.
    Text(String),
    /// A value.
    Json(Value),
}

/// Why a form cannot be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormError(pub String);

/// The content of a form: the given values, and defaults for the rest.
pub fn fill(schema: &Value, given: &[(String, Given)]) -> Result<Map<String, Value>, FormError> {
    let mut content = Map::new();
    for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let value = match given.iter().rev().find(|(other, _)| other == name) {
            Some((_, Given::Json(value))) => Some(value.clone()),
            Some((_, Given::Text(text))) => {
                Some(read_answer(text, field, schema).map_err(|why| FormError(format!("`{name}`: {why}")))?)
            }
            None => field.get("default").cloned(),
        };
        content.extend(value.map(|value| (name.clone(), value)));
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if !content.contains_key(name) {
            let field = schema.get("properties").and_then(|fields| fields.get(name)).unwrap_or(&Value::Null);
            return Err(FormError(format!("nothing is given for `{name}` ({})", wants(field, schema))));
        }
    }
    let whole = Value::Object(content.clone());
    if fits(schema, &whole) { Ok(content) } else { Err(FormError("what is given does not fit the form".to_owned())) }
}

/// Reads a text as the answer for a field of a form. Where the field has choices, it is one of them.
pub fn read_answer(text: &str, field: &Value, root: &Value) -> Result<Value, String> {
    let value = read(text, field, root)?;
    let choices = choices(resolved(field, root, REFERENCES));
    if choices.is_none_or(|choices| choices.iter().any(|choice| *choice.value == value)) {
        Ok(value)
    } else {
        Err(format!("{} is not {}", shown(text), wants(field, root)))
    }
}

/// Reads a text as the value that a property's schema requires; the error names what it requires.
pub fn read(text: &str, property: &Value, root: &Value) -> Result<Value, String> {
    let property = resolved(property, root, REFERENCES);
    if let Some(choice) = chosen(text, property) {
        return Ok(choice);
    }
    let types = types(property, root);
    let as_json = serde_json::from_str::<Value>(text).ok();
    let read = types.iter().find_map(|kind| match kind.as_str() {
        "integer" | "number" => {
            text.parse::<Number>().ok().map(Value::Number).filter(|n| kind == "number" || is_whole(n))
        }
        "boolean" => truth(text, types.len() == 1).map(Value::Bool),
        "null" => (text == "null").then_some(Value::Null),
        "array" => as_json.clone().filter(Value::is_array).or_else(|| several(text, property, root)),
        "object" => as_json.clone().filter(Value::is_object),
        _ => None,
    });
    match read {
        Some(value) => Ok(value),
        None if types.is_empty() || types.iter().any(|kind| kind == "string") => Ok(Value::from(text)),
        None => Err(format!("{} is not {}", shown(text), wants(property, root))),
    }
}

/// Several choices with commas between them, where the items of a list have choices.
fn several(text: &str, list: &Value, root: &Value) -> Option<Value> {
    let items = resolved(list.get("items")?, root, REFERENCES);
    choices(items)?;
    let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
    texts.map(|text| chosen(text, items)).collect::<Option<Vec<_>>>().map(Value::Array)
}

/// `true` or `false`; with `also_short` also as a person types it.
fn truth(text: &str, also_short: bool) -> Option<bool> {
    let short = || match text.to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    };
    text.parse().ok().or_else(|| short().filter(|_| also_short))
}

/// A text in an error.
fn shown(text: &str) -> String {
    format!("`{}`", wire::escape::snippet(text, 60))
}

fn is_whole(number: &Value) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// A value that a schema offers, and its title.
struct Choice<'s> {
    value: &'s Value,
    title: Option<&'s str>,
}

impl Choice<'_> {
    /// The value as it is typed.
    fn typed(&self) -> String {
        self.value.as_str().map_or_else(|| self.value.to_string(), str::to_owned)
    }

    fn described(&self) -> String {
        let typed = self.typed();
        match self.title.filter(|title| *title != typed) {
            Some(title) => format!("{typed} ({title})"),
            None => typed,
        }
    }
}

/// The values that a schema offers: those of `enum`, or constants as alternatives.
fn choices(property: &Value) -> Option<Vec<Choice<'_>>> {
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        let title = |at: usize| property.get("enumNames")?.get(at)?.as_str();
        return Some(values.iter().enumerate().map(|(at, value)| Choice { value, title: title(at) }).collect());
    }
    let alternatives = ["oneOf", "anyOf"].iter().find_map(|name| property.get(*name)?.as_array())?;
    alternatives.iter().map(constant).collect()
}

/// The only value of an alternative.
fn constant(alternative: &Value) -> Option<Choice<'_>> {
    let title = alternative.get("title").and_then(Value::as_str);
    Some(Choice { value: alternative.get("const")?, title })
}

/// The choice that a text names, by its value or its title.
fn chosen(text: &str, property: &Value) -> Option<Value> {
    let choices = choices(property)?;
    let by_value = choices.iter().find(|choice| choice.typed() == text);
    by_value.or_else(|| choices.iter().find(|choice| choice.title == Some(text))).map(|choice| choice.value.clone())
}

/// Every type that a schema names, also in its alternatives.
fn types(property: &Value, root: &Value) -> Vec<String> {
    let mut types: Vec<String> = match property.get("type") {
        Some(Value::String(kind)) => vec![kind.clone()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(|kind| kind.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    for alternatives in ["anyOf", "oneOf"] {
        for schema in property.get(alternatives).and_then(Value::as_array).into_iter().flatten() {
            let schema = resolved(schema, root, REFERENCES);
            types.extend(schema.get("type").and_then(Value::as_str).map(str::to_owned));
        }
    }
    types.dedup();
    types
}

fn described(choices: &[Choice<'_>]) -> String {
    choices.iter().map(Choice::described).collect::<Vec<_>>().join(", ")
}

/// What a property's schema requires, in a few words.
pub fn wants(property: &Value, root: &Value) -> String {
    let property = resolved(property, root, REFERENCES);
    if let Some(choices) = choices(property) {
        return format!("one of {}", described(&choices));
    }
    let items = property.get("items").map(|items| resolved(items, root, REFERENCES));
    if let Some(choices) = items.and_then(choices) {
        return format!("any of {}; commas between them", described(&choices));
    }
    if let Some(only) = property.get("const") {
        return format!("{only}");
    }
    let types = types(property, root);
    let mut words = if types.is_empty() { "any value".to_owned() } else { types.join(" or ") };
    if types == ["array"]
        && let Some(items) = property.get("items")
    {
        words = format!("array of {}", wants_plain(items, root));
    }
    let bound = |name: &str| property.get(name).filter(|bound| bound.is_number());
    // Writing into a text cannot fail.
    let _ = match (bound("minimum"), bound("maximum")) {
        (Some(low), Some(high)) => write!(words, " from {low} to {high}"),
        (Some(low), None) => write!(words, " from {low}"),
        (None, Some(high)) => write!(words, " up to {high}"),
        (None, None) => Ok(()),
    };
    if let Some(format) = property.get("format").and_then(Value::as_str) {
        let _ = write!(words, " ({format})");
    }
    words
}

fn wants_plain(items: &Value, root: &Value) -> String {
    let items = resolved(items, root, REFERENCES);
    let types = types(items, root);
    if types.is_empty() { "any value".to_owned() } else { types.join(" or ") }
}

/// Follows references within the document; other references stay unchanged.
fn resolved<'s>(schema: &'s Value, root: &'s Value, room: usize) -> &'s Value {
    let target =
        schema.get("$ref").and_then(Value::as_str).and_then(|reference| root.pointer(reference.strip_prefix('#')?));
    match target {
        Some(target) if room > 0 => resolved(target, root, room - 1),
        _ => schema,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_read_as_the_schema_wants_them() {
        let root = json!({ "$defs": { "n": { "type": "integer" } } });
        for (text, property, value) in [
            ("7", json!({ "type": "integer" }), json!(7)),
            ("7", json!({ "type": "string" }), json!("7")),
            ("7", json!({}), json!("7")),
            ("7", json!({ "$ref": "#/$defs/n" }), json!(7)),
            ("7.5", json!({ "type": "number" }), json!(7.5)),
            ("true", json!({ "type": "boolean" }), json!(true)),
            ("y", json!({ "type": "boolean" }), json!(true)),
            ("No", json!({ "type": "boolean" }), json!(false)),
            ("y", json!({ "type": ["boolean", "string"] }), json!("y")),
            ("Red", json!({ "oneOf": [{ "const": "r", "title": "Red" }] }), json!("r")),
            ("[1]", json!({ "type": "array" }), json!([1])),
            ("null", json!({ "type": ["string", "null"] }), json!(null)),
            ("x", json!({ "type": ["integer", "string"] }), json!("x")),
            ("2", json!({ "enum": [1, 2] }), json!(2)),
            ("", json!({ "type": "string" }), json!("")),
        ] {
            assert_eq!(read(text, &property, &root), Ok(value), "{text} {property}");
        }
        for (text, property) in [
            ("x", json!({ "type": "integer" })),
            ("7.5", json!({ "type": "integer" })),
            ("yep", json!({ "type": "boolean" })),
            ("{", json!({ "type": "object" })),
        ] {
            assert!(read(text, &property, &root).is_err(), "{text} {property}");
        }
    }

    #[test]
    fn choices_are_shown_and_no_other_value_is_taken() {
        let titled = json!([{ "const": "r", "title": "Red" }, { "const": "b" }]);
        for (field, shown) in [
            (json!({ "type": "string", "enum": ["r", "b"] }), "one of r, b"),
            (json!({ "type": "string", "enum": ["r", "b"], "enumNames": ["Red", "b"] }), "one of r (Red), b"),
            (json!({ "type": "string", "oneOf": titled }), "one of r (Red), b"),
        ] {
            assert_eq!(wants(&field, &json!({})), shown);
            assert_eq!(read_answer("r", &field, &json!({})), Ok(json!("r")));
            assert!(read_answer("x", &field, &json!({})).unwrap_err().ends_with(shown), "{field}");
        }
        let several = json!({ "type": "array", "items": { "anyOf": titled } });
        assert_eq!(wants(&several, &json!({})), "any of r (Red), b; commas between them");
        assert_eq!(read_answer("Red, b", &several, &json!({})), Ok(json!(["r", "b"])));
        assert_eq!(read_answer("[\"b\"]", &several, &json!({})), Ok(json!(["b"])));
        assert_eq!(read_answer("", &several, &json!({})), Ok(json!([])));
        assert!(read_answer("r, x", &several, &json!({})).is_err());
    }

    #[test]
    fn forms_are_filled_with_what_is_given_and_with_defaults() {
        let schema = json!({ "type": "object", "required": ["name"], "properties": {
            "name": { "type": "string" }, "age": { "type": "integer", "default": 30, "maximum": 99 } } });
        let given = |text: &str| ("age".to_owned(), Given::Text(text.to_owned()));
        let name = ("name".to_owned(), Given::Json(json!("Ada")));
        assert_eq!(
            fill(&schema, std::slice::from_ref(&name)).map(Value::Object),
            Ok(json!({ "name": "Ada", "age": 30 }))
        );
        assert_eq!(
            fill(&schema, &[name.clone(), given("7")]).map(Value::Object),
            Ok(json!({ "name": "Ada", "age": 7 }))
        );
        assert!(fill(&schema, &[]).is_err(), "nobody gave a name");
        assert!(fill(&schema, &[name.clone(), given("x")]).is_err());
        assert!(fill(&schema, &[name, given("100")]).is_err(), "more than the form admits");
    }
}
