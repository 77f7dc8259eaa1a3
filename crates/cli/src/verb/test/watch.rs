//! Waits until a file changes that cases may depend on: test files, and files next to them and to their servers.
//! Polls, because that works on every file system, in containers and over networks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{MAX_DEPTH, is_skipped};

/// The polling interval.
const PAUSE: Duration = Duration::from_millis(400);
/// The maximum number of watched files. A larger directory is not one that people edit.
const MAX_FILES: usize = 20_000;

/// The time of the last change and the length of each file.
type Stamps = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// The watched files as they were before the cases ran.
pub(super) struct Snapshot {
    /// Directories, with all below, and single files.
    roots: Vec<PathBuf>,
    before: Stamps,
}

impl Snapshot {
    pub(super) fn new(roots: Vec<PathBuf>) -> Self {
        let before = stamps(&roots);
        Self { roots, before }
    }

    /// Resolves with a file that changed. Changes during the run count only in test files: others are the server's own, and
    /// would repeat the run for ever.
    pub(super) async fn change(self) -> PathBuf {
        let mut known = stamps(&self.roots);
        for (path, stamp) in self.before {
            if path.to_string_lossy().contains(".mcp.y") {
                known.insert(path, stamp);
            }
        }
        loop {
            let now = stamps(&self.roots);
            let changed = now.iter().find(|(path, stamp)| known.get(*path) != Some(stamp));
            let removed = known.keys().find(|path| !now.contains_key(*path));
            if let Some(path) = changed.map(|(path, _)| path).or(removed) {
                return path.clone();
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

fn stamps(roots: &[PathBuf]) -> Stamps {
    let mut stamps = Stamps::new();
    for root in roots {
        collect(root, MAX_DEPTH, &mut stamps);
    }
    stamps
}

fn collect(path: &Path, room: usize, stamps: &mut Stamps) {
    if stamps.len() >= MAX_FILES {
        return;
    }
    let Ok(about) = std::fs::metadata(path) else { return };
    if !about.is_dir() {
        stamps.insert(path.to_owned(), (about.modified().ok(), about.len()));
        return;
    }
    if room == 0 {
        return;
    }
    let Ok(entries) = std::fs::read_dir(path) else { return };
    for entry in entries.flatten() {
        // Symbolic links are not followed: they may form cycles.
        let Ok(kind) = entry.file_type() else { continue };
        let name = entry.file_name();
        let hidden = name.to_string_lossy().starts_with('.');
        let ignored = hidden || kind.is_symlink() || kind.is_dir() && is_skipped(&name);
        if !ignored {
            collect(&entry.path(), room - 1, stamps);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Snapshot;

    #[tokio::test]
    async fn changes_by_the_server_during_the_run_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        fs::write(file("a.mcp.yaml"), "1").unwrap();
        fs::write(file("server.js"), "1").unwrap();
        fs::create_dir(file("node_modules")).unwrap();
        let roots = vec![folder.path().to_owned()];
        let watched = Snapshot::new(roots.clone());
        fs::write(file("server.log"), "written while the cases ran").unwrap();
        fs::write(file("node_modules/x.js"), "foreign").unwrap();
        let waiting = tokio::spawn(watched.change());
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        assert!(!waiting.is_finished(), "nothing that counts has changed");
        fs::write(file("server.js"), "22").unwrap();
        assert_eq!(waiting.await.unwrap(), file("server.js"));

        let watched = Snapshot::new(roots);
        fs::write(file("a.mcp.yaml"), "22").unwrap();
        assert_eq!(watched.change().await, file("a.mcp.yaml"), "a test file counts whenever it changes");
    }
}
