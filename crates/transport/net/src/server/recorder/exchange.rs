//! One HTTP request and its response as they are written down: heads, bodies, the blocks of a stream, and the end.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::http::request::Parts;
use hyper::http::response;
use hyper::{HeaderMap, Method};
use wire::Party;
use wire::framing::Piece;
use wire::framing::sse::Blocks;
use wire::http::{EVENT_STREAM, has_media_type};
use wire::trace::{Closed, Content, Headers};

use super::connections::{Seat, session};
use super::{Pen, Taps};
use crate::server::http::Body;
use crate::server::link::Closing;
use crate::tap::Written as Frames;

/// The longest block of one of our own streams that is looked at.
const BLOCK: usize = 64 << 20;

/// What came as the body of a request.
pub(crate) struct Sent {
    pub(crate) bytes: Vec<u8>,
    pub(crate) complete: bool,
}

/// Who writes one exchange down. Dropped before the response has ended, it says that the client let go of it.
pub(crate) struct Scribe {
    pen: Pen,
    exchange: u32,
    cause: Frames,
    ended: bool,
    taps: Arc<Taps>,
    closing: Closing,
    seat: Seat,
    /// Whether the session is to be ended.
    deletes: bool,
}

impl Scribe {
    /// Writes the request down, which came at `at` (see [`Taps::now`]).
    pub(crate) fn of(
        taps: &Arc<Taps>,
        seat: Seat,
        head: &Parts,
        sent: Option<Sent>,
        at: u64,
        closing: Closing,
    ) -> Self {
        let pen = taps.pen(seat, head, sent.as_ref().map(|sent| sent.bytes.as_slice()), at);
        // A WebSocket has but one stream each way, its handshake included.
        let exchange = if seat == Seat::Socket { 0 } else { pen.tap.next_exchange() };
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
        let request = Content::Request { method: head.method.to_string(), target, headers: listed(&head.headers) };
        let mut cause = pen.write_since(at, Party::Client, exchange, request, Frames::NONE);
        if let Some(Sent { bytes, complete }) = sent {
            cause = pen.write_since(at, Party::Client, exchange, Content::Body { bytes, complete }, cause);
        }
        let deletes = head.method == Method::DELETE;
        Self { pen, exchange, cause, ended: false, taps: Arc::clone(taps), closing, seat, deletes }
    }

    /// The connection's own pen, for whoever goes on with it.
    pub(crate) fn pen(&self) -> Pen {
        self.pen.clone()
    }

    /// Writes the head of the response down, and gives a body that will write itself.
    pub(crate) fn answer(self, head: &response::Parts, body: Body) -> Body {
        self.written(head, body).map_or_else(|body| body, Body::boxed)
    }

    /// The same; `Err` with the body as it is where that is not of this exchange.
    pub(crate) fn written(mut self, head: &response::Parts, body: Body) -> Result<Written, Body> {
        let content = Content::Response { status: head.status.as_u16(), headers: listed(&head.headers) };
        self.pen.write(Party::Server, self.exchange, content, self.cause);
        if let Some(name) = session(&head.headers) {
            self.taps.named(&self.pen, name);
        }
        if let Some(Named(name)) = head.extensions.get() {
            self.taps.named(&self.pen, name);
        }
        if self.deletes && head.status.is_success() {
            self.taps.ended(&self.pen);
        }
        if self.seat == Seat::Socket {
            // The connection goes on, or was refused; either is written down by whoever knows.
            self.ended = true;
            return Err(body);
        }
        let kind = head.headers.get(hyper::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let streams = kind.is_some_and(|kind| has_media_type(kind, EVENT_STREAM));
        let so_far = if streams { SoFar::Events(Blocks::new(BLOCK)) } else { SoFar::Text(Vec::new()) };
        Ok(Written { body, scribe: self, so_far })
    }

    fn end(&mut self, from: Party, how: Closed) {
        if !std::mem::replace(&mut self.ended, true) {
            self.pen.write(from, self.exchange, Content::Closed(how), Frames::NONE);
        }
    }
}

impl Drop for Scribe {
    fn drop(&mut self) {
        let whose = if self.closing.has_begun() { Party::Server } else { Party::Client };
        self.end(whose, Closed::Aborted);
    }
}

/// What a response calls its connection by: an extension of its head.
#[derive(Clone)]
pub(crate) struct Named(pub(crate) String);

/// A body that is written down as it goes out.
pub(crate) struct Written {
    body: Body,
    scribe: Scribe,
    so_far: SoFar,
}

enum SoFar {
    Text(Vec<u8>),
    Events(Blocks),
}

impl Written {
    /// Takes note of what goes out.
    pub(crate) fn take(&mut self, data: &[u8]) {
        match &mut self.so_far {
            SoFar::Text(text) => text.extend_from_slice(data),
            SoFar::Events(blocks) => {
                blocks.push(data);
                while let Some(piece) = blocks.next_block() {
                    self.scribe.block(piece);
                }
            }
        }
    }

    /// Everything went out.
    fn finish(&mut self) {
        if self.scribe.ended {
            return;
        }
        self.rest(true);
        self.scribe.end(Party::Server, Closed::End);
    }

    fn rest(&mut self, complete: bool) {
        match &mut self.so_far {
            SoFar::Text(text) => {
                let content = Content::Body { bytes: std::mem::take(text), complete };
                self.scribe.pen.write(Party::Server, self.scribe.exchange, content, self.scribe.cause);
            }
            SoFar::Events(blocks) => {
                if let Some(piece) = blocks.finish() {
                    self.scribe.block(piece);
                }
            }
        }
    }
}

impl HttpBody for Written {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    self.take(data);
                }
            }
            Poll::Ready(None) => self.finish(),
            Poll::Ready(Some(Err(_))) => self.scribe.end(Party::Server, Closed::Aborted),
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        if self.body.is_end_stream() {
            self.finish();
        } else if !self.scribe.ended {
            self.rest(false);
        }
    }
}

impl Scribe {
    fn block(&self, piece: Piece<'_>) {
        let content = match piece {
            Piece::Whole(bytes) => Content::Sse(bytes.to_vec()),
            Piece::Rest(bytes) | Piece::TooLong(bytes) => Content::Raw(bytes.to_vec()),
        };
        self.pen.write(Party::Server, self.exchange, content, self.cause);
    }
}

fn listed(headers: &HeaderMap) -> Headers {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes()))).collect()
}
