//! Structured errors (SERF), our own extension: what a failed call says of its kind, so that a client can recover from it. Only
//! servers that use our key of `_meta` are judged: other servers have their own members, of whatever names.

use serde_json::Value;
use wire::meta::ERROR;
use wire::revision::R2024_11_05;
use wire::serf::{CATEGORY, Category, RETRY_AFTER_MS, RETRYABLE, SUGGESTED_ACTIONS};

use crate::rule::{Rule, at, safety};
use crate::verdict::{Kept, Verdict};
use crate::view::{MessageAt, View};

/// Where the details of a failure are.
const PLACE: &str = "/result/_meta/dev.proofhouse~1error";
/// What is missing where none was seen.
const UNSEEN: &str = "no failed call said its kind in `_meta`";

const fn about_errors(id: &'static str, asks: &'static str) -> Rule {
    safety(id).asks(R2024_11_05, at("server/tools", "error-handling"), asks)
}

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    about_errors(
        "serf.category-known",
        "The `category` of a structured error is INVALID_INPUT, RESOURCE_NOT_FOUND, RESOURCE_EXHAUSTED, PERMISSION_DENIED, UPSTREAM_FAILURE or INTERNAL_ERROR.",
    )
    .how("Reads `dev.proofhouse/error` in `_meta` of results with `isError`. Servers without this key are not judged.")
    .fix("Use one of the six names in `category`, in capitals.")
    .judge(|view| judged(view, |details| Some(category_known(details)))),
    about_errors(
        "serf.retryable-agrees",
        "`retryable` of a structured error is true or false, and false for INVALID_INPUT and RESOURCE_NOT_FOUND.",
    )
    .how("Reads `dev.proofhouse/error` in `_meta` of results with `isError`. Servers without this key are not judged.")
    .fix("Set `retryable` to true only if exactly the same request can succeed later.")
    .judge(|view| judged(view, |details| Some(retryable_agrees(details)))),
    about_errors(
        "serf.retry-after-given",
        "A structured error RESOURCE_EXHAUSTED that is `retryable` has `retry_after_ms`, and `retry_after_ms` is a number of at least 0.",
    )
    .how("Reads `dev.proofhouse/error` in `_meta` of results with `isError`, where it has a time or has to have one.")
    .fix("Set `retry_after_ms` to the milliseconds after which the same request can succeed.")
    .judge(|view| judged(view, retry_after_given)),
    about_errors("serf.actions-listed", "`suggested_actions` of a structured error is a list of strings.")
        .how("Reads `dev.proofhouse/error` in `_meta` of results with `isError`. Servers without this key are not judged.")
        .fix("Say in `suggested_actions` what to do: a list of strings, which may be empty.")
        .judge(|view| judged(view, |details| Some(actions_listed(details)))),
];

/// What is wrong: the pointer within the details, and why.
type Checked = Result<(), (&'static str, String)>;

/// Failed calls that claim to say their kind, with what they say.
fn claims<'v>(view: &View<'v>) -> Vec<(MessageAt<'v>, &'v Value)> {
    let calls = view.calls("tools/call").chain(view.calls("tasks/result"));
    let details = calls.filter_map(|call| {
        let result = call.result().filter(|result| result.get("isError") == Some(&Value::Bool(true)))?;
        Some((call.response?, result.get("_meta")?.get(ERROR)?))
    });
    details.collect()
}

fn judged(view: &View<'_>, check: fn(&Value) -> Option<Checked>) -> Verdict {
    let judged = claims(view).into_iter().filter_map(|(sent, details)| {
        let breach = |(member, why): (&str, String)| sent.breach(pointer(member), why);
        Some((sent.event, check(details)?.map_err(breach)))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), UNSEEN)
}

fn pointer(member: &str) -> String {
    if member.is_empty() { PLACE.to_owned() } else { format!("{PLACE}/{member}") }
}

fn known(details: &Value) -> Option<Category> {
    details.get(CATEGORY).and_then(Value::as_str).and_then(Category::named)
}

fn category_known(details: &Value) -> Checked {
    match (details.get(CATEGORY), known(details)) {
        (_, Some(_)) => Ok(()),
        (None, _) => Err(("", "it has no `category`".to_owned())),
        (Some(_), None) => Err((CATEGORY, "not one of the six categories".to_owned())),
    }
}

fn retryable_agrees(details: &Value) -> Checked {
    match (details.get(RETRYABLE), known(details)) {
        (None, _) => Err(("", "it has no `retryable`".to_owned())),
        (Some(Value::Bool(true)), Some(category)) if !category.may_be_retryable() => {
            Err((RETRYABLE, format!("the same request never succeeds after {}", category.as_str())))
        }
        (Some(Value::Bool(_)), _) => Ok(()),
        (Some(_), _) => Err((RETRYABLE, "neither true nor false".to_owned())),
    }
}

fn retry_after_given(details: &Value) -> Option<Checked> {
    let retries = details.get(RETRYABLE) == Some(&Value::Bool(true));
    match details.get(RETRY_AFTER_MS) {
        Some(after) if after.as_f64().is_some_and(|after| after >= 0.0) => Some(Ok(())),
        Some(_) => Some(Err((RETRY_AFTER_MS, "not a number of at least 0".to_owned()))),
        None if retries && known(details) == Some(Category::ResourceExhausted) => {
            Some(Err(("", "it is retryable and has no `retry_after_ms`".to_owned())))
        }
        None => None,
    }
}

fn actions_listed(details: &Value) -> Checked {
    match details.get(SUGGESTED_ACTIONS) {
        Some(Value::Array(actions)) if actions.iter().all(Value::is_string) => Ok(()),
        Some(_) => Err((SUGGESTED_ACTIONS, "not a list of strings".to_owned())),
        None => Err(("", "it has no `suggested_actions`".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{actions_listed, category_known, retry_after_given, retryable_agrees};

    /// What each rule says, in their order; none where it has nothing to judge.
    fn kept(details: &Value) -> [Option<bool>; 4] {
        let (category, retryable) = (category_known(details), retryable_agrees(details));
        let (after, actions) = (retry_after_given(details), actions_listed(details));
        [Some(category.is_ok()), Some(retryable.is_ok()), after.map(|after| after.is_ok()), Some(actions.is_ok())]
    }

    fn details(category: &str, retryable: Value, after: Option<Value>) -> Value {
        let mut details = json!({ "category": category, "retryable": retryable, "suggested_actions": [] });
        details.as_object_mut().expect("an object").extend(after.map(|after| ("retry_after_ms".to_owned(), after)));
        details
    }

    #[test]
    fn details_agree_with_the_table() {
        let (yes, no) = (Some(true), Some(false));
        for (category, retryable, after, expected) in [
            ("INTERNAL_ERROR", json!(false), None, [yes, yes, None, yes]),
            ("PERMISSION_DENIED", json!(true), None, [yes, yes, None, yes]),
            ("RESOURCE_EXHAUSTED", json!(false), None, [yes, yes, None, yes]),
            ("RESOURCE_EXHAUSTED", json!(true), Some(json!(0.5)), [yes, yes, yes, yes]),
            ("RESOURCE_EXHAUSTED", json!(true), None, [yes, yes, no, yes]),
            ("RESOURCE_EXHAUSTED", json!(true), Some(json!("1 s")), [yes, yes, no, yes]),
            ("UPSTREAM_FAILURE", json!(true), Some(json!(-1)), [yes, yes, no, yes]),
            ("INVALID_INPUT", json!(true), None, [yes, no, None, yes]),
            ("RESOURCE_NOT_FOUND", json!(true), Some(json!(5)), [yes, no, yes, yes]),
            ("resource_not_found", json!(true), None, [no, yes, None, yes]),
            ("INTERNAL_ERROR", json!("false"), None, [yes, no, None, yes]),
            ("INTERNAL_ERROR", Value::Null, None, [yes, no, None, yes]),
        ] {
            let details = details(category, retryable, after);
            assert_eq!(kept(&details), expected, "{details}");
        }
    }

    #[test]
    fn what_is_missing_is_a_breach() {
        for details in [json!({}), json!(null), json!("INTERNAL_ERROR"), json!([])] {
            assert_eq!(kept(&details), [Some(false), Some(false), None, Some(false)], "{details}");
        }
        let listed = |actions: Value| actions_listed(&json!({ "suggested_actions": actions })).is_ok();
        assert!(
            listed(json!(["Wait"])) && !listed(json!("Wait")) && !listed(json!(["Wait", 1])) && !listed(Value::Null)
        );
    }
}
