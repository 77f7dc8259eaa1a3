//! What binds clients of the extension.

use wire::revision::R2026_07_28;

use super::here;
use crate::rule::{Rule, client};

const fn declared(id: &'static str, section: &'static str, text: &'static str) -> Rule {
    client(id).says(R2026_07_28, here(section), text).declared()
}

/// The demands on clients, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    declared(
        "task-extension.either-answer-taken",
        "capability-negotiation",
        "A client that declares the extension MUST take a task as well as a result for an answer to its call.",
    ),
    declared(
        "task-extension.task-elsewhere-refused",
        "capability-negotiation",
        "A client MUST take a task for an invalid answer to any request that is no `tools/call`.",
    ),
    declared(
        "task-extension.poll-interval-respected",
        "task-polling",
        "A client SHOULD wait for `pollIntervalMs` before it asks for the task again.",
    ),
    declared(
        "task-extension.polled-until-done",
        "task-polling",
        "A client SHOULD ask for a task, or listen, until it is over or the client has cancelled it.",
    ),
    declared(
        "task-extension.input-given",
        "task-update-requests",
        "A client that finds a task waiting for input SHOULD give it by `tasks/update`.",
    ),
    declared(
        "task-extension.answered-once",
        "task-update-requests",
        "A client SHOULD answer each key of `inputRequests` once.",
    ),
    declared(
        "task-extension.cancelled-by-request",
        "task-cancellation",
        "A client MUST NOT send `notifications/cancelled` to cancel a task.",
    ),
    declared(
        "task-extension.name-header",
        "streamable-http-routing-headers",
        "Over HTTP a client MUST put the task's id into `Mcp-Name` of requests about it.",
    ),
];
