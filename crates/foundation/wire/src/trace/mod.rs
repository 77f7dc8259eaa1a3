//! A trace: everything that crossed in one case, as many exchanges with as many parties as it took.
//!
//! A [`Frame`] is bytes as they crossed; an [`Event`] is a frame understood. Events are always derived, never stored, so
//! that a recording can be judged again by a better reader. Order is total only within one stream: nothing may read
//! causality into the interleaving of two. The file format is [`file`].

mod event;
pub mod file;
pub mod mark;

pub use event::{Event, SseFields};
pub use mark::{Limit, Mark, MarkKind, Signal, Stimulus, StimulusKind};

use crate::revision::{Revision, Transport};

/// Who sent or received a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Party {
    /// The MCP client.
    Client,
    /// The MCP server.
    Server,
    /// An OAuth authorization server.
    AuthorizationServer,
    /// Anyone else: another origin, a proxy.
    Other,
}

impl Party {
    /// The name in files and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::AuthorizationServer => "authorization-server",
            Self::Other => "other",
        }
    }

    /// The other end of an MCP connection; anyone outside it talks with the client.
    pub const fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            _ => Self::Client,
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Client, Self::Server, Self::AuthorizationServer, Self::Other].into_iter().find(|p| p.as_str() == name)
    }
}

/// What holds for a whole trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The party that is judged.
    pub subject: Party,
    /// What carried the messages.
    pub transport: Transport,
    /// The revision that was meant to be spoken; `None` where that is read from the messages (a recording).
    pub revision: Option<Revision>,
    /// The case's name: a probe, or how the recording was made.
    pub case: String,
}

impl Header {
    /// A header for a case of `case`, judged on the server's side.
    pub fn server(transport: Transport, revision: Revision, case: impl Into<String>) -> Self {
        Self { subject: Party::Server, transport, revision: Some(revision), case: case.into() }
    }
}

/// One piece of what crossed.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// When it began, in microseconds since the trace began.
    pub at: u64,
    /// When it was complete, likewise; never before `at`.
    pub done: u64,
    /// Who sent it. For a [`Content::Mark`], [`Content::Opened`] and the like: whose doing it was.
    pub from: Party,
    /// Who received it.
    pub to: Party,
    /// The connection: one child process, one socket, one session over HTTP. Counted from 1.
    pub connection: u32,
    /// The exchange within the trace: one HTTP request with its whole response, one stream. Counted from 1; 0 where the
    /// connection has but one stream each way (stdio, WebSocket).
    pub exchange: u32,
    /// The frame that caused this one, where we know.
    pub cause: Option<usize>,
    /// What it is.
    pub content: Content,
}

impl Frame {
    /// A frame of `content` from `from` to its peer at time 0 on connection 1, outside any exchange.
    pub fn new(from: Party, content: Content) -> Self {
        Self { at: 0, done: 0, from, to: from.peer(), connection: 1, exchange: 0, cause: None, content }
    }
}

/// The content of a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A line on stdin or stdout without its line feed (a carriage return before it stays).
    Line {
        /// The bytes before the line feed.
        bytes: Vec<u8>,
        /// Whether the line feed came; only a stream's last line may lack it.
        terminated: bool,
    },
    /// The head of an HTTP request.
    Request {
        /// `POST`, `GET`, …
        method: String,
        /// The request target as sent: path and query.
        target: String,
        /// Names and values in order, as sent.
        headers: Headers,
    },
    /// The head of an HTTP response.
    Response {
        /// The status code.
        status: u16,
        /// Names and values in order, as received.
        headers: Headers,
    },
    /// The whole body of an HTTP request, or of a response that is not an event stream.
    Body {
        /// The bytes, transfer coding removed.
        bytes: Vec<u8>,
        /// Whether all of it came.
        complete: bool,
    },
    /// One block of an event stream, its terminating blank line included: fields, comments or both.
    Sse(Vec<u8>),
    /// A text or binary message over WebSocket.
    WebSocket {
        /// The payload.
        bytes: Vec<u8>,
        /// Text, as opposed to binary.
        text: bool,
    },
    /// A line the child wrote to stderr, without its line feed.
    Stderr(Vec<u8>),
    /// Bytes sent or received outside any framing above: broken HTTP, half a message.
    Raw(Vec<u8>),
    /// The connection or exchange began.
    Opened,
    /// The connection or exchange ended. `from` tells whose doing it was.
    Closed(Closed),
    /// The child process ended.
    Exit {
        /// The exit code, if it exited.
        code: Option<i32>,
        /// The signal, if one killed it.
        signal: Option<i32>,
    },
    /// A fact about our own side that the wire does not show; never an expectation.
    Mark(Mark),
}

impl Content {
    /// How many bytes of a peer's or our own it holds, roughly.
    pub fn weight(&self) -> usize {
        let headers = |headers: &[(String, String)]| headers.iter().map(|(n, v)| n.len() + v.len() + 48).sum::<usize>();
        match self {
            Self::Line { bytes, .. }
            | Self::Body { bytes, .. }
            | Self::WebSocket { bytes, .. }
            | Self::Sse(bytes)
            | Self::Stderr(bytes)
            | Self::Raw(bytes) => bytes.len(),
            Self::Request { target, headers: h, .. } => target.len() + headers(h),
            Self::Response { headers: h, .. } => headers(h),
            Self::Opened | Self::Closed(_) | Self::Exit { .. } | Self::Mark(_) => 0,
        }
    }
}

/// Header names and values in order. Values are kept as text; bytes outside UTF-8 become U+FFFD.
pub type Headers = Vec<(String, String)>;

/// The first value of header `name`, compared without regard to case.
pub fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
}

/// How a connection or exchange ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closed {
    /// In order: end of stream, end of body, close frame.
    End,
    /// Cut off: reset, broken pipe, end inside a frame.
    Reset,
    /// Never came about: refused, no such host, TLS failure.
    Failed,
    /// We gave up waiting.
    TimedOut,
    /// We cut it on purpose.
    Aborted,
}

impl Closed {
    const ALL: [Self; 5] = [Self::End, Self::Reset, Self::Failed, Self::TimedOut, Self::Aborted];

    /// The name in files.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Reset => "reset",
            Self::Failed => "failed",
            Self::TimedOut => "timed-out",
            Self::Aborted => "aborted",
        }
    }
}

/// Everything that crossed in one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// What holds for all of it.
    pub header: Header,
    /// In the order in which they were seen to begin.
    pub frames: Vec<Frame>,
}

impl Trace {
    /// A trace with nothing in it yet.
    pub const fn new(header: Header) -> Self {
        Self { header, frames: Vec::new() }
    }

    /// How many bytes its frames hold, roughly.
    pub fn weight(&self) -> usize {
        self.frames.iter().map(|frame| frame.content.weight()).sum()
    }

    /// Every frame understood, in order; an event's index is its frame's.
    pub fn events(&self) -> Vec<Event> {
        self.frames.iter().map(Event::of).collect()
    }
}
