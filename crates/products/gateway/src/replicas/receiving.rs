//! Where other gateways send requests: nothing else is answered there. Each request is opened, dated, new and meant for this
//! process, or refused before it is read.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use net::server::http::{Body, Endpoints, HeaderValue, HttpFuture, Layer, Method, Next, Request, Response, StatusCode};

use super::envelope::{Envelope, Opened};
use super::sending::refusals;
use super::{ANSWER, FORWARD, PATH, PROVEN, Replicas, WINDOW, proof};

/// The listener for other gateways.
pub(super) struct Receiver {
    pub(super) replicas: Arc<Replicas>,
    /// What clients reach: the same sessions and servers.
    pub(super) endpoints: Endpoints,
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver")
    }
}

fn status(code: StatusCode) -> Response {
    let mut response = Response::new(Body::Whole(None));
    *response.status_mut() = code;
    response
}

impl Receiver {
    async fn answer(&self, request: Request, next: Next<'_>) -> Response {
        let Some(opened) = self.opened(&request) else {
            // A probe of another gateway comes here, too: that there is an answer is all it asks.
            return status(StatusCode::FORBIDDEN);
        };
        let Opened { sender, number, envelope } = opened;
        let proven = |mut response: Response, refusal: &str| {
            let said = proof(&sender, number, response.status().as_str(), refusal);
            let code = self.replicas.keys.code(&[ANSWER, said.as_bytes()]);
            if let Ok(code) = HeaderValue::from_str(&code) {
                response.headers_mut().insert(PROVEN, code);
            }
            response
        };
        if envelope.to != self.replicas.id() {
            return proven(status(StatusCode::MISDIRECTED_REQUEST), refusals::OTHER);
        }
        if !self.is_due(envelope.at) || !self.replicas.seen.is_new(&sender, number, Instant::now()) {
            self.replicas.counts.refused.fetch_add(1, Ordering::Relaxed);
            return proven(status(StatusCode::FORBIDDEN), refusals::INVALID);
        }
        let body = next.read(request.into_body()).await;
        let Some(routed) = body.ok().and_then(|body| envelope.request(body)) else {
            self.replicas.counts.refused.fetch_add(1, Ordering::Relaxed);
            return proven(status(StatusCode::FORBIDDEN), refusals::INVALID);
        };
        self.replicas.counts.received.fetch_add(1, Ordering::Relaxed);
        proven(self.endpoints.answer(routed, next).await, refusals::NONE)
    }

    fn opened(&self, request: &Request) -> Option<Opened> {
        let is_forward = request.uri().path() == PATH && request.method() == Method::POST;
        let mut headers = request.headers().get_all(FORWARD).iter().filter(|_| is_forward);
        let opened = headers.next().and_then(|header| Envelope::open(&self.replicas.keys, header));
        if is_forward && opened.is_none() {
            self.replicas.counts.refused.fetch_add(1, Ordering::Relaxed);
        }
        opened.filter(|_| headers.next().is_none())
    }

    /// Whether a request was sent a moment ago.
    fn is_due(&self, at: u64) -> bool {
        let now = self.replicas.peers.clock.now();
        now.is_some_and(|now| Duration::from_millis(now.abs_diff(at)) <= WINDOW)
    }
}

impl Layer for Receiver {
    fn respond<'a>(&'a self, request: Request, next: Next<'a>) -> HttpFuture<'a, Response> {
        Box::pin(self.answer(request, next))
    }
}
