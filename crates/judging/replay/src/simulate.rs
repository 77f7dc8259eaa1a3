//! Simulated answers: in the likeness of recorded calls of the same tool, or else made from the tools and resources that the
//! recording lists, and from the seed. They match the schema and have no further meaning.

use schema::sample::{self, Style};
use schema::{Rng, Validator};
use serde_json::{Value, json};

use super::likeness::adapted;
use super::request_key::KeyedRequest;

/// What the recording has for a request.
pub(super) struct Known<'k> {
    /// The recorded tools, prompts or resources.
    pub(super) listed: &'k [Value],
    /// Calls of the same tool, and their results.
    pub(super) examples: &'k [(KeyedRequest, Value)],
}

impl<'k> Known<'k> {
    /// The tool, prompt or resource that a request names.
    pub(super) fn item(&self, request: &KeyedRequest) -> Option<&'k Value> {
        let member = if request.method == "resources/read" { "uri" } else { "name" };
        self.listed.iter().find(|item| item.get(member).and_then(Value::as_str) == request.name.as_deref())
    }
}

/// A result for `request`. `None` where the server lists others, or the method is unknown.
pub(super) fn result(request: &KeyedRequest, known: &Known<'_>, number: u64) -> Option<Value> {
    let Known { listed, examples } = known;
    let item = known.item(request);
    let text = format!("Simulated answer {number:016x}");
    Some(match request.method.as_str() {
        "tools/call" => {
            if item.is_none() && !listed.is_empty() {
                return None;
            }
            let schema = item.and_then(|tool| tool.get("outputSchema"));
            match (like_recorded(request, examples, schema, number), schema) {
                (Some(result), _) => result,
                (None, Some(schema)) => structured(schema, number)?,
                (None, None) => json!({ "content": [{ "type": "text", "text": text }] }),
            }
        }
        "prompts/get" => {
            if item.is_none() && !listed.is_empty() {
                return None;
            }
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": text } }] })
        }
        "resources/read" => {
            let mut contents = json!({ "uri": request.name.as_deref()?, "text": text });
            if let Some(mime) = item.and_then(|resource| resource.get("mimeType")) {
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

/// A result in the likeness of one of the examples, if the output schema accepts it.
fn like_recorded(
    request: &KeyedRequest,
    examples: &[(KeyedRequest, Value)],
    schema: Option<&Value>,
    number: u64,
) -> Option<Value> {
    let usable: Vec<_> =
        examples.iter().filter(|(_, result)| result.get("content").is_some_and(Value::is_array)).collect();
    let at = usize::try_from(number % u64::try_from(usable.len()).ok().filter(|count| *count > 0)?).ok()?;
    let (recorded, result) = usable.get(at)?;
    let result = adapted(result, &recorded.arguments, &request.arguments);
    let Some(schema) = schema else { return Some(result) };
    let validator = Validator::new(schema).ok()?;
    result.get("structuredContent").is_some_and(|value| validator.is_valid(value)).then_some(result)
}

/// A tool's result that its output schema accepts; `None` where no such value was found.
fn structured(schema: &Value, number: u64) -> Option<Value> {
    // Seed 0 means no randomness.
    let value = Value::Object(sample::object(schema, Style::Smallest, &Rng::new(number.max(1), "simulated"))?);
    let validator = Validator::new(schema).ok()?;
    validator.is_valid(&value).then(|| {
        let text = value.to_string();
        json!({ "content": [{ "type": "text", "text": text }], "structuredContent": value })
    })
}
