//! "Task Update Requests" and what "Task Polling" and "Task Cancellation" say of them: what a task asks, and what answers
//! do to it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use wire::error_code::INTERNAL_ERROR;
use wire::meta;
use wire::pointer;
use wire::revision::R2026_07_28;

use super::{here, judgeable_calls};
use crate::reading::content::canonical;
use crate::reading::tasks::{How, TaskState, is_made_up_name, named, task_states};
use crate::rule::{Rule, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, View};

/// The sections' rules.
pub(crate) const RULES: &[Rule] = &[
    server("task-extension.outstanding-repeated")
        .says(
            R2026_07_28,
            here("task-polling"),
            "`inputRequests` of a task MUST hold everything that the task waits for, as often as it is asked for.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Asks twice for a task that waits for the client and compares: what was asked the first time must not be missing \
              the second time without an answer, unless something else took its place.")
        .fix("Keep each request until its answer has come, and show it in every answer to `tasks/get`.")
        .judge(repeated),
    server("task-extension.keys-not-reused")
        .says(
            R2026_07_28,
            here("task-update-requests"),
            "A key of `inputRequests` MUST stand for one request through all the life of a task.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Compares the request under each key of a task's `inputRequests`, and checks whether a key that was answered and removed comes back.")
        .fix("Number the keys, or make random ones; a second question is another key.")
        .judge(reused),
    server("task-extension.acks-empty")
        .says(
            R2026_07_28,
            here("task-update-requests"),
            "`tasks/update` and `tasks/cancel` MUST be answered, where they succeed, with an empty result.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Looks for members other than `resultType` and `_meta` in such answers.")
        .fix("Answer with `resultType: complete` alone; how the task stands `tasks/get` tells.")
        .judge(empty),
    server("task-extension.stray-answers-ignored")
        .says(
            R2026_07_28,
            here("task-update-requests"),
            "Answers under keys that the task does not wait for SHOULD be ignored.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Sends an answer under an unknown key (`no-such-…`) to a task under way: it should be acknowledged.")
        .fix("Pass over keys that are not outstanding; do not refuse the request for them.")
        .judge(stray),
];

/// What a task waits for, by key.
fn requests<'v>(state: &TaskState<'v>) -> Option<&'v Map<String, Value>> {
    (state.status()? == "input_required").then(|| state.task.get("inputRequests")?.as_object()).flatten()
}

/// Looks at tasks, task by task in their order.
fn states_by_task<'s, 'v>(task_states: &'s [TaskState<'v>]) -> BTreeMap<&'v str, Vec<&'s TaskState<'v>>> {
    let mut states_by_task: BTreeMap<&str, Vec<&TaskState<'v>>> = BTreeMap::new();
    for state in task_states.iter().filter(|state| state.how == How::Got) {
        states_by_task.entry(state.id).or_default().push(state);
    }
    states_by_task
}

/// Requests that answer a task's questions, with the answers.
fn updates<'v>(view: &View<'v>) -> Vec<(Call<'v>, &'v str, &'v Map<String, Value>)> {
    let update = |call: Call<'v>| {
        let answers = call.request.message.params()?.get("inputResponses")?.as_object()?;
        Some((call, named(&call.request)?, answers))
    };
    view.calls("tasks/update").filter_map(update).collect()
}

fn repeated(view: &View<'_>) -> Verdict {
    let (task_states, updates) = (task_states(view), updates(view));
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for (id, states_by_task) in states_by_task(&task_states) {
        let untouched = |from: usize, to: usize| {
            !updates.iter().any(|(call, of, _)| *of == id && (from..to).contains(&call.request.event))
        };
        for pair in states_by_task.windows(2) {
            let [first, second] = pair else { continue };
            let (Some(before), Some(now)) = (requests(first), requests(second)) else { continue };
            // Answers given before may take their time: they touch everything after them.
            if second.requested < first.sent.event || !untouched(0, second.sent.event) {
                continue;
            }
            let missing = before.keys().find(|key| !now.contains_key(*key));
            let more = now.keys().any(|key| !before.contains_key(key));
            let why =
                |key: &String| format!("`{}` was asked before, is not answered and is missing", key.escape_debug());
            let kept = missing.filter(|_| !more).map_or(Ok(()), |key| Err(second.breach("/inputRequests", why(key))));
            judged.push((second.sent.event, kept));
        }
    }
    Verdict::of(judged, "no task was looked at twice while it waited for the client")
}

fn reused(view: &View<'_>) -> Verdict {
    let (task_states, updates) = (task_states(view), updates(view));
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for (id, states_by_task) in states_by_task(&task_states) {
        let mut known: BTreeMap<&str, String> = BTreeMap::new();
        let mut gone: BTreeSet<&str> = BTreeSet::new();
        for look in states_by_task {
            let answered: BTreeSet<&str> = updates
                .iter()
                .filter(|(call, of, _)| *of == id && call.result().is_some() && call.request.event < look.requested)
                .flat_map(|(.., answers)| answers.keys().map(String::as_str))
                .collect();
            let now = requests(look);
            for (key, request) in now.into_iter().flatten() {
                let request = canonical(request);
                let pointer = format!("/inputRequests/{}", pointer::escape(key));
                let why = match known.get(key.as_str()) {
                    Some(before) if *before != request => Some("the key stood for another request before"),
                    Some(_) if gone.contains(key.as_str()) => Some("the key was answered and gone, and is back"),
                    _ => None,
                };
                if !known.is_empty() {
                    judged.push((look.sent.event, why.map_or(Ok(()), |why| Err(look.breach(&pointer, why)))));
                }
                known.insert(key, request);
            }
            let there = |key: &str| now.is_some_and(|now| now.contains_key(key));
            gone.extend(known.keys().filter(|key| answered.contains(*key) && !there(key)));
        }
    }
    Verdict::of(judged, "no task was looked at twice while it waited for the client")
}

fn empty(view: &View<'_>) -> Verdict {
    let answers = ["tasks/update", "tasks/cancel"].into_iter().flat_map(|method| view.results(method));
    Verdict::every(answers.collect::<Vec<_>>(), "no task was answered or cancelled", |(sent, result)| {
        let more = result.as_object().into_iter().flatten().map(|(name, _)| name);
        let more = more.into_iter().find(|name| !matches!(name.as_str(), "resultType" | "_meta"));
        let breach = |name: &String| {
            sent.breach(
                format!("/result/{}", pointer::escape(name)),
                format!("an empty result has no `{}`", name.escape_debug()),
            )
        };
        more.map_or(Ok(()), |name| Err(breach(name)))
    })
}

fn stray(view: &View<'_>) -> Verdict {
    let task_states = task_states(view);
    let judged = judgeable_calls(view, "tasks/update").filter_map(|call| {
        let (response, id) = (call.response?, named(&call.request)?);
        let answers = call.request.message.params()?.get("inputResponses")?.as_object()?;
        let last = task_states.iter().rfind(|s| s.id == id && s.sent.event < call.request.event)?;
        let strays = !answers.is_empty() && answers.keys().all(|key| is_made_up_name(key));
        if !strays || last.is_over() {
            return None;
        }
        match call.error_code() {
            None => Some((response.event, Ok(()))),
            Some(INTERNAL_ERROR) => None,
            Some(_) => {
                Some((response.event, Err(response.breach("/error", "refused for a key that is not outstanding"))))
            }
        }
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task was answered under a key that it does not wait for")
}
