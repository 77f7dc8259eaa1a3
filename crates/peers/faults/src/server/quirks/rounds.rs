//! Quirks of requests in several rounds (2026-07-28, basic/patterns/mrtr): states that invite rewriting, everything asked at
//! once, and input that the client never declared.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use net::service::{Link, Reply};
use serde_json::{Map, Value, json};
use wire::error_code::HEADER_MISMATCH;

use super::calls::answer;
use super::quirk;
use crate::server::jsonrpc::error;
use crate::server::{Fault, Kind, ServiceRequest};

/// What a careless client parses, trims, decodes or normalizes.
const FIRST: &str = " {\"a\": 1.0, \"b\": \"\\u00e9\"}\t";
const SECOND: &str = "%7B+%2F==&x=e\u{301}\u{1f600}\u{2028} ";

/// What a careless client takes for no state.
const EMPTY: &str = "";

pub(super) const ROUNDS: &[&Fault] = &[ODD_STATES, ASKS_THE_UNDECLARED, HEADERS_REFUSED_ONCE];

/// The quirk `odd-states`.
pub const ODD_STATES: &Fault = &quirk("odd-states", Kind::Handles(ask_in_rounds)).modern();

/// The quirk `asks-the-undeclared`.
pub const ASKS_THE_UNDECLARED: &Fault = &quirk("asks-the-undeclared", Kind::Handles(ask_the_undeclared)).modern();

/// The quirk `headers-refused-once`.
pub const HEADERS_REFUSED_ONCE: &Fault = &quirk(
    "headers-refused-once",
    Kind::Handles(|asked, _, reply| {
        if !asked.is("tools/call") || asked.calls > 0 {
            return reply;
        }
        let why = "Header mismatch: the tool's parameters have changed";
        answer(&error(asked, HEADER_MISMATCH, why)).into()
    }),
)
.modern()
.http();

/// What is asked: its key, the capability that it takes, the request.
fn questions() -> Vec<(&'static str, &'static str, Value)> {
    let schema = json!({
        "type": "object",
        "properties": { "count": { "type": "integer", "minimum": 3, "maximum": 4 } },
        "required": ["count"],
    });
    let content = json!({ "type": "text", "text": "Hello" });
    let sampling = json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 1 });
    let request = |method: &str, params: Value| json!({ "method": method, "params": params });
    vec![
        // A form need not say that it is one.
        (
            "a form",
            "elicitation",
            request("elicitation/create", json!({ "message": "How many?", "requestedSchema": schema })),
        ),
        ("1", "sampling", request("sampling/createMessage", sampling)),
        ("größe/~0", "roots", json!({ "method": "roots/list" })),
    ]
}

fn requested(asked: &ServiceRequest, declared: bool) -> Map<String, Value> {
    let own = asked.meta("clientCapabilities");
    let asks = |capability: &str| match own.get(capability) {
        // A client that names modes may not have this one.
        Some(modes) if capability == "elicitation" => modes.get("form").is_some() || modes.get("url").is_none(),
        Some(_) => true,
        None => false,
    };
    let chosen = questions().into_iter().filter(|(_, capability, _)| asks(capability) == declared);
    chosen.map(|(key, _, request)| (key.to_owned(), request)).collect()
}

fn input_required(asked: &ServiceRequest, requests: Map<String, Value>, state: Option<&str>) -> Reply {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    answer(&json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result })).into()
}

/// The first request of each method that may be answered by asking.
#[derive(Default)]
struct Firsts(Mutex<BTreeMap<String, Value>>);

/// The tool, the prompt or the resource that a request names, if it is the first of its kind that was named.
fn is_first(asked: &ServiceRequest) -> bool {
    let member = if asked.is("resources/read") { "uri" } else { "name" };
    let method = asked.message["method"].as_str().unwrap_or_default().to_owned();
    let firsts = asked.state.of::<Firsts>();
    let mut firsts = firsts.0.lock().unwrap_or_else(PoisonError::into_inner);
    firsts.entry(method).or_insert_with(|| asked.param(member).clone()) == asked.param(member)
}

/// Four rounds: one with a state, one with another state, one with an empty state, one without any.
fn ask_in_rounds(asked: &ServiceRequest, _: &Link, reply: Reply) -> Reply {
    let asks = ["tools/call", "prompts/get", "resources/read"].into_iter().any(|method| asked.is(method));
    if !asks || !is_first(asked) {
        return reply;
    }
    let requests = requested(asked, true);
    let brings = asked.param("inputResponses").is_object();
    match asked.param("requestState").as_str() {
        _ if requests.is_empty() => reply,
        None if brings => finished(asked),
        None => input_required(asked, requests, Some(FIRST)),
        Some(FIRST) => input_required(asked, requests, Some(SECOND)),
        Some(SECOND) => input_required(asked, requests, Some(EMPTY)),
        Some(EMPTY) => input_required(asked, requests, None),
        Some(_) => finished(asked),
    }
}

/// The server itself would refuse states that it did not give.
pub(super) fn finished(asked: &ServiceRequest) -> Reply {
    let text = json!({ "type": "text", "text": "All was answered" });
    let mut result = match asked.message["method"].as_str() {
        Some("prompts/get") => json!({ "messages": [{ "role": "user", "content": text }] }),
        Some("resources/read") => json!({
            "contents": [{ "uri": asked.param("uri"), "text": "All was answered" }], "ttlMs": 0, "cacheScope": "private",
        }),
        _ => json!({ "content": [text] }),
    };
    result["resultType"] = json!("complete");
    answer(&json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result })).into()
}

/// Asks by the result of the first call for what the client did not declare.
fn ask_the_undeclared(asked: &ServiceRequest, _: &Link, reply: Reply) -> Reply {
    let requests = requested(asked, false);
    if !asked.is("tools/call") || asked.calls > 0 || requests.is_empty() {
        return reply;
    }
    input_required(asked, requests, Some("scenario-undeclared"))
}
