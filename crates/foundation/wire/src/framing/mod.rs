//! How bytes become frames: lines ([`lines`]) and event streams ([`sse`]). Bytes in, frames out; no I/O, and nothing here
//! knows what a frame says.

mod buffer;
pub mod lines;
pub mod sse;

/// What a splitter found next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'b> {
    /// One whole line or block.
    Whole(&'b [u8]),
    /// The head, as many bytes as the limit allows, of one that is longer. What follows, up to its end, is dropped.
    TooLong(&'b [u8]),
    /// What the stream ended in the middle of.
    Rest(&'b [u8]),
}

impl<'b> Piece<'b> {
    /// The bytes, whatever they are.
    pub const fn bytes(self) -> &'b [u8] {
        match self {
            Self::Whole(bytes) | Self::TooLong(bytes) | Self::Rest(bytes) => bytes,
        }
    }
}
