//! The kinds of messages that cross a gateway, and how each is translated.

use std::fmt;

use serde_json::{Value, json};
use wire::message::{Packet, parse};
use wire::method::{self, Method};
use wire::revision::{R2025_06_18, R2025_11_25};
use wire::translate::message::{Envelope, RequestEdits, notification, request, response};
use wire::translate::question::Question;
use wire::translate::table::Loss;
use wire::{Era, Revision};

/// Requests whose parameters and results pass.
const PASSED: [&str; 8] = [
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
];
/// Notifications of servers.
const NOTIFICATIONS: [&str; 6] = [
    "notifications/progress",
    "notifications/message",
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
];
/// What servers ask.
const QUESTIONS: [&str; 3] = ["roots/list", "sampling/createMessage", "elicitation/create"];

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Request(&'static Method),
    Result(&'static Method),
    Error(&'static str),
    Notification(&'static Method),
    Question(&'static Method),
    /// The answer to a question.
    Answer(&'static Method),
}

/// Everything that crosses from a party of `from` to one of `to`.
pub(crate) fn between(from: Revision, to: Revision) -> Vec<Kind> {
    let at_both = |name: &&str| Some(method::find(name, from)?).filter(|_| method::find(name, to).is_some());
    let mut kinds = Vec::new();
    for method in PASSED.iter().filter_map(at_both) {
        kinds.extend([Kind::Request(method), Kind::Result(method), Kind::Error(method.name)]);
    }
    kinds.extend(NOTIFICATIONS.iter().filter_map(at_both).map(Kind::Notification));
    for method in QUESTIONS.iter().filter_map(at_both) {
        kinds.push(Kind::Question(method));
        // What a client fills in follows the form.
        if method.name != "elicitation/create" {
            kinds.push(Kind::Answer(method));
        }
    }
    kinds
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Request(_) => "request",
            Self::Result(_) => "result",
            Self::Error(_) => "error",
            Self::Notification(_) => "notification",
            Self::Question(_) => "question",
            Self::Answer(_) => "answer",
        };
        write!(f, "{word} {}", self.method())
    }
}

impl Kind {
    fn method(&self) -> &'static str {
        match self {
            Self::Error(name) => name,
            Self::Request(method)
            | Self::Result(method)
            | Self::Notification(method)
            | Self::Question(method)
            | Self::Answer(method) => method.name,
        }
    }

    /// The official definition that describes it.
    pub(crate) fn definition_at(&self, revision: Revision) -> &'static str {
        let method = || method::find(self.method(), revision).expect("both revisions have it");
        match self {
            Self::Request(_) | Self::Notification(_) | Self::Question(_) => method().definition,
            Self::Result(_) | Self::Answer(_) => method().result.expect("a request has a result"),
            Self::Error(_) if revision.at_least(R2025_11_25) => "JSONRPCErrorResponse",
            Self::Error(_) => "JSONRPCError",
        }
    }

    /// The part of a message that its definition describes.
    pub(crate) fn body<'m>(&self, message: &'m Value) -> &'m Value {
        match self {
            Self::Result(_) | Self::Answer(_) => &message["result"],
            _ => message,
        }
    }

    /// A message of `revision` around a generated value.
    pub(crate) fn message(&self, revision: Revision, mut value: Value) -> Value {
        match self {
            Self::Result(method) => {
                if method.name == "tools/list" && revision.era() == Era::Modern {
                    let tools = value["tools"].as_array_mut().into_iter().flatten();
                    tools.enumerate().for_each(|(turn, tool)| add_schema_members(&mut tool["inputSchema"], turn));
                }
                // Other types go their own way: `input_required` asks, a task is refused.
                if revision.era() == Era::Modern {
                    value["resultType"] = json!("complete");
                }
                json!({ "jsonrpc": "2.0", "id": 7, "result": value })
            }
            Self::Answer(_) => json!({ "jsonrpc": "2.0", "id": 7, "result": value }),
            Self::Error(_) => {
                value["id"] = json!(7);
                value
            }
            Self::Request(_) | Self::Question(_) => {
                value["jsonrpc"] = json!("2.0");
                value["id"] = json!(7);
                value
            }
            Self::Notification(_) => {
                value["jsonrpc"] = json!("2.0");
                value
            }
        }
    }

    /// The message for a party of `to`.
    pub(crate) fn translate(&self, message: &Value, from: Revision, to: Revision) -> (Value, Vec<Loss>) {
        let text = message.to_string();
        let parsed = |text: &str| serde_json::from_str(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        let server = json!({ "name": "s", "version": "1" });
        match self {
            Self::Request(_) => (parsed(&translated_request(&text, from, to)), Vec::new()),
            Self::Result(_) | Self::Error(_) => {
                let Ok(Packet::Message(read)) = parse(text.as_bytes()) else { panic!("no message: {text}") };
                let translated = response(&read, self.method(), from, to, &7.into(), &server);
                (parsed(&translated.text), translated.losses)
            }
            Self::Notification(method) => {
                let token = message.pointer("/params/progressToken").map(ToString::to_string);
                let token = token.filter(|_| method.name == "notifications/progress");
                let translated = notification(&text, token.as_deref(), to);
                (parsed(&translated.text), translated.losses)
            }
            Self::Question(method) => {
                let Some(params) = message.get("params") else { return (message.clone(), Vec::new()) };
                let question = Question::new(method.name, params, from, to, "key");
                let mut message = message.clone();
                message["params"] = question.params;
                (message, question.losses)
            }
            Self::Answer(method) => {
                let question = Question::new(method.name, &json!({}), to, from, "key");
                let (result, losses) = question.answer(&message["result"], to);
                (json!({ "jsonrpc": "2.0", "id": 7, "result": result }), losses)
            }
        }
    }

    /// Whether a message of the one revision has a form in the other. A client of 2025-06-18 is not asked for a URL.
    pub(crate) fn crosses(message: &Value, from: Revision, to: Revision) -> bool {
        let by_url = message.pointer("/params/mode").is_some_and(|mode| mode == "url");
        !(by_url && [from, to].contains(&R2025_06_18))
    }

    /// Whether what comes back can be compared. A form for 2025-06-18 names its choices in another way, without a loss.
    pub(crate) fn comes_back(&self, from: Revision, to: Revision) -> bool {
        !(self.method() == "elicitation/create" && [from, to].contains(&R2025_06_18))
    }
}

/// What 2026-07-28 leaves open in a schema, and older revisions do not.
fn add_schema_members(schema: &mut Value, turn: usize) {
    let size = schema.as_object().map_or(0, serde_json::Map::len);
    match (turn + size) % 4 {
        0 => schema["properties"] = json!({ "a": true, "b": { "type": "string" }, "c": false }),
        1 => schema["properties"] = json!(["a"]),
        2 => schema["required"] = json!([1]),
        _ => schema["allOf"] = json!([true]),
    }
}

fn translated_request(text: &str, from: Revision, to: Revision) -> String {
    let (client, capabilities) = (json!({ "name": "c", "version": "1" }), json!({}));
    let envelope = (from.era() == Era::Legacy && to.era() == Era::Modern).then_some(Envelope {
        revision: to,
        client: &client,
        capabilities: &capabilities,
        log_level: None,
    });
    let to_legacy = from.era() == Era::Modern && to.era() == Era::Legacy;
    request(text, &RequestEdits { envelope, to_legacy, ..RequestEdits::default() }).into_owned()
}
