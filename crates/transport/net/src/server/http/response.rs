//! The kinds of responses of the endpoints. Knows no endpoint.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use wire::RequestId;
use wire::http::{EVENT_STREAM, JSON};

use super::response_body::Body;
use crate::service::{Answer, RpcError};

/// A response of these endpoints.
pub type Response = hyper::Response<Body>;

/// A response without a body.
pub(super) fn status(code: StatusCode) -> Response {
    let mut response = Response::new(Body::Whole(None));
    *response.status_mut() = code;
    response
}

/// A single answer: a JSON-RPC text, or what passes in its place.
pub(super) fn json(code: StatusCode, answer: Answer) -> Response {
    if let Some(after) = answer.retry_after() {
        let mut response = text(StatusCode::TOO_MANY_REQUESTS, answer.into_text());
        // Whole seconds, rounded up: 0 would be an invitation.
        let seconds = after.as_millis().div_ceil(1000).max(1) as u64;
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        return response;
    }
    match answer.into_parts() {
        Ok(whole) => text(code, whole),
        Err(passed) if passed.is_event => events(passed.body),
        Err(passed) => typed(code, passed.body),
    }
}

/// A JSON text of any kind.
pub(super) fn text(code: StatusCode, text: impl Into<Bytes>) -> Response {
    typed(code, Body::Whole(Some(text.into())))
}

fn typed(code: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// A JSON-RPC error with an HTTP status.
pub(super) fn refuse(code: StatusCode, id: Option<&RequestId>, error: &RpcError) -> Response {
    json(code, Answer::error(id, error))
}

/// An event stream.
pub(super) fn events(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// The refusal of a method that a path does not take.
pub(super) fn not_allowed(allowed: &'static str) -> Response {
    let mut response = status(StatusCode::METHOD_NOT_ALLOWED);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}
