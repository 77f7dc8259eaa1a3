//! A layer around the endpoints, as web frameworks have it: it gets every request first, and the response to it. Recording
//! happens outside of it.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::buffered_body::BufferedBody;
use super::guard::HttpFuture;
use super::options::Limits;
use super::request_body::read;
use super::response::Response;
use super::{Peer, Shared, entry};

/// A request as a layer gets it.
pub type Request = hyper::Request<BufferedBody>;

/// A layer around the endpoints.
pub trait Layer: fmt::Debug + Send + Sync + 'static {
    /// Answers one HTTP request: with a response of its own, or with that of [`Next::run`].
    fn respond<'a>(&'a self, request: Request, next: Next<'a>) -> HttpFuture<'a, Response>;

    /// WebSocket: the text of a received frame, before it is parsed.
    fn text_in(&self, text: Vec<u8>) -> Vec<u8> {
        text
    }

    /// WebSocket: the texts that are sent in place of `text`, a frame each. Each must be UTF-8.
    fn text_out(&self, text: Vec<u8>) -> Vec<Vec<u8>> {
        vec![text]
    }
}

/// The endpoints within a layer.
#[derive(Clone, Copy)]
pub struct Next<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) peer: &'a Peer,
}

impl Next<'_> {
    /// Lets the endpoints answer.
    pub async fn run(self, request: Request) -> Response {
        entry::answer(self.shared, self.peer, request).await
    }

    /// The refusal of a request whose `Host` or `Origin` is foreign, for a layer that answers by itself.
    pub fn distrust(self, request: &Request) -> Option<Response> {
        entry::distrust(self.shared, self.peer, request.headers(), false)
    }

    /// Reads a body within the bounds of the endpoints, or refuses it.
    pub async fn read(self, body: BufferedBody) -> Result<Bytes, Response> {
        read(self.limits(), body).await.map(Bytes::from)
    }

    /// The bounds of the endpoints.
    pub fn limits(&self) -> &Limits {
        &self.shared.options.limits
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Next")
    }
}
