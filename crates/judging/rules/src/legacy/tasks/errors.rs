//! "Protocol Errors": what is refused, how, and with which words.

use serde_json::Value;
use wire::error_code::INVALID_PARAMS;
use wire::revision::{R2025_11_25, R2026_07_28};

use super::here;
use crate::reading::tasks::{is_made_up_name, named};
use crate::rule::{Rule, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, View};

/// The section's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("tasks.unknown-refused")
        .says(
            R2025_11_25,
            here("protocol-errors"),
            "A request about a task that does not exist MUST be refused with the error -32602.",
        )
        .gone(R2026_07_28)
        .needs("tasks")
        .how("Asks for, cancels and requests the result of a task with an id that cannot exist (`no-such-…`).")
        .fix("Answer -32602 (invalid params) where the id is unknown, or no longer known.")
        .judge(|view| unknown(view, &["tasks/get", "tasks/result", "tasks/cancel"], |call| is_served(view, call))),
    server("tasks.invalid-cursor-refused")
        .says(
            R2025_11_25,
            here("protocol-errors"),
            "A request of `tasks/list` with a cursor that was never issued MUST be refused with the error -32602.",
        )
        .gone(R2026_07_28)
        .needs("tasks.list")
        .how("Lists tasks with a cursor that cannot exist (`no-such-…`).")
        .fix("Check the cursor, and answer -32602 where it is unknown.")
        .judge(invalid_cursor),
    server("tasks.errors-informative")
        .says(
            R2025_11_25,
            here("protocol-errors"),
            "The error of a request about tasks SHOULD say in words what is wrong.",
        )
        .gone(R2026_07_28)
        .needs("tasks")
        .how("Looks for words in the messages of such errors; what they say is not judged.")
        .fix("Write a message that names the cause.")
        .judge(informative),
];

/// Whether the method must be served: cancelling is declared apart.
fn is_served(view: &View<'_>, call: &Call<'_>) -> bool {
    !call.request.is("tasks/cancel") || view.capability("tasks.cancel").is_some()
}

/// Judges that such requests of these methods are refused with -32602 where the task they name does not exist.
pub(crate) fn unknown(view: &View<'_>, methods: &[&str], such: impl Fn(&Call<'_>) -> bool) -> Verdict {
    let has_made_up_method = |call: &Call<'_>| named(&call.request).is_some_and(is_made_up_name);
    let calls = methods.iter().flat_map(|method| view.calls(method));
    let calls = calls.filter(|call| view.judges_content(call) && has_made_up_method(call) && such(call));
    let judged = calls.filter_map(|call| refused(&call, "a task that does not exist"));
    Verdict::of(judged.collect::<Vec<_>>(), "no task was asked for that does not exist")
}

/// Judges that a call is refused with -32602.
fn refused(call: &Call<'_>, what: &str) -> Option<(usize, Kept)> {
    let response = call.response?;
    let kept: Kept = match call.error_code() {
        Some(INVALID_PARAMS) => Ok(()),
        Some(code) => Err(response.breach("/error/code", format!("{what}: refused with {code}, expected -32602"))),
        None => Err(response.breach("/result", format!("{what} is answered with a result"))),
    };
    Some((response.event, kept))
}

pub(super) fn invalid_cursor(view: &View<'_>) -> Verdict {
    let cursor = |call: &Call<'_>| {
        let cursor = call.request.message.params().and_then(|p| p.get("cursor")?.as_str());
        cursor.is_some_and(is_made_up_name)
    };
    let calls = view.calls("tasks/list").filter(|call| view.judges_content(call) && cursor(call));
    let judged = calls.filter_map(|call| refused(&call, "a cursor that was never issued"));
    Verdict::of(judged.collect::<Vec<_>>(), "tasks were not listed with a cursor that was never issued")
}

/// Judges that errors of requests about tasks have words.
pub(crate) fn informative(view: &View<'_>) -> Verdict {
    let about = |call: &Call<'_>| call.request.message.method().is_some_and(|method| method.starts_with("tasks/"));
    let judged = view.all_calls().filter(|call| about(call) && view.judges_content(call)).filter_map(|call| {
        let (response, message) = (call.response?, call.error()?.get("message").and_then(Value::as_str));
        let words = message.is_some_and(|message| message.chars().any(char::is_alphabetic));
        let breach = || response.breach("/error/message", "the error has no words");
        Some((response.event, if words { Ok(()) } else { Err(breach()) }))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no request about tasks was refused")
}
