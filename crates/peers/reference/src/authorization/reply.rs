//! Answers of the authorization pages: JSON, redirects, errors. Nobody keeps any of them.

use net::server::http::GuardResponse;
use net::server::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};

fn with(status: StatusCode, headers: &[(&'static str, &str)], body: Vec<u8>) -> GuardResponse {
    let mut all = HeaderMap::new();
    for (name, value) in headers.iter().chain(&[("cache-control", "no-store")]) {
        if let Ok(value) = HeaderValue::from_str(value) {
            all.insert(HeaderName::from_static(name), value);
        }
    }
    GuardResponse { status, headers: all, body }
}

/// Nothing but a status.
pub(super) fn empty(status: StatusCode) -> GuardResponse {
    with(status, &[], Vec::new())
}

/// JSON.
pub(super) fn json(status: StatusCode, value: &Value) -> GuardResponse {
    with(status, &[("content-type", "application/json")], value.to_string().into_bytes())
}

/// What only GET, or only POST, is for.
pub(super) fn not_allowed(allowed: &str) -> GuardResponse {
    with(StatusCode::METHOD_NOT_ALLOWED, &[("allow", allowed)], Vec::new())
}

/// An OAuth error.
pub(super) fn error(status: StatusCode, error: &str, why: &str) -> GuardResponse {
    json(status, &json!({ "error": error, "error_description": why }))
}

/// Somewhere else.
pub(super) fn redirect(to: &str) -> GuardResponse {
    with(StatusCode::FOUND, &[("location", to), ("referrer-policy", "no-referrer")], Vec::new())
}

/// A page for people, which nobody may frame and which loads nothing.
pub(super) fn page(text: String) -> GuardResponse {
    let headers = [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ("x-frame-options", "DENY"),
        // With `no-referrer`, browsers post the form with `Origin: null`, which is refused as a foreign page's.
        ("referrer-policy", "same-origin"),
    ];
    with(StatusCode::OK, &headers, text.into_bytes())
}
