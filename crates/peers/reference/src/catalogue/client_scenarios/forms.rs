//! Forms that leave little room: every field required, none with a default, bounds tight, and one that does not say that it
//! is a form.

use serde_json::{Map, Value, json};
use wire::Revision;
use wire::revision::{R2025_06_18, R2025_11_25};

use super::asked;
use crate::catalogue::{Catalogue, Hints, Question, Tool};

pub(super) fn catalogue() -> Catalogue {
    let tools = vec![
        tool("ask_strictly", "Asks with a form whose fields are all required", |revision| {
            Question::form("strict", "Please fill in every field", strict(revision))
        }),
        tool("ask_without_mode", "Asks with a form that does not name its mode", |_| {
            let schema =
                json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
            Question::form_without_mode("plain", "What is your name?", schema)
        }),
        tool("ask_defaults", "Asks with a form whose defaults all differ from what one would make up", |revision| {
            Question::form("defaults", "Please look this over", defaults(revision))
        }),
        tool("ask_consent", "Asks with a form without fields", |_| {
            Question::form_without_mode("consent", "Do you agree?", json!({ "type": "object", "properties": {} }))
        }),
    ];
    Catalogue { tools, ..Catalogue::new("proof-scenarios", env!("CARGO_PKG_VERSION")) }
}

fn tool(name: &'static str, about: &'static str, question: fn(Revision) -> Question) -> Tool {
    Tool::later(name, about, move |server, invocation| {
        let question = question(invocation.call.context.revision);
        asked(server, invocation, question)
    })
    .since(R2025_06_18)
    .hints(Hints::ASKS)
}

fn fields(value: Value) -> Map<String, Value> {
    if let Value::Object(fields) = value { fields } else { Map::new() }
}

/// All of them required.
fn form(fields: Map<String, Value>) -> Value {
    let required: Vec<_> = fields.keys().cloned().collect();
    json!({ "type": "object", "properties": fields, "required": required })
}

fn strict(revision: Revision) -> Value {
    let mut all = fields(json!({
        "code": { "type": "string", "title": "Code", "minLength": 5, "maxLength": 8 },
        "email": { "type": "string", "title": "E-mail", "format": "email" },
        "homepage": { "type": "string", "title": "Home page", "format": "uri" },
        "day": { "type": "string", "title": "Day", "format": "date" },
        "moment": { "type": "string", "title": "Moment", "format": "date-time" },
        "count": { "type": "integer", "title": "Count", "minimum": 3, "maximum": 4 },
        "share": { "type": "number", "title": "Share", "minimum": 0.25, "maximum": 0.75 },
        "sure": { "type": "boolean", "title": "Sure" },
        "plan": { "type": "string", "title": "Plan", "enum": ["f1", "t2"], "enumNames": ["Free", "Team"] },
        "größe": { "type": "string", "title": "Größe", "enum": ["kleiner", "größer"] },
    }));
    if revision.at_least(R2025_11_25) {
        all.extend(fields(json!({
            "size": {
                "type": "string", "title": "Size",
                "oneOf": [{ "const": "s", "title": "Small" }, { "const": "l", "title": "Large" }],
            },
            "colours": {
                "type": "array", "title": "Colours", "minItems": 2, "maxItems": 2,
                "items": { "type": "string", "enum": ["red", "green", "blue"] },
            },
            "days": {
                "type": "array", "title": "Days", "minItems": 2, "maxItems": 3,
                "items": { "anyOf": [{ "const": "sat", "title": "Saturday" }, { "const": "sun", "title": "Sunday" }] },
            },
        })));
    }
    form(all)
}

fn defaults(revision: Revision) -> Value {
    let mut all = fields(json!({ "agree": { "type": "boolean", "default": false } }));
    if revision.at_least(R2025_11_25) {
        all.extend(fields(json!({
            "name": { "type": "string", "minLength": 2, "default": "Ömer" },
            "age": { "type": "integer", "minimum": -5, "maximum": -1, "default": -3 },
            "ratio": { "type": "number", "minimum": 0.1, "maximum": 0.2, "default": 0.15 },
            "plan": { "type": "string", "enum": ["a", "b", "c"], "default": "c" },
            "tags": {
                "type": "array", "minItems": 1, "items": { "type": "string", "enum": ["x", "y"] }, "default": ["y"],
            },
        })));
    }
    form(all)
}
