//! Responses to the page. Every one of them, file or API, carries the headers that keep the page to itself.

use net::server::http::{Body, Bytes, HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use serde_json::{Value, json};
use wire::redact::Redactor;

use crate::assets::Asset;
use crate::failure::Failure;

/// What the page may load and do: its own files, and nothing that is written into its markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; \
     media-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'";

const PROTECTING: [(&str, &str); 7] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
];

/// A response with a body of this type.
pub fn whole(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Response {
    streamed(status, content_type, Body::Whole(Some(body.into())))
}

/// The same with any body.
pub fn streamed(status: StatusCode, content_type: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    set(response.headers_mut(), "content-type", content_type);
    set(response.headers_mut(), "cache-control", "no-store");
    for (name, value) in PROTECTING {
        set(response.headers_mut(), name, value);
    }
    response
}

fn set(headers: &mut HeaderMap, name: &'static str, value: &'static str) {
    headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
}

/// A JSON answer.
pub fn answer(value: &Value) -> Response {
    whole(StatusCode::OK, "application/json", value.to_string())
}

/// A failure, without the secrets that it quotes.
pub fn failed(failure: &Failure, redactor: &Redactor) -> Response {
    whole(failure.status, "application/json", json!({ "error": failure.to_json(redactor) }).to_string())
}

/// Bytes to be saved, never to be shown.
pub fn attachment(body: Body, content_type: &'static str, name: &'static str) -> Response {
    let mut response = streamed(StatusCode::OK, content_type, body);
    set(response.headers_mut(), "content-disposition", name);
    response
}

/// A file of the page, or that it did not change. Its document may show frames of one other origin.
pub(crate) fn file(asset: &'static Asset, method: &Method, headers: &HeaderMap, frames: Option<&str>) -> Response {
    let known = headers.get("if-none-match").and_then(|tags| tags.to_str().ok());
    // A browser that keeps the document would keep the policy of another launch.
    let is_kept = frames.is_none() || !asset.content_type.starts_with("text/html");
    let is_known = is_kept && known.is_some_and(|tags| tags.split(',').any(|tag| tag.trim() == asset.tag));
    let status = if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let body = if is_known || *method == Method::HEAD { "" } else { asset.text };
    let mut response = whole(status, asset.content_type, Bytes::from_static(body.as_bytes()));
    set(response.headers_mut(), "cache-control", "no-cache");
    let policy = frames.map(|origin| HeaderValue::from_str(&format!("{POLICY}; frame-src {origin}")));
    if let Some(Ok(policy)) = policy {
        response.headers_mut().insert(HeaderName::from_static("content-security-policy"), policy);
    }
    if let Ok(tag) = HeaderValue::from_str(&asset.tag) {
        response.headers_mut().insert(HeaderName::from_static("etag"), tag);
    }
    response
}
