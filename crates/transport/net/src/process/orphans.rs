//! Processes that left their group (`setsid`) and lost their parent. On Linux this process becomes their parent, so that it
//! can end them; elsewhere the system's first process does, and they cannot be found again.

#[cfg(target_os = "linux")]
pub(super) use linux::{adopt, kill_children};

/// Whether orphaned descendants become our children.
#[cfg(not(target_os = "linux"))]
pub(super) const fn adopt() -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
pub(super) const fn kill_children() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::time::Duration;

    use rustix::io::Errno;
    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, set_child_subreaper, waitid, waitpid,
    };

    /// How often to look for more: each process that is killed may leave us its own children.
    const ROUNDS: usize = 100;
    const PAUSE: Duration = Duration::from_millis(2);

    /// Makes this process the parent of its orphaned descendants; whether it is that now. It is not where there are children
    /// already: a shell that became this process started them, and they are not ours to end.
    pub(in crate::process) fn adopt() -> bool {
        !has_children() && set_child_subreaper(Some(getpid())).is_ok()
    }

    /// Kills all children of this process and the descendants that they leave to it.
    pub(in crate::process) fn kill_children() {
        for _ in 0..ROUNDS {
            let children = if has_children() { children() } else { Vec::new() };
            if children.is_empty() {
                return;
            }
            for child in children {
                // Both fail only where the process has ended.
                let _ = kill_process(child, Signal::KILL);
                let _ = waitpid(Some(child), WaitOptions::NOHANG);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Whether there is any child, ended or not. Finding out which means reading about every process of the machine.
    fn has_children() -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::All, look), Err(Errno::CHILD))
    }

    fn children() -> Vec<Pid> {
        let us = getpid();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
        let parent = |pid: Pid| {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
            // `pid (name) state ppid …`, and the name may hold anything.
            Pid::from_raw(stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()?)
        };
        pids.filter(|&pid| parent(pid) == Some(us)).collect()
    }
}
