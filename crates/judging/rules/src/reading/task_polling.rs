//! How a client follows a server's tasks, both in the core of 2025-11-25 and in the later extension: how often it asks,
//! and until when.

use wire::{Era, Party};

use crate::reading::tasks::{How, TaskState, creations_of, named, task_states_of};
use crate::verdict::{Breach, Kept, Located, Verdict};
use crate::view::{Call, View};

/// How much too early (microseconds) a client may seem to ask: clocks tick coarsely.
const SLACK: u64 = 25_000;

/// The client's requests about one task.
pub(crate) fn about<'v>(view: &View<'v>, id: &str) -> Vec<Call<'v>> {
    let mine = |call: &Call<'_>| {
        call.request.message.method().is_some_and(|m| m.starts_with("tasks/")) && named(&call.request) == Some(id)
    };
    view.calls_by(Party::Client).filter(mine).collect()
}

/// The time (microseconds) that an answer asks to wait before the task is asked for again.
fn interval(view: &View<'_>, state: &TaskState<'_>) -> Option<u64> {
    let name = if view.era() == Era::Legacy { "pollInterval" } else { "pollIntervalMs" };
    state.task.get(name)?.as_u64().filter(|ms| *ms > 0)?.checked_mul(1000)
}

/// Judges that the client waits as long as it was asked to before it asks for a task again.
pub(crate) fn unhurried(view: &View<'_>) -> Verdict {
    let task_states = task_states_of(view, Party::Server);
    let gets = view.client_calls("tasks/get").filter(|call| view.is_current(call.request));
    let judged = gets.filter_map(|call| {
        let id = named(&call.request)?;
        let before = task_states.iter().rfind(|state| state.id == id && state.sent.event < call.request.event)?;
        // A notification about the task is a reason to ask at once.
        if before.how == How::Notified || before.is_over() {
            return None;
        }
        let due = interval(view, before)?;
        let waited = call.request.done.saturating_sub(before.sent.done);
        let why = || {
            format!(
                "asked for after {} ms; expected to wait {} ms after event {}",
                waited / 1000,
                due / 1000,
                before.sent.event
            )
        };
        let early = waited.saturating_add(SLACK) < due;
        Some((call.request.event, if early { Err(call.request.breach("", why())) } else { Ok(()) }))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task with a polling interval was asked for again")
}

/// Judges that the client asks for each task until it is over, or until another way to its end was taken.
pub(crate) fn until_done(view: &View<'_>) -> Verdict {
    let task_states = task_states_of(view, Party::Server);
    let judged = creations_of(view, Party::Server).into_iter().filter_map(|made| {
        let mut of = task_states.iter().filter(|state| state.id == made.id && state.how == How::Got);
        let waits = |state: &&TaskState<'_>| view.era() == Era::Legacy && state.status() == Some("input_required");
        if let Some(end) = of.clone().find(|state| state.is_over() || waits(state)) {
            return Some((end.sent.event, Ok(())));
        }
        let ended = task_states.iter().any(|state| state.id == made.id && state.is_over());
        let other = about(view, made.id)
            .iter()
            .any(|call| ["tasks/result", "tasks/cancel"].into_iter().any(|m| call.request.is(m)));
        let listens = view.client_calls("subscriptions/listen").next().is_some();
        let last = of.next_back().map_or(made.event(), |state| state.sent.event);
        let (left, _) =
            view.departure().filter(|(left, well)| *well && *left > last && !ended && !other && !listens)?;
        let why = format!("the task was running when it was last seen, and the client left (event {left})");
        Some((last, Err(Breach::at(last, "", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no call became a task that was followed, or left behind")
}
