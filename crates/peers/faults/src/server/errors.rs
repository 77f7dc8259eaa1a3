//! Faults of error codes: each error means what its code says, and these do not.

use serde_json::{Value, json};

use super::jsonrpc::error;
use super::{Fault, Kind, fault};
use wire::error_code::{
    HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY,
    PARSE_ERROR, RESOURCE_NOT_FOUND,
};

pub(super) const FAULTS: &[&Fault] = &[
    &fault(
        "unknown-method-code",
        "errors.method-not-found",
        "an unknown method is answered with the code for invalid params",
        Kind::Sends(|message| {
            // Tools that do not run as tasks are refused with this code too.
            let why = message.pointer("/error/message").and_then(Value::as_str);
            if why.is_some_and(|why| why.starts_with("Method not found")) {
                recode(message, METHOD_NOT_FOUND, INVALID_PARAMS);
            }
        }),
    )
    .breaks_too(&["http.unknown-method-404"]),
    &fault(
        "methods-of-every-object",
        "errors.method-not-found",
        "methods are looked up in an object, which has `constructor` and `toString` of itself",
        Kind::Answers(|asked, answer| {
            if asked.is("constructor") || asked.is("toString") {
                *answer = error(asked, INTERNAL_ERROR, "The handler failed");
            }
        }),
    )
    .breaks_too(&["http.unknown-method-404"]),
    &fault(
        "params-demanded",
        "safety.params-tolerated",
        "a request without `params` is refused",
        Kind::Answers(|asked, answer| {
            if asked.is("ping") && asked.has_no_params() {
                *answer = error(asked, INVALID_PARAMS, "Invalid params: none are there");
            }
        }),
    )
    .breaks_too(&["ping.served"])
    .legacy(),
    &fault(
        "unknown-param-breaks",
        "safety.params-tolerated",
        "a list fails where `params` have a member that it does not know",
        Kind::Answers(|asked, answer| {
            if asked.is("tools/list") && !asked.param("proofhouse/unknown").is_null() {
                *answer = error(asked, INTERNAL_ERROR, "unexpected keyword argument");
            }
        }),
    ),
    &fault(
        "parse-error-code",
        "errors.parse-error",
        "invalid JSON is answered with the code for an invalid request",
        Kind::Sends(|message| recode(message, PARSE_ERROR, INVALID_REQUEST)),
    ),
    &fault(
        "invalid-request-code",
        "errors.invalid-request",
        "an invalid request is answered with the code for an internal error",
        Kind::Sends(|message| recode(message, INVALID_REQUEST, INTERNAL_ERROR)),
    ),
    &fault(
        "invalid-params-code",
        "errors.invalid-params",
        "invalid params are answered with the code for an internal error",
        Kind::Errors("completion/complete", |answer| recode(answer, INVALID_PARAMS, INTERNAL_ERROR)),
    )
    .breaks_too(&["completion.missing-arguments-refused", "completion.unknown-prompt-refused"]),
    &fault(
        "retired-code",
        "errors.no-retired-codes",
        "a resource that does not exist is answered with the code of earlier revisions",
        Kind::Errors("resources/read", |answer| code(answer, RESOURCE_NOT_FOUND)),
    )
    .breaks_too(&["errors.internal-error", "resources.not-found-code"])
    .modern(),
    &fault(
        "reserved-code",
        "errors.reserved-codes-defined",
        "errors about prompts have a code that the specification keeps for itself",
        Kind::Errors("prompts/get", |answer| code(answer, -32050)),
    )
    .modern(),
    &fault(
        "old-range-code",
        "errors.legacy-range-unused",
        "errors about prompts have a code from the range left to old implementations",
        Kind::Errors("prompts/get", |answer| code(answer, -32010)),
    )
    .modern(),
    &fault(
        "own-code-inside",
        "errors.own-codes-outside",
        "errors about prompts have a code of the server's own within JSON-RPC's range",
        Kind::Errors("prompts/get", |answer| code(answer, -32500)),
    )
    .modern(),
    &fault(
        "header-code-on-stdio",
        "errors.codes-mean-what-they-say",
        "over stdio, errors about prompts have the code for headers that do not match",
        Kind::Errors("prompts/get", |answer| code(answer, HEADER_MISMATCH)),
    )
    .modern()
    .stdio(),
    &fault(
        "internal-error-code",
        "errors.internal-error",
        "an internal error has a code of the server's own",
        Kind::Errors("resources/read", |answer| recode(answer, INTERNAL_ERROR, -31999)),
    ),
    &fault(
        "capabilities-listed-as-array",
        "shape.errors",
        "an error lists the capabilities that a client lacks in an array",
        Kind::Errors("tools/call", |answer| {
            if answer["error"]["code"] == MISSING_CLIENT_CAPABILITY {
                answer["error"]["data"]["requiredCapabilities"] = json!(["sampling"]);
            }
        }),
    )
    .breaks_too(&["meta.missing-capability-listed", "task-extension.missing-refused"])
    .modern(),
    &fault(
        "talkative-errors",
        "errors.message-concise",
        "the message of errors about prompts is a trace of many lines",
        Kind::Errors("prompts/get", |answer| {
            answer["error"]["message"] = json!("Prompt not found\n  at get (prompts.rs:12)\n  at main (main.rs:3)");
        }),
    ),
];

pub(super) fn code(answer: &mut Value, code: i64) {
    answer["error"]["code"] = json!(code);
}

/// Another code in place of one.
pub(super) fn recode(message: &mut Value, from: i64, to: i64) {
    if message.pointer("/error/code").is_some_and(|code| *code == from) {
        code(message, to);
    }
}
