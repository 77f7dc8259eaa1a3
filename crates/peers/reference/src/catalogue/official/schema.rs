//! Tools whose input schema is the point.

use serde_json::{Value, json};
use wire::revision::R2026_07_28;

use crate::catalogue::{Outcome, Tool};

pub(super) fn tools() -> Vec<Tool> {
    let region =
        json!({ "region": { "type": "string", "description": "Where to route to", "x-mcp-header": "Region" } });
    vec![
        Tool::now(
            "json_schema_2020_12_tool",
            "Takes what a schema of the 2020-12 dialect lets through",
            |_, invocation| Outcome::text(format!("These fit: {}", invocation.arguments)),
        )
        .input(person()),
        Tool::now("test_x_mcp_header", "Has an argument that is mirrored into a header", |_, invocation| {
            Outcome::text(format!("Routed to {}", invocation.text("region").unwrap_or("nowhere")))
        })
        .since(R2026_07_28)
        .takes(region, &[]),
    ]
}

/// A schema with keywords that a careless copy would lose.
fn person() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}
