//! `server/resources#subscriptions`: which subscribers are notified when a resource changes, and which are not.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::revision::{R2024_11_05, R2026_07_28};
use wire::{Kind, Transport, meta};

use crate::rule::{Anchor, Rule, at, server};
use crate::server::listing::{RESOURCES, items};
use crate::verdict::{Breach, Kept, Located, Verdict};
use crate::view::{Call, MessageAt, View};

const SUBSCRIPTIONS: Anchor = at("server/resources", "subscriptions");

/// The notification.
pub(crate) const UPDATED: &str = "notifications/resources/updated";

/// After this time (microseconds) nothing is explained any more by messages that crossed.
const SPARE: u64 = 500_000;

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    server("resources.updates-subscribed")
        .says(
            R2024_11_05,
            SUBSCRIPTIONS,
            "A server SHOULD announce an updated resource only to those who subscribed to it.",
        )
        .gone(R2026_07_28)
        .about(&["resources"])
        .how("Compares every `notifications/resources/updated` with what its connection had subscribed to, and was not \
              confirmed to have unsubscribed from for half a second. Over Streamable HTTP servers without sessions are \
              passed over, and so are parts of a resource that was subscribed to.")
        .fix("Keep the subscriptions of each session apart, and drop one when `resources/unsubscribe` names it.")
        .judge(subscribed),
    server("resources.updates-delivered")
        .says(
            R2026_07_28,
            SUBSCRIPTIONS,
            "A server SHOULD announce a change of a resource on every open subscription that watches it.",
        )
        .about(&["resources"])
        .timed()
        .how("Watches a resource by two subscriptions of one connection, and looks for changes that only one of them reports.")
        .fix("Keep a list of all open subscriptions, and go through the whole of it when a resource changes.")
        .judge(delivered),
];

fn uri<'v>(sent: &MessageAt<'v>) -> Option<&'v str> {
    sent.message.params()?.get("uri")?.as_str()
}

fn updates<'v>(view: &View<'v>) -> Vec<MessageAt<'v>> {
    view.notifications(UPDATED).filter(|sent| view.is_current(*sent)).collect()
}

/// Tells resources apart by what the server lists.
pub(crate) struct Listed<'v>(Vec<&'v str>);

impl<'v> Listed<'v> {
    /// All URIs that the server listed.
    pub(crate) fn of(view: &View<'v>) -> Self {
        let listed = items(view, &RESOURCES).into_iter().filter_map(|item| item.value.get("uri")?.as_str());
        Self(listed.collect())
    }

    /// Whether `updated` is a resource on the server's own list that can be no part of `watched`, which is one, too: a part
    /// lies below it, or has another scheme.
    pub(crate) fn are_apart(&self, watched: &str, updated: &str) -> bool {
        let alike = match (watched.split_once("://"), updated.split_once("://")) {
            (Some((one, path)), Some((other, deeper))) => one == other && !lies_below(path, deeper),
            _ => false,
        };
        let plain = !updated.contains(['?', '#']);
        watched != updated && alike && plain && self.0.contains(&watched) && self.0.contains(&updated)
    }
}

/// Whether a path lies below another: what follows the beginning is no more of the same word or number, as `10` is of `1`.
fn lies_below(path: &str, deeper: &str) -> bool {
    let path = path.trim_end_matches('/');
    let goes_on = |rest: &str| path.ends_with(char::is_alphanumeric) && rest.starts_with(char::is_alphanumeric);
    deeper.strip_prefix(path).is_some_and(|rest| !goes_on(rest))
}

/// Whether the server can tell the clients of two connections apart.
fn is_told_apart(view: &View<'_>, connection: u32) -> bool {
    let in_session = || view.exchanges().iter().any(|x| x.connection == connection && x.session().is_some());
    view.transport() != Transport::StreamableHttp || in_session()
}

/// What a connection had subscribed to when a message came; `None` where that is not known.
fn in_force<'v>(view: &View<'v>, sent: &MessageAt<'v>) -> Option<Vec<&'v str>> {
    let mut calls: Vec<Call<'v>> =
        view.calls("resources/subscribe").chain(view.calls("resources/unsubscribe")).collect();
    calls.retain(|call| call.request.connection == sent.connection && call.request.event < sent.event);
    calls.sort_by_key(|call| call.request.event);
    let mut last: BTreeMap<&str, Call<'v>> = BTreeMap::new();
    for call in calls {
        if let Some(uri) = uri(&call.request).filter(|_| call.error().is_none()) {
            last.insert(uri, call);
        }
    }
    let mut open = Vec::new();
    for (uri, call) in last {
        if call.request.is("resources/subscribe") {
            open.push(uri);
            continue;
        }
        let over = call.response.filter(|_| call.result().is_some()).filter(|r| r.done + SPARE < sent.done)?;
        // What waited for a stream may be older than the end of the subscription.
        let stream = view.exchange(sent.exchange).map(Located::event);
        stream.is_none_or(|opened| opened < over.event).then_some(())?;
    }
    Some(open)
}

fn subscribed(view: &View<'_>) -> Verdict {
    let listed = Listed::of(view);
    let judged = updates(view).into_iter().filter_map(|sent| {
        let updated = uri(&sent).filter(|_| is_told_apart(view, sent.connection))?;
        let open = in_force(view, &sent)?;
        if open.contains(&updated) {
            return Some((sent.event, Ok(())));
        }
        let other = open.iter().all(|watched| listed.are_apart(watched, updated));
        let why = format!("nothing was subscribed to on this connection that `{updated}` could belong to");
        other.then(|| (sent.event, Err(sent.breach("/params/uri", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no resource was announced to have changed")
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

/// What a change reported to one subscription says about another one.
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
