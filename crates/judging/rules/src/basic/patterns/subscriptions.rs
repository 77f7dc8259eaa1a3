//! The page `basic/patterns/subscriptions`.

use serde_json::Value;
use wire::meta;
use wire::revision::R2026_07_28;
use wire::trace::{Closed, Content};
use wire::{Kind, Party, Transport};

use crate::reading::liveness::client_continues;
use crate::rule::{Rule, at, client, server};
use crate::server::resources::subscriptions::{Listed, UPDATED};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Call, Exchange, MessageAt, View};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Notifications that only a subscription brings, and the filter that asks for them.
const FILTERS: [(&str, &str); 4] = [
    ("notifications/tools/list_changed", "toolsListChanged"),
    ("notifications/prompts/list_changed", "promptsListChanged"),
    ("notifications/resources/list_changed", "resourcesListChanged"),
    ("notifications/resources/updated", "resourceSubscriptions"),
];

/// The page's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("subscriptions.nothing-unasked")
        .says(
            R2026_07_28,
            at("basic/patterns/subscriptions", "opening-a-stream"),
            "A server MUST NOT send notifications of a type that the client has not asked for.",
        )
        .how("Compares changes that the server announced with the filters of the client's `subscriptions/listen` requests; of \
              resources those that the server lists, and that can be no part of a watched one.")
        .fix("Check each subscription's filter before sending to it.")
        .judge(nothing_unrequested),
    server("subscriptions.acknowledged")
        .says(
            R2026_07_28,
            at("basic/patterns/subscriptions", "acknowledgment"),
            "A server that accepts a subscription MUST acknowledge it.",
        )
        .timed()
        .how("Looks for the acknowledgement of every `subscriptions/listen` that was not refused, until a quiet window closes or the subscription is answered. It holds no type of notification that was not asked for: what it names is a subset.")
        .fix("Send `notifications/subscriptions/acknowledged` as soon as the subscription is open.")
        .judge(acknowledged),
    server("subscriptions.only-supported-acknowledged")
        .says(
            R2026_07_28,
            at("basic/patterns/subscriptions", "acknowledgment"),
            "An acknowledgement SHOULD leave out the types of notification that the server does not support.",
        )
        .how("Compares what acknowledgements name with the capabilities that the server declares, where what it does not declare was asked for, too.")
        .fix("Take only those types over from the request that your capabilities name.")
        .judge(only_supported),
    server("subscriptions.acknowledged-first")
        .says(
            R2026_07_28,
            at("basic/patterns/subscriptions", "acknowledgment"),
            "The acknowledgement MUST be the first message of a subscription.",
        )
        .how("Looks at the first message that carries the id of a subscription, or that comes on its stream.")
        .fix("Hold notifications back until the acknowledgement is sent.")
        .judge(acknowledged_first),
    server("subscriptions.id-carried")
        .says(
            R2026_07_28,
            // The MUST is in basic/index on `_meta`; what it means is said here.
            at("basic/patterns/subscriptions", "receiving-notifications"),
            "Every notification of a subscription MUST carry the id of its request in `_meta`.",
        )
        .how("Looks for `io.modelcontextprotocol/subscriptionId` in acknowledgements, in changes that the server announces, \
              and in everything on the stream of a `subscriptions/listen` request.")
        .fix("Put the JSON-RPC id of the `subscriptions/listen` request, with its type, into `_meta`.")
        .judge(id_carried),
    server("subscriptions.kept-open")
        .says(
            R2026_07_28,
            at("basic/patterns/subscriptions", ""),
            "A subscription stays open until somebody ends it: a server SHOULD NOT answer it as soon as it is acknowledged.",
        )
        .how("Looks for subscriptions that the server answered within a second of their acknowledgement, each of at least \
              two, while it went on serving the connection.")
        .fix("Answer `subscriptions/listen` only when the subscription ends, such as when the server shuts down.")
        .judge(kept_open),
    server("subscriptions.graceful-close")
        .says(
            R2026_07_28,
            at("basic/patterns/subscriptions", "graceful-closure"),
            "A server that ends a subscription SHOULD answer its request before it closes the stream.",
        )
        .how("Over HTTP: looks for the answer on streams of subscriptions that the server ended normally. Elsewhere: \
              looks for the answer to subscriptions that the server cancelled.")
        .fix("Send a final result for the `subscriptions/listen` request, then close.")
        .judge(graceful),
    server("subscriptions.concurrent-served")
        .says(
            R2026_07_28,
            at("basic/patterns/subscriptions", "multiple-concurrent-subscriptions"),
            "A client MAY have several subscriptions at a time: a server serves the second as well as the first.",
        )
        .how("Looks for the acknowledgement of a subscription that is opened while another one is open.")
        .fix("Keep the subscriptions of a client apart by the ids of their requests.")
        .judge(concurrent),
    client("subscriptions.partial-acknowledgement-taken")
        .says(
            R2026_07_28,
            at("basic/patterns/subscriptions", "acknowledgment"),
            "A client SHOULD look at what was acknowledged, and do without what was not.",
        )
        .how("Needs a server that acknowledges less than a subscription asked for, and checks whether the client continues.")
        .fix("Read `notifications` of the acknowledgement, and poll for what it leaves out, or do without.")
        .judge(partial_taken),
    client("subscriptions.renewed")
        .says(
            R2026_07_28,
            at("basic/patterns/subscriptions", "graceful-closure"),
            "Over stdio, a client that comes back on a new connection MUST subscribe again.",
        )
        .on(&[Transport::Stdio])
        .how("Needs a server that ends while a subscription is open, and checks whether the client subscribes again on the connection that it opens next, before it leaves.")
        .fix("Keep what you have subscribed to, and send `subscriptions/listen` again on the new connection.")
        .judge(renewed),
];

fn listens<'v>(view: &View<'v>) -> Vec<Call<'v>> {
    view.calls("subscriptions/listen").collect()
}

fn id<'v>(sent: &MessageAt<'v>) -> Option<&'v Value> {
    sent.message.value().get("id")
}

fn subscription<'v>(sent: &MessageAt<'v>) -> Option<&'v Value> {
    sent.message.params()?.get("_meta")?.get(meta::SUBSCRIPTION_ID)
}

fn asks_for(call: &Call<'_>, filter: &str) -> bool {
    let expected = call.request.message.params().and_then(|p| p.get("notifications")?.get(filter));
    expected.is_some_and(|expected| expected == true || expected.as_array().is_some_and(|uris| !uris.is_empty()))
}

/// The filter that a notification needs, where it is one that only a subscription brings.
fn filter_of(sent: &MessageAt<'_>) -> Option<&'static str> {
    FILTERS.into_iter().find(|(method, _)| sent.is(method)).map(|(_, filter)| filter)
}

fn notifications<'v>(view: &View<'v>) -> Vec<MessageAt<'v>> {
    view.by_subject().filter(|sent| sent.message.kind() == Kind::Notification && view.is_current(*sent)).collect()
}

/// The resources that a subscription asks for.
fn watched<'v>(call: &Call<'v>) -> impl Iterator<Item = &'v str> + use<'v> {
    let uris = call.request.message.params().and_then(|p| p.get("notifications")?.get("resourceSubscriptions"));
    uris.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn nothing_unrequested(view: &View<'_>) -> Verdict {
    let (listens, listed) = (listens(view), Listed::of(view));
    let judged = notifications(view).into_iter().filter_map(|sent| {
        let filter = filter_of(&sent)?;
        // An id that is not a subscription's is left to another rule.
        let carried = subscription(&sent).filter(|of| listens.iter().any(|call| id(&call.request) == Some(*of)));
        let mine = |call: &&Call<'_>| match carried {
            Some(of) => id(&call.request) == Some(of) && call.request.connection == sent.connection,
            None if sent.exchange != 0 => call.request.exchange == sent.exchange,
            None => call.request.connection == sent.connection,
        };
        if !listens.iter().filter(mine).any(|call| asks_for(call, filter)) {
            let why = format!("no subscription asked for it with `{filter}`");
            return Some((sent.event, Err(sent.breach("/method", why))));
        }
        let updated = sent.message.params().and_then(|p| p.get("uri")?.as_str()).filter(|_| sent.is(UPDATED));
        let Some(updated) = updated else { return Some((sent.event, Ok(()))) };
        let other = listens.iter().filter(mine).flat_map(watched).all(|uri| listed.are_apart(uri, updated));
        let why = format!("no subscription watches `{updated}`");
        Some((sent.event, if other { Err(sent.breach("/params/uri", why)) } else { Ok(()) }))
    });
    Verdict::of(judged, "no change was announced")
}

/// The messages of a subscription: those with its id, and over HTTP whatever comes on its stream.
fn messages<'v>(view: &View<'v>, call: &Call<'v>) -> Vec<MessageAt<'v>> {
    let mine = |sent: &MessageAt<'_>| {
        let carries = subscription(sent).is_some() && subscription(sent) == id(&call.request);
        let here = sent.connection == call.request.connection && sent.event > call.request.event;
        here && if sent.exchange == 0 { carries } else { sent.exchange == call.request.exchange }
    };
    notifications(view).into_iter().filter(mine).collect()
}

fn acknowledged(view: &View<'_>) -> Verdict {
    let open = listens(view).into_iter().filter(|call| view.judges_content(call) && call.error().is_none());
    let judged = open.filter_map(|call| {
        if let Some(sent) = acknowledgement(view, &call) {
            let kept = beyond(&call, &sent).map_or(Ok(()), |filter| {
                let why = "this was not asked for; what is acknowledged is a subset of what was";
                Err(sent.breach(format!("/params/notifications/{filter}"), why))
            });
            return Some((sent.event, kept));
        }
        // Refused by HTTP itself, before any message. Where not even a head came, nothing was.
        let refused = |x: &Exchange<'_>| x.response.is_some() && !x.is_stream();
        if view.exchange(call.request.exchange).is_some_and(refused) {
            return None;
        }
        // An acknowledgement that lacks its id is left to another rule.
        let nameless = view.notifications(ACKNOWLEDGED).any(|sent| subscription(&sent) != id(&call.request));
        let window = view.window_after(call.request.event, call.request.connection).map(|window| window.closed);
        let end = call.response.map(|response| response.event).or(window).filter(|_| !nameless)?;
        // Over HTTP the exchange may have broken off before anything came. That we gave up on it is not an excuse.
        let number = call.request.exchange;
        let theirs = |closed: &usize| *closed < end && view.frame(*closed).from != Party::Client;
        let broke_off = view.closed_after(call.request.event, number).as_ref().is_some_and(theirs);
        if number != 0 && call.response.is_none() && broke_off {
            return None;
        }
        Some((end, Err(Breach::at(call.request.event, "", "the subscription was not acknowledged"))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no subscription was opened and waited for")
}

/// What an acknowledgement grants that its subscription did not ask for.
fn beyond(call: &Call<'_>, sent: &MessageAt<'_>) -> Option<&'static str> {
    FILTERS.into_iter().map(|(_, filter)| filter).find(|filter| grants(sent, filter) && !asks_for(call, filter))
}

/// The capability that stands for each filter.
const SUPPORTED_BY: [(&str, &str); 4] = [
    ("toolsListChanged", "tools.listChanged"),
    ("promptsListChanged", "prompts.listChanged"),
    ("resourcesListChanged", "resources.listChanged"),
    ("resourceSubscriptions", "resources.subscribe"),
];

fn only_supported(view: &View<'_>) -> Verdict {
    const UNSEEN: &str = "no subscription asked for what the server does not declare, and was acknowledged";
    if view.server_capabilities().is_none() {
        return Verdict::NotSeen(UNSEEN.to_owned());
    }
    let undeclared = SUPPORTED_BY.into_iter().filter(|(_, capability)| view.capability(capability).is_none());
    let undeclared: Vec<_> = undeclared.map(|(filter, _)| filter).collect();
    let judged = listens(view).into_iter().filter_map(|call| {
        let sent = acknowledgement(view, &call)?;
        let mut asked = undeclared.iter().filter(|filter| asks_for(&call, filter)).peekable();
        asked.peek()?;
        let granted = asked.find(|filter| grants(&sent, filter));
        let why = "the server does not declare that it sends this";
        let kept = granted.map_or(Ok(()), |filter| Err(sent.breach(format!("/params/notifications/{filter}"), why)));
        Some((sent.event, kept))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), UNSEEN)
}

/// Whether an acknowledgement names a filter, and not expressly as off.
fn grants(sent: &MessageAt<'_>, filter: &str) -> bool {
    let is_on = |value: &Value| *value == true || value.as_array().is_some_and(|uris| !uris.is_empty());
    sent.message.params().and_then(|params| params.get("notifications")?.get(filter)).is_some_and(is_on)
}

fn acknowledged_first(view: &View<'_>) -> Verdict {
    let judged = listens(view).into_iter().filter_map(|call| {
        let first = *messages(view, &call).first()?;
        let why = "this comes before the acknowledgement of the subscription";
        Some((first.event, if first.is(ACKNOWLEDGED) { Ok(()) } else { Err(first.breach("/method", why)) }))
    });
    Verdict::of(judged, "no subscription brought a message")
}

fn id_carried(view: &View<'_>) -> Verdict {
    let listens = listens(view);
    let judged = notifications(view).into_iter().filter_map(|sent| {
        let stream = listens.iter().find(|c| sent.exchange != 0 && c.request.exchange == sent.exchange);
        let due = stream.is_some() || sent.is(ACKNOWLEDGED) || filter_of(&sent).is_some();
        let carried = subscription(&sent);
        let right = if let Some(call) = stream {
            carried == id(&call.request)
        } else {
            let here = |call: &&Call<'_>| call.request.connection == sent.connection;
            listens.iter().filter(here).any(|call| carried.is_some() && carried == id(&call.request))
        };
        let pointer = "/params/_meta/io.modelcontextprotocol~1subscriptionId";
        let why = match carried {
            Some(found) => format!("{found} is not the id of the subscription's request"),
            None => "the notification carries no subscription id".to_owned(),
        };
        // Without any subscription there is no id that it could carry.
        (due && !listens.is_empty()).then(|| (sent.event, if right { Ok(()) } else { Err(sent.breach(pointer, why)) }))
    });
    Verdict::of(judged, "no notification came on a subscription")
}

/// A subscription that is answered sooner than this (microseconds) after its acknowledgement brought nothing.
const AT_ONCE: u64 = 1_000_000;

fn kept_open(view: &View<'_>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    let mut at_once = Vec::new();
    for call in listens(view).into_iter().filter(|call| view.judges_content(call) && call.error().is_none()) {
        let Some(begun) = acknowledgement(view, &call) else { continue };
        let ended = call.response.filter(|answer| {
            let ours = view.cancellation_of(call.request).is_some_and(|sent| sent.event < answer.event);
            !ours && view.answered_after(answer.event, answer.connection).is_some()
        });
        match ended.filter(|answer| answer.done < begun.done + AT_ONCE) {
            Some(answer) => at_once.push(answer),
            None if ended.is_none() && call.response.is_none() => judged.push((begun.event, Ok(()))),
            None => {}
        }
    }
    if let (true, [_, second, ..]) = (judged.is_empty(), at_once.as_slice()) {
        let why = "this subscription, like each before it, is over as soon as it is acknowledged";
        judged.push((second.event, Err(second.breach("/result", why))));
    }
    Verdict::of(judged, "no subscription was acknowledged and left open")
}

fn graceful(view: &View<'_>) -> Verdict {
    let by = if view.transport() == Transport::StreamableHttp { ended_stream } else { cancelled_by_server };
    let judged = listens(view).into_iter().filter(|call| call.error().is_none()).filter_map(|call| {
        let event = by(view, &call)?;
        let breach = || Err(Breach::at(event, "", "the server ended a subscription without answering its request"));
        Some((event, if call.response.is_some() { Ok(()) } else { breach() }))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no subscription was ended by the server")
}

/// Where the server ended the stream of a subscription normally.
fn ended_stream(view: &View<'_>, call: &Call<'_>) -> Option<usize> {
    let exchange = view.exchange(call.request.exchange).filter(|x| x.is_stream())?;
    let (event, by, how) = exchange.closed?;
    (by == Party::Server && *how == Closed::End && !messages(view, call).is_empty()).then_some(event)
}

/// Where the server cancelled a subscription and, unless it answered, was listened to afterwards or ended.
fn cancelled_by_server(view: &View<'_>, call: &Call<'_>) -> Option<usize> {
    let connection = call.request.connection;
    let mine = |sent: &MessageAt<'_>| {
        sent.connection == connection && sent.message.params().and_then(|p| p.get("requestId")) == id(&call.request)
    };
    let sent = view.notifications("notifications/cancelled").find(mine)?;
    let window = || view.window_after(sent.event, connection).map(|window| window.closed);
    let ended = || {
        view.frames().skip(sent.event).any(|(_, frame)| {
            frame.connection == connection && matches!(frame.content, Content::Closed(_) | Content::Exit { .. })
        })
    };
    (call.response.is_some() || window().is_some() || ended()).then_some(sent.event)
}

/// Whether and where a subscription was acknowledged.
fn acknowledgement<'v>(view: &View<'v>, call: &Call<'v>) -> Option<MessageAt<'v>> {
    messages(view, call).into_iter().find(|sent| sent.is(ACKNOWLEDGED))
}

fn concurrent(view: &View<'_>) -> Verdict {
    let listens: Vec<_> = listens(view).into_iter().filter(|call| view.judges_content(call)).collect();
    let judged = listens.iter().enumerate().filter_map(|(place, second)| {
        let mut open = listens[..place].iter().rev().take(REACH).filter(|first| {
            first.request.connection == second.request.connection
                && acknowledgement(view, first).is_some_and(|sent| sent.event < second.request.event)
                && is_open(view, first, second.request.event)
        });
        open.next()?;
        let why = "a subscription is refused while another one is open";
        // What is refused for a resource may not exist; lists there are.
        let lists = second.request.message.params().and_then(|p| p.get("notifications")?.as_object());
        let plain = lists.is_some_and(|filters| filters.values().all(Value::is_boolean));
        match (acknowledgement(view, second), second.response.filter(|_| plain && second.error().is_some())) {
            (Some(sent), _) => Some((sent.event, Ok(()))),
            (None, Some(refusal)) => Some((refusal.event, Err(refusal.breach("/error", why)))),
            (None, None) => None,
        }
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no subscription was opened while another was open")
}

/// How many subscriptions back it is looked for one that is open.
const REACH: usize = 16;

/// Whether neither party had ended a subscription before `event`.
fn is_open(view: &View<'_>, call: &Call<'_>, event: usize) -> bool {
    let answered = call.response.is_some_and(|response| response.event < event);
    let number = call.request.exchange;
    let closed = number != 0 && view.closed_after(call.request.event, number).is_some_and(|closed| closed < event);
    let taken_back = view.cancellation_of(call.request).is_some_and(|sent| sent.event < event);
    !answered && !closed && !taken_back
}

fn partial_taken(view: &View<'_>) -> Verdict {
    let acknowledgements = view.by(Party::Server).filter(|sent| sent.is(ACKNOWLEDGED));
    let less = |sent: &MessageAt<'_>| {
        let mut own =
            view.client_calls("subscriptions/listen").filter(|call| call.request.connection == sent.connection);
        let Some(call) = own.find(|call| subscription(sent).is_some() && id(&call.request) == subscription(sent))
        else {
            return false;
        };
        let granted = sent.message.params().and_then(|p| p.get("notifications"));
        let has = |filter: &str| granted.and_then(|all| all.get(filter)).is_some_and(|one| *one != false);
        FILTERS.into_iter().any(|(_, filter)| asks_for(&call, filter) && !has(filter))
    };
    let events: Vec<_> = acknowledgements.filter(less).map(|sent| sent.event).collect();
    client_continues(
        view,
        events,
        "an acknowledgement of less than was asked for",
        "no subscription was acknowledged in part, or the client sent nothing afterwards",
    )
}

fn renewed(view: &View<'_>) -> Verdict {
    let ended = |connection: u32| {
        view.frames().position(|(_, frame)| {
            let over = matches!(frame.content, Content::Closed(_) | Content::Exit { .. });
            over && frame.connection == connection && frame.exchange == 0 && frame.from == Party::Server
        })
    };
    let judged = view.client_calls("subscriptions/listen").filter_map(|call| {
        let was = call.request.connection;
        let end = ended(was).filter(|end| *end > call.request.event && call.response.is_none())?;
        let next = view.by(Party::Client).find(|sent| sent.event > end && sent.connection > was)?.connection;
        let mut there = view.client_calls("subscriptions/listen").filter(|other| other.request.connection == next);
        if let Some(other) = there.next() {
            return Some((other.request.event, Ok(())));
        }
        // Only who continues there has come back.
        let at_work = view.calls_by(Party::Client).find(|other| {
            other.request.connection == next && other.response.is_some() && !other.request.is("server/discover")
        })?;
        let left = view.watched_after(at_work.request.event, next)?;
        let why = "the subscription ended with its server, and was not made again on this connection";
        Some((left, Err(at_work.request.breach("", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no server ended under a subscription whose client came back")
}
