//! "Task Polling", "Task Status" and "Task Execution Errors": what `tasks/get` says of a task.

use serde_json::Value;
use wire::error_code::MISSING_CLIENT_CAPABILITY;
use wire::meta;
use wire::revision::R2026_07_28;
use wire::shape;

use super::{METHODS, declares, here};
use crate::legacy::tasks::lifecycle::final_status;
use crate::legacy::tasks::results::{always, explained};
use crate::reading::tasks::{Creation, TaskState, by_tool_call, creations, is_timestamp, task_states, tool_call_key};
use crate::rule::{Rule, safety, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, View};

/// The sections' rules.
pub(crate) const RULES: &[Rule] = &[
    server("task-extension.status-told")
        .says(R2026_07_28, here("task-polling"), "The answer to `tasks/get` MUST show the status that the task has.")
        .needs(meta::TASKS_CAPABILITY)
        .how("Compares it with an earlier final status: a task that is over keeps it. The schema judges which members each status needs.")
        .fix("Read the status when the request comes, from where it is kept.")
        .judge(final_status),
    server("task-extension.answers-complete")
        .says(
            R2026_07_28,
            here("task-polling"),
            "The `resultType` of answers to `tasks/get`, `tasks/update` and `tasks/cancel` MUST be `complete`.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Reads the `resultType` of such answers.")
        .fix("Set `resultType` to `complete` there, however the task stands.")
        .judge(complete),
    server("task-extension.failed-means-error")
        .says(
            R2026_07_28,
            here("task-execution-errors"),
            "The status `failed` MUST NOT be used but for JSON-RPC errors; a tool's own error makes a task `completed`.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Looks at failed tasks that have a result, or whose call alone gives one, and at completed ones with `isError`.")
        .fix("Set `failed` only where the call would have been answered with `error`.")
        .judge(failed),
    server("task-extension.outcome-as-called")
        .says(
            R2026_07_28,
            here("task-execution-errors"),
            "A task MUST show what its call would have been answered with: the result, or the JSON-RPC error.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Compares `result` of completed tasks with the schema of a call's result, and the code in `error` of failed ones \
              with that of the same call without the extension.")
        .fix("Keep result or error as it is, and put it into `result` or `error`.")
        .judge(outcome),
    server("task-extension.failure-explained")
        .says(
            R2026_07_28,
            here("task-execution-errors"),
            "What `tasks/get` says of a failed task SHOULD have a `statusMessage` on the failure.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Looks for the member in answers to `tasks/get` with the status `failed`.")
        .fix("Put the error's own message into `statusMessage` as well.")
        .judge(explained),
    safety("task-extension.dates")
        .asks(R2026_07_28, here("tasks"), "The dates of a task are dates and times of ISO 8601, with a `T` between them.")
        .needs(meta::TASKS_CAPABILITY)
        .by_default()
        .how("Reads `createdAt` and `lastUpdatedAt` wherever a task is in an answer or a notification. A time without a zone is accepted, and basic forms without separators are, too.")
        .fix("Write both in the form 2025-11-25T10:30:00Z.")
        .judge(dates),
];

fn dates(view: &View<'_>) -> Verdict {
    Verdict::every(task_states(view), "no message about a task was seen", |state| {
        for member in ["createdAt", "lastUpdatedAt"] {
            let Some(text) = state.task.get(member).and_then(Value::as_str) else { continue };
            if !is_timestamp(text) || text.contains(' ') {
                let why = format!("`{member}` is no date and time of ISO 8601");
                return Err(state.breach(&format!("/{member}"), why));
            }
        }
        Ok(())
    })
}

fn complete(view: &View<'_>) -> Verdict {
    let answers = METHODS.into_iter().flat_map(|method| view.results(method));
    Verdict::every(answers.collect::<Vec<_>>(), "no request about tasks was answered", |(sent, result)| {
        match result.get("resultType").and_then(Value::as_str) {
            Some("complete") => Ok(()),
            found => {
                let found = found.unwrap_or("nothing").escape_debug();
                Err(sent.breach("/result/resultType", format!("`resultType` is {found}, expected `complete`")))
            }
        }
    })
}

/// What is said of tasks, with the calls that became them and the answers to those calls without the extension.
fn with_twins<'v>(view: &View<'v>) -> Vec<(TaskState<'v>, Vec<Call<'v>>)> {
    let made: Vec<Creation<'v>> = creations(view);
    let bare = view.calls("tools/call").filter(|call| !declares(call) && view.judges_content(call));
    let plain = by_tool_call(bare);
    let twins = |state: &TaskState<'v>| {
        let call = made.iter().find(|made| made.id == state.id).map(|made| made.call);
        call.and_then(|call| plain.get(&tool_call_key(&call)).cloned()).unwrap_or_default()
    };
    task_states(view).into_iter().map(|state| (state.clone(), twins(&state))).collect()
}

/// Whether something is the result of a tool that failed.
fn is_failure(result: &Value) -> bool {
    result.get("isError").is_some_and(|failed| failed == true)
}

fn failed(view: &View<'_>) -> Verdict {
    let judged = with_twins(view).into_iter().filter_map(|(state, twins)| {
        let result = state.task.get("result");
        let kept: Kept = match state.status()? {
            "completed" if result.is_some_and(is_failure) => Ok(()),
            "failed" if result.is_some() => Err(state.breach("/status", "a task that has a result is `failed`")),
            "failed" if !twins.is_empty() && twins.iter().all(|twin| twin.result().is_some()) => {
                Err(state.breach("/status", "the call alone is answered with a result; as a task it is `failed`"))
            }
            "failed" if state.task.get("error").is_some() => Ok(()),
            _ => return None,
        };
        Some((state.sent.event, kept))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no task failed, and none gave a tool's error")
}

fn outcome(view: &View<'_>) -> Verdict {
    let judged = with_twins(view).into_iter().filter_map(|(state, twins)| {
        let kept: Kept = match (state.status()?, state.task.get("result"), state.task.get("error")) {
            ("completed", Some(result), _) => {
                // That the inner result needs a type of its own is more than the page's examples have.
                let found = shape::check("CallToolResult", view.revision(), result)?;
                let found = found.into_iter().find(|mismatch| mismatch.pointer != "/resultType");
                found.map_or(Ok(()), |m| {
                    let why = format!("no result of a tool: it should have {} here; found {}", m.expected, m.found);
                    Err(state.breach(&format!("/result{}", m.pointer), why))
                })
            }
            ("failed", _, Some(error)) => {
                let due = always(&twins).filter(|code| *code != MISSING_CLIENT_CAPABILITY)?;
                let found = error.get("code").and_then(Value::as_i64)?;
                let why = || format!("the call alone ends with the error {due}, as a task with {found}");
                if found == due { Ok(()) } else { Err(state.breach("/error/code", why())) }
            }
            _ => return None,
        };
        Some((state.sent.event, kept))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no task was seen to its end")
}
