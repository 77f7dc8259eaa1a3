//! What a child process writes: messages on stdout, a log on stderr whose last line says why it ended.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;
use tokio::time::timeout;
use wire::framing::Piece;
use wire::framing::lines::Lines;

use crate::upstream::Output;
use crate::upstream::queue::{QueueSender, WeakQueueSender};

/// The longest line of stderr that is passed on whole.
const STDERR_LINE: usize = 16 << 10;
/// How much of the last line is kept.
const KEPT: usize = 300;

/// The last line on stderr.
#[derive(Clone, Debug)]
pub(super) struct LastWords {
    line: Arc<Mutex<Option<String>>>,
    /// Becomes true where stderr has ended.
    ended: watch::Sender<bool>,
}

impl Default for LastWords {
    fn default() -> Self {
        Self { line: Arc::default(), ended: watch::Sender::new(false) }
    }
}

impl LastWords {
    /// The last line that is not blank; the end of stderr is waited for, for at most `patience`.
    pub(super) async fn get(&self, patience: Duration) -> Option<String> {
        let _ = timeout(patience, self.ended.subscribe().wait_for(|ended| *ended)).await;
        self.line.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, line: &str) {
        let line = line.trim();
        if !line.is_empty() {
            let kept = wire::escape::snippet(line, KEPT);
            *self.line.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        }
    }
}

pub(super) async fn read_lines(mut pipe: impl AsyncRead + Unpin, messages: QueueSender<Output>, limit: usize) {
    let mut lines = Lines::new(limit);
    let mut chunk = vec![0; 64 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
        lines.push(&chunk[..count]);
        while let Some(piece) = lines.next_line() {
            let output = match piece {
                Piece::Whole(line) => Output::Message(Bytes::copy_from_slice(line)),
                _ => Output::TooLong,
            };
            let (stop, bytes) = (output == Output::TooLong, output.bytes());
            if messages.send(output, bytes).await.is_err() || stop {
                return;
            }
        }
    }
}

/// Passes stderr on, and goes on reading where nobody listens: a child process must never block on its log.
pub(super) async fn read_log(mut pipe: impl AsyncRead + Unpin, log: WeakQueueSender<Output>, last: LastWords) {
    let mut lines = Lines::new(STDERR_LINE);
    let mut chunk = vec![0; 16 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
        lines.push(&chunk[..count]);
        while let Some(Piece::Whole(line) | Piece::TooLong(line) | Piece::Rest(line)) = lines.next_line() {
            let line = String::from_utf8_lossy(line);
            last.set(&line);
            log.try_send(Output::Log(line.into_owned()));
        }
    }
    if let Some(Piece::Whole(line) | Piece::TooLong(line) | Piece::Rest(line)) = lines.finish() {
        last.set(&String::from_utf8_lossy(line));
    }
    last.ended.send_replace(true);
}
