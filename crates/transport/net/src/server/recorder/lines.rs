//! Records the lines of a stdio conversation at the server's end. Bytes pass unchanged.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wire::Party;
use wire::framing::Piece;
use wire::framing::lines::Lines;
use wire::trace::{Closed, Content};

use super::ConnectionRecorder;
use crate::tap::Written;

/// How much of an overlong line is kept.
const KEPT: usize = 64 << 10;

/// The lines of one direction.
struct LineRecorder {
    connection: ConnectionRecorder,
    from: Party,
    lines: Lines,
    begun: Option<u64>,
}

impl LineRecorder {
    fn new(connection: &ConnectionRecorder, from: Party, most: usize) -> Self {
        Self { connection: connection.clone(), from, lines: Lines::new(most), begun: None }
    }

    fn take(&mut self, bytes: &[u8]) {
        let now = self.connection.now();
        let mut at = self.begun.unwrap_or(now);
        self.lines.push(bytes);
        while let Some(piece) = self.lines.next_line() {
            let (bytes, terminated) = match piece {
                Piece::Whole(bytes) => (bytes, true),
                Piece::TooLong(bytes) | Piece::Rest(bytes) => (&bytes[..bytes.len().min(KEPT)], false),
            };
            let line = Content::Line { bytes: bytes.to_vec(), terminated };
            self.connection.write_since(at, self.from, 0, line, Written::NONE);
            at = now;
        }
        self.begun = if bytes.ends_with(b"\n") { None } else { Some(at) };
    }

    fn finish(&mut self) {
        if let Some(Piece::Rest(bytes)) = self.lines.finish() {
            let line = Content::Line { bytes: bytes.to_vec(), terminated: false };
            let at = self.begun.take().unwrap_or_else(|| self.connection.now());
            self.connection.write_since(at, self.from, 0, line, Written::NONE);
        }
    }
}

/// A reader that records the client's lines as they are read.
pub struct RecordedReader<R> {
    reader: R,
    lines: LineRecorder,
    ended: bool,
}

impl<R> RecordedReader<R> {
    /// Lines of at most `most` bytes.
    pub fn new(reader: R, connection: &ConnectionRecorder, most: usize) -> Self {
        Self { reader, lines: LineRecorder::new(connection, Party::Client, most), ended: false }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for RecordedReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.reader).poll_read(context, buffer))?;
        match &buffer.filled()[before..] {
            [] if !self.ended => {
                self.ended = true;
                self.lines.finish();
                self.lines.connection.closed(Party::Client, Closed::End);
            }
            [] => {}
            bytes => self.lines.take(bytes),
        }
        Poll::Ready(Ok(()))
    }
}

/// A writer that records the server's lines as they are written.
pub struct RecordedWriter<W> {
    writer: W,
    lines: LineRecorder,
}

impl<W> RecordedWriter<W> {
    /// Lines of at most `most` bytes.
    pub fn new(writer: W, connection: &ConnectionRecorder, most: usize) -> Self {
        Self { writer, lines: LineRecorder::new(connection, Party::Server, most) }
    }
}

impl<W> Drop for RecordedWriter<W> {
    fn drop(&mut self) {
        self.lines.finish();
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for RecordedWriter<W> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.writer).poll_write(context, bytes))?;
        // A response cannot be read before this returns: the reader runs on the same task.
        self.lines.take(&bytes[..written]);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_shutdown(context)
    }
}
