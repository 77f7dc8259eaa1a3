//! How the body of a request is read: its type, its size, its time. Knows no message.

use std::pin::pin;

use futures_util::FutureExt as _;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::{HeaderMap, StatusCode};

use super::accept::is_json;
use super::buffered_body::BufferedBody;
use super::options::Limits;
use super::response::{Response, refuse, status};
use crate::service::RpcError;

/// The refusal of a body that is not declared to be JSON.
pub(super) fn not_json(headers: &HeaderMap) -> Option<Response> {
    let error = RpcError::invalid_request("Unsupported media type: the body must be application/json");
    (!is_json(headers)).then(|| refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, None, &error))
}

/// Reads a body within its bounds.
pub(super) async fn read(limits: &Limits, body: BufferedBody) -> Result<Vec<u8>, Response> {
    if body.size_hint().lower() > limits.body as u64 {
        return Err(too_large(limits.body));
    }
    let mut collecting = pin!(collect(body, limits.body));
    // Mostly all of it has come with the head: no timer is made for that.
    if let Some(collected) = collecting.as_mut().now_or_never() {
        return collected;
    }
    match tokio::time::timeout(limits.body_time, collecting).await {
        Ok(collected) => collected,
        Err(_) => Err(close(status(StatusCode::REQUEST_TIMEOUT))),
    }
}

/// The whole body in one piece, which the message then keeps.
async fn collect(mut body: BufferedBody, most: usize) -> Result<Vec<u8>, Response> {
    // A client may announce much and send nothing: only a small body gets all of its memory at once.
    const AT_ONCE: u64 = 128 << 10;
    let mut text = Vec::with_capacity(body.size_hint().lower().min(AT_ONCE) as usize);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| status(StatusCode::BAD_REQUEST))?.into_data() else { continue };
        if data.len() > most - text.len() {
            return Err(too_large(most));
        }
        text.extend_from_slice(&data);
    }
    Ok(text)
}

fn too_large(most: usize) -> Response {
    let error = RpcError::invalid_request(format!("Content too large: more than {most} bytes"));
    close(refuse(StatusCode::PAYLOAD_TOO_LARGE, None, &error))
}

/// The rest of the body will not be read: the connection ends with this response.
fn close(mut response: Response) -> Response {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
