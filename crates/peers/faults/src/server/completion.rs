//! Faults of completion.

use serde_json::{Value, json};

use super::{Fault, Kind, ServiceRequest, errors, fault};
use wire::error_code::INTERNAL_ERROR;

const COMPLETE: &str = "completion/complete";

pub(super) const FAULTS: &[&Fault] = &[
    &fault(
        "completion-of-101",
        "completion.at-most-100",
        "a completion has 101 values",
        Kind::Results(COMPLETE, |answer| {
            let values: Vec<String> = (0..=100).map(|number| format!("value {number}")).collect();
            answer["result"]["completion"] = json!({ "values": values, "total": 101, "hasMore": false });
        }),
    )
    .breaks_too(&["shape.results"]),
    &fault(
        "completion-total-less",
        "completion.total-plausible",
        "a completion says that there are fewer values than it gives",
        Kind::Results(COMPLETE, |answer| {
            answer["result"]["completion"] = json!({ "values": ["one", "two"], "total": 1, "hasMore": false });
        }),
    ),
    &fault(
        "completion-of-nothing",
        "completion.unknown-prompt-refused",
        "a completion for a prompt that does not exist is answered with no values",
        Kind::Answers(|asked, answer| {
            let is_whole = asked.param("ref").is_object() && asked.param("argument").is_object();
            if asked.is(COMPLETE) && answer.get("error").is_some() && is_whole {
                *answer = none(asked);
            }
        }),
    )
    .breaks_too(&["meta.server-info"]),
    &fault(
        "completion-incomplete-code",
        "completion.missing-arguments-refused",
        "a completion without `ref` is answered with the code for an internal error",
        Kind::Answers(|asked, answer| {
            if asked.is(COMPLETE) && answer.get("error").is_some() && asked.param("ref").is_null() {
                errors::code(answer, INTERNAL_ERROR);
            }
        }),
    )
    .breaks_too(&["errors.invalid-params"]),
    &fault(
        "completion-unchecked",
        "completion.inputs-validated",
        "a completion without `ref`, or of a kind that does not exist, is answered with values",
        Kind::Answers(|asked, answer| {
            let kind = asked.param("ref")["type"].as_str();
            if asked.is(COMPLETE) && answer.get("error").is_some() && !kind.is_some_and(|kind| kind.ends_with("prompt"))
            {
                *answer = none(asked);
                answer["result"]["completion"]["values"] = json!(["one"]);
            }
        }),
    )
    .breaks_too(&["completion.missing-arguments-refused", "meta.server-info"]),
];

fn none(asked: &ServiceRequest) -> Value {
    let mut result = json!({ "completion": { "values": [] } });
    if asked.is_modern() {
        result["resultType"] = json!("complete");
    }
    json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result })
}
