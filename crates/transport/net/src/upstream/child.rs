//! One child process whose standard streams carry messages, one a line. It leads a process group of its own, which ends with
//! it.

mod ending;
mod reading;

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;
use wire::framing::lines::one_line;

use self::ending::{End, Supervisor};
use self::reading::{LastWords, read_lines, read_log};
use super::{Output, Queue, WAITING, WAITING_BYTES, queue};
use crate::client::OpenError;
use crate::process::{Children, Command, Group, Signal};

/// How long a write may take: a child process that does not read is stuck.
const WRITE: Duration = Duration::from_secs(30);
/// How long the exit of a child process whose stdout has ended is waited for, and then the rest of its stderr.
const EXIT: Duration = Duration::from_millis(500);
const LAST_WORDS: Duration = Duration::from_millis(100);

/// How much room for messages to a child process is kept, in bytes.
const KEPT: usize = 64 << 10;

/// Bounds of a child process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildLimits {
    /// The largest message, in bytes.
    pub message: usize,
    /// The most resident memory of its whole group, in bytes. More, and the group is killed within about a second; on Linux
    /// only, where the system says how much there is.
    pub memory: Option<u64>,
}

/// The child process has ended, or reads nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It did not get the message.
    NotSent,
    /// It may have got the message.
    Unknown,
}

/// A running child process. Dropped, its group is killed.
#[derive(Debug)]
pub struct Child {
    group: Arc<Group>,
    stdin: Mutex<Option<Input>>,
    gone: watch::Receiver<Option<End>>,
    last_words: LastWords,
}

/// The pipe to the child process, and the rest of a message whose sender no longer waits: without it, the next message would
/// continue the line.
#[derive(Debug)]
struct Input {
    pipe: ChildStdin,
    rest: BytesMut,
}

impl Child {
    /// Starts `command`. What it writes comes out of the receiver, which ends with the child's stdout.
    pub fn start(
        command: &Command,
        children: &Children,
        limits: ChildLimits,
    ) -> Result<(Self, Queue<Output>), OpenError> {
        let (mut child, group) =
            children.spawn(command).map_err(|error| crate::client::not_started(command, &error))?;
        let (sender, receiver) = queue(WAITING, WAITING_BYTES);
        let stdin = child.stdin.take().map(|pipe| Input { pipe, rest: BytesMut::new() });
        let last_words = LastWords::default();
        if let Some(pipe) = child.stderr.take() {
            // A weak sender: the receiver shall end with stdout.
            tokio::spawn(read_log(pipe, sender.downgrade(), last_words.clone()));
        }
        if let Some(pipe) = child.stdout.take() {
            tokio::spawn(read_lines(pipe, sender, limits.message));
        }
        let (ended, gone) = watch::channel(None);
        tokio::spawn(Supervisor { child, group: Arc::clone(&group), memory: limits.memory }.run(ended));
        Ok((Self { group, stdin: Mutex::new(stdin), gone, last_words }, receiver))
    }

    /// Writes one message and its line feed. Where the future is dropped halfway, the next message completes it first.
    pub async fn send(&self, message: &[u8]) -> Result<(), Ended> {
        let mut guard = self.stdin.lock().await;
        let input = guard.as_mut().ok_or(Ended::NotSent)?;
        // A line feed between two members is legal JSON, and would be two lines here.
        input.rest.extend_from_slice(&one_line(message));
        input.rest.extend_from_slice(b"\n");
        let written = timeout(WRITE, async {
            input.pipe.write_all_buf(&mut input.rest).await?;
            input.pipe.flush().await
        });
        if matches!(written.await, Ok(Ok(()))) {
            // One large message leaves no room behind.
            if input.rest.capacity() > KEPT {
                input.rest = BytesMut::new();
            }
            return Ok(());
        }
        // The last line has no end. A reader may take it for whole only where nothing but the line feed is missing.
        let missing = input.rest.len();
        *guard = None;
        Err(if missing > 1 { Ended::NotSent } else { Ended::Unknown })
    }

    /// Why nothing comes any more. To be asked once the receiver has ended.
    pub async fn cause(&self) -> String {
        let mut gone = self.gone.clone();
        let end = timeout(EXIT, gone.wait_for(Option::is_some)).await.ok().and_then(|end| end.ok()?.clone());
        let end = end.map_or_else(|| "it closed its stdout".to_owned(), |end| end.to_string());
        match self.last_words.get(LAST_WORDS).await {
            Some(words) => format!("{end}, and wrote: {words}"),
            None => end,
        }
    }

    /// Kills it at once.
    pub fn kill(&self) {
        if !self.group.is_known_empty() {
            self.group.signal(Signal::Kill);
        }
    }

    /// Ends it as the specification says: close stdin, wait, TERM, wait, KILL.
    pub async fn close(&self, grace: Duration) {
        if let Ok(mut stdin) = timeout(grace, self.stdin.lock()).await {
            *stdin = None;
        }
        for signal in [Signal::Term, Signal::Kill] {
            let mut gone = self.gone.clone();
            if timeout(grace, gone.wait_for(Option::is_some)).await.is_ok() {
                break;
            }
            self.group.signal(signal);
        }
        self.group.wait_until_empty(grace).await;
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}
