//! From an HTTP request to a WebSocket: the opening handshake of RFC 6455, section 4.2. Knows no frame and no message.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hyper::header::{
    CONNECTION, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::{HeaderMap, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::layer::Request;
use super::response::{Response, refuse, status};
use super::{Peer, Shared, guard};
use crate::server::recorder::ConnectionRecorder;
use crate::server::websocket::{self, Frames};
use crate::service::RpcError;

/// The subprotocol by which clients ask for MCP.
const SUBPROTOCOL: &str = "mcp";
const VERSION: &str = "13";
/// How many bytes a key has, which is written in base64.
const KEY: usize = 16;

/// Answers a handshake. Its connection then belongs to the session.
pub(super) fn upgrade(shared: &Arc<Shared>, peer: &Peer, request: Request) -> Response {
    let accept = match accept_key(request.headers()) {
        Ok(accept) => accept,
        Err(response) => return *response,
    };
    let Ok(room) = Arc::clone(&shared.room).try_acquire_owned() else {
        let full = RpcError::internal("This server has as many sessions as it can take; try again later");
        return refuse(StatusCode::SERVICE_UNAVAILABLE, None, &full);
    };
    let mut response = status(StatusCode::SWITCHING_PROTOCOLS);
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    if has_token(request.headers(), &SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL) {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    }
    let (shared, peer) = (Arc::clone(shared), peer.clone());
    let admitted = (guard::subject(&shared, request.headers()).cloned(), guard::grant(request.extensions()));
    let connection = request.extensions().get::<ConnectionRecorder>().cloned();
    tokio::spawn(async move {
        // Held to the end: the connection counts among connections, and the session among sessions.
        let _held = (peer.place, room);
        let upgraded = timeout(shared.options.limits.head_time, hyper::upgrade::on(request)).await;
        if let Ok(Ok(upgraded)) = upgraded {
            let (service, closing) = (Arc::clone(&shared.service), shared.closing.clone());
            let frames = Frames { layer: shared.options.layer.as_deref(), connection: connection.as_ref() };
            let io = TokioIo::new(upgraded);
            websocket::serve(service, (io, admitted), &shared.options.limits, closing, frames).await;
        }
    });
    response
}

/// Whether a request asks for a WebSocket.
pub(super) fn is_asked(headers: &HeaderMap) -> bool {
    has_token(headers, &UPGRADE, "websocket")
}

/// The proof for the client that its handshake was understood, or the refusal.
fn accept_key(headers: &HeaderMap) -> Result<HeaderValue, Box<Response>> {
    let bad = |code, text: &'static str| Box::new(refuse(code, None, &RpcError::invalid_request(text)));
    if !is_asked(headers) || !has_token(headers, &CONNECTION, "upgrade") {
        let mut response = bad(StatusCode::UPGRADE_REQUIRED, "Upgrade required: this endpoint is a WebSocket");
        response.headers_mut().insert(UPGRADE, HeaderValue::from_static("websocket"));
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        return Err(response);
    }
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != VERSION) {
        let mut response = bad(StatusCode::UPGRADE_REQUIRED, "Upgrade required: WebSocket version 13 is spoken here");
        response.headers_mut().insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
        return Err(response);
    }
    let mut keys = headers.get_all(SEC_WEBSOCKET_KEY).iter().map(HeaderValue::as_bytes);
    let is_key = |key: &&[u8]| BASE64.decode(key).is_ok_and(|bytes| bytes.len() == KEY);
    let key = keys.next().filter(is_key).filter(|_| keys.next().is_none());
    let accept = key.and_then(|key| HeaderValue::from_str(&derive_accept_key(key)).ok());
    accept.ok_or_else(|| bad(StatusCode::BAD_REQUEST, "Invalid request: `Sec-WebSocket-Key` is missing or no key"))
}

/// Whether one of the comma-separated words of a header is `token`, whatever its case.
fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|word| word.trim().eq_ignore_ascii_case(token))
}
