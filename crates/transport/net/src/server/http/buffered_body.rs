//! The body of a request: as it comes, or with a part that was read ahead.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Instant, timeout_at};

use crate::server::recorder::RequestBody;

/// The body of a request.
pub struct BufferedBody {
    /// The part that was read ahead.
    first: Option<Bytes>,
    rest: Rest,
}

enum Rest {
    Coming(Incoming),
    Nothing,
    Broken,
}

impl From<Incoming> for BufferedBody {
    fn from(body: Incoming) -> Self {
        Self { first: None, rest: Rest::Coming(body) }
    }
}

impl From<Bytes> for BufferedBody {
    fn from(text: Bytes) -> Self {
        Self { first: Some(text), rest: Rest::Nothing }
    }
}

impl BufferedBody {
    /// Reads about `most` bytes ahead; the rest of a longer or slower body stays to be read. `None` without a body.
    pub(super) async fn read(body: Incoming, most: usize, patience: Duration) -> (Self, Option<RequestBody>) {
        let mut body = Self::from(body);
        body.read_ahead(most, patience).await;
        let sent = body.sent();
        (body, sent)
    }

    /// What was read ahead; `None` without a body.
    pub(super) fn sent(&self) -> Option<RequestBody> {
        let complete = self.whole().is_some();
        self.first.as_ref().map(|bytes| RequestBody { bytes: bytes.to_vec(), complete })
    }

    /// Whether more of it is to come than was read ahead.
    pub(super) const fn is_longer(&self) -> bool {
        self.first.is_some() && matches!(self.rest, Rest::Coming(_))
    }

    /// Reads about `most` bytes ahead, for at most `patience`; the rest of a longer or slower body stays to be read.
    pub async fn read_ahead(&mut self, most: usize, patience: Duration) {
        let mut body = match std::mem::replace(&mut self.rest, Rest::Nothing) {
            Rest::Coming(body) if body.is_end_stream() => return,
            Rest::Coming(body) => body,
            rest => return self.rest = rest,
        };
        let deadline = Instant::now() + patience;
        let mut bytes = Vec::from(self.first.take().unwrap_or_default());
        self.rest = loop {
            if bytes.len() > most {
                break Rest::Coming(body);
            }
            match timeout_at(deadline, body.frame()).await {
                Err(_) => break Rest::Coming(body),
                Ok(None) => break Rest::Nothing,
                Ok(Some(Err(_))) => break Rest::Broken,
                Ok(Some(Ok(frame))) => bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| &data[..])),
            }
        };
        self.first = Some(bytes.into());
    }

    /// The whole body, if it was read ahead to its end.
    pub fn whole(&self) -> Option<&Bytes> {
        self.first.as_ref().filter(|_| matches!(self.rest, Rest::Nothing))
    }
}

impl fmt::Debug for BufferedBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BufferedBody")
    }
}

impl Body for BufferedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let frame = match &mut self.rest {
            Rest::Coming(body) => ready!(Pin::new(body).poll_frame(context)),
            Rest::Nothing => None,
            Rest::Broken => return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into()))),
        };
        Poll::Ready(frame.map(|frame| frame.map_err(io::Error::other)))
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.rest, &self.first) {
            (Rest::Coming(body), None) => body.size_hint(),
            (_, first) => {
                let mut hint = SizeHint::new();
                hint.set_lower(first.as_ref().map_or(0, Bytes::len) as u64);
                hint
            }
        }
    }
}
