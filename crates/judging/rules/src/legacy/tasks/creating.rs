//! "Task ID Requirements", "TTL and Resource Management" and the first rule of "Result Retrieval": what comes back when a
//! call becomes a task, and what every later message about the task must have.

use serde_json::Value;
use wire::Transport;
use wire::revision::{R2025_11_25, R2026_07_28};

use super::{CALLS, here, is_failure, judgeable_calls};
use crate::reading::entropy::guessable;
use crate::reading::tasks::{Creation, creations, is_timestamp, status, task_params, task_states};
use crate::rule::{Rule, server};
use crate::server::catalogue::Catalogue;
use crate::server::listing::TOOLS;
use crate::verdict::{Breach, Kept, Located, Verdict};
use crate::view::{Call, View};

/// How long a server may take over the answer that is due at once, in microseconds, whatever else it is slow at.
const AT_ONCE: u64 = 2_000_000;

/// The sections' rules.
pub(crate) const RULES: &[Rule] = &[
    server("tasks.id-from-receiver")
        .says(R2025_11_25, here("task-id-requirements"), "The id of a task MUST be made by who runs the task.")
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Suggests an id in `task` of a call and checks whether the task has it.")
        .fix("Make the id yourself and ignore what the request suggests.")
        .judge(own_ids),
    server("tasks.ids-unique")
        .says(R2025_11_25, here("task-id-requirements"), "The id of a task MUST be no other task's.")
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Compares the ids of all tasks of the trace that one server process made.")
        .fix("Make a new random id for each task.")
        .judge(unique_ids),
    server("tasks.ids-unguessable")
        .says(
            R2025_11_25,
            here("task-isolation-and-access-control"),
            "Where nothing says whose a task is, its id MUST be random enough that it cannot be guessed.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Estimates how many ids of that length and alphabet there can be, and how much of it differs between two ids. \
              Tasks of requests with credentials are passed over.")
        .fix("Use a random UUID or 128 bits from a secure generator; no counters, no clocks.")
        .judge(unguessable),
    server("tasks.timestamps")
        .says(
            R2025_11_25,
            here("ttl-and-resource-management"),
            "Every message about a task MUST have `createdAt` and `lastUpdatedAt`, as dates and times of ISO 8601.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Reads both members wherever a task is in an answer or a notification.")
        .fix("Write both in the form 2025-11-25T10:30:00Z.")
        .judge(timestamps),
    server("tasks.created-in-answer")
        .says(R2025_11_25, here("result-retrieval"), "A call that is accepted as a task MUST be answered with the task.")
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Looks for `task` in the results of calls as a task of tools that run as one; a tool's error is accepted.")
        .fix("Answer with `CreateTaskResult` and keep the tool's own result for `tasks/result`.")
        .judge(in_answer),
    server("tasks.created-at-once")
        .says(R2025_11_25, here("result-retrieval"), "The answer with the task SHOULD come as soon as possible.")
        .gone(R2026_07_28)
        .needs(CALLS)
        .timed()
        .how("Compares the time to the answer with that of `tasks/get`: two seconds, and ten times as long, is too long.")
        .fix("Answer before the work begins, not when it is done.")
        .judge(at_once),
    server("tasks.begins-working")
        .says(R2025_11_25, here("task-status-lifecycle"), "A task MUST begin with the status `working`.")
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Looks at the status in the answer that brings the task. A quick task may show another one; that counts where the \
              task works later and was, by its own timestamps, not updated since it was made.")
        .fix("Begin each task as `working`, and continue from there.")
        .judge(begins),
];

pub(super) fn own_ids(view: &View<'_>) -> Verdict {
    let judged = creations(view).into_iter().filter_map(|creation| {
        let suggested = task_params(&creation.call)?.get("taskId")?.as_str()?;
        let breach = || creation.sent.breach("/result/task/taskId", "the id is the one that the request suggested");
        Some((creation.event(), if suggested == creation.id { Err(breach()) } else { Ok(()) }))
    });
    Verdict::of(judged, "no call suggested an id and became a task")
}

/// The creations before the one at `index` that the same server made. A child is a server of its own.
fn before<'c, 'v>(view: &View<'v>, all: &'c [Creation<'v>], index: usize) -> impl Iterator<Item = &'c Creation<'v>> {
    let (child, connection) = (view.transport() == Transport::Stdio, all[index].sent.connection);
    all[..index].iter().filter(move |other| !child || other.sent.connection == connection)
}

pub(super) fn unique_ids(view: &View<'_>) -> Verdict {
    let all = creations(view);
    let judged = all.iter().enumerate().filter_map(|(index, creation)| {
        before(view, &all, index).next()?;
        let same = before(view, &all, index).find(|other| other.id == creation.id);
        let why = |other: &Creation<'_>| format!("the task made in event {} has the same id", other.event());
        let breach = |other| creation.sent.breach("/result/task/taskId", why(other));
        Some((creation.event(), same.map_or(Ok(()), |other| Err(breach(other)))))
    });
    Verdict::of(judged, "fewer than two tasks were made")
}

pub(super) fn unguessable(view: &View<'_>) -> Verdict {
    let bound = |creation: &Creation<'_>| {
        view.exchange(creation.call.request.exchange).is_some_and(|x| x.request_header("authorization").is_some())
    };
    guessed(view, creations(view).into_iter().filter(|creation| !bound(creation)).collect(), "/result/task/taskId")
}

/// Judges that the ids of these tasks cannot be guessed.
pub(crate) fn guessed(view: &View<'_>, all: Vec<Creation<'_>>, pointer: &str) -> Verdict {
    let judged = all.iter().enumerate().map(|(index, creation)| {
        let others = before(view, &all, index).map(|other| (other.event(), other.id));
        let kept = guessable(creation.id, others).map_or(Ok(()), |why| Err(creation.sent.breach(pointer, why)));
        (creation.event(), kept)
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task was made whose id alone guards it")
}

pub(super) fn timestamps(view: &View<'_>) -> Verdict {
    Verdict::every(task_states(view), "no message about a task was seen", |state| {
        for member in ["createdAt", "lastUpdatedAt"] {
            let why = match state.task.get(member).map(Value::as_str) {
                Some(Some(text)) if is_timestamp(text) => continue,
                Some(_) => "is not a date and time of ISO 8601",
                None => "is missing",
            };
            return Err(state.breach(&format!("/{member}"), format!("`{member}` {why}")));
        }
        Ok(())
    })
}

fn in_answer(view: &View<'_>) -> Verdict {
    let tools = Catalogue::of(view, &TOOLS);
    let runs = |call: &Call<'_>| {
        let name = call.request.message.params().and_then(|p| p.get("name")?.as_str());
        let support = name.and_then(|name| tools.definition(name)?.pointer("/execution/taskSupport")?.as_str());
        matches!(support, Some("optional" | "required"))
    };
    let judged =
        judgeable_calls(view).into_iter().filter(|call| task_params(call).is_some() && runs(call)).filter_map(|call| {
            let (response, result) = (call.response?, call.result().filter(|result| !is_failure(result))?);
            let task = result.get("task").is_some_and(|task| task.get("taskId").is_some());
            let why = "the call was accepted as a task; the result has no `task`";
            Some((response.event, if task { Ok(()) } else { Err(response.breach("/result", why)) }))
        });
    Verdict::of(judged, "no call as a task was accepted")
}

fn took(call: &Call<'_>) -> Option<u64> {
    Some(call.response?.done.saturating_sub(call.request.done))
}

fn at_once(view: &View<'_>) -> Verdict {
    let Some(usual) = view.calls("tasks/get").filter_map(|call| took(&call)).max() else {
        return Verdict::NotSeen("no task was asked for, to compare with".to_owned());
    };
    let judged = creations(view).into_iter().filter_map(|creation| {
        let span = took(&creation.call)?;
        let why = || format!("the answer took {} ms, one to `tasks/get` at most {} ms", span / 1000, usual / 1000);
        let late = span > AT_ONCE && span > usual.saturating_mul(10);
        Some((creation.event(), if late { Err(creation.sent.breach("/result/task", why())) } else { Ok(()) }))
    });
    Verdict::of(judged, "no call became a task")
}

pub(super) fn begins(view: &View<'_>) -> Verdict {
    let task_states = task_states(view);
    let text = |task: &Value, member: &str| task.get(member).and_then(Value::as_str).map(str::to_owned);
    let judged = creations(view).into_iter().filter_map(|creation| {
        let found = status(creation.task)?;
        if found == "working" {
            return Some((creation.event(), Ok(())));
        }
        // A quick task may have continued before the answer went out. One that works later, and was not updated since it was
        // made, has not; clocks that count seconds prove nothing.
        let made = text(creation.task, "createdAt").filter(|at| at.contains('.'))?;
        let works = task_states.iter().find(|s| {
            s.id == creation.id
                && s.requested > creation.event()
                && s.status() == Some("working")
                && text(s.task, "lastUpdatedAt").as_ref() == Some(&made)
        })?;
        let why = format!("begins as {found:?}; in event {} it works, not updated since it was made", works.sent.event);
        Some((creation.event(), Err(Breach::at(creation.event(), "/result/task/status", why))))
    });
    Verdict::of(judged, "no task was shown as it began")
}
