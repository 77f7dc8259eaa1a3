//! Faults of tasks as 2025-11-25 has them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use net::service::{Answer, Link, Reply};
use serde_json::{Value, json};
use wire::RequestId;
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND};
use wire::meta::RELATED_TASK;
use wire::revision::R2025_11_25;

use super::{COUNTED, rename};
use crate::server::jsonrpc::error;
use crate::server::state::State;
use crate::server::{Fault, Kind, ServiceRequest, drop_member, fault};

pub(in crate::server) const FAULTS: &[&Fault] = &[
    &core(
        "tasks-not-declared",
        "tasks.capability-declared",
        "calls run as tasks, and the capability is not declared",
        Kind::Results("initialize", |answer| drop_member(&mut answer["result"]["capabilities"], "tasks")),
    )
    .breaks_too(&["tasks.unsupported-ignored"]),
    &core(
        "task-optional",
        "tasks.required-enforced",
        "a plain call of a tool that only runs as a task is answered with a tool's error",
        Kind::Answers(|asked, answer| {
            if asked.is("tools/call") && answer["error"]["code"] == METHOD_NOT_FOUND {
                *answer = result(asked, json!({ "content": [text("Call me as a task")], "isError": true }));
            }
        }),
    )
    .breaks_too(&["tasks.forbidden-refused"]),
    &core(
        "task-unsupported-refused",
        "tasks.unsupported-ignored",
        "a ping that asks for a task is refused",
        Kind::Answers(|asked, answer| {
            if asked.is("ping") && asked.param("task").is_object() {
                *answer = error(asked, INVALID_PARAMS, "Invalid params: a ping does not run as a task");
            }
        }),
    ),
    &core(
        "task-id-as-suggested",
        "tasks.id-from-receiver",
        "a task has the id that the call suggests",
        Kind::Answers(|asked, answer| {
            let suggested = &asked.param("task")["taskId"];
            if answer["result"]["task"].is_object() && suggested.is_string() {
                answer["result"]["task"]["taskId"] = suggested.clone();
            }
        }),
    )
    .breaks_too(&["tasks.ids-unique", "tasks.notifications-related"]),
    &core(
        "task-id-twice",
        "tasks.ids-unique",
        "all tasks have one id",
        Kind::Results("tools/call", |answer| {
            rename(answer, "one-id-for-all-tasks-of-this-server");
        }),
    )
    .breaks_too(&["tasks.notifications-related", "tasks.terminal-is-final"]),
    &core(
        "task-id-counted",
        "tasks.ids-unguessable",
        "the id of a task is a small number",
        Kind::Results("tools/call", |answer| {
            rename(answer, COUNTED);
        }),
    )
    .breaks_too(&["tasks.ids-unique", "tasks.notifications-related"]),
    &core(
        "task-created-in-seconds",
        "tasks.timestamps",
        "the time at which a task was made is a number",
        Kind::Results("tasks/get", |answer| answer["result"]["createdAt"] = json!("1764066600")),
    ),
    &core(
        "task-answered-as-call",
        "tasks.created-in-answer",
        "a call that became a task is answered with a tool's result",
        Kind::Results("tools/call", |answer| {
            if answer["result"]["task"].is_object() {
                answer["result"] = json!({ "content": [text("It is being done")] });
            }
        }),
    ),
    &core(
        "task-begins-waiting",
        "tasks.begins-working",
        "a task begins with the status `input_required`",
        Kind::Results("tools/call", |answer| {
            if answer["result"]["task"].is_object() {
                let made = answer["result"]["task"]["createdAt"].clone();
                answer["result"]["task"]["status"] = json!("input_required");
                answer["result"]["task"]["lastUpdatedAt"] = made;
            }
        }),
    ),
    &core(
        "task-listed-as-working",
        "tasks.terminal-is-final",
        "the list of tasks shows each as `working`, whatever has become of it",
        Kind::Results("tasks/list", |answer| {
            for task in answer["result"]["tasks"].as_array_mut().into_iter().flatten() {
                task["status"] = json!("working");
            }
        }),
    ),
    &core(
        "task-asks-unrelated",
        "tasks.requests-related",
        "what a task asks the client does not name the task",
        Kind::Sends(|message| {
            if message["method"] == "elicitation/create" {
                drop_member(&mut message["params"], "_meta");
            }
        }),
    ),
    &core(
        "task-progress-unrelated",
        "tasks.notifications-related",
        "progress on a task does not name the task",
        Kind::Sends(|message| {
            if message["method"] == "notifications/progress" {
                drop_member(&mut message["params"], "_meta");
            }
        }),
    ),
    &core(
        "task-progress-late",
        "progress.task-stops",
        "progress on a task is reported once more after its end",
        Kind::Follows(late_progress),
    ),
    &core(
        "task-result-unrelated",
        "tasks.result-related",
        "the result of a task does not name the task",
        Kind::Results("tasks/result", |answer| drop_member(&mut answer["result"], "_meta")),
    ),
    &core(
        "task-by-metadata",
        "tasks.param-over-metadata",
        "the task in a request's metadata counts, not the one in its parameters",
        Kind::Receives(|heard| {
            let other = heard.meta("related-task")["taskId"].clone();
            if heard.is("tasks/get") && other.is_string() {
                heard.message["params"]["taskId"] = other;
            }
        }),
    )
    .breaks_too(&["tasks.kept-for-ttl"]),
    &core(
        "task-result-is-status",
        "tasks.result-as-called",
        "the result of a task tells how the task stands, not what the call gave",
        Kind::Results("tasks/result", |answer| answer["result"] = json!({ "status": "completed" })),
    )
    .breaks_too(&["tasks.result-related"]),
    &core(
        "task-error-changed",
        "tasks.result-error-same",
        "the result of a task that ended with an error is another error",
        Kind::Errors("tasks/result", |answer| answer["error"]["code"] = json!(-32000)),
    )
    .breaks_too(&["tasks.unknown-refused"]),
    &core(
        "task-result-early",
        "tasks.result-blocks",
        "the result of a task is given before there is one",
        Kind::Handles(early),
    )
    .breaks_too(&["tasks.result-error-same"]),
    &core(
        "task-list-empty",
        "tasks.listed",
        "the list of tasks is always empty",
        Kind::Results("tasks/list", |answer| answer["result"] = json!({ "tasks": [] })),
    ),
    &core(
        "task-cancelled-twice",
        "tasks.cancel-of-ended-refused",
        "a finished task can be cancelled again",
        Kind::Answers(|asked, answer| {
            if asked.is("tasks/cancel") && answer["error"].is_object() {
                let task = json!({ "taskId": asked.param("taskId"), "status": "cancelled", "ttl": null });
                *answer = result(asked, task);
            }
        }),
    )
    .breaks_too(&["shape.results", "tasks.terminal-is-final", "tasks.timestamps", "tasks.unknown-refused"]),
    &core(
        "task-cancelled-later",
        "tasks.cancelled-in-answer",
        "the answer to a cancellation shows the task as working",
        Kind::Results("tasks/cancel", |answer| answer["result"]["status"] = json!("working")),
    ),
    &core(
        "task-unknown-internal",
        "tasks.unknown-refused",
        "an unknown task is an internal error",
        Kind::Errors("tasks/get", |answer| {
            answer["error"]["code"] = json!(INTERNAL_ERROR);
        }),
    ),
    &core(
        "tasks-cursor-ignored",
        "tasks.invalid-cursor-refused",
        "the list of tasks starts again at any cursor",
        Kind::Receives(|heard| {
            if heard.is("tasks/list") {
                drop_member(&mut heard.message["params"], "cursor");
            }
        }),
    ),
    &core(
        "task-ttl-untrue",
        "tasks.kept-for-ttl",
        "a task is said to be kept for an hour, and is not",
        Kind::Results("tasks/get", |answer| answer["result"]["ttl"] = json!(3_600_000)),
    ),
];

/// A fault of tasks as 2025-11-25 has them.
const fn core(name: &'static str, rule: &'static str, about: &'static str, kind: Kind) -> Fault {
    fault(name, rule, about, kind).since(R2025_11_25).until(R2025_11_25)
}

fn result(asked: &ServiceRequest, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result })
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// The last report of each task that told of progress, by the task's id.
#[derive(Default)]
struct Reports(Mutex<BTreeMap<String, Value>>);

/// After word that a task is over, progress on it: what was reported last, and one more.
fn late_progress(message: &Value, state: &State) -> Option<Value> {
    let reports = state.of::<Reports>();
    let mut reports = reports.0.lock().unwrap_or_else(PoisonError::into_inner);
    if message["method"] == "notifications/progress" {
        let task = message.pointer("/params/_meta/io.modelcontextprotocol~1related-task/taskId")?;
        reports.insert(task.as_str()?.to_owned(), message.clone());
        return None;
    }
    let status = message["params"]["status"].as_str();
    if message["method"] != "notifications/tasks/status" || matches!(status, Some("working" | "input_required")) {
        return None;
    }
    let mut report = reports.remove(message["params"]["taskId"].as_str()?)?;
    report["params"]["progress"] = json!(report["params"]["progress"].as_f64()? + 1.0);
    Some(report)
}

/// Answers `tasks/result` before the task is over.
fn early(asked: &ServiceRequest, _: &Link, reply: Reply) -> Reply {
    let id = RequestId::from_value(&asked.message["id"]);
    match (reply, id) {
        (Reply::Later(_), Some(id)) if asked.is("tasks/result") => {
            let related = json!({ RELATED_TASK: { "taskId": asked.param("taskId") } });
            Answer::result(&id, &json!({ "content": [text("Not yet")], "_meta": related })).into()
        }
        (reply, _) => reply,
    }
}
