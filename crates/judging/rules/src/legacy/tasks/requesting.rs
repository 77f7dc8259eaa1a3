//! Judges of clients as requestors of a server's tasks. The rules are in `clients`.

use serde_json::Value;
use wire::{Kind, Party};

use super::CALLS;
use super::managing::TASKS;
use super::negotiation::support;
use crate::reading::task_polling::about;
use crate::reading::tasks::{How, TaskState, creations_of, named, related, task_params, task_states_of};
use crate::server::catalogue::Catalogue;
use crate::server::listing::TOOLS;
use crate::verdict::{Breach, Kept, Located, Verdict};
use crate::view::{Call, View, declared};

/// Whether the server of a connection declared that it runs calls of tools as tasks.
fn serves_tasks(view: &View<'_>, call: &Call<'_>) -> Option<bool> {
    let servers = view.handshake(call.request.connection)?.result()?.get("capabilities")?;
    Some(declared(servers, CALLS).is_some())
}

fn calls<'v>(view: &View<'v>) -> Vec<Call<'v>> {
    view.client_calls("tools/call").filter(|call| view.is_current(call.request)).collect()
}

pub(super) fn only_where_declared(view: &View<'_>) -> Verdict {
    let judged = calls(view).into_iter().filter(|call| serves_tasks(view, call) == Some(false)).map(|call| {
        let why = format!("asks for a task; the server does not declare `{CALLS}`");
        let kept = if task_params(&call).is_some() { Err(call.request.breach("/params/task", why)) } else { Ok(()) };
        (call.request.event, kept)
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no tool of a server without tasks was called")
}

/// Whether the client shows that it knows tasks: it declares them, asks for one, or speaks of one.
fn knows_tasks(view: &View<'_>) -> bool {
    let declares =
        |call: &Call<'_>| view.client_capabilities(call.request).is_some_and(|own| declared(own, "tasks").is_some());
    let speaks = |call: &Call<'_>| call.request.message.method().is_some_and(|method| method.starts_with("tasks/"));
    view.calls_by(Party::Client).any(|call| declares(&call) || speaks(&call) || task_params(&call).is_some())
}

pub(super) fn called_as_they_say(view: &View<'_>) -> Verdict {
    if !knows_tasks(view) {
        return Verdict::NotSeen("the client shows no sign of knowing tasks".to_owned());
    }
    let tools = Catalogue::of(view, &TOOLS);
    let listed = view.client_calls("tools/list").filter_map(|call| call.response).map(|sent| sent.event).min();
    let judged = calls(view).into_iter().filter(|call| serves_tasks(view, call) == Some(true)).filter_map(|call| {
        // Who has not read the list cannot know.
        listed.filter(|event| *event < call.request.event)?;
        let kept = match (support(&tools, &call)?, task_params(&call).is_some()) {
            ("required", false) => {
                Err(call.request.breach("/params", "the tool says `required`, and is called plainly"))
            }
            ("forbidden", true) => {
                Err(call.request.breach("/params/task", "the tool does not run as a task, and is called as one"))
            }
            ("required" | "forbidden", _) => Ok(()),
            _ => return None,
        };
        Some((call.request.event, kept))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no listed tool was called that says how")
}

/// How long (microseconds) a client may take to ask for a task it has made, if nothing tells it of the task.
const PATIENCE: u64 = 3_000_000;

pub(super) fn not_relied_on(view: &View<'_>) -> Verdict {
    let task_states = task_states_of(view, Party::Server);
    let judged = creations_of(view, Party::Server).into_iter().filter_map(|made| {
        let notified = |before: usize| {
            let mut of = task_states.iter().filter(|state| state.id == made.id && state.how == How::Notified);
            of.any(|state| state.sent.event < before)
        };
        let (cancelled, asked): (Vec<_>, Vec<_>) =
            about(view, made.id).into_iter().partition(|call| call.request.is("tasks/cancel"));
        if let Some(call) = asked.first() {
            return (!notified(usize::MAX)).then_some((call.request.event, Ok(())));
        }
        // Only what a client does by itself tells: it gives the task up after longer than that, or leaves well.
        let due = made.task.get("pollInterval").and_then(Value::as_u64).map_or(0, |ms| ms.saturating_mul(2_000));
        let late = |event: usize| view.frame(event).at > made.sent.done.saturating_add(PATIENCE.max(due));
        if let Some(call) = cancelled.first() {
            let event = call.request.event;
            let why = format!(
                "no notification named this task, and the client gave it up (event {event}) without asking for it"
            );
            return (late(event) && !notified(event))
                .then(|| (event, Err(Breach::at(made.event(), "/result/task", why))));
        }
        let (left, _) = view.departure().filter(|(left, well)| *well && *left > made.event() && late(*left))?;
        let why = "no notification named this task, and the client did not ask for it";
        (!notified(usize::MAX)).then(|| (left, Err(Breach::at(made.event(), "/result/task", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "every task was named by a notification, or no call became one")
}

/// The server's requests on behalf of a task, with the task's id. Requests about tasks name theirs in the parameters, and
/// what is in `_meta` counts for nothing.
fn task_requests<'v>(view: &View<'v>) -> Vec<(Call<'v>, &'v str)> {
    let about = |call: &Call<'_>| call.request.message.method().is_some_and(|method| method.starts_with("tasks/"));
    let own = view.calls_by(Party::Server).filter(|call| view.is_current(call.request) && !about(call));
    own.filter_map(|call| Some((call, related(&call.request)?.get("taskId")?.as_str()?))).collect()
}

pub(super) fn any_stream(view: &View<'_>) -> Verdict {
    let judged = task_requests(view).into_iter().filter_map(|(call, _)| {
        let x = view.exchange(call.request.exchange)?;
        if x.client_messages.iter().any(|sent| sent.is("tasks/result")) {
            return None;
        }
        if let Some(response) = call.response {
            return Some((response.event, Ok(())));
        }
        let late = |event: &usize| view.frame(*event).at > call.request.done.saturating_add(1_000_000);
        let next =
            view.by(Party::Client).map(|sent| sent.event).filter(|event| *event > call.request.event).find(late)?;
        let why = format!("the client continues (event {next}) and leaves this request of a task unanswered");
        Some((next, Err(call.request.breach("", why))))
    });
    Verdict::of(
        judged.collect::<Vec<(usize, Kept)>>(),
        "no task asked for anything on another stream than that of its result",
    )
}

/// How often a client may find a task waiting for input before its result is missed.
const LOOKS: usize = 4;

pub(super) fn result_requested(view: &View<'_>) -> Verdict {
    let waiting: Vec<_> = task_states_of(view, Party::Server)
        .into_iter()
        .filter(|state| state.status() == Some("input_required"))
        .collect();
    let judged = waiting.iter().filter_map(|state| {
        let all = about(view, state.id);
        if let Some(call) = all.iter().find(|call| call.request.is("tasks/result")) {
            return Some((call.request.event, Ok(())));
        }
        if let Some((times, last)) = looked_on(view, &waiting, state.id) {
            let why =
                format!("the client saw the task waiting for input {times} times, and never asked for its result");
            return Some((last.sent.event, Err(last.breach("/status", why))));
        }
        let cancelled = all.iter().any(|call| call.request.is("tasks/cancel"));
        let left = view.left_after(state.sent.event, state.sent.connection).filter(|_| !cancelled)?;
        let why = format!("the task waits for input, and the client left (event {left}) without asking for its result");
        Some((left, Err(state.breach("/status", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task waited for input")
}

/// How often, and where last, a client that polls was shown that a task waits for input, if that was often and for long.
/// What the task asks on another stream needs no `tasks/result`.
fn looked_on<'t, 'v>(view: &View<'_>, waiting: &'t [TaskState<'v>], id: &str) -> Option<(usize, &'t TaskState<'v>)> {
    let shown: Vec<_> = waiting.iter().filter(|state| state.id == id && state.how == How::Got).collect();
    let (first, last) = (shown.first()?, shown.last()?);
    let long = last.sent.done > first.sent.done.saturating_add(PATIENCE);
    let elsewhere = task_requests(view).iter().any(|(_, of)| *of == id);
    (shown.len() > LOOKS && long && !elsewhere).then_some((shown.len(), *last))
}

pub(super) fn answers_related(view: &View<'_>) -> Verdict {
    let judged = task_requests(view).into_iter().filter_map(|(call, id)| {
        let response = call.response.filter(|_| call.result().is_some())?;
        let named = related(&response).and_then(|related| related.get("taskId")?.as_str());
        let why = "the request belongs to a task, which the result does not name";
        Some((response.event, if named == Some(id) { Ok(()) } else { Err(response.breach("/result/_meta", why)) }))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no request of a task was answered with a result")
}

pub(super) fn not_repeated(view: &View<'_>) -> Verdict {
    let about = ["tasks/get", "tasks/result", "tasks/cancel"].into_iter().flat_map(|method| view.client_calls(method));
    let judged = about.filter(|call| named(&call.request).is_some()).map(|call| {
        let repeats = related(&call.request).is_some();
        let why = "the metadata repeats what `taskId` says";
        (call.request.event, if repeats { Err(call.request.breach("/params/_meta", why)) } else { Ok(()) })
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the client asked for no task")
}

pub(super) fn cursors_opaque(view: &View<'_>) -> Verdict {
    let mut given: Vec<&Value> = Vec::new();
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    let lists: Vec<_> =
        view.client_calls(TASKS.method).filter(|call| call.request.message.kind() == Kind::Request).collect();
    for call in &lists {
        let cursor = call.request.message.params().and_then(|p| p.get("cursor")).filter(|cursor| !cursor.is_null());
        if let Some(cursor) = cursor.filter(|_| !given.is_empty()) {
            let why = || format!("no page gave the cursor {cursor}");
            let kept = if given.contains(&cursor) { Ok(()) } else { Err(call.request.breach("/params/cursor", why())) };
            judged.push((call.request.event, kept));
        }
        given.extend(call.result().and_then(|result| result.get("nextCursor")));
    }
    Verdict::of(judged, "no second page of tasks was asked for")
}
