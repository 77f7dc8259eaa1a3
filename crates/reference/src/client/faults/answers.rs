//! What a client answers when it is asked (client): by a response in the legacy era, within a request in the modern one.

use serde_json::{Value, json};
use wire::revision::R2025_06_18;

use super::{Fault, Kind, answers, fault};

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "ping-unanswered",
        "ping.answered",
        "answers no ping",
        Kind::Instead(|message| is_pong(message).then(Vec::new)),
    )
    .legacy()
    .seen_in("pinged"),
    fault(
        "ping-refused",
        "ping.served",
        "answers a ping with an error",
        Kind::Instead(|message| {
            let error = json!({ "code": -32603, "message": "Not now" });
            is_pong(message).then(|| vec![json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string()])
        }),
    )
    .legacy()
    .seen_in("pinged"),
    fault(
        "pong-with-more",
        "ping.empty-result",
        "answers a ping with more than nothing",
        Kind::Says(|message| {
            let found = is_pong(message);
            if found {
                message["result"]["pong"] = json!(true);
            }
            found
        }),
    )
    .legacy()
    .seen_in("pinged"),
    fault(
        "answers-twice",
        "jsonrpc.one-answer",
        "answers every question twice",
        Kind::Instead(|message| answers(message).then(|| vec![message.to_string(), message.to_string()])),
    )
    .legacy()
    .seen_in("pinged"),
    fault(
        "never-answers",
        "jsonrpc.answered",
        "answers nothing that it is asked",
        Kind::Instead(|message| answers(message).then(Vec::new)),
    )
    .legacy()
    .seen_in("hostile.unknown-request"),
    fault(
        "unknown-method-served",
        "errors.method-not-found",
        "refuses a method that it does not know with another code",
        Kind::Says(|message| {
            let found = message.pointer("/error/code") == Some(&json!(-32601));
            if found {
                message["error"]["code"] = json!(-31_999);
            }
            found
        }),
    )
    .legacy()
    .seen_in("hostile.unknown-request"),
    fault(
        "error-code-text",
        "jsonrpc.error-code-integer",
        "writes the codes of its errors as texts",
        Kind::Says(|message| {
            let Some(code) = message.pointer_mut("/error/code") else { return false };
            *code = json!(code.to_string());
            true
        }),
    )
    .legacy()
    .seen_in("hostile.unknown-request")
    .breaks_too(&["http.post-holds-message", "jsonrpc.answered"]),
    fault(
        "form-unfit",
        "elicitation.content-conforms",
        "fills in forms with what they do not admit",
        Kind::Says(|message| {
            each_answer(message, &mut |answer| {
                // What a model says has content, too, and no action.
                if answer.get("action").is_none() {
                    return false;
                }
                let Some(fields) = answer.get_mut("content").and_then(Value::as_object_mut) else { return false };
                fields.values_mut().for_each(|value| *value = json!([{ "not": "this" }]));
                !fields.is_empty()
            })
        }),
    )
    .since(R2025_06_18)
    .breaks_too(&["shape.requests"]),
    fault(
        "roots-elsewhere",
        "roots.uris-file",
        "names roots that are no files",
        Kind::Says(|message| {
            each_answer(message, &mut |answer| {
                let Some(roots) = answer.get_mut("roots").and_then(Value::as_array_mut) else { return false };
                for root in roots.iter_mut() {
                    root["uri"] = json!("https://example.com/");
                }
                !roots.is_empty()
            })
        }),
    )
    .seen_in("roots"),
    fault(
        "roots-by-detours",
        "roots.uris-plain",
        "names roots by way of their parent",
        Kind::Says(|message| {
            each_answer(message, &mut |answer| {
                let Some(roots) = answer.get_mut("roots").and_then(Value::as_array_mut) else { return false };
                for root in roots.iter_mut() {
                    root["uri"] = json!("file:///tmp/../etc");
                }
                !roots.is_empty()
            })
        }),
    )
    .seen_in("roots"),
    fault(
        "says-too-much",
        "sampling.max-tokens-kept",
        "lets its model say as much as it likes",
        Kind::Says(|message| {
            each_answer(message, &mut |answer| {
                let Some(Value::String(text)) = answer.pointer_mut("/content/text") else { return false };
                *text = "more and ".repeat(5000);
                true
            })
        }),
    )
    .modern()
    .seen_in("sampling"),
];

/// Whether it is the answer to a ping: nothing else is answered with nothing.
fn is_pong(message: &Value) -> bool {
    message["result"].as_object().is_some_and(serde_json::Map::is_empty)
}

/// Alters every answer in a message: its result, or the input that it brings.
fn each_answer(message: &mut Value, alter: &mut dyn FnMut(&mut Value) -> bool) -> bool {
    if let Some(result) = message.get_mut("result") {
        return alter(result);
    }
    let inputs = message.pointer_mut("/params/inputResponses").and_then(Value::as_object_mut);
    inputs.into_iter().flat_map(|inputs| inputs.values_mut()).fold(false, |altered, input| alter(input) | altered)
}
