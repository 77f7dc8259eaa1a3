//! The way to another gateway: one request, sealed, sent once. What the client sees of it is the answer of that gateway.

use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use net::server::http::{Body, Bytes, HeaderMap, HeaderValue, Method, Response, Routed};
use net::upstream::{Failure, HttpUpstream};
use tokio::time::timeout;

use super::answers::{away_response, lost_response, requests};
use super::ending::Ending;
use super::envelope::Envelope;
use super::peers::Place;
use super::{ANSWER, FORWARD, PROVEN, Replicas, proof};

/// How often a gateway that does not answer is asked whether it is there, for how long, and how often in vain.
const PROBE: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(2));
const SILENT: u32 = 2;
/// A stream carries a comment every 15 s.
const SILENCE: Duration = Duration::from_secs(35);
/// A body of at most so many bytes is read whole before its head is passed on: if it breaks off, the client learns that.
const WHOLE: u64 = 64 << 10;
/// What belongs to one connection.
const OF_A_CONNECTION: [&str; 8] =
    ["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", PROVEN];

/// What came of the attempt to send.
enum Sent {
    /// An answer of the gateway that was meant.
    Answer(Box<net::upstream::Response>),
    /// Another process has its address: it is gone.
    OtherProcess,
    /// It did not get the request, or refused it.
    NotRun,
    /// It may have got it.
    Unknown,
}

impl Replicas {
    /// The answer of `owner`; `None` where it does not exist any more.
    pub(super) async fn forward(&self, owner: &str, request: Routed) -> Option<Response> {
        let body = request.body.clone();
        let upstream = match self.peers.find(owner).await {
            Place::Known(upstream) => upstream,
            Place::Gone => return None,
            Place::Away => return Some(self.away(&body)),
        };
        let sent = match self.peers.clock.now() {
            Some(now) => self.send_to(owner, now, &upstream, request).await,
            None => Sent::NotRun,
        };
        match sent {
            Sent::Answer(response) => {
                self.counts.forwarded.fetch_add(1, Ordering::Relaxed);
                Some(self.passed(*response, &body).await)
            }
            Sent::OtherProcess => {
                self.peers.forget(owner);
                None
            }
            Sent::NotRun => Some(self.away(&body)),
            Sent::Unknown => Some(self.lost(&body)),
        }
    }

    async fn send_to(&self, owner: &str, now: u64, upstream: &HttpUpstream, request: Routed) -> Sent {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let Some(sealed) = Envelope::new(owner, now, &request).seal(&self.keys, self.id(), number) else {
            return Sent::NotRun;
        };
        let headers = HeaderMap::from_iter([(FORWARD, sealed)]);
        let answered = while_it_lives(upstream, upstream.send(Method::POST, headers, request.body)).await;
        let response = match answered {
            Some(Ok(response)) => response,
            Some(Err(Failure::NotSent(why))) => {
                tracing::debug!("another gateway cannot be reached: {why}");
                return Sent::NotRun;
            }
            Some(Err(Failure::Forbidden(_))) => return Sent::NotRun,
            Some(Err(Failure::Unknown(_))) | None => return Sent::Unknown,
        };
        let is_proven = |refusal: &str| {
            let code = response.header(PROVEN).unwrap_or_default();
            self.keys.verify(&[ANSWER, proof(self.id(), number, response.status.as_str(), refusal).as_bytes()], code)
        };
        match refusals::ALL.into_iter().find(|refusal| is_proven(refusal)) {
            Some(refusals::NONE) => Sent::Answer(Box::new(response)),
            Some(refusals::OTHER) => Sent::OtherProcess,
            Some(_) => Sent::NotRun,
            None => {
                tracing::warn!("an answer does not come from a gateway with a key of `replicas`");
                Sent::Unknown
            }
        }
    }

    /// The answer as the client gets it.
    async fn passed(&self, mut response: net::upstream::Response, request: &Bytes) -> Response {
        let (status, mut headers) = (response.status, std::mem::take(&mut response.headers));
        for name in OF_A_CONNECTION {
            headers.remove(name);
        }
        let is_stream = headers.get("content-type").is_some_and(is_event_stream);
        let body = if is_stream {
            Body::boxed(Ending::new(response.into_body(Bytes::new(), SILENCE), requests(request)))
        } else if response.length().is_some_and(|length| length <= WHOLE) {
            match timeout(SILENCE, response.whole(WHOLE as usize)).await {
                Ok(Ok(text)) => Body::Whole((!text.is_empty()).then(|| text.into())),
                _ => return self.lost(request),
            }
        } else {
            Body::boxed(response.into_body(Bytes::new(), SILENCE))
        };
        let mut passed = Response::new(body);
        (*passed.status_mut(), *passed.headers_mut()) = (status, headers);
        passed
    }

    fn away(&self, body: &[u8]) -> Response {
        self.counts.away.fetch_add(1, Ordering::Relaxed);
        away_response(body)
    }

    fn lost(&self, body: &[u8]) -> Response {
        self.counts.lost.fetch_add(1, Ordering::Relaxed);
        lost_response(body)
    }
}

fn is_event_stream(kind: &HeaderValue) -> bool {
    kind.to_str().is_ok_and(|kind| wire::http::has_media_type(kind, wire::http::EVENT_STREAM))
}

/// Waits for an answer for as long as the other gateway says that it is there. A request may take long; a machine that has
/// vanished says nothing.
async fn while_it_lives<T>(upstream: &HttpUpstream, answer: impl Future<Output = T>) -> Option<T> {
    let mut answer = pin!(answer);
    let mut missed = 0;
    while missed < SILENT {
        if let Ok(answer) = timeout(PROBE.0, &mut answer).await {
            return Some(answer);
        }
        tokio::select! {
            answer = &mut answer => return Some(answer),
            lives = lives(upstream) => missed = if lives { 0 } else { missed + 1 },
        }
    }
    None
}

async fn lives(upstream: &HttpUpstream) -> bool {
    let asked = async {
        let mut response = upstream.send(Method::GET, HeaderMap::new(), Bytes::new()).await.ok()?;
        response.whole(WHOLE as usize).await.ok()
    };
    matches!(timeout(PROBE.1, asked).await, Ok(Some(_)))
}

/// What an answer says about the forwarding itself; it stands in the code of the answer.
pub(super) mod refusals {
    /// The request was answered.
    pub(crate) const NONE: &str = "";
    /// It was meant for another process.
    pub(crate) const OTHER: &str = "other";
    /// It is too old, came before, or has another body.
    pub(crate) const INVALID: &str = "invalid";
    pub(crate) const ALL: [&str; 3] = [NONE, OTHER, INVALID];
}
