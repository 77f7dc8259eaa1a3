//! A seam for servers that misbehave on purpose: what comes in may be altered before anything looks at it, what goes out
//! after everything is done with it. Absent, it costs one look at an `Option`. Knows no fault by name.

use std::fmt;
use std::time::Duration;

pub use bytes::Bytes;
pub use hyper::http::request::Parts;
pub use hyper::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use wire::{Message, Transport};

/// What stands between an endpoint and its peer. Every method leaves things as they are unless overridden.
pub trait Manners: fmt::Debug + Send + Sync + 'static {
    /// HTTP: the head of a request, before it is looked at.
    fn head(&self, head: &mut Parts) {
        let _ = head;
    }

    /// HTTP: whether a request is let in though it does not carry the token that it must.
    fn admits(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let _ = (uri, headers);
        false
    }

    /// HTTP: a message that was posted alone, and the headers it came under, before its era is decided.
    fn message(&self, message: Message, headers: &mut HeaderMap) -> Message {
        let _ = headers;
        message
    }

    /// HTTP: a response, before its head is written. `asked` is the head of the request as it came.
    fn response(&self, asked: &Parts, response: &mut Outgoing<'_>) {
        let _ = (asked, response);
    }

    /// HTTP+SSE, WebSocket: the text that one POST or one frame brought.
    fn text_in(&self, over: Transport, text: Vec<u8>) -> Vec<u8> {
        let _ = over;
        text
    }

    /// WebSocket: the text of a frame about to be written, and of those that follow it. It must stay UTF-8: anything else is
    /// no text frame.
    fn frames_out(&self, text: Vec<u8>) -> Vec<Vec<u8>> {
        vec![text]
    }

    /// stdio: what is written before anything was read, line feeds and all.
    fn first_words(&self) -> Vec<u8> {
        Vec::new()
    }

    /// stdio: what one read brought of a line, or its end.
    fn piece_in(&self, piece: &[u8]) -> Vec<u8> {
        piece.to_vec()
    }

    /// stdio: a line that came in, with its line feed.
    fn line_in(&self, line: Vec<u8>) -> Vec<u8> {
        line
    }

    /// stdio: whether a line that came in, with its line feed, makes the process break off with an error.
    fn breaks_off_at(&self, line: &[u8]) -> bool {
        let _ = line;
        false
    }

    /// stdio: a line about to be written, with its line feed.
    fn line_out(&self, line: Vec<u8>) -> Vec<u8> {
        line
    }

    /// stdio: whether the end of the input is the end.
    fn ends_with_input(&self) -> bool {
        true
    }
}

/// Alters a piece of a body: a whole JSON text, or one event of a stream.
pub type Edit = Box<dyn FnMut(Bytes) -> Bytes + Send>;

/// A response that may be altered.
pub struct Outgoing<'r> {
    /// The status.
    pub status: &'r mut StatusCode,
    /// The headers; the length of a whole body is not among them yet.
    pub headers: &'r mut HeaderMap,
    /// The body, where it is one whole text.
    pub text: Option<Bytes>,
    /// What becomes of the body.
    pub body: Alteration,
    /// How long it is held back.
    pub pause: Duration,
}

/// What becomes of a body.
#[derive(Default)]
pub enum Alteration {
    /// Nothing.
    #[default]
    None,
    /// Another one stands in its place.
    Replaced(Bytes),
    /// Each piece is altered on its way.
    Edited(Edit),
}
