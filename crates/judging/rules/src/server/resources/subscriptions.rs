//! `server/resources#subscriptions`, since 2026-07-28: who is told that a resource changed.

use serde_json::Value;
use wire::revision::R2026_07_28;
use wire::{Kind, meta};

use crate::rule::{Rule, at, server};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Call, MessageAt, View};

/// The notification.
const UPDATED: &str = "notifications/resources/updated";

/// After this time (microseconds) nothing is explained any more by messages that crossed.
const SPARE: u64 = 500_000;

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    server("resources.updates-delivered")
        .says(
            R2026_07_28,
            at("server/resources", "subscriptions"),
            "A server SHOULD announce a change of a resource on every open subscription that watches it.",
        )
        .timed()
        .how("Watches a resource by two subscriptions of one connection, and looks for changes that only one is told of.")
        .fix("Keep a list of all open subscriptions, and go through the whole of it when a resource changes.")
        .judge(delivered),
];

fn uri<'v>(sent: &MessageAt<'v>) -> Option<&'v str> {
    sent.message.params()?.get("uri")?.as_str()
}

fn updates<'v>(view: &View<'v>) -> Vec<MessageAt<'v>> {
    view.notifications(UPDATED).filter(|sent| view.is_current(*sent)).collect()
}

/// An acknowledged subscription to resources.
struct Watch<'v> {
    call: Call<'v>,
    id: &'v Value,
    begun: MessageAt<'v>,
    uris: Vec<&'v str>,
}

fn watches<'v>(view: &View<'v>) -> Vec<Watch<'v>> {
    let watch = |sent: MessageAt<'v>| {
        let params = sent.message.params()?;
        let uris = params.get("notifications")?.get("resourceSubscriptions")?.as_array()?;
        let id = params.get("_meta")?.get(meta::SUBSCRIPTION_ID)?;
        let asked = |call: &Call<'v>| {
            call.request.connection == sent.connection && call.request.message.value().get("id") == Some(id)
        };
        let call = view.calls("subscriptions/listen").find(asked)?;
        Some(Watch { call, id, begun: sent, uris: uris.iter().filter_map(Value::as_str).collect() })
    };
    view.notifications("notifications/subscriptions/acknowledged").filter_map(watch).collect()
}

/// When a subscription was certainly listened to no more, in microseconds; `None` where nobody ended it.
fn ended(view: &View<'_>, watch: &Watch<'_>) -> Option<u64> {
    let request = watch.call.request;
    let cancelled = view.messages().filter(|sent| {
        sent.connection == request.connection
            && sent.message.kind() == Kind::Notification
            && sent.is("notifications/cancelled")
            && sent.message.params().and_then(|p| p.get("requestId")) == Some(watch.id)
    });
    let closed = view.closed_after(request.event, request.exchange).filter(|_| request.exchange != 0);
    let ends = cancelled.map(|sent| sent.event).chain(watch.call.response.map(|r| r.event)).chain(closed);
    ends.map(|event| view.frame(event).at).min()
}

/// Whether a change was announced on a subscription.
fn is_on(watch: &Watch<'_>, sent: &MessageAt<'_>) -> bool {
    let named = sent.message.params().and_then(|p| p.get("_meta")?.get(meta::SUBSCRIPTION_ID));
    sent.connection == watch.call.request.connection && named == Some(watch.id)
}

fn delivered(view: &View<'_>) -> Verdict {
    let (watches, updates) = (watches(view), updates(view));
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for told in &watches {
        for sent in updates.iter().filter(|sent| is_on(told, sent)) {
            for other in watches.iter().filter(|other| other.id != told.id) {
                judged.extend(judge_pair(view, &updates, sent, (told, other)));
            }
        }
    }
    Verdict::of(judged, "no resource changed that two subscriptions watched")
}

/// What a change that one subscription was told of says about another one.
fn judge_pair(
    view: &View<'_>,
    updates: &[MessageAt<'_>],
    sent: &MessageAt<'_>,
    (told, other): (&Watch<'_>, &Watch<'_>),
) -> Option<(usize, Kept)> {
    // What comes at once may only say how things stand.
    let both = told.begun.done.max(other.begun.done);
    let changed = uri(sent).filter(|_| sent.done > both + SPARE)?;
    let here = other.call.request.connection == sent.connection && other.uris.contains(&changed);
    if !here || ended(view, other).is_some_and(|end| end < sent.done + SPARE) {
        return None;
    }
    // A server may hold some back for a while: only one that hears nothing at all is not told.
    let heard = |note: &&MessageAt<'_>| is_on(other, note) && uri(note) == Some(changed) && note.done > both;
    if let Some(note) = updates.iter().find(heard) {
        return Some((note.event, Ok(())));
    }
    let window = view.window_after(sent.event, sent.connection)?;
    let why = format!("the subscription {} watches `{changed}`, too, and is not told", other.id);
    let long = view.frame(window.closed).at > sent.done + SPARE;
    long.then(|| (sent.event, Err(Breach::at(sent.event, "/params/uri", why))))
}
