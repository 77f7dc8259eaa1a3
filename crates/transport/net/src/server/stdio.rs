//! The stdio transport, server end: one message per line in, one per line out, nothing else on the output. Works over any
//! byte stream; only [`serve_process`] knows the standard streams. (basic/transports/stdio)

pub mod bridge;
mod process;
pub mod wrap;

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use wire::Transport;
use wire::framing::Piece;
use wire::framing::lines::{Lines, one_line};

pub use self::process::serve_process;

use super::batch::BatchBounds;
use super::conversation::{Bounds, Conversation};
use crate::service::{RpcError, Service};

/// Bounds of a stdio conversation.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest line taken, in bytes.
    pub line: usize,
    /// How much may wait for a peer that does not read, in bytes.
    pub queue: usize,
    /// How many requests may be under way at once.
    pub in_flight: usize,
    /// How long answers in flight are waited for once the input has ended.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 16 << 20, queue: 64 << 20, in_flight: 1 << 16, grace: Duration::from_millis(500) }
    }
}

/// The standard streams of this process, as a reader and a writer of the runtime. [`serve_process`] is faster.
pub fn standard_streams() -> (tokio::io::Stdin, tokio::io::Stdout) {
    (tokio::io::stdin(), tokio::io::stdout())
}

/// Serves over `reader` and `writer` until `reader` ends.
pub async fn serve(
    service: Arc<dyn Service>,
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
    limits: Limits,
) -> io::Result<()> {
    serve_until(service, reader, writer, limits, std::future::pending()).await
}

/// Serves over `reader` and `writer` until `reader` ends or `stop` is done. Either way what is under way gets
/// [`Limits::grace`] to be answered.
pub async fn serve_until(
    service: Arc<dyn Service>,
    reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let bounds = Bounds { queue: limits.queue, in_flight: limits.in_flight, batch: BatchBounds::default() };
    let conversation = Conversation::new(service, Transport::Stdio, bounds);
    let outgoing = conversation.outgoing();
    tokio::pin!(stop);
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
            () = &mut stop => {
                // What has come of a line is not its whole.
                lines = Lines::new(limits.line);
                break;
            }
        }
        write(&conversation, &mut writer).await?;
    }
    if let Some(piece) = lines.finish() {
        receive(piece, &conversation);
    }
    let mut ended = std::pin::pin!(wind_down(&conversation, limits.grace));
    loop {
        write(&conversation, &mut writer).await?;
        tokio::select! {
            () = &mut ended => return write(&conversation, &mut writer).await,
            () = outgoing.filled() => {}
        }
    }
}

/// The input has ended: waits at most `grace` for what is still being answered.
async fn wind_down(conversation: &Conversation, grace: Duration) {
    let _ = tokio::time::timeout(grace, conversation.finish()).await;
}

async fn write(conversation: &Conversation, writer: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    let text = waiting(conversation)?;
    if text.is_empty() {
        return Ok(());
    }
    writer.write_all(&text).await?;
    writer.flush().await
}

/// Everything that waits to be written, one line each.
fn waiting(conversation: &Conversation) -> io::Result<Vec<u8>> {
    let frames = conversation.outgoing().take().map_err(|_| io::Error::other("the peer does not read what we send"))?;
    let whole: usize = frames.iter().map(|frame| frame.len() + 1).sum();
    let mut text = Vec::new();
    for frame in frames {
        // A service may pass on JSON with line ends between its tokens.
        let changed = match one_line(&frame) {
            Cow::Owned(line) => Some(line),
            Cow::Borrowed(_) => None,
        };
        let line = changed.unwrap_or(frame);
        if text.is_empty() {
            // Mostly it is the only one, and may be large: it is not copied.
            text = line;
            text.reserve_exact(whole.saturating_sub(text.len()));
        } else {
            text.extend_from_slice(&line);
        }
        text.push(b'\n');
    }
    Ok(text)
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
