//! The HTTP+SSE transport of 2024-11-05: a stream to listen on, and an endpoint to post to that the stream names.

use wire::revision::{R2024_11_05, R2025_03_26};
use wire::trace::{Closed, SseFields};
use wire::{Party, Transport};

use crate::basic::transports::streamable_http::foreign_origin;
use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::{Breach, Located, Verdict};
use crate::view::{Exchange, View};

const SSE: &[Transport] = &[Transport::HttpSse];
const SECTION: Anchor = at("basic/transports", "http-with-sse");

/// The section's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("sse.stream-endpoint")
        .on(SSE)
        .says(R2024_11_05, SECTION, "A server MUST provide an endpoint at which clients open an event stream.")
        .gone(R2025_03_26)
        .how("Opens streams by GET at the address where they open: each is one, not a 404, a 405 or anything else.")
        .fix("Route GET on the stream's address for every client: answer 200 with `text/event-stream`.")
        .judge(stream_endpoint),
    server("sse.post-endpoint")
        .on(SSE)
        .says(R2024_11_05, SECTION, "A server MUST provide an endpoint that takes messages by HTTP POST.")
        .gone(R2025_03_26)
        .how("Posts messages to the address that the stream names.")
        .fix("Route POST on the address that the `endpoint` event announces.")
        .judge(post_endpoint),
    server("sse.endpoint-event")
        .on(SSE)
        .says(R2024_11_05, SECTION, "When a client connects, the server MUST send an `endpoint` event.")
        .gone(R2025_03_26)
        .timed()
        .how("Opens the stream and waits for the event.")
        .fix("Send `event: endpoint` with the address for POST as its data as soon as the stream is open.")
        .judge(endpoint_event),
    server("sse.endpoint-is-uri")
        .on(SSE)
        .says(R2024_11_05, SECTION, "The data of an `endpoint` event MUST be the URI to post to.")
        .gone(R2025_03_26)
        .how("Reads the data of the `endpoint` event as a URI reference.")
        .fix("Put only the URI into the event's data: no JSON, no quotes.")
        .judge(endpoint_is_uri),
];

/// The streams that clients opened.
pub(crate) fn streams<'a, 'v>(view: &'a View<'v>) -> Vec<&'a Exchange<'v>> {
    let mut all: Vec<_> = view.exchanges().iter().collect();
    all.retain(|x| x.partner == Some(Party::Server) && x.is("GET") && x.is_stream() && x.succeeded());
    all
}

/// The `endpoint` event of a stream: its event and its data.
pub(crate) fn endpoint<'v>(stream: &Exchange<'v>) -> Option<(usize, &'v str)> {
    let names = |block: &SseFields| block.event.as_deref() == Some("endpoint");
    let found = stream.blocks.iter().find(|(_, block)| names(block));
    found.and_then(|&(event, block)| Some((event, block.data.as_deref()?)))
}

/// The path of a URI reference.
fn path(uri: &str) -> &str {
    let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest.find('/').map_or("/", |slash| &rest[slash..]));
    rest.split(['?', '#']).next().unwrap_or_default()
}

fn stream_endpoint(view: &View<'_>) -> Verdict {
    let paths: Vec<_> = streams(view).iter().map(|x| x.path()).collect();
    let asks = |x: &Exchange<'_>| x.request_header("accept").is_none_or(|a| a.contains("text/event-stream"));
    let gets = view.exchanges().iter().filter(|x| {
        // Other refusals say who may open a stream, or how many there may be.
        let answered = x.succeeded() || matches!(x.status(), Some(404 | 405 | 406 | 501));
        x.is("GET")
            && x.partner == Some(Party::Server)
            && paths.contains(&x.path())
            && answered
            && asks(x)
            && !foreign_origin(x)
    });
    Verdict::every(gets, "no stream was opened", |x| match x.status() {
        Some(200..300) if x.is_stream() => Ok(()),
        Some(200..300) => Err(x.header_breach("Content-Type", "a GET was answered with something else than a stream")),
        other => Err(x.status_breach(format!("a GET was answered {}", other.unwrap_or_default()))),
    })
}

fn post_endpoint(view: &View<'_>) -> Verdict {
    let streams = streams(view);
    let named: Vec<&str> = streams.iter().filter_map(|x| endpoint(x)).map(|(_, uri)| path(uri)).collect();
    let posts = view.exchanges().iter().filter(|x| {
        x.is("POST")
            && x.partner == Some(Party::Server)
            && x.path().is_some_and(|p| named.iter().any(|n| *n == p || (!n.starts_with('/') && p.ends_with(n))))
            && !x.client_messages.is_empty()
            && !x.has_invalid_message
            && !x.turned_away()
            && !foreign_origin(x)
    });
    let live = |x: &Exchange<'_>| streams.iter().any(|s| s.connection == x.connection && s.open_at(x.event()));
    let judged = posts.filter(|x| live(x) && (x.succeeded() || matches!(x.status(), Some(404 | 405 | 501))));
    Verdict::every(judged, "nothing was posted to the address that a stream named", |x| {
        if x.succeeded() {
            return Ok(());
        }
        Err(x.status_breach(format!("a message posted there was answered {}", x.status().unwrap_or_default())))
    })
}

fn endpoint_event(view: &View<'_>) -> Verdict {
    let windows = view.windows();
    let known = streams(view).into_iter().filter(|x| {
        let waited =
            windows.iter().any(|w| w.connection == x.connection && w.opened > x.event() && x.open_at(w.closed));
        let over = x.closed.is_some_and(|(_, _, how)| matches!(how, Closed::End | Closed::TimedOut));
        endpoint(x).is_some() || over || waited
    });
    Verdict::every(known, "no stream was opened", |x| match endpoint(x) {
        Some((_, uri)) if !uri.is_empty() => Ok(()),
        Some((event, _)) => Err(Breach::at(event, "", "the `endpoint` event has no data")),
        None => Err(x.status_breach("the stream was open and no `endpoint` event came")),
    })
}

fn endpoint_is_uri(view: &View<'_>) -> Verdict {
    let named = streams(view).into_iter().filter_map(endpoint);
    Verdict::every(named, "no `endpoint` event came", |&(event, uri)| {
        let legal = |b: u8| b.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&b);
        if !uri.is_empty() && uri.bytes().all(legal) {
            return Ok(());
        }
        Err(Breach::at(event, "", format!("{uri:?} is not a URI")))
    })
}
