//! From a frame to what it means. Each frame is understood on its own, so a file of any size is read in constant memory.

use super::{Content, Frame};
use crate::framing::sse;
use crate::message::{self, Malformed, Packet};

pub use crate::framing::sse::Block as SseFields;

/// A frame understood.
#[derive(Clone, Debug)]
pub enum Event {
    /// One JSON-RPC message or batch, whatever carried it.
    Packet(Packet),
    /// Bytes that should have been a message and are not.
    Malformed(Malformed),
    /// A block of an event stream; its data as a packet where its type says that it carries one.
    Sse {
        /// The fields as they stood.
        fields: SseFields,
        /// The message within, if the block is an event of type `message` with data.
        packet: Option<Result<Packet, Malformed>>,
    },
    /// A body that is not JSON: HTML, plain text, nothing at all. Whether it should have been is for a rule to say.
    Body(Malformed),
    /// Nothing to understand: heads, ends, exits, marks, stderr and raw bytes are what they are.
    Plain,
}

impl Event {
    /// Understands one frame.
    pub fn of(frame: &Frame) -> Self {
        match &frame.content {
            Content::Line { bytes, .. } | Content::WebSocket { bytes, .. } => match message::parse(bytes) {
                Ok(packet) => Self::Packet(packet),
                Err(malformed) => Self::Malformed(malformed),
            },
            Content::Body { bytes, .. } => match message::parse(bytes) {
                Ok(packet) => Self::Packet(packet),
                Err(malformed) => Self::Body(malformed),
            },
            Content::Sse(block) => {
                let fields = sse::Block::parse(block);
                let packet = (fields.is_message() && fields.data.as_deref().is_some_and(|d| !d.is_empty()))
                    .then(|| message::parse(fields.data.as_deref().unwrap_or_default().as_bytes()));
                Self::Sse { fields, packet }
            }
            _ => Self::Plain,
        }
    }

    /// The packet this event carries, if it is one.
    pub fn packet(&self) -> Option<&Packet> {
        match self {
            Self::Packet(packet) | Self::Sse { packet: Some(Ok(packet)), .. } => Some(packet),
            _ => None,
        }
    }
}
