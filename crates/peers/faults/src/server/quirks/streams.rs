//! Quirks of event streams: one that breaks off after several events, and everything that the standard of event streams
//! allows a server to write.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use net::server::http::{Bytes, Method};
use net::service::{Gone, Link, Reply};
use serde_json::{Value, json};
use wire::Transport;
use wire::revision::R2025_03_26;

use super::calls::{questions_first, settled};
use super::quirk;
use crate::server::state::State;
use crate::server::{Fault, HTTP, Http, Kind, ServiceRequest};

/// How long an event takes to reach a client.
const DELIVERY: Duration = Duration::from_millis(60);
/// How long a client may take to resume a stream.
const ABSENCE: Duration = Duration::from_millis(700);

pub(super) const STREAMS: &[&Fault] = &[STREAM_BREAKS, ODD_EVENTS, STREAMS_ALL, STREAM_CUT];

/// The quirk `stream-breaks`.
pub const STREAM_BREAKS: &Fault =
    &quirk("stream-breaks", Kind::Handles(break_stream)).since(R2025_03_26).legacy().http();

/// The quirk `odd-events`.
pub const ODD_EVENTS: &Fault = &quirk(
    "odd-events",
    Kind::Several(&[
        Kind::Http(Http {
            event: Some(
                |asked, event, state| if asked.method == Method::POST { rewritten(&event, state) } else { event },
            ),
            ..HTTP
        }),
        Kind::Handles(ask_in_events),
    ]),
)
.since(R2025_03_26)
.on(Transport::StreamableHttp);

/// The quirk `streams-all`.
pub const STREAMS_ALL: &Fault = &quirk(
    "streams-all",
    Kind::Several(&[
        Kind::Http(Http {
            event: Some(
                |_, event, _| if event.starts_with(b":") { event } else { [b": a comment\n", &*event].concat().into() },
            ),
            ..HTTP
        }),
        Kind::Handles(|asked, link, reply| {
            if !["initialize", "server/discover", "subscriptions/listen"].into_iter().any(|method| asked.is(method)) {
                let _ = link.notify("notifications/message", json!({ "level": "error", "data": "As a stream" }));
            }
            reply
        }),
    ]),
)
.since(R2025_03_26)
.on(Transport::StreamableHttp);

/// The quirk `stream-cut`.
pub const STREAM_CUT: &Fault = &quirk(
    "stream-cut",
    Kind::Several(&[
        Kind::Http(Http {
            event: Some(|_, event, state| {
                let has = |name: &str| event.windows(name.len()).any(|part| part == name.as_bytes());
                let lost = LOST.iter().position(|(_, member)| has(member)).filter(|_| has("\"result\":"));
                let is_first = |at: usize| state.of::<Cut>().0[at].fetch_add(1, Ordering::Relaxed) == 0;
                if lost.is_some_and(is_first) { Bytes::from_static(b": cut\n\n") } else { event }
            }),
            ..HTTP
        }),
        Kind::Handles(|asked, link, reply| {
            if LOST.iter().any(|(method, _)| asked.is(method)) {
                let _ = link.notify("notifications/message", json!({ "level": "error", "data": "As a stream" }));
            }
            reply
        }),
    ]),
)
.modern()
.http();

/// The requests of which the first result is lost, and what such a result has. Tools are listed in one piece: who does not know
/// them calls none.
const LOST: [(&str, &str); 3] =
    [("tools/call", "\"content\":["), ("resources/list", "\"resources\":["), ("prompts/list", "\"prompts\":[")];

/// How many results of each were lost or let through.
#[derive(Default)]
struct Cut([AtomicUsize; LOST.len()]);

/// The streams of the first two calls end after several events and before the result.
fn break_stream(asked: &ServiceRequest, link: &Link, reply: Reply) -> Reply {
    if !asked.is("tools/call") || asked.calls > 1 {
        return reply;
    }
    let (link, token) = (link.clone(), asked.message.pointer("/params/_meta/progressToken").cloned());
    Reply::later(async move {
        for step in 1..=3 {
            let _ = tell(&link, token.as_ref(), step);
            tokio::time::sleep(DELIVERY).await;
        }
        link.break_stream();
        tokio::time::sleep(ABSENCE).await;
        let _ = tell(&link, token.as_ref(), 4);
        settled(reply).await
    })
}

fn tell(link: &Link, token: Option<&Value>, step: u32) -> Result<(), Gone> {
    match token {
        Some(token) => {
            link.notify("notifications/progress", json!({ "progressToken": token, "progress": step, "total": 5 }))
        }
        None => link.notify("notifications/message", json!({ "level": "error", "data": format!("step {step}") })),
    }
}

/// Something for the stream of the first call to carry: in the legacy era pings, which must be answered.
fn ask_in_events(asked: &ServiceRequest, link: &Link, reply: Reply) -> Reply {
    if !asked.is("tools/call") || asked.calls > 0 {
        return reply;
    }
    if asked.is_modern() {
        for step in 0..FORMS {
            let _ = link.notify("notifications/message", json!({ "level": "error", "data": format!("step {step}") }));
        }
        return reply;
    }
    let pings = [(); FORMS].map(|()| ("ping", json!({ "_meta": { "com.example/text": "Grüße, 世界" } })));
    questions_first(asked, link, reply, &pings)
}

/// How many events were rewritten.
#[derive(Default)]
struct Rewritten(AtomicUsize);

/// In how many forms events are written.
const FORMS: usize = 6;

/// An event with the same fields, written in another form than most servers do. Those without a message stay.
fn rewritten(event: &Bytes, state: &State) -> Bytes {
    let Some((before, data)) = std::str::from_utf8(event).ok().and_then(|text| text.split_once("data: {")) else {
        return event.clone();
    };
    let data = data.trim_end_matches('\n');
    let number = state.of::<Rewritten>().0.fetch_add(1, Ordering::Relaxed);
    let text = match number % FORMS {
        0 => format!("{before}data: {{{data}\n\n").replace('\n', "\r\n"),
        // JSON may have a line break here, and a line break of data begins another field.
        1 => format!("{before}data: {{\ndata: {data}\n\n"),
        2 => format!(": a comment\n:\n{before}event: message\ndata: {{{data}\n\n"),
        3 => format!("{before}data:{{{data}\n\n"),
        4 => format!("{before}unknown: a field\nretry: soon\ndata\ndata: {{{data}\n\n"),
        _ => format!("data: {{{data}\n{before}\n"),
    };
    text.into()
}
