//! "Result Retrieval" and "Task Execution Errors": what `tasks/result` gives, and when.

use serde_json::Value;
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND};
use wire::revision::{R2025_11_25, R2026_07_28};
use wire::shape;

use super::{CALLS, Twins, here, is_failure};
use crate::reading::tasks::{Creation, How, creations, named, task_states};
use crate::rule::{Rule, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, View};

/// The sections' rules.
pub(crate) const RULES: &[Rule] = &[
    server("tasks.result-blocks")
        .says(
            R2025_11_25,
            here("result-retrieval"),
            "A request of `tasks/result` MUST NOT be answered before the task is over.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Asks for the result of a task under way, and for the task once the answer is there. Errors that say that the \
              task is unknown, while `tasks/get` does not know it as working, or that the server failed, are accepted.")
        .fix("Hold the answer back until the task is completed, failed or cancelled.")
        .judge(blocks),
    server("tasks.result-as-called")
        .says(
            R2025_11_25,
            here("result-retrieval"),
            "`tasks/result` MUST give the very result that the call would have been answered with.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Compares the results of tasks that were calls of tools with the schema of a call's result. Where the plain call always gives a result with `isError`, `tasks/result` must give one, and no error of JSON-RPC.")
        .fix("Store what the tool returned and give it back as it is; how the task stands belongs into `tasks/get`.")
        .judge(as_called),
    server("tasks.result-error-same")
        .says(
            R2025_11_25,
            here("task-execution-errors"),
            "Where the call ended in a JSON-RPC error, `tasks/result` MUST give that error.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Makes the same call plainly and as a task; where the plain one is always refused with one code, `tasks/result` must be refused with the same code.")
        .fix("Keep the error's code and message with the task and answer `tasks/result` with them.")
        .judge(error_same),
    server("tasks.failure-shown")
        .says(
            R2025_11_25,
            here("task-execution-errors"),
            "A task that was a call of a tool SHOULD end as `failed` where the tool's result has `isError: true`.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Runs a call as a task that is known to give a result with `isError`, and looks at how the task ends.")
        .fix("Set the status by `isError` of the result, not by whether the tool threw.")
        .judge(failure_shown),
    server("tasks.failure-explained")
        .says(
            R2025_11_25,
            here("task-execution-errors"),
            "What `tasks/get` says of a failed task SHOULD have a `statusMessage` on the failure.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Looks for the member in answers to `tasks/get` with the status `failed`.")
        .fix("Put the tool's or the error's own message into `statusMessage`.")
        .judge(explained),
];

/// Whether an answer to a request about a task says that there is none, or that something broke.
fn is_envelope_refusal(code: Option<i64>) -> bool {
    matches!(code, Some(INTERNAL_ERROR..=METHOD_NOT_FOUND))
}

pub(super) fn blocks(view: &View<'_>) -> Verdict {
    let task_states = task_states(view);
    let judged = view.calls("tasks/result").filter(|call| view.judges_content(call)).filter_map(|call| {
        let (response, id) = (call.response?, named(&call.request)?);
        let refused = is_envelope_refusal(call.error_code());
        let of = |how: &&crate::reading::tasks::TaskState<'_>| how.id == id;
        let before = task_states.iter().filter(of).rfind(|state| state.sent.event < call.request.event)?;
        let after =
            task_states.iter().filter(of).find(|state| state.how == How::Got && state.requested > response.event)?;
        // A task that is known before and after is not refused for being unknown.
        if refused && (call.error_code() != Some(INVALID_PARAMS) || after.is_over()) {
            return None;
        }
        let why = || format!("answered while the task is {:?}", after.status().unwrap_or_default());
        let kept: Kept = if after.is_over() { Ok(()) } else { Err(response.breach("", why())) };
        // A task that was over before had nothing to wait for.
        (kept.is_err() || !before.is_over()).then_some((response.event, kept))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no result was asked for early and the task looked at afterwards")
}

/// Answers to `tasks/result` with the calls that became the tasks.
fn answers<'v>(view: &View<'v>) -> Vec<(Call<'v>, Creation<'v>)> {
    let made = creations(view);
    let of = |call: Call<'v>| {
        let id = named(&call.request)?;
        Some((call, *made.iter().find(|creation| creation.id == id)?))
    };
    view.calls("tasks/result")
        .filter(|call| view.judges_content(call) && call.response.is_some())
        .filter_map(of)
        .collect()
}

fn as_called(view: &View<'_>) -> Verdict {
    let plain = Twins::plain(view);
    let judged = answers(view).into_iter().filter_map(|(call, creation)| {
        let response = call.response?;
        let twins = plain.of(&creation.call);
        let fails = !twins.is_empty() && twins.iter().all(|twin| twin.result().is_some_and(is_failure));
        if call.error_code() == Some(INTERNAL_ERROR) && fails {
            let why = "the call alone gives a result with `isError`, as a task an error of JSON-RPC";
            return Some((response.event, Err(response.breach("/error", why))));
        }
        let result = call.result()?;
        let found = shape::check("CallToolResult", view.revision(), result)?.into_iter().next();
        let kept = found.map_or(Ok(()), |mismatch| {
            let why =
                format!("no result of a tool: it should have {} here; found {}", mismatch.expected, mismatch.found);
            Err(response.breach(format!("/result{}", mismatch.pointer), why))
        });
        Some((response.event, kept))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no task's result was asked for and given")
}

/// The code with which each of these calls was refused, if it is one and the same.
pub(crate) fn always(calls: &[Call<'_>]) -> Option<i64> {
    let first = calls.first()?.error_code()?;
    calls.iter().all(|call| call.error_code() == Some(first)).then_some(first)
}

fn error_same(view: &View<'_>) -> Verdict {
    let plain = Twins::plain(view);
    let task_states = task_states(view);
    let judged = answers(view).into_iter().filter_map(|(call, creation)| {
        let (response, due) = (call.response?, always(plain.of(&creation.call))?);
        // Refused for not being a task; and a cancelled task has no result of its own.
        let ended = task_states.iter().rfind(|state| state.id == creation.id).and_then(|state| state.status());
        if matches!(due, METHOD_NOT_FOUND | INVALID_REQUEST) || ended == Some("cancelled") {
            return None;
        }
        let kept: Kept = match call.error_code() {
            Some(code) if code == due => Ok(()),
            Some(code) => {
                Err(response.breach("/error/code", format!("the call alone ends with {due}, as a task with {code}")))
            }
            None => Err(response
                .breach("/result", format!("the call alone ends with the error {due}, as a task with a result"))),
        };
        Some((response.event, kept))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no call that ends in an error was made plainly and as a task")
}

fn failure_shown(view: &View<'_>) -> Verdict {
    let task_states = task_states(view);
    let judged = answers(view).into_iter().filter_map(|(call, creation)| {
        call.result().filter(|result| is_failure(result))?;
        let last = task_states.iter().rfind(|state| state.id == creation.id && state.is_over())?;
        let why = "the tool's result has `isError`, and its task is completed";
        match last.status() {
            Some("failed") => Some((last.sent.event, Ok(()))),
            Some("completed") => Some((last.sent.event, Err(last.breach("/status", why)))),
            _ => None,
        }
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task's result was a tool's error")
}

/// Judges that what `tasks/get` says of failed tasks has a message.
pub(crate) fn explained(view: &View<'_>) -> Verdict {
    let failed = task_states(view).into_iter().filter(|s| s.how == How::Got && s.status() == Some("failed"));
    Verdict::every(failed, "no task was seen to have failed", |state| {
        let message = state.task.get("statusMessage").and_then(Value::as_str);
        let breach = || state.breach("/statusMessage", "a failed task does not say why");
        if message.is_some_and(|message| !message.trim().is_empty()) { Ok(()) } else { Err(breach()) }
    })
}
