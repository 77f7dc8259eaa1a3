//! Our side of what a server may ask of its client: in the legacy era by requests while a probe waits (pings, roots,
//! sampling, elicitation), in the modern one by results. It answers in one of several manners; a probe says which.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use net::client::Connection;
use schema::Rng;
use schema::sample::{Style, object};
use serde_json::{Map, Value, json};
use tokio::task::AbortHandle;
use wire::error_code::{INTERNAL_ERROR, METHOD_NOT_FOUND};
use wire::meta;
use wire::{Kind, Message};

/// How we answer what we are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Manner {
    /// As a client without a user: forms are declined, the model says something canned.
    #[default]
    Usual,
    /// Forms are filled in as they demand, addresses agreed to.
    Willing,
    /// Forms are filled in as they do not admit, the model says nonsense, and there are no roots.
    Wrong,
    /// Forms are accepted without a field that they require.
    Lacking,
    /// Forms are filled in with a value beyond what a field admits of its type: its length or bounds.
    Beyond,
    /// Questions are cancelled, whatever else is asked fails.
    Unable,
    /// Nothing is answered.
    Silent,
}

impl Manner {
    const ALL: [Self; 7] =
        [Self::Usual, Self::Willing, Self::Wrong, Self::Lacking, Self::Beyond, Self::Unable, Self::Silent];
}

/// The manner of a connection, which a probe may change at any time.
#[derive(Clone, Debug, Default)]
pub struct Chosen(Arc<AtomicU8>);

impl Chosen {
    /// Answers in another manner from now on.
    pub fn set(&self, manner: Manner) {
        self.0.store(manner as u8, Ordering::Relaxed);
    }

    /// The manner.
    pub fn now(&self) -> Manner {
        Manner::ALL.get(usize::from(self.0.load(Ordering::Relaxed))).copied().unwrap_or_default()
    }
}

/// Answers a server's requests in the background until it is stopped or dropped.
pub struct Answering {
    task: AbortHandle,
    chosen: Chosen,
}

impl Answering {
    /// Starts answering on a connection.
    pub fn start(connection: Connection) -> Self {
        let chosen = Chosen::default();
        let manner = chosen.clone();
        let task = tokio::spawn(async move {
            let asked = |message: &Message| message.kind() == Kind::Request && manner.now() != Manner::Silent;
            // An hour outlives any case; a connection that ends, ends the wait.
            while let Some(request) = connection.wait_for(asked, Duration::from_hours(1)).await {
                if request.meta().and_then(|meta| meta.get(meta::RELATED_TASK)).is_some() {
                    // Time to look at the task while it waits.
                    tokio::time::sleep(PAUSE).await;
                }
                if connection.send(&answer(&request, manner.now())).await.is_err() {
                    break;
                }
            }
        });
        Self { task: task.abort_handle(), chosen }
    }

    /// In which manner it answers.
    pub const fn manner(&self) -> &Chosen {
        &self.chosen
    }

    /// Stops answering.
    pub fn stop(&self) {
        self.task.abort();
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.stop();
    }
}

/// How long a task waits for its answer.
const PAUSE: Duration = Duration::from_millis(600);

/// The answer to a server's request.
pub fn answer(request: &Message, manner: Manner) -> String {
    let id = request.id().map_or(Value::Null, |id| serde_json::from_str(&id.to_json()).unwrap_or_default());
    let params = request.params().cloned().unwrap_or_default();
    let (member, mut body) = match result(request.method().unwrap_or_default(), &params, manner) {
        Answer::Result(result) => ("result", result),
        Answer::Failure => ("error", json!({ "code": INTERNAL_ERROR, "message": "Internal error" })),
        Answer::Unknown => ("error", json!({ "code": METHOD_NOT_FOUND, "message": "Method not found" })),
    };
    if let Some(task) = request.meta().and_then(|meta| meta.get(meta::RELATED_TASK)).filter(|_| member == "result") {
        body["_meta"] = json!({ meta::RELATED_TASK: task });
    }
    json!({ "jsonrpc": "2.0", "id": id, member: body }).to_string()
}

/// What we have to say to a request.
enum Answer {
    Result(Value),
    /// It fails.
    Failure,
    /// There is no such method.
    Unknown,
}

/// The least that a client with our capabilities may answer to `method`, or less.
fn result(method: &str, params: &Value, manner: Manner) -> Answer {
    match (method, manner) {
        ("ping", _) => Answer::Result(json!({})),
        ("roots/list" | "sampling/createMessage", Manner::Unable) => Answer::Failure,
        ("roots/list", Manner::Wrong) => Answer::Result(json!({ "roots": [] })),
        ("roots/list", _) => Answer::Result(json!({ "roots": [{ "uri": "file:///tmp", "name": "tmp" }] })),
        ("sampling/createMessage", _) => Answer::Result(said(params, manner)),
        ("elicitation/create", _) => Answer::Result(told(params, manner)),
        _ => Answer::Unknown,
    }
}

/// What the model says: it uses a tool once where it is offered any.
fn said(params: &Value, manner: Manner) -> Value {
    let used = params.to_string().contains("\"tool_result\"");
    let barred = params.pointer("/toolChoice/mode") == Some(&json!("none"));
    let tool = params.pointer("/tools/0").filter(|_| !used && !barred);
    let (content, reason) = match tool {
        _ if manner == Manner::Wrong => (json!(7), "endTurn"),
        Some(tool) => (json!([used_twice(tool, 1), used_twice(tool, 2)]), "toolUse"),
        None => (json!({ "type": "text", "text": "A canned answer." }), "endTurn"),
    };
    json!({ "role": "assistant", "content": content, "model": "proof-canned", "stopReason": reason })
}

/// One of several uses of a tool at a time.
fn used_twice(tool: &Value, number: usize) -> Value {
    let made = tool.get("inputSchema").and_then(|schema| object(schema, Style::Smallest, &Rng::plain()));
    let name = tool.get("name").cloned().unwrap_or_default();
    json!({ "type": "tool_use", "id": format!("proof-use-{number}"), "name": name, "input": made.unwrap_or_default() })
}

/// What the user says to a form or an address.
fn told(params: &Value, manner: Manner) -> Value {
    let decline = json!({ "action": "decline" });
    if manner == Manner::Unable {
        return json!({ "action": "cancel" });
    }
    let address = params.get("mode") == Some(&json!("url"));
    let content = match (params.get("requestedSchema"), manner) {
        (_, Manner::Willing) if address => return json!({ "action": "accept" }),
        (Some(schema), Manner::Willing) => filled(schema),
        (Some(schema), Manner::Wrong) => filled(schema).and_then(|content| spoilt(schema, content)),
        (Some(schema), Manner::Lacking) => filled(schema).and_then(|content| lacking(schema, content)),
        (Some(schema), Manner::Beyond) => filled(schema).and_then(|content| beyond(schema, content)),
        _ => None,
    };
    content.map_or(decline, |content| json!({ "action": "accept", "content": content }))
}

/// A form filled in as it demands: what must be there.
fn filled(schema: &Value) -> Option<Map<String, Value>> {
    let mut content = object(schema, Style::Smallest, &Rng::plain())?;
    // With nothing in it, it could not be told from one that is refused.
    if content.is_empty() {
        let (name, field) = schema.get("properties")?.as_object()?.iter().next()?;
        let mut all = Map::new();
        all.insert("properties".to_owned(), json!({ name: field }));
        all.insert("required".to_owned(), json!([name]));
        all.insert("type".to_owned(), json!("object"));
        content = object(&Value::Object(all), Style::Smallest, &Rng::plain())?;
    }
    Some(content)
}

/// The same with one value that its field does not admit.
fn spoilt(schema: &Value, mut content: Map<String, Value>) -> Option<Map<String, Value>> {
    let (name, value) = content.iter_mut().next()?;
    let field = schema.get("properties")?.get(name)?;
    let chosen = ["enum", "oneOf", "items"].into_iter().any(|choice| field.get(choice).is_some());
    *value = match field.get("type")?.as_str()? {
        "string" if !chosen => json!(73_019),
        _ => json!("proof-unfit"),
    };
    Some(content)
}

/// The same without the first field that must be there.
fn lacking(schema: &Value, mut content: Map<String, Value>) -> Option<Map<String, Value>> {
    let required = schema.get("required")?.as_array()?.iter().find_map(Value::as_str)?;
    content.remove(required).map(|_| content)
}

/// The same with the first value that can be of its field's type and yet not what the field admits.
fn beyond(schema: &Value, mut content: Map<String, Value>) -> Option<Map<String, Value>> {
    let fields = schema.get("properties")?.as_object()?;
    let (name, value) = fields.iter().find_map(|(name, field)| Some((name, out_of_range(field)?)))?;
    content.insert(name.clone(), value);
    Some(content)
}

/// How long a text may be that is sent because it is too long.
const LONGEST: u64 = 1000;

/// A bound and one more, as whole as the bound is.
fn past(bound: Option<&Value>, step: i32) -> Option<Value> {
    let bound = bound?;
    let whole = bound.as_i64().and_then(|bound| bound.checked_add(step.into())).map(|past| json!(past));
    whole.or_else(|| Some(json!(bound.as_f64()? + f64::from(step))))
}

/// A value of the field's type that the field does not admit.
fn out_of_range(field: &Value) -> Option<Value> {
    let length = |keyword: &str| field.get(keyword).and_then(Value::as_u64);
    match field.get("type")?.as_str()? {
        "integer" | "number" => past(field.get("maximum"), 1).or_else(|| past(field.get("minimum"), -1)),
        // Validators need not look at formats, and a choice has no length.
        "string" if ["enum", "oneOf", "format"].iter().any(|keyword| field.get(keyword).is_some()) => None,
        "string" => match (length("maxLength").filter(|most| *most < LONGEST), length("minLength")) {
            (Some(most), _) => Some(json!("x".repeat(usize::try_from(most).ok()? + 1))),
            (None, Some(1..)) => Some(json!("")),
            (None, _) => None,
        },
        _ => None,
    }
}

/// The answers to the requests within an `input_required` result (modern era), by their keys.
pub fn inputs(result: &Value, manner: Manner) -> Map<String, Value> {
    let asked = result.get("inputRequests").and_then(Value::as_object).into_iter().flatten();
    let answered = asked.filter_map(|(key, request)| {
        let params = request.get("params").cloned().unwrap_or_default();
        match self::result(request.get("method")?.as_str()?, &params, manner) {
            Answer::Result(result) => Some((key.clone(), result)),
            Answer::Failure | Answer::Unknown => None,
        }
    });
    answered.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Manner, told};

    fn content(schema: &Value, manner: Manner) -> Option<Value> {
        told(&json!({ "mode": "form", "requestedSchema": schema }), manner).get("content").cloned()
    }

    #[test]
    fn forms_are_filled_in_as_they_do_not_admit_in_three_ways() {
        let schema = |field: Value| json!({ "type": "object", "properties": { "a": field }, "required": ["a"] });
        for (field, beyond) in [
            (json!({ "type": "integer", "minimum": 1, "maximum": 12 }), json!(13)),
            (json!({ "type": "number", "minimum": 0.5 }), json!(-0.5)),
            (json!({ "type": "string", "minLength": 1, "maxLength": 3 }), json!("xxxx")),
            (json!({ "type": "string", "minLength": 1 }), json!("")),
        ] {
            let schema = schema(field);
            assert_eq!(content(&schema, Manner::Beyond), Some(json!({ "a": beyond })), "{schema}");
            assert_eq!(content(&schema, Manner::Lacking), Some(json!({})), "{schema}");
            let validator = schema::Validator::new(&schema).expect("a schema");
            for manner in [Manner::Wrong, Manner::Lacking, Manner::Beyond] {
                assert!(!validator.is_valid(&content(&schema, manner).expect("it is accepted")), "{schema} {manner:?}");
            }
            assert!(validator.is_valid(&content(&schema, Manner::Willing).expect("it is accepted")), "{schema}");
        }
        for field in [
            json!({ "type": "boolean" }),
            json!({ "type": "string", "enum": ["low", "high"] }),
            json!({ "type": "string", "format": "email", "maxLength": 40 }),
        ] {
            assert_eq!(content(&schema(field), Manner::Beyond), None, "declined");
        }
        let optional = json!({ "type": "object", "properties": { "a": { "type": "boolean" } } });
        assert_eq!(content(&optional, Manner::Lacking), None, "declined");
    }
}
