//! One HTTP origin: pooled connections, responses read as they come. A request that the server may have read is never sent
//! twice.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, USER_AGENT};
use hyper::{HeaderMap, Method, Request, StatusCode, Uri};
use url::Position;
use wire::framing::Piece;
use wire::framing::sse::{Block, Blocks, EventEnd};
use wire::http::{EVENT_STREAM, has_media_type};

use super::passed::Passed;
use crate::client::{Cuts, Dialer, HttpAddress, Link, OpenError, Pieces, Pool};
use crate::egress::EgressRefusal;
use crate::server::http::HeaderValue;

/// How many idle connections are kept.
const KEPT: usize = 256;

/// One origin and path.
pub struct HttpUpstream {
    pool: Arc<Pool>,
    target: Uri,
    /// What every request has, made once; the configured ones among them.
    headers: HeaderMap,
    /// The names that are configured: nobody else sets these.
    configured: Vec<HeaderName>,
}

impl fmt::Debug for HttpUpstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The headers may hold credentials.
        f.debug_struct("HttpUpstream").field("target", &self.target).finish_non_exhaustive()
    }
}

/// Why a request has no response.
#[derive(Debug)]
pub enum Failure {
    /// The server did not get it.
    NotSent(String),
    /// The server did not get it: the rules for connections do not allow it.
    Forbidden(Box<EgressRefusal>),
    /// The server may have got it, and may have acted on it.
    Unknown(String),
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Forbidden { refusal, .. } => Self::Forbidden(refusal),
            error => Self::NotSent(error.to_string()),
        }
    }
}

/// Why a response ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The connection broke.
    Broken,
    /// A message is larger than the limit.
    TooLarge,
}

impl HttpUpstream {
    /// Prepares to call `address`; `connect` bounds a connection and its TLS handshake.
    pub fn new(address: &HttpAddress, connect: Duration) -> Result<Self, OpenError> {
        let bad = |why: String| OpenError::BadAddress { at: address.url.to_string(), why };
        let pool = Arc::new(Pool::new(Dialer::new(address, connect)?).keeping(KEPT).unwatched());
        let target = address.url[Position::BeforePath..Position::AfterQuery].parse();
        let authority = &address.url[Position::BeforeHost..Position::AfterPort];
        let mut headers = HeaderMap::new();
        for (name, value) in &address.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| bad(error.to_string()))?;
            let mut value = HeaderValue::from_str(value).map_err(|error| bad(format!("header {name}: {error}")))?;
            value.set_sensitive(true);
            headers.append(name, value);
        }
        let configured = headers.keys().cloned().collect();
        headers.insert(HOST, HeaderValue::from_str(authority).map_err(|error| bad(error.to_string()))?);
        // What is passed on may be read and edited: no coding is agreed on.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let agent = HeaderValue::from_static(concat!("proofhouse/", env!("CARGO_PKG_VERSION")));
        headers.entry(USER_AGENT).or_insert(agent);
        let target = target.map_err(|error: hyper::http::uri::InvalidUri| bad(error.to_string()))?;
        Ok(Self { pool, target, headers, configured })
    }

    /// The same origin with another path and query; the connections are shared.
    pub(crate) fn with_target(&self, target: &str) -> Result<Self, OpenError> {
        let bad = |why: String| OpenError::BadAddress { at: target.to_owned(), why };
        Ok(Self {
            pool: Arc::clone(&self.pool),
            target: target.parse().map_err(|error: hyper::http::uri::InvalidUri| bad(error.to_string()))?,
            headers: self.headers.clone(),
            configured: self.configured.clone(),
        })
    }

    /// The same with further headers in every request, which win over those of a request; the connections are shared.
    pub fn with_headers(&self, more: &[(HeaderName, HeaderValue)]) -> Self {
        let (mut headers, mut configured) = (self.headers.clone(), self.configured.clone());
        for (name, value) in more {
            let mut value = value.clone();
            value.set_sensitive(true);
            headers.insert(name.clone(), value);
            configured.push(name.clone());
        }
        Self { pool: Arc::clone(&self.pool), target: self.target.clone(), headers, configured }
    }

    /// Sends one request and returns once the head of its response has come. `headers` are added to the configured ones,
    /// which win. Sent again only where nothing of it was written.
    pub async fn send(&self, method: Method, headers: HeaderMap, body: Bytes) -> Result<Response, Failure> {
        self.send_request(self.request(method, headers, body)).await
    }

    /// The same for another path and query of this origin.
    pub async fn send_to(
        &self,
        target: &str,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response, Failure> {
        let mut request = self.request(method, headers, body);
        *request.uri_mut() = target.parse().map_err(|_| Failure::NotSent("HTTP cannot carry this path".to_owned()))?;
        self.send_request(request).await
    }

    async fn send_request(&self, mut request: Request<Pieces>) -> Result<Response, Failure> {
        let mut link = self.pool.take().await?;
        loop {
            let (unwritten, error) = match link.send_once(request).await {
                Ok(response) => return Ok(Response::new(response, link, Arc::clone(&self.pool))),
                Err(failed) => failed,
            };
            let Some(unwritten) = unwritten else { return Err(Failure::Unknown(error.to_string())) };
            if !link.is_reused() {
                return Err(Failure::NotSent(error.to_string()));
            }
            request = unwritten;
            link = self.pool.fresh().await?;
        }
    }

    fn request(&self, method: Method, mut headers: HeaderMap, body: Bytes) -> Request<Pieces> {
        for name in &self.configured {
            headers.remove(name);
        }
        for (name, value) in &self.headers {
            headers.append(name, value.clone());
        }
        if !body.is_empty() {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        }
        let mut request = Request::new(Pieces::new(body, &Cuts::default()));
        *request.method_mut() = method;
        *request.uri_mut() = self.target.clone();
        *request.headers_mut() = headers;
        request
    }
}

/// A response whose body is read as it comes. Dropped before its end, the connection is closed: the server sees that nobody
/// waits any more.
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    pub(super) body: Incoming,
    link: Option<Link>,
    pool: Arc<Pool>,
    blocks: Option<Blocks>,
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response").field("status", &self.status).finish_non_exhaustive()
    }
}

/// The next part of an event stream.
#[derive(Debug)]
pub enum NextEvent {
    /// A whole event.
    Event(Block),
    /// An event whose end has not come yet, though more of it has come than shall be held: see [`Response::open_event`].
    Open,
    /// The end of the stream.
    End,
}

impl Response {
    fn new(response: hyper::Response<Incoming>, link: Link, pool: Arc<Pool>) -> Self {
        let (head, body) = response.into_parts();
        Self { status: head.status, headers: head.headers, body, link: Some(link), pool, blocks: None }
    }

    /// Whether the body is an event stream.
    pub fn is_event_stream(&self) -> bool {
        self.is_of(EVENT_STREAM)
    }

    /// Whether the body is of a media type.
    pub fn is_of(&self, media_type: &str) -> bool {
        let kind = self.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        kind.is_some_and(|kind| has_media_type(kind, media_type))
    }

    /// A header's text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// How long the rest of the body is, where the server has said so.
    pub fn length(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// The rest of the body, at most `limit` bytes.
    pub async fn whole(&mut self, limit: usize) -> Result<Vec<u8>, Lost> {
        let mut bytes = Vec::new();
        self.read(&mut bytes, usize::MAX, limit).await?;
        Ok(bytes)
    }

    /// The next piece of the body as it comes, no copy; empty at the end. One of more than `limit` bytes is refused.
    pub async fn next_piece(&mut self, limit: usize) -> Result<Bytes, Lost> {
        let Some(frame) = self.body.frame().await else {
            self.release();
            return Ok(Bytes::new());
        };
        let piece = frame.map_err(|_| Lost::Broken)?.into_data().unwrap_or_default();
        if piece.len() > limit { Err(Lost::TooLarge) } else { Ok(piece) }
    }

    /// Reads on to the end of the body or until `bytes` holds more than `enough`; whether it has ended. More than `limit`
    /// bytes are refused.
    pub async fn read(&mut self, bytes: &mut Vec<u8>, enough: usize, limit: usize) -> Result<bool, Lost> {
        // A peer may announce much and send nothing: only a small body gets all of its memory at once.
        const AT_ONCE: u64 = 128 << 10;
        bytes.reserve(self.body.size_hint().lower().min(AT_ONCE) as usize);
        while bytes.len() <= enough {
            let Some(frame) = self.body.frame().await else {
                self.release();
                return Ok(true);
            };
            let data = frame.map_err(|_| Lost::Broken)?.into_data().unwrap_or_default();
            if bytes.len() + data.len() > limit {
                return Err(Lost::TooLarge);
            }
            if let Some(rest) = self.body.size_hint().exact() {
                // Twice the room each time, but none beyond the end that is announced.
                let room = (rest as usize).min(bytes.len());
                bytes.reserve_exact(data.len() + room);
            }
            bytes.extend_from_slice(&data);
        }
        Ok(false)
    }

    /// The next event of an event stream; `None` at its end. An event may have `limit` bytes.
    pub async fn next_event(&mut self, limit: usize) -> Result<Option<Block>, Lost> {
        match self.next_event_within(usize::MAX, limit).await? {
            NextEvent::Event(block) => Ok(Some(block)),
            NextEvent::Open | NextEvent::End => Ok(None),
        }
    }

    /// The same, which comes back as soon as more than `held` bytes of an event wait for its end. Dropped before it is
    /// ready, it has lost nothing.
    pub async fn next_event_within(&mut self, held: usize, limit: usize) -> Result<NextEvent, Lost> {
        let blocks = self.blocks.get_or_insert_with(|| Blocks::new(limit));
        loop {
            match blocks.next_block() {
                Some(Piece::Whole(bytes)) => return Ok(NextEvent::Event(Block::parse(bytes))),
                Some(_) => return Err(Lost::TooLarge),
                None => {}
            }
            if blocks.waiting().len() > held {
                return Ok(NextEvent::Open);
            }
            let Some(frame) = self.body.frame().await else {
                let rest = match blocks.finish() {
                    Some(Piece::Whole(bytes)) => NextEvent::Event(Block::parse(bytes)),
                    _ => NextEvent::End,
                };
                self.release();
                return Ok(rest);
            };
            blocks.push(&frame.map_err(|_| Lost::Broken)?.into_data().unwrap_or_default());
        }
    }

    /// What has come of the event whose end is awaited.
    pub fn open_event(&self) -> &[u8] {
        self.blocks.as_ref().map_or(&[], Blocks::waiting)
    }

    /// The body from here on, which passes as it comes: `first`, then the rest. Silence of more than `patience` breaks it.
    pub fn into_body(self, first: Bytes, patience: Duration) -> Passed {
        Passed::new(self, first, None, patience)
    }

    /// The event that has begun, to its end. What the server sends after it is not read.
    pub fn into_event(mut self, patience: Duration) -> Passed {
        let first = Bytes::copy_from_slice(self.open_event());
        self.blocks = None;
        Passed::new(self, first, Some(EventEnd::default()), patience)
    }

    /// The connection is free for another request.
    pub(super) fn release(&mut self) {
        if let Some(link) = self.link.take() {
            self.pool.give_back(link);
        }
    }
}
