//! The body of a request: as it comes or, where it is written down, what came of it and perhaps a rest.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Instant, timeout_at};

use crate::server::tapped::Sent;

/// The body of a request.
pub(super) struct Inlet {
    /// What was read of it before.
    first: Option<Bytes>,
    rest: Rest,
}

enum Rest {
    Coming(Incoming),
    Nothing,
    Broken,
}

impl From<Incoming> for Inlet {
    fn from(body: Incoming) -> Self {
        Self { first: None, rest: Rest::Coming(body) }
    }
}

impl Inlet {
    /// Reads a body of about `most` bytes before anybody else does; what is longer or slower stays to be read. `None`
    /// where there is no body at all.
    pub(super) async fn read(mut body: Incoming, most: usize, patience: Duration) -> (Self, Option<Sent>) {
        if body.is_end_stream() {
            return (Self { first: None, rest: Rest::Nothing }, None);
        }
        let deadline = Instant::now() + patience;
        let mut bytes = Vec::new();
        let rest = loop {
            match timeout_at(deadline, body.frame()).await {
                Err(_) => break Rest::Coming(body),
                Ok(None) => break Rest::Nothing,
                Ok(Some(Err(_))) => break Rest::Broken,
                Ok(Some(Ok(frame))) => bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| &data[..])),
            }
            if bytes.len() > most {
                break Rest::Coming(body);
            }
        };
        let sent = Sent { bytes: bytes.clone(), complete: matches!(rest, Rest::Nothing) };
        (Self { first: Some(bytes.into()), rest }, Some(sent))
    }
}

impl Body for Inlet {
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
