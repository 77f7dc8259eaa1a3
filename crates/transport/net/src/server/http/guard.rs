//! Admission of requests: the resource server's half of OAuth, perhaps with an authorization server at the same origin. Knows
//! no token and no scope.

use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::http::Extensions;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode, Uri};
use ring::digest::{SHA256, digest};
use serde_json::Value;
use wire::Message;
use wire::message::{Malformed, Packet, parse};

use super::layer::Request;
use super::request_body::read;
use super::response::{Response, status};
use super::response_body::Body;
use super::{Options, Peer, Shared};
use crate::server::tls::Certificate;
use crate::service::{Answer, RpcError};

/// Where clients look for the metadata of an authorization server.
const ISSUER: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";
/// The longest body at one of the guard's own paths.
const LONGEST: usize = 64 << 10;

/// The header that names the subject of the token to the code behind the guard: a fingerprint of [`Grant::subject`]. A header
/// of that name from the client is removed.
pub const SUBJECT: &str = "proof-subject";

/// A future of a guard or a layer.
pub type HttpFuture<'g, T> = Pin<Box<dyn Future<Output = T> + Send + 'g>>;

/// Admits requests.
pub trait Guard: fmt::Debug + Send + Sync + 'static {
    /// Learns where the server listens, once, before the first request.
    fn listening(&self, address: SocketAddr) {
        let _ = address;
    }

    /// Whether the guard itself answers at `path`, without a token.
    fn owns(&self, path: &str) -> bool;

    /// Whether it answers there as an authorization server.
    fn issues(&self, path: &str) -> bool {
        let _ = path;
        false
    }

    /// Answers at one of its own paths.
    fn serve(&self, request: GuardRequest) -> HttpFuture<'_, GuardResponse>;

    /// Admits a request, or denies it.
    fn admit<'g>(&'g self, head: Head<'g>) -> HttpFuture<'g, Result<Grant, Denied>>;

    /// Learns that an admitted request named a session of another subject, which it does not get.
    fn foreign_session(&self) {}

    /// Whether an admitted request may carry `message`.
    fn permits(&self, grant: &Grant, head: Head<'_>, message: &Message) -> Result<(), Denied>;
}

/// The head of a request for one of the transports.
#[derive(Clone, Copy, Debug)]
pub struct Head<'h> {
    /// The method.
    pub method: &'h Method,
    /// Where it goes.
    pub uri: &'h Uri,
    /// Its headers.
    pub headers: &'h HeaderMap,
    /// Whether it opens a conversation whose messages are not checked any more: a WebSocket.
    pub for_good: bool,
    /// The certificate that the client showed on its connection.
    pub certificate: Option<&'h Arc<Certificate>>,
}

impl Head<'_> {
    /// The `Host` header, which was checked before.
    pub fn host(&self) -> &str {
        host(self.headers)
    }
}

/// A request for one of the guard's own paths.
#[derive(Debug)]
pub struct GuardRequest {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub uri: Uri,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, of bounded size.
    pub body: Bytes,
}

impl GuardRequest {
    /// The `Host` header.
    pub fn host(&self) -> &str {
        host(&self.headers)
    }
}

/// A response of the guard.
#[derive(Debug)]
pub struct GuardResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
}

/// Who was admitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// The subject of the token and its issuer: one subject must not see another's data.
    pub subject: String,
    /// The scopes of the token.
    pub scopes: Vec<String>,
    /// The claims of the token, an object; null where there is no token, or the guard does not know its claims.
    pub claims: Value,
    /// The certificate that the client showed on the connection of the request.
    pub certificate: Option<Arc<Certificate>>,
    /// The token, where the guard hands it on.
    pub token: PresentedToken,
}

impl Grant {
    /// Whether a token with claims admitted the client.
    pub const fn has_token(&self) -> bool {
        !matches!(self.claims, Value::Null)
    }
}

/// An access token that was accepted, for code that exchanges it. Shows nothing of itself, and must go to no server but the
/// authorization server's.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PresentedToken(Option<Arc<str>>);

impl PresentedToken {
    /// Wraps a token.
    pub fn new(token: &str) -> Self {
        Self(Some(Arc::from(token)))
    }

    /// The token, for the one place that needs it.
    pub fn reveal(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl fmt::Debug for PresentedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PresentedToken")
    }
}

/// Why a request was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// 401, 403 where the token has too little scope, or 503 where it cannot be checked at this moment.
    pub status: StatusCode,
    /// `WWW-Authenticate`; empty for none.
    pub challenge: String,
    /// `DPoP-Nonce`: the nonce for the next proof, where one is demanded.
    pub nonce: Option<String>,
    /// The body: an error without an id, because the request was not read.
    pub error: Option<Box<RpcError>>,
}

/// Whether the guard answers there.
pub(super) fn owns(path: &str, options: &Options) -> bool {
    options.guard.as_ref().is_some_and(|guard| guard.owns(path))
}

/// Whether a path belongs to an authorization server at the same origin, or is where clients look for one.
pub(super) fn issues(path: &str, options: &Options) -> bool {
    let sought = || [ISSUER, OPENID].into_iter().any(|place| path.contains(place));
    options.guard.as_ref().is_some_and(|guard| guard.issues(path) || sought())
}

/// Lets the guard answer at one of its own paths.
pub(super) async fn serve(shared: &Shared, request: Request) -> Response {
    let Some(guard) = &shared.options.guard else { return status(StatusCode::NOT_FOUND) };
    let (parts, body) = request.into_parts();
    let body = match read(&shared.options.limits, body).await {
        Ok(body) if body.len() <= LONGEST => body,
        Ok(_) => return status(StatusCode::PAYLOAD_TOO_LARGE),
        Err(response) => return response,
    };
    let request = GuardRequest { method: parts.method, uri: parts.uri, headers: parts.headers, body: body.into() };
    let GuardResponse { status, headers, body } = guard.serve(request).await;
    let mut response = Response::new(Body::Whole(Some(body.into())));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// Adds the grant to a request, or refuses it.
pub(super) async fn admit(
    shared: &Shared,
    peer: &Peer,
    request: &mut Request,
    for_good: bool,
) -> Result<(), Box<Response>> {
    let Some(guard) = &shared.options.guard else { return Ok(()) };
    request.headers_mut().remove(SUBJECT);
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    let certificate = peer.certificate.as_ref();
    let admitted = guard.admit(Head { method, uri, headers, for_good, certificate }).await;
    let mut grant = admitted.map_err(|denied| Box::new(refusal(&denied)))?;
    grant.certificate = certificate.cloned();
    if let Ok(subject) = HeaderValue::from_str(&fingerprint(&grant.subject)) {
        request.headers_mut().insert(SUBJECT, subject);
    }
    request.extensions_mut().insert(Arc::new(grant));
    Ok(())
}

/// The subject in the headers of an admitted request; none where nothing guards the endpoints.
pub(super) fn subject<'h>(shared: &Shared, headers: &'h HeaderMap) -> Option<&'h HeaderValue> {
    headers.get(SUBJECT).filter(|_| shared.options.guard.is_some())
}

/// Whether what `owner` opened belongs to the sender of an admitted request. The guard learns where it does not.
pub(super) fn is_own(shared: &Shared, headers: &HeaderMap, owner: Option<&HeaderValue>) -> bool {
    let own = owner == subject(shared, headers);
    if let Some(guard) = shared.options.guard.as_ref().filter(|_| !own) {
        guard.foreign_session();
    }
    own
}

/// What the token of an admitted request grants.
pub(super) fn grant(extensions: &Extensions) -> Option<Arc<Grant>> {
    extensions.get::<Arc<Grant>>().cloned()
}

/// SHA-256 of `subject` in base64: the header must not show the subject of a token.
fn fingerprint(subject: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, subject.as_bytes()))
}

/// The refusal of a message that the grant does not permit.
pub(super) fn denial(shared: &Shared, parts: &Parts, message: &Message) -> Option<Response> {
    let guard = shared.options.guard.as_ref()?;
    let grant = parts.extensions.get::<Arc<Grant>>()?;
    let Parts { method, uri, headers, .. } = parts;
    let head = Head { method, uri, headers, for_good: false, certificate: grant.certificate.as_ref() };
    guard.permits(grant, head, message).err().map(|denied| refusal(&denied))
}

/// The same for a batch: one message that is not permitted is enough.
pub(super) fn batch_denial(shared: &Shared, parts: &Parts, batch: &[Result<Message, Malformed>]) -> Option<Response> {
    batch.iter().flatten().find_map(|message| denial(shared, parts, message))
}

/// The same for a text that is not parsed yet.
pub(super) fn text_denial(shared: &Shared, parts: &Parts, text: &[u8]) -> Option<Response> {
    shared.options.guard.as_ref()?;
    match parse(text) {
        Ok(Packet::Message(message)) => denial(shared, parts, &message),
        Ok(Packet::Batch(batch)) => batch_denial(shared, parts, &batch),
        Err(_) => None,
    }
}

fn refusal(denied: &Denied) -> Response {
    let mut response = status(denied.status);
    if denied.status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    if !denied.challenge.is_empty() {
        let challenge = HeaderValue::from_str(&denied.challenge).unwrap_or(HeaderValue::from_static("Bearer"));
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(error) = &denied.error {
        *response.body_mut() = Body::Whole(Some(Bytes::from(Answer::error(None, error).into_text())));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    if let Some(Ok(nonce)) = denied.nonce.as_deref().map(HeaderValue::from_str) {
        response.headers_mut().insert("dpop-nonce", nonce);
    }
    response
}

fn host(headers: &HeaderMap) -> &str {
    headers.get(HOST).and_then(|value| value.to_str().ok()).unwrap_or("localhost")
}
