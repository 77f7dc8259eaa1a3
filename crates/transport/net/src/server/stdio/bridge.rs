//! A stdio server in two processes: the one that a client starts only carries its standard streams, its signals and its end
//! to and from the other, which answers. They meet at a socket in a private directory.

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;
use wire::Party;
use wire::trace::{Closed, Content};

use crate::server::recorder::ConnectionRecorder;
use crate::tap::Tap;

/// The kind of a piece, its first byte.
mod kind {
    /// Bytes of stdin or stdout.
    pub(super) const BYTES: u8 = b'B';
    /// The end of stdin.
    pub(super) const END: u8 = b'E';
    /// A signal; its number follows.
    pub(super) const SIGNAL: u8 = b'S';
    /// The process shall exit with the code that follows.
    pub(super) const EXIT: u8 = b'X';
}

/// The longest piece.
const PIECE: usize = 64 << 10;
/// How long the client's process may take to end after that.
const FAREWELL: Duration = Duration::from_secs(1);

/// Where the processes that a client starts find the one that answers.
#[derive(Debug)]
pub struct Bridge {
    listener: UnixListener,
    directory: PathBuf,
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

impl Bridge {
    /// A new socket in a new directory.
    pub fn new() -> io::Result<Self> {
        let mut name = [0; 16];
        getrandom::fill(&mut name).map_err(io::Error::other)?;
        let directory = std::env::temp_dir().join(format!("proof-{:024x}", u128::from_be_bytes(name) >> 32));
        std::fs::DirBuilder::new().mode(0o700).create(&directory)?;
        let listener = UnixListener::bind(directory.join("s")).inspect_err(|_| {
            let _ = std::fs::remove_dir_all(&directory);
        })?;
        Ok(Self { listener, directory })
    }

    /// Where [`cross`] finds it.
    pub fn path(&self) -> PathBuf {
        self.directory.join("s")
    }

    /// The next process that a client started.
    pub async fn accept(&self) -> io::Result<ClientProcess> {
        let (stream, _) = self.listener.accept().await?;
        Ok(ClientProcess(stream))
    }
}

/// A process that a client started.
#[derive(Debug)]
pub struct ClientProcess(UnixStream);

/// What a process that a client started looks like from the inside.
#[derive(Debug)]
pub struct ProcessStreams {
    /// Its stdin.
    pub stdin: DuplexStream,
    /// Its stdout.
    pub stdout: DuplexStream,
}

impl ClientProcess {
    /// Lets `serve` act as that process: it gets the streams, the recorder and the stop signal, and returns the exit code.
    /// Everything that happens to the process is recorded.
    pub async fn answer<F: Future<Output = u8>>(
        self,
        tap: &Tap,
        serve: impl FnOnce(ProcessStreams, ConnectionRecorder, Stop) -> F,
    ) {
        let connection = ConnectionRecorder::next(tap);
        connection.record(Party::Client, Content::Opened);
        let (read, mut write) = self.0.into_split();
        let (stdin, stdin_writer) = tokio::io::duplex(PIECE);
        let (stdout, mut said) = tokio::io::duplex(PIECE);
        let stop = Stop::default();
        let gone = Notify::new();
        let serving = serve(ProcessStreams { stdin, stdout }, connection.clone(), stop.clone());
        let listening = listen(read, stdin_writer, &stop, &gone);
        tokio::pin!(listening);
        let code = {
            let served = async {
                // All output is sent before the exit code.
                tokio::join!(serving, carry(&mut said, &mut write)).0
            };
            tokio::select! {
                code = served => Some(code),
                () = gone.notified() => None,
                () = async { (&mut listening).await; std::future::pending().await } => None,
            }
        };
        connection.closed(Party::Server, Closed::End);
        match code {
            Some(code) => {
                let _ = write.write_all(&[kind::EXIT, 0, 0, 0, 1, code]).await;
                let signal = *stop.signal();
                connection
                    .record(Party::Server, Content::Exit { code: signal.is_none().then_some(code.into()), signal });
                let _ = timeout(FAREWELL, listening).await;
            }
            None => connection.record(Party::Server, Content::Exit { code: None, signal: Some(SIGKILL) }),
        }
    }
}

/// The signal of a process that vanished.
const SIGKILL: i32 = 9;

/// Notifies of a signal that asks the process to end. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<StopRequest>);

#[derive(Debug, Default)]
struct StopRequest {
    signalled: Notify,
    signal: Mutex<Option<i32>>,
}

impl Stop {
    /// Waits for the signal.
    pub async fn asked(&self) {
        self.0.signalled.notified().await;
    }

    fn ask(&self, signal: i32) {
        *self.signal() = Some(signal);
        self.0.signalled.notify_one();
    }

    fn signal(&self) -> MutexGuard<'_, Option<i32>> {
        self.0.signal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads from the client's process until it is gone.
async fn listen(mut read: OwnedReadHalf, stdin_writer: DuplexStream, stop: &Stop, gone: &Notify) {
    let mut stdin_writer = Some(stdin_writer);
    while let Ok((kind, bytes)) = piece(&mut read).await {
        match kind {
            kind::BYTES => {
                if let Some(open) = &mut stdin_writer
                    && open.write_all(&bytes).await.is_err()
                {
                    stdin_writer = None;
                }
            }
            kind::END => stdin_writer = None,
            kind::SIGNAL => stop.ask(bytes.first().copied().unwrap_or_default().into()),
            _ => break,
        }
    }
    // Gone with its stdin open, it was killed: its input did not end.
    let killed = stdin_writer.is_some();
    gone.notify_one();
    if killed {
        std::future::pending::<()>().await;
    }
}

/// Runs as the process that a client starts: carries everything to and from the socket at `path`. Returns the exit code.
pub async fn cross(path: &Path, signals: impl Future<Output = u8>) -> io::Result<u8> {
    let (mut read, mut write) = UnixStream::connect(path).await?.into_split();
    let (send, mut outbox) = mpsc::channel(4);
    tokio::spawn(feed(send.clone()));
    let writing = async {
        while let Some((kind, bytes)) = outbox.recv().await {
            write_piece(&mut write, kind, &bytes).await?;
        }
        Ok::<_, io::Error>(())
    };
    let signalled = async {
        let signal = signals.await;
        let _ = send.send((kind::SIGNAL, vec![signal])).await;
        // The other process decides the exit code; without one, it is the signal's.
        tokio::time::sleep(FAREWELL).await;
        128 + signal
    };
    tokio::select! {
        code = listen_to(&mut read) => code,
        code = signalled => Ok(code),
        Err(error) = writing => Err(error),
    }
}

/// Prints the output of the other side, until it sends the exit code.
async fn listen_to(read: &mut OwnedReadHalf) -> io::Result<u8> {
    let mut stdout = tokio::io::stdout();
    loop {
        match piece(read).await? {
            (kind::BYTES, bytes) => {
                // Stdout may be closed; the input may still matter.
                let _ = stdout.write_all(&bytes).await;
                let _ = stdout.flush().await;
            }
            (kind::EXIT, code) => return Ok(code.first().copied().unwrap_or_default()),
            _ => {}
        }
    }
}

/// Sends stdin, and its end.
async fn feed(send: mpsc::Sender<(u8, Vec<u8>)>) {
    let mut stdin = tokio::io::stdin();
    let mut chunk = vec![0; PIECE];
    while let Ok(count @ 1..) = stdin.read(&mut chunk).await {
        if send.send((kind::BYTES, chunk[..count].to_vec())).await.is_err() {
            return;
        }
    }
    let _ = send.send((kind::END, Vec::new())).await;
}

async fn carry(from: &mut DuplexStream, to: &mut OwnedWriteHalf) -> io::Result<()> {
    let mut chunk = vec![0; PIECE];
    loop {
        let count = from.read(&mut chunk).await?;
        if count == 0 {
            return Ok(());
        }
        write_piece(to, kind::BYTES, &chunk[..count]).await?;
    }
}

async fn write_piece(to: &mut (impl AsyncWrite + Unpin), kind: u8, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes();
    let head = [kind, length[0], length[1], length[2], length[3]];
    to.write_all(&head).await?;
    to.write_all(bytes).await
}

async fn piece(from: &mut (impl AsyncRead + Unpin)) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    from.read_exact(&mut head).await?;
    let [kind, length @ ..] = head;
    let length = u32::from_be_bytes(length) as usize;
    if length > PIECE {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).await?;
    Ok((kind, bytes))
}
