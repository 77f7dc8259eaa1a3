//! Judges of clients as receivers, where they run a server's requests as tasks. The rules are in `clients`; much is judged
//! as it is of servers.

use serde_json::Value;
use wire::Party;
use wire::error_code::{INVALID_PARAMS, INVALID_REQUEST};

use super::associating::result_related;
use super::creating::{begins, own_ids, timestamps, unguessable, unique_ids};
use super::errors::{informative, invalid_cursor, unknown};
use super::lifecycle::{cancel_of_ended, cancelled, final_status};
use super::negotiation::clients_path;
use super::results::blocks;
use crate::reading::tasks::{creations, task_params, task_states};
use crate::verdict::{Kept, Located, Verdict};
use crate::view::{Call, View, declared};

/// Several verdicts on parts of one demand as one: broken if any is, else held by whatever held.
fn together(parts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let mut witnesses = Vec::new();
    let mut unseen = None;
    for part in parts {
        match part {
            Verdict::Holds(events) => witnesses.extend(events),
            Verdict::NotSeen(why) => unseen = unseen.or(Some(why)),
            other => return other,
        }
    }
    Verdict::witnessed(witnesses, unseen.unwrap_or_default())
}

/// The server's requests that asked to run as tasks, with whether the client declared that it does so.
fn with_task_params<'v>(view: &View<'v>) -> Vec<(Call<'v>, bool)> {
    let own = view.calls_by(Party::Server).filter(|call| view.is_current(call.request) && task_params(call).is_some());
    let can = |call: Call<'v>| {
        let path = clients_path(&call.request)?;
        Some((call, declared(view.client_capabilities(call.request)?, path).is_some()))
    };
    own.filter_map(can).collect()
}

fn is_task(result: &Value) -> bool {
    result.pointer("/task/taskId").is_some()
}

pub(super) fn capability_declared(view: &View<'_>) -> Verdict {
    let judged = creations(view).into_iter().filter_map(|made| {
        let can = declared(view.client_capabilities(made.call.request)?, "tasks").is_some();
        let why = "a task is made, though the client did not declare `tasks`";
        Some((made.event(), if can { Ok(()) } else { Err(made.sent.breach("/result/task", why)) }))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the client made no task")
}

pub(super) fn unsupported_ignored(view: &View<'_>) -> Verdict {
    let judged = with_task_params(view).into_iter().filter(|(_, can)| !can).filter_map(|(call, _)| {
        let response = call.response?;
        // Where the client serves no such requests at all it may well refuse them.
        let capability = if call.request.is("elicitation/create") { "elicitation" } else { "sampling" };
        declared(view.client_capabilities(call.request)?, capability)?;
        let kept = match (call.error_code(), call.result()) {
            (Some(code @ INVALID_PARAMS..=INVALID_REQUEST), _) => {
                Err(response.breach("/error/code", format!("refused with {code} for a `task` that is to be ignored")))
            }
            (_, Some(result)) if is_task(result) => {
                Err(response.breach("/result/task", "a task is made, though the client declares none for this request"))
            }
            (_, Some(_)) => Ok(()),
            _ => return None,
        };
        Some((response.event, kept))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the client was asked for no task where it declares none")
}

pub(super) fn ids_own(view: &View<'_>) -> Verdict {
    together([own_ids(view), unique_ids(view), unguessable(view)])
}

pub(super) fn lifecycle(view: &View<'_>) -> Verdict {
    together([begins(view), final_status(view)])
}

pub(super) fn answers_whole(view: &View<'_>) -> Verdict {
    let lifetimes =
        Verdict::every(task_states(view), "no message about a task was seen", |state| match state.task.get("ttl") {
            Some(ttl) if ttl.is_null() || ttl.is_number() => Ok(()),
            Some(_) => Err(state.breach("/ttl", "`ttl` is neither a number nor null")),
            None => Err(state.breach("", "`ttl` is missing")),
        });
    together([timestamps(view), lifetimes])
}

/// How long (microseconds) a client may take over the answer that is due at once.
const AT_ONCE: u64 = 2_000_000;

pub(super) fn created_in_answer(view: &View<'_>) -> Verdict {
    let judged = with_task_params(view).into_iter().filter(|(_, can)| *can).filter_map(|(call, _)| {
        let (response, result) = (call.response?, call.result()?);
        let took = response.done.saturating_sub(call.request.done);
        let kept = match (is_task(result), took > AT_ONCE) {
            (true, false) => Ok(()),
            (true, true) => Err(response.breach("/result/task", format!("the task came after {} ms", took / 1000))),
            (false, _) => {
                Err(response.breach("/result", "the request asked for a task and was served; the result has no `task`"))
            }
        };
        Some((response.event, kept))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the client was asked for no task that it declares to make")
}

pub(super) fn result(view: &View<'_>) -> Verdict {
    together([result_related(view), blocks(view)])
}

pub(super) fn cancellation(view: &View<'_>) -> Verdict {
    together([cancelled(view), cancel_of_ended(view)])
}

pub(super) fn errors(view: &View<'_>) -> Verdict {
    let served = |call: &Call<'_>| {
        let own = view.client_capabilities(call.request);
        !call.request.is("tasks/cancel") || own.is_some_and(|own| declared(own, "tasks.cancel").is_some())
    };
    together([
        unknown(view, &["tasks/get", "tasks/result", "tasks/cancel"], served),
        invalid_cursor(view),
        informative(view),
    ])
}
