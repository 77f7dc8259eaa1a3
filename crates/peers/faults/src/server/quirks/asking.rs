//! Quirks of what a server asks its client: for roots again and again, and for words of a model that has to use a tool, or
//! must not.

use std::sync::atomic::{AtomicBool, Ordering};

use net::service::{Link, Reply};
use serde_json::{Value, json};
use wire::Era;
use wire::revision::R2025_11_25;

use super::calls::{answer, questions_first, settled};
use super::quirk;
use super::rounds::finished;
use crate::server::{Fault, Kind, ServiceRequest};

/// How long a list may wait for the client's roots.
const ROOTS: std::time::Duration = std::time::Duration::from_secs(2);

/// What says that the model was asked.
const STATE: &str = "scenario-tool-choice";

pub(super) const ASKING: &[&Fault] = &[ASKS_FOR_ROOTS_AGAIN, CHOOSES_TOOLS];

/// The quirk `asks-for-roots-again`.
pub const ASKS_FOR_ROOTS_AGAIN: &Fault = &quirk("asks-for-roots-again", Kind::Handles(ask_for_roots)).legacy();

/// The quirk `chooses-tools`.
pub const CHOOSES_TOOLS: &Fault = &quirk("chooses-tools", Kind::Handles(choose_tools)).since(R2025_11_25);

/// Whether the client declared this, named by a JSON pointer.
fn declares(asked: &ServiceRequest, pointer: &str) -> bool {
    let own = match asked.context.era() {
        Era::Modern => Some(asked.meta("clientCapabilities")),
        Era::Legacy => asked.context.session.as_ref().and_then(|session| session.opening()).map(|o| &o.capabilities),
    };
    own.and_then(|own| own.pointer(pointer)).is_some_and(|declared| !declared.is_null())
}

/// Whether the client is being asked for its roots.
#[derive(Default)]
struct RootsOpen(AtomicBool);

/// Before a list of tools begins, and before each call. What a client asks before it answers is answered at once.
fn ask_for_roots(asked: &ServiceRequest, link: &Link, reply: Reply) -> Reply {
    let begins = asked.is("tools/list") && asked.param("cursor").is_null();
    if !(begins || asked.is("tools/call")) || !declares(asked, "/roots") {
        return reply;
    }
    let open = asked.state.of::<RootsOpen>();
    if open.0.swap(true, Ordering::Relaxed) {
        return reply;
    }
    let link = link.clone();
    // Given up here, it would be cancelled.
    let asking = tokio::spawn(async move { link.request("roots/list", json!({})).await });
    Reply::later(async move {
        let _ = tokio::time::timeout(ROOTS, asking).await;
        open.0.store(false, Ordering::Relaxed);
        settled(reply).await
    })
}

/// What a model is asked that is given a tool.
fn sampling(mode: &str) -> Value {
    let text = json!({ "type": "text", "text": "What is 17 plus 25?" });
    let number = json!({ "type": "number" });
    let schema = json!({ "type": "object", "properties": { "a": number, "b": number }, "required": ["a", "b"] });
    json!({
        "messages": [{ "role": "user", "content": text }], "maxTokens": 90,
        "tools": [{ "name": "scenario_add", "description": "Adds two numbers", "inputSchema": schema }],
        "toolChoice": { "mode": mode },
    })
}

/// The first call is answered when the model was asked twice: once it must use a tool, once it must not.
fn choose_tools(asked: &ServiceRequest, link: &Link, reply: Reply) -> Reply {
    if !declares(asked, "/sampling/tools") {
        return reply;
    }
    let ask = |mode: &str| ("sampling/createMessage", sampling(mode));
    if !asked.is_modern() {
        return questions_first(asked, link, reply, &[ask("required"), ask("none")]);
    }
    if asked.is("tools/call") && asked.param("requestState") == STATE {
        return finished(asked);
    }
    if !asked.is("tools/call") || asked.calls > 0 {
        return reply;
    }
    let request = |mode: &str| json!({ "method": "sampling/createMessage", "params": sampling(mode) });
    let result = json!({
        "resultType": "input_required", "requestState": STATE,
        "inputRequests": { "with": request("required"), "without": request("none") },
    });
    answer(&json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result })).into()
}
