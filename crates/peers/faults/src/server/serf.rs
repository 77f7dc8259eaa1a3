//! Faults of structured errors: what failed calls say of their kind.

use serde_json::{Map, Value, json};
use wire::meta::ERROR;

use super::{Fault, Kind, fault};

const CALL: &str = "tools/call";

/// What an answer says of its failure.
fn details(answer: &mut Value) -> Option<&mut Map<String, Value>> {
    answer.pointer_mut("/result/_meta")?.get_mut(ERROR)?.as_object_mut()
}

fn set(answer: &mut Value, member: &str, value: Value) {
    if let Some(details) = details(answer) {
        details.insert(member.to_owned(), value);
    }
}

pub(super) const FAULTS: &[&Fault] = &[
    &fault(
        "error-category-unknown",
        "serf.category-known",
        "failed calls have an unknown category",
        Kind::Results(CALL, |answer| set(answer, "category", json!("BAD_LUCK"))),
    ),
    &fault(
        "error-retryable-text",
        "serf.retryable-agrees",
        "failed calls have a string as `retryable`",
        Kind::Results(CALL, |answer| set(answer, "retryable", json!("maybe"))),
    ),
    &fault(
        "error-without-retry-time",
        "serf.retry-after-given",
        "failed calls report a retryable `RESOURCE_EXHAUSTED` without `retry_after_ms`",
        Kind::Results(CALL, |answer| {
            set(answer, "category", json!("RESOURCE_EXHAUSTED"));
            set(answer, "retryable", json!(true));
        }),
    ),
    &fault(
        "error-action-text",
        "serf.actions-listed",
        "failed calls have a string as `suggested_actions`",
        Kind::Results(CALL, |answer| set(answer, "suggested_actions", json!("Try something else"))),
    ),
];
