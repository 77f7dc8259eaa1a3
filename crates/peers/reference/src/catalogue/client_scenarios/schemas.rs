//! A schema that a client must keep whole, and the tool that it hands it to.

use serde_json::{Value, json};

use crate::catalogue::{Outcome, Tool};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::now("json_schema_2020_12_tool", "Has a schema with keywords that a careless copy would lose", |_, _| {
            Outcome::text("These fit")
        })
        .input(parcel()),
        Tool::now("json_schema_echo", "Wants the input schema of the other tool, as it was listed", |_, invocation| {
            let same = invocation.arguments.get("schema") == Some(&parcel());
            Outcome::text(if same { "The schema is whole" } else { "That is another schema" })
        })
        .takes(json!({ "schema": { "type": "object" } }), &["schema"]),
    ]
}

fn parcel() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "place": {
            "$anchor": "place",
            "type": "object",
            "properties": { "town": { "type": "string" } },
            "required": ["town"],
        } },
        "properties": {
            "to": { "$ref": "#/$defs/place" },
            "kind": { "type": "string", "enum": ["letter", "box"] },
            "weight": { "type": "number", "exclusiveMinimum": 0 },
        },
        "allOf": [{ "required": ["to"] }],
        "anyOf": [{ "required": ["kind"] }, { "required": ["weight"] }],
        "if": { "properties": { "kind": { "const": "box" } }, "required": ["kind"] },
        "then": { "required": ["weight"] },
        "unevaluatedProperties": false,
    })
}
