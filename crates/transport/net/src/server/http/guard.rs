//! A seam for who lets requests in: the resource server's half of OAuth, which may have an authorization server of its own
//! beside it. Absent, it costs one look at an `Option`. Knows no token and no scope.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, HOST, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode, Uri};
use ring::digest::{SHA256, digest};
use wire::Message;
use wire::message::{Malformed, Packet, parse};

use super::body::Body;
use super::entry::read;
use super::layer::Request;
use super::response::{Response, status};
use super::{Options, Shared};

/// Where clients look for what an authorization server says about itself.
const ISSUER: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";
/// The longest body at one of the guard's own paths.
const LONGEST: usize = 64 << 10;

/// The header that says behind the guard whose token it was: a fingerprint of [`Grant::subject`]. What a client sends under
/// that name never gets there.
pub const SUBJECT: &str = "proof-subject";

/// What a guard gives later.
pub type Later<'g, T> = Pin<Box<dyn Future<Output = T> + Send + 'g>>;

/// Who lets requests in.
pub trait Guard: fmt::Debug + Send + Sync + 'static {
    /// Whether the guard itself answers at `path`, to anybody.
    fn owns(&self, path: &str) -> bool;

    /// Whether it answers there as an authorization server.
    fn issues(&self, path: &str) -> bool {
        let _ = path;
        false
    }

    /// Answers at one of its own paths.
    fn serve(&self, asked: Asked) -> Later<'_, Served>;

    /// Lets a request in, or not.
    fn admit<'g>(&'g self, head: Head<'g>) -> Later<'g, Result<Grant, Denied>>;

    /// Whether a request that was let in may carry `message`.
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
    /// Whether it opens a conversation of which no message is looked at any more: a WebSocket.
    pub for_good: bool,
}

impl Head<'_> {
    /// The host as the client names it, which was looked at before: it names us.
    pub fn host(&self) -> &str {
        host(self.headers)
    }
}

/// A request for one of the guard's own paths.
#[derive(Debug)]
pub struct Asked {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub uri: Uri,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, of bounded size.
    pub body: Bytes,
}

impl Asked {
    /// The host as the client names it.
    pub fn host(&self) -> &str {
        host(&self.headers)
    }
}

/// What the guard answers.
#[derive(Debug)]
pub struct Served {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
}

/// Who was let in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Whom the token is about, and who says so: what one may see, another may not.
    pub subject: String,
    /// What it is good for.
    pub scopes: Vec<String>,
}

/// Why a request was not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// 401, or 403 where the token has too little scope.
    pub status: StatusCode,
    /// `WWW-Authenticate`.
    pub challenge: String,
    /// `DPoP-Nonce`: what is to stand in the next proof, where one is wanted.
    pub nonce: Option<String>,
}

/// Whether the guard answers there.
pub(super) fn owns(path: &str, options: &Options) -> bool {
    options.guard.as_ref().is_some_and(|guard| guard.owns(path))
}

/// Whether a path is one of an authorization server's beside the guarded server, or where clients look for one there.
pub(super) fn issues(path: &str, options: &Options) -> bool {
    let sought = || [ISSUER, OPENID].into_iter().any(|place| path.contains(place));
    options.guard.as_ref().is_some_and(|guard| guard.issues(path) || sought())
}

/// Has the guard answer at one of its own paths.
pub(super) async fn serve(shared: &Shared, request: Request) -> Response {
    let Some(guard) = &shared.options.guard else { return status(StatusCode::NOT_FOUND) };
    let (parts, body) = request.into_parts();
    let body = match read(shared, body).await {
        Ok(body) if body.len() <= LONGEST => body,
        Ok(_) => return status(StatusCode::PAYLOAD_TOO_LARGE),
        Err(response) => return response,
    };
    let asked = Asked { method: parts.method, uri: parts.uri, headers: parts.headers, body: body.into() };
    let Served { status, headers, body } = guard.serve(asked).await;
    let mut response = Response::new(Body::Whole(Some(body.into())));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// Notes with a request who was let in with it, or refuses it.
pub(super) async fn admit(shared: &Shared, request: &mut Request, for_good: bool) -> Result<(), Box<Response>> {
    let Some(guard) = &shared.options.guard else { return Ok(()) };
    request.headers_mut().remove(SUBJECT);
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    let grant =
        guard.admit(Head { method, uri, headers, for_good }).await.map_err(|denied| Box::new(refusal(&denied)))?;
    if let Ok(subject) = HeaderValue::from_str(&fingerprint(&grant.subject)) {
        request.headers_mut().insert(SUBJECT, subject);
    }
    request.extensions_mut().insert(Arc::new(grant));
    Ok(())
}

/// SHA-256 of `subject` in base64: what stands in a header must not show whom a token is about.
fn fingerprint(subject: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, subject.as_bytes()))
}

/// The refusal of a message that who was let in may not send.
pub(super) fn denial(shared: &Shared, parts: &Parts, message: &Message) -> Option<Response> {
    let guard = shared.options.guard.as_ref()?;
    let grant = parts.extensions.get::<Arc<Grant>>()?;
    let head = Head { method: &parts.method, uri: &parts.uri, headers: &parts.headers, for_good: false };
    guard.permits(grant, head, message).err().map(|denied| refusal(&denied))
}

/// The same for a batch: one message that may not be sent is enough.
pub(super) fn batch_denial(shared: &Shared, parts: &Parts, batch: &[Result<Message, Malformed>]) -> Option<Response> {
    batch.iter().flatten().find_map(|message| denial(shared, parts, message))
}

/// The same for what nobody read yet.
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
    let challenge = HeaderValue::from_str(&denied.challenge).unwrap_or(HeaderValue::from_static("Bearer"));
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(Ok(nonce)) = denied.nonce.as_deref().map(HeaderValue::from_str) {
        response.headers_mut().insert("dpop-nonce", nonce);
    }
    response
}

fn host(headers: &HeaderMap) -> &str {
    headers.get(HOST).and_then(|value| value.to_str().ok()).unwrap_or("localhost")
}
