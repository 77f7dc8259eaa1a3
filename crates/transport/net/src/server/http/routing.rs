//! Several servers that serve as one: a request that only another of them can answer goes there, once. Must not know how the
//! servers find and trust each other.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Uri};
use wire::Era;
use wire::message::{Packet, parse};

use super::buffered_body::BufferedBody;
use super::guard::{HttpFuture, SUBJECT};
use super::layer::Next;
use super::request_body::read;
use super::response::Response;
use super::{Peer, Shared};
use crate::server::era_check::EraCheck;
use crate::server::tls::Certificate;

/// Chooses the server for a request.
pub trait Router: fmt::Debug + Send + Sync + 'static {
    /// The id of a session that begins here, made from random digits: they must stand at its beginning, and a dot after them.
    fn session_id(&self, digits: String) -> String;

    /// Another server that must answer, as the head of a request says; nothing where this one can.
    fn owner(&self, head: &Parts) -> Option<String>;

    /// The same for the body of a request without a session, whose head says nothing.
    fn owner_of(&self, body: &[u8]) -> Option<String>;

    /// Lets `owner` answer. `None` where it does not exist any more: this server answers.
    fn send(&self, owner: String, request: Routed) -> HttpFuture<'_, Option<Response>>;
}

/// A request on its way to another server.
#[derive(Clone, Debug)]
pub struct Routed {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub uri: Uri,
    /// The headers as the client sent them.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// The address that the client connected to, and its own.
    pub addresses: [Option<IpAddr>; 2],
    /// The certificate that the client showed.
    pub certificate: Option<Arc<Certificate>>,
}

impl Routed {
    fn new(peer: &Peer, head: &Parts, body: Bytes) -> Self {
        let mut headers = head.headers.clone();
        headers.remove(SUBJECT);
        Self {
            method: head.method.clone(),
            uri: head.uri.clone(),
            headers,
            body,
            addresses: [peer.local, peer.remote],
            certificate: peer.certificate.clone(),
        }
    }

    /// The request and its peer, for the server that must answer.
    pub(super) fn arrived(self, next: Next<'_>) -> (super::Request, Peer) {
        let Self { method, uri, headers, body, addresses: [local, remote], certificate } = self;
        let (place, cut) = (Arc::clone(&next.peer.place), Arc::clone(&next.peer.cut));
        let mut request = super::Request::new(BufferedBody::from(body));
        (*request.method_mut(), *request.uri_mut(), *request.headers_mut()) = (method, uri, headers);
        (request, Peer { place, cut, local, remote, certificate, is_routed: true })
    }
}

/// Sends an admitted request to the server that its head names. Otherwise, gives its body back.
pub(super) async fn by_head(
    shared: &Shared,
    peer: &Peer,
    head: &Parts,
    body: BufferedBody,
) -> Result<BufferedBody, Response> {
    let Some(router) = router(shared, peer) else { return Ok(body) };
    let Some(owner) = router.owner(head) else { return Ok(body) };
    let body = Bytes::from(read(&shared.options.limits, body).await?);
    match router.send(owner, Routed::new(peer, head, body.clone())).await {
        Some(response) => Err(response),
        None => Ok(BufferedBody::from(body)),
    }
}

/// The same for the body of a modern request. Otherwise, gives it back: a legacy session decides alone where its requests go.
pub(super) async fn by_body(shared: &Shared, peer: &Peer, head: &Parts, body: Vec<u8>) -> Result<Vec<u8>, Response> {
    let Some(router) = router(shared, peer) else { return Ok(body) };
    let Some(owner) = router.owner_of(&body) else { return Ok(body) };
    if !is_modern(shared, head, &body) {
        return Ok(body);
    }
    match router.send(owner, Routed::new(peer, head, Bytes::copy_from_slice(&body))).await {
        Some(response) => Err(response),
        None => Ok(body),
    }
}

fn is_modern(shared: &Shared, head: &Parts, body: &[u8]) -> bool {
    let Ok(Packet::Message(message)) = parse(body) else { return false };
    EraCheck::new(&message, Some(&head.headers)).era_among(shared.service.revisions()) == Era::Modern
}

/// What routes the requests of this peer: a request goes to another server once.
fn router<'s>(shared: &'s Shared, peer: &Peer) -> Option<&'s Arc<dyn Router>> {
    shared.options.router.as_ref().filter(|_| !peer.is_routed)
}
