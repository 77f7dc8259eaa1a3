//! The body of a response: one text, a modern stream that owns its request's future, a legacy event stream, or the one stream
//! of an HTTP+SSE session.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep, sleep};
use wire::framing::lines::one_line;
use wire::framing::sse::Block;

use super::events::{Cursor, EventStream, Next};
use super::outbox::Outbox;
use crate::service::{Answer, PassedBody, Pending};

/// The body of a response.
pub enum Body {
    /// A complete text, or nothing.
    Whole(Option<Bytes>),
    /// A body that comes piece by piece.
    Boxed(Pin<Box<dyn HttpBody<Data = Bytes, Error = io::Error> + Send>>),
}

impl Body {
    /// A body that comes piece by piece.
    pub fn boxed(body: impl HttpBody<Data = Bytes, Error = io::Error> + Send + 'static) -> Self {
        Self::Boxed(Box::pin(body))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if let Self::Whole(_) = self { "Whole" } else { "Boxed" })
    }
}

/// Events that a task renders and sends one by one.
pub(crate) struct Relay {
    pub(super) events: mpsc::Receiver<Bytes>,
    pub(super) silence: Silence,
}

impl HttpBody for Relay {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        match self.events.poll_recv(context) {
            Poll::Ready(Some(event)) => {
                self.silence.broken();
                frame(event)
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => self.silence.poll(context).map(|comment| Some(Ok(Frame::data(comment)))),
        }
    }
}

/// A modern response stream. Dropping it, as hyper does when the client is gone, drops the request's future with it: that
/// is the cancellation (basic/transports/streamable-http#cancellation).
pub(crate) struct Stream {
    pub(super) pending: Option<Pending>,
    pub(super) last: Option<Last>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) silence: Silence,
}

/// The answer at the end of a modern response stream.
pub(super) enum Last {
    /// A text, which becomes an event.
    Text(Vec<u8>),
    /// An event that passes as it comes.
    Event(Body),
    /// A text that passes as it comes and becomes an event on the way; whether it has begun.
    Json(Body, bool),
}

impl From<Answer> for Last {
    fn from(answer: Answer) -> Self {
        match answer.into_parts() {
            Ok(text) => Self::Text(text),
            Err(PassedBody { is_event: true, body }) => Self::Event(body),
            Err(PassedBody { is_event: false, body }) => Self::Json(body, false),
        }
    }
}

impl Last {
    /// The next piece; `None` at the end.
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Polled {
        match self {
            Self::Text(text) if text.is_empty() => Poll::Ready(None),
            Self::Text(text) => frame(event(&String::from_utf8_lossy(&std::mem::take(text)))),
            Self::Event(body) => Pin::new(body).poll_frame(context),
            Self::Json(_, begun @ false) => {
                *begun = true;
                frame(Bytes::from_static(b"data: "))
            }
            Self::Json(body, true) => {
                if let Some(piece) = ready!(Pin::new(body).poll_frame(context)) {
                    return Poll::Ready(Some(piece.map(|piece| piece.map_data(without_line_ends))));
                }
                *self = Self::Text(Vec::new());
                frame(Bytes::from_static(b"\n\n"))
            }
        }
    }
}

/// A part of a JSON text without its line ends.
fn without_line_ends(piece: Bytes) -> Bytes {
    let changed = match one_line(&piece) {
        Cow::Owned(line) => Some(line),
        Cow::Borrowed(_) => None,
    };
    changed.map_or(piece, Bytes::from)
}

/// A reader of a legacy event stream.
pub(crate) struct Events {
    stream: Arc<EventStream>,
    reader: u64,
    cursor: Cursor,
    priming: Option<Bytes>,
    silence: Silence,
}

impl Events {
    pub(super) fn new(stream: Arc<EventStream>, cursor: Cursor, priming: Option<Bytes>, keep_alive: Duration) -> Self {
        let reader = stream.attach();
        Self { stream, reader, cursor, priming, silence: Silence::new(keep_alive) }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.stream.detach(self.reader);
    }
}

/// Sends a comment after a long silence, so that no proxy closes the connection.
pub(super) struct Silence {
    after: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Silence {
    pub(super) const fn new(after: Duration) -> Self {
        Self { after, timer: None }
    }

    fn broken(&mut self) {
        if let Some(timer) = &mut self.timer {
            timer.as_mut().reset(Instant::now() + self.after);
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Bytes> {
        let after = self.after;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(after)));
        if timer.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        timer.as_mut().reset(Instant::now() + after);
        // Registers the new deadline, which has not passed yet.
        let _ = timer.as_mut().poll(context);
        Poll::Ready(Bytes::from_static(b":\n\n"))
    }
}

fn event(text: &str) -> Bytes {
    Block { data: Some(text.to_owned()), ..Block::default() }.render().into()
}

type Polled = Poll<Option<Result<Frame<Bytes>, io::Error>>>;

fn frame(bytes: Bytes) -> Polled {
    Poll::Ready(Some(Ok(Frame::data(bytes))))
}

impl HttpBody for Stream {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        if let Some(pending) = &mut self.pending
            && let Poll::Ready(answer) = pending.as_mut().poll(context)
        {
            self.pending = None;
            self.last = Some(answer.into());
        }
        match self.outbox.pop() {
            Ok(Some(text)) => {
                self.silence.broken();
                return frame(event(&text));
            }
            Ok(None) => {}
            Err(gone) => return Poll::Ready(Some(Err(io::Error::other(gone)))),
        }
        if let Some(last) = &mut self.last {
            return last.poll_piece(context);
        }
        if self.pending.is_none() {
            return Poll::Ready(None);
        }
        if self.outbox.poll_filled(context).is_ready() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.silence.poll(context).map(|comment| Some(Ok(Frame::data(comment))))
    }
}

impl HttpBody for Events {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        let this = &mut *self;
        if let Some(priming) = this.priming.take() {
            return frame(priming);
        }
        match this.stream.poll_next(this.reader, &mut this.cursor, context) {
            Poll::Ready(Next::Event(event)) => {
                this.silence.broken();
                frame(event)
            }
            Poll::Ready(Next::End) => Poll::Ready(None),
            Poll::Pending => this.silence.poll(context).map(|comment| Some(Ok(Frame::data(comment)))),
        }
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        match &mut *self {
            Self::Whole(text) => Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
            Self::Boxed(body) => body.as_mut().poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(text) => text.is_none(),
            Self::Boxed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(text) => SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64)),
            Self::Boxed(body) => body.size_hint(),
        }
    }
}
