//! The form of a tool in each API, and schemas that are sent as they are.

use serde_json::{Map, Value, json};

use super::{Api, NoteKind, Notes, target};

/// What an API is sent of a tool.
pub(super) fn definition(api: Api, name: &str, description: &str, parameters: Option<Value>, is_strict: bool) -> Value {
    let mut function = Map::new();
    if api == Api::OpenAi {
        function.insert("type".to_owned(), json!("function"));
    }
    function.insert("name".to_owned(), json!(name));
    if !description.is_empty() {
        function.insert("description".to_owned(), json!(description));
    }
    let member = if api == Api::Anthropic { "input_schema" } else { "parameters" };
    function.extend(parameters.map(|parameters| (member.to_owned(), parameters)));
    if matches!(api, Api::OpenAi | Api::OpenAiChat) {
        // Where nothing is said, the Responses API makes tools strict by itself.
        function.insert("strict".to_owned(), json!(is_strict));
    }
    if api == Api::OpenAiChat { json!({ "type": "function", "function": function }) } else { Value::Object(function) }
}

/// A schema for an API that takes JSON Schema: an object, without unions at its root.
pub(super) fn parameters(schema: &Value, notes: &mut Notes) -> Value {
    let mut parameters = match schema {
        Value::Object(members) => members.clone(),
        _ => Map::new(),
    };
    parameters.remove("$schema");
    let mut flat = Flat { root: schema, properties: Map::new(), required: Vec::new() };
    flat.add(schema, true, 0);
    for word in ["$ref", "allOf", "anyOf", "oneOf"] {
        if parameters.remove(word).is_some() {
            notes.add(
                NoteKind::Unchecked,
                "",
                format!("the API takes no `{word}` at the root: its members were merged"),
            );
        }
    }
    for word in ["not", "enum", "const", "if", "then", "else"] {
        if parameters.remove(word).is_some() {
            notes.add(NoteKind::Unchecked, "", format!("the API takes no `{word}` at the root: it was left out"));
        }
    }
    parameters.insert("type".to_owned(), json!("object"));
    parameters.insert("properties".to_owned(), Value::Object(flat.properties));
    if !flat.required.is_empty() {
        parameters.insert("required".to_owned(), json!(flat.required));
    }
    Value::Object(parameters)
}

/// How deep a root's unions and references are followed.
const DEEPEST: usize = 8;
/// How many members are merged.
const MOST_MEMBERS: usize = 2000;

/// The members of an object whose schema is in several parts.
struct Flat<'s> {
    root: &'s Value,
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl Flat<'_> {
    /// Takes in a part. `is_certain` says whether it always holds.
    fn add(&mut self, schema: &Value, is_certain: bool, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if self.properties.len() < MOST_MEMBERS && !self.properties.contains_key(name) {
                self.properties.insert(name.clone(), property.clone());
            }
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for name in required.filter(|_| is_certain) {
            if !self.required.iter().any(|known| known == name) {
                self.required.push(name.to_owned());
            }
        }
        let root = self.root;
        if let Some((part, _)) = schema.get("$ref").and_then(Value::as_str).and_then(|name| target(root, name)) {
            self.add(part, is_certain, depth + 1);
        }
        for (word, holds) in [("allOf", true), ("anyOf", false), ("oneOf", false)] {
            for part in schema.get(word).and_then(Value::as_array).into_iter().flatten() {
                self.add(part, is_certain && holds, depth + 1);
            }
        }
    }
}
