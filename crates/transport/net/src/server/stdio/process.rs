//! The standard streams of this process. A runtime reads and writes them on threads of its own, and each chunk would change
//! threads four times. Here one thread reads, answers what can be answered at once, and writes; the runtime runs the rest.

use std::io::{self, Read as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use wire::Transport;
use wire::framing::lines::Lines;

use super::super::batch::BatchBounds;
use super::super::conversation::{Bounds, Conversation};
use super::{Limits, receive, waiting, wind_down};
use crate::service::Service;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// Serves over this process's standard streams until the input ends or `stop` resolves. Requests that are being answered
/// then get [`Limits::grace`].
pub async fn serve_process(
    service: Arc<dyn Service>,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let bounds = Bounds { queue: limits.queue, in_flight: limits.in_flight, batch: BatchBounds::default() };
    let streams = Arc::new(Streams {
        conversation: Conversation::new(service, Transport::Stdio, bounds),
        writing: Mutex::default(),
    });
    let (end, ended) = oneshot::channel();
    let reading = Arc::clone(&streams);
    let runtime = Handle::current();
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let _inside = runtime.enter();
        let _ = end.send(reading.read(limits.line));
    })?;
    tokio::select! {
        served = serve_until_end(&streams, ended) => {
            served?;
            farewell(&streams, limits.grace).await
        }
        // After `stop` nobody may read the output any more.
        () = stop => tokio::time::timeout(limits.grace * 2, farewell(&streams, limits.grace)).await.unwrap_or(Ok(())),
    }
}

/// Writes late answers as they come, until `ended` reports the end of the input.
async fn serve_until_end(streams: &Arc<Streams>, mut ended: oneshot::Receiver<io::Result<()>>) -> io::Result<()> {
    let outgoing = streams.conversation.outgoing();
    loop {
        tokio::select! {
            read = &mut ended => return read.unwrap_or_else(|_| Err(io::Error::other("reading stdin panicked"))),
            () = outgoing.filled() => write(streams).await?,
        }
    }
}

/// Writes the answers that come within `grace`.
async fn farewell(streams: &Arc<Streams>, grace: Duration) -> io::Result<()> {
    let outgoing = streams.conversation.outgoing();
    let mut ended = std::pin::pin!(wind_down(&streams.conversation, grace));
    loop {
        write(streams).await?;
        tokio::select! {
            () = &mut ended => return write(streams).await,
            () = outgoing.filled() => {}
        }
    }
}

/// Writes the queue, on a thread that a peer may block by not reading.
async fn write(streams: &Arc<Streams>) -> io::Result<()> {
    let streams = Arc::clone(streams);
    tokio::task::spawn_blocking(move || streams.write())
        .await
        .unwrap_or_else(|_| Err(io::Error::other("a write panicked")))
}

/// A conversation over the standard streams.
struct Streams {
    conversation: Conversation,
    /// Held from taking the queue until it is written, to keep the order.
    writing: Mutex<()>,
}

impl Streams {
    /// Reads lines until the end of the input.
    fn read(&self, limit: usize) -> io::Result<()> {
        let mut stdin = io::stdin().lock();
        let mut lines = Lines::new(limit);
        let mut chunk = vec![0; CHUNK];
        loop {
            match stdin.read(&mut chunk) {
                Ok(0) => break,
                Ok(length) => lines.push(&chunk[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            while let Some(piece) = lines.next_line() {
                receive(piece, &self.conversation);
            }
            self.write()?;
        }
        if let Some(piece) = lines.finish() {
            receive(piece, &self.conversation);
        }
        self.write()
    }

    /// Writes the queue.
    fn write(&self) -> io::Result<()> {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let text = waiting(&self.conversation)?;
        if text.is_empty() {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        stdout.write_all(&text)?;
        stdout.flush()
    }
}
