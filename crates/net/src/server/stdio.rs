//! The stdio transport, server end: one message per line in, one per line out, nothing else on the output. Works over any
//! byte stream; only [`serve_process`] knows the standard streams. (basic/transports/stdio)

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use wire::Transport;
use wire::framing::Piece;
use wire::framing::lines::Lines;

use super::conversation::Conversation;
use super::manners::Manners;
use crate::service::{RpcError, Service};

/// Bounds of a stdio conversation.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest line taken, in bytes.
    pub line: usize,
    /// How much may wait for a peer that does not read, in bytes.
    pub queue: usize,
    /// How long answers in flight are waited for once the input has ended.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 16 << 20, queue: 64 << 20, grace: Duration::from_millis(500) }
    }
}

/// Serves over this process's standard streams until the input ends.
pub async fn serve_process(service: Arc<dyn Service>, limits: Limits) -> io::Result<()> {
    serve(service, tokio::io::stdin(), tokio::io::stdout(), limits).await
}

/// Serves over this process's standard streams, with what crosses them altered.
pub async fn serve_process_with(service: Arc<dyn Service>, limits: Limits, manners: &dyn Manners) -> io::Result<()> {
    let (reader, fed) = tokio::io::duplex(64 << 10);
    let (kept, writer) = tokio::io::duplex(64 << 10);
    let most = limits.line as u64;
    let feeding = async {
        // Held until the very end: dropped, it would be the end of the input.
        let mut fed = fed;
        alter(tokio::io::stdin(), &mut fed, most, |line| manners.line_in(line)).await?;
        if !manners.ends_with_input() {
            std::future::pending::<()>().await;
        }
        Ok(())
    };
    let writing = async {
        let mut stdout = tokio::io::stdout();
        stdout.write_all(&manners.first_words()).await?;
        stdout.flush().await?;
        alter(kept, &mut stdout, most, |line| manners.line_out(line)).await
    };
    tokio::try_join!(feeding, writing, serve(service, reader, writer, limits)).map(|_| ())
}

/// Passes lines on, each altered and none longer than `most`, until the source ends.
async fn alter(
    source: impl AsyncRead + Unpin,
    sink: &mut (impl AsyncWrite + Unpin),
    most: u64,
    edit: impl Fn(Vec<u8>) -> Vec<u8>,
) -> io::Result<()> {
    let mut source = BufReader::new(source);
    loop {
        let mut line = Vec::new();
        if (&mut source).take(most).read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        sink.write_all(&edit(line)).await?;
        sink.flush().await?;
    }
}

/// Serves over `reader` and `writer` until `reader` ends.
pub async fn serve(
    service: Arc<dyn Service>,
    reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    limits: Limits,
) -> io::Result<()> {
    let conversation = Conversation::new(service, Transport::Stdio, limits.queue);
    let outgoing = conversation.outgoing();
    let mut reader = BufReader::with_capacity(64 << 10, reader);
    let mut lines = Lines::new(limits.line);
    loop {
        tokio::select! {
            chunk = reader.fill_buf() => {
                let chunk = chunk?;
                if chunk.is_empty() {
                    break;
                }
                lines.push(chunk);
                let length = chunk.len();
                reader.consume(length);
                while let Some(piece) = lines.next_line() {
                    receive(piece, &conversation);
                }
            }
            () = outgoing.filled() => {}
        }
        write(&conversation, &mut writer).await?;
    }
    if let Some(piece) = lines.finish() {
        receive(piece, &conversation);
    }
    let finished = conversation.finish();
    tokio::pin!(finished);
    let deadline = tokio::time::sleep(limits.grace);
    tokio::pin!(deadline);
    loop {
        write(&conversation, &mut writer).await?;
        tokio::select! {
            () = &mut finished => return write(&conversation, &mut writer).await,
            () = &mut deadline => return write(&conversation, &mut writer).await,
            () = outgoing.filled() => {}
        }
    }
}

/// Writes everything that waits, one line each.
async fn write(conversation: &Conversation, writer: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    let frames = conversation.outgoing().take().map_err(|_| io::Error::other("the peer does not read what we send"))?;
    if frames.is_empty() {
        return Ok(());
    }
    let mut text = Vec::with_capacity(frames.iter().map(|frame| frame.len() + 1).sum());
    for frame in frames {
        text.extend_from_slice(&frame);
        text.push(b'\n');
    }
    writer.write_all(&text).await?;
    writer.flush().await
}

fn receive(piece: Piece<'_>, conversation: &Conversation) {
    match piece {
        // A last line without its line feed is a line all the same.
        Piece::Whole(line) | Piece::Rest(line) => conversation.receive(line),
        Piece::TooLong(head) => {
            let text = format!("Invalid request: a line longer than {} bytes", head.len());
            conversation.refuse(None, &RpcError::invalid_request(text));
        }
    }
}
