//! The page `basic/transports/streamable-http` and what it has kept of the transport's earlier revisions: security and
//! sending here, the other sections in files of their own.

use wire::message::{Malformed, Packet, parse};
use wire::revision::{R2024_11_05, R2025_03_26, R2025_11_25, R2026_07_28};
use wire::{Party, Transport};

use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::{Breach, Located, Verdict};
use crate::view::{Exchange, View};

pub(crate) mod client_headers;
pub(crate) mod clients;
pub(crate) mod compatibility;
mod exposure;
pub(crate) mod metadata;
pub(crate) mod receiving;
pub(crate) mod server_headers;

const HTTP: &[Transport] = &[Transport::StreamableHttp];
const OVER_HTTP: &[Transport] = &[Transport::StreamableHttp, Transport::HttpSse];
const LEGACY_SECURITY: Anchor = at("basic/transports", "security-warning");
const SECURITY: Anchor = at("basic/transports/streamable-http", "security--endpoint");
const LEGACY_SENDING: Anchor = at("basic/transports", "sending-messages-to-the-server");
const SENDING: Anchor = at("basic/transports/streamable-http", "sending-messages");

/// The first sections' rules, in their own order.
pub(crate) const RULES: &[Rule] = &[
    server("http.endpoint-takes-post")
        .on(HTTP)
        .says(R2025_03_26, at("basic/transports", "streamable-http"), "The MCP endpoint MUST support POST.")
        .says(R2026_07_28, at("basic/transports/streamable-http", ""), "The MCP endpoint MUST support POST.")
        .how("Posts to a path that answers as the MCP endpoint and looks for 405 or 501.")
        .fix("Serve POST on the same path as everything else of the endpoint.")
        .judge(endpoint_takes_post),
    server("http.origin-validated")
        .on(OVER_HTTP)
        .says(R2024_11_05, LEGACY_SECURITY, "Servers MUST validate the Origin header of every connection.")
        .says(R2026_07_28, SECURITY, "Servers MUST validate the Origin header of every connection.")
        .how("Repeats an accepted request with an Origin under a reserved name that no one can own; on loopback also with that name as its Host, as after DNS rebinding.")
        .fix("Compare Origin with a list of allowed origins before anything else, and refuse what is not on it.")
        .judge(origin_validated),
    server("http.origin-forbidden")
        .on(HTTP)
        .says(R2025_11_25, LEGACY_SECURITY, "A request with an invalid Origin MUST be answered with 403 Forbidden.")
        .says(R2026_07_28, SECURITY, "A request with an invalid Origin MUST be answered with 403 Forbidden.")
        .how("Repeats an accepted request with an Origin under a reserved name that no one can own.")
        .fix("Answer 403 Forbidden where the Origin is not allowed.")
        .judge(origin_forbidden),
    server("http.bound-to-loopback")
        .on(OVER_HTTP)
        .says(R2024_11_05, LEGACY_SECURITY, "A server that runs locally SHOULD listen on the loopback interface alone.")
        .says(R2026_07_28, SECURITY, "A server that runs locally SHOULD listen on the loopback interface alone.")
        .how("Reaches the server at a loopback address and tries its port at another one that only servers on all interfaces answer. Only Linux has such addresses.")
        .fix("Bind to 127.0.0.1 or ::1, not to 0.0.0.0, unless told otherwise.")
        .judge(exposure::bound_to_loopback),
    server("http.authenticated")
        .on(OVER_HTTP)
        .says(R2024_11_05, LEGACY_SECURITY, "Servers SHOULD authenticate all connections.")
        .says(R2026_07_28, SECURITY, "Servers SHOULD authenticate all connections.")
        .how("Where the check was given an `Authorization` header, leaves it out of a request. A server that never asks for credentials is not judged.")
        .fix("Check the credentials of every request before anything is done about it; answer 401 where there are none.")
        .judge(exposure::authenticated),
    server("http.accepted-202")
        .on(HTTP)
        .says(
            R2025_03_26,
            LEGACY_SENDING,
            "Notifications and responses that are accepted MUST be answered with 202 Accepted.",
        )
        .says(R2026_07_28, SENDING, "A notification that is accepted MUST be answered with 202 Accepted.")
        .how("Posts notifications and looks at the status where it is one of success.")
        .fix("Answer 202 where the body holds no request.")
        .judge(accepted_202),
    server("http.accepted-empty")
        .on(HTTP)
        .says(R2025_03_26, LEGACY_SENDING, "The 202 that accepts notifications and responses MUST have no body.")
        .says(R2026_07_28, SENDING, "The 202 that accepts a notification MUST have no body.")
        .how("Posts notifications and reads what follows the 202.")
        .fix("Send no body with 202: not `null`, not `{}`, no text.")
        .judge(accepted_empty),
    server("http.refusal-has-error-status")
        .on(HTTP)
        .says(
            R2025_03_26,
            LEGACY_SENDING,
            "Notifications and responses that cannot be accepted MUST be answered with an error status.",
        )
        .says(R2026_07_28, SENDING, "A notification that cannot be accepted MUST be answered with an error status.")
        .how("Posts notifications that are likely to be refused and compares status and body.")
        .fix("Use a status of 400 or above where the body carries an error.")
        .judge(refusal_has_error_status),
    server("http.request-answered-json-or-stream")
        .on(HTTP)
        .says(
            R2025_03_26,
            LEGACY_SENDING,
            "A request MUST be answered as `application/json` or as `text/event-stream`.",
        )
        .says(R2026_07_28, SENDING, "A request MUST be answered as `application/json` or as `text/event-stream`.")
        .how("Looks at the content type of each successful answer to a POST that holds a request.")
        .fix("Set Content-Type to one of the two; both are legal for every request.")
        .judge(request_answered_json_or_stream),
    server("http.json-is-one-message")
        .on(HTTP)
        .says(R2025_03_26, LEGACY_SENDING, "An `application/json` answer to a request MUST be one JSON object.")
        .says(R2026_07_28, SENDING, "An `application/json` answer to a request MUST be one JSON object.")
        .how("Reads the body of each successful JSON answer to a single request.")
        .fix("Put the JSON-RPC response into the body and nothing else: no array, no empty body.")
        .judge(json_is_one_message),
];

fn endpoint_takes_post(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let alive =
        |path: Option<&str>| all.iter().any(|x| x.path() == path && (x.served() || x.is("GET") && x.is_stream()));
    let posts = all.iter().filter(|x| {
        x.is("POST")
            && !x.client_messages.is_empty()
            && alive(x.path())
            && (x.succeeded() || matches!(x.status(), Some(405 | 501)))
    });
    Verdict::every(posts.copied(), "no message was posted to a path that answers as the MCP endpoint", |x| {
        if x.succeeded() {
            return Ok(());
        }
        Err(x.status_breach(format!("a POST to the endpoint was answered {}", x.status().unwrap_or_default())))
    })
}

/// The host of an origin or a Host header, without port, lower case.
fn host(text: &str) -> String {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let rest = rest.split('/').next().unwrap_or_default();
    let host = match rest.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => rest.split(':').next().unwrap_or_default(),
    };
    host.trim_end_matches('.').to_ascii_lowercase()
}

/// Whether a host's name is reserved (RFC 2606), so that no server can allow it.
pub(crate) fn reserved(text: &str) -> bool {
    let host = host(text);
    let within = |name: &str| host == name || host.ends_with(&format!(".{name}"));
    ["invalid", "example", "example.com", "example.net", "example.org"].into_iter().any(within)
}

/// Whether a request has an Origin that no server can have reason to allow.
pub(crate) fn foreign_origin(x: &Exchange<'_>) -> bool {
    x.request_header("origin").is_some_and(reserved)
}

/// Accepted requests like `x`, but for their Origin, put to a host that is not the one `x` claims to come from.
fn accepted_twins<'a, 'v>(all: &'a [&'a Exchange<'v>], x: &'a Exchange<'v>) -> impl Iterator<Item = &'a Exchange<'v>> {
    let asks = |y: &Exchange<'v>| y.client_messages.first().and_then(|s| s.message.method());
    let origin = host(x.request_header("origin").unwrap_or_default());
    all.iter().copied().filter(move |y| {
        !foreign_origin(y)
            && y.succeeded()
            && y.error_code().is_none()
            && y.method() == x.method()
            && y.path() == x.path()
            && asks(y) == asks(x)
            && y.request_header("host").is_none_or(|h| host(h) != origin)
    })
}

/// Exchanges with a foreign Origin that differ from an accepted one in nothing else.
fn foreign<'a, 'v>(view: &'a View<'v>) -> Vec<&'a Exchange<'v>> {
    let mut all: Vec<_> = view.exchanges().iter().collect();
    all.retain(|x| x.partner == Some(Party::Server) && x.status().is_some() && !x.is("OPTIONS"));
    let odd = all.iter().filter(|x| foreign_origin(x) && accepted_twins(&all, x).next().is_some());
    odd.filter(|x| is_answer_to_origin(&all, x)).copied().collect()
}

/// Whether the status can be due to the Origin. One that asks for credentials is, where the same credentials were accepted
/// later; one to a GET often is not: a server has but so many streams.
fn is_answer_to_origin(all: &[&Exchange<'_>], x: &Exchange<'_>) -> bool {
    let as_credible = |y: &Exchange<'_>| y.request_header("authorization") == x.request_header("authorization");
    match x.status() {
        Some(300..=399 | 407 | 408 | 429 | 502..=504) => false,
        Some(401) => accepted_twins(all, x).any(|y| y.event() > x.event() && as_credible(y)),
        status => !x.is("GET") || matches!(status, Some(200..=299 | 403)),
    }
}

/// Whether only errors came back, whatever the status.
fn only_errors(x: &Exchange<'_>) -> bool {
    x.error_code().is_some() && !x.served()
}

fn origin_validated(view: &View<'_>) -> Verdict {
    let judged = foreign(view).into_iter().filter(|x| !matches!(x.status(), Some(500..)));
    Verdict::every(judged, "no request differed from an accepted one in a foreign Origin", |x| {
        if !x.succeeded() || only_errors(x) {
            return Ok(());
        }
        let origin = x.request_header("origin").unwrap_or_default().escape_debug();
        Err(x.status_breach(format!("a request from origin `{origin}` was served")))
    })
}

fn origin_forbidden(view: &View<'_>) -> Verdict {
    // Where the Host is foreign as well, the refusal may be due to that: with 421, 400 or whatever a router has for it.
    let misdirected = |x: &Exchange<'_>| !x.succeeded() && x.request_header("host").is_some_and(reserved);
    let judged = foreign(view).into_iter().filter(|x| !misdirected(x));
    Verdict::every(judged, "no request differed from an accepted one in a foreign Origin", |x| match x.status() {
        Some(403) => Ok(()),
        other => Err(x.status_breach(format!("answered {}, not 403", other.unwrap_or_default()))),
    })
}

/// Answered POSTs that hold only notifications and responses.
fn notification_posts<'a, 'v>(view: &'a View<'v>) -> Vec<&'a Exchange<'v>> {
    let mut all = view.endpoint_exchanges();
    // 2026-07-28 knows no responses by the client: what to answer them is not said.
    let modern = view.revision().at_least(R2026_07_28);
    all.retain(|x| {
        x.is("POST")
            && x.has_no_request()
            && x.status().is_some()
            && (x.client_messages.len() == 1 || view.revision() == R2025_03_26)
    });
    all.retain(|x| !modern || x.client_messages.iter().all(|s| s.message.method().is_some()));
    all
}

fn accepted_202(view: &View<'_>) -> Verdict {
    let accepted = notification_posts(view).into_iter().filter(|x| x.succeeded() && x.error_code().is_none());
    Verdict::every(accepted, "no notification was accepted", |x| match x.status() {
        Some(202) => Ok(()),
        other => Err(x.status_breach(format!("accepted with {}, not 202", other.unwrap_or_default()))),
    })
}

fn accepted_empty(view: &View<'_>) -> Verdict {
    let read = |x: &Exchange<'_>| {
        x.response_body.is_some()
            || !x.blocks.is_empty()
            || x.ended()
            || x.response_header("content-length") == Some("0")
    };
    let accepted = notification_posts(view).into_iter().filter(|x| x.status() == Some(202) && read(x));
    Verdict::every(accepted, "no 202 was read to its end", |x| {
        let body = x.response_body.filter(|(_, bytes)| !bytes.is_empty()).map(|(event, _)| event);
        match body.or_else(|| x.blocks.first().map(|(event, _)| *event)) {
            None => Ok(()),
            Some(event) => Err(Breach::at(event, "", "a body follows the 202")),
        }
    })
}

fn refusal_has_error_status(view: &View<'_>) -> Verdict {
    let refused = notification_posts(view)
        .into_iter()
        .filter(|x| x.error_code().is_some() || x.status().is_some_and(|s| s >= 400));
    Verdict::every(refused, "no notification was refused", |x| match x.status() {
        Some(400..) => Ok(()),
        other => Err(x.status_breach(format!("an error in the body, but status {}", other.unwrap_or_default()))),
    })
}

/// Successful answers to a POST with at least one request.
fn answers<'a, 'v>(view: &'a View<'v>) -> Vec<&'a Exchange<'v>> {
    let mut all = view.endpoint_exchanges();
    all.retain(|x| x.is("POST") && x.requests().next().is_some() && !x.has_invalid_message && x.succeeded());
    all
}

fn request_answered_json_or_stream(view: &View<'_>) -> Verdict {
    Verdict::every(answers(view), "no request was answered with success", |x| match x.media_type().as_deref() {
        Some("application/json" | "text/event-stream") => Ok(()),
        Some(other) => {
            Err(x.header_breach("Content-Type", format!("a request was answered as `{}`", other.escape_debug())))
        }
        None => Err(
            x.header_breach("Content-Type", format!("status {} and no content type", x.status().unwrap_or_default()))
        ),
    })
}

fn json_is_one_message(view: &View<'_>) -> Verdict {
    let json = answers(view).into_iter().filter(|x| {
        x.question().is_some()
            && x.media_type().as_deref() == Some("application/json")
            && x.response_header("content-encoding").is_none()
            && x.is_whole(view)
            && !x.unreadable.is_some_and(ours)
    });
    Verdict::every(json, "no request was answered as JSON", |x| {
        let Some((event, bytes)) = x.response_body else {
            return Err(Breach::at(x.event(), "", "the body is empty"));
        };
        let why = match parse(bytes) {
            Ok(Packet::Message(_)) => return Ok(()),
            Ok(Packet::Batch(_)) => "an array where one object is due".to_owned(),
            Err(malformed) => format!("the body is not a message: {}", malformed.fault),
        };
        Err(Breach::at(event, "", why))
    })
}

fn ours(malformed: &Malformed) -> bool {
    malformed.fault.is_ours()
}
