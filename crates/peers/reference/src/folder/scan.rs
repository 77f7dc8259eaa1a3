//! Looks through the served directory: every regular file whose name is text, within bounds. Links are not followed, hence
//! there are no circles.

use std::ffi::{CStr, CString};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;

use rustix::fs::{AtFlags, Dir, FileType, Stat, statat};

use super::listing::{Entry, LeftOut, Listing};
use super::root::{DEPTH, Root, subfolder};
use super::uri;

/// How many files are listed.
const FILES: usize = 10_000;
/// How many names of any kind are looked at.
const NAMES: usize = 100_000;

/// Everything that is there now; an error only where the directory itself cannot be read.
pub(super) fn scan(root: &Root) -> io::Result<Listing> {
    let mut scan = Scan::default();
    scan.folder(&mut Dir::read_from(root)?, "", 1)?;
    scan.entries.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(Listing { entries: scan.entries, left_out: scan.left_out })
}

#[derive(Default)]
struct Scan {
    entries: Vec<Entry>,
    left_out: LeftOut,
    names: usize,
}

impl Scan {
    fn folder(&mut self, folder: &mut Dir, prefix: &str, depth: usize) -> rustix::io::Result<()> {
        for name in self.names(folder)? {
            if self.entries.len() >= FILES {
                self.left_out.more = true;
                break;
            }
            self.name(folder, &name, prefix, depth);
        }
        Ok(())
    }

    /// The names in a folder, in order: where not all of them are listed, it should be the same ones each time.
    fn names(&mut self, folder: &mut Dir) -> rustix::io::Result<Vec<CString>> {
        let mut names = Vec::new();
        while let Some(entry) = folder.read() {
            let entry = entry?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            if self.names >= NAMES {
                self.left_out.more = true;
                break;
            }
            self.names += 1;
            names.push(entry.file_name().to_owned());
        }
        names.sort_unstable();
        Ok(names)
    }

    fn name(&mut self, folder: &Dir, name: &CStr, prefix: &str, depth: usize) {
        let Ok(text) = name.to_str() else {
            self.left_out.unnameable += 1;
            return;
        };
        // What has gone meanwhile is not there.
        let Some(stat) = folder.fd().ok().and_then(|at| statat(at, name, AtFlags::SYMLINK_NOFOLLOW).ok()) else {
            return;
        };
        let path = format!("{prefix}{text}");
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => self.entries.push(entry(path, &stat)),
            FileType::Directory if depth >= DEPTH => self.left_out.deep += 1,
            FileType::Directory => {
                let inner = folder.fd().and_then(|at| subfolder(at, name)).and_then(Dir::new);
                if inner.and_then(|mut inner| self.folder(&mut inner, &format!("{path}/"), depth + 1)).is_err() {
                    self.left_out.unreadable += 1;
                }
            }
            _ => {}
        }
    }
}

fn entry(path: String, stat: &Stat) -> Entry {
    let mut state = DefaultHasher::new();
    (stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec).hash(&mut state);
    Entry {
        uri: uri::of(&path),
        path,
        size: u64::try_from(stat.st_size).unwrap_or_default(),
        modified: stat.st_mtime,
        state: state.finish(),
    }
}
