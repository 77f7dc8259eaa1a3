//! `proof.trace/1`: a trace as JSON Lines, one header and then one frame a line. See `docs/trace.md`.
//!
//! A message is in its line as JSON where that keeps its bytes, so that traces can be read, searched and written by
//! hand; anything else is text, and bytes that are not text are Base64. Files are opened elsewhere: this knows lines.

mod row;

pub use row::{read_frame, read_header, write_frame, write_header};

use super::{Frame, Header, Trace};

/// The name and version of the format, first member of the header.
pub const FORMAT: &str = "proof.trace/1";

/// A file that is not a trace, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTrace {
    /// Line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

impl std::fmt::Display for BadTrace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for BadTrace {}

/// Reads the frames of a trace one by one, so that a file of any size takes the memory of its longest line. Blank lines
/// are passed over.
#[derive(Clone, Debug)]
pub struct FrameReader<I> {
    header: Header,
    lines: I,
    line: usize,
}

impl<I> FrameReader<I>
where
    I: Iterator,
    I::Item: AsRef<str>,
{
    /// Reads the header from the first of `lines`.
    pub fn new(lines: I) -> Result<Self, BadTrace> {
        let mut lines = lines;
        let mut line = 0;
        let first = next_line(&mut lines, &mut line);
        let first = first.ok_or(BadTrace { line: 1, why: "the file is empty".to_owned() })?;
        let header = read_header(first.as_ref()).map_err(|why| BadTrace { line, why })?;
        Ok(Self { header, lines, line })
    }

    /// What holds for the whole trace.
    pub const fn header(&self) -> &Header {
        &self.header
    }
}

impl<I> Iterator for FrameReader<I>
where
    I: Iterator,
    I::Item: AsRef<str>,
{
    type Item = Result<Frame, BadTrace>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = next_line(&mut self.lines, &mut self.line)?;
        Some(read_frame(text.as_ref()).map_err(|why| BadTrace { line: self.line, why }))
    }
}

fn next_line<I>(lines: &mut I, count: &mut usize) -> Option<I::Item>
where
    I: Iterator,
    I::Item: AsRef<str>,
{
    lines.inspect(|_| *count += 1).find(|line| !line.as_ref().trim().is_empty())
}

/// Reads a whole file.
pub fn read(text: &str) -> Result<Trace, BadTrace> {
    let mut reader = FrameReader::new(text.lines())?;
    let frames = reader.by_ref().collect::<Result<_, _>>()?;
    Ok(Trace { header: reader.header, frames })
}

/// A last line that was not written to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruncatedLine {
    /// Line, counted from 1.
    pub line: usize,
    /// How many bytes of it there are. Cut off, they leave a sound file.
    pub bytes: usize,
}

/// Reads a file whose writer may have been killed: a last line without a line feed that is not a frame is left out and reported.
/// Bytes, because it may have been cut inside a character.
pub fn read_repaired(file: impl AsRef<[u8]>) -> Result<(Trace, Option<TruncatedLine>), BadTrace> {
    let file = file.as_ref();
    let sound = memchr::memrchr(b'\n', file).map_or(0, |last| last + 1);
    let (whole, rest) = file.split_at(sound);
    let mut trace = match std::str::from_utf8(whole) {
        Ok("") => return read(&String::from_utf8_lossy(rest)).map(|trace| (trace, None)),
        Ok(text) => read(text)?,
        Err(e) => return Err(BadTrace { line: lines_in(&whole[..e.valid_up_to()]) + 1, why: "not UTF-8".to_owned() }),
    };
    if rest.trim_ascii().is_empty() {
        return Ok((trace, None));
    }
    match std::str::from_utf8(rest).map_err(|e| e.to_string()).and_then(read_frame) {
        Ok(frame) => trace.frames.push(frame),
        Err(_) => return Ok((trace, Some(TruncatedLine { line: lines_in(whole) + 1, bytes: rest.len() }))),
    }
    Ok((trace, None))
}

fn lines_in(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

/// Writes a whole trace, a line feed after each line. Nothing is redacted: see [`crate::redact`].
pub fn write(trace: &Trace) -> String {
    let mut out = write_header(&trace.header);
    out.push('\n');
    for frame in &trace.frames {
        out.push_str(&write_frame(frame));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::{R2025_11_25, Transport};
    use crate::trace::{Content, Party};

    fn text() -> String {
        let mut trace = Trace::new(Header::server(Transport::Stdio, R2025_11_25, "case"));
        for what in ["one", "zwölf"] {
            trace.frames.push(Frame::new(Party::Server, Content::Stderr(what.as_bytes().to_vec())));
        }
        write(&trace)
    }

    #[test]
    fn a_truncated_last_line_is_left_out() {
        let text = text();
        let last = text.trim_end().rfind('\n').unwrap() + 1;
        for end in last..=text.len() {
            let (trace, truncated) = read_repaired(&text.as_bytes()[..end]).unwrap();
            let kept = if end + 1 < text.len() { 1 } else { 2 };
            assert_eq!(trace.frames.len(), kept, "{end}");
            let expected = (kept == 1 && end > last).then_some(TruncatedLine { line: 3, bytes: end - last });
            assert_eq!(truncated, expected, "{end}");
        }
    }

    #[test]
    fn a_complete_bad_line_is_an_error() {
        for (text, line) in [(text().replace("one", "o\n"), 2), (text() + "{}\n", 4), ("{\"trace".to_owned(), 1)] {
            assert_eq!(read_repaired(&text).map_err(|e| e.line), Err(line), "{text}");
            assert_eq!(read(&text).map_err(|e| e.line), Err(line), "{text}");
        }
        assert_eq!(read_repaired(b"\xff\n").map_err(|e| e.line), Err(1));
    }

    #[test]
    fn blank_lines_count_but_say_nothing() {
        let text = format!("\n{}\n{{}}", text());
        assert_eq!(read(&text).map_err(|e| e.line), Err(6));
        assert_eq!(read("").map_err(|e| e.line), Err(1));
    }

    #[test]
    fn a_line_with_two_contents_is_refused() {
        let why = read_frame(r#"{"at":1,"from":"client","line":{},"body":{}}"#).unwrap_err();
        assert!(why.contains("one content"), "{why}");
        assert!(read_frame(r#"{"at":1,"from":"client"}"#).is_err());
    }
}
