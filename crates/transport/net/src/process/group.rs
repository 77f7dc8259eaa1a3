//! One process group: its members are signalled together and counted. Must not know how it was started.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, kill_process_group, test_kill_process_group};
use tokio::time::{Instant, sleep};
use wire::trace::Signal;

use super::Children;

const fn raw(signal: Signal) -> rustix::process::Signal {
    match signal {
        Signal::Int => rustix::process::Signal::INT,
        Signal::Term => rustix::process::Signal::TERM,
        Signal::Kill => rustix::process::Signal::KILL,
    }
}

/// A process group that we started. Dropped, it is killed.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Pid,
    /// Seen empty: the number may belong to others by now.
    empty: AtomicBool,
    children: Children,
}

impl Group {
    pub(super) const fn new(leader: Pid, children: Children) -> Self {
        Self { leader, empty: AtomicBool::new(false), children }
    }

    /// Signals every member; whether there was any.
    pub(crate) fn signal(&self, signal: Signal) -> bool {
        !self.empty.load(Ordering::Acquire) && kill_process_group(self.leader, raw(signal)).is_ok()
    }

    /// Whether it is known that no member is left.
    pub(crate) fn is_known_empty(&self) -> bool {
        self.empty.load(Ordering::Acquire)
    }

    /// Whether no member is left. Call it only after the leader was waited for: until then the leader itself counts.
    pub(crate) fn is_empty(&self) -> bool {
        if !self.empty.load(Ordering::Acquire) && test_kill_process_group(self.leader).is_err() {
            self.forget();
        }
        self.empty.load(Ordering::Acquire)
    }

    /// No member is left to be signalled.
    fn forget(&self) {
        self.empty.store(true, Ordering::Release);
        self.children.forget(self.leader());
    }

    /// Waits until no member is left, for at most `patience`; whether that happened.
    pub(crate) async fn wait_until_empty(&self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        let mut pause = Duration::from_millis(1);
        while !self.is_empty() {
            // Only zombies are left, perhaps adopted ones without a waiting parent (see `orphans`).
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

    /// How many members run, zombies not counted; `None` where the system does not say.
    pub(crate) fn members(&self) -> Option<usize> {
        self.running().map(|members| members.len())
    }

    /// The resident memory of all members together, in bytes; `None` where the system does not say, or no member is
    /// left.
    pub(crate) fn resident_bytes(&self) -> Option<u64> {
        let status = |member: &PathBuf| std::fs::read_to_string(member.join("status")).ok();
        let sizes: Vec<u64> = self.running()?.iter().filter_map(|m| parse_resident(&status(m)?)).collect();
        (!sizes.is_empty()).then(|| sizes.iter().sum())
    }

    /// The members' directories in the process file system.
    fn running(&self) -> Option<Vec<PathBuf>> {
        let entries = std::fs::read_dir("/proc").ok()?;
        let group = self.leader();
        let processes = entries.flatten().filter(|e| e.file_name().as_encoded_bytes()[0].is_ascii_digit());
        let stats = processes.filter_map(|e| Some((e.path(), std::fs::read_to_string(e.path().join("stat")).ok()?)));
        let mut seen = false;
        let members = stats.inspect(|_| seen = true).filter(|(_, stat)| is_running_member(stat, group));
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
            self.children.forget(self.leader());
        }
    }
}

/// Reads `pid (name) state ppid pgrp …`; the name may hold anything, so what follows its last parenthesis counts.
fn is_running_member(stat: &str, group: i32) -> bool {
    let Some((_, rest)) = stat.rsplit_once(')') else { return false };
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next();
    let pgrp = fields.nth(1).and_then(|p| p.parse::<i32>().ok());
    !matches!(state, Some("Z" | "X")) && pgrp == Some(group)
}

/// Reads the line `VmRSS: … kB` of a process's status; bytes.
fn parse_resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim_end().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::{is_running_member, parse_resident};

    #[test]
    fn a_process_name_cannot_deceive() {
        assert!(is_running_member("12 (a) S 1) R 1 77 77 0", 77));
        assert!(!is_running_member("12 (sh) Z 1 77 77 0", 77));
        assert!(!is_running_member("12 (sh) S 1 78 77 0", 77));
    }

    #[test]
    fn memory_is_read_in_bytes() {
        assert_eq!(parse_resident("Name:\tx\nVmHWM:\t  9 kB\nVmRSS:\t    1234 kB\nVmData: 1 kB\n"), Some(1234 * 1024));
        assert_eq!(parse_resident("Name:\tkernel thread\n"), None);
    }
}
