//! Tools that name places which a client must not go to unasked.

use serde_json::{Value, json};

use crate::catalogue::{Outcome, Tool};

pub(super) fn tools(origin: &str) -> Vec<Tool> {
    let remote =
        json!({ "type": "object", "properties": { "v": { "$ref": format!("{origin}/schemas/remote.json") } } });
    let dynamic = json!({ "type": "object", "allOf": [{ "$ref": format!("{origin}/schemas/all.json#/$defs/any") }] });
    vec![
        tool("remote_ref", remote.clone()),
        tool("remote_ref_in_all_of", dynamic),
        tool("remote_output", json!({ "type": "object" })).output(remote),
        tool("plain", json!({ "type": "object", "additionalProperties": false })),
    ]
}

fn tool(name: &'static str, schema: Value) -> Tool {
    Tool::now(name, "Names a place in its schema", |_, _| Outcome::text("Called")).input(schema)
}
