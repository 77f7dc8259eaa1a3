//! Reads a recording line by line, with one line in memory, and notes the location of each message, from where it can be
//! loaded again.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use wire::Message;
use wire::message::Packet;
use wire::trace::file::{read_frame, read_header};
use wire::trace::{Event, Frame, Header};

/// The longest line that is read, in bytes: several times the longest message with all its characters escaped.
const MAX_LINE: u64 = 128 << 20;

/// Why a recording cannot be replayed.
#[derive(Debug)]
pub enum BadRecording {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// This line is not part of a trace.
    InvalidLine {
        /// Line number, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// It holds no answered request.
    NoAnswers,
    /// The index could not be written to its temporary file.
    IndexFull(io::Error),
    /// The file of kept answers cannot be used.
    Saved {
        /// Where it is.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl fmt::Display for BadRecording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) | Self::IndexFull(error) => error.fmt(f),
            Self::InvalidLine { line, why } => write!(f, "line {line}: {why}"),
            Self::NoAnswers => f.write_str("no request in it was answered"),
            Self::Saved { path, why } => write!(f, "{}: {why}", path.display()),
        }
    }
}

impl std::error::Error for BadRecording {}

impl From<io::Error> for BadRecording {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// The location of a message: its line, and its index in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) offset: u64,
    pub(super) length: u32,
    pub(super) part: u32,
}

impl Location {
    /// Its size in the store, in bytes.
    pub(super) const BYTES: usize = 16;
    /// Stands for an absent message: a real one is never empty.
    pub(super) const NONE: Self = Self { offset: 0, length: 0, part: 0 };

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.offset.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.length.to_le_bytes());
        bytes[12..].copy_from_slice(&self.part.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let half = |from: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[from + byte]));
        let offset = u64::from_le_bytes(std::array::from_fn(|byte| bytes[byte]));
        Self { offset, length: half(8), part: half(12) }
    }

    /// Reads the whole line from the file.
    pub(super) fn line(self, file: &File) -> io::Result<Vec<u8>> {
        let mut line = vec![0; self.length as usize];
        file.read_exact_at(&mut line, self.offset)?;
        Ok(line)
    }

    /// Reads the message from the file.
    pub(super) fn load(self, file: &File) -> Result<Message, String> {
        let line = self.line(file).map_err(|error| error.to_string())?;
        let frame = std::str::from_utf8(&line).map_err(|error| error.to_string()).and_then(read_frame)?;
        let message = messages(&frame).into_iter().find(|(part, _)| *part == self.part);
        message.map(|(_, message)| message).ok_or_else(|| "the message is missing".to_owned())
    }
}

/// The messages of a frame, each with its index in the batch.
pub(super) fn messages(frame: &Frame) -> Vec<(u32, Message)> {
    match Event::of(frame).packet() {
        Some(Packet::Message(message)) => vec![(0, message.clone())],
        Some(Packet::Batch(parts)) => {
            let numbered = (0..).zip(parts);
            numbered.filter_map(|(part, message)| Some((part, message.as_ref().ok()?.clone()))).collect()
        }
        None => Vec::new(),
    }
}

/// An incomplete last line, which is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruncatedLine {
    /// Line number, from 1.
    pub line: usize,
    /// Its length, in bytes.
    pub bytes: usize,
    /// Where it starts in the file.
    pub(super) offset: u64,
}

/// Calls `add` with every frame and its location; returns the header, and the last line if it is truncated.
pub(super) fn scan(
    file: &File,
    mut add: impl FnMut(Location, &Frame) -> io::Result<()>,
) -> Result<(Header, Option<TruncatedLine>), BadRecording> {
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let (mut offset, mut number, mut header) = (0, 0, None);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        number += 1;
        let begin = offset;
        offset += length as u64;
        let ended = line.ends_with(b"\n");
        let bad = |why: String| BadRecording::InvalidLine { line: number, why };
        if length as u64 == MAX_LINE && !ended {
            return Err(bad(format!("longer than {} MiB", MAX_LINE >> 20)));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let text = std::str::from_utf8(&line).map_err(|_| "not UTF-8".to_owned());
        if header.is_none() {
            header = Some(text.and_then(read_header).map_err(bad)?);
            continue;
        }
        match text.and_then(read_frame) {
            Ok(frame) => {
                let length = u32::try_from(length).unwrap_or(u32::MAX);
                add(Location { offset: begin, length, part: 0 }, &frame).map_err(BadRecording::IndexFull)?;
            }
            Err(_) if !ended => {
                let truncated = TruncatedLine { line: number, bytes: length, offset: begin };
                return Ok((header.ok_or_else(|| bad(String::new()))?, Some(truncated)));
            }
            Err(why) => return Err(bad(why)),
        }
    }
    let empty = || BadRecording::InvalidLine { line: 1, why: "the file is empty".to_owned() };
    Ok((header.ok_or_else(empty)?, None))
}
