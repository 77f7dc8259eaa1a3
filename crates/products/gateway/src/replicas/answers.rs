//! What a client gets where another gateway should answer and cannot. Must not know how requests travel.

use net::server::http::{Body, Bytes, HeaderValue, Response, StatusCode};
use net::service::{Answer, RpcError};
use wire::message::{Packet, parse};
use wire::{Kind, RequestId};

use crate::failure;

/// The requests in a body.
pub(super) fn requests(body: &[u8]) -> Vec<RequestId> {
    let id = |message: &wire::Message| (message.kind() == Kind::Request).then(|| message.id().cloned()).flatten();
    match parse(body) {
        Ok(Packet::Message(message)) => id(&message).into_iter().collect(),
        Ok(Packet::Batch(batch)) => batch.iter().flatten().filter_map(id).collect(),
        Err(_) => Vec::new(),
    }
}

fn lost_error() -> RpcError {
    failure::REPLICA_LOST.error("The gateway that has this request did not answer; the outcome is unknown")
}

/// The text in place of a response that does not come any more.
pub(super) fn lost(id: Option<&RequestId>) -> Vec<u8> {
    Answer::error(id, &lost_error()).into_text()
}

/// The response where the other gateway may have got the request.
pub(super) fn lost_response(body: &[u8]) -> Response {
    let requests = requests(body);
    // Without a request, a response with success would say that the message arrived.
    let status = if requests.is_empty() { StatusCode::BAD_GATEWAY } else { StatusCode::OK };
    response(status, body, &requests, &lost_error())
}

/// The response where the other gateway did not get the request.
pub(super) fn away_response(body: &[u8]) -> Response {
    let error = failure::REPLICA_AWAY.error("The gateway that has this request cannot be reached; nothing ran");
    let mut response = response(StatusCode::SERVICE_UNAVAILABLE, body, &requests(body), &error);
    response.headers_mut().insert("retry-after", HeaderValue::from_static("1"));
    response
}

fn response(status: StatusCode, body: &[u8], requests: &[RequestId], error: &RpcError) -> Response {
    let texts: Vec<_> = requests.iter().map(|id| Answer::error(Some(id), error).into_text()).collect();
    let text = match &texts[..] {
        [] => Answer::error(None, error).into_text(),
        [one] if !is_batch(body) => one.clone(),
        all => [&b"["[..], &all.join(&b","[..]), b"]"].concat(),
    };
    let mut response = Response::new(Body::Whole(Some(Bytes::from(text))));
    *response.status_mut() = status;
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    response.headers_mut().insert("cache-control", HeaderValue::from_static("no-store"));
    response
}

fn is_batch(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'[')
}
