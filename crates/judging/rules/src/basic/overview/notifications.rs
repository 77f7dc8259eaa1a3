//! The page `basic`, section "Notifications".

use wire::message::Fault;
use wire::revision::{R2024_11_05, R2025_03_26};
use wire::{Kind, Party, Transport};

use super::invalid_messages;
use crate::rule::{Anchor, Rule, at, both};
use crate::verdict::{Breach, Verdict};
use crate::view::{Exchange, MessageAt, View};

const FIRST: Anchor = at("basic/messages", "notifications");
const SINCE: Anchor = at("basic/index", "notifications");

/// The section's rules.
pub(crate) const RULES: &[Rule] = &[
    both("jsonrpc.notifications-unanswered")
        // The page says that none is expected; that none may come, JSON-RPC 2.0 says, which it follows.
        .says(R2024_11_05, FIRST, "A notification MUST NOT be answered.")
        .says(R2025_03_26, SINCE, "A notification MUST NOT be answered.")
        .how("Looks for a response to a notification: over HTTP in its own exchange, elsewhere an error without id right after it.")
        .fix("Handle notifications silently, unknown ones too: no result, no error.")
        .judge(unanswered),
    both("jsonrpc.notification-no-id")
        .says(R2024_11_05, FIRST, "A notification MUST NOT have an id.")
        .says(R2025_03_26, SINCE, "A notification MUST NOT have an id.")
        .how("Looks for an `id` in messages whose method begins with `notifications/`.")
        .fix("Leave the `id` member out of notifications.")
        .judge(no_id),
];

/// Nothing but our notifications can be meant by a response where: over HTTP, the exchange carried only notifications
/// and was accepted (an error status may come with an error in its body); elsewhere, an error without id comes after a
/// notification while no request is open and nothing unreadable was sent.
fn unanswered(view: &View<'_>) -> Verdict {
    let mut witnesses = Vec::new();
    let notifications = view.by(view.subject().peer()).filter(|s| s.message.kind() == Kind::Notification);
    for notification in notifications.filter(|s| !was_refused_in_batch(view, *s)) {
        match answer_to(view, notification) {
            Some(answer) => {
                let method = notification.message.method().unwrap_or_default().escape_debug().to_string();
                return Verdict::Broken(answer.breach("", format!("a response to the notification `{method}`")));
            }
            None => witnesses.extend(view.settled(notification.event)),
        }
    }
    Verdict::witnessed(witnesses, "no notification was sent after which an answer would have shown")
}

/// Whether an error without an id refuses the whole batch that `notification` was in: it says nothing of a single message.
fn was_refused_in_batch(view: &View<'_>, notification: MessageAt<'_>) -> bool {
    let own = view.exchange(notification.exchange).filter(|_| notification.batched && view.subject() == Party::Server);
    own.is_some_and(|x| x.responses().any(|s| s.message.kind() == Kind::Error && s.message.id().is_none()))
}

fn answer_to<'v>(view: &View<'v>, notification: MessageAt<'v>) -> Option<MessageAt<'v>> {
    // What a client answers comes in an exchange of its own.
    let own = view.exchange(notification.exchange).filter(|_| view.subject() == Party::Server);
    let on_stream = |x: &Exchange<'_>| view.transport() == Transport::HttpSse && x.server_messages.is_empty();
    if let Some(exchange) = own.filter(|x| !on_stream(x)) {
        let alone = exchange.client_messages.iter().all(|s| s.message.kind() == Kind::Notification);
        let accepted = exchange.status().is_some_and(|status| status < 300);
        let answer = exchange.server_messages.iter().copied().find(|s| s.message.kind().is_response());
        return answer.filter(|_| alone && accepted);
    }
    let here = |s: &MessageAt<'v>| s.connection == notification.connection;
    if let Some(answer) = error_that_names(view, notification) {
        return Some(answer);
    }
    let answer = view.error_without_id_after(notification.event, notification.connection)?;
    let requests = view.by(view.subject().peer()).filter(|s| here(s) && s.event < answer.event);
    let last = view.by(view.subject().peer()).rfind(|s| here(s) && s.event < answer.event);
    let mut requests = requests.filter(|s| s.message.kind() == Kind::Request);
    let open = requests.any(|r| view.answer(r).is_none_or(|a| a.event > answer.event));
    let unreadable = view.invalid_by_peer().any(|g| g.connection == notification.connection && g.event < answer.event);
    // What HTTP refused may have an error on the stream too.
    let taken = own.is_none_or(Exchange::succeeded);
    let is_last = last.is_some_and(|last| last.event == notification.event);
    (taken && is_last && !open && !unreadable && !notification.batched && view.is_fully_seen(notification.connection))
        .then_some(answer)
}

/// The error without an id that says the method of a notification, where nothing else had that method: whatever else is open,
/// it is meant by it.
fn error_that_names<'v>(view: &View<'v>, notification: MessageAt<'v>) -> Option<MessageAt<'v>> {
    let here = |s: &MessageAt<'v>| s.connection == notification.connection;
    let method = notification.message.method().filter(|method| method.starts_with("notifications/"))?;
    let answer = view.error_without_id_after(notification.event, notification.connection)?;
    let names = answer.message.text().contains(method) && !notification.batched && !answer.batched;
    let unreadable =
        view.invalid_by_peer().any(|g| g.connection == notification.connection && g.malformed.names_method);
    let asked =
        || view.by(view.subject().peer()).any(|s| here(&s) && s.message.kind() == Kind::Request && s.is(method));
    (names && !unreadable && !asked() && view.is_fully_seen(notification.connection)).then_some(answer)
}

fn no_id(view: &View<'_>) -> Verdict {
    let named = |method: Option<&str>| method.is_some_and(|m| m.starts_with("notifications/"));
    let requests = view.by_subject().filter(|s| s.message.kind() == Kind::Request && named(s.message.method()));
    let nulls =
        invalid_messages::by_subject(view).into_iter().filter(|f| *f.fault() == Fault::IdNull && named(f.method()));
    let breaches = requests
        .map(|s| s.event)
        .chain(nulls.map(|f| f.event))
        .map(|event| Breach::at(event, "/id", "a notification with an `id`; readers take it for a request"));
    let sent = view.by_subject().filter(|s| s.message.kind() == Kind::Notification).map(|s| s.event);
    Verdict::never(breaches, sent, "the judged party sent no notification")
}
