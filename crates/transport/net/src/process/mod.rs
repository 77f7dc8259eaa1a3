//! Child processes: each leads a process group of its own, which is signalled as a whole and outlives neither its owner nor
//! us. Knows nothing of what is said on the pipes.

pub mod orphans;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, kill_process_group, test_kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Child;
use tokio::time::{Instant, sleep};
pub use wire::trace::Signal;

/// A program to start: found on the path unless it has a slash; `env` is added to our own environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables added to our own environment.
    pub env: Vec<(String, String)>,
    /// Where it runs; here, if not told.
    pub cwd: Option<PathBuf>,
}

impl Command {
    /// `program` with `args`, in our own environment.
    pub fn new<A: Into<String>>(program: impl Into<String>, args: impl IntoIterator<Item = A>) -> Self {
        Self { program: program.into(), args: args.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

impl fmt::Display for Command {
    /// As one would type it, roughly: words with blanks are quoted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program)?;
        self.args.iter().try_for_each(|arg| {
            let plain = !arg.is_empty() && !arg.contains(|c: char| c.is_whitespace() || c == '"' || c == '\'');
            if plain { write!(f, " {arg}") } else { write!(f, " {arg:?}") }
        })
    }
}

const fn raw(signal: Signal) -> rustix::process::Signal {
    match signal {
        Signal::Int => rustix::process::Signal::INT,
        Signal::Term => rustix::process::Signal::TERM,
        Signal::Kill => rustix::process::Signal::KILL,
    }
}

/// The groups that may still have members.
static LIVE: Mutex<Live> = Mutex::new(Live { groups: BTreeSet::new(), over: false });

struct Live {
    groups: BTreeSet<i32>,
    /// No more may come.
    over: bool,
}

fn live() -> MutexGuard<'static, Live> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every process group that this process started and has not seen empty: the last thing to do before an abrupt end
/// (SIGINT, SIGTERM, a panic). No other can be started after that: whoever waits for a child that is killed here may be
/// about to try another.
pub fn kill_all() {
    let groups = {
        let mut live = live();
        live.over = true;
        std::mem::take(&mut live.groups)
    };
    for group in groups {
        if let Some(pid) = Pid::from_raw(group) {
            // Only "no such group" can fail here, and that is what we want.
            let _ = kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
    orphans::end();
}

/// A process group that we started. Dropped, it is killed.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Pid,
    /// Seen empty: the number may belong to others by now.
    empty: AtomicBool,
}

impl Group {
    /// Signals every member. Whether there was anyone to signal.
    pub(crate) fn signal(&self, signal: Signal) -> bool {
        !self.empty.load(Ordering::Acquire) && kill_process_group(self.leader, raw(signal)).is_ok()
    }

    /// Whether it is known that no member is left.
    pub(crate) fn is_over(&self) -> bool {
        self.empty.load(Ordering::Acquire)
    }

    /// Whether no member is left. To be asked only after the leader was waited for: until then it counts itself.
    pub(crate) fn is_empty(&self) -> bool {
        if !self.empty.load(Ordering::Acquire) && test_kill_process_group(self.leader).is_err() {
            self.forget();
        }
        self.empty.load(Ordering::Acquire)
    }

    /// Nobody is left to be signalled.
    fn forget(&self) {
        self.empty.store(true, Ordering::Release);
        live().groups.remove(&self.leader());
    }

    /// Waits until no member is left, at most `patience`.
    pub(crate) async fn emptied(&self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        let mut pause = Duration::from_millis(1);
        while !self.is_empty() {
            // Zombies, which may be ours to keep for a while (see `orphans`).
            if self.members() == Some(0) {
                self.forget();
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        true
    }

    /// The members that run, zombies not counted; `None` where the system does not tell.
    pub(crate) fn members(&self) -> Option<usize> {
        self.running().map(|members| members.len())
    }

    /// The resident memory of all members together, in bytes; `None` where the system does not tell, or nobody is left.
    pub(crate) fn resident(&self) -> Option<u64> {
        let status = |member: &PathBuf| std::fs::read_to_string(member.join("status")).ok();
        let sizes: Vec<u64> = self.running()?.iter().filter_map(|m| resident_in(&status(m)?)).collect();
        (!sizes.is_empty()).then(|| sizes.iter().sum())
    }

    /// The members' directories in the process file system.
    fn running(&self) -> Option<Vec<PathBuf>> {
        let entries = std::fs::read_dir("/proc").ok()?;
        let group = self.leader();
        let processes = entries.flatten().filter(|e| e.file_name().as_encoded_bytes()[0].is_ascii_digit());
        let stats = processes.filter_map(|e| Some((e.path(), std::fs::read_to_string(e.path().join("stat")).ok()?)));
        let mut seen = false;
        let members = stats.inspect(|_| seen = true).filter(|(_, stat)| runs_in(stat, group));
        let members = members.map(|(path, _)| path).collect();
        seen.then_some(members)
    }

    /// The leader's process number.
    pub(crate) fn leader(&self) -> i32 {
        self.leader.as_raw_nonzero().get()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_empty() {
            self.signal(Signal::Kill);
            live().groups.remove(&self.leader());
        }
    }
}

/// Reads `pid (name) state ppid pgrp …`; the name may hold anything, so what follows its last parenthesis counts.
fn runs_in(stat: &str, group: i32) -> bool {
    let Some((_, rest)) = stat.rsplit_once(')') else { return false };
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next();
    let pgrp = fields.nth(1).and_then(|p| p.parse::<i32>().ok());
    !matches!(state, Some("Z" | "X")) && pgrp == Some(group)
}

/// Reads the line `VmRSS: … kB` of a process's status; bytes.
fn resident_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim_end().parse::<u64>().ok()? << 10)
}

/// Starts `command` with three pipes, in a process group of its own.
pub(crate) fn spawn(command: &Command) -> std::io::Result<(Child, Arc<Group>)> {
    let mut builder = tokio::process::Command::new(&command.program);
    builder.args(&command.args).envs(command.env.iter().map(|(name, value)| (name, value)));
    if let Some(cwd) = &command.cwd {
        builder.current_dir(cwd);
    }
    builder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    builder.process_group(0).kill_on_drop(true);
    // The lock is held over the start, so that `kill_all` cannot miss a child that is just being born.
    let mut live = live();
    if live.over {
        return Err(std::io::Error::new(std::io::ErrorKind::Interrupted, "everything is being ended"));
    }
    let child = builder.spawn()?;
    let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let leader = leader.ok_or_else(|| std::io::Error::other("the child has no process number"))?;
    live.groups.insert(leader.as_raw_nonzero().get());
    Ok((child, Arc::new(Group { leader, empty: AtomicBool::new(false) })))
}

/// How much of the end of what a command says is kept.
const TAIL: usize = 4 << 10;
/// How long what a command leaves behind may take to be gone, and its pipes to run dry.
const AFTERWARDS: Duration = Duration::from_millis(300);

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The status it exited with; `None` where it was given up.
    pub status: Option<std::process::ExitStatus>,
    /// The end of what it wrote to stderr.
    pub stderr: String,
    /// The end of what it wrote to stdout.
    pub stdout: String,
}

/// A command that runs beside us until it is dropped, with nothing on its stdin: what it says is kept in part.
#[derive(Debug)]
pub struct Background {
    child: Child,
    group: Arc<Group>,
    said: Arc<Mutex<Vec<u8>>>,
}

impl Background {
    /// Starts it.
    pub fn start(command: &Command) -> std::io::Result<Self> {
        let (mut child, group) = spawn(command)?;
        drop(child.stdin.take());
        let said = Arc::<Mutex<Vec<u8>>>::default();
        // Both are read to their ends, or it would stand still one day.
        if let Some(pipe) = child.stdout.take() {
            tokio::spawn(keep_tail(pipe, said.clone()));
        }
        if let Some(pipe) = child.stderr.take() {
            tokio::spawn(keep_tail(pipe, said.clone()));
        }
        Ok(Self { child, group, said })
    }

    /// The status it has exited with, where it has.
    pub fn exited(&mut self) -> Option<std::process::ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// The end of what it said on stdout and stderr, as it came.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.said.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// Asks it to end, and kills it and all that it started where it is not gone after `patience`.
    pub async fn end(mut self, patience: Duration) {
        self.group.signal(Signal::Term);
        if tokio::time::timeout(patience, self.child.wait()).await.is_err() || !self.group.emptied(AFTERWARDS).await {
            self.group.signal(Signal::Kill);
            let _ = tokio::time::timeout(AFTERWARDS, self.child.wait()).await;
            self.group.emptied(AFTERWARDS).await;
        }
    }
}

/// Runs a command to its end, with nothing on its stdin, for at most `patience`; `given_up` is called before it is killed
/// after that. Whatever it leaves behind of its process group is killed too.
pub async fn run(command: &Command, patience: Duration, given_up: impl FnOnce()) -> std::io::Result<Ended> {
    let (mut child, group) = spawn(command)?;
    drop(child.stdin.take());
    let [stdout, stderr] = [Arc::<Mutex<Vec<u8>>>::default(), Arc::default()];
    let readers = [
        child.stdout.take().map(|pipe| tokio::spawn(keep_tail(pipe, stdout.clone()))),
        child.stderr.take().map(|pipe| tokio::spawn(keep_tail(pipe, stderr.clone()))),
    ];
    let waited = tokio::time::timeout(patience, child.wait()).await;
    let status = if let Ok(status) = waited {
        Some(status?)
    } else {
        given_up();
        group.signal(Signal::Kill);
        let _ = tokio::time::timeout(AFTERWARDS, child.wait()).await;
        None
    };
    if !group.emptied(AFTERWARDS).await {
        group.signal(Signal::Kill);
        group.emptied(AFTERWARDS).await;
    }
    for reader in readers.into_iter().flatten() {
        let abort = reader.abort_handle();
        if tokio::time::timeout(AFTERWARDS, reader).await.is_err() {
            abort.abort();
        }
    }
    let text = |tail: &Mutex<Vec<u8>>| {
        String::from_utf8_lossy(&tail.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    };
    Ok(Ended { status, stderr: text(&stderr), stdout: text(&stdout) })
}

/// Reads to the end and keeps the last of it: whoever writes must never stand still.
async fn keep_tail(mut pipe: impl AsyncRead + Unpin, tail: Arc<Mutex<Vec<u8>>>) {
    let mut chunk = vec![0; 16 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&chunk[..count]);
        let excess = tail.len().saturating_sub(TAIL);
        tail.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::{resident_in, runs_in};

    #[test]
    fn a_process_name_cannot_deceive() {
        assert!(runs_in("12 (a) S 1) R 1 77 77 0", 77));
        assert!(!runs_in("12 (sh) Z 1 77 77 0", 77));
        assert!(!runs_in("12 (sh) S 1 78 77 0", 77));
    }

    #[test]
    fn memory_is_read_in_bytes() {
        assert_eq!(resident_in("Name:\tx\nVmHWM:\t  9 kB\nVmRSS:\t    1234 kB\nVmData: 1 kB\n"), Some(1234 * 1024));
        assert_eq!(resident_in("Name:\tkernel thread\n"), None);
    }
}
