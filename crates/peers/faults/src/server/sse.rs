//! Faults of the old HTTP+SSE transport.

use std::sync::atomic::{AtomicUsize, Ordering};

use net::server::http::{Bytes, Method, Parts, StatusCode};
use wire::Transport;
use wire::revision::R2024_11_05;

use super::outgoing::{Alteration, Outgoing};
use super::stdio::{has, replaced};
use super::{Fault, HTTP, Http, Kind, fault};

pub(super) const FAULTS: &[&Fault] = &[
    &sse(
        "sse-post-404",
        "sse.post-endpoint",
        "every other message is accepted with 404",
        Http {
            response: |asked, response| {
                if is_accepted(asked, response) && every_other(&response.state.of::<Refused>().0) {
                    refuse(response);
                }
            },
            ..HTTP
        },
    )
    // Which message it is, is chance: one may be a cancellation that is to be ignored.
    .breaks_too(&["cancellation.unknown-ignored"]),
    &sse(
        "sse-get-404",
        "sse.stream-endpoint",
        "a request for a stream with `Cache-Control`, as browsers send it, is answered with 404",
        Http {
            response: |asked, response| {
                if asked.method == Method::GET && asked.headers.contains_key("cache-control") {
                    refuse(response);
                }
            },
            ..HTTP
        },
    ),
    &sse(
        "sse-endpoint-unnamed",
        "sse.endpoint-event",
        "a request for a stream with `Cache-Control`, as browsers send it, gets no endpoint event",
        Http {
            event: Some(|asked, event, _| {
                let lost = names_endpoint(&event) && asked.headers.contains_key("cache-control");
                if lost { Bytes::from_static(b":\n\n") } else { event }
            }),
            ..HTTP
        },
    ),
    &sse(
        "sse-endpoint-quoted",
        "sse.endpoint-is-uri",
        "the endpoint's address stands in angle brackets on every other stream",
        Http {
            event: Some(|_, event, state| {
                let odd = names_endpoint(&event) && every_other(&state.of::<Quoted>().0);
                if odd { replaced(&event, b"data: ", b"data: <").into() } else { event }
            }),
            ..HTTP
        },
    ),
    &sse(
        "sse-endpoint-abroad",
        "safety.sse-endpoint-at-home",
        "every other stream names an endpoint on another host",
        Http {
            event: Some(|_, event, state| {
                let odd = names_endpoint(&event) && every_other(&state.of::<Abroad>().0);
                if odd { replaced(&event, b"data: ", b"data: http://elsewhere.invalid").into() } else { event }
            }),
            ..HTTP
        },
    ),
];

const fn sse(name: &'static str, rule: &'static str, about: &'static str, http: Http) -> Fault {
    fault(name, rule, about, Kind::Http(http)).on(Transport::HttpSse).until(R2024_11_05)
}

/// How many messages came, for each fault that counts them.
#[derive(Default)]
struct Refused(AtomicUsize);

#[derive(Default)]
struct Quoted(AtomicUsize);

#[derive(Default)]
struct Abroad(AtomicUsize);

/// False, true, false, true: the greeting must succeed, or nothing is judged. Each fault counts for itself, as several may be
/// played side by side.
fn every_other(count: &AtomicUsize) -> bool {
    count.fetch_add(1, Ordering::Relaxed) % 2 == 1
}

fn is_accepted(asked: &Parts, response: &Outgoing<'_>) -> bool {
    asked.method == Method::POST && *response.status == StatusCode::ACCEPTED
}

fn refuse(response: &mut Outgoing<'_>) {
    *response.status = StatusCode::NOT_FOUND;
    response.body = Alteration::Replaced(Bytes::new());
}

fn names_endpoint(event: &[u8]) -> bool {
    has(event, b"event: endpoint")
}
