//! The extension `io.modelcontextprotocol/tasks` of 2026-07-28, a file per group of sections. Each request declares it
//! again; whether a call becomes a task the server decides.

pub(crate) mod clients;
pub(crate) mod creating;
pub(crate) mod errors;
pub(crate) mod inputs;
pub(crate) mod reading;

use serde_json::Value;

use crate::rule::{Anchor, at};
use crate::view::{Call, View, declared};
use wire::error_code::MISSING_CLIENT_CAPABILITY;
use wire::meta;

/// The requests that it has.
pub(crate) const METHODS: [&str; 3] = ["tasks/get", "tasks/update", "tasks/cancel"];

const fn here(section: &'static str) -> Anchor {
    at("extensions/tasks", section)
}

fn capabilities<'v>(call: &Call<'v>) -> Option<&'v Value> {
    call.request.message.params()?.get("_meta")?.get(meta::CLIENT_CAPABILITIES)
}

/// Whether a request declares the extension.
fn declares(call: &Call<'_>) -> bool {
    capabilities(call).is_some_and(|capabilities| declared(capabilities, meta::TASKS_CAPABILITY).is_some())
}

/// The client's capabilities but for the extension: equal where nothing else tells two requests apart.
fn other_capabilities(call: &Call<'_>) -> Value {
    let mut all = capabilities(call).cloned().unwrap_or_default();
    if let Some(extensions) = all.get_mut("extensions").and_then(Value::as_object_mut) {
        extensions.remove(meta::TASKS_EXTENSION);
        if extensions.is_empty() {
            all.as_object_mut().map(|all| all.remove("extensions"));
        }
    }
    all
}

/// Requests of `method` that declare the extension, are valid and were answered about their content.
fn judgeable_calls<'a, 'v>(view: &'a View<'v>, method: &'a str) -> impl Iterator<Item = Call<'v>> + 'a {
    view.calls(method).filter(|call| declares(call) && view.judges_content(call))
}

/// What is wrong with an error that should say that the extension is missing; the pointer and why.
fn unlike_missing(call: &Call<'_>) -> Option<(&'static str, String)> {
    match call.error_code() {
        Some(MISSING_CLIENT_CAPABILITY) => {
            let listed = call.error()?.get("data").and_then(|data| data.get("requiredCapabilities"));
            let named = listed.and_then(|listed| listed.get("extensions")?.get(meta::TASKS_EXTENSION)).is_some();
            (!named).then(|| {
                (
                    "/error/data",
                    format!("the error does not list `{}` among `requiredCapabilities`", meta::TASKS_EXTENSION),
                )
            })
        }
        Some(code) => {
            Some(("/error/code", format!("the request lacks the extension; refused with {code}, expected -32021")))
        }
        None => Some(("/result", "the request lacks the extension and is served".to_owned())),
    }
}
