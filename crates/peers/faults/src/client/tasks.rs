//! Tasks that a client runs for its server, or the server for it, not as they ought to be (2025-11-25
//! basic/utilities/tasks).

use serde_json::{Value, json};
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS};
use wire::revision::R2025_11_25;

use super::{Fault, Kind, drop_member, fault, is, refuses};
use wire::meta::RELATED_TASK;

pub(super) const FAULTS: &[Fault] = &[
    task(
        "tasks-undeclared",
        "tasks.client-capability-declared",
        "creates tasks without declaring it",
        Kind::Sends(|message| {
            message.pointer_mut("/params/capabilities").is_some_and(|declared| drop_member(declared, "tasks"))
        }),
    )
    .breaks_too(&["tasks.client-unsupported-ignored"]),
    task(
        "task-ids-counted",
        "tasks.client-ids-own",
        "gives all its tasks the same id",
        Kind::Sends(|message| set(message, "/result/task/taskId", json!("task-1"))),
    ),
    task(
        "tasks-begin-as-over",
        "tasks.client-lifecycle",
        "creates tasks with the status `completed`",
        Kind::Sends(|message| set(message, "/result/task/status", json!("completed"))),
    )
    .breaks_too(&["tasks.client-cancellation"]),
    task(
        "task-times-missing",
        "tasks.client-answers-whole",
        "omits `createdAt` from tasks",
        Kind::Sends(|message| message.pointer_mut("/result/task").is_some_and(|task| drop_member(task, "createdAt"))),
    )
    .breaks_too(&["shape.results"]),
    task(
        "task-request-ignored",
        "tasks.client-created-in-answer",
        "declares tasks, and answers directly instead of creating one",
        Kind::Sends(|message| {
            let made = message.pointer("/result/task").is_some();
            if made {
                message["result"] = json!({ "action": "decline" });
            }
            made
        }),
    )
    .breaks_too(&["shape.results"]),
    task(
        "task-result-nameless",
        "tasks.client-result",
        "returns the result of a task without the task's id",
        Kind::Sends(|message| message.get_mut("result").is_some_and(|result| drop_member(result, "_meta"))),
    ),
    task(
        "task-list-empty",
        "tasks.client-listed",
        "lists no task",
        Kind::Sends(|message| set(message, "/result/tasks", json!([]))),
    ),
    task(
        "task-cancelled-late",
        "tasks.client-cancellation",
        "refuses to cancel a finished task with a wrong code",
        Kind::Sends(|message| refuses(message, INVALID_PARAMS, "cannot be cancelled", INTERNAL_ERROR)),
    ),
    task(
        "task-unknown-odd",
        "tasks.client-errors",
        "refuses unknown tasks with a wrong code",
        Kind::Sends(|message| refuses(message, INVALID_PARAMS, "no such task", INTERNAL_ERROR)),
    ),
    task(
        "task-answers-nameless",
        "tasks.answers-related",
        "answers a task's request without naming the task",
        Kind::Sends(|message| message.get_mut("result").is_some_and(|result| drop_member(result, "_meta"))),
    )
    .seen_in("tasks"),
    task(
        "task-named-twice",
        "tasks.related-not-repeated-by-clients",
        "repeats in `_meta` a task that the parameters name",
        Kind::Sends(|message| {
            let found = is(message, "tasks/get");
            if found {
                let id = message["params"]["taskId"].clone();
                message["params"]["_meta"] = json!({ RELATED_TASK: { "taskId": id } });
            }
            found
        }),
    )
    .seen_in("tasks"),
    task(
        "tasks-polled-without-pause",
        "tasks.poll-interval-respected",
        "polls tasks without pause",
        Kind::Receives(|result| {
            ["/task/pollInterval", "/pollInterval"].into_iter().any(|at| set(result, at, json!(1)))
        }),
    )
    .seen_in("tasks-by-polling"),
    task(
        "task-cursor-altered",
        "tasks.cursors-opaque",
        "alters the cursors of lists of tasks",
        Kind::Sends(|message| {
            let altered = message.pointer("/params/cursor").and_then(Value::as_str).map(|cursor| format!("{cursor}A"));
            altered
                .filter(|_| is(message, "tasks/list"))
                .is_some_and(|cursor| set(message, "/params/cursor", json!(cursor)))
        }),
    )
    .seen_in("tasks"),
];

const fn task(name: &'static str, rule: &'static str, about: &'static str, kind: Kind) -> Fault {
    fault(name, rule, about, kind).since(R2025_11_25).legacy().seen_in("tasks-for-the-server")
}

/// Gives another value to what is there.
fn set(message: &mut Value, pointer: &str, value: Value) -> bool {
    let Some(there) = message.pointer_mut(pointer) else { return false };
    *there = value;
    true
}
