//! The lines of a file that is still being written.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use net::open_regular;

/// How much is read at a time.
const CHUNK: usize = 1 << 20;
/// The longest line: a message of 16 MiB, in the escapes of a text.
const LONGEST: usize = 128 << 20;

/// A file, and what was read of its next line.
pub(super) struct Growing {
    file: File,
    rest: Vec<u8>,
    /// Where the next line begins in `rest`.
    at: usize,
    /// How much of `rest` was looked through for the end of that line.
    seen: usize,
    /// Lines before it.
    lines: usize,
    is_over: bool,
}

/// What one step brought.
pub(super) enum Step {
    /// The next whole line.
    Line(String),
    /// More bytes, of which no line is whole yet.
    Read,
    /// Nothing more for now.
    End,
}

impl Growing {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: open_regular(path)?, rest: Vec::new(), at: 0, seen: 0, lines: 0, is_over: false })
    }

    /// The number of the line that was given last.
    pub(super) const fn number(&self) -> usize {
        self.lines
    }

    /// Reads nothing more.
    pub(super) const fn give_up(&mut self) {
        self.is_over = true;
    }

    /// Whether it was given up.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Gives the next line, or else reads on.
    pub(super) fn step(&mut self) -> io::Result<Step> {
        if let Some(line) = self.buffered_line() {
            return Ok(Step::Line(line));
        }
        self.rest.drain(..self.at);
        (self.at, self.seen) = (0, self.rest.len());
        let read = self.file.by_ref().take(CHUNK as u64).read_to_end(&mut self.rest)?;
        if self.rest.len() > LONGEST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is too long"));
        }
        Ok(if read == 0 { Step::End } else { Step::Read })
    }

    /// The next whole line of what was read.
    pub(super) fn buffered_line(&mut self) -> Option<String> {
        let from = self.at.max(self.seen);
        let end = from + self.rest[from..].iter().position(|byte| *byte == b'\n')?;
        let text = String::from_utf8_lossy(&self.rest[self.at..end]).into_owned();
        self.at = end + 1;
        self.lines += 1;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{Growing, Step};

    #[test]
    fn a_line_comes_when_it_is_whole() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let mut growing = Growing::open(file.path()).expect("it is there");
        assert!(matches!(growing.step(), Ok(Step::End)));
        file.write_all(b"one\ntw").expect("written");
        assert!(matches!(growing.step(), Ok(Step::Read)));
        assert!(matches!(growing.step(), Ok(Step::Line(line)) if line == "one"));
        assert!(matches!(growing.step(), Ok(Step::End)));
        file.write_all(b"o\n").expect("written");
        assert!(matches!(growing.step(), Ok(Step::Read)));
        assert!(matches!(growing.step(), Ok(Step::Line(line)) if line == "two"));
        assert_eq!(growing.number(), 2);
    }

    #[test]
    fn a_long_line_is_looked_through_once() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let mut growing = Growing::open(file.path()).expect("it is there");
        for _ in 0..3 {
            file.write_all(&[b'x'].repeat(super::CHUNK)).expect("written");
            let before = growing.rest.len();
            assert!(matches!(growing.step(), Ok(Step::Read)));
            assert_eq!(growing.seen, before);
        }
        file.write_all(b"\ny\n").expect("written");
        assert!(matches!(growing.step(), Ok(Step::Read)));
        assert!(matches!(growing.step(), Ok(Step::Line(line)) if line.len() == 3 * super::CHUNK));
        assert!(matches!(growing.step(), Ok(Step::Line(line)) if line == "y"));
    }
}
