//! "TTL and Resource Management", "Task Listing", "Task Isolation and Access Control" and "Resource Management": how long
//! tasks are kept, and for whom.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wire::Transport;
use wire::error_code::INVALID_PARAMS;
use wire::revision::{R2025_11_25, R2026_07_28};

use super::{CALLS, here};
use crate::reading::tasks::{Creation, How, creations, named, task_params, task_states};
use crate::rule::{Rule, server};
use crate::server::listing::{List, walks};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, Exchange, MessageAt, View};

/// `tasks/list`. Changes of it are not announced.
pub(super) const TASKS: List =
    List { method: "tasks/list", member: "tasks", key: "taskId", capability: "tasks.list", changed: "", filter: "" };

/// Longer than any task is kept, in milliseconds: ten years.
const FOREVER: u64 = 315_360_000_000;

/// How long after its time a task may still be there, in microseconds.
const GRACE: u64 = 1_000_000;

const HTTP: &[Transport] = &[Transport::StreamableHttp];

/// The sections' rules.
pub(crate) const RULES: &[Rule] = &[
    server("tasks.kept-for-ttl")
        .says(
            R2025_11_25,
            here("ttl-and-resource-management"),
            "The `ttl` in an answer to `tasks/get` MUST be the task's actual one: until it is over the task exists.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Asks for a task again within the time it was said to be kept. Cancelled tasks may go at any time.")
        .fix("Say how long you keep the task, and keep it as long, its result too.")
        .judge(kept_for_ttl),
    server("tasks.listed")
        .says(R2025_11_25, here("task-listing"), "Every task that `tasks/get` finds MUST be on some page of `tasks/list`.")
        .gone(R2026_07_28)
        .needs("tasks.list")
        .how("Walks the list from its first page to one without `nextCursor` and looks for each task of the connection that \
              was there before and is still there afterwards.")
        .fix("Read both from one store, and give a `nextCursor` as long as there are more.")
        .judge(listed),
    server("tasks.bound-to-authorization")
        .says(
            R2025_11_25,
            here("task-isolation-and-access-control"),
            "A task MUST be bound to the authorization it was made with: without it nothing of it may be had.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .on(HTTP)
        .how("Looks for requests without credentials about tasks that were made with some. Two different credentials may be \
              the same person's and prove nothing, unless the second is refused.")
        .fix("Store who made the task, and answer every other client as if it were unknown.")
        .judge(bound),
    server("tasks.list-not-shared")
        .says(
            R2025_11_25,
            here("task-isolation-and-access-control"),
            "A server that cannot tell its clients apart SHOULD NOT declare `tasks.list`.",
        )
        .gone(R2026_07_28)
        .needs("tasks.list")
        .on(HTTP)
        .how("Makes a task in one session and lists the tasks in another, both without credentials.")
        .fix("Bind tasks to the session, or leave `tasks.list` out.")
        .judge(not_shared),
    server("tasks.ttl-bounded")
        .says(R2025_11_25, here("resource-management"), "A server SHOULD keep no task for longer than some limit of its own.")
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Asks for a task to be kept for more than ten years and looks at the `ttl` that it gets.")
        .fix("Cut the `ttl` that is asked for to the longest you are ready to keep a task.")
        .judge(bounded),
    server("tasks.expired-cleaned")
        .says(R2025_11_25, here("resource-management"), "A task SHOULD be gone promptly once its `ttl` is over.")
        .gone(R2026_07_28)
        .needs(CALLS)
        .timed()
        .how("Makes a task with a short `ttl` and asks for it more than a second after that is over.")
        .fix("Remove tasks when their time is over, not when you next happen to look.")
        .judge(cleaned),
];

/// A task's time to live in microseconds; `None` where it has none.
fn ttl(task: &Value) -> Option<u64> {
    task.get("ttl")?.as_u64()?.checked_mul(1000)
}

/// When each task was first known to be there, by our clock: not before its call was sent, and not after this.
fn creations_by_id<'v>(view: &View<'v>) -> BTreeMap<&'v str, Creation<'v>> {
    creations(view).into_iter().map(|creation| (creation.id, creation)).collect()
}

fn kept_for_ttl(view: &View<'_>) -> Verdict {
    let creations_by_id = creations_by_id(view);
    let task_states = task_states(view);
    let gone_by_wish = |id: &str| {
        let with_task_params = view.calls("tasks/cancel").any(|call| named(&call.request) == Some(id));
        with_task_params || task_states.iter().any(|s| s.id == id && s.status() == Some("cancelled"))
    };
    let states_by_task = view.calls("tasks/get").filter(|call| view.judges_content(call));
    let judged = states_by_task.filter_map(|call| {
        let (response, id) = (call.response?, named(&call.request)?);
        let made = creations_by_id.get(id).filter(|made| made.sent.connection == response.connection)?;
        let last =
            task_states.iter().rfind(|s| s.id == id && s.how == How::Got && s.sent.event < call.request.event)?;
        let until = made.call.request.done.saturating_add(ttl(last.task).unwrap_or(u64::MAX));
        if response.done >= until || gone_by_wish(id) {
            return None;
        }
        let why = || format!("the task is gone before its `ttl` of {} ms is over", last.task["ttl"]);
        match call.error_code() {
            None => Some((response.event, Ok(()))),
            Some(INVALID_PARAMS) => Some((response.event, Err(response.breach("/error", why())))),
            Some(_) => None,
        }
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task was looked at twice within its time")
}

pub(super) fn listed(view: &View<'_>) -> Verdict {
    let (made, task_states) = (creations(view), task_states(view));
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for walk in walks(view, &TASKS) {
        let (Some(first), Some(last)) = (walk.first(), walk.last()) else { continue };
        let listed: BTreeSet<&str> = walk.iter().filter_map(|page| page.keys(&TASKS)).flatten().collect();
        let here = |sent: &MessageAt<'_>| sent.connection == first.request.connection;
        let there =
            |id: &str| task_states.iter().any(|s| s.id == id && s.how == How::Got && s.requested > last.response.event);
        for task in made.iter().filter(|m| here(&m.sent) && m.sent.event < first.request.event && there(m.id)) {
            let why = "the list ends here; a task that `tasks/get` finds was on no page";
            let found = listed.contains(task.id);
            judged.push((last.response.event, if found { Ok(()) } else { Err(last.response.breach("/result", why)) }));
        }
    }
    Verdict::of(judged, "no list of tasks was read to its end while a task was there")
}

fn credentials<'v>(view: &View<'v>, sent: &MessageAt<'v>) -> Option<&'v str> {
    view.exchange(sent.exchange)?.request_header("authorization")
}

fn bound(view: &View<'_>) -> Verdict {
    wrong_peer(view, &["tasks/get", "tasks/result", "tasks/cancel", "tasks/list"])
}

/// Judges that requests of these methods under no credentials get nothing of tasks that were made under some.
pub(crate) fn wrong_peer(view: &View<'_>, methods: &[&str]) -> Verdict {
    let made: Vec<_> =
        creations(view).into_iter().filter_map(|made| Some((credentials(view, &made.call.request)?, made))).collect();
    let judged = view.exchanges().iter().filter_map(|x| {
        let sent = x.question().filter(|sent| methods.iter().any(|method| sent.is(method)))?;
        let given = x.request_header("authorization");
        let named = named(&sent);
        let (_, task) = made.iter().find(|(owner, made)| {
            made.sent.event < sent.event && given != Some(*owner) && named.is_none_or(|id| id == made.id)
        })?;
        let response = x.response_to(sent);
        let shows = response.is_some_and(|response| shows(view, response, task.id));
        match response {
            Some(response) if shows && given.is_none() => Some((
                response.event,
                Err(response.breach("", "a task is had without the credentials it was made with")),
            )),
            _ if shows => None,
            _ => refused(x, response).map(|event| (event, Ok(()))),
        }
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task was made with credentials and asked for without")
}

/// Whether an answer is a result about this task.
fn shows(view: &View<'_>, response: MessageAt<'_>, id: &str) -> bool {
    let Some(result) = response.message.result() else { return false };
    match result.get("tasks").and_then(Value::as_array) {
        Some(tasks) => tasks.iter().any(|task| task.get("taskId").is_some_and(|found| found == id)),
        None => view.question(response).is_some_and(|requested| named(&requested) == Some(id)),
    }
}

/// Where a request was refused, by the protocol or by HTTP.
fn refused(x: &Exchange<'_>, response: Option<MessageAt<'_>>) -> Option<usize> {
    let status = x.response.filter(|(_, status, _)| matches!(status, 401 | 403 | 404)).map(|(event, ..)| event);
    status.or_else(|| response.filter(|sent| sent.message.error().is_some()).map(|sent| sent.event))
}

fn not_shared(view: &View<'_>) -> Verdict {
    let plain = |sent: &MessageAt<'_>| credentials(view, sent).is_none();
    let made: Vec<_> = creations(view).into_iter().filter(|made| plain(&made.call.request)).collect();
    let lists =
        view.results("tasks/list").filter(|(sent, _)| view.question(*sent).is_some_and(|requested| plain(&requested)));
    let judged = lists.filter_map(|(sent, result)| {
        let other = |made: &&Creation<'_>| made.sent.connection != sent.connection && made.sent.event < sent.event;
        made.iter().find(other)?;
        let all = result.get("tasks")?.as_array()?;
        let known = |id: &str| made.iter().filter(other).any(|made| made.id == id);
        let shared = all.iter().position(|task| task.get("taskId").and_then(Value::as_str).is_some_and(known));
        let breach =
            |index| sent.breach(format!("/result/tasks/{index}"), "a task of another session is shown to every client");
        Some((sent.event, shared.map_or(Ok(()), |index| Err(breach(index)))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task was made in one session and the list read in another")
}

fn bounded(view: &View<'_>) -> Verdict {
    let judged = creations(view).into_iter().filter_map(|made| {
        let requested = task_params(&made.call)?.get("ttl")?.as_u64().filter(|requested| *requested >= FOREVER)?;
        let granted = made.task.get("ttl")?;
        let bounded = granted.as_u64().is_some_and(|granted| granted < FOREVER);
        let why = || format!("asked to keep the task for {requested} ms, the server grants {granted}");
        Some((made.sent.event, if bounded { Ok(()) } else { Err(made.sent.breach("/result/task/ttl", why())) }))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task was asked to be kept for ever")
}

fn cleaned(view: &View<'_>) -> Verdict {
    let creations_by_id = creations_by_id(view);
    let task_states = task_states(view);
    let judged = view.calls("tasks/get").filter(|call: &Call<'_>| view.judges_content(call)).filter_map(|call| {
        let (response, made) = (call.response?, creations_by_id.get(named(&call.request)?)?);
        // The last word on how long it lives; the server may have changed its mind.
        let last = task_states.iter().rfind(|s| s.id == made.id && s.sent.event < call.request.event)?;
        let over = made.sent.done.saturating_add(ttl(last.task)?).saturating_add(GRACE);
        let late = view.frame(call.request.event).at > over;
        let kept: Kept =
            match (call.error_code(), call.result()) {
                (Some(INVALID_PARAMS), _) => Ok(()),
                (None, Some(task)) if ttl(task) == ttl(last.task) => Err(response
                    .breach("/result", format!("the `ttl` of {} ms was over a second before", last.task["ttl"]))),
                _ => return None,
            };
        late.then_some((response.event, kept))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no task was asked for after its time")
}
