//! What binds clients on this page: as requestors of a server's tasks, and as receivers where they run tasks themselves.

use wire::revision::{R2025_11_25, R2026_07_28};

use super::here;
use crate::rule::{Rule, client};

const fn declared(id: &'static str, section: &'static str, text: &'static str) -> Rule {
    client(id).says(R2025_11_25, here(section), text).gone(R2026_07_28).declared()
}

/// The demands on clients, requestors' first.
pub(crate) const RULES: &[Rule] = &[
    declared(
        "tasks.augmented-only-where-declared",
        "tool-level-negotiation",
        "A client MUST NOT ask for a task of a server that does not declare tasks for that request.",
    ),
    declared(
        "tasks.tools-called-as-they-say",
        "tool-level-negotiation",
        "A client MUST call a tool as a task where it says `required`, and never where it says nothing or `forbidden`.",
    ),
    declared(
        "tasks.poll-interval-respected",
        "getting-tasks",
        "A requestor SHOULD wait for `pollInterval` before it asks for the task again.",
    ),
    declared(
        "tasks.polled-until-done",
        "getting-tasks",
        "A requestor SHOULD ask for a task until it is over or waits for input, whatever else it was told of it.",
    ),
    declared(
        "tasks.notifications-not-relied-on",
        "task-notifications",
        "A requestor MUST NOT wait for notifications to learn that a task is over.",
    ),
    declared(
        "tasks.messages-on-any-stream",
        "input-required-status",
        "A client SHOULD take what a task sends on whichever stream it comes.",
    ),
    declared(
        "tasks.result-asked-for-input",
        "input-required-status",
        "A requestor that finds a task waiting for input SHOULD ask for its result.",
    ),
    declared(
        "tasks.answers-related",
        "associating-task-related-messages",
        "A client's answer to a request that belongs to a task MUST name the task in `_meta`.",
    ),
    declared(
        "tasks.related-not-repeated-by-clients",
        "associating-task-related-messages",
        "A client SHOULD NOT name the task in `_meta` of messages that have its id as a parameter or member.",
    ),
    declared("tasks.cursors-opaque", "task-listing", "A requestor MUST send a cursor back as it came."),
    declared(
        "tasks.client-capability-declared",
        "capabilities",
        "A client that runs requests as tasks MUST declare the `tasks` capability.",
    ),
    declared(
        "tasks.client-unsupported-ignored",
        "task-support-and-handling",
        "A client MUST process a request normally, whatever its `task` says, where it declares no tasks for it.",
    ),
    declared(
        "tasks.client-ids-own",
        "task-id-requirements",
        "The id of a client's task MUST be a string of its own making that no other task has and nobody guesses.",
    ),
    declared(
        "tasks.client-lifecycle",
        "task-status-lifecycle",
        "A client's task MUST begin as `working` and keep the status with which it ended.",
    ),
    declared(
        "tasks.client-answers-whole",
        "ttl-and-resource-management",
        "What a client tells of a task MUST have both timestamps and the actual `ttl`.",
    ),
    declared(
        "tasks.client-created-in-answer",
        "result-retrieval",
        "A client that accepts a request as a task MUST answer it with the task, and at once.",
    ),
    declared(
        "tasks.client-result",
        "result-retrieval",
        "A client MUST answer `tasks/result` when the task is over, with what the request ended in and the task's id.",
    ),
    declared(
        "tasks.client-param-over-metadata",
        "associating-task-related-messages",
        "A client MUST go by `taskId` in the parameters of a request, not by its `_meta`.",
    ),
    declared(
        "tasks.client-listed",
        "task-listing",
        "A client MUST list every task that it still has, page by page with `nextCursor`.",
    ),
    declared(
        "tasks.client-cancellation",
        "task-cancellation",
        "A client MUST show a task as cancelled when it answers that it is, and refuse with -32602 where it is over.",
    ),
    declared(
        "tasks.client-errors",
        "protocol-errors",
        "A client MUST refuse unknown tasks and cursors with the error -32602, and say in words what is wrong.",
    ),
];
