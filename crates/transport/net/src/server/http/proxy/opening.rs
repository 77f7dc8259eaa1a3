//! A GET outside sessions, whose response shows what it is: the stream of HTTP+SSE, a WebSocket, or any other. It is passed on
//! at once, but recorded only when its connection is known. The event that names the endpoint of an HTTP+SSE client is changed
//! to lead back through the proxy.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::http::request::Parts;
use hyper::http::response;
use url::{Origin, Position, Url};
use wire::framing::Piece;
use wire::framing::sse::{Block, Blocks};
use wire::http::{EVENT_STREAM, has_media_type};

use crate::server::http::Body;
use crate::server::link::Closing;
use crate::server::recorder::{ConnectionName, ExchangeRecorder, ExchangeRole, HttpRecorder, RecordedBody};

/// How much may come before the first event.
const BEFORE: usize = 64 << 10;

/// A request that is not recorded yet. Dropped, it is recorded without a response.
pub(super) struct Unsettled {
    head: Option<Parts>,
    at: u64,
    recorder: Arc<HttpRecorder>,
    closing: Closing,
}

impl Unsettled {
    pub(super) const fn new(head: Parts, at: u64, recorder: Arc<HttpRecorder>, closing: Closing) -> Self {
        Self { head: Some(head), at, recorder, closing }
    }

    /// Records it. `None` where that was done before.
    pub(super) fn settle(&mut self, role: ExchangeRole) -> Option<ExchangeRecorder> {
        let head = self.head.take()?;
        Some(ExchangeRecorder::of(&self.recorder, role, &head, None, self.at, self.closing.clone()))
    }

    /// Records the response as it is sent; an event stream, when its first event shows what it is.
    pub(super) fn answer(mut self, upstream: &Origin, head: &response::Parts, body: Body) -> Body {
        let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if head.status.is_success() && kind.is_some_and(|kind| has_media_type(kind, EVENT_STREAM)) {
            let host = self.head.as_ref().and_then(|head| head.headers.get(HOST)?.to_str().ok());
            let here = Url::parse(&format!("http://{}", host.unwrap_or_default())).ok();
            let way = Way { upstream: upstream.clone(), here };
            let awaited = Awaited { request: self, head: head.clone(), body, seen: Vec::new() };
            let state = State::Awaited(Box::new(awaited));
            return Body::boxed(Opening { state, blocks: Blocks::new(BEFORE), pending: Vec::new(), way });
        }
        match self.settle(ExchangeRole::Http) {
            Some(exchange) => exchange.answer(head, body),
            None => body,
        }
    }
}

impl Drop for Unsettled {
    fn drop(&mut self) {
        drop(self.settle(ExchangeRole::Http));
    }
}

/// An event stream, from its beginning on.
struct Opening {
    state: State,
    blocks: Blocks,
    /// Received and not passed on yet: the beginning of a block.
    pending: Vec<u8>,
    way: Way,
}

enum State {
    /// No event came yet; `seen` was received.
    Awaited(Box<Awaited>),
    /// Its kind is known.
    Known(Box<RecordedBody>),
    /// It has ended.
    Gone,
}

struct Awaited {
    request: Unsettled,
    head: response::Parts,
    body: Body,
    seen: Vec<u8>,
}

impl HttpBody for Opening {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = &mut *self;
        loop {
            let (body, seen) = match &mut this.state {
                State::Awaited(awaited) => (&mut awaited.body, &mut awaited.seen),
                State::Known(written) => return Pin::new(written.as_mut()).poll_frame(context),
                State::Gone => return Poll::Ready(None),
            };
            let polled = ready!(Pin::new(body).poll_frame(context));
            let Some(data) = polled.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()) else {
                // It ends, or breaks, before the first event.
                let rest = this.rest();
                this.known(ExchangeRole::Http, None, &rest);
                if rest.is_empty() {
                    return Poll::Ready(polled);
                }
                return Poll::Ready(Some(Ok(Frame::data(rest.into()))));
            };
            this.blocks.push(data);
            this.pending.extend_from_slice(data);
            let mut passes = Vec::new();
            while let Some(piece) = this.blocks.next_block() {
                let whole = match piece {
                    Piece::Whole(bytes) => bytes.len(),
                    Piece::Rest(_) | Piece::TooLong(_) => 0,
                };
                let bytes: Vec<u8> = this.pending.drain(..whole).collect();
                let block = Block::parse(&bytes);
                if whole > 0 && block.event.is_none() && block.data.is_none() && seen.len() < BEFORE {
                    seen.extend_from_slice(&bytes);
                    passes.extend(bytes);
                    continue;
                }
                let endpoint = block.data.clone().filter(|_| block.event.as_deref() == Some("endpoint"));
                let told = endpoint.as_deref().and_then(|data| this.way.back(&block, data));
                passes.extend_from_slice(told.as_deref().unwrap_or(&bytes));
                let rest = this.rest();
                passes.extend_from_slice(&rest);
                let target = endpoint.and_then(|data| this.way.target(&data));
                let role = if target.is_some() { ExchangeRole::Stream } else { ExchangeRole::Http };
                this.known(role, target, &[bytes, rest].concat());
                break;
            }
            if !passes.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(passes.into()))));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.state {
            State::Awaited(awaited) => awaited.body.is_end_stream(),
            State::Known(written) => written.is_end_stream(),
            State::Gone => true,
        }
    }
}

impl Opening {
    /// Takes what was received and not passed on yet.
    fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.pending)
    }

    /// Records what was received so far, `more` last.
    fn known(&mut self, role: ExchangeRole, target: Option<String>, more: &[u8]) {
        let State::Awaited(awaited) = std::mem::replace(&mut self.state, State::Gone) else { return };
        let Awaited { mut request, mut head, body, seen } = *awaited;
        let Some(exchange) = request.settle(role) else { return };
        if let Some(target) = target {
            head.extensions.insert(ConnectionName(target));
        }
        if let Ok(mut written) = exchange.written(&head, body) {
            written.take(&seen);
            written.take(more);
            self.state = State::Known(Box::new(written));
        }
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        let rest = self.rest();
        self.known(ExchangeRole::Http, None, &rest);
    }
}

/// From the server's address to the proxy's.
struct Way {
    upstream: Origin,
    /// The proxy's address, as the client called it.
    here: Option<Url>,
}

impl Way {
    /// The path and query of an endpoint that leads back here. `None` where it is on another origin.
    fn target(&self, data: &str) -> Option<String> {
        let here = self.here.as_ref()?;
        let url = here.join(data.trim()).ok()?;
        let ours = url.origin() == self.upstream || url.origin() == here.origin();
        ours.then(|| url[Position::BeforePath..Position::AfterQuery].to_owned())
    }

    /// The block with our address for that of the server, where it has that.
    fn back(&self, block: &Block, data: &str) -> Option<Vec<u8>> {
        let there = Url::parse(data.trim()).ok().filter(|url| url.origin() == self.upstream)?;
        let path = &there[Position::BeforePath..];
        let data = self.here.as_ref()?.join(path).ok()?.to_string();
        Some(Block { data: Some(data), ..block.clone() }.render().into_bytes())
    }
}
