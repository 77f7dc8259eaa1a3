//! Commands that may use only so much: time, memory, processes, output. All that such a command starts counts, also what is in
//! a process group of its own; only Linux says what that is. Must not know what the command is for.

use std::collections::{HashMap, HashSet};
use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, kill_process};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Child;
use tokio::time::{Instant, sleep, timeout};
use wire::trace::Signal;

use super::{Children, Command, Group};

/// How often it is looked what a command uses.
const LOOK: Duration = Duration::from_millis(200);
/// How long a command may take to end its own children after TERM.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long pipes may take to be drained.
const DRAIN: Duration = Duration::from_millis(500);
/// How many bytes of stderr are kept.
const STDERR: usize = 16 << 10;

/// What a command may use, with all that it starts.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How long it may run.
    pub time: Duration,
    /// How many bytes of memory; on Linux.
    pub memory: u64,
    /// How many processes; on Linux.
    pub processes: usize,
    /// How many bytes of stdout are kept.
    pub output: usize,
}

/// How a bounded command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself.
    Exited(ExitStatus),
    /// It ran too long.
    TimeOver,
    /// It used too much memory.
    MemoryOver,
    /// It started too many processes.
    ProcessesOver,
}

/// A bounded command that ended, and what it wrote.
#[derive(Clone, Debug)]
pub struct Bounded {
    /// How it ended.
    pub ending: Ending,
    /// The beginning of stdout.
    pub stdout: Vec<u8>,
    /// Whether there was more of it.
    pub is_cut: bool,
    /// The beginning of stderr.
    pub stderr: String,
}

/// The beginning of an output, shared with the task that reads it.
#[derive(Clone, Debug, Default)]
struct Head(Arc<Mutex<(Vec<u8>, bool)>>);

impl Head {
    /// Reads to the end: a process must never block because nobody reads its output.
    async fn read(self, mut pipe: impl AsyncRead + Unpin, limit: usize) {
        let mut chunk = vec![0; 16 << 10];
        while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let room = limit.saturating_sub(kept.0.len()).min(count);
            kept.0.extend_from_slice(&chunk[..room]);
            kept.1 |= room < count;
        }
    }

    fn take(&self) -> (Vec<u8>, bool) {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Children {
    /// Runs a command to its end or to one of its bounds, with nothing on its stdin. What it started and left is killed.
    pub async fn run_bounded(&self, command: &Command, bounds: Bounds) -> io::Result<Bounded> {
        let (mut child, group) = self.spawn(command)?;
        drop(child.stdin.take());
        let [stdout, stderr] = [Head::default(), Head::default()];
        let readers = [
            child.stdout.take().map(|pipe| tokio::spawn(stdout.clone().read(pipe, bounds.output))),
            child.stderr.take().map(|pipe| tokio::spawn(stderr.clone().read(pipe, STDERR))),
        ];
        // After the child, so that it is dropped first: it looks at the tree while the child still holds it together.
        let mut left = Left { tree: Tree::new(group.leader()), group, is_ended: false };
        let ending = watched(&mut child, &mut left.tree, bounds).await?;
        left.end(&mut child).await;
        for reader in readers.into_iter().flatten() {
            let abort = reader.abort_handle();
            if timeout(DRAIN, reader).await.is_err() {
                abort.abort();
            }
        }
        let ((stdout, is_cut), (stderr, _)) = (stdout.take(), stderr.take());
        Ok(Bounded { ending, stdout, is_cut, stderr: String::from_utf8_lossy(&stderr).into_owned() })
    }
}

async fn watched(child: &mut Child, tree: &mut Tree, bounds: Bounds) -> io::Result<Ending> {
    let end = Instant::now() + bounds.time;
    loop {
        let pause = LOOK.min(end.saturating_duration_since(Instant::now()));
        if let Ok(status) = timeout(pause, child.wait()).await {
            return status.map(Ending::Exited);
        }
        if Instant::now() >= end {
            return Ok(Ending::TimeOver);
        }
        let used = tree.look();
        if used.memory > bounds.memory {
            return Ok(Ending::MemoryOver);
        }
        if used.processes > bounds.processes {
            return Ok(Ending::ProcessesOver);
        }
    }
}

/// What is left of a command. Dropped before its end, it is killed with all that it started.
struct Left {
    tree: Tree,
    group: Arc<Group>,
    is_ended: bool,
}

impl Left {
    /// Ends it: first by itself, then by force.
    async fn end(&mut self, child: &mut Child) {
        if child.try_wait().ok().flatten().is_none() {
            self.tree.look();
            self.group.signal(Signal::Term);
            let _ = timeout(PATIENCE, child.wait()).await;
        }
        self.group.signal(Signal::Kill);
        let _ = timeout(PATIENCE, child.wait()).await;
        self.tree.kill();
        sleep(Duration::from_millis(1)).await;
        self.group.wait_until_empty(DRAIN).await;
        self.is_ended = true;
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        if self.is_ended {
            return;
        }
        self.tree.look();
        self.group.signal(Signal::Kill);
        self.tree.kill();
        // What a member started between the look and its end.
        self.tree.look();
        self.tree.kill();
    }
}

/// What a tree of processes uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Used {
    memory: u64,
    processes: usize,
}

/// A process, and when it was started: numbers are used again.
type Member = (i32, u64);

/// All processes that descend from one, as far as they were seen.
#[derive(Debug)]
struct Tree {
    /// All that were ever seen, the first one too: who loses its parent is still of the tree.
    members: HashSet<Member>,
}

/// A line of the process file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    parent: i32,
    pub(super) is_zombie: bool,
    pub(super) started: u64,
    /// Resident pages.
    pages: u64,
}

/// Bytes of a page, as the kernel counts them in `stat`. Where pages are larger, the limit is stricter than it says.
const PAGE: u64 = 4096;

impl Tree {
    /// The tree of a process that was just started: later its number may be another's.
    fn new(root: i32) -> Self {
        let root = std::fs::read_to_string(format!("/proc/{root}/stat")).ok().and_then(|stat| parse(&stat));
        Self { members: root.map(|root| (root.pid, root.started)).into_iter().collect() }
    }

    /// Looks what the tree uses; nothing where the system does not say.
    fn look(&mut self) -> Used {
        let processes = processes();
        self.grow(&processes);
        let own = processes.iter().filter(|one| !one.is_zombie && self.members.contains(&(one.pid, one.started)));
        own.fold(Used::default(), |used, one| Used {
            memory: used.memory + one.pages * PAGE,
            processes: used.processes + 1,
        })
    }

    /// Takes in who descends from a member.
    fn grow(&mut self, processes: &[Process]) {
        let mut by_parent: HashMap<i32, Vec<&Process>> = HashMap::new();
        for one in processes {
            by_parent.entry(one.parent).or_default().push(one);
        }
        let is_own = |one: &&Process| self.members.contains(&(one.pid, one.started));
        let mut pending: Vec<&Process> = processes.iter().filter(is_own).collect();
        let mut seen: HashSet<i32> = HashSet::new();
        while let Some(one) = pending.pop() {
            if seen.insert(one.pid) {
                self.members.insert((one.pid, one.started));
                pending.extend(by_parent.get(&one.pid).into_iter().flatten());
            }
        }
    }

    /// Kills the members that still run.
    fn kill(&self) {
        let is_left = |one: &Process| !one.is_zombie && self.members.contains(&(one.pid, one.started));
        for pid in processes().into_iter().filter(is_left).filter_map(|one| Pid::from_raw(one.pid)) {
            let _ = kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

/// All processes of this machine; none where the system does not say.
pub(super) fn processes() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbered = entries.filter(|entry| entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit));
    numbered.filter_map(|entry| parse(&std::fs::read_to_string(entry.path().join("stat")).ok()?)).collect()
}

/// Reads `pid (name) state ppid … starttime vsize rss`; the name may hold anything, so what follows its last parenthesis counts.
pub(super) fn parse(stat: &str) -> Option<Process> {
    let (before, rest) = stat.rsplit_once(')')?;
    let pid = before.split_once(' ')?.0.parse().ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        is_zombie: matches!(fields.first(), Some(&"Z" | &"X")),
        started: fields.get(19)?.parse().ok()?,
        pages: fields.get(21)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::{Process, Tree, parse};

    #[test]
    fn a_process_name_cannot_deceive() {
        let stat = "12 (a) S 1) R 7 12 12 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 1000 55 0";
        let expected = Process { pid: 12, parent: 7, is_zombie: false, started: 4242, pages: 55 };
        assert_eq!(parse(stat), Some(expected));
        assert_eq!(parse("12 (a) R 7"), None);
    }

    #[test]
    fn who_loses_its_parent_is_still_of_the_tree() {
        let one = |pid, parent, started| Process { pid, parent, is_zombie: false, started, pages: 1 };
        let mut tree = Tree { members: [(10, 1)].into() };
        tree.grow(&[one(10, 1, 1), one(11, 10, 2), one(12, 11, 3), one(20, 1, 4)]);
        assert_eq!(tree.members.len(), 3);
        // 11 has ended and left 12 to another; 12 starts one more; 11 is a stranger's number now.
        tree.grow(&[one(10, 1, 1), one(12, 1, 3), one(13, 12, 5), one(11, 20, 9), one(20, 1, 4)]);
        assert!(
            tree.members.contains(&(13, 5)) && !tree.members.contains(&(11, 9)) && !tree.members.contains(&(20, 4))
        );
    }
}
