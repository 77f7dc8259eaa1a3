//! Serving over lines with what crosses them altered: a pump between the streams and the server. Knows no fault by name.

use std::io;
use std::sync::Arc;

use net::server::stdio::{self, Limits};
use net::service::Service;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use wire::Transport;

use super::Kind;
use super::stdio::Process;
use super::transport::{FaultyTransport, further, say};

/// Serves over a reader and a writer, with what crosses them altered.
pub(super) async fn serve(
    service: Arc<dyn Service>,
    (input, mut output): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    transport: &FaultyTransport,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let limits = Limits::default();
    let (reader, fed) = tokio::io::duplex(64 << 10);
    let (kept, writer) = tokio::io::duplex(64 << 10);
    let most = limits.line;
    let feeding = async {
        // Held until the very end: dropped, it would be the end of the input.
        let mut fed = fed;
        let edit = |line: Vec<u8>| {
            if transport.breaks_off_at(&line) {
                return Err(io::Error::other("broken off on purpose"));
            }
            Ok(transport.line_in(line))
        };
        alter(input, &mut fed, most, |piece| transport.piece_in(piece), edit).await?;
        if !transport.ends_with_input() {
            std::future::pending::<()>().await;
        }
        Ok::<_, io::Error>(())
    };
    let fed_for_good = async {
        let fed = feeding.await;
        if fed.is_ok() { std::future::pending().await } else { fed }
    };
    let writing = async {
        output.write_all(&transport.first_words()).await?;
        output.flush().await?;
        alter(kept, &mut output, most, <[u8]>::to_vec, |line| Ok(transport.line_out(line))).await
    };
    let serving = stdio::serve_until(service, reader, writer, limits, stop);
    tokio::select! {
        broken = fed_for_good => broken,
        served = async { tokio::try_join!(writing, serving).map(|_| ()) } => served,
    }
}

/// Passes lines on, each altered as its pieces come and as a whole, and none longer than `most`, until the source ends.
async fn alter(
    source: impl AsyncRead + Unpin,
    sink: &mut (impl AsyncWrite + Unpin),
    most: usize,
    take: impl Fn(&[u8]) -> Vec<u8>,
    edit: impl Fn(Vec<u8>) -> io::Result<Vec<u8>>,
) -> io::Result<()> {
    let mut source = BufReader::new(source);
    loop {
        let mut line = Vec::new();
        while line.len() < most && !line.ends_with(b"\n") {
            let read = source.fill_buf().await?;
            let end = read.iter().position(|b| *b == b'\n').map_or(read.len(), |at| at + 1);
            if end == 0 {
                break;
            }
            line.extend(take(&read[..end]));
            source.consume(end);
        }
        if line.is_empty() {
            return Ok(());
        }
        sink.write_all(&edit(line)?).await?;
        sink.flush().await?;
    }
}

/// stdio: lines and the ends of the process.
impl FaultyTransport {
    fn stdio(&self) -> impl Iterator<Item = Process> {
        self.kinds().filter_map(|kind| if let Kind::Stdio(process) = kind { Some(*process) } else { None })
    }

    /// Whether the process is to end badly though nothing went wrong.
    pub(super) fn fails_at_end(&self) -> bool {
        self.stdio().any(|process| matches!(process, Process::Fails))
    }

    /// What is written before anything was read, line feeds and all.
    fn first_words(&self) -> Vec<u8> {
        self.stdio()
            .flat_map(|process| if let Process::Greets(words) = process { words } else { b"" }.to_vec())
            .collect()
    }

    /// What one read brought of a line, or its end.
    fn piece_in(&self, piece: &[u8]) -> Vec<u8> {
        self.stdio().fold(piece.to_vec(), |piece, process| match process {
            Process::Takes(edit) => edit(&piece),
            _ => piece,
        })
    }

    /// A line that came in, with its line feed.
    fn line_in(&self, line: Vec<u8>) -> Vec<u8> {
        let line = self.stdio().fold(line, |line, process| match process {
            Process::Reads(edit) => edit(line, &self.active.state),
            _ => line,
        });
        match self.receive(Transport::Stdio, &line, None) {
            Some(mut heard) => {
                heard.push(b'\n');
                heard
            }
            None => line,
        }
    }

    /// Whether a line that came in, with its line feed, makes the process break off with an error.
    fn breaks_off_at(&self, line: &[u8]) -> bool {
        let breaks = |process| matches!(process, Process::BreaksOff(at) if at(line, &self.active.state));
        self.stdio().any(breaks)
    }

    /// A line about to be written, with its line feed.
    fn line_out(&self, line: Vec<u8>) -> Vec<u8> {
        let text = line.strip_suffix(b"\n").unwrap_or(&line).to_vec();
        let after = further(&self.active.faults, &text, &self.active.state);
        let texts = [vec![say(&self.active.faults, text)], after].concat();
        let said = texts.into_iter().flat_map(|text| [text, b"\n".to_vec()].concat()).collect();
        self.stdio().fold(said, |line, process| match process {
            Process::Prints(edit) => edit(line),
            _ => line,
        })
    }

    /// Whether the end of the input is the end.
    fn ends_with_input(&self) -> bool {
        !self.stdio().any(|process| matches!(process, Process::Lingers))
    }
}
