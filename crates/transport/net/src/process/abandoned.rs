//! What a program left that was killed: it could end neither its processes nor its folders. Each is known by the folder that its
//! `TMPDIR` names, and the folder's name says which process made it. Only Linux says what runs where.

use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use self::linux::{end_in, own_mark};

/// The beginning of names of folders that this process makes below the system's temporary folder: what it leaves there when it is
/// killed, [`end_abandoned`] finds.
pub fn marked(prefix: &str) -> String {
    own_mark().map_or_else(|| prefix.to_owned(), |mark| format!("{prefix}{mark}-"))
}

/// Ends all processes that work in a marked folder whose maker has ended, and removes the folder. How many processes.
pub fn end_abandoned(prefix: &str) -> usize {
    end_in(&std::env::temp_dir(), prefix)
}

#[cfg(not(target_os = "linux"))]
const fn own_mark() -> Option<String> {
    None
}

#[cfg(not(target_os = "linux"))]
fn end_in(_: &Path, _: &str) -> usize {
    0
}

/// The folders in `root` whose names begin so and which belong to us.
#[cfg(target_os = "linux")]
fn folders(root: &Path, prefix: &str) -> Vec<(PathBuf, String)> {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(us) = std::fs::metadata("/proc/self") else { return Vec::new() };
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let own = entries.filter(|entry| entry.metadata().is_ok_and(|one| one.is_dir() && one.uid() == us.uid()));
    own.filter_map(|entry| Some((entry.path(), entry.file_name().to_str()?.strip_prefix(prefix)?.to_owned()))).collect()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::Path;

    use rustix::process::{Pid, Signal, kill_process};

    use super::folders;
    use crate::process::bounded::{Process, parse, processes};

    /// How often to look again: what is killed may have started more meanwhile.
    const ROUNDS: usize = 5;

    /// This machine since it was started, and this space of process numbers: others may share the temporary folder.
    fn place() -> Option<String> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let space = std::fs::read_link("/proc/self/ns/pid").ok()?;
        let digits: String = space.to_str()?.chars().filter(char::is_ascii_digit).collect();
        Some(format!("{}.{digits}", boot.get(..8)?))
    }

    fn mark(place: &str, process: &Process) -> String {
        format!("{place}.{}.{}", process.pid, process.started)
    }

    pub(super) fn own_mark() -> Option<String> {
        let own = parse(&std::fs::read_to_string("/proc/self/stat").ok()?)?;
        Some(mark(&place()?, &own))
    }

    pub(super) fn end_in(root: &Path, prefix: &str) -> usize {
        let Some(place) = place() else { return 0 };
        let mut ended = 0;
        for (folder, rest) in folders(root, prefix) {
            let Some((maker, _)) = rest.split_once('-').filter(|(maker, _)| is_of(maker, &place)) else { continue };
            if processes().iter().any(|one| !one.is_zombie && mark(&place, one) == maker) {
                continue;
            }
            ended += end_workers(&folder);
            let _ = std::fs::remove_dir_all(&folder);
        }
        ended
    }

    fn is_of(maker: &str, place: &str) -> bool {
        let numbers = maker.strip_prefix(place).and_then(|rest| rest.strip_prefix('.')?.split_once('.'));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        numbers.is_some_and(|(pid, started)| is_number(pid) && is_number(started))
    }

    /// Kills the processes whose `TMPDIR` is this folder.
    fn end_workers(folder: &Path) -> usize {
        let variable = [b"TMPDIR=", folder.as_os_str().as_encoded_bytes()].concat();
        let works_here = |one: &Process| {
            let environment = std::fs::read(format!("/proc/{}/environ", one.pid)).unwrap_or_default();
            !one.is_zombie && environment.split(|byte| *byte == 0).any(|text| text == variable)
        };
        let mut ended = 0;
        for _ in 0..ROUNDS {
            let left: Vec<Pid> =
                processes().iter().filter(|one| works_here(one)).filter_map(|one| Pid::from_raw(one.pid)).collect();
            if left.is_empty() {
                break;
            }
            ended += left.into_iter().filter(|pid| kill_process(*pid, Signal::KILL).is_ok()).count();
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        ended
    }

    #[cfg(test)]
    mod tests {
        use std::path::PathBuf;
        use std::process::{Child, Command};

        use super::{end_in, own_mark, place};

        fn working(folder: &PathBuf) -> Child {
            std::fs::create_dir(folder).expect("a folder");
            Command::new("sleep").arg("1000").env("TMPDIR", folder).spawn().expect("a process")
        }

        #[test]
        fn only_what_works_in_the_folder_of_a_dead_process_is_ended() {
            let root = tempfile::tempdir().expect("a folder");
            let (own, place) = (own_mark().expect("a mark"), place().expect("a place"));
            // A process of our number that was started at another time is not us: it has ended.
            let dead = format!("{place}.{}.1", std::process::id());
            let names =
                [format!("t-{dead}-abc"), format!("t-{own}-abc"), "t-other.1.2-abc".to_owned(), format!("u-{dead}-x")];
            let folders = names.map(|name| root.path().join(name));
            let mut children = folders.each_ref().map(working);
            assert_eq!(end_in(root.path(), "t-"), 1);
            assert!(!children[0].wait().expect("its end").success());
            assert_eq!(folders.each_ref().map(|folder| folder.exists()), [false, true, true, true]);
            for child in &mut children[1..] {
                assert_eq!(child.try_wait().expect("a look"), None);
                child.kill().expect("a signal");
                child.wait().expect("its end");
            }
        }
    }
}
