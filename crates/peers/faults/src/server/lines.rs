//! Serving over lines with what crosses them altered: a pump between the streams and the server. Knows no fault by name.

use std::io;
use std::sync::Arc;

use net::server::stdio::{self, Limits};
use net::service::Service;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use super::transport::FaultyTransport;

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
