//! A response of an HTTP endpoint that may be altered on its way out.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use net::server::http::{Body, Bytes, Frame, HeaderMap, HttpBody, StatusCode};

use super::state::State;

/// Alters a piece of a body: a whole JSON text, or one event of a stream.
type Edit = Box<dyn FnMut(Bytes) -> Bytes + Send>;

/// A response that may be altered.
pub(super) struct Outgoing<'r> {
    pub(super) status: &'r mut StatusCode,
    /// The headers; the length of a whole body is not among them yet.
    pub(super) headers: &'r mut HeaderMap,
    /// The body, where it is one whole text.
    pub(super) text: Option<Bytes>,
    /// What becomes of the body.
    pub(super) body: Alteration,
    /// How long it is held back.
    pub(super) pause: Duration,
    /// What the faults of this server remember.
    pub(super) state: &'r State,
}

/// What becomes of a body.
pub(super) enum Alteration {
    /// Nothing.
    None,
    /// Another one stands in its place.
    Replaced(Bytes),
    /// Each piece is altered on its way.
    Edited(Edit),
}

impl Alteration {
    /// What `body` becomes.
    pub(super) fn of(self, body: Body) -> Body {
        match self {
            Self::None => body,
            Self::Replaced(text) => Body::Whole(Some(text)),
            Self::Edited(edit) => Body::boxed(EditedBody { body, edit }),
        }
    }
}

/// A body, each piece of it altered.
struct EditedBody {
    body: Body,
    edit: Edit,
}

impl HttpBody for EditedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = &mut *self;
        let polled = Pin::new(&mut this.body).poll_frame(context);
        polled.map(|frame| frame.map(|frame| frame.map(|frame| frame.map_data(&mut this.edit))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}
