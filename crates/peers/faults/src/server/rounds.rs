//! Faults of requests that take several rounds (modern era).

use serde_json::{Value, json};

use super::jsonrpc::error;
use super::stdio::replaced;
use super::{Fault, Kind, ServiceRequest, drop_member, fault};
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS};

pub(super) const FAULTS: &[&Fault] = &[
    &rounds(
        "asks-for-nothing",
        "mrtr.something-asked",
        "a result that asks for input does not say for what",
        Kind::Results("tools/call", |answer| {
            if asks(answer) {
                drop_member(&mut answer["result"], "inputRequests");
                drop_member(&mut answer["result"], "requestState");
            }
        }),
    ),
    &rounds(
        "asks-for-ping",
        "mrtr.requests-known",
        "a result asks for input by a request that clients do not have",
        Kind::Results("tools/call", |answer| {
            if asks(answer) {
                answer["result"]["inputRequests"] = json!({ "ping": { "method": "ping", "params": {} } });
            }
        }),
    )
    .breaks_too(&["shape.results"]),
    &rounds(
        "completion-asks",
        "mrtr.only-where-supported",
        "a completion asks for input",
        Kind::Results("completion/complete", |answer| {
            let request = json!({ "method": "roots/list", "params": {} });
            answer["result"] = json!({ "resultType": "input_required", "inputRequests": { "roots": request } });
        }),
    )
    .breaks_too(&["meta.server-info", "mrtr.abandonment-survived", "shape.results"]),
    &rounds(
        "input-missing-refused",
        "mrtr.missing-responses-asked-again",
        "a retry that lacks input is refused instead of asked again",
        Kind::Answers(|asked, answer| {
            if responses(asked).is_some_and(|responses| responses == 0) {
                *answer = error(asked, INVALID_PARAMS, "Invalid params: input is missing");
            }
        }),
    )
    .breaks_too(&["task-extension.methods-need-capability"]),
    &rounds(
        "input-missing-crashes",
        "mrtr.missing-responses-asked-again",
        "a retry that lacks input ends in an internal error",
        Kind::Answers(|asked, answer| {
            if responses(asked).is_some_and(|responses| responses == 0) {
                *answer = error(asked, INTERNAL_ERROR, "Cannot read properties of undefined");
            }
        }),
    )
    .breaks_too(&["task-extension.methods-need-capability"]),
    &rounds(
        "input-unneeded-refused",
        "mrtr.unneeded-responses-ignored",
        "a retry with more input than was asked for is refused",
        Kind::Answers(|asked, answer| {
            if responses(asked).is_some_and(|responses| responses > 1) {
                *answer = error(asked, INVALID_PARAMS, "Invalid params: nobody asked for that");
            }
        }),
    ),
    &rounds(
        "input-malformed-taken",
        "mrtr.malformed-responses-refused",
        "malformed input is taken for an answer",
        Kind::Answers(|asked, answer| {
            let given = asked.param("inputResponses");
            let malformed = given.as_object().map_or(!given.is_null(), |all| all.values().any(|one| !one.is_object()));
            if asked.is("tools/call") && malformed {
                let content = json!([{ "type": "text", "text": "Thank you." }]);
                let result = json!({ "resultType": "complete", "content": content });
                *answer = json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result });
            }
        }),
    )
    .breaks_too(&["meta.server-info"]),
    &rounds("key-twice", "mrtr.keys-unique", "what is asked for stands twice under its key", Kind::Writes(double_key)),
];

/// The first entry of `inputRequests` once more before itself, empty.
fn double_key(text: &[u8]) -> Vec<u8> {
    const OPENING: &[u8] = b"\"inputRequests\":{\"";
    let Some(at) = text.windows(OPENING.len()).position(|window| window == OPENING) else { return text.to_vec() };
    let key = &text[at + OPENING.len()..];
    let Some(end) = key.iter().position(|b| *b == b'"') else { return text.to_vec() };
    let twice = [OPENING, &key[..end], b"\":{},\""].concat();
    replaced(text, OPENING, &twice)
}

const fn rounds(name: &'static str, rule: &'static str, about: &'static str, kind: Kind) -> Fault {
    fault(name, rule, about, kind).modern()
}

fn asks(answer: &Value) -> bool {
    answer["result"]["resultType"] == "input_required"
}

/// How many answers of the client a retry has; `None` where it is none.
fn responses(asked: &ServiceRequest) -> Option<usize> {
    asked.param("inputResponses").as_object().map(serde_json::Map::len)
}
