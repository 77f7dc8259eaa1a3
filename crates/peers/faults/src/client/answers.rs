//! What a client answers when it is asked (client): by a response in the legacy era, within a request in the modern one.

use serde_json::{Value, json};
use wire::Transport;
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND};
use wire::revision::{R2025_06_18, R2025_11_25};

use super::{Fault, Kind, answers, fault, is, refuses};

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
            let error = json!({ "code": INTERNAL_ERROR, "message": "Not now" });
            is_pong(message).then(|| vec![json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string()])
        }),
    )
    .legacy()
    .seen_in("pinged"),
    fault(
        "ping-result-not-empty",
        "ping.empty-result",
        "answers a ping with a result that is not empty",
        Kind::Sends(|message| {
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
        "answers every request twice",
        Kind::Instead(|message| answers(message).then(|| vec![message.to_string(), message.to_string()])),
    )
    .legacy()
    .seen_in("pinged"),
    fault(
        "never-answers",
        "jsonrpc.answered",
        "answers no request",
        Kind::Instead(|message| answers(message).then(Vec::new)),
    )
    .legacy()
    .seen_in("hostile.unknown-request"),
    fault(
        "unknown-method-served",
        "errors.method-not-found",
        "refuses a method that it does not know with another code",
        Kind::Sends(|message| {
            let found = message.pointer("/error/code") == Some(&json!(METHOD_NOT_FOUND));
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
        "sends error codes as strings",
        Kind::Sends(|message| {
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
        "fills in forms with values that their schemas forbid",
        Kind::Sends(|message| {
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
    .breaks_too(&["shape.requests", "elicitation.defaults-filled-in"]),
    fault(
        "roots-elsewhere",
        "roots.uris-file",
        "names roots that are not files",
        Kind::Sends(|message| {
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
        "roots-with-parent-segments",
        "roots.uris-plain",
        "names roots with `..` in their paths",
        Kind::Sends(|message| {
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
        "max-tokens-exceeded",
        "sampling.max-tokens-kept",
        "ignores `maxTokens`",
        Kind::Sends(|message| {
            each_answer(message, &mut |answer| {
                let Some(Value::String(text)) = answer.pointer_mut("/content/text") else { return false };
                *text = "more and ".repeat(5000);
                true
            })
        }),
    )
    .modern()
    .seen_in("sampling"),
    fault(
        "progress-stands-still",
        "progress.increases",
        "reports the same progress again and again",
        Kind::Sends(|message| progress(message, "progress", json!(1))),
    )
    .legacy()
    .seen_in("model-with-progress")
    .seen_over(Transport::Stdio),
    fault(
        "progress-token-unknown",
        "progress.known-tokens",
        "reports progress under an unknown token",
        Kind::Sends(|message| progress(message, "progressToken", json!("nobodys"))),
    )
    .legacy()
    .seen_in("model-with-progress"),
    fault(
        "progress-after-the-end",
        "progress.stops",
        "reports progress on a request that it has answered",
        Kind::Instead(|message| {
            message.pointer("/result/model")?;
            let params = json!({ "progressToken": "scenario-progress", "progress": 3 });
            let more = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
            Some(vec![message.to_string(), more.to_string()])
        }),
    )
    .legacy()
    .seen_in("model-with-progress")
    .seen_over(Transport::Stdio)
    .breaks_too(&["progress.increases"]),
    fault(
        "roots-change-untold",
        "roots.list-changed-sent",
        "does not notify the server that its roots changed",
        Kind::Instead(|message| is(message, "notifications/roots/list_changed").then(Vec::new)),
    )
    .legacy()
    .seen_in("roots-change"),
    fault(
        "roots-refusal-code",
        "roots.unsupported-refused",
        "refuses to list its roots with the code for invalid params",
        Kind::Sends(|message| refuses(message, METHOD_NOT_FOUND, "", INVALID_PARAMS)),
    )
    .legacy()
    .seen_in("hostile.undeclared-requests")
    .breaks_too(&["errors.method-not-found"]),
    fault(
        "mode-refusal-code",
        "elicitation.undeclared-mode-refused",
        "refuses an unsupported elicitation mode with a wrong code",
        Kind::Sends(|message| refuses(message, INVALID_PARAMS, "mode", INTERNAL_ERROR)),
    )
    .since(R2025_11_25)
    .legacy()
    .seen_in("hostile.undeclared-mode"),
    fault(
        "rejection-code",
        "sampling.rejection-code",
        "reports with a wrong code that its user refused",
        Kind::Sends(|message| refuses(message, -1, "", INTERNAL_ERROR)),
    )
    .since(R2025_11_25)
    .legacy()
    .seen_in("sampling-refused"),
    fault(
        "unbalanced-accepted",
        "sampling.unbalanced-refused",
        "accepts a conversation in which tool results are missing",
        Kind::Instead(|message| {
            let why = message.pointer("/error/message")?.as_str()?;
            let text = json!({ "type": "text", "text": "As you say." });
            let result = json!({ "role": "assistant", "content": text, "model": "proofhouse" });
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            why.contains("use of a tool").then(|| vec![answer.to_string()])
        }),
    )
    .since(R2025_11_25)
    .legacy()
    .seen_in("hostile.sampling-unbalanced"),
    fault(
        "tool-choice-ignored",
        "sampling.tool-choice-kept",
        "lets its model use a tool though `toolChoice` forbids it",
        Kind::Sends(uses_tool),
    )
    .since(R2025_11_25)
    .seen_in("sampling-with-tools"),
    fault(
        "tool-use-undeclared",
        "sampling.tools-declared",
        "uses tools in sampling without declaring it",
        Kind::Sends(|message| {
            let places = ["/params/capabilities", "/params/_meta/io.modelcontextprotocol~1clientCapabilities"];
            let mut hidden = false;
            for place in places {
                let declared = message.pointer_mut(place).and_then(|own| own.get_mut("sampling"));
                hidden |= declared.is_some_and(|declared| super::drop_member(declared, "tools"));
            }
            uses_tool(message) | hidden
        }),
    )
    .since(R2025_11_25)
    .seen_in("sampling"),
    fault(
        "id-zero-ignored",
        "ping.answered",
        "answers no request with the id 0 or an empty id",
        Kind::Instead(|message| (answers(message) && (message["id"] == 0 || message["id"] == "")).then(Vec::new)),
    )
    .legacy()
    .seen_in("odd-ids"),
    fault(
        "id-as-text",
        "jsonrpc.result-id",
        "answers a request with a negative id under the same digits as a string",
        Kind::Sends(|message| {
            let negative = message["id"].as_i64().is_some_and(|id| id < 0) && message.get("result").is_some();
            if negative {
                message["id"] = json!(message["id"].to_string());
            }
            negative
        }),
    )
    .legacy()
    .seen_in("odd-ids")
    .breaks_too(&["ping.answered"]),
    fault(
        "listening-unanswered",
        "ping.answered",
        "does not answer requests on the stream that it opened by GET",
        Kind::Instead(|message| (answers(message) && message["id"] == "scenario-on-get").then(Vec::new)),
    )
    .legacy()
    .http()
    .seen_in("listening-asked"),
    fault(
        "form-without-content",
        "elicitation.content-conforms",
        "accepts forms without sending what they ask for",
        Kind::Sends(|message| {
            each_answer(message, &mut |answer| answer["action"] == "accept" && super::drop_member(answer, "content"))
        }),
    )
    .breaks_too(&["elicitation.defaults-filled-in"])
    .since(R2025_06_18)
    .seen_in("strict-forms"),
    fault(
        "defaults-ignored",
        "elicitation.defaults-filled-in",
        "fills in other values than the form's defaults",
        Kind::Sends(|message| {
            each_answer(message, &mut |answer| {
                // The defaults of the two forms that have some.
                let other = match answer.pointer("/content/name").and_then(Value::as_str) {
                    Some("John Doe") => json!({ "name": "Jane Roe", "age": 31, "score": 7.5, "status": "pending" }),
                    Some("Ömer") => {
                        json!({ "agree": true, "name": "Zoë", "age": -1, "ratio": 0.2, "plan": "a", "tags": ["x"] })
                    }
                    _ => return false,
                };
                answer["content"] = other;
                true
            })
        }),
    )
    .since(R2025_11_25)
    .seen_in("elicitation-sep1034-client-defaults"),
    fault(
        "mode-required",
        "elicitation.mode-defaults-to-form",
        "refuses forms that do not name their mode",
        Kind::Instead(|message| {
            let content = message.pointer("/result/content")?.as_object()?;
            // Of the forms there, only those without a mode ask for so little.
            let plain = content.keys().all(|name| name == "name");
            let error = json!({ "code": INVALID_PARAMS, "message": "No mode" });
            plain.then(|| vec![json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string()])
        }),
    )
    .since(R2025_11_25)
    .legacy()
    .seen_in("strict-forms"),
    fault(
        "undeclared-tools-served",
        "sampling.tools-declared",
        "serves a request that offers tools though it did not declare it",
        Kind::Instead(|message| {
            message.pointer("/error/message")?.as_str().filter(|why| why.contains("tools"))?;
            let text = json!({ "type": "text", "text": "As you say." });
            let result = json!({ "role": "assistant", "content": text, "model": "proofhouse" });
            Some(vec![json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string()])
        }),
    )
    .since(R2025_11_25)
    .legacy()
    .seen_in("hostile.undeclared-tools"),
];

/// Sets a member of what is reported of progress.
fn progress(message: &mut Value, member: &str, value: Value) -> bool {
    let found = is(message, "notifications/progress");
    if found {
        message["params"][member] = value;
    }
    found
}

/// Makes everything that the model says a use of a tool.
fn uses_tool(message: &mut Value) -> bool {
    each_answer(message, &mut |answer| {
        let found = answer.get("model").is_some();
        if found {
            answer["content"] =
                json!({ "type": "tool_use", "id": "use-2", "name": "add", "input": { "a": 1, "b": 2 } });
            answer["stopReason"] = json!("toolUse");
        }
        found
    })
}

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
