//! "Task Status Lifecycle", "Input Required Status" and "Task Cancellation": from one status to another.

use std::collections::BTreeMap;

use wire::error_code::INVALID_PARAMS;
use wire::revision::{R2025_11_25, R2026_07_28};
use wire::{Party, Transport};

use super::{CALLS, here};
use crate::reading::tasks::{How, TaskState, endings, named, related, task_states};
use crate::rule::{Rule, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, MessageAt, View};

/// How long a task may take to continue once it has what it asked for, in microseconds.
const SPARE: u64 = 500_000;

/// The sections' rules.
pub(crate) const RULES: &[Rule] = &[
    server("tasks.terminal-is-final")
        .says(
            R2025_11_25,
            here("task-status-lifecycle"),
            "A task that is completed, failed or cancelled MUST keep that status, whatever becomes of the work.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Asks for a task after the server said that it is over, and compares.")
        .fix("Refuse every change of a task that is over.")
        .judge(final_status),
    server("tasks.get-not-streamed")
        .says(
            R2025_11_25,
            here("input-required-status"),
            "A request of `tasks/get` SHOULD NOT be answered with an event stream.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .on(&[Transport::StreamableHttp])
        .how("Reads the media type of the answers to `tasks/get`.")
        .fix("Answer `tasks/get` with plain JSON, whatever you do elsewhere.")
        .judge(not_streamed),
    server("tasks.asks-in-input-required")
        .says(
            R2025_11_25,
            here("input-required-status"),
            "A task that needs something from the client SHOULD have the status `input_required`.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Asks for a task while a request of the server that belongs to it waits for its answer.")
        .fix("Set the status before sending the request.")
        .judge(asks),
    server("tasks.goes-on-after-input")
        .says(
            R2025_11_25,
            here("input-required-status"),
            "A task SHOULD leave `input_required` once everything it asked for has come.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .timed()
        .how("Asks for a task after all its requests were answered; half a second is given.")
        .fix("Set the status back to `working` when the last answer comes.")
        .judge(leaves_input_required),
    server("tasks.cancel-of-ended-refused")
        .says(
            R2025_11_25,
            here("task-cancellation"),
            "A request to cancel a task that is over MUST be refused with the error -32602.",
        )
        .gone(R2026_07_28)
        .needs("tasks.cancel")
        .how("Cancels a task after the server said that it is over.")
        .fix("Check the status first and answer -32602.")
        .judge(cancel_of_ended),
    server("tasks.cancelled-in-answer")
        .says(
            R2025_11_25,
            here("task-cancellation"),
            "A task that is cancelled MUST have that status before the answer goes out.",
        )
        .gone(R2026_07_28)
        .needs("tasks.cancel")
        .how("Reads the status in the answers to `tasks/cancel`.")
        .fix("Set the status first, then answer with the task as it stands.")
        .judge(cancelled),
];

/// Judges that a task which was said to be over keeps its status in later messages.
pub(crate) fn final_status(view: &View<'_>) -> Verdict {
    let task_states = task_states(view);
    let ended = endings(&task_states);
    let judged = task_states.iter().filter_map(|state| {
        let end = ended.get(state.id)?;
        // Only what was asked for after the end was known is surely later; a stream of its own may lag behind.
        let later = state.requested > end.sent.event && (state.how != How::Notified || state.sent.exchange == 0);
        let (before, now) = (end.status()?, state.status()?);
        let why = || format!("the task was {before:?} in event {} and is {now:?} now", end.sent.event);
        later.then(|| (state.sent.event, if before == now { Ok(()) } else { Err(state.breach("/status", why())) }))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task was looked at after its end")
}

fn not_streamed(view: &View<'_>) -> Verdict {
    let judged = view.endpoint_exchanges().into_iter().filter_map(|x| {
        let states_by_task = x.question().is_some_and(|sent| sent.is("tasks/get"));
        let media = x.media_type().filter(|_| states_by_task && x.succeeded())?;
        let breach = || x.header_breach("Content-Type", "`tasks/get` is answered with an event stream");
        let (event, ..) = x.response?;
        Some((event, if media == "text/event-stream" { Err(breach()) } else { Ok(()) }))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "`tasks/get` was not answered over HTTP")
}

/// The server's own requests that belong to a task, by the task's id.
fn requests<'v>(view: &View<'v>) -> BTreeMap<&'v str, Vec<Call<'v>>> {
    let mut requests: BTreeMap<&str, Vec<Call<'v>>> = BTreeMap::new();
    for call in view.calls_by(Party::Server) {
        let task = related(&call.request).and_then(|related| related.get("taskId")?.as_str());
        if let Some(task) = task {
            requests.entry(task).or_default().push(call);
        }
    }
    requests
}

fn asks(view: &View<'_>) -> Verdict {
    let requests = requests(view);
    let judged =
        task_states(view).into_iter().filter(|state| state.how == How::Got && !state.is_over()).filter_map(|state| {
            let waits = |call: &&Call<'_>| {
                call.request.event < state.requested
                    && call.response.is_none_or(|answer| answer.event > state.sent.event)
            };
            requests.get(state.id)?.iter().find(waits)?;
            let why = || format!("the task waits for the client and is {:?}", state.status().unwrap_or_default());
            let right = state.status() == Some("input_required");
            Some((state.sent.event, if right { Ok(()) } else { Err(state.breach("/status", why())) }))
        });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task was looked at while it waited for the client")
}

fn leaves_input_required(view: &View<'_>) -> Verdict {
    let requests = requests(view);
    let judged = task_states(view).into_iter().filter(|state| state.how == How::Got).filter_map(|state| {
        let all = requests.get(state.id)?;
        let before = || all.iter().filter(|call| call.request.event < state.sent.event);
        let answers: Option<Vec<MessageAt<'_>>> = before().map(|call| call.response).collect();
        let last = answers?.into_iter().max_by_key(|answer| answer.event)?;
        let late = view.frame(state.requested).at > last.done.saturating_add(SPARE);
        let later = all.iter().any(|call| call.request.event > last.event);
        if state.requested < last.event || later {
            return None;
        }
        match state.status()? {
            "input_required" if late => Some((
                state.sent.event,
                Err(state.breach("/status", "everything the task asked for was answered before")),
            )),
            "input_required" => None,
            _ => Some((state.sent.event, Ok(()))),
        }
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task was looked at after its questions were answered")
}

pub(super) fn cancel_of_ended(view: &View<'_>) -> Verdict {
    let task_states = task_states(view);
    let ended = endings(&task_states);
    let late = |call: &Call<'_>| {
        let end: Option<&&TaskState<'_>> = named(&call.request).and_then(|id| ended.get(id));
        end.is_some_and(|end| end.sent.event < call.request.event)
    };
    let calls = view.calls("tasks/cancel").filter(|call| view.judges_content(call) && late(call));
    let judged = calls.filter_map(|call| {
        let response = call.response?;
        let kept: Kept = match call.error_code() {
            Some(INVALID_PARAMS) => Ok(()),
            Some(code) => Err(response.breach("/error/code", format!("the code is {code}, expected -32602"))),
            None => Err(response.breach("/result", "a task that is over is cancelled once more")),
        };
        Some((response.event, kept))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no task was cancelled after its end")
}

pub(super) fn cancelled(view: &View<'_>) -> Verdict {
    let answers = task_states(view).into_iter().filter(|state| state.how == How::Cancelled);
    Verdict::every(answers, "no task was cancelled", |state| match state.status() {
        Some("cancelled") => Ok(()),
        found => {
            let why = format!("the answer to `tasks/cancel` shows the task as {:?}", found.unwrap_or_default());
            Err(state.breach("/status", why))
        }
    })
}
