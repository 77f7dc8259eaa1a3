//! The extension `io.modelcontextprotocol/tasks` of 2026-07-28: there a server decides whether a call becomes a task, and
//! tells all of it, questions and outcome included, whenever it is asked. The names are its schema's, prefixed.

use super::base::method;
use crate::shape::describe::{
    Definition, EXACT, Field, NULL, OBJECT, Revisions, STRING, Shape, alt, both, define, either, exactly, list, object,
    one, opt, refers, req, words,
};

/// What is said of a task, whatever its status.
const ALWAYS: &[Field] = &[
    req("taskId", STRING),
    opt("statusMessage", STRING),
    req("createdAt", STRING),
    req("lastUpdatedAt", STRING),
    req("ttlMs", either(&[alt(EXACT), alt(NULL)])),
    opt("pollIntervalMs", EXACT),
];

/// The parameters of a request about one task.
const WHICH: Field = req("params", object(&[&[req("taskId", STRING)]]));

const COMPLETE: Shape = object(&[&[req("resultType", exactly("complete"))]]);

const fn extended(name: &'static str, doc: &'static str, shape: Shape) -> Definition {
    Definition { named: Revisions::NONE, ..define(name, doc, shape) }
}

pub(in crate::shape) const SHAPES: &[Definition] = &[
    extended(
        "tasks.Task",
        "Work that goes on after its call was answered.",
        object(&[ALWAYS, &[req("status", STATUS)]]),
    ),
    extended("tasks.TaskStatus", "How a task stands.", STATUS),
    extended("tasks.WorkingTask", "A task that is worked on.", object(&[ALWAYS, &[req("status", exactly("working"))]])),
    extended(
        "tasks.InputRequiredTask",
        "A task that waits for the client, and for what.",
        object(&[ALWAYS, &[req("status", exactly("input_required")), req("inputRequests", refers("InputRequests"))]]),
    ),
    extended(
        "tasks.CompletedTask",
        "A task that is done, with the result of its call.",
        object(&[ALWAYS, &[req("status", exactly("completed")), req("result", OBJECT)]]),
    ),
    extended(
        "tasks.FailedTask",
        "A task that ended with a JSON-RPC error, and with which.",
        object(&[ALWAYS, &[req("status", exactly("failed")), req("error", refers("Error"))]]),
    ),
    extended(
        "tasks.CancelledTask",
        "A task that the client took back.",
        object(&[ALWAYS, &[req("status", exactly("cancelled"))]]),
    ),
    extended(
        "tasks.DetailedTask",
        "A task with what belongs to its status.",
        either(&[
            one("tasks.WorkingTask"),
            one("tasks.InputRequiredTask"),
            one("tasks.CompletedTask"),
            one("tasks.FailedTask"),
            one("tasks.CancelledTask"),
        ]),
    ),
    extended(
        "tasks.CreateTaskResult",
        "Answers a call with the task that it became.",
        both(&[refers("Result"), refers("tasks.Task"), object(&[&[req("resultType", exactly("task"))]])]),
    ),
    extended(
        "tasks.GetTaskRequest",
        "Asks how a task stands.",
        both(&[refers("JSONRPCRequest"), object(&[&[method("tasks/get"), WHICH]])]),
    ),
    extended(
        "tasks.GetTaskResult",
        "How the task stands, questions and outcome included.",
        both(&[refers("Result"), refers("tasks.DetailedTask"), COMPLETE]),
    ),
    extended(
        "tasks.UpdateTaskRequest",
        "Answers what a task asked.",
        both(&[
            refers("JSONRPCRequest"),
            object(&[&[
                method("tasks/update"),
                req("params", object(&[&[req("taskId", STRING), req("inputResponses", refers("InputResponses"))]])),
            ]]),
        ]),
    ),
    extended("tasks.UpdateTaskResult", "Says that the answers have come.", both(&[refers("Result"), COMPLETE])),
    extended(
        "tasks.CancelTaskRequest",
        "Says that a task is no longer wanted.",
        both(&[refers("JSONRPCRequest"), object(&[&[method("tasks/cancel"), WHICH]])]),
    ),
    extended("tasks.CancelTaskResult", "Says that the wish has come.", both(&[refers("Result"), COMPLETE])),
    extended(
        "tasks.TaskStatusNotification",
        "Says that a task stands differently now.",
        both(&[
            refers("JSONRPCNotification"),
            object(&[&[method("notifications/tasks"), req("params", refers("tasks.TaskStatusNotificationParams"))]]),
        ]),
    ),
    extended(
        "tasks.TaskStatusNotificationParams",
        "The task as it stands now.",
        both(&[refers("NotificationParams"), refers("tasks.DetailedTask")]),
    ),
    extended("tasks.TaskSubscriptionNotifications", "Which tasks a subscription is to tell of.", SUBSCRIBED),
    extended("tasks.TaskSubscriptionAcknowledgedNotifications", "Which tasks it will tell of.", SUBSCRIBED),
];

const STATUS: Shape = words(&["working", "input_required", "completed", "failed", "cancelled"]);

const SUBSCRIBED: Shape = object(&[&[opt("taskIds", list(&STRING))]]);
