//! A response that passes on as it comes, in bounded memory. Knows no message: who asks for it has seen that nothing in it
//! needs an edit.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};
use wire::framing::sse::EventEnd;

use super::http::Response;

/// The rest of a response, passed on piece by piece: it holds no more than one piece.
pub struct Passed {
    response: Response,
    first: Option<Bytes>,
    /// Finds the end, where it is an event's.
    event: Option<EventEnd>,
    ended: bool,
    patience: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl fmt::Debug for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passed").finish_non_exhaustive()
    }
}

impl Passed {
    pub(super) fn new(response: Response, first: Bytes, event: Option<EventEnd>, patience: Duration) -> Self {
        let first = Some(first).filter(|first| !first.is_empty());
        let mut passed = Self { response, first: None, event, ended: false, patience, timer: None };
        passed.first = first.map(|first| passed.cut(first));
        passed
    }

    /// A piece, cut where the event ends.
    fn cut(&mut self, mut piece: Bytes) -> Bytes {
        if let Some(end) = self.event.as_mut().and_then(|event| event.find(&piece)) {
            piece.truncate(end);
            self.ended = true;
        }
        piece
    }

    fn poll_silence(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let patience = self.patience;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(patience)));
        timer.as_mut().poll(context).map(|()| Some(Err(io::ErrorKind::TimedOut.into())))
    }
}

impl Body for Passed {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = &mut *self;
        if let Some(first) = this.first.take() {
            // It may be all: a body of known length is not polled to its end.
            if this.response.body.is_end_stream() {
                this.response.release();
            }
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if this.ended {
            // Mostly the end of the body comes with the end of the event.
            if matches!(Pin::new(&mut this.response.body).poll_frame(context), Poll::Ready(None)) {
                this.response.release();
            }
            return Poll::Ready(None);
        }
        match Pin::new(&mut this.response.body).poll_frame(context) {
            Poll::Pending => this.poll_silence(context),
            Poll::Ready(None) if this.event.is_some() => {
                // Half an event is no event: the client must not take it for the end.
                Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into())))
            }
            Poll::Ready(None) => {
                this.response.release();
                Poll::Ready(None)
            }
            Poll::Ready(Some(frame)) => {
                if let Some(timer) = &mut this.timer {
                    timer.as_mut().reset(Instant::now() + this.patience);
                }
                let piece = frame.map(|frame| this.cut(frame.into_data().unwrap_or_default()));
                // A body of known length is not polled to its end.
                if this.response.body.is_end_stream() {
                    this.response.release();
                }
                Poll::Ready(Some(piece.map(Frame::data).map_err(io::Error::other)))
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        let first = self.first.as_ref().map_or(0, Bytes::len) as u64;
        let mut hint = SizeHint::new();
        hint.set_lower(first);
        match self.response.body.size_hint().exact() {
            Some(rest) if self.event.is_none() => SizeHint::with_exact(first + rest),
            _ => hint,
        }
    }
}
