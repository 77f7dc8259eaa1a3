//! Processes of this program, and what they say.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::Failed;

/// How long a process may take to say what is awaited.
const PATIENCE: Duration = Duration::from_mins(1);

/// A process of this program. It is killed when it is dropped.
pub(crate) struct Process {
    role: String,
    child: Child,
    lines: Receiver<String>,
    /// How many jobs it ran.
    pub(crate) ran: u64,
}

impl Process {
    /// Starts a role.
    pub(crate) fn start(role: &str, arguments: &[String]) -> Result<Self, Failed> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(role).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let output = child.stdout.take().ok_or("a process has no output")?;
        let (said, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if said.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { role: role.to_owned(), child, lines, ran: 0 })
    }

    /// Waits until it says a line that begins with `words`; returns the rest.
    pub(crate) fn says(&mut self, words: &str) -> Result<String, Failed> {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.ran += u64::from(line.starts_with("ran "));
                    if let Some(rest) = line.strip_prefix(words) {
                        return Ok(rest.trim().to_owned());
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Err(format!("{} never says {words:?}", self.role).into()),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!("{} ended before it said {words:?}", self.role).into());
                }
            }
        }
    }

    /// Lets it go on from its point.
    pub(crate) fn go_on(&mut self) -> Result<(), Failed> {
        let input = self.child.stdin.as_mut().ok_or("a process has no input")?;
        Ok(input.write_all(b"\n")?)
    }

    /// Ends it with SIGKILL; returns how many jobs it ran.
    pub(crate) fn kill(mut self) -> Result<u64, Failed> {
        self.child.kill()?;
        self.child.wait()?;
        while let Ok(line) = self.lines.recv() {
            self.ran += u64::from(line.starts_with("ran "));
        }
        Ok(self.ran)
    }

    /// Waits for its own end, which must be a good one; returns how many jobs it ran.
    pub(crate) fn end(mut self) -> Result<u64, Failed> {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => self.ran += u64::from(line.starts_with("ran ")),
                Err(RecvTimeoutError::Timeout) => return Err(format!("{} neither works nor ends", self.role).into()),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = self.child.wait()?;
        if status.success() { Ok(self.ran) } else { Err(format!("{} ended with {status}", self.role).into()) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
