//! Waits until a file changes that cases may depend on: the test files, what lies around them and around their servers.
//! Files are looked at now and then: that works on every file system, in containers and over networks, too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{DEEPEST, is_foreign};

/// How often is looked.
const PAUSE: Duration = Duration::from_millis(400);
/// How many files are looked at, at most: what goes beyond is no directory that somebody edits in.
const MOST: usize = 20_000;

/// When each file was written last, and how long it was.
type Stamps = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// What is watched, as it was when the cases began.
pub(super) struct Watched {
    /// Directories, with all below, and single files.
    roots: Vec<PathBuf>,
    before: Stamps,
}

impl Watched {
    pub(super) fn new(roots: Vec<PathBuf>) -> Self {
        let before = stamps(&roots);
        Self { roots, before }
    }

    /// Resolves with a file that changed. What other than a test file changed while the cases ran is the server's own work
    /// and does not count: it would begin everything anew for ever.
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
            let gone = known.keys().find(|path| !now.contains_key(*path));
            if let Some(path) = changed.map(|(path, _)| path).or(gone) {
                return path.clone();
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

fn stamps(roots: &[PathBuf]) -> Stamps {
    let mut stamps = Stamps::new();
    for root in roots {
        look(root, DEEPEST, &mut stamps);
    }
    stamps
}

fn look(path: &Path, room: usize, stamps: &mut Stamps) {
    if stamps.len() >= MOST {
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
        // Links to directories are not followed: they may lead in circles.
        let Ok(kind) = entry.file_type() else { continue };
        let name = entry.file_name();
        let hidden = name.to_string_lossy().starts_with('.');
        let beside_the_point = hidden || kind.is_symlink() || kind.is_dir() && is_foreign(&name);
        if !beside_the_point {
            look(&entry.path(), room - 1, stamps);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Watched;

    #[tokio::test]
    async fn a_change_is_seen_and_the_servers_own_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        fs::write(file("a.mcp.yaml"), "1").unwrap();
        fs::write(file("server.js"), "1").unwrap();
        fs::create_dir(file("node_modules")).unwrap();
        let roots = vec![folder.path().to_owned()];
        let watched = Watched::new(roots.clone());
        fs::write(file("server.log"), "written while the cases ran").unwrap();
        fs::write(file("node_modules/x.js"), "foreign").unwrap();
        let waiting = tokio::spawn(watched.change());
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        assert!(!waiting.is_finished(), "nothing that counts has changed");
        fs::write(file("server.js"), "22").unwrap();
        assert_eq!(waiting.await.unwrap(), file("server.js"));

        let watched = Watched::new(roots);
        fs::write(file("a.mcp.yaml"), "22").unwrap();
        assert_eq!(watched.change().await, file("a.mcp.yaml"), "a test file counts whenever it changes");
    }
}
