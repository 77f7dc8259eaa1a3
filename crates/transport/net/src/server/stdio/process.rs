//! The standard streams of this process. They cannot be waited for like a socket: a runtime reads and writes them on threads
//! of its own, and each chunk would change threads four times. Here one thread reads, answers what can be answered at
//! once, and writes; the runtime has only what takes time.

use std::io::{self, Read as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use wire::Transport;
use wire::framing::lines::Lines;

use super::super::conversation::{Bounds, Conversation};
use super::{Limits, receive, waiting, wind_down};
use crate::service::Service;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// Serves over this process's standard streams until the input ends or `stop` is done. What is under way then gets
/// [`Limits::grace`] to be answered.
pub async fn serve_process(
    service: Arc<dyn Service>,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let bounds = Bounds { queue: limits.queue, in_flight: limits.in_flight };
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
        // Whoever told us to stop need not read what we still say.
        () = stop => tokio::time::timeout(limits.grace * 2, farewell(&streams, limits.grace)).await.unwrap_or(Ok(())),
    }
}

/// Writes what takes time as it comes, until `ended` tells how the input did.
async fn serve_until_end(streams: &Arc<Streams>, mut ended: oneshot::Receiver<io::Result<()>>) -> io::Result<()> {
    let outgoing = streams.conversation.outgoing();
    loop {
        tokio::select! {
            read = &mut ended => return read.unwrap_or_else(|_| Err(io::Error::other("reading stdin panicked"))),
            () = outgoing.filled() => write(streams).await?,
        }
    }
}

/// Writes what is still answered within `grace`.
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

/// Writes everything that waits, on a thread that a peer which does not read may stop.
async fn write(streams: &Arc<Streams>) -> io::Result<()> {
    let streams = Arc::clone(streams);
    tokio::task::spawn_blocking(move || streams.write())
        .await
        .unwrap_or_else(|_| Err(io::Error::other("a write panicked")))
}

/// A conversation over the standard streams.
struct Streams {
    conversation: Conversation,
    /// Held from taking what waits until it is written, which keeps it in order.
    writing: Mutex<()>,
}

impl Streams {
    /// Takes lines in until there are no more.
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

    /// Writes everything that waits.
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
