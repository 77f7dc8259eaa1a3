//! What binds clients on this page: as requestors of a server's tasks (`requesting`), and as receivers where they run
//! tasks themselves (`receiving`).

use wire::revision::{R2025_11_25, R2026_07_28};

use super::receiving::{
    answers_whole, cancellation, capability_declared, created_in_answer, errors, ids_own, lifecycle, result,
    unsupported_ignored,
};
use super::requesting::{
    answers_related, any_stream, called_as_they_say, cursors_opaque, not_relied_on, not_repeated, only_where_declared,
    result_requested,
};
use super::{associating::param_counts, here, managing::listed};
use crate::reading::task_polling::{unhurried, until_done};
use crate::rule::{Rule, client};

const fn bound(id: &'static str, section: &'static str, text: &'static str) -> Rule {
    client(id).says(R2025_11_25, here(section), text).gone(R2026_07_28)
}

/// The demands on clients, requestors' first.
pub(crate) const RULES: &[Rule] = &[
    bound(
        "tasks.augmented-only-where-declared",
        "tool-level-negotiation",
        "A client MUST NOT ask for a task of a server that does not declare tasks for that request.",
    )
    .how("Needs a server that declares no tasks for calls of tools, and looks at `task` of every call.")
    .fix("Look for `tasks.requests.tools.call` in the server's capabilities before you add `task`.")
    .judge(only_where_declared),
    bound(
        "tasks.tools-called-as-they-say",
        "tool-level-negotiation",
        "A client MUST call a tool as a task where it says `required`, and never where it says nothing or `forbidden`.",
    )
    .how("Needs a server with tasks whose tools say `required`, `forbidden` or nothing in `execution.taskSupport`, and compares the calls with the list. A client that shows no sign of knowing tasks is passed over.")
    .fix("Read `execution.taskSupport` of the tool, and add `task` where it says `required` or, if you like, `optional`.")
    .judge(called_as_they_say),
    bound(
        "tasks.poll-interval-respected",
        "getting-tasks",
        "A requestor SHOULD wait for `pollInterval` before it asks for the task again.",
    )
    .timed()
    .how("Measures the time from each answer with `pollInterval` to the next `tasks/get` of that task. Needs a server with tasks that last for several intervals, and a client that makes some.")
    .fix("Wait for the latest `pollInterval` before you ask again.")
    .judge(unhurried),
    bound(
        "tasks.polled-until-done",
        "getting-tasks",
        "A requestor SHOULD ask for a task until it is over or waits for input, whatever notifications say.",
    )
    .how("Needs a server with tasks that last, and checks whether the client asks until they are over or wait for input. It is broken by a client that leaves normally before.")
    .fix("Keep asking until the status is `completed`, `failed`, `cancelled` or `input_required`.")
    .judge(until_done),
    bound(
        "tasks.notifications-not-relied-on",
        "task-notifications",
        "A requestor MUST NOT rely on notifications to learn that a task is over.",
    )
    .timed()
    .how("Needs a server that sends no task notifications, and checks whether the client asks for the task it made, before a quiet window of three seconds closes or it cancels the task later than that.")
    .fix("Ask by `tasks/get` or `tasks/result`; take notifications for a hint.")
    .judge(not_relied_on),
    bound(
        "tasks.messages-on-any-stream",
        "input-required-status",
        "A client SHOULD take what a task sends on whichever stream it comes.",
    )
    .on(&[wire::Transport::StreamableHttp])
    .timed()
    .how("Needs a server that asks something for a task on another stream than that of `tasks/result`, and checks whether the client answers before it says anything a second later.")
    .fix("Handle requests alike on whichever stream they come.")
    .judge(any_stream),
    bound(
        "tasks.result-asked-for-input",
        "input-required-status",
        "A requestor that finds a task waiting for input SHOULD ask for its result.",
    )
    .how("Needs a task that waits for input, and looks for `tasks/result` before the client leaves, or before it has seen for three seconds that the task waits.")
    .fix("Send `tasks/result` when the status is `input_required`: the questions come ahead of its answer.")
    .judge(result_requested),
    bound(
        "tasks.answers-related",
        "associating-task-related-messages",
        "A client's answer to a request that belongs to a task MUST name the task in `_meta`.",
    )
    .how("Needs a server that asks something for a task, and looks at `_meta` of the client's result.")
    .fix("Copy `io.modelcontextprotocol/related-task` from the request's `_meta` into that of the result.")
    .judge(answers_related),
    bound(
        "tasks.related-not-repeated-by-clients",
        "associating-task-related-messages",
        "A client SHOULD NOT name the task in `_meta` of messages that have its id as a parameter or member.",
    )
    .how("Looks for related-task metadata in the client's `tasks/get`, `tasks/result` and `tasks/cancel`. Needs a server with tasks.")
    .fix("Leave the metadata out where `taskId` says it.")
    .judge(not_repeated),
    bound(
        "tasks.cursors-opaque",
        "task-listing",
        "A requestor MUST send a cursor back as it came.",
    )
    .how("Needs a server with several pages of tasks, and compares every cursor of the client's with those that were given.")
    .fix("Keep the cursor as a string, and send it back byte for byte.")
    .judge(cursors_opaque),
    bound(
        "tasks.client-capability-declared",
        "capabilities",
        "A client that runs requests as tasks MUST declare the `tasks` capability.",
    )
    .how("Needs a server that asks for tasks whatever the client declared, and checks whether one is made without `tasks`.")
    .fix("Declare `tasks` with the requests that you run as tasks, or run none.")
    .judge(capability_declared),
    bound(
        "tasks.client-unsupported-ignored",
        "task-support-and-handling",
        "A client MUST process a request normally, whatever its `task` says, where it declares no tasks for it.",
    )
    .how("Needs a server that asks for a task in requests for which the client declares none, and checks whether they are answered like any other. An error that says the user refused shows nothing.")
    .fix("Drop `task` from the parameters of requests that you do not run as tasks.")
    .judge(unsupported_ignored),
    bound(
        "tasks.client-ids-own",
        "task-id-requirements",
        "The id of a client's task MUST be a string that the client made, unique and hard to guess.",
    )
    .needs("tasks")
    .how("Looks at the ids of all tasks that the client makes: whether the request suggested them, whether two are the same, and how hard they are to guess. Needs a server that asks for several tasks.")
    .fix("Make a random id for each task, such as a UUID.")
    .judge(ids_own),
    bound(
        "tasks.client-lifecycle",
        "task-status-lifecycle",
        "A client's task MUST begin as `working` and keep the status with which it ended.",
    )
    .needs("tasks")
    .how("Needs a server that asks for tasks and looks at them: at their creation, and again after their end.")
    .fix("Begin every task as `working`, and let nothing change a task that is over.")
    .judge(lifecycle),
    bound(
        "tasks.client-answers-whole",
        "ttl-and-resource-management",
        "A client's messages about a task MUST have both timestamps and the actual `ttl`.",
    )
    .needs("tasks")
    .how("Looks at everything that the client says of a task. Needs a server that asks for tasks and looks at them.")
    .fix("Send `createdAt` and `lastUpdatedAt` in ISO 8601, and `ttl` in milliseconds or null, in every message about a task.")
    .judge(answers_whole),
    bound(
        "tasks.client-created-in-answer",
        "result-retrieval",
        "A client that accepts a request as a task MUST answer it with the task, and at once.",
    )
    .needs("tasks")
    .timed()
    .how("Needs a server that asks for a task where the client declares that it makes them, and checks whether the result is a task, and whether it came within two seconds. An answer that took longer counts only if it holds no task.")
    .fix("Make the task, answer with it, and do the work afterwards.")
    .judge(created_in_answer),
    bound(
        "tasks.client-result",
        "result-retrieval",
        "A client MUST answer `tasks/result` when the task is over, with what the request ended in and the task's id.",
    )
    .needs("tasks")
    .how("Needs a server that asks for the result of a task: for the metadata in the answer, and whether it came before the task's end.")
    .fix("Hold `tasks/result` back until the task is over, and name the task in `_meta`.")
    .judge(result),
    bound(
        "tasks.client-param-over-metadata",
        "associating-task-related-messages",
        "A client MUST go by `taskId` in the parameters of a request, not by its `_meta`.",
    )
    .needs("tasks")
    .how("Needs a server that asks for one task while `_meta` names another.")
    .fix("Read the id from the parameters alone.")
    .judge(param_counts),
    bound(
        "tasks.client-listed",
        "task-listing",
        "A client MUST list every task that it still has, page by page with `nextCursor`.",
    )
    .needs("tasks.list")
    .how("Needs a server that reads the client's list of tasks to its end, and asks for each of them before and after.")
    .fix("Keep tasks in one place, and list them from there.")
    .judge(listed),
    bound(
        "tasks.client-cancellation",
        "task-cancellation",
        "A client MUST show a task as cancelled when it answers that it is, and refuse with -32602 where it is over.",
    )
    .needs("tasks.cancel")
    .how("Needs a server that cancels a task under way, and one that is over.")
    .fix("Set the status before you answer; answer -32602 where the task is over.")
    .judge(cancellation),
    bound(
        "tasks.client-errors",
        "protocol-errors",
        "A client MUST refuse unknown tasks and cursors with the error -32602, and say in words what is wrong.",
    )
    .needs("tasks")
    .how("Needs a server that asks for a task that cannot exist (`no-such-task`), and lists tasks with such a cursor.")
    .fix("Answer -32602 with a message that says what is wrong.")
    .judge(errors),
];
