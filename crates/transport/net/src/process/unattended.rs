//! Commands whose streams nobody talks over: run to their end, or in the background. What they write is kept in part.

use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Child;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use wire::trace::Signal;

use super::{Children, Command, Group};

/// How many bytes of the end of an output are kept.
const TAIL: usize = 4 << 10;
/// How long the remaining processes of a group may take to end, and its pipes to be drained.
const CLEANUP: Duration = Duration::from_millis(300);

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its exit status; `None` where it ran too long and was killed.
    pub status: Option<ExitStatus>,
    /// The end of what it wrote to stderr.
    pub stderr: String,
    /// The end of what it wrote to stdout.
    pub stdout: String,
}

/// The end of an output, shared with the task that reads it.
#[derive(Clone, Debug, Default)]
struct Tail(Arc<Mutex<Vec<u8>>>);

impl Tail {
    /// Reads `pipe` to its end: a process must never block because nobody reads its output.
    async fn read(self, mut pipe: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 16 << 10];
        while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
            let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            tail.extend_from_slice(&chunk[..count]);
            let excess = tail.len().saturating_sub(TAIL);
            tail.drain(..excess);
        }
    }

    fn follow(&self, pipe: Option<impl AsyncRead + Unpin + Send + 'static>) -> Option<JoinHandle<()>> {
        pipe.map(|pipe| tokio::spawn(self.clone().read(pipe)))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// A command that runs until it is ended or dropped, with nothing on its stdin.
#[derive(Debug)]
pub struct Background {
    child: Child,
    group: Arc<Group>,
    output: Tail,
}

impl Background {
    /// The exit status, if the command has ended.
    pub fn exited(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// The end of what it wrote to stdout and stderr, interleaved as it arrived.
    pub fn output(&self) -> String {
        self.output.text()
    }

    /// Sends TERM to the group, and KILL where members are left after `patience`.
    pub async fn end(mut self, patience: Duration) {
        self.group.signal(Signal::Term);
        if timeout(patience, self.child.wait()).await.is_err() || !self.group.wait_until_empty(CLEANUP).await {
            self.group.signal(Signal::Kill);
            let _ = timeout(CLEANUP, self.child.wait()).await;
            self.group.wait_until_empty(CLEANUP).await;
        }
    }
}

impl Children {
    /// Starts a command in the background.
    pub fn background(&self, command: &Command) -> io::Result<Background> {
        let (mut child, group) = self.spawn(command)?;
        drop(child.stdin.take());
        let output = Tail::default();
        output.follow(child.stdout.take());
        output.follow(child.stderr.take());
        Ok(Background { child, group, output })
    }

    /// Runs a command to its end, with nothing on its stdin, for at most `patience`, and kills it after that. Processes of
    /// its group that are left are killed too. `before_kill` is called before either, with the exit status if there is one.
    pub async fn run(
        &self,
        command: &Command,
        patience: Duration,
        mut before_kill: impl FnMut(Option<ExitStatus>),
    ) -> io::Result<Output> {
        let (mut child, group) = self.spawn(command)?;
        drop(child.stdin.take());
        let [stdout, stderr] = [Tail::default(), Tail::default()];
        let readers = [stdout.follow(child.stdout.take()), stderr.follow(child.stderr.take())];
        let status = if let Ok(status) = timeout(patience, child.wait()).await {
            Some(status?)
        } else {
            before_kill(None);
            group.signal(Signal::Kill);
            let _ = timeout(CLEANUP, child.wait()).await;
            None
        };
        if !group.wait_until_empty(CLEANUP).await {
            if status.is_some() {
                before_kill(status);
            }
            group.signal(Signal::Kill);
            group.wait_until_empty(CLEANUP).await;
        }
        for reader in readers.into_iter().flatten() {
            let abort = reader.abort_handle();
            if timeout(CLEANUP, reader).await.is_err() {
                abort.abort();
            }
        }
        Ok(Output { status, stderr: stderr.text(), stdout: stdout.text() })
    }
}
