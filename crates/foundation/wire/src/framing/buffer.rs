//! Bytes that came and are not framed yet. Taking from the front moves nothing; the room is regained when more comes.

/// A queue of bytes that can be looked at as one slice.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    /// Nothing yet.
    pub(super) const fn new() -> Self {
        Self { bytes: Vec::new(), start: 0 }
    }

    /// Appends `bytes`. Moves what is left to the front only when that is less than what was taken, so that the cost of
    /// moving stays below the cost of having appended.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.start * 2 >= self.bytes.len() {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Everything that is not taken.
    pub(super) fn waiting(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Takes the first `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> &[u8] {
        let taken = self.start..(self.start + count).min(self.bytes.len());
        self.start = taken.end;
        &self.bytes[taken]
    }
}
