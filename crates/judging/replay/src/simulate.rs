//! An answer that was never given: made from what the recording says of the server's tools, and from the seed. It fits the
//! schema, and means nothing.

use schema::sample::{self, Style};
use schema::{Rng, Validator};
use serde_json::{Value, json};

use super::key::Asked;

/// A result for `asked`; `listed` is what the recording lists of its kind. None where the server would have known no such
/// thing, or no such method.
pub(super) fn simulated(asked: &Asked, listed: &[Value], number: u64) -> Option<Value> {
    let known =
        |member: &str| listed.iter().find(|item| item.get(member).and_then(Value::as_str) == asked.name.as_deref());
    let text = format!("Simulated answer {number:016x}");
    Some(match asked.method.as_str() {
        "tools/call" => {
            let tool = known("name");
            if tool.is_none() && !listed.is_empty() {
                return None;
            }
            match tool.and_then(|tool| tool.get("outputSchema")) {
                Some(schema) => structured(schema, number)?,
                None => json!({ "content": [{ "type": "text", "text": text }] }),
            }
        }
        "prompts/get" => {
            if known("name").is_none() && !listed.is_empty() {
                return None;
            }
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": text } }] })
        }
        "resources/read" => {
            let mut contents = json!({ "uri": asked.name.as_deref()?, "text": text });
            if let Some(mime) = known("uri").and_then(|resource| resource.get("mimeType")) {
                contents["mimeType"] = mime.clone();
            }
            json!({ "contents": [contents] })
        }
        "completion/complete" => json!({ "completion": { "values": [], "total": 0, "hasMore": false } }),
        "tools/list" => json!({ "tools": [] }),
        "prompts/list" => json!({ "prompts": [] }),
        "resources/list" => json!({ "resources": [] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => json!({}),
        _ => return None,
    })
}

/// A tool's result whose value its output schema admits; None where that schema is too clever for us.
fn structured(schema: &Value, number: u64) -> Option<Value> {
    // Seed 0 would draw nothing.
    let value = Value::Object(sample::object(schema, Style::Smallest, &Rng::new(number.max(1), "simulated"))?);
    let validator = Validator::new(schema).ok()?;
    validator.is_valid(&value).then(|| {
        let text = value.to_string();
        json!({ "content": [{ "type": "text", "text": text }], "structuredContent": value })
    })
}
