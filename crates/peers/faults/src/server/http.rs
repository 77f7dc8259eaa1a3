//! Faults of the HTTP endpoint: who is let in, statuses, content types.

use net::server::http::{Bytes, HeaderValue, Method, Parts, StatusCode};
use serde_json::{Value, json};
use wire::error_code::{INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY, PARSE_ERROR};
use wire::revision::R2025_06_18;

use super::outgoing::{Alteration, Outgoing};
use super::stdio::has;
use super::{Fault, HTTP, Http, Kind, fault};

pub(super) const FAULTS: &[&Fault] = &[
    &http(
        "origin-ignored",
        "http.origin-validated",
        "requests from any origin are served",
        Http { head: |head, _| _ = head.headers.remove("origin"), ..HTTP },
    )
    .breaks_too(&["http.origin-forbidden", "safety.null-origin-refused"]),
    &http(
        "origin-half-compared",
        "http.origin-validated",
        "an origin that begins as a loopback one does is taken for it",
        Http {
            head: |head, _| {
                let named = head.headers.get("origin").and_then(|origin| origin.to_str().ok());
                if named.is_some_and(|origin| origin.starts_with("http://localhost")) {
                    head.headers.remove("origin");
                }
            },
            ..HTTP
        },
    )
    .breaks_too(&["http.origin-forbidden"]),
    &http(
        "origin-of-foreign-host",
        "http.origin-validated",
        "an origin is taken for ours where it is that of the Host header, whatever that names",
        Http {
            head: |head, _| {
                let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
                let own = text("origin").and_then(|origin| origin.strip_prefix("http://"));
                if own.is_some() && own == text("host") {
                    head.headers.remove("origin");
                    head.headers.insert("host", HeaderValue::from_static("localhost"));
                }
            },
            ..HTTP
        },
    )
    .breaks_too(&["http.origin-forbidden"]),
    &http(
        "origin-400",
        "http.origin-forbidden",
        "a foreign origin is answered with 400",
        Http {
            response: |_, response| {
                if *response.status == StatusCode::FORBIDDEN {
                    *response.status = StatusCode::BAD_REQUEST;
                }
            },
            ..HTTP
        },
    ),
    &http(
        "host-ignored",
        "safety.foreign-host-refused",
        "requests to any host are served",
        Http { head: |head, _| _ = head.headers.insert("host", HeaderValue::from_static("localhost")), ..HTTP },
    ),
    &http(
        "host-half-compared",
        "safety.foreign-host-refused",
        "a host that begins with `localhost` is taken for it",
        Http {
            head: |head, _| {
                let named = head.headers.get("host").and_then(|host| host.to_str().ok());
                if named.is_some_and(|host| host.to_ascii_lowercase().starts_with("localhost")) {
                    head.headers.insert("host", HeaderValue::from_static("localhost"));
                }
            },
            ..HTTP
        },
    ),
    &http(
        "null-origin-trusted",
        "safety.null-origin-refused",
        "the origin `null` is trusted",
        Http {
            head: |head, _| {
                if head.headers.get("origin").is_some_and(|origin| origin == "null") {
                    head.headers.remove("origin");
                }
            },
            ..HTTP
        },
    ),
    &http(
        "accepted-200",
        "http.accepted-202",
        "notifications are accepted with 200",
        Http { response: |_, response| accept(response, StatusCode::OK, b""), ..HTTP },
    ),
    &http(
        "accepted-with-body",
        "http.accepted-empty",
        "the 202 that accepts a notification has a body",
        Http { response: |_, response| accept(response, StatusCode::ACCEPTED, b"{}"), ..HTTP },
    ),
    &http(
        "answers-notifications",
        "jsonrpc.notifications-unanswered",
        "notifications are answered with a result",
        Http {
            response: |_, response| {
                accept(response, StatusCode::OK, b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}");
            },
            ..HTTP
        },
    )
    .breaks_too(&["http.accepted-202", "jsonrpc.result-id"]),
    &http(
        "json-as-html",
        "http.request-answered-json-or-stream",
        "JSON is declared to be HTML",
        Http {
            response: |_, response| {
                let json = HeaderValue::from_static("application/json");
                if response.headers.get("content-type") == Some(&json) && *response.status == StatusCode::OK {
                    response.headers.insert("content-type", HeaderValue::from_static("text/html"));
                }
            },
            ..HTTP
        },
    ),
    &http(
        "unknown-method-200",
        "http.unknown-method-404",
        "the error for an unknown method comes with status 200",
        Http { response: |_, response| status(response, METHOD_NOT_FOUND, StatusCode::OK), ..HTTP },
    )
    .modern(),
    &fault(
        "unknown-method-invalid",
        "http.unknown-method-404",
        "an unknown method is refused with the code of an invalid request",
        Kind::Answers(|_, answer| {
            if answer["error"]["code"] == METHOD_NOT_FOUND {
                answer["error"]["code"] = json!(INVALID_REQUEST);
            }
        }),
    )
    .breaks_too(&["errors.method-not-found"])
    .modern()
    .http(),
    &http(
        "malformed-meta-200",
        "http.malformed-meta-400",
        "the error for missing metadata comes with status 200",
        Http { response: |_, response| status(response, INVALID_PARAMS, StatusCode::OK), ..HTTP },
    )
    .modern(),
    &http(
        "missing-capability-200",
        "http.missing-capability-400",
        "the error for a missing capability comes with status 200",
        Http { response: |_, response| status(response, MISSING_CLIENT_CAPABILITY, StatusCode::OK), ..HTTP },
    )
    .modern(),
    &http(
        "bad-version-header-200",
        "http.bad-version-header-400",
        "the error for an unsupported version header comes with status 200",
        Http {
            response: |asked, response| {
                if asked.headers.contains_key("mcp-protocol-version") {
                    status(response, INVALID_REQUEST, StatusCode::OK);
                }
            },
            ..HTTP
        },
    )
    .breaks_too(&[
        "http.origin-forbidden",
        "http.refusal-has-error-status",
        "http.terminated-session-404",
        "jsonrpc.error-id",
        "jsonrpc.notifications-unanswered",
        "ping.served",
    ])
    .since(R2025_06_18)
    .legacy(),
    &http(
        "garbage-accepted",
        "safety.garbage-refused",
        "a body that is not a message is answered with 202",
        Http {
            response: |_, response| {
                if code(response) == Some(PARSE_ERROR) {
                    *response.status = StatusCode::ACCEPTED;
                    response.body = Alteration::Replaced(Bytes::new());
                }
            },
            ..HTTP
        },
    ),
    &http(
        "get-as-json",
        "http.get-stream-or-405",
        "a GET is answered with 200 and no stream",
        Http {
            response: |asked, response| {
                if asked.method == Method::GET && *response.status == StatusCode::OK {
                    response.headers.insert("content-type", HeaderValue::from_static("application/json"));
                    response.body = Alteration::Replaced(Bytes::from_static(b"{}"));
                }
            },
            ..HTTP
        },
    )
    .legacy(),
    &http(
        "post-405",
        "http.endpoint-takes-post",
        "completions come with status 405",
        Http {
            response: |_, response| {
                if response.text.as_ref().is_some_and(|text| has(text, b"\"completion\":")) {
                    *response.status = StatusCode::METHOD_NOT_ALLOWED;
                }
            },
            ..HTTP
        },
    ),
    &fault(
        "refused-200",
        "http.refusal-has-error-status",
        "the refusal of a notification comes with status 200",
        Kind::Http(Http {
            response: |_, response| {
                let nobodys = response.text.as_ref().is_some_and(|text| !has(text, b"\"id\":"));
                if nobodys && *response.status == StatusCode::BAD_REQUEST {
                    *response.status = StatusCode::OK;
                }
            },
            ..HTTP
        }),
    )
    .breaks_too(&["http.bad-version-header-400", "jsonrpc.notifications-unanswered"])
    .http(),
    &http(
        "get-404",
        "http.get-405",
        "a GET, which this version does not have, is answered with 404",
        Http { response: |asked, response| disallow(asked, response, &Method::GET), ..HTTP },
    )
    .modern(),
    &http(
        "delete-404",
        "http.delete-405",
        "a DELETE, which this version does not have, is answered with 404",
        Http { response: |asked, response| disallow(asked, response, &Method::DELETE), ..HTTP },
    )
    .modern(),
    &http(
        "session-minted",
        "http.no-session-minted",
        "responses name a session, though this version has none",
        Http {
            response: |_, response| {
                response.headers.insert("mcp-session-id", HeaderValue::from_static("0123456789abcdef0123456789abcdef"));
            },
            ..HTTP
        },
    )
    .modern(),
];

/// A method that does not exist is answered as a path that does not.
fn disallow(asked: &Parts, response: &mut Outgoing<'_>, method: &Method) {
    if asked.method == *method {
        *response.status = StatusCode::NOT_FOUND;
    }
}

const fn http(name: &'static str, rule: &'static str, about: &'static str, http: Http) -> Fault {
    fault(name, rule, about, Kind::Http(http)).http()
}

/// Another status and body where a notification was accepted.
fn accept(response: &mut Outgoing<'_>, status: StatusCode, body: &'static [u8]) {
    if *response.status == StatusCode::ACCEPTED {
        *response.status = status;
        if !body.is_empty() {
            response.headers.insert("content-type", HeaderValue::from_static("application/json"));
        }
        response.body = Alteration::Replaced(Bytes::from_static(body));
    }
}

/// The code of the error that the body is.
fn code(response: &Outgoing<'_>) -> Option<i64> {
    let message: Value = serde_json::from_slice(response.text.as_ref()?).ok()?;
    message.pointer("/error/code")?.as_i64()
}

/// Another status for one kind of error.
pub(super) fn status(response: &mut Outgoing<'_>, of: i64, status: StatusCode) {
    if code(response) == Some(of) {
        *response.status = status;
    }
}
