//! "Associating Task-Related Messages" and "Related Task Metadata": which messages name their task in `_meta`, and which
//! have no need to.

use serde_json::Value;
use wire::meta;
use wire::revision::{R2025_11_25, R2026_07_28};
use wire::{Kind, Party};

use super::{CALLS, here};
use crate::reading::content::canonical;
use crate::reading::tasks::{creations, endings, named, related, task_states};
use crate::rule::{Rule, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, MessageAt, View};

/// The sections' rules.
pub(crate) const RULES: &[Rule] = &[
    server("tasks.requests-related")
        .says(
            R2025_11_25,
            here("associating-task-related-messages"),
            "A request that a task makes of the client MUST name the task in `_meta`, by the id that it has.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Looks at requests to sample and to elicit that name a task which the server did not make, or that name none while only tasks are under way.")
        .fix("Put `io.modelcontextprotocol/related-task` with the task's id into `_meta` of each such request.")
        .judge(requests_related),
    server("tasks.notifications-related")
        .says(
            R2025_11_25,
            here("associating-task-related-messages"),
            "A notification of progress on a task MUST name the task in `_meta`.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Looks at progress for the token of a call that became a task, from the answer with the task on.")
        .fix("Put `io.modelcontextprotocol/related-task` with the task's id into `_meta`.")
        .judge(notifications_related),
    server("tasks.result-related")
        .says(R2025_11_25, here("related-task-metadata"), "The result that `tasks/result` gives MUST name the task in `_meta`.")
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Compares the id in `_meta` of the result with the one that was asked for. An error has no `_meta`.")
        .fix("Add `io.modelcontextprotocol/related-task` to `_meta` of the stored result.")
        .judge(result_related),
    server("tasks.param-over-metadata")
        .says(
            R2025_11_25,
            here("associating-task-related-messages"),
            "Where `_meta` of a request names another task than its parameters, the parameters MUST count.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .timed()
        .how("Asks for a task by its id with another id in `_meta`, and looks which one the answer is about. A refusal, and \
              silence for a second, count where the task exists without the metadata, before and after.")
        .fix("Read `taskId` from the parameters and nothing else.")
        .judge(param_counts),
    server("tasks.related-not-repeated")
        .says(
            R2025_11_25,
            here("related-task-metadata"),
            "Answers to `tasks/get`, `tasks/list` and `tasks/cancel`, and notifications of a task's status, SHOULD NOT name \
             the task in `_meta` as well.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Looks for `io.modelcontextprotocol/related-task` in `_meta` of such messages.")
        .fix("Leave it out where the message has the id anyway.")
        .judge(not_repeated),
];

/// How long a request may be left unanswered before that says something, in microseconds.
const SILENCE: u64 = 1_000_000;

/// The task that a message says it belongs to.
fn related_id<'v>(sent: &MessageAt<'v>) -> Option<&'v str> {
    related(sent)?.get("taskId")?.as_str()
}

fn is_asking(sent: &MessageAt<'_>) -> bool {
    sent.is("sampling/createMessage") || sent.is("elicitation/create")
}

fn requests_related(view: &View<'_>) -> Verdict {
    let made = creations(view);
    let task_states = task_states(view);
    let ended = endings(&task_states);
    let known = |id: &str| made.iter().any(|creation| creation.id == id);
    let alone = |sent: &MessageAt<'_>| {
        let open = |id: &str| ended.get(id).is_none_or(|end| end.sent.event > sent.event);
        let running =
            made.iter().any(|c| c.sent.connection == sent.connection && c.sent.event < sent.event && open(c.id));
        running && !others_under_way(view, sent)
    };
    let requested = view.calls_by(Party::Server).map(|call| call.request).filter(is_asking);
    let judged = requested.filter_map(|sent| {
        let breach = |why: &str| Err(sent.breach("/params/_meta", why));
        let kept: Kept = match related_id(&sent) {
            Some(id) if known(id) => Ok(()),
            // A task may be older than the trace, but not than the connection that it belongs to.
            Some(_) if view.handshake(sent.connection).is_some() => breach("names a task that the server did not make"),
            None if alone(&sent) => breach("only a task is under way, and the request does not name it"),
            _ => return None,
        };
        Some((sent.event, kept))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no task asked the client for anything")
}

/// Whether any request of the client was open when a message came, those about tasks aside: it may be the reason.
fn others_under_way(view: &View<'_>, sent: &MessageAt<'_>) -> bool {
    view.all_calls().any(|call| {
        let about = call.request.message.method().is_some_and(|method| method.starts_with("tasks/"));
        call.request.connection == sent.connection
            && call.request.event < sent.event
            && !about
            && call.response.is_none_or(|response| response.event > sent.event)
    })
}

fn notifications_related(view: &View<'_>) -> Verdict {
    let token = |call: &Call<'_>| call.request.message.params()?.get("_meta")?.get("progressToken").map(canonical);
    let tokens: Vec<_> = creations(view).into_iter().filter_map(|made| Some((token(&made.call)?, made))).collect();
    let judged = view.notifications("notifications/progress").filter_map(|sent| {
        let found = canonical(sent.message.params()?.get("progressToken")?);
        let (_, made) = tokens.iter().find(|(token, made)| {
            *token == found && made.sent.connection == sent.connection && made.sent.event < sent.event
        })?;
        let right = related_id(&sent) == Some(made.id);
        let breach = || sent.breach("/params/_meta", "progress on a task that it does not name");
        Some((sent.event, if right { Ok(()) } else { Err(breach()) }))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no progress of a task was reported")
}

pub(super) fn result_related(view: &View<'_>) -> Verdict {
    let judged = view.calls("tasks/result").filter_map(|call| {
        let (response, expected) = (call.response?, named(&call.request)?);
        call.result()?;
        let breach = || response.breach("/result/_meta", "the result does not name its task");
        Some((response.event, if related_id(&response) == Some(expected) { Ok(()) } else { Err(breach()) }))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no task's result was asked for and given")
}

pub(super) fn param_counts(view: &View<'_>) -> Verdict {
    let states_by_task: Vec<Call<'_>> = view.calls("tasks/get").filter(|call| view.judges_content(call)).collect();
    // Seen before and after, it was there in between.
    let there = |id: &str, at: usize| {
        let seen = |call: &&Call<'_>| named(&call.request) == Some(id) && call.result().is_some();
        let mut plain = states_by_task.iter().filter(seen);
        plain.clone().any(|call| call.request.event < at) && plain.any(|call| call.request.event > at)
    };
    // Answers to what was asked later show that the server continues.
    let passed_over = |call: &Call<'_>| {
        let later = |other: &Call<'_>| {
            let long = other.request.done > call.request.done.saturating_add(SILENCE);
            long && other.request.connection == call.request.connection && other.result().is_some()
        };
        states_by_task.iter().any(later)
    };
    let judged = states_by_task.iter().filter_map(|call| {
        let expected = named(&call.request)?;
        related_id(&call.request).filter(|other| *other != expected)?;
        let Some(response) = call.response else {
            let (request, shown) = (call.request, passed_over(call) && there(expected, call.request.event));
            let breach = || request.breach("/params/_meta", "left unanswered; without `_meta` the task is shown");
            return shown.then(|| (request.event, Err(breach())));
        };
        let kept: Kept = match call.result().map(|task| task.get("taskId").and_then(Value::as_str)) {
            Some(found) if found == Some(expected) => Ok(()),
            Some(_) => Err(response.breach("/result/taskId", "this is not the task that the parameters name")),
            None if there(expected, call.request.event) => {
                Err(response.breach("/error", "the task that the parameters name is there; `_meta` names another"))
            }
            None => return None,
        };
        Some((response.event, kept))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no task was asked for with another one in `_meta`")
}

fn not_repeated(view: &View<'_>) -> Verdict {
    let answers = ["tasks/get", "tasks/list", "tasks/cancel"].into_iter().flat_map(|method| view.results(method));
    let answers = answers.map(|(sent, _)| (sent, "/result/_meta"));
    let shown =
        view.by_subject().filter(|s| s.message.kind() == Kind::Notification && s.is("notifications/tasks/status"));
    let shown = shown.map(|sent| (sent, "/params/_meta"));
    let judged = answers.chain(shown).map(|(sent, pointer)| {
        let breach = || sent.breach(pointer, format!("`{}` repeats what the message says anyway", meta::RELATED_TASK));
        (sent.event, if related(&sent).is_none() { Ok(()) } else { Err(breach()) })
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no message named a task by its id")
}
