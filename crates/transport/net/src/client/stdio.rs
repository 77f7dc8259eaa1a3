//! Lines over the standard streams of a child process, and its end as the specification has it: close stdin, wait, TERM,
//! wait, KILL (2026-07-28 basic/transports/stdio#shutdown). Does not know what the messages are about.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{Instant, sleep, timeout};
use wire::Party;
use wire::framing::Piece;
use wire::framing::lines::Lines;
use wire::trace::{Closed, Content, Limit, Mark};

use super::channel::Channel;
use super::error::{OpenError, SendError};
use crate::process::{Children, Command, Group, Signal};
use crate::tap::Written;

/// How many bytes on stdout may be no messages before reading stops.
const GARBAGE: usize = 4 << 20;
/// How much each such line counts in addition to its bytes.
const GARBAGE_LINE: usize = 64;
/// How much of an overlong line is kept.
const OVERLONG_KEPT: usize = 64 << 10;
/// The longest piece of stderr that is kept as one line.
const STDERR_LINE: usize = 16 << 10;
/// How much of the end of stderr an error may quote.
const STDERR_TAIL: usize = 2 << 10;
/// How long the rest of a group may outlive its leader before it counts as surviving.
const GROUP_EXIT: Duration = Duration::from_millis(500);
/// By which factor the timeout of a slow child process is extended, at most.
const SLOWEST: f64 = 4.0;
/// How long the pipes may take to be drained after the end.
const DRAIN: Duration = Duration::from_millis(200);

/// Where the supervisor reports the end, in this order.
struct ExitSenders {
    gone: watch::Sender<bool>,
    exit: watch::Sender<Option<ExitStatus>>,
}

/// Writes the pieces with a pause between two of them, each within `patience`.
async fn write(stdin: &mut ChildStdin, pieces: &[&[u8]], pause: Duration, patience: Duration) -> Result<(), SendError> {
    for (number, piece) in pieces.iter().enumerate() {
        if number > 0 {
            sleep(pause).await;
        }
        match timeout(patience, stdin.write_all(piece)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(SendError::Closed),
            Err(_) => return Err(SendError::Timeout { after: patience }),
        }
    }
    Ok(())
}

/// A child process as a connection. Dropped, its group is killed.
#[derive(Debug)]
pub(crate) struct Stdio {
    channel: Arc<Channel>,
    group: Arc<Group>,
    stdin: tokio::sync::Mutex<Option<ChildStdin>>,
    /// Ends a write that the child process does not read.
    closing: watch::Sender<bool>,
    /// The child has ended.
    gone: watch::Receiver<bool>,
    /// The same, and its exit is recorded.
    exit: watch::Receiver<Option<ExitStatus>>,
    readers: [AbortHandle; 2],
    stderr_tail: Arc<Mutex<Vec<u8>>>,
    closed: tokio::sync::Mutex<bool>,
    start_times: StartTimes,
}

/// When the child was started, and how long its first line took.
#[derive(Clone, Debug)]
struct StartTimes {
    at: Instant,
    first_output: Arc<OnceLock<Duration>>,
}

impl StartTimes {
    fn now() -> Self {
        Self { at: Instant::now(), first_output: Arc::default() }
    }

    fn first_output(&self) {
        self.first_output.get_or_init(|| self.at.elapsed());
    }

    /// The timeout for the end, from `shutdown` for an idle machine: where the start took seconds, the machine is busy or the
    /// runtime slow, and the end takes longer, too.
    fn grace(&self, shutdown: Duration) -> Duration {
        let start = self.first_output.get().map_or(0.0, Duration::as_secs_f64);
        shutdown.mul_f64(start.clamp(1.0, SLOWEST))
    }
}

impl Stdio {
    pub(crate) fn open(command: &Command, children: &Children, channel: Arc<Channel>) -> Result<Self, OpenError> {
        let (mut child, group) = children.spawn(command).map_err(|error| not_started(command, &error))?;
        channel.write(Party::Client, 0, Content::Opened, Written::NONE);
        let stdin = child.stdin.take();
        let stderr_tail = Arc::new(Mutex::new(Vec::new()));
        let start_times = StartTimes::now();
        let stdout =
            child.stdout.take().map(|pipe| tokio::spawn(read_stdout(pipe, channel.clone(), start_times.clone())));
        let stderr =
            child.stderr.take().map(|pipe| tokio::spawn(read_stderr(pipe, channel.clone(), stderr_tail.clone())));
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
            return Err(not_started(command, &std::io::Error::other("no pipes")));
        };
        let readers = [stdout.abort_handle(), stderr.abort_handle()];
        let senders = ExitSenders { gone: watch::Sender::new(false), exit: watch::Sender::new(None) };
        let (gone, exit) = (senders.gone.subscribe(), senders.exit.subscribe());
        tokio::spawn(supervise(child, group.clone(), channel.clone(), [stdout, stderr], senders));
        let stdin = tokio::sync::Mutex::new(stdin);
        let closed = tokio::sync::Mutex::new(false);
        let closing = watch::Sender::new(false);
        Ok(Self { channel, group, stdin, closing, gone, exit, readers, stderr_tail, closed, start_times })
    }

    /// Writes `text` and a line feed. Text with line feeds is several lines, and is written down as such.
    pub(crate) async fn send(&self, text: &[u8]) -> Result<(), SendError> {
        self.write_raw(&[&[text, &b"\n"[..]].concat()], Duration::ZERO).await
    }

    /// Writes the pieces as they are, with a pause between two of them and nothing else in between. Each line is a frame,
    /// and so is the rest after the last line feed.
    ///
    /// The frames are recorded before the first byte is sent: some servers answer before the line feed, and a response must
    /// not be recorded before its request.
    pub(crate) async fn write_raw(&self, pieces: &[&[u8]], pause: Duration) -> Result<(), SendError> {
        let mut guard = self.stdin.lock().await;
        let stdin = guard.as_mut().filter(|_| !*self.gone.borrow()).ok_or(SendError::Closed)?;
        let lines = pieces.concat();
        for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            self.channel.note_sent(line);
        }
        let frames: Vec<Written> = lines
            .split_inclusive(|&byte| byte == b'\n')
            .map(|line| match line.strip_suffix(b"\n") {
                Some(line) => Content::Line { bytes: line.to_vec(), terminated: true },
                None => Content::Line { bytes: line.to_vec(), terminated: false },
            })
            .map(|line| self.channel.write(Party::Client, 0, line, Written::NONE))
            .collect();
        let mut closing = self.closing.subscribe();
        let result = tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => Err(SendError::Closed),
            result = write(stdin, pieces, pause, self.channel.limits.request) => result,
        };
        match result {
            Ok(()) => frames.into_iter().for_each(|frame| self.channel.tap.complete(frame)),
            // Half a message may be in the pipe: nothing after it could be parsed.
            Err(_) => *guard = None,
        }
        result
    }

    /// Closes the child's standard input. The mark is recorded first: the child's end must not be recorded before its cause.
    pub(crate) async fn close_stdin(&self) {
        self.closing.send_replace(true);
        let mut input = self.stdin.lock().await;
        if input.is_some() {
            self.channel.mark(Mark::StdinClosed);
        }
        *input = None;
    }

    /// Signals the group, if it has members. The mark is recorded first, as in [`Self::close_stdin`].
    pub(crate) fn signal(&self, signal: Signal) {
        if !self.group.is_known_empty() {
            self.channel.mark(Mark::Signal(signal));
            self.group.signal(signal);
        }
    }

    pub(crate) async fn exited(&self, patience: Duration) -> Option<ExitStatus> {
        let mut exit = self.exit.clone();
        let status = timeout(patience, exit.wait_for(Option::is_some)).await.ok()?.ok()?;
        *status
    }

    /// The end of what the child wrote to stderr.
    pub(crate) fn stderr_tail(&self) -> String {
        let tail = self.stderr_tail.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail).into_owned()
    }

    pub(crate) fn process_number(&self) -> i32 {
        self.group.leader()
    }

    /// Records the resident memory of the child's group in bytes, where the system says.
    pub(crate) fn sample_memory(&self) -> Option<u64> {
        let bytes = self.group.resident_bytes()?;
        self.channel.mark(Mark::Memory(bytes));
        Some(bytes)
    }

    /// The shutdown that the specification describes; the second caller waits for the first.
    pub(crate) async fn close(&self) {
        self.close_within(self.channel.limits.shutdown).await;
    }

    /// The same where the child may take `shutdown` for it.
    pub(crate) async fn close_within(&self, shutdown: Duration) {
        let mut closed = self.closed.lock().await;
        if std::mem::replace(&mut *closed, true) {
            return;
        }
        self.channel.stop();
        if !*self.gone.borrow() {
            self.close_stdin().await;
            self.escalate(shutdown).await;
        }
        self.finish().await;
    }

    async fn is_gone(&self, patience: Duration) -> bool {
        let mut gone = self.gone.clone();
        timeout(patience, gone.wait_for(|gone| *gone)).await.is_ok_and(|senders| senders.is_ok())
    }

    async fn escalate(&self, shutdown: Duration) {
        let grace = self.start_times.grace(shutdown);
        for signal in [Signal::Term, Signal::Kill] {
            if self.is_gone(grace).await {
                return;
            }
            self.signal(signal);
        }
        self.is_gone(grace.max(Duration::from_secs(1))).await;
    }

    /// After the leader's end: counts and kills the rest of its group, and releases the pipes.
    async fn finish(&self) {
        self.exited(DRAIN * 2).await;
        self.group.wait_until_empty(GROUP_EXIT).await;
        // Counting members reads about every process of the machine: only where some are left.
        let left = if self.group.is_empty() { 0 } else { self.group.members().unwrap_or(1) };
        self.channel.mark(Mark::Survivors(u64::try_from(left).unwrap_or(u64::MAX)));
        if left > 0 {
            self.signal(Signal::Kill);
            self.group.wait_until_empty(GROUP_EXIT).await;
        }
        self.release().await;
    }

    pub(crate) async fn kill(&self) {
        self.channel.stop();
        self.signal(Signal::Kill);
        let mut closed = self.closed.lock().await;
        if std::mem::replace(&mut *closed, true) {
            return;
        }
        self.closing.send_replace(true);
        self.exited(Duration::from_secs(1)).await;
        self.group.wait_until_empty(GROUP_EXIT).await;
        self.release().await;
    }

    /// Processes outside the group may still hold the pipes: do not wait for them.
    async fn release(&self) {
        self.closing.send_replace(true);
        *self.stdin.lock().await = None;
        self.stop_reading();
    }

    fn stop_reading(&self) {
        self.readers.iter().for_each(AbortHandle::abort);
        self.channel.inbox.end();
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.signal(Signal::Kill);
        self.stop_reading();
    }
}

pub(crate) fn not_started(command: &Command, error: &std::io::Error) -> OpenError {
    let why = match (error.kind(), &command.cwd) {
        (std::io::ErrorKind::NotFound, Some(cwd)) if !cwd.is_dir() => format!("no directory {}", cwd.display()),
        (std::io::ErrorKind::NotFound, _) => format!("`{}` was not found", command.program),
        (std::io::ErrorKind::PermissionDenied, _) => format!("`{}` may not be executed", command.program),
        _ => error.to_string(),
    };
    OpenError::NotStarted { at: command.to_string(), why }
}

/// Waits for the child's end, drains the pipes so that its last output is recorded before the exit, and reports it.
async fn supervise(
    mut child: Child,
    group: Arc<Group>,
    channel: Arc<Channel>,
    readers: [JoinHandle<()>; 2],
    senders: ExitSenders,
) {
    let Ok(status) = child.wait().await else { return };
    let ended = channel.tap.now();
    senders.gone.send_replace(true);
    let drained = async {
        for reader in readers {
            // Whether the reader ended or was aborted makes no difference.
            let _ = reader.await;
        }
    };
    let drained = timeout(DRAIN, drained).await.is_ok();
    let mut exit = channel.tap.frame(Party::Server, channel.number, 0, exit_content(status));
    if !drained {
        // Another process holds the pipes; later output is not the child's.
        exit.at = ended;
    }
    channel.tap.write(exit, Written::NONE);
    channel.inbox.end();
    senders.exit.send_replace(Some(status));
    drop(group);
}

fn exit_content(status: ExitStatus) -> Content {
    Content::Exit { code: status.code(), signal: status.signal() }
}

async fn read_stdout(mut pipe: impl AsyncRead + Unpin, channel: Arc<Channel>, start_times: StartTimes) {
    let mut lines = Lines::new(channel.limits.message_bytes);
    let mut chunk = vec![0; 64 << 10];
    let mut begun = None;
    let mut garbage = 0;
    loop {
        let count = match pipe.read(&mut chunk).await {
            Ok(count) if count > 0 => count,
            _ => break,
        };
        start_times.first_output();
        begun.get_or_insert_with(|| channel.tap.now());
        lines.push(&chunk[..count]);
        while let Some(piece) = lines.next_line() {
            let at = begun.unwrap_or_default();
            if let Err(limit) = take_line(&channel, piece, at, &mut garbage) {
                channel.limit(limit);
                channel.inbox.end();
                // The pipe stays open and full: closing it would be another stimulus.
                return keep_open(pipe).await;
            }
            begun = Some(channel.tap.now());
        }
        if chunk[..count].ends_with(b"\n") {
            begun = None;
        }
    }
    if let Some(Piece::Rest(bytes)) = lines.finish() {
        let rest = Content::Line { bytes: bytes.to_vec(), terminated: false };
        channel.write_since(begun.unwrap_or_default(), Party::Server, 0, rest, Written::NONE);
    }
    channel.closed(Party::Server, 0, Closed::End);
    channel.inbox.end();
}

/// Takes one line, or returns the limit that it breaks.
fn take_line(channel: &Channel, piece: Piece<'_>, at: u64, garbage: &mut usize) -> Result<(), Limit> {
    let (bytes, whole) = match piece {
        Piece::Whole(bytes) => (bytes, true),
        Piece::TooLong(bytes) | Piece::Rest(bytes) => (&bytes[..bytes.len().min(OVERLONG_KEPT)], false),
    };
    let line = Content::Line { bytes: bytes.to_vec(), terminated: whole };
    channel.write_since(at, Party::Server, 0, line, Written::NONE);
    if !whole {
        return Err(Limit::Message);
    }
    match channel.take_in(bytes, |_| {}) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Limit::Connection),
        Err(malformed) if malformed.fault.is_ours() => Ok(()),
        Err(_) => {
            *garbage += bytes.len() + GARBAGE_LINE;
            if *garbage > GARBAGE { Err(Limit::Garbage) } else { Ok(()) }
        }
    }
}

async fn keep_open<P>(pipe: P) {
    let _pipe = pipe;
    std::future::pending::<()>().await;
}

/// Records stderr up to the limit and drains the rest: a child process must never block on its log.
async fn read_stderr(mut pipe: impl AsyncRead + Unpin, channel: Arc<Channel>, tail: Arc<Mutex<Vec<u8>>>) {
    let mut lines = Lines::new(STDERR_LINE);
    let mut chunk = vec![0; 16 << 10];
    let mut room = channel.limits.stderr_bytes;
    while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
        keep_tail(&tail, &chunk[..count]);
        if room == 0 {
            continue;
        }
        lines.push(&chunk[..count]);
        while let Some(Piece::Whole(line) | Piece::TooLong(line) | Piece::Rest(line)) = lines.next_line() {
            room = room.saturating_sub(line.len() + 1);
            channel.write(Party::Server, 0, Content::Stderr(line.to_vec()), Written::NONE);
        }
        if room == 0 {
            channel.mark(Mark::Limit(Limit::Stderr));
        }
    }
    if let Some(Piece::Rest(line)) = lines.finish()
        && room > 0
    {
        channel.write(Party::Server, 0, Content::Stderr(line.to_vec()), Written::NONE);
    }
}

fn keep_tail(tail: &Mutex<Vec<u8>>, bytes: &[u8]) {
    let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
    tail.extend_from_slice(bytes);
    let excess = tail.len().saturating_sub(STDERR_TAIL);
    tail.drain(..excess);
}
