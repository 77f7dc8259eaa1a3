//! Processes that left their group (`setsid`) and lost their parent. On Linux we take them in, so that they end with us;
//! elsewhere the system has them, and nobody can find them again.

#[cfg(target_os = "linux")]
pub use linux::adopt;
#[cfg(target_os = "linux")]
pub(crate) use linux::end;

/// From now on, what our children leave behind is ours.
#[cfg(not(target_os = "linux"))]
pub fn adopt() {}

#[cfg(not(target_os = "linux"))]
pub(crate) fn end() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use rustix::io::Errno;
    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, set_child_subreaper, waitid, waitpid,
    };

    /// How often we look for more: each that is killed may leave us its own children.
    const ROUNDS: usize = 100;
    const PAUSE: Duration = Duration::from_millis(2);

    static ADOPTED: AtomicBool = AtomicBool::new(false);

    /// From now on, what our children leave behind is ours. To be called before the first child is started: where there
    /// are children already, a shell that became us started them, and neither they nor theirs are ours to end.
    pub fn adopt() {
        if !has_children() && set_child_subreaper(Some(getpid())).is_ok() {
            ADOPTED.store(true, Ordering::Release);
        }
    }

    /// Kills all children and what they leave behind: the last thing to do.
    pub(crate) fn end() {
        for _ in 0..ROUNDS {
            let children = if ADOPTED.load(Ordering::Acquire) && has_children() { children() } else { Vec::new() };
            if children.is_empty() {
                return;
            }
            for child in children {
                // Either can only fail because it is over.
                let _ = kill_process(child, Signal::KILL);
                let _ = waitpid(Some(child), WaitOptions::NOHANG);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Whether there is any child, ended or not. Finding out which would take a look at every process of the machine.
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
