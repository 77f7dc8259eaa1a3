//! "Protocol Errors", "Task Status Notifications" and "Security Considerations": what is refused, and what is not sent.

use serde_json::Value;
use wire::error_code::INVALID_PARAMS;
use wire::meta;
use wire::revision::R2026_07_28;
use wire::{Kind, Transport};

use super::{METHODS, declares, here, unlike_missing};
use crate::legacy::tasks::errors::{informative, unknown};
use crate::legacy::tasks::managing::wrong_peer;
use crate::reading::tasks::{creations, named};
use crate::rule::{Rule, server};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Call, MessageAt, View};

/// The sections' rules.
pub(crate) const RULES: &[Rule] = &[
    server("task-extension.subscription-refused")
        .says(
            R2026_07_28,
            here("task-status-notifications"),
            "A subscription to tasks without the extension MUST be refused with -32021, naming the extension.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Asks `subscriptions/listen` for `taskIds` in a request that does not declare the extension.")
        .fix("Check `clientCapabilities` of the request before you acknowledge `taskIds`.")
        .judge(subscriptions),
    server("task-extension.no-progress-on-subscription")
        .says(
            R2026_07_28,
            here("task-status-notifications"),
            "Progress and log messages of a task MUST NOT be sent on a subscription to it.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Looks for either on subscriptions that carry task notifications.")
        .fix("Tell of a task by `notifications/tasks` alone.")
        .judge(no_progress),
    server("task-extension.unknown-refused")
        .says(
            R2026_07_28,
            here("protocol-errors"),
            "`tasks/get` of a task that does not exist MUST be refused with the error -32602.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Asks for a task with an id that cannot exist (`no-such-…`).")
        .fix("Answer -32602 (invalid params) where the id is unknown, or no longer known.")
        .judge(|view| unknown(view, &["tasks/get"], declares)),
    server("task-extension.unknown-update-refused")
        .says(
            R2026_07_28,
            here("protocol-errors"),
            "`tasks/update` and `tasks/cancel` of a task that does not exist SHOULD be refused with the error -32602.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Answers and cancels a task with an id that cannot exist (`no-such-…`).")
        .fix("Answer -32602 (invalid params) where the id is unknown, or no longer known.")
        .judge(|view| unknown(view, &["tasks/update", "tasks/cancel"], declares)),
    server("task-extension.methods-need-capability")
        .says(
            R2026_07_28,
            here("protocol-errors"),
            "`tasks/get`, `tasks/update` and `tasks/cancel` without the extension MUST be refused with the error -32021.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .how("Makes such requests about a task that exists, without declaring the extension.")
        .fix("Check `clientCapabilities` of the request before you look for the task.")
        .judge(undeclared),
    server("task-extension.errors-informative")
        .says(R2026_07_28, here("protocol-errors"), "The error of a request about tasks SHOULD say in words what is wrong.")
        .needs(meta::TASKS_CAPABILITY)
        .how("Looks for words in the messages of such errors; what they say is not judged.")
        .fix("Write a message that names the cause.")
        .judge(informative),
    server("task-extension.bound-to-authorization")
        .says(
            R2026_07_28,
            here("security-considerations"),
            "Every request about a task MUST be authorized: a task made with credentials is not accessible without them.",
        )
        .needs(meta::TASKS_CAPABILITY)
        .on(&[Transport::StreamableHttp])
        .how("Looks for requests without credentials about tasks that were made with some. Two different credentials may be \
              the same person's and prove nothing, unless the second is refused.")
        .fix("Authenticate each request, and answer for others' tasks as if they were unknown.")
        .judge(|view| wrong_peer(view, &METHODS)),
];

fn wants_tasks(call: &Call<'_>) -> bool {
    let ids = call.request.message.params().and_then(|p| p.get("notifications")?.get("taskIds")?.as_array());
    ids.is_some_and(|ids| !ids.is_empty())
}

/// The notification that grants a subscription, if one came.
fn granted<'v>(view: &View<'v>, call: &Call<'v>) -> Option<MessageAt<'v>> {
    let id = call.request.message.value().get("id");
    view.notifications("notifications/subscriptions/acknowledged").find(|sent| {
        sent.connection == call.request.connection && sent.event > call.request.event && subscription(sent) == id
    })
}

fn subscription<'v>(sent: &MessageAt<'v>) -> Option<&'v Value> {
    sent.message.params()?.get("_meta")?.get(meta::SUBSCRIPTION_ID)
}

fn subscription_breach(view: &View<'_>, call: &Call<'_>) -> Option<(usize, Kept)> {
    if let Some(sent) = granted(view, call) {
        return Some((sent.event, Err(sent.breach("", "a subscription to tasks without the extension is granted"))));
    }
    let response = call.response?;
    let kept = unlike_missing(call).map_or(Ok(()), |(pointer, why)| Err(Breach::at(response.event, pointer, why)));
    Some((response.event, kept))
}

fn subscriptions(view: &View<'_>) -> Verdict {
    let calls = view.calls("subscriptions/listen");
    let bare = calls.filter(|call| wants_tasks(call) && !declares(call) && view.judges_content(call));
    let judged = bare.filter_map(|call| subscription_breach(view, &call));
    Verdict::of(judged.collect::<Vec<_>>(), "no client subscribed to tasks without the extension")
}

fn no_progress(view: &View<'_>) -> Verdict {
    let listens: Vec<_> = view.calls("subscriptions/listen").filter(wants_tasks).collect();
    let on = |sent: &MessageAt<'_>| {
        listens.iter().any(|call| {
            let id = call.request.message.value().get("id");
            let here = sent.connection == call.request.connection;
            here && ((sent.exchange != 0 && sent.exchange == call.request.exchange) || subscription(sent) == id)
        })
    };
    let notifications = view.by_subject().filter(|sent| sent.message.kind() == Kind::Notification && on(sent));
    let judged = notifications.filter_map(|sent| match sent.message.method()? {
        "notifications/tasks" => Some((sent.event, Ok(()))),
        "notifications/progress" | "notifications/message" => {
            Some((sent.event, Err(sent.breach("/method", "this came on a subscription to a task"))))
        }
        _ => None,
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no task notification came on a subscription")
}

fn undeclared(view: &View<'_>) -> Verdict {
    let made = creations(view);
    let known = |call: &Call<'_>| named(&call.request).is_some_and(|id| made.iter().any(|made| made.id == id));
    let calls = METHODS.into_iter().flat_map(|method| view.calls(method));
    let bare = calls.filter(|call| !declares(call) && view.judges_content(call));
    let judged = bare.filter_map(|call| {
        let response = call.response?;
        // Two things may be wrong with one request; which is said first is the server's affair.
        if call.error_code() == Some(INVALID_PARAMS) && !known(&call) {
            return None;
        }
        let kept = unlike_missing(&call).map_or(Ok(()), |(pointer, why)| Err(response.breach(pointer, why)));
        Some((response.event, kept))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no request about a task was made without the extension")
}
