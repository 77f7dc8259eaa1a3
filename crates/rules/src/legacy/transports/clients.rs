//! What the transports of the legacy era, and no later one, demand of clients. Nothing judges clients yet.

use wire::Transport;
use wire::revision::{R2024_11_05, R2025_03_26, R2025_11_25, R2026_07_28};

use crate::rule::{Anchor, Rule, at, client};

const HTTP: &[Transport] = &[Transport::StreamableHttp];

const fn here(section: &'static str) -> Anchor {
    at("basic/transports", section)
}

const SENDING: Anchor = here("sending-messages-to-the-server");
const SESSIONS: Anchor = here("session-management");

/// The rules, in the page's own order.
pub(crate) const RULES: &[Rule] = &[
    client("sse.posts-to-endpoint")
        .on(&[Transport::HttpSse])
        .says(
            R2024_11_05,
            here("http-with-sse"),
            "A client MUST post all its messages to the URI of the `endpoint` event.",
        )
        .gone(R2025_03_26)
        .declared(),
    client("http.polls-after-close")
        .on(HTTP)
        .says(
            R2025_11_25,
            SENDING,
            "A client whose connection is closed before the stream is over SHOULD come back for the rest.",
        )
        .gone(R2026_07_28)
        .declared(),
    client("http.retry-respected")
        .on(HTTP)
        .says(R2025_11_25, SENDING, "A client MUST stay away for the time that a `retry` field names.")
        .gone(R2026_07_28)
        .declared(),
    client("http.cancels-by-notification")
        .on(HTTP)
        .says(R2025_03_26, SENDING, "A client that gives a request up SHOULD say so in `notifications/cancelled`.")
        .gone(R2026_07_28)
        .declared(),
    client("http.get-accepts-streams")
        .on(HTTP)
        .says(
            R2025_03_26,
            here("listening-for-messages-from-the-server"),
            "A GET MUST name event streams in its `Accept` header.",
        )
        .gone(R2026_07_28)
        .declared(),
    client("http.resumes-by-last-event-id")
        .on(HTTP)
        .says(
            R2025_03_26,
            here("resumability-and-redelivery"),
            "A client SHOULD resume a stream by GET, with the last event's id in `Last-Event-ID`.",
        )
        .gone(R2026_07_28)
        .declared(),
    client("http.session-id-sent")
        .on(HTTP)
        .says(R2025_03_26, SESSIONS, "A client that was given a session id MUST send it with all it sends afterwards.")
        .gone(R2026_07_28)
        .declared(),
    client("http.session-id-guarded")
        .on(HTTP)
        .says(R2025_11_25, SESSIONS, "A client MUST let nobody but the server that gave it have the session id.")
        .gone(R2026_07_28)
        .declared(),
    client("http.new-session-after-404")
        .on(HTTP)
        .says(
            R2025_03_26,
            SESSIONS,
            "A client whose session is answered 404 MUST open another one, by `initialize` without a session id.",
        )
        .gone(R2026_07_28)
        .declared(),
    client("http.session-ended-by-delete")
        .on(HTTP)
        .says(R2025_03_26, SESSIONS, "A client that is done with a session SHOULD end it by DELETE.")
        .gone(R2026_07_28)
        .declared(),
];
