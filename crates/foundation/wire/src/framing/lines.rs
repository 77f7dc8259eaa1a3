//! Lines on a byte stream, as stdio carries messages: a line feed ends one, and nothing else does. A carriage return
//! before it belongs to the line; whether it should be there is for a rule to say.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::Piece;
use super::buffer::Buffer;

/// Splits a stream into lines. Memory stays below the limit plus one chunk as long as the caller takes every line
/// between two pushes; the work is linear in the bytes, however they are cut.
#[derive(Clone, Debug)]
pub struct Lines {
    limit: usize,
    buffer: Buffer,
    /// How much of what waits is known to hold no line feed.
    scanned: usize,
    /// Inside a line that was reported as too long.
    skipping: bool,
}

impl Lines {
    /// Lines of up to `limit` bytes, their line feed not counted.
    pub const fn new(limit: usize) -> Self {
        Self { limit, buffer: Buffer::new(), scanned: 0, skipping: false }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, mut bytes: &[u8]) {
        if self.skipping {
            let Some(end) = memchr(b'\n', bytes) else { return };
            bytes = &bytes[end + 1..];
            self.skipping = false;
        }
        self.buffer.push(bytes);
    }

    /// The next line without its line feed: [`Piece::Whole`] or, once for each that exceeds the limit,
    /// [`Piece::TooLong`]. `None` where more bytes are needed.
    pub fn next_line(&mut self) -> Option<Piece<'_>> {
        let waiting = self.buffer.waiting();
        let Some(end) = memchr(b'\n', &waiting[self.scanned..]).map(|found| self.scanned + found) else {
            self.scanned = waiting.len();
            return self.overlong();
        };
        self.scanned = 0;
        let line = &self.buffer.take(end + 1)[..end];
        Some(if end > self.limit { Piece::TooLong(&line[..self.limit]) } else { Piece::Whole(line) })
    }

    fn overlong(&mut self) -> Option<Piece<'_>> {
        if self.scanned <= self.limit {
            return None;
        }
        self.skipping = true;
        let all = self.buffer.take(std::mem::take(&mut self.scanned));
        Some(Piece::TooLong(&all[..self.limit]))
    }

    /// The stream ended: the line it ended in the middle of, if any. To be called when [`Lines::next_line`] has no more.
    pub fn finish(&mut self) -> Option<Piece<'_>> {
        self.scanned = 0;
        self.skipping = false;
        let count = self.buffer.waiting().len();
        (count > 0).then(|| Piece::Rest(self.buffer.take(count)))
    }
}

/// A JSON text, or a part of one, as a part of one line: the line ends in it stand between tokens only, and become blanks.
pub fn one_line(json: &[u8]) -> Cow<'_, [u8]> {
    if memchr2(b'\n', b'\r', json).is_none() {
        return Cow::Borrowed(json);
    }
    json.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(lines: &mut Lines) -> Vec<(bool, Vec<u8>)> {
        let mut out = Vec::new();
        while let Some(piece) = lines.next_line() {
            out.push((matches!(piece, Piece::Whole(_)), piece.bytes().to_vec()));
        }
        out
    }

    #[test]
    fn a_line_of_exactly_the_limit_is_whole() {
        let mut lines = Lines::new(3);
        lines.push(b"abc");
        assert_eq!(lines.next_line(), None);
        lines.push(b"\nabcd\nx");
        assert_eq!(all(&mut lines), [(true, b"abc".to_vec()), (false, b"abc".to_vec())]);
        assert_eq!(lines.finish(), Some(Piece::Rest(b"x")));
        assert_eq!(lines.finish(), None);
    }

    #[test]
    fn an_overlong_line_is_reported_once_and_before_it_ends() {
        let mut lines = Lines::new(2);
        lines.push(b"abc");
        assert_eq!(all(&mut lines), [(false, b"ab".to_vec())]);
        for _ in 0..100 {
            lines.push(b"more of the same");
            assert_eq!(lines.next_line(), None);
        }
        assert!(lines.buffer.waiting().is_empty());
        lines.push(b"\n\r\n");
        assert_eq!(all(&mut lines), [(true, b"\r".to_vec())]);
        assert_eq!(lines.finish(), None);
    }

    #[test]
    fn the_rest_of_an_overlong_line_is_dropped() {
        let mut lines = Lines::new(0);
        lines.push(b"abc");
        assert_eq!(lines.next_line(), Some(Piece::TooLong(b"")));
        lines.push(b"def");
        assert_eq!(lines.finish(), None);
    }
}
