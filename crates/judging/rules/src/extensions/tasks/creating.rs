//! "Capability Negotiation", "Polymorphic Results" and "Task Creation": which calls become tasks, and how that shows.

use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS};
use wire::meta;
use wire::revision::R2026_07_28;

use super::{declares, here, judgeable_calls, other_capabilities, unlike_missing};
use crate::legacy::tasks::creating::guessed;
use crate::reading::tasks::{by_tool_call, creations, named, tool_call_key};
use crate::rule::{Rule, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, View};

/// The sections' rules, in their own order.
pub(crate) const RULES: &[Rule] = &[
    server("task-extension.not-without-capability")
        .says(
            R2026_07_28,
            here("capability-negotiation"),
            "A call that does not declare the extension MUST NOT be answered with a task.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Makes a call that becomes a task once more without the extension, and looks at the answer.")
        .fix("Look at `clientCapabilities` of the request at hand, not of an earlier one.")
        .judge(not_without),
    server("task-extension.missing-refused")
        .says(
            R2026_07_28,
            here("capability-negotiation"),
            "A call that can only become a task and does not declare the extension MUST be refused with -32021, naming it.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Looks at the errors of calls without the extension that become tasks with it, all else being equal.")
        .fix("Answer -32021 with `io.modelcontextprotocol/tasks` under `data.requiredCapabilities.extensions`.")
        .judge(missing_refused),
    server("task-extension.type-named")
        .says(R2026_07_28, here("polymorphic-results"), "The `resultType` of an answer that brings a task MUST be `task`.")
        .needs(meta::TASKS_CAPABILITY)
        .how("Looks at the `resultType` of answers to calls that have a task's id, status and dates.")
        .fix("Set `resultType` to `task` in answers that bring one.")
        .judge(named_type),
    server("task-extension.type-reserved")
        .says(
            R2026_07_28,
            here("polymorphic-results"),
            "The `resultType` of an answer that brings no new task MUST NOT be `task`.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Reads the `resultType` of answers about tasks, and of all others that name no new task.")
        .fix("Use `complete` for every result but the one that brings the task.")
        .judge(reserved),
    server("task-extension.durable")
        .says(
            R2026_07_28,
            here("task-creation"),
            "The answer that brings a task MUST NOT be sent before `tasks/get` finds the task.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Asks for each task as soon as it is there.")
        .fix("Store the task, wait until it can be read, and then answer.")
        .judge(durable),
    server("task-extension.ids-unguessable")
        .says(
            R2026_07_28,
            here("security-considerations"),
            "The id of a task MUST be random enough that no third party guesses or lists it.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Estimates how many ids of that length and alphabet there can be, and how much of it differs between two ids.")
        .fix("Use a random UUID or 128 bits from a secure generator; no counters, no clocks.")
        .judge(|view| guessed(view, creations(view), "/result/taskId")),
];

/// Weighed calls of tools that do not declare the extension, each with the calls of the same content that do, declare
/// the same otherwise, and became tasks.
fn bare<'v>(view: &View<'v>) -> Vec<(Call<'v>, Vec<Call<'v>>)> {
    let tasks = by_tool_call(creations(view).into_iter().map(|made| made.call).filter(declares));
    let calls = view.calls("tools/call").filter(|call| !declares(call) && view.judges_content(call));
    let twins = |call: &Call<'v>| {
        let all = tasks.get(&tool_call_key(call)).into_iter().flatten().copied();
        all.filter(|task| other_capabilities(task) == other_capabilities(call)).collect::<Vec<_>>()
    };
    calls.map(|call| (call, twins(&call))).collect()
}

fn not_without(view: &View<'_>) -> Verdict {
    let judged = bare(view).into_iter().filter_map(|(call, twins)| {
        let response = call.response?;
        let task = call.result().is_some_and(|r| r.get("resultType").is_some_and(|kind| kind == "task"));
        if task {
            return Some((
                response.event,
                Err(response.breach("/result/resultType", "a task for who did not declare them")),
            ));
        }
        (!twins.is_empty()).then_some((response.event, Ok(())))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no call that becomes a task was made without the extension")
}

fn missing_refused(view: &View<'_>) -> Verdict {
    let judged = bare(view).into_iter().filter_map(|(call, twins)| {
        let response = call.response?;
        // That the server failed says nothing of why.
        if twins.is_empty() || call.error().is_none() || call.error_code() == Some(INTERNAL_ERROR) {
            return None;
        }
        let kept = unlike_missing(&call).map_or(Ok(()), |(pointer, why)| Err(response.breach(pointer, why)));
        Some((response.event, kept))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no call that becomes a task was refused for lack of the extension")
}

fn named_type(view: &View<'_>) -> Verdict {
    let judged = view.results("tools/call").filter_map(|(sent, result)| {
        let task = ["taskId", "status", "createdAt"].into_iter().all(|member| result.get(member).is_some());
        let right = result.get("resultType").is_some_and(|kind| kind == "task");
        let breach = || sent.breach("/result/resultType", "the result is a task, its `resultType` is not `task`");
        (task && result.get("content").is_none()).then(|| (sent.event, if right { Ok(()) } else { Err(breach()) }))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no call was answered with a task")
}

fn reserved(view: &View<'_>) -> Verdict {
    let judged = view.all_calls().filter(|call| view.is_current(call.request)).filter_map(|call| {
        let (response, result, method) = (call.response?, call.result()?, call.request.message.method()?);
        let wrong = result.get("resultType").is_some_and(|kind| kind == "task")
            && (method != "tools/call" || result.get("taskId").is_none());
        let breach = || response.breach("/result/resultType", "this result brings no new task");
        let kept: Kept = if wrong { Err(breach()) } else { Ok(()) };
        (wrong || method.starts_with("tasks/")).then_some((response.event, kept))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no request about tasks was answered")
}

fn durable(view: &View<'_>) -> Verdict {
    let states_by_task: Vec<_> = judgeable_calls(view, "tasks/get").collect();
    let judged = creations(view).into_iter().filter_map(|made| {
        let mine = |call: &&Call<'_>| named(&call.request) == Some(made.id) && call.request.event > made.sent.event;
        let first = states_by_task.iter().find(mine)?;
        let response = first.response?;
        let cancelled = view
            .calls("tasks/cancel")
            .any(|call| named(&call.request) == Some(made.id) && call.request.event < response.event);
        let ttl = made.task.get("ttlMs").and_then(serde_json::Value::as_u64).unwrap_or(u64::MAX).saturating_mul(1000);
        let alive = response.done < made.call.request.done.saturating_add(ttl) && !cancelled;
        match first.error_code() {
            None => Some((response.event, Ok(()))),
            Some(INVALID_PARAMS) if alive => {
                Some((response.event, Err(response.breach("/error", "the task that was issued is not found"))))
            }
            Some(_) => None,
        }
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task was asked for after it was issued")
}
