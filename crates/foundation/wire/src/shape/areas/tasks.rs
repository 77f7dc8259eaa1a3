//! Tasks, which the core protocol had at 2025-11-25 only; afterwards they are an extension.

use super::base::{MORE, NOTIFICATION, REQUEST, RESULT, method};
use crate::revision::R2025_11_25;
use crate::shape::describe::{
    Definition, Field, INTEGER, NULL, STRING, Shape, alt, both, define, either, list, object, opt, refers, req, words,
};

/// Parameters of a request that may be run as a task.
pub(super) const AS_TASK: &[Field] = &[
    opt("_meta", refers("RequestMetaObject")).only(R2025_11_25),
    opt("task", refers("TaskMetadata")).only(R2025_11_25),
];

/// The parameters of a request about one task.
const WHICH: Field = req("params", object(&[&[req("taskId", STRING)]]));

pub(super) const SHAPES: &[Definition] = &[
    define(
        "Task",
        "Work that goes on after its request was answered.",
        object(&[&[
            req("taskId", STRING),
            req("status", refers("TaskStatus")),
            opt("statusMessage", STRING),
            req("createdAt", STRING),
            req("lastUpdatedAt", STRING),
            req("ttl", either(&[alt(INTEGER), alt(NULL)])),
            opt("pollInterval", INTEGER),
        ]]),
    )
    .only(R2025_11_25),
    define(
        "TaskStatus",
        "How a task stands.",
        words(&["working", "input_required", "completed", "failed", "cancelled"]),
    )
    .only(R2025_11_25),
    define("TaskMetadata", "Asks that a request be run as a task, and for how long to keep it.", TASK_METADATA)
        .only(R2025_11_25),
    define("RelatedTaskMetadata", "Says to which task a message belongs.", object(&[&[req("taskId", STRING)]]))
        .only(R2025_11_25),
    define("TaskAugmentedRequestParams", "Parameters of a request that may be run as a task.", object(&[AS_TASK]))
        .only(R2025_11_25),
    define(
        "CreateTaskResult",
        "Answers a request with the task that it became.",
        object(&[RESULT, &[req("task", refers("Task"))]]),
    )
    .only(R2025_11_25),
    define("GetTaskRequest", "Asks how a task stands.", object(&[REQUEST, &[method("tasks/get"), WHICH]]))
        .only(R2025_11_25),
    define("GetTaskResult", "How the task stands.", both(&[refers("Result"), refers("Task")])).only(R2025_11_25),
    define(
        "GetTaskPayloadRequest",
        "Asks for what a task produced.",
        object(&[REQUEST, &[method("tasks/result"), WHICH]]),
    )
    .only(R2025_11_25),
    define("GetTaskPayloadResult", "The result that the original request would have had.", object(&[RESULT]))
        .only(R2025_11_25),
    define("CancelTaskRequest", "Asks to stop a task.", object(&[REQUEST, &[method("tasks/cancel"), WHICH]]))
        .only(R2025_11_25),
    define("CancelTaskResult", "How the stopped task stands.", both(&[refers("Result"), refers("Task")]))
        .only(R2025_11_25),
    define(
        "ListTasksRequest",
        "Asks for the tasks.",
        object(&[REQUEST, &[method("tasks/list"), opt("params", refers("PaginatedRequestParams"))]]),
    )
    .only(R2025_11_25),
    define(
        "ListTasksResult",
        "One page of the tasks.",
        object(&[RESULT, MORE, &[req("tasks", list(&refers("Task")))]]),
    )
    .only(R2025_11_25),
    define(
        "TaskStatusNotification",
        "Says that a task stands differently now.",
        object(&[
            NOTIFICATION,
            &[method("notifications/tasks/status"), req("params", refers("TaskStatusNotificationParams"))],
        ]),
    )
    .only(R2025_11_25),
    define(
        "TaskStatusNotificationParams",
        "The task as it stands now.",
        both(&[refers("NotificationParams"), refers("Task")]),
    )
    .only(R2025_11_25),
];

const TASK_METADATA: Shape = object(&[&[opt("ttl", INTEGER)]]);
