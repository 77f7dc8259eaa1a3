//! The endpoints: what is refused before any message is read, and which era answers.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONNECTION, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode, Uri};
use wire::http::{EVENT_STREAM, JSON};
use wire::message::{Malformed, Packet, batch_length, parse_owned};
use wire::{Era, Kind, Message};

use super::accept::{Access, accepts};
use super::buffered_body::BufferedBody;
use super::layer::{Next, Request};
use super::request_body::{not_json, read};
use super::response::{Response, not_allowed, refuse, status, text};
use super::{
    Document, Grant, MESSAGES_PATH, Options, Peer, SSE_PATH, Shared, WEBSOCKET_PATH, bearer, guard, legacy, modern,
    old_sse, routing, upgrade,
};
use crate::server::batch::too_long;
use crate::server::era_check::EraCheck;
use crate::server::recorder::{ExchangeRecorder, ExchangeRole, HttpRecorder};
use crate::service::{RpcError, code};

/// What a path leads to.
#[derive(Clone, Copy)]
pub(super) enum Endpoint {
    /// Streamable HTTP.
    Mcp,
    /// The event stream of HTTP+SSE.
    Sse,
    /// The POST endpoint of HTTP+SSE.
    Messages,
    /// WebSocket.
    Socket,
    /// The metadata of the protected resource.
    Metadata,
    /// A path of the guard's own.
    Guard,
    /// One of the documents, by its index.
    Document(usize),
}

impl Endpoint {
    pub(super) fn of(path: &str, options: &Options) -> Option<Self> {
        match path {
            path if path == options.path => Some(Self::Mcp),
            path if options.other_transports.sse && is_below(path, options, SSE_PATH) => Some(Self::Sse),
            path if options.other_transports.sse && is_below(path, options, MESSAGES_PATH) => Some(Self::Messages),
            path if options.other_transports.websocket && is_below(path, options, WEBSOCKET_PATH) => Some(Self::Socket),
            path if bearer::is_metadata(path, options) => Some(Self::Metadata),
            path if guard::owns(path, options) => Some(Self::Guard),
            path => options.documents.iter().position(|document| document.path == path).map(Self::Document),
        }
    }
}

/// What a request leads to. One that asks for a WebSocket may lead to another endpoint than its path does.
fn endpoint(uri: &Uri, method: &Method, headers: &HeaderMap, options: &Options) -> Option<Endpoint> {
    let path = uri.path();
    let below = options.path.trim_end_matches('/');
    let asks = || path == options.path && *method == Method::GET && upgrade::is_asked(headers);
    let is_socket = options.sockets_at_path && options.other_transports.websocket;
    if is_socket && (path.strip_prefix(below) == Some(WEBSOCKET_PATH) || asks()) {
        return Some(Endpoint::Socket);
    }
    Endpoint::of(path, options)
}

fn is_below(path: &str, options: &Options, end: &str) -> bool {
    path.strip_prefix(options.prefix.as_str()) == Some(end)
}

/// Answers one HTTP request.
pub(super) async fn respond(shared: &Arc<Shared>, peer: &Peer, request: hyper::Request<Incoming>) -> Response {
    let further = shared.endpoints.find(request.uri().path());
    let shared = further.as_ref().unwrap_or(shared);
    match &shared.options.recorder {
        None => layered(shared, peer, request.map(BufferedBody::from)).await,
        Some(recorder) => recorded(recorder, shared, peer, request).await,
    }
}

/// Answers one HTTP request and records what crosses on the wire: the layer is inside of it.
async fn recorded(
    recorder: &Arc<HttpRecorder>,
    shared: &Arc<Shared>,
    peer: &Peer,
    request: hyper::Request<Incoming>,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let role = role(&parts, &shared.options);
    let at = recorder.now(role);
    let limits = &shared.options.limits;
    let (body, sent) = BufferedBody::read(body, limits.body, limits.body_time).await;
    let exchange = ExchangeRecorder::of(recorder, role, &parts, sent, at, shared.closing.clone());
    if role == ExchangeRole::Socket {
        parts.extensions.insert(exchange.connection());
    }
    let (head, body) = layered(shared, peer, Request::from_parts(parts, body)).await.into_parts();
    let body = exchange.answer(&head, body);
    Response::from_parts(head, body)
}

/// The role of a request in a trace.
fn role(head: &Parts, options: &Options) -> ExchangeRole {
    match (endpoint(&head.uri, &head.method, &head.headers, options), &head.method) {
        (Some(Endpoint::Sse), &Method::GET) => ExchangeRole::Stream,
        (Some(Endpoint::Sse | Endpoint::Messages), _) => ExchangeRole::Messages,
        (Some(Endpoint::Socket), _) => ExchangeRole::Socket,
        (Some(Endpoint::Guard) | None, _) if guard::issues(head.uri.path(), options) => ExchangeRole::Issuer,
        (Some(Endpoint::Mcp | Endpoint::Metadata | Endpoint::Guard | Endpoint::Document(_)) | None, _) => {
            ExchangeRole::Http
        }
    }
}

/// Answers one HTTP request, through the layer if there is one.
async fn layered(shared: &Arc<Shared>, peer: &Peer, request: Request) -> Response {
    match &shared.options.layer {
        None => answer(shared, peer, request).await,
        Some(layer) => layer.respond(request, Next { shared, peer }).await,
    }
}

/// The refusal of a request whose `Host` or `Origin` is foreign.
pub(super) fn distrust(shared: &Shared, peer: &Peer, headers: &HeaderMap, is_socket: bool) -> Option<Response> {
    let Options { hosts, origins, tls, .. } = &shared.options;
    let access = Access { local: peer.local, secure: tls.is_some(), hosts, origins };
    let trusted = if is_socket { access.is_trusted_for_sockets(headers) } else { access.is_trusted(headers) };
    let error = RpcError::invalid_request("Forbidden: `Host` or `Origin` is not one this server trusts");
    (!trusted).then(|| refuse(StatusCode::FORBIDDEN, None, &error))
}

/// The answer of the endpoint itself.
pub(super) async fn answer(shared: &Arc<Shared>, peer: &Peer, mut request: Request) -> Response {
    let options = &shared.options;
    let Some(endpoint) = endpoint(request.uri(), request.method(), request.headers(), options) else {
        return status(StatusCode::NOT_FOUND);
    };
    if let Some(refusal) = distrust(shared, peer, request.headers(), matches!(endpoint, Endpoint::Socket)) {
        return refusal;
    }
    if peer.certificate.as_ref().is_some_and(|certificate| !certificate.is_current()) {
        return expired();
    }
    match endpoint {
        Endpoint::Metadata => return bearer::metadata(shared, request.method(), request.headers()),
        Endpoint::Guard => return guard::serve(shared, request).await,
        Endpoint::Document(index) => return document(&shared.options.documents[index], request.method()),
        _ => {}
    }
    if let Some(refusal) = bearer::refusal(shared, request.headers()) {
        return refusal;
    }
    if let Err(refusal) = guard::admit(shared, peer, &mut request, matches!(endpoint, Endpoint::Socket)).await {
        return *refusal;
    }
    if matches!((endpoint, request.method()), (Endpoint::Socket, &Method::GET)) {
        return upgrade::upgrade(shared, peer, request);
    }
    let (parts, body) = request.into_parts();
    let body = match routing::by_head(shared, peer, &parts, body).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    match (endpoint, &parts.method) {
        (Endpoint::Mcp, &Method::POST) => post(shared, peer, parts, body).await,
        (Endpoint::Mcp, &Method::GET) => legacy::get(shared, &parts.headers),
        (Endpoint::Mcp, &Method::DELETE) => legacy::delete(shared, &parts.headers),
        (Endpoint::Sse, &Method::GET) => old_sse::open(shared, peer, &parts),
        (Endpoint::Messages, &Method::POST) => old_sse::post(shared, &parts, body).await,
        (Endpoint::Mcp, _) => not_allowed("GET, POST, DELETE"),
        (Endpoint::Messages, _) => not_allowed("POST"),
        (Endpoint::Sse | Endpoint::Socket | Endpoint::Metadata | Endpoint::Guard | Endpoint::Document(_), _) => {
            not_allowed("GET")
        }
    }
}

/// A document, as it is.
fn document(document: &Document, method: &Method) -> Response {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return not_allowed("GET, HEAD");
    }
    let mut response = text(StatusCode::OK, document.text.clone());
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// The refusal of a client whose certificate was valid when the connection began.
fn expired() -> Response {
    let error = RpcError::invalid_request("Forbidden: the client certificate of this connection has expired");
    let mut response = refuse(StatusCode::FORBIDDEN, None, &error);
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

async fn post(shared: &Arc<Shared>, peer: &Peer, parts: Parts, body: BufferedBody) -> Response {
    if let Some(response) = not_json(&parts.headers) {
        return response;
    }
    if !(accepts(&parts.headers, JSON) && accepts(&parts.headers, EVENT_STREAM)) {
        let text = "Not acceptable: `Accept` must list application/json and text/event-stream";
        return refuse(StatusCode::NOT_ACCEPTABLE, None, &RpcError::invalid_request(text));
    }
    let text = match read(&shared.options.limits, body).await {
        Ok(text) => text,
        Err(response) => return response,
    };
    let most = shared.options.limits.batch.messages;
    if batch_length(&text) > most {
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, None, &too_long(most));
    }
    let text = match routing::by_body(shared, peer, &parts, text).await {
        Ok(text) => text,
        Err(response) => return response,
    };
    let packet = parse_owned(text);
    let denial = match &packet {
        Ok(Packet::Message(message)) => guard::denial(shared, &parts, message),
        Ok(Packet::Batch(batch)) => guard::batch_denial(shared, &parts, batch),
        Err(_) => None,
    };
    if let Some(denial) = denial {
        return denial;
    }
    match packet {
        Ok(Packet::Message(message)) => receive(shared, peer, Sender::of(parts), message).await,
        Ok(Packet::Batch(batch)) => legacy::batch(shared, Sender::of(parts), batch).await,
        Err(malformed) => malformed_body(&malformed),
    }
}

fn malformed_body(malformed: &Malformed) -> Response {
    let kind = if malformed.fault.code() == code::PARSE_ERROR { "Parse error" } else { "Invalid request" };
    let error = RpcError::new(malformed.fault.code(), format!("{kind}: {}", malformed.fault));
    refuse(StatusCode::BAD_REQUEST, malformed.id.as_ref(), &error)
}

/// Who sends a message: the headers of its request, and what its token grants.
pub(super) struct Sender {
    pub(super) headers: HeaderMap,
    pub(super) grant: Option<Arc<Grant>>,
}

impl Sender {
    fn of(parts: Parts) -> Self {
        Self { grant: guard::grant(&parts.extensions), headers: parts.headers }
    }
}

async fn receive(shared: &Arc<Shared>, peer: &Peer, sender: Sender, message: Message) -> Response {
    let era_check = EraCheck::new(&message, Some(&sender.headers));
    match (era_check.era_among(shared.service.revisions()), message.kind()) {
        (Era::Modern, Kind::Request) => match era_check.admit(shared.service.revisions()) {
            Ok(revision) => modern::request(shared, sender, message, revision).await,
            Err(error) => refuse(StatusCode::BAD_REQUEST, message.id(), &error),
        },
        (Era::Modern, Kind::Notification) => modern::notification(shared, sender, &message),
        (Era::Modern, Kind::Result | Kind::Error) => {
            let error = RpcError::invalid_request("Invalid request: clients send no responses at 2026-07-28");
            refuse(StatusCode::BAD_REQUEST, None, &error)
        }
        (Era::Legacy, Kind::Request) => legacy::request(shared, peer, sender, message).await,
        (Era::Legacy, _) => legacy::other(shared, sender, message),
    }
}
