//! Faults of the tasks extension.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY};
use wire::meta::TASKS_EXTENSION;

use super::{COUNTED, rename};
use crate::server::jsonrpc::error;
use crate::server::{Fault, IncomingMessage, Kind, drop_member, fault};

pub(in crate::server) const FAULTS: &[&Fault] = &[
    &extension(
        "task-unasked",
        "task-extension.not-without-capability",
        "calls become tasks for clients that do not know of them",
        Kind::Receives(|heard| declare(heard, "tools/call")),
    )
    .breaks_too(&["task-extension.failed-means-error", "versioning.extension-fallback"]),
    &extension(
        "task-missing-method",
        "task-extension.missing-refused",
        "a client without the extension that a tool needs is refused as for an unknown method",
        Kind::Errors("tools/call", |answer| {
            if answer["error"]["code"] == MISSING_CLIENT_CAPABILITY {
                answer["error"]["code"] = json!(METHOD_NOT_FOUND);
            }
        }),
    )
    .breaks_too(&["errors.declared-methods-known", "http.unknown-method-404", "meta.missing-capability-refused"]),
    &extension(
        "task-complete",
        "task-extension.type-named",
        "an answer that brings a task is called `complete`",
        Kind::Results("tools/call", |answer| {
            if answer["result"]["resultType"] == "task" {
                answer["result"]["resultType"] = json!("complete");
            }
        }),
    )
    .breaks_too(&["shape.results"]),
    &extension(
        "task-type-everywhere",
        "task-extension.type-reserved",
        "every answer about a task has the `resultType` `task`",
        Kind::Results("tasks/get", |answer| answer["result"]["resultType"] = json!("task")),
    )
    .breaks_too(&["task-extension.answers-complete"]),
    &extension(
        "task-not-found",
        "task-extension.durable",
        "a task that was created is not found",
        Kind::Answers(|asked, answer| {
            if asked.is("tasks/get") && answer["result"].is_object() {
                *answer = error(asked, INVALID_PARAMS, "Unknown task");
            }
        }),
    ),
    &extension(
        "task-handle-counted",
        "task-extension.ids-unguessable",
        "the id of a task is a small number",
        Kind::Results("tools/call", |answer| rename(answer, COUNTED)),
    )
    .breaks_too(&["task-extension.durable", "task-extension.failed-means-error", "task-extension.status-told"]),
    &extension(
        "task-always-working",
        "task-extension.status-told",
        "a task is shown as working to its end and beyond",
        Kind::Results("tasks/get", |answer| answer["result"]["status"] = json!("working")),
    ),
    &extension(
        "task-cancel-type",
        "task-extension.answers-complete",
        "the answer to a cancellation has a type of its own",
        Kind::Results("tasks/cancel", |answer| answer["result"]["resultType"] = json!("cancelled")),
    ),
    &extension(
        "task-tool-error-failed",
        "task-extension.failed-means-error",
        "a task is `failed` where the tool said so itself",
        Kind::Results("tasks/get", |answer| {
            if answer["result"]["result"]["isError"] == true {
                answer["result"]["status"] = json!("failed");
            }
        }),
    )
    .breaks_too(&["shape.results", "task-extension.status-told"]),
    &extension(
        "task-result-bare",
        "task-extension.outcome-as-called",
        "a completed task has the text of the result instead of the result",
        Kind::Results("tasks/get", |answer| {
            if answer["result"]["result"].is_object() {
                answer["result"]["result"] = json!({ "text": "Done" });
            }
        }),
    ),
    &extension(
        "task-asks-once",
        "task-extension.outstanding-repeated",
        "only every other `tasks/get` shows what a task waits for",
        Kind::Answers(|asked, answer| {
            if asked.is("tasks/get") && asked.is_odd() && answer["result"]["inputRequests"].is_object() {
                answer["result"]["inputRequests"] = json!({});
            }
        }),
    ),
    &extension(
        "task-key-reused",
        "task-extension.keys-not-reused",
        "one key stands for two questions",
        Kind::Answers(|asked, answer| {
            let odd = asked.is("tasks/get") && asked.is_odd();
            let all = answer.pointer_mut("/result/inputRequests").and_then(Value::as_object_mut).filter(|_| odd);
            for (_, request) in all.into_iter().flatten() {
                request["params"]["message"] = json!("And what else?");
            }
        }),
    ),
    &extension(
        "task-cancel-tells",
        "task-extension.acks-empty",
        "the answer to a cancellation shows the task",
        Kind::Results("tasks/cancel", |answer| answer["result"]["status"] = json!("cancelled")),
    ),
    &extension(
        "task-subscription-unasked",
        "task-extension.subscription-refused",
        "any client may subscribe to tasks",
        Kind::Receives(|heard| declare(heard, "subscriptions/listen")),
    ),
    &extension(
        "task-progress-on-subscription",
        "task-extension.no-progress-on-subscription",
        "progress is reported on a subscription to a task",
        Kind::SideMessages(|asked, message| {
            if !message["params"]["notifications"]["taskIds"].is_array() {
                return vec![message];
            }
            let progress = asked.state.of::<Reported>().0.fetch_add(1, Ordering::Relaxed);
            let meta = &message["params"]["_meta"];
            let params = json!({ "_meta": meta, "progressToken": "nobodys", "progress": progress });
            vec![message, json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })]
        }),
    )
    .breaks_too(&["http.stream-messages-relate", "progress.known-tokens"]),
    &extension(
        "task-unknown-broken",
        "task-extension.unknown-refused",
        "an unknown task is an internal error",
        Kind::Errors("tasks/get", |answer| answer["error"]["code"] = json!(INTERNAL_ERROR)),
    )
    .breaks_too(&["task-extension.methods-need-capability"]),
    &extension(
        "task-for-anybody",
        "task-extension.methods-need-capability",
        "tasks are shown to clients that do not declare the extension",
        Kind::Receives(|heard| declare(heard, "tasks/get")),
    ),
    &extension(
        "task-dates-with-space",
        "task-extension.dates",
        "the dates of tasks have a space between date and time",
        Kind::Results("tasks/get", |answer| {
            for member in ["createdAt", "lastUpdatedAt"] {
                let date = &mut answer["result"][member];
                if let Some(text) = date.as_str() {
                    *date = json!(text.replace('T', " "));
                }
            }
        }),
    ),
    &extension(
        "task-ttl-missing",
        "shape.results",
        "a task does not say how long it is kept",
        Kind::Results("tasks/get", |answer| drop_member(&mut answer["result"], "ttlMs")),
    ),
];

const fn extension(name: &'static str, rule: &'static str, about: &'static str, kind: Kind) -> Fault {
    fault(name, rule, about, kind).modern()
}

/// Has a modern request of `method` declare the extension.
fn declare(heard: &mut IncomingMessage<'_>, method: &str) {
    if heard.is(method) && heard.is_modern() {
        let mut capabilities = heard.meta("clientCapabilities").clone();
        if capabilities.is_object() {
            capabilities["extensions"] = json!({ TASKS_EXTENSION: {} });
            heard.set_meta("clientCapabilities", capabilities);
        }
    }
}

/// How often progress was reported on a subscription.
#[derive(Default)]
struct Reported(AtomicUsize);
