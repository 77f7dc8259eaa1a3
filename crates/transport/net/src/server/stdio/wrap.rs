//! A recorded stdio server: the real one is a child of this process, whose standard streams the client holds. Bytes pass
//! unchanged; every line is recorded.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use wire::Party;
use wire::framing::Piece;
use wire::framing::lines::Lines;
use wire::trace::{Closed, Content};

use super::Limits;
use crate::process::{Children, Command, Signal};
use crate::server::recorder::{ConnectionRecorder, RecordedReader, RecordedWriter};
use crate::tap::Tap;

/// How long the child's last output may take to pass: on a busy machine, or where what the child started holds the pipes.
const DRAIN: Duration = Duration::from_secs(2);
/// How long the child may take to end after a signal.
const AFTER_SIGNAL: Duration = Duration::from_secs(2);
/// The longest line of stderr that is recorded as one.
const STDERR_LINE: usize = 16 << 10;

/// Runs `command` between this process's standard streams until it ends; returns its exit code, which is 128 plus the
/// signal's number where a signal ended it. A signal is passed on.
pub async fn wrap(
    command: &Command,
    children: &Children,
    tap: &Tap,
    signal: impl Future<Output = u8>,
) -> io::Result<u8> {
    let (mut child, group) = children.spawn(command)?;
    let connection = ConnectionRecorder::next(tap);
    connection.record(Party::Client, Content::Opened);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(mut stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(io::Error::other("the child has no pipes"));
    };
    let limit = Limits::default().line;
    let copying_stdin = {
        let mut input = RecordedReader::new(tokio::io::stdin(), &connection, limit);
        tokio::spawn(async move {
            let _ = tokio::io::copy(&mut input, &mut stdin).await;
            let _ = stdin.shutdown().await;
        })
    };
    let mut copying_stdout = {
        let mut output = RecordedWriter::new(tokio::io::stdout(), &connection, limit);
        tokio::spawn(async move {
            let _ = tokio::io::copy(&mut stdout, &mut output).await;
            let _ = output.flush().await;
        })
    };
    let mut recording_stderr = tokio::spawn(record_stderr(stderr, connection.clone()));
    tokio::pin!(signal);
    let status = tokio::select! {
        status = child.wait() => status?,
        number = &mut signal => {
            let signal = if number == 2 { Signal::Int } else { Signal::Term };
            group.signal(signal);
            if let Ok(status) = timeout(AFTER_SIGNAL, child.wait()).await {
                status?
            } else {
                group.signal(Signal::Kill);
                child.wait().await?
            }
        }
    };
    copying_stdin.abort();
    let _ = timeout(DRAIN, async { tokio::join!(&mut copying_stdout, &mut recording_stderr) }).await;
    for task in [copying_stdout, recording_stderr].into_iter().filter(|task| !task.is_finished()) {
        // A line without an end is recorded when its task ends: before the connection does.
        task.abort();
        let _ = task.await;
    }
    connection.closed(Party::Server, Closed::End);
    connection.record(Party::Server, Content::Exit { code: status.code(), signal: status.signal() });
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Passes stderr on and records its lines.
async fn record_stderr(mut from: impl AsyncRead + Unpin, connection: ConnectionRecorder) {
    let mut lines = Lines::new(STDERR_LINE);
    let mut stderr = tokio::io::stderr();
    let mut chunk = vec![0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut chunk).await {
        let _ = stderr.write_all(&chunk[..count]).await;
        lines.push(&chunk[..count]);
        while let Some(Piece::Whole(line) | Piece::TooLong(line) | Piece::Rest(line)) = lines.next_line() {
            connection.record(Party::Server, Content::Stderr(line.to_vec()));
        }
    }
    // What is written last would else be lost where the process ends soon.
    let _ = stderr.flush().await;
    if let Some(Piece::Rest(line)) = lines.finish() {
        connection.record(Party::Server, Content::Stderr(line.to_vec()));
    }
}
