//! The Streamable HTTP transport of 2025-03-26 to 2025-11-25: what a stream that answers a POST must do. What later
//! revisions still say stands with them, in `basic/transports/streamable_http`.

use wire::revision::{R2025_03_26, R2025_11_25, R2026_07_28};
use wire::{RequestId, Revision, Transport, trace::SseFields};

use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::{Breach, Located, Verdict};
use crate::view::{Exchange, View};

const HTTP: &[Transport] = &[Transport::StreamableHttp];
const SENDING: Anchor = at("basic/transports", "sending-messages-to-the-server");

/// The section's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("http.stream-primed")
        .on(HTTP)
        .says(R2025_11_25, SENDING, "A stream SHOULD begin with an event that has an id and empty data.")
        .gone(R2026_07_28)
        .how("Looks at the first event of each stream that answers a POST.")
        .fix("Send `id: …` with an empty `data:` before anything else, so that a client can resume from the start.")
        .judge(stream_primed),
    server("http.retry-before-disconnect")
        .on(HTTP)
        .says(
            R2025_11_25,
            SENDING,
            "A server that closes the connection before it ends the stream SHOULD send a `retry` field first.",
        )
        .gone(R2026_07_28)
        .how("Looks at resumable streams that the server closes before the response was sent, and at streams opened by GET \
              that the server closes and then resumes.")
        .fix("Send an event with a `retry` field before closing the connection.")
        .judge(retry_before_disconnect),
    server("http.stream-carries-response")
        .on(HTTP)
        .says(R2025_03_26, SENDING, "A stream SHOULD eventually carry a response to each request of the POST.")
        .says(
            R2026_07_28,
            at("basic/transports/streamable-http", "receiving-messages"),
            "The stream that answers a request SHOULD end with the response, and so not without one.",
        )
        .how("Reads each stream that answers a POST, and its resumption, to its end.")
        .fix("Send the response before ending the stream, also where the work failed: then it is an error.")
        .judge(stream_carries_response),
    server("http.stream-open-until-response")
        .on(HTTP)
        .says(R2025_03_26, SENDING, "A server SHOULD NOT close a stream before the response to each request was sent.")
        .gone(R2025_11_25)
        .how("Checks whether a stream that the server ended had carried the responses by then.")
        .fix("Keep the stream open until the last response was written.")
        .judge(stream_open_until_response),
    server("http.disconnect-is-no-cancellation")
        .on(HTTP)
        .says(R2025_03_26, SENDING, "A server SHOULD NOT take a lost connection for a cancelled request.")
        .gone(R2026_07_28)
        .timed()
        .how("Cuts a resumable stream, resumes it, and checks whether the response still comes.")
        .fix("Let the request run on when its connection is lost; only `notifications/cancelled` cancels.")
        .judge(disconnect_is_no_cancellation),
];

/// Streams that answer a POST with at least one request.
fn answering<'a, 'v>(view: &'a View<'v>) -> Vec<&'a Exchange<'v>> {
    let mut all = view.endpoint_exchanges();
    all.retain(|x| {
        x.is("POST") && x.is_stream() && x.succeeded() && !x.has_invalid_message && x.requests().next().is_some()
    });
    all
}

/// Whether a request says that it speaks 2025-11-25 or later: in its header, or as `initialize` in its body. Older clients
/// know nothing of polling, and a server does well to spare them.
fn polls(x: &Exchange<'_>) -> bool {
    let offered = x
        .client_messages
        .iter()
        .find(|s| s.is("initialize"))
        .and_then(|s| s.message.params()?.get("protocolVersion")?.as_str());
    let spoken = offered.or_else(|| x.request_header("mcp-protocol-version"));
    spoken.and_then(|v| v.parse::<Revision>().ok()).is_some_and(|v| v.at_least(R2025_11_25))
}

fn has_id(block: &SseFields) -> bool {
    block.id.as_deref().is_some_and(|id| !id.is_empty())
}

fn resumable(x: &Exchange<'_>) -> bool {
    x.blocks.iter().any(|(_, block)| has_id(block))
}

/// Whether all requests of an exchange were answered within it.
fn all_answered(x: &Exchange<'_>) -> bool {
    x.requests().all(|request| x.response_to(request).is_some())
}

/// Whether a stream carries what may be meant as the response, under another id or in another form: then it was over.
fn misanswers(view: &View<'_>, x: &Exchange<'_>) -> bool {
    let fits = |id: Option<&RequestId>| x.requests().any(|request| request.message.id() == id);
    x.responses().any(|response| !fits(response.message.id()))
        || view.invalid_by_subject().any(|invalid| invalid.exchange == x.number)
}

fn any_cancelled(view: &View<'_>, x: &Exchange<'_>) -> bool {
    x.requests().any(|request| view.cancellation_of(request).is_some())
}

/// Whether the session of an exchange was refused later on, or ended by the client before the exchange was over: then its
/// streams may end.
fn expired(all: &[&Exchange<'_>], x: &Exchange<'_>) -> bool {
    let Some(session) = x.session() else { return false };
    let over = x.closed.map_or(usize::MAX, |(event, ..)| event);
    let ends = |y: &Exchange<'_>| y.is("DELETE") && y.request.is_some_and(|(event, ..)| event < over);
    let later = all.iter().filter(|y| y.event() > x.event() && y.session() == Some(session));
    later.into_iter().any(|y| y.status() == Some(404) || ends(y))
}

/// GETs that resume the stream of `x`, directly or by way of another resumption.
fn resumptions<'a, 'v>(all: &[&'a Exchange<'v>], x: &Exchange<'v>) -> Vec<&'a Exchange<'v>> {
    let mut ids: Vec<&str> = x.blocks.iter().filter_map(|(_, b)| b.id.as_deref()).collect();
    let mut found = Vec::new();
    for &y in all.iter().filter(|y| y.event() > x.event() && y.connection == x.connection) {
        if y.resumes().is_some_and(|id| ids.contains(&id)) {
            ids.extend(y.blocks.iter().filter_map(|(_, b)| b.id.as_deref()));
            found.push(y);
        }
    }
    found
}

/// Whether a stream was over only for the connection that carried it: the server took it up again where it had stopped.
fn continues_elsewhere(all: &[&Exchange<'_>], x: &Exchange<'_>) -> bool {
    let before: Vec<&str> = x.blocks.iter().filter_map(|(_, b)| b.id.as_deref()).collect();
    // What was on the stream itself is only sent once more.
    let is_new = |block: &SseFields| {
        block.data.as_deref().is_some_and(|data| !data.is_empty())
            && block.id.as_deref().is_none_or(|id| !before.contains(&id))
    };
    resumptions(all, x).iter().any(|y| y.is_stream() && y.succeeded() && y.blocks.iter().any(|(_, b)| is_new(b)))
}

fn stream_primed(view: &View<'_>) -> Verdict {
    let says = |block: &SseFields| block.id.is_some() || block.data.is_some() || block.event.is_some();
    let firsts = answering(view)
        .into_iter()
        .filter(|x| polls(x))
        .filter_map(|x| x.blocks.iter().copied().find(|(_, b)| says(b)));
    let firsts: Vec<_> = firsts.collect();
    Verdict::every(firsts, "no stream answered a request of a client that knows of resumption", |&(event, block)| {
        if has_id(block) && block.data.as_deref() == Some("") {
            return Ok(());
        }
        let why = if has_id(block) { "the first event carries a message" } else { "the first event has no id" };
        Err(Breach::at(event, "", why))
    })
}

fn retry_before_disconnect(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let unanswered =
        answering(view).into_iter().filter(|x| !all_answered(x) && !any_cancelled(view, x) && !misanswers(view, x));
    let left =
        all.iter().copied().filter(|x| x.is("GET") && x.is_stream() && x.succeeded() && continues_elsewhere(&all, x));
    let cut = unanswered.chain(left).filter(|x| polls(x) && x.ended() && resumable(x) && !expired(&all, x));
    Verdict::every(cut, "no resumable stream was closed before it was over", |x| {
        let tells = x.blocks.iter().any(|(_, b)| b.retry_ms().is_some());
        let end = x.closed.map_or(x.event(), |(event, ..)| event);
        if tells { Ok(()) } else { Err(Breach::at(end, "", "closed with no `retry` field before")) }
    })
}

/// Its stream has rules of its own.
const LISTEN: &str = "subscriptions/listen";

fn stream_carries_response(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let mut witnesses = Vec::new();
    for x in answering(view).into_iter().filter(|x| !x.requests().any(|request| request.is(LISTEN))) {
        let resumed = resumptions(&all, x);
        let carried =
            |request| x.response_to(request).is_some() || resumed.iter().any(|y| y.response_to(request).is_some());
        let ends = std::iter::once(x).chain(resumed.iter().copied()).all(Exchange::ended);
        // Where the last stream can be resumed and was not, what would have come is unknown.
        let untried = resumed.last().map_or(resumable(x), |last| last.is_stream() && resumable(last));
        if x.requests().all(carried) {
            witnesses.push(x.responses().last().map_or(x.event(), |r| r.event));
        } else if ends && !untried && !any_cancelled(view, x) && !expired(&all, x) {
            let end = x.closed.map_or(x.event(), |(event, ..)| event);
            return Verdict::Broken(Breach::at(end, "", "the stream ended without the response"));
        }
    }
    Verdict::witnessed(witnesses, "no stream answered a request")
}

fn stream_open_until_response(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let over = answering(view).into_iter().filter(|x| x.ended() && !any_cancelled(view, x) && !expired(&all, x));
    Verdict::every(over, "no stream that answered a request was read to its end", |x| {
        let end = x.closed.map_or(x.event(), |(event, ..)| event);
        if all_answered(x) { Ok(()) } else { Err(Breach::at(end, "", "closed before the response")) }
    })
}

fn disconnect_is_no_cancellation(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let mut witnesses = Vec::new();
    for x in answering(view).iter().filter(|x| x.aborted() && !all_answered(x) && !any_cancelled(view, x)) {
        let resumed = resumptions(&all, x);
        for request in x.requests() {
            let answer = resumed.iter().find_map(|y| y.response_to(request));
            match (answer, resumed.last()) {
                (Some(answer), _) => witnesses.push(answer.event),
                // Only where something was said of the request before the cut was it certainly under way, and not already
                // answered into a connection that was going.
                (None, Some(last))
                    if !x.server_messages.is_empty()
                        && last.is_stream()
                        && last.ended()
                        && !expired(&all, x)
                        && !asks_back(last) =>
                {
                    let why = "the resumed stream ended and the response never came";
                    return Verdict::Broken(last.status_breach(why));
                }
                _ => {}
            }
        }
    }
    Verdict::witnessed(witnesses, "no stream was cut before its response and then resumed")
}

/// Whether a stream asks the client to come back later.
fn asks_back(x: &Exchange<'_>) -> bool {
    x.blocks.iter().any(|(_, b)| b.retry.is_some())
}
