//! Faults of JSON-RPC in what the server answers: members, ids, codes, who is answered and how often. Odd messages that it
//! adds are in `envelopes`, pings in `ping`.

use net::service::{Link, Reply};
use serde_json::{Value, json};
use wire::Transport;
use wire::error_code::INVALID_PARAMS;
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25};

use super::stdio::replaced;
use super::{Fault, Kind, ServiceRequest, drop_member, fault};

/// A method that nothing else depends on, which makes it a good place for faults of the envelope.
const COMPLETE: &str = "completion/complete";

pub(super) const FAULTS: &[&Fault] = &[
    &fault(
        "wrong-id",
        "jsonrpc.result-id",
        "completions carry the id of no request",
        Kind::Results(COMPLETE, |answer| answer["id"] = json!("nobodys")),
    ),
    &fault(
        "id-type-changed",
        "jsonrpc.result-id",
        "completions carry a numeric id as a string",
        Kind::Results(COMPLETE, |answer| answer["id"] = json!(answer["id"].to_string())),
    ),
    &fault(
        "digits-id-as-number",
        "jsonrpc.result-id",
        "lists carry an id of digits as a number",
        Kind::Results("tools/list", |answer| {
            let number = answer["id"].as_str().and_then(|id| id.parse::<u64>().ok());
            if let Some(number) = number {
                answer["id"] = json!(number);
            }
        }),
    ),
    &fault(
        "long-id-cut",
        "jsonrpc.result-id",
        "ids longer than 255 characters come back cut",
        Kind::Answers(|_, answer| edit_id(answer, |id| id.chars().take(255).collect())),
    )
    .breaks_too(&["jsonrpc.answered", "ping.answered"]),
    &fault(
        "id-ascii-only",
        "jsonrpc.result-id",
        "letters of ids outside ASCII come back as question marks",
        Kind::Answers(|_, answer| edit_id(answer, |id| id.replace(|c: char| !c.is_ascii(), "?"))),
    )
    .breaks_too(&["jsonrpc.answered", "ping.answered", "safety.split-delivery-read"]),
    &fault(
        "error-without-id",
        "jsonrpc.error-id",
        "errors about prompts carry no id",
        Kind::Errors("prompts/get", |answer| drop_member(answer, "id")),
    ),
    &fault(
        "result-and-error",
        "jsonrpc.result-xor-error",
        "completions have an `error` beside the `result`",
        Kind::Results(COMPLETE, |answer| answer["error"] = json!({ "code": 1, "message": "No error" })),
    )
    .breaks_too(&["http.json-is-one-message", "stdio.only-messages-on-stdout"]),
    &fault(
        "no-jsonrpc",
        "jsonrpc.version-member",
        "completions lack the member `jsonrpc`",
        Kind::Results(COMPLETE, |answer| drop_member(answer, "jsonrpc")),
    )
    .breaks_too(&["http.json-is-one-message", "stdio.only-messages-on-stdout"]),
    &fault(
        "jsonrpc-1",
        "jsonrpc.version-member",
        "completions say JSON-RPC 1.0",
        Kind::Results(COMPLETE, |answer| answer["jsonrpc"] = json!("1.0")),
    )
    .breaks_too(&["http.json-is-one-message", "stdio.only-messages-on-stdout"]),
    &fault(
        "error-code-text",
        "jsonrpc.error-code-integer",
        "errors about prompts have a code that is a string",
        Kind::Errors("prompts/get", |answer| answer["error"]["code"] = json!("INVALID_PARAMS")),
    )
    .breaks_too(&["http.json-is-one-message", "stdio.only-messages-on-stdout"]),
    &fault(
        "error-without-message",
        "jsonrpc.error-object",
        "errors about prompts have no message",
        Kind::Errors("prompts/get", |answer| answer["error"] = json!({ "code": INVALID_PARAMS })),
    )
    .breaks_too(&["http.json-is-one-message", "stdio.only-messages-on-stdout"]),
    &fault(
        "answers-twice",
        "jsonrpc.one-answer",
        "completions are answered twice",
        Kind::Handles(|asked, link, reply| {
            if let (true, Reply::Now(answer)) = (asked.is("completion/complete"), &reply) {
                let _ = link.send(String::from_utf8_lossy(answer.text()).into_owned());
            }
            reply
        }),
    ),
    &fault(
        "never-answers",
        "jsonrpc.answered",
        "an unknown method is never answered",
        Kind::Handles(|asked, _, reply| {
            let unknown = asked.message["method"].as_str().is_some_and(|method| method.contains("no-such"));
            if unknown { Reply::later(std::future::pending()) } else { reply }
        }),
    ),
    &fault(
        "notification-with-id",
        "jsonrpc.notification-no-id",
        "notifications of progress have an id",
        Kind::SideMessage("notifications/progress", |message| {
            let report = &message["params"];
            message["id"] = json!(format!("progress-{}-{}", report["progressToken"], report["progress"]));
        }),
    )
    .breaks_too(&["http.no-requests-on-streams", "jsonrpc.no-server-requests", "stdio.no-requests"]),
    &fault(
        "answers-in-array",
        "jsonrpc.one-message",
        "completions come in an array of one",
        Kind::Results(COMPLETE, |answer| *answer = json!([answer])),
    )
    .breaks_too(&["http.json-is-one-message", "stdio.no-batches"])
    .since(R2025_06_18),
    &fault(
        "array-body",
        "http.json-is-one-message",
        "over HTTP, completions come in an array of one",
        Kind::Results(COMPLETE, |answer| *answer = json!([answer])),
    )
    .breaks_too(&["jsonrpc.one-message"])
    .http()
    .since(R2025_06_18),
    &fault(
        "array-on-stdout",
        "stdio.no-batches",
        "over stdio, completions come in an array of one",
        Kind::Results(COMPLETE, |answer| *answer = json!([answer])),
    )
    .breaks_too(&["jsonrpc.one-message"])
    .stdio()
    .since(R2025_06_18),
    &fault(
        "truncated-json",
        "jsonrpc.json",
        "the text of a completion ends too early",
        Kind::Writes(|text| {
            let end = if has_completion(text) { text.len() - 2 } else { text.len() };
            text[..end].to_vec()
        }),
    )
    .breaks_too(&["http.json-is-one-message", "stdio.only-messages-on-stdout"]),
    &fault(
        "latin-1",
        "jsonrpc.utf8",
        "the letter ü is sent in Latin-1",
        Kind::Writes(|text| replaced(text, "ü".as_bytes(), b"\xfc")),
    )
    .breaks_too(&["http.json-is-one-message", "jsonrpc.answered", "ping.answered", "stdio.only-messages-on-stdout"])
    .since(R2025_03_26)
    // There it would be no frame any more, and whoever reads it breaks off before it is a message.
    .except(Transport::WebSocket),
    &fault(
        "members-doubled",
        "jsonrpc.members-unique",
        "completions have the member `jsonrpc` twice",
        Kind::Writes(|text| {
            let twice = b"{\"jsonrpc\":\"2.0\",\"jsonrpc\":\"2.0\"";
            if has_completion(text) { replaced(text, b"{\"jsonrpc\":\"2.0\"", twice) } else { text.to_vec() }
        }),
    )
    .breaks_too(&["http.json-is-one-message", "stdio.only-messages-on-stdout"]),
    &fault(
        "server-asks",
        "jsonrpc.no-server-requests",
        "a request is sent to the client before a tool's result",
        Kind::Handles(ask_before_call),
    )
    .breaks_too(&[
        "http.header-failure-answer",
        "http.missing-capability-400",
        "http.no-requests-on-streams",
        "stdio.no-requests",
    ])
    .modern(),
    &fault(
        "asks-on-stream",
        "http.no-requests-on-streams",
        "over HTTP, a request is sent on the stream of a tool call",
        Kind::Handles(ask_before_call),
    )
    .breaks_too(&["http.header-failure-answer", "http.missing-capability-400", "jsonrpc.no-server-requests"])
    .modern()
    .http(),
    &fault(
        "asks-on-stdout",
        "stdio.no-requests",
        "over stdio, a request is sent to the client before a tool's result",
        Kind::Handles(ask_before_call),
    )
    .breaks_too(&["jsonrpc.no-server-requests"])
    .modern()
    .stdio(),
    &fault(
        "request-id-reused",
        "jsonrpc.request-ids-unique",
        "every ping of the server has the same id",
        Kind::Handles(|asked, link, reply| {
            if asked.is("tools/call") && asked.context.session.as_ref().is_some_and(|session| session.is_ready()) {
                // Not the same text: what comes again on another stream may be a redelivery.
                let params = json!({ "_meta": { "call": asked.message["id"] } });
                let _ = link
                    .send(json!({ "jsonrpc": "2.0", "id": "ping", "method": "ping", "params": params }).to_string());
            }
            reply
        }),
    )
    .legacy(),
    &fault(
        "sampling-without-messages",
        "shape.requests",
        "requests for sampling lack `messages`",
        Kind::SideMessage("sampling/createMessage", |message| message["params"] = json!({ "maxTokens": 100 })),
    )
    .legacy(),
    &fault(
        "completion-of-numbers",
        "shape.results",
        "the values of completions are numbers",
        Kind::Results(COMPLETE, |answer| answer["result"]["completion"]["values"] = json!([1, 2, 3])),
    )
    .breaks_too(&["completion.total-plausible"]),
    &fault(
        "progress-text",
        "shape.notifications",
        "progress is a string",
        Kind::SideMessage("notifications/progress", |message| message["params"]["progress"] = json!("half way")),
    ),
    &fault(
        "cancels-nothing",
        "shape.notifications",
        "each tool call brings a cancellation that does not say of what",
        Kind::Handles(|asked, link, reply| {
            if asked.is("tools/call") && asked.context.session.as_ref().is_some_and(|session| session.is_ready()) {
                let message = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {} });
                let _ = link.send(message.to_string());
            }
            reply
        }),
    )
    .since(R2025_11_25)
    .until(R2025_11_25),
    &fault(
        "result-without-type",
        "result.type-present",
        "completions lack `resultType`",
        Kind::Results(COMPLETE, |answer| drop_member(&mut answer["result"], "resultType")),
    )
    .modern(),
    &fault(
        "result-type-unknown",
        "result.type-known",
        "completions have a `resultType` that does not exist, nor an extension that could have it",
        Kind::Answers(|asked, answer| {
            if asked.is(COMPLETE) && answer.get("result").is_some() {
                answer["result"]["resultType"] = json!("finished");
            }
            if let Some(capabilities) = answer.pointer_mut("/result/capabilities").and_then(Value::as_object_mut) {
                capabilities.remove("extensions");
            }
        }),
    )
    .modern(),
    &fault(
        "request-without-id",
        "jsonrpc.request-id-type",
        "each tool call brings a ping that has no id",
        Kind::Handles(|asked, link, reply| {
            if asked.is("tools/call") && asked.context.session.as_ref().is_some_and(|session| session.is_ready()) {
                let _ = link.send(json!({ "jsonrpc": "2.0", "method": "ping" }).to_string());
            }
            reply
        }),
    )
    .breaks_too(&["shape.notifications"])
    .legacy(),
];

/// An error in place of whatever was to be answered.
pub(super) fn error(asked: &ServiceRequest, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": asked.message["id"], "error": { "code": code, "message": message } })
}

/// Asks the client something before a tool's result: the result then comes on a stream, where it is HTTP.
fn ask_before_call(asked: &ServiceRequest, link: &Link, reply: Reply) -> Reply {
    if asked.is("tools/call") {
        let _ = link.send(json!({ "jsonrpc": "2.0", "id": "server-1", "method": "ping" }).to_string());
    }
    reply
}

fn has_completion(text: &[u8]) -> bool {
    text.windows(12).any(|window| window == b"\"completion\"")
}

/// Alters an id that is a string.
fn edit_id(answer: &mut Value, edit: fn(&str) -> String) {
    if let Some(id) = answer["id"].as_str().map(edit) {
        answer["id"] = json!(id);
    }
}
