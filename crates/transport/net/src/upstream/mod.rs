//! The client ends for programs that pass traffic on: requests go out and messages come back, without a trace and without a
//! task for each request. They know bytes, not what a message means.

mod child;
mod http;
mod passed;
mod queue;
mod sse;
mod websocket;

use bytes::Bytes;

pub use child::{Child, ChildLimits, Ended};
pub use http::{Failure, HttpUpstream, Lost, NextEvent, Response};
pub use passed::Passed;
pub use queue::{NotQueued, Queue, QueueSender, queue};
pub use sse::Sse;
pub use websocket::WebSocket;

/// How many messages of one connection may wait to be read, and how many bytes the large ones of them have.
const WAITING: usize = 256;
const WAITING_BYTES: u32 = 4 << 20;

/// What a connection without a response for each request brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A message: a line of a child process without its end, the data of an event, a frame of a WebSocket.
    Message(Bytes),
    /// One that is longer than the limit. Nothing after it is read.
    TooLong,
    /// A line of a child process on stderr, shortened where it is long.
    Log(String),
}

impl Output {
    /// How much room it takes.
    fn bytes(&self) -> usize {
        match self {
            Self::Message(message) => message.len(),
            Self::Log(line) => line.len(),
            Self::TooLong => 0,
        }
    }
}
