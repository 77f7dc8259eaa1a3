//! Results that are taken for something else than they are, and lists that are not read as they ought to be.

use serde_json::{Value, json};

use super::{Fault, Kind, drop_member, fault};

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "result-type-ignored",
        "result.client-unknown-type-refused",
        "treats results of any `resultType` as complete",
        Kind::Receives(|result| {
            let kind = result.get("resultType").filter(|kind| **kind != "input_required" && **kind != "complete");
            let unknown = kind.is_some();
            if unknown {
                result["resultType"] = json!("complete");
            }
            unknown
        }),
    )
    .modern()
    .seen_in("hostile.unknown-list-type"),
    fault(
        "result-type-required",
        "result.client-absent-type-complete",
        "refuses a result without `resultType`",
        Kind::Receives(|result| {
            let absent = result.is_object() && result.get("resultType").is_none();
            if absent {
                result["resultType"] = json!("absent");
            }
            absent
        }),
    )
    .modern()
    .seen_in("untyped-page"),
    fault(
        "reads-one-page",
        "pagination.pages-followed",
        "reads only the first page of a list",
        Kind::Receives(|result| drop_member(result, "nextCursor")),
    )
    .seen_in("lists"),
    fault(
        "empty-cursor-ends",
        "pagination.empty-cursor-followed",
        "treats an empty cursor as the end of the list",
        Kind::Receives(|result| result["nextCursor"] == "" && drop_member(result, "nextCursor")),
    )
    .modern()
    .seen_in("empty-cursor"),
    fault(
        "short-page-ends",
        "pagination.page-size-not-assumed",
        "treats a page without items as the last",
        Kind::Receives(|result| {
            let lists = ["tools", "resources", "resourceTemplates", "prompts"];
            let empty = lists.iter().any(|list| result[*list].as_array().is_some_and(Vec::is_empty));
            empty && drop_member(result, "nextCursor")
        }),
    )
    .seen_in("uneven-pages"),
    fault(
        "cursor-altered",
        "pagination.cursors-opaque",
        "shortens the cursors that it got",
        Kind::Sends(|message| {
            let Some(Value::String(cursor)) = message.pointer_mut("/params/cursor") else { return false };
            cursor.pop().is_some()
        }),
    )
    .seen_in("lists")
    .breaks_too(&["pagination.pages-followed"]),
    fault(
        "keeps-nothing",
        "caching.fresh-kept",
        "requests again what it could have cached",
        Kind::Receives(|result| drop_member(result, "ttlMs")),
    )
    .modern()
    .seen_in("caching"),
    fault(
        "cursor-trimmed",
        "pagination.cursors-opaque",
        "trims the cursors that it got",
        Kind::Sends(|message| {
            let Some(cursor) = message.pointer_mut("/params/cursor") else { return false };
            let trimmed = cursor.as_str().unwrap_or_default().trim().to_owned();
            let altered = *cursor != json!(trimmed);
            *cursor = json!(trimmed);
            altered
        }),
    )
    .seen_in("odd-cursors")
    .breaks_too(&["pagination.pages-followed"]),
];
