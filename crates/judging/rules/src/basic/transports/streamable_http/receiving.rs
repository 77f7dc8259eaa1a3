//! What an event stream that answers a POST may carry, and when it ends.

use serde_json::Value;
use wire::revision::{R2025_03_26, R2026_07_28};
use wire::{Era, Kind, Party, Transport};

use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::{Breach, Located, Verdict};
use crate::view::{Exchange, MessageAt, View, Window};

const HTTP: &[Transport] = &[Transport::StreamableHttp];
const LEGACY_SENDING: Anchor = at("basic/transports", "sending-messages-to-the-server");
const RECEIVING: Anchor = at("basic/transports/streamable-http", "receiving-messages");

/// How long, in microseconds, a stream must have stayed open after its response before "does not end it" is said.
const GRACE: u64 = 1_000_000;

/// The section's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("http.stream-messages-relate")
        .on(HTTP)
        .says(R2025_03_26, LEGACY_SENDING, "Messages on a stream before the response SHOULD relate to the request.")
        .says(R2026_07_28, RECEIVING, "Notifications on a stream before the response MUST relate to the request.")
        .how("Compares progress tokens (and, in the modern era, change notifications) with the request of the stream.")
        .fix("Send progress on the stream of the request that it is about, and changes on a `subscriptions/listen` stream.")
        .judge(stream_messages_relate),
    server("http.no-requests-on-streams")
        .on(HTTP)
        .says(R2026_07_28, RECEIVING, "A server MUST NOT send requests on a stream.")
        .how("Calls tools, reads resources and gets prompts, and looks for requests by the server.")
        .fix("Ask for what is needed from the client in an `input_required` result instead.")
        .judge(no_requests_on_streams),
    server("http.response-ends-stream")
        .on(HTTP)
        .says(R2025_03_26, LEGACY_SENDING, "Once the response was sent, the server SHOULD end the stream.")
        .says(R2026_07_28, RECEIVING, "The response SHOULD end the stream.")
        .timed()
        .how("Reads a stream beyond the response: nothing may follow but its end, and that soon. A stream on which progress on its own request follows is left to `progress.stops`.")
        .fix("Close the stream right after writing the response.")
        .judge(response_ends_stream),
    server("http.stream-unbuffered")
        .on(HTTP)
        .says(R2026_07_28, RECEIVING, "A stream SHOULD be sent with the header `X-Accel-Buffering: no`.")
        .how("Looks at the headers of each event stream.")
        .fix("Add `X-Accel-Buffering: no` wherever the content type is `text/event-stream`.")
        .judge(stream_unbuffered),
    server("http.closed-stream-cancels")
        .on(HTTP)
        .says(
            R2026_07_28,
            at("basic/transports/streamable-http", "cancellation"),
            "After the client closed a request's stream, the server MUST NOT send anything more for the request.",
        )
        .how("Cuts a stream, waits, and looks on all other streams for its progress token and its response.")
        .fix("Drop the request's work and output when its stream is closed.")
        .judge(closed_stream_cancels),
];

fn streams<'a, 'v>(view: &'a View<'v>) -> Vec<&'a Exchange<'v>> {
    let mut all = view.endpoint_exchanges();
    all.retain(|x| x.is("POST") && x.is_stream() && x.succeeded() && !x.has_invalid_message);
    all
}

fn token(sent: MessageAt<'_>) -> Option<&Value> {
    sent.message.params()?.get("_meta")?.get("progressToken")
}

/// Whether a notification on the stream of `x` certainly relates to its request, certainly does not, or neither.
fn relates(view: &View<'_>, x: &Exchange<'_>, note: MessageAt<'_>) -> Option<bool> {
    let listens = x.requests().any(|s| s.is("subscriptions/listen"));
    match note.message.method()? {
        "notifications/progress" => {
            let named = note.message.params()?.get("progressToken")?;
            if x.requests().any(|s| token(s) == Some(named)) {
                return Some(true);
            }
            // A token that nobody issued is left to another rule.
            let elsewhere = view.by(Party::Client).any(|s| s.exchange != x.number && token(s) == Some(named));
            elsewhere.then_some(false)
        }
        "notifications/tools/list_changed"
        | "notifications/prompts/list_changed"
        | "notifications/resources/list_changed"
        | "notifications/resources/updated"
            if view.era() == Era::Modern =>
        {
            Some(listens)
        }
        _ => None,
    }
}

fn stream_messages_relate(view: &View<'_>) -> Verdict {
    let mut witnesses = Vec::new();
    for x in streams(view).iter().filter(|x| x.requests().next().is_some()) {
        for note in x.server_messages.iter().filter(|s| s.message.kind() == Kind::Notification) {
            match relates(view, x, *note) {
                Some(true) => witnesses.push(note.event),
                Some(false) => {
                    let why = "does not relate to the request that this stream answers";
                    return Verdict::Broken(note.breach("/method", why));
                }
                None => {}
            }
        }
    }
    Verdict::witnessed(witnesses, "no stream carried a notification that tells what it relates to")
}

/// Whether the legacy handshake was accepted here: then its rules hold for that session.
fn legacy(view: &View<'_>) -> Option<Verdict> {
    let why = "a session was opened with the legacy handshake";
    view.initialized().map(|_| Verdict::NotApplicable(why.to_owned()))
}

fn no_requests_on_streams(view: &View<'_>) -> Verdict {
    if let Some(verdict) = legacy(view) {
        return verdict;
    }
    let streams = streams(view);
    let asks = streams.iter().flat_map(|x| x.server_messages.iter()).filter(|s| s.message.kind() == Kind::Request);
    let offenders: Vec<_> = asks.map(|s| s.breach("/method", "a request by the server")).collect();
    let wants = |x: &&&Exchange<'_>| {
        let method = x.question().and_then(|s| s.message.method());
        matches!(method, Some("tools/call" | "resources/read" | "prompts/get"))
    };
    let witnesses = streams.iter().filter(wants).filter_map(|x| x.responses().next().map(|r| r.event));
    Verdict::never(offenders, witnesses, "no stream answered what the server might want input for")
}

/// Until when a stream is known to have stayed open, or that it ended in order: `None` where neither is known.
fn open_until(view: &View<'_>, x: &Exchange<'_>) -> Option<u64> {
    match x.closed {
        Some((end, Party::Client, _)) => Some(view.frame(end).at),
        Some(_) => None,
        None => {
            let windows = view.windows().iter().filter(|w| w.connection == x.connection);
            windows.map(|w| view.frame(w.closed).at).max()
        }
    }
}

fn response_ends_stream(view: &View<'_>) -> Verdict {
    let mut witnesses = Vec::new();
    for x in streams(view) {
        let answered = x.requests().next().is_some() && x.requests().all(|s| x.response_to(s).is_some());
        let Some(last) = x.responses().last().filter(|_| answered) else { continue };
        let late = x.server_messages.iter().find(|s| s.event > last.event);
        if late.is_some_and(|s| s.is("notifications/progress") && relates(view, x, *s) == Some(true)) {
            continue;
        }
        if let Some(late) = late {
            return Verdict::Broken(late.breach("", "sent on the stream after its response"));
        }
        let waited = open_until(view, x).map_or(0, |until| until.saturating_sub(last.done));
        if x.ended() {
            witnesses.push(x.closed.map_or(last.event, |(end, ..)| end));
        } else if waited >= GRACE {
            let why = format!("the stream stayed open for {} ms after the response", waited / 1000);
            return Verdict::Broken(Breach::at(last.event, "", why));
        }
    }
    Verdict::witnessed(witnesses, "no stream was read beyond its response")
}

fn stream_unbuffered(view: &View<'_>) -> Verdict {
    if let Some(verdict) = legacy(view) {
        return verdict;
    }
    Verdict::every(streams(view), "no stream was opened", |x| match x.response_header("x-accel-buffering") {
        Some(value) if value.trim().eq_ignore_ascii_case("no") => Ok(()),
        _ => Err(x.header_breach("X-Accel-Buffering", "a stream without `X-Accel-Buffering: no`")),
    })
}

fn closed_stream_cancels(view: &View<'_>) -> Verdict {
    if let Some(verdict) = legacy(view) {
        return verdict;
    }
    let mut witnesses = Vec::new();
    let all = streams(view);
    for x in all.iter().filter(|x| x.aborted()) {
        let (Some(request), Some((end, ..))) = (x.question(), x.closed) else { continue };
        if x.response_to(request).is_some() {
            continue;
        }
        let about = |s: &MessageAt<'_>| {
            let named = s.message.params().and_then(|p| p.get("progressToken"));
            s.is("notifications/progress") && named.is_some() && named == token(request)
        };
        let unique = view.by(Party::Client).filter(|s| token(*s) == token(request)).count() == 1;
        let later = view.by(Party::Server).filter(|s| s.event > end && s.exchange != x.number);
        if let Some(late) = later.into_iter().find(|s| about(s) && unique) {
            return Verdict::Broken(late.breach("", "progress of a request whose stream was closed before"));
        }
        // Without a token nothing that came later could be known to be about this request.
        if token(request).is_some() && unique {
            let later =
                |w: &&Window<'_>| w.opened > end && all.iter().any(|y| y.number != x.number && y.open_at(w.opened));
            witnesses.extend(view.windows().iter().filter(later).map(Located::event));
        }
    }
    Verdict::witnessed(witnesses, "no stream was cut and another one listened to afterwards")
}
