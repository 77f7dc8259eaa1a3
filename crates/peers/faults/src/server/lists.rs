//! Faults of paging and caching, which lists have in common.

use serde_json::{Value, json};

use super::jsonrpc::error;
use super::{Fault, Kind, ServiceRequest, drop_member, fault};
use wire::error_code::{INVALID_PARAMS, METHOD_NOT_FOUND};

pub(super) const FAULTS: &[&Fault] = &[
    PAGES_IN_CIRCLES,
    &fault(
        "cursors-fade",
        "pagination.cursors-stable",
        "every other time a cursor is refused that was given out",
        Kind::Answers(|asked, answer| {
            if asked.is("resources/list") && !asked.param("cursor").is_null() && asked.is_odd() {
                *answer = error(asked, INVALID_PARAMS, "Invalid params: this cursor is used up");
            }
        }),
    )
    .breaks_too(&["stateless.connection-not-required"]),
    &fault(
        "any-cursor-taken",
        "pagination.invalid-cursor-refused",
        "a cursor that was never given out is answered with an empty page",
        Kind::Answers(|asked, answer| {
            if asked.is("tools/list") && asked.param("cursor").is_string() && answer.get("error").is_some() {
                *answer = json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": empty(asked.is_modern()) });
            }
        }),
    )
    .breaks_too(&["meta.server-info"]),
    &fault(
        "no-caching-hints",
        "caching.hints-present",
        "lists have no caching hints",
        Kind::Results("tools/list", |answer| drop_member(&mut answer["result"], "ttlMs")),
    )
    .modern(),
    &fault(
        "ttl-negative",
        "caching.ttl-not-negative",
        "lists have a negative `ttlMs`",
        Kind::Results("tools/list", |answer| answer["result"]["ttlMs"] = json!(-1)),
    )
    .modern(),
    &fault(
        "scope-by-page",
        "caching.scope-same-on-all-pages",
        "the pages of one list have different cache scopes",
        Kind::Answers(|asked, answer| {
            if asked.is("resources/list") && asked.param("cursor").is_string() && answer["result"].is_object() {
                answer["result"]["cacheScope"] = json!("private");
            }
        }),
    )
    .modern(),
];

/// The fault `pages-in-circles`.
pub const PAGES_IN_CIRCLES: &Fault = &fault(
    "pages-in-circles",
    "pagination.comes-to-an-end",
    "every page of the resources leads to the second",
    Kind::Answers(|asked, answer| {
        if asked.is("resources/list") && answer["result"].is_object() {
            let cursor = asked.param("cursor");
            let next = if cursor.is_null() { answer["result"]["nextCursor"].clone() } else { cursor.clone() };
            answer["result"]["nextCursor"] = next;
        }
    }),
);

fn empty(modern: bool) -> Value {
    if modern {
        json!({ "tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "public" })
    } else {
        json!({ "tools": [] })
    }
}

/// What a server offers is not among the capabilities that it declares.
pub(super) fn undeclare(asked: &ServiceRequest, answer: &mut Value, capability: &str) {
    if (asked.is("initialize") || asked.is("server/discover")) && answer["result"].is_object() {
        drop_member(&mut answer["result"]["capabilities"], capability);
    }
}

/// A list is refused as if there were no such method.
pub(super) fn refuse(asked: &ServiceRequest, answer: &mut Value, method: &str) {
    if asked.is(method) {
        *answer = error(asked, METHOD_NOT_FOUND, &format!("Method not found: {method}"));
    }
}

/// The first page of a list has one item more, of which `edit` makes something that no other process has.
pub(super) fn add_own(asked: &ServiceRequest, answer: &mut Value, member: &str, edit: fn(&mut Value, u32)) {
    let listed = asked.message["method"] == format!("{member}/list") && asked.param("cursor").is_null();
    let list = answer.get_mut("result").and_then(|result| result.get_mut(member)).and_then(Value::as_array_mut);
    let Some(list) = list.filter(|_| listed) else { return };
    let Some(mut item) = list.first().cloned() else { return };
    let process = std::process::id();
    item["name"] = json!(format!("of-process-{process}"));
    edit(&mut item, process);
    list.push(item);
}
