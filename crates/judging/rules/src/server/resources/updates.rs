//! `server/resources#subscriptions`, before 2026-07-28: of which resources a server announces updates.

use serde_json::Value;
use wire::revision::{R2024_11_05, R2026_07_28};

use crate::rule::{Rule, at, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, MessageAt, View};

/// The rules.
pub(crate) const RULES: &[Rule] = &[server("resources.updates-only-subscribed")
    // The page shows it; the schema says it of the notification.
    .says(
        R2024_11_05,
        at("server/resources", "subscriptions"),
        "A server SHOULD announce updates only of resources that the client has subscribed to.",
    )
    .gone(R2026_07_28)
    .about(&["resources.subscribe"])
    .timed()
    .how("Compares every `notifications/resources/updated` with the client's `resources/subscribe` and `resources/unsubscribe` requests of the same session. A URI that begins with a subscribed one may be a part of it.")
    .fix("Keep subscriptions by session, and remove them on `resources/unsubscribe`.")
    .judge(only_subscribed)];

/// After this time (microseconds) what follows an answer is no longer explained by messages that crossed.
const SPARE: u64 = 500_000;

fn uri<'v>(sent: MessageAt<'v>) -> Option<&'v str> {
    sent.message.params()?.get("uri").and_then(Value::as_str)
}

fn only_subscribed(view: &View<'_>) -> Verdict {
    let known = |sent: &MessageAt<'_>| {
        view.handshake(sent.connection).is_some() && view.is_fully_seen(sent.connection) && view.is_current(*sent)
    };
    let notes = view.notifications("notifications/resources/updated").filter(known);
    let judged = notes.filter_map(|sent| {
        let updated = uri(sent)?;
        let covers = |call: &Call<'_>| {
            let here = call.request.connection == sent.connection && call.request.event < sent.event;
            here && uri(call.request).is_some_and(|uri| updated.starts_with(uri))
        };
        let mut subscriptions = view.calls("resources/subscribe").filter(covers).peekable();
        let kept: Kept = if subscriptions.peek().is_none() {
            Err(sent.breach("/params/uri", "no `resources/subscribe` of this session named it"))
        } else if subscriptions.all(|call| is_over(view, &call, sent)) {
            Err(sent.breach("/params/uri", "its subscription was refused, or ended by `resources/unsubscribe` before"))
        } else {
            Ok(())
        };
        Some((sent.event, kept))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no update of a resource was announced")
}

/// Whether a subscription was refused, or taken back, long enough before a message.
fn is_over(view: &View<'_>, call: &Call<'_>, sent: MessageAt<'_>) -> bool {
    let before = |answer: MessageAt<'_>| answer.event < sent.event && answer.done + SPARE < sent.done;
    let refused = call.error().is_some() && call.response.is_some_and(before);
    let ends = |end: Call<'_>| {
        let same = end.request.connection == sent.connection && uri(end.request) == uri(call.request);
        same && end.request.event > call.request.event && end.result().is_some() && end.response.is_some_and(before)
    };
    refused || view.calls("resources/unsubscribe").any(ends)
}
