//! What binds clients of the extension.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use wire::http::{self, check_headers};
use wire::meta;
use wire::revision::R2026_07_28;
use wire::{Party, RequestId};

use super::{METHODS, capabilities, declares, here};
use crate::basic::transports::streamable_http::server_headers::name_of;
use crate::reading::questions::{self, param};
use crate::reading::task_polling::{about, unhurried, until_done};
use crate::reading::tasks::{creations_of, named, task_states_of};
use crate::rule::{Rule, client};
use crate::verdict::{Breach, Kept, Located, Verdict};
use crate::view::{Call, View};

const fn bound(id: &'static str, section: &'static str, text: &'static str) -> Rule {
    client(id).says(R2026_07_28, here(section), text)
}

/// The demands on clients, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    bound(
        "task-extension.either-answer-taken",
        "capability-negotiation",
        "A client that declares the extension MUST take a task as well as a result for an answer to its call.",
    )
    .needs(meta::TASKS_CAPABILITY)
    .how("Needs a server that answers a call by a task, and checks whether a client that declares the extension continues to ask for it.")
    .fix("Look at `resultType` of every answer to `tools/call`, and follow the task where it is one.")
    .judge(either_taken),
    bound(
        "task-extension.task-elsewhere-refused",
        "capability-negotiation",
        "A client MUST take a task for an invalid answer to any request that is not a `tools/call`.",
    )
    .how("Needs a server that answers another request than a call by a task, and checks whether the client asks for that task.")
    .fix("Take `task` for an unknown `resultType` on everything but `tools/call`.")
    .judge(elsewhere_refused),
    bound(
        "task-extension.poll-interval-respected",
        "task-polling",
        "A client SHOULD wait for `pollIntervalMs` before it asks for the task again.",
    )
    .timed()
    .how("Measures the time from each answer with `pollIntervalMs` to the next `tasks/get` of that task. Needs a server with tasks that last for several intervals.")
    .fix("Wait for the latest `pollIntervalMs` before you ask again.")
    .judge(unhurried),
    bound(
        "task-extension.polled-until-done",
        "task-polling",
        "A client SHOULD ask for a task, or listen, until it is over or the client has cancelled it.",
    )
    .how("Needs a server with tasks that last, and checks whether the client asks until they are over. It is broken by a client that leaves normally before.")
    .fix("Keep asking until the status is `completed`, `failed` or `cancelled`, or send `tasks/cancel`.")
    .judge(until_done),
    bound(
        "task-extension.input-given",
        "task-update-requests",
        "A client that finds a task waiting for input SHOULD give it by `tasks/update`.",
    )
    .how("Needs a task that waits for something that the client declared, and looks for `tasks/update` with its keys before the client leaves.")
    .fix("Serve each entry of `inputRequests`, and send what comes of it by `tasks/update`.")
    .judge(input_given),
    bound(
        "task-extension.answered-once",
        "task-update-requests",
        "A client SHOULD answer each key of `inputRequests` once.",
    )
    .how("Compares the keys in the `tasks/update` requests of one task. Needs a server that still shows what was answered already, for a poll or two.")
    .fix("Remember the keys that you have answered, for each task.")
    .judge(answered_once),
    bound(
        "task-extension.cancelled-by-request",
        "task-cancellation",
        "A client MUST NOT send `notifications/cancelled` to cancel a task.",
    )
    .how("Checks whether a `notifications/cancelled` names a call that was answered by a task half a second before. Needs a client that cancels a task.")
    .fix("Send `tasks/cancel` with the task's id.")
    .judge(cancelled_by_request),
    bound(
        "task-extension.name-header",
        "streamable-http-routing-headers",
        "Over HTTP a client MUST put the task's id into `Mcp-Name` of requests about it.",
    )
    .on(&[wire::Transport::StreamableHttp])
    .how("Compares `Mcp-Name` of `tasks/get`, `tasks/update` and `tasks/cancel` with `taskId`. Needs a server with tasks.")
    .fix("Copy `taskId` into `Mcp-Name`.")
    .judge(name_header),
];

fn either_taken(view: &View<'_>) -> Verdict {
    let made = creations_of(view, Party::Server).into_iter().filter(|made| declares(&made.call));
    let judged = made.filter_map(|made| {
        if let Some(next) = about(view, made.id).first() {
            return Some((next.request.event, Ok(())));
        }
        let (left, _) = view.departure().filter(|(left, _)| *left > made.event())?;
        let listens = view.client_calls("subscriptions/listen").any(|call| call.request.event > made.event());
        let why = format!("the call became a task, and the client left (event {left}) without asking for it");
        (!listens).then(|| (made.event(), Err(made.sent.breach("/result", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no call of a client with the extension became a task")
}

fn elsewhere_refused(view: &View<'_>) -> Verdict {
    let others =
        view.calls_by(Party::Client).filter(|call| view.is_current(call.request) && !call.request.is("tools/call"));
    let judged = others.filter_map(|call| {
        let (sent, result) = (call.response?, call.result()?);
        let id =
            result.get("taskId").filter(|_| result.get("resultType").is_some_and(|kind| kind == "task"))?.as_str()?;
        if let Some(next) = about(view, id).iter().find(|next| next.request.event > sent.event) {
            let why = format!(
                "the client asks for a task that `{}` was answered with",
                call.request.message.method().unwrap_or_default().escape_debug()
            );
            return Some((next.request.event, Err(next.request.breach("/params/taskId", why))));
        }
        view.watched_after(sent.event, sent.connection).map(|event| (event, Ok(())))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "only calls were answered by a task")
}

/// What a `tasks/update` brings.
fn brought<'v>(call: &Call<'v>) -> Option<&'v Map<String, Value>> {
    param(call, "inputResponses").filter(|_| call.request.is("tasks/update"))?.as_object()
}

fn input_given(view: &View<'_>) -> Verdict {
    let waiting =
        task_states_of(view, Party::Server).into_iter().filter(|state| state.status() == Some("input_required"));
    let judged = waiting.filter_map(|state| {
        let expected = state.task.get("inputRequests")?.as_object()?;
        let own = creations_of(view, Party::Server).into_iter().find(|made| made.id == state.id)?.call;
        let capabilities = capabilities(&own)?;
        let able = |request: &Value| {
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
            questions::METHODS.contains(&method)
                && questions::lacking(capabilities, method, request.get("params")).is_none()
        };
        let key = expected.iter().find(|(_, request)| able(request))?.0;
        let later = about(view, state.id);
        let gives = |call: &&Call<'_>| brought(call).is_some_and(|entries| entries.contains_key(key));
        if let Some(call) = later.iter().find(gives) {
            return Some((call.request.event, Ok(())));
        }
        let cancelled = later.iter().any(|call| call.request.is("tasks/cancel"));
        let left = view.left_after(state.sent.event, state.sent.connection).filter(|_| !cancelled)?;
        let why = format!(
            "the task waits for `{}`, and the client left (event {left}) without giving it",
            key.escape_debug()
        );
        Some((left, Err(state.breach("/inputRequests", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task waited for anything that the client serves")
}

fn answered_once(view: &View<'_>) -> Verdict {
    let mut given: BTreeMap<(&str, &str), Call<'_>> = BTreeMap::new();
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for call in view.calls_by(Party::Client).filter(|call| view.is_current(call.request)) {
        let Some(id) = named(&call.request) else { continue };
        for key in brought(&call).into_iter().flat_map(Map::keys) {
            // Only what the server has taken need not be sent again.
            if let Some(first) = given.get(&(id, key.as_str())).filter(|first| first.result().is_some()) {
                let why = format!("`{}` was answered in event {} already", key.escape_debug(), first.request.event);
                judged.push((call.request.event, Err(call.request.breach("/params/inputResponses", why))));
            } else {
                given.insert((id, key.as_str()), call);
            }
        }
        let answered = given.iter().any(|((task, _), first)| *task == id && first.request.event < call.request.event);
        if call.request.is("tasks/get") && answered {
            judged.push((call.request.event, Ok(())));
        }
    }
    Verdict::of(judged, "no task was given input and looked at afterwards")
}

/// How long (microseconds) a message may have crossed another one.
const SPARE: u64 = 500_000;

fn cancelled_by_request(view: &View<'_>) -> Verdict {
    let made = creations_of(view, Party::Server);
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for sent in view.by(Party::Client).filter(|sent| sent.is("notifications/cancelled")) {
        let id = sent.message.params().and_then(|p| RequestId::from_value(p.get("requestId")?));
        let task = made.iter().find(|made| {
            id.is_some()
                && made.call.request.message.id() == id.as_ref()
                && made.call.request.connection == sent.connection
        });
        let late = task.is_some_and(|made| sent.done > made.sent.done.saturating_add(SPARE));
        if late {
            let why = "the call was answered by a task, which only `tasks/cancel` cancels";
            judged.push((sent.event, Err(Breach::at(sent.event, "/params/requestId", why))));
        }
    }
    let requested =
        view.client_calls("tasks/cancel").filter(|call| made.iter().any(|made| named(&call.request) == Some(made.id)));
    judged.extend(requested.map(|call| (call.request.event, Ok(()))).collect::<Vec<_>>());
    Verdict::of(judged, "the client cancelled no task")
}

fn name_header(view: &View<'_>) -> Verdict {
    let judged = view.endpoint_exchanges().into_iter().filter_map(|x| {
        let sent =
            x.question().filter(|sent| view.is_current(*sent) && METHODS.iter().any(|method| sent.is(method)))?;
        let (event, .., headers) = x.request?;
        let faults = check_headers(headers, sent.message, None);
        let fault = faults.iter().find(|fault| name_of(fault) == http::NAME);
        let breach = |why: String| Err(Breach::at(event, format!("header:{}", http::NAME), why));
        Some((event, fault.map_or(Ok(()), |fault| breach(fault.to_string()))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the client asked for no task")
}
