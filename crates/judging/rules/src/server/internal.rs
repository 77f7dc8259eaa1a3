//! Internal errors, of which the pages of resources, prompts, completion and logging say the same.

use serde_json::Value;
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST};
use wire::revision::R2024_11_05;

use crate::rule::{Rule, at, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, View};

/// The rules.
pub(crate) const RULES: &[Rule] = &[server("errors.internal-error")
    .says(
        R2024_11_05,
        at("server/resources", "error-handling"),
        "An internal error SHOULD be answered with the code -32603.",
    )
    .how("Looks at errors whose text says \"internal error\", and at refusals of `logging/setLevel` with a valid level: these come from the server's configuration.")
    .fix("Answer -32603 where the server fails, and -32602 where the request is at fault.")
    .judge(internal)];

/// Whether the server itself says that it failed.
fn says_so(call: &Call<'_>) -> bool {
    let text = call.error().and_then(|error| error.get("message")).and_then(Value::as_str).unwrap_or_default();
    let text = text.to_lowercase();
    ["internal error", "internal server error", "internal failure"].iter().any(|words| text.contains(words))
}

/// Whether a level that exists was refused. That the method is not known has a rule of its own, and codes of the server's
/// own tell of something else: a missing permission, a session that is gone.
fn is_misconfigured(call: &Call<'_>) -> bool {
    let level = || call.request.message.params()?.get("level")?.as_str();
    call.request.is("logging/setLevel")
        && level().is_some_and(super::utilities::logging::is_level)
        && matches!(call.error_code(), Some(INTERNAL_ERROR | INVALID_PARAMS | INVALID_REQUEST))
}

fn internal(view: &View<'_>) -> Verdict {
    let failed = view.all_calls().filter(|call| view.judges_content(call) && (says_so(call) || is_misconfigured(call)));
    let judged = failed.filter_map(|call| {
        let (response, code) = (call.response?, call.error_code()?);
        let why = || format!("the code is {code}, due for an internal error is -32603");
        let kept: Kept = if code == INTERNAL_ERROR { Ok(()) } else { Err(response.breach("/error/code", why())) };
        Some((response.event, kept))
    });
    Verdict::of(judged, "no internal error was seen")
}
