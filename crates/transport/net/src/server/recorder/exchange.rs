//! Records one HTTP request and its response: heads, bodies, the blocks of a stream, and the end.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::header::CONTENT_ENCODING;
use hyper::http::request::Parts;
use hyper::http::response;
use hyper::{HeaderMap, Method};
use wire::Party;
use wire::framing::Piece;
use wire::framing::sse::Blocks;
use wire::http::{EVENT_STREAM, has_media_type};
use wire::trace::{Closed, Content, Headers, Limit, Mark};

use super::connections::{ExchangeRole, session};
use super::{ConnectionRecorder, Held, HttpRecorder, LONGEST};
use crate::server::http::Body;
use crate::server::link::Closing;
use crate::tap::Written as Cause;

/// How many bytes of a stream are taken at a time.
const PIECE: usize = 64 << 10;

/// The body of a request as it was received.
pub(crate) struct RequestBody {
    pub(crate) bytes: Vec<u8>,
    pub(crate) complete: bool,
}

/// Records one exchange. Dropped before the response has ended, it records that the client aborted it.
pub(crate) struct ExchangeRecorder {
    connection: ConnectionRecorder,
    number: u32,
    cause: Cause,
    ended: bool,
    recorder: Arc<HttpRecorder>,
    closing: Closing,
    role: ExchangeRole,
    /// Whether the session is to be ended.
    deletes: bool,
}

impl ExchangeRecorder {
    /// Records the request, which came at `at` (see [`HttpRecorder::now`]).
    pub(crate) fn of(
        recorder: &Arc<HttpRecorder>,
        role: ExchangeRole,
        head: &Parts,
        sent: Option<RequestBody>,
        at: u64,
        closing: Closing,
    ) -> Self {
        let connection = recorder.connection(role, head, sent.as_ref().map(|sent| sent.bytes.as_slice()), at);
        // The handshake of a WebSocket is recorded outside exchanges, like its frames.
        let number = if role == ExchangeRole::Socket { 0 } else { connection.tap.next_exchange() };
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
        let request = Content::Request { method: head.method.to_string(), target, headers: header_list(&head.headers) };
        let mut cause = connection.write_since(at, Party::Client, number, request, Cause::NONE);
        if let Some(RequestBody { bytes, complete }) = sent {
            let (bytes, complete) = if is_encoded(&head.headers) { (Vec::new(), false) } else { (bytes, complete) };
            cause = connection.write_since(at, Party::Client, number, Content::Body { bytes, complete }, cause);
        }
        let deletes = head.method == Method::DELETE;
        Self { connection, number, cause, ended: false, recorder: Arc::clone(recorder), closing, role, deletes }
    }

    /// The connection that the exchange belongs to.
    pub(crate) fn connection(&self) -> ConnectionRecorder {
        self.connection.clone()
    }

    /// Records the head of the response, and returns a body that records itself.
    pub(crate) fn answer(self, head: &response::Parts, body: Body) -> Body {
        self.written(head, body).map_or_else(|body| body, Body::boxed)
    }

    /// The same; `Err` with the unchanged body where it is not recorded here.
    pub(crate) fn written(mut self, head: &response::Parts, body: Body) -> Result<RecordedBody, Body> {
        let content = Content::Response { status: head.status.as_u16(), headers: header_list(&head.headers) };
        self.connection.write(Party::Server, self.number, content, self.cause);
        if let Some(name) = session(&head.headers) {
            self.recorder.named(&self.connection, name);
        }
        if let Some(ConnectionName(name)) = head.extensions.get() {
            self.recorder.named(&self.connection, name);
        }
        if self.deletes && head.status.is_success() {
            self.recorder.ended(&self.connection);
        }
        if self.role == ExchangeRole::Socket {
            // The socket's frames, or its refusal, are recorded elsewhere.
            self.ended = true;
            return Err(body);
        }
        let kind = head.headers.get(hyper::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let streams = kind.is_some_and(|kind| has_media_type(kind, EVENT_STREAM));
        let so_far = match streams {
            _ if is_encoded(&head.headers) => SoFar::Lost,
            true => SoFar::Events(Blocks::new(LONGEST)),
            false => SoFar::Text(Vec::new()),
        };
        let held = self.recorder.hold();
        let written = RecordedBody { body, exchange: self, so_far, held };
        if matches!(written.so_far, SoFar::Lost) {
            written.exchange.text(Vec::new(), false);
        }
        Ok(written)
    }

    fn end(&mut self, from: Party, how: Closed) {
        if !std::mem::replace(&mut self.ended, true) {
            self.connection.write(from, self.number, Content::Closed(how), Cause::NONE);
        }
    }
}

impl Drop for ExchangeRecorder {
    fn drop(&mut self) {
        let whose = if self.closing.has_begun() { Party::Server } else { Party::Client };
        self.end(whose, Closed::Aborted);
    }
}

/// The name that a response gives to its connection: an extension of its head.
#[derive(Clone)]
pub(crate) struct ConnectionName(pub(crate) String);

/// A body that is recorded as it is sent.
pub(crate) struct RecordedBody {
    body: Body,
    exchange: ExchangeRecorder,
    so_far: SoFar,
    held: Held,
}

enum SoFar {
    Text(Vec<u8>),
    Events(Blocks),
    /// The rest is not recorded: it is encoded, so that no secret would be found in it, or longer than there is room for.
    Lost,
}

impl RecordedBody {
    /// Records data that is sent.
    pub(crate) fn take(&mut self, data: &[u8]) {
        let mut blocks = match &mut self.so_far {
            SoFar::Lost => return,
            SoFar::Text(text) if self.held.grow(data.len()) => return text.extend_from_slice(data),
            SoFar::Text(_) => return self.lose(),
            SoFar::Events(blocks) => blocks,
        };
        // A little at a time: one piece of data may hold many blocks.
        for data in data.chunks(PIECE) {
            if !self.held.grow(data.len()) {
                return self.lose();
            }
            blocks.push(data);
            while let Some(piece) = blocks.next_block() {
                self.exchange.block(piece);
                self.held.release();
            }
            blocks = match &mut self.so_far {
                SoFar::Events(blocks) => blocks,
                SoFar::Text(_) | SoFar::Lost => return,
            };
        }
    }

    /// Records what came so far, and nothing after it.
    fn lose(&mut self) {
        self.rest(false);
        self.so_far = SoFar::Lost;
        self.held.release();
        self.exchange.connection.record(Party::Client, Content::Mark(Mark::Limit(Limit::Message)));
    }

    /// Everything was sent.
    fn finish(&mut self) {
        if self.exchange.ended {
            return;
        }
        self.rest(true);
        self.exchange.end(Party::Server, Closed::End);
    }

    fn rest(&mut self, complete: bool) {
        match &mut self.so_far {
            SoFar::Text(text) => {
                let text = std::mem::take(text);
                self.exchange.text(text, complete);
            }
            SoFar::Events(blocks) => {
                if let Some(piece) = blocks.finish() {
                    self.exchange.block(piece);
                }
            }
            SoFar::Lost => {}
        }
    }
}

impl HttpBody for RecordedBody {
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
            Poll::Ready(Some(Err(_))) => self.exchange.end(Party::Server, Closed::Aborted),
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

impl Drop for RecordedBody {
    fn drop(&mut self) {
        if self.body.is_end_stream() {
            self.finish();
        } else if !self.exchange.ended {
            self.rest(false);
        }
    }
}

impl ExchangeRecorder {
    fn text(&self, bytes: Vec<u8>, complete: bool) {
        self.connection.write(Party::Server, self.number, Content::Body { bytes, complete }, self.cause);
    }

    fn block(&self, piece: Piece<'_>) {
        let content = match piece {
            Piece::Whole(bytes) => Content::Sse(bytes.to_vec()),
            Piece::Rest(bytes) | Piece::TooLong(bytes) => Content::Raw(bytes.to_vec()),
        };
        self.connection.write(Party::Server, self.number, content, self.cause);
    }
}

/// Whether a body is compressed: nothing in it can be redacted.
fn is_encoded(headers: &HeaderMap) -> bool {
    let codings = headers.get_all(CONTENT_ENCODING).iter();
    codings.into_iter().any(|coding| !coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity"))
}

fn header_list(headers: &HeaderMap) -> Headers {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes()))).collect()
}
