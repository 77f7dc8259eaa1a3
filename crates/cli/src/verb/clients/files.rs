//! Replaces a file such that it is the old one or the new one at every moment. Knows nothing of what stands in it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

/// The largest file of a client.
pub(in crate::verb) const LARGEST: u64 = 64 << 20;

/// What a write has done so far; a test ends the process at each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Started,
    Created,
    HalfWritten,
    Written,
    Synced,
    Compared,
    Renamed,
    FolderSynced,
}

/// Hears of the steps of a write.
pub(super) trait Steps {
    fn reached(&mut self, step: Step);
}

/// Ignores all steps.
pub(super) struct Quiet;

impl Steps for Quiet {
    fn reached(&mut self, _: Step) {}
}

/// Who may read a file that is new; one that exists keeps its mode.
#[derive(Clone, Copy)]
pub(super) enum Access {
    /// As every new file of the user.
    Usual,
    /// Its owner only.
    Private,
    /// With this mode.
    Mode(u32),
}

/// The mode of a file that exists.
pub(super) fn mode(path: &Path) -> Option<u32> {
    path.metadata().ok().map(|found| found.permissions().mode() & 0o7777)
}

/// A whole file; `None` if it does not exist.
pub(super) fn read(path: &Path) -> io::Result<Option<String>> {
    // What a pipe gives once would not be there to compare.
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file"));
    }
    match crate::verb::given_file::text(path, LARGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Why a file may not be replaced, and what the user can do.
pub(super) struct Obstacle {
    pub(super) what: String,
    pub(super) remedy: &'static str,
}

impl From<Obstacle> for io::Error {
    fn from(obstacle: Obstacle) -> Self {
        Self::new(ErrorKind::PermissionDenied, format!("{} ({})", obstacle.what, obstacle.remedy))
    }
}

/// What a file has against being replaced: its owner made it read-only, or it has other names, which would keep the old text.
pub(super) fn obstacle(path: &Path) -> Option<Obstacle> {
    let found = path.metadata().ok()?;
    if found.permissions().mode() & 0o200 == 0 {
        return Some(Obstacle { what: "its owner may not write it".to_owned(), remedy: "make it writable: chmod u+w" });
    }
    let names = found.nlink();
    (found.is_file() && names > 1).then(|| Obstacle {
        what: format!("it is a hard link, and has {names} names; a change would part them"),
        remedy: "keep one name, or make the others symbolic links",
    })
}

/// Puts `text` in the place of `before`, or removes the file if that is `None`. A file that is not as it was before is left
/// alone. A link stays; what it leads to is replaced.
pub(super) fn replace(
    path: &Path,
    before: Option<&str>,
    text: Option<&str>,
    access: Access,
    steps: &mut impl Steps,
) -> io::Result<()> {
    steps.reached(Step::Started);
    let path = &followed(path);
    let Some(text) = text else {
        compare(path, before)?;
        fs::remove_file(path)?;
        steps.reached(Step::Renamed);
        return sync_folder(path);
    };
    let folder = folder(path);
    fs::create_dir_all(folder)?;
    remove_leftovers(path);
    let temporary = temporary(path);
    let written = write(path, &temporary, text, access, steps).and_then(|()| {
        compare(path, before)?;
        steps.reached(Step::Compared);
        fs::rename(&temporary, path)
    });
    if let Err(error) = written {
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    steps.reached(Step::Renamed);
    sync_folder(path)?;
    steps.reached(Step::FolderSynced);
    compare(path, Some(text))
}

fn write(path: &Path, temporary: &Path, text: &str, access: Access, steps: &mut impl Steps) -> io::Result<()> {
    let old = path.metadata().ok();
    if let Some(obstacle) = obstacle(path) {
        return Err(obstacle.into());
    }
    let mode = mode(path);
    let (created, mode) = match access {
        _ if mode.is_some() => (0o600, mode),
        Access::Usual => (0o666, None),
        Access::Private => (0o600, None),
        Access::Mode(mode) => (0o600, Some(mode)),
    };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(created).open(temporary)?;
    steps.reached(Step::Created);
    let (first, rest) = text.as_bytes().split_at(text.len() / 2);
    file.write_all(first)?;
    steps.reached(Step::HalfWritten);
    file.write_all(rest)?;
    if let Some(old) = old {
        // Only the superuser may give a file away; for others it is theirs already, or stays theirs.
        let _ = fchown(&file, Some(old.uid()), Some(old.gid()));
    }
    if let Some(mode) = mode {
        file.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    steps.reached(Step::Written);
    file.sync_all()?;
    steps.reached(Step::Synced);
    Ok(())
}

/// Fails where a file does not hold this text.
fn compare(path: &Path, text: Option<&str>) -> io::Result<()> {
    if read(path)?.as_deref() == text {
        return Ok(());
    }
    Err(io::Error::other("another program changed the file meanwhile; nothing was written over it"))
}

/// What a link leads to, also where nothing is there yet.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // As many links as the kernel follows.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(target) => path = folder(&path).join(target),
            Err(_) => break,
        }
    }
    path
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder(path))?.sync_all()
}

fn prefix(path: &Path) -> String {
    format!(".{}.proof-", path.file_name().unwrap_or_default().to_string_lossy())
}

fn temporary(path: &Path) -> PathBuf {
    folder(path).join(format!("{}{}.tmp", prefix(path), std::process::id()))
}

/// Removes what a process that was killed left. The lock says that no other is at work.
fn remove_leftovers(path: &Path) {
    let Ok(entries) = fs::read_dir(folder(path)) else { return };
    let prefix = prefix(path);
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let number = name.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(".tmp"));
        if number.is_some_and(|number| number.parse::<u32>().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
