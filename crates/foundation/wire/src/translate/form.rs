//! Forms of elicitations for clients of 2025-06-18, whose forms know fewer kinds of fields, and their answers back.

use serde_json::{Map, Value, json};

use crate::Revision;

/// What turns an answer to a simpler form into one to the form that the server sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormAnswer {
    /// For each field with several choices: its name, and for each choice the field that stands for it.
    choices: Vec<(String, Vec<(String, Value)>)>,
    /// Presets are gone.
    lost_presets: bool,
}

impl FormAnswer {
    /// The answer to the original form.
    pub fn restore(&self, result: &Value) -> Value {
        let mut result = result.clone();
        let Some(content) = result.get_mut("content").and_then(Value::as_object_mut) else { return result };
        for (name, choices) in &self.choices {
            let mut chosen = Vec::new();
            for (field, value) in choices {
                if content.remove(field) == Some(Value::Bool(true)) {
                    chosen.push(value.clone());
                }
            }
            content.insert(name.clone(), Value::Array(chosen));
        }
        result
    }

    /// Whether an answer stays as it is.
    pub fn is_same(&self) -> bool {
        self.choices.is_empty()
    }

    /// Whether the client was shown less than the server sent.
    pub fn is_lossy(&self) -> bool {
        self.lost_presets || !self.is_same()
    }
}

/// Changes `params` of `elicitation/create` for a client of `to`. A field with several choices becomes one yes-or-no field
/// for each choice.
pub fn simplify(params: &mut Value, to: Revision) -> FormAnswer {
    let mut answer = FormAnswer::default();
    if to.at_least(Revision::R2025_11_25) {
        return answer;
    }
    let Some(schema) = params.get_mut("requestedSchema").and_then(Value::as_object_mut) else { return answer };
    let Some(Value::Object(fields)) = schema.remove("properties") else { return answer };
    let mut simple = Map::new();
    for (name, mut field) in fields {
        if field.get("type").is_some_and(|kind| kind == "array") {
            answer.choices.push((name.clone(), choices(&name, &field, &mut simple)));
            continue;
        }
        if let Some(members) = field.as_object_mut() {
            answer.lost_presets |= simplify_field(members);
        }
        simple.insert(name, field);
    }
    schema.insert("properties".to_owned(), Value::Object(simple));
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !answer.choices.iter().any(|(gone, _)| name == gone.as_str()));
    }
    answer
}

/// Says whether a preset is gone.
fn simplify_field(field: &mut Map<String, Value>) -> bool {
    if let Some(Value::Array(options)) = field.remove("oneOf") {
        let part = |name: &str| options.iter().map(|option| option.get(name).cloned().unwrap_or_default()).collect();
        field.insert("enumNames".to_owned(), Value::Array(part("title")));
        field.insert("enum".to_owned(), Value::Array(part("const")));
    }
    field.get("type").is_none_or(|kind| kind != "boolean") && field.remove("default").is_some()
}

/// Adds a yes-or-no field for each choice of `field`, and returns their names with the values that they stand for.
fn choices(name: &str, field: &Value, simple: &mut Map<String, Value>) -> Vec<(String, Value)> {
    let items = field.get("items");
    let titled = items.and_then(|items| items.get("anyOf").or_else(|| items.get("oneOf"))).and_then(Value::as_array);
    let plain = items.and_then(|items| items.get("enum")).and_then(Value::as_array);
    let options: Vec<(Value, String)> = match (titled, plain) {
        (Some(titled), _) => titled
            .iter()
            .map(|option| {
                let value = option.get("const").cloned().unwrap_or_default();
                let title = option.get("title").and_then(Value::as_str).map(str::to_owned);
                (value.clone(), title.unwrap_or_else(|| text(&value)))
            })
            .collect(),
        (None, Some(plain)) => plain.iter().map(|value| (value.clone(), text(value))).collect(),
        (None, None) => Vec::new(),
    };
    let title = field.get("title").and_then(Value::as_str).unwrap_or(name);
    let preset =
        |value: &Value| field.get("default").and_then(Value::as_array).is_some_and(|default| default.contains(value));
    let mut fields = Vec::new();
    for (value, label) in options {
        let shown = format!("{name}: {}", text(&value));
        let described = json!({ "type": "boolean", "title": format!("{title}: {label}"), "default": preset(&value) });
        simple.insert(shown.clone(), described);
        fields.push((shown, value));
    }
    fields
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::simplify;
    use crate::revision::{R2025_06_18, R2025_11_25};

    #[test]
    fn row_43_several_choices_become_yes_or_no_and_come_back() {
        let form = json!({ "message": "m", "requestedSchema": { "type": "object", "required": ["size", "colours"],
            "properties": {
                "size": { "type": "string", "oneOf": [{ "const": "s", "title": "Small" }], "default": "s" },
                "colours": { "type": "array", "title": "Colours", "default": ["red"],
                    "items": { "type": "string", "enum": ["red", "green"] } } } } });
        let mut simple = form.clone();
        let answer = simplify(&mut simple, R2025_06_18);
        assert_eq!(
            simple["requestedSchema"],
            json!({ "type": "object", "required": ["size"], "properties": {
                "size": { "type": "string", "enumNames": ["Small"], "enum": ["s"] },
                "colours: red": { "type": "boolean", "title": "Colours: red", "default": true },
                "colours: green": { "type": "boolean", "title": "Colours: green", "default": false } } })
        );
        let given = json!({ "action": "accept",
            "content": { "size": "s", "colours: red": false, "colours: green": true } });
        assert_eq!(
            answer.restore(&given),
            json!({ "action": "accept", "content": { "size": "s", "colours": ["green"] } })
        );
        assert_eq!(answer.restore(&json!({ "action": "decline" })), json!({ "action": "decline" }));
        let mut same = form.clone();
        assert!(answer.is_lossy());
        assert!(!simplify(&mut same, R2025_11_25).is_lossy());
        assert_eq!(same, form);
    }
}
