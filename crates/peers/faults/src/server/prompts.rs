//! Faults of prompts.

use serde_json::{Value, json};
use wire::error_code::{INTERNAL_ERROR, METHOD_NOT_FOUND};
use wire::revision::R2025_03_26;

use super::jsonrpc::error;
use super::{Fault, Kind, drop_member, fault, lists};

const GET: &str = "prompts/get";

pub(super) const FAULTS: &[&Fault] = &[
    &fault(
        "unknown-prompt-code",
        "prompts.unknown-refused",
        "a prompt that does not exist is answered with the code for an internal error",
        Kind::Errors(GET, |answer| about(answer, "Unknown prompt", INTERNAL_ERROR)),
    ),
    &fault(
        "missing-argument-code",
        "prompts.missing-arguments-refused",
        "a missing argument of a prompt is answered with the code for an internal error",
        Kind::Errors(GET, |answer| about(answer, "Invalid params: argument", INTERNAL_ERROR)),
    ),
    &fault(
        "prompt-image-not-base64",
        "prompts.images-encoded",
        "the image in a prompt is not Base64",
        Kind::Results(GET, |answer| each(answer, "image", |content| content["data"] = json!("not encoded!"))),
    ),
    &fault(
        "prompt-audio-not-base64",
        "prompts.audio-encoded",
        "the audio in a prompt is not Base64",
        Kind::Results(GET, |answer| each(answer, "audio", |content| content["data"] = json!("not encoded!"))),
    )
    .since(R2025_03_26),
    &fault(
        "prompt-resource-without-uri",
        "prompts.embedded-uri",
        "a resource embedded in a prompt has an invalid URI",
        Kind::Results(GET, |answer| each(answer, "resource", |content| content["resource"]["uri"] = json!("no uri"))),
    ),
    &fault(
        "prompt-resource-untyped",
        "prompts.embedded-media-type",
        "a resource embedded in a prompt names no media type",
        Kind::Results(GET, |answer| {
            each(answer, "resource", |content| drop_member(&mut content["resource"], "mimeType"));
        }),
    ),
    &fault(
        "prompt-resource-empty",
        "prompts.embedded-content",
        "a resource embedded in a prompt has neither text nor blob",
        Kind::Results(GET, |answer| {
            each(answer, "resource", |content| {
                drop_member(&mut content["resource"], "text");
                drop_member(&mut content["resource"], "blob");
            });
        }),
    )
    .breaks_too(&["shape.results"]),
    &fault(
        "prompt-changes-silent",
        "prompts.list-changed-sent",
        "a changed list of prompts is not announced",
        Kind::SideMessages(|_, message| {
            if message["method"] == "notifications/prompts/list_changed" { Vec::new() } else { vec![message] }
        }),
    )
    .modern(),
    &fault(
        "prompts-not-declared",
        "prompts.capability-declared",
        "prompts are listed though `prompts` is not declared",
        Kind::Answers(|asked, answer| lists::undeclare(asked, answer, "prompts")),
    )
    .breaks_too(&["subscriptions.only-supported-acknowledged"])
    .modern(),
    &fault(
        "prompt-list-unknown",
        "prompts.list-answered",
        "the list of prompts is refused as an unknown method",
        Kind::Answers(|asked, answer| lists::refuse(asked, answer, "prompts/list")),
    )
    .breaks_too(&["http.unknown-method-404"])
    .modern(),
    &fault(
        "prompt-method-unknown",
        "errors.declared-methods-known",
        "every prompt is refused as an unknown method",
        Kind::Answers(|asked, answer| {
            if asked.is(GET) && answer.get("result").is_some() {
                *answer = error(asked, METHOD_NOT_FOUND, "Method not found: prompts/get");
            }
        }),
    )
    .breaks_too(&["http.unknown-method-404"]),
    &fault(
        "prompts-by-process",
        "prompts.list-same-everywhere",
        "every process lists a prompt that is not on the list of another",
        Kind::Answers(|asked, answer| lists::add_own(asked, answer, "prompts", |_, _| ())),
    )
    .modern()
    .stdio(),
];

/// Another code for the error whose message begins so.
fn about(answer: &mut Value, beginning: &str, code: i64) {
    if answer["error"]["message"].as_str().is_some_and(|message| message.starts_with(beginning)) {
        answer["error"]["code"] = json!(code);
    }
}

/// Alters the contents of one type in a prompt's messages.
fn each(answer: &mut Value, kind: &str, edit: fn(&mut Value)) {
    let messages = answer.pointer_mut("/result/messages").and_then(Value::as_array_mut);
    let contents = messages.into_iter().flatten().filter_map(|message| message.get_mut("content"));
    contents.filter(|content| content["type"] == *kind).for_each(edit);
}
