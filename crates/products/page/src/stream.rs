//! The body of a feed: blocks of an event stream, as they are made. Must not know what they say.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use net::server::http::{Bytes, Frame, HttpBody};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// The body of a feed. It keeps its place among the feeds until it is dropped.
#[derive(Debug)]
pub struct Blocks {
    blocks: mpsc::Receiver<Bytes>,
    _place: OwnedSemaphorePermit,
}

impl Blocks {
    /// A feed of these blocks.
    pub const fn new(blocks: mpsc::Receiver<Bytes>, place: OwnedSemaphorePermit) -> Self {
        Self { blocks, _place: place }
    }
}

impl HttpBody for Blocks {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.blocks.poll_recv(context).map(|block| block.map(|block| Ok(Frame::data(block))))
    }
}

/// One block: what it is, after which change, and its data.
pub fn block(name: &str, seq: u64, data: &Value) -> Bytes {
    Bytes::from(format!("event: {name}\nid: {seq}\ndata: {data}\n\n"))
}
