//! The texts of files before each change, for `proof undo`; and the lock that lets one `proof` at a time change files.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::files::{self, Access, Quiet};
use super::machine::Machine;
use crate::exit::{Exit, usage};
use crate::verb::{lock, output};

/// How many changes are kept.
const KEPT: usize = 100;
/// How many bytes they may take; the last change is always kept.
const MOST: u64 = 256 << 20;
/// The highest number of a change.
const LAST: u64 = 99_999_999;
/// How long another `proof` is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// The folder of changes.
pub(super) struct Journal {
    folder: PathBuf,
}

/// While it lives, no other `proof` changes configurations of this user.
pub(super) struct Locked {
    _file: File,
}

/// One change of several files.
#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    /// What made it, such as `add weather`.
    pub(super) by: String,
    /// When.
    pub(super) at: String,
    pub(super) files: Vec<Changed>,
    /// Whether `proof undo` was here, and goes on with the change before.
    #[serde(default)]
    pub(super) passed: bool,
    #[serde(skip)]
    folder: PathBuf,
}

/// One file of a change.
#[derive(Serialize, Deserialize)]
pub(super) struct Changed {
    pub(super) path: PathBuf,
    /// Whether the file existed before.
    pub(super) existed: bool,
    /// Its mode before.
    #[serde(default)]
    pub(super) mode: Option<u32>,
    /// The digest of the text after; `None` where the file was removed.
    after: Option<String>,
    /// Servers that are new in it.
    pub(super) added: Vec<String>,
}

/// A file that is about to change.
pub(super) struct Upcoming<'u> {
    pub(super) path: &'u Path,
    pub(super) before: Option<&'u str>,
    pub(super) after: Option<&'u str>,
    pub(super) added: Vec<String>,
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut digest, byte| {
        let _ = write!(digest, "{byte:02x}");
        digest
    })
}

impl Journal {
    pub(super) fn of(machine: &Machine) -> Self {
        let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let state = state.unwrap_or_else(|| machine.variables.home().join(".local/state"));
        Self { folder: state.join("proof/clients") }
    }

    fn failed(&self, error: &io::Error) -> Exit {
        usage(
            &format!("cannot use {}: {error}", output::shown(&self.folder)),
            "check its permissions, or set XDG_STATE_HOME to another folder",
        )
    }

    /// Waits until no other `proof` changes files.
    pub(super) fn lock(&self) -> Result<Locked, Exit> {
        let file = private_folder(&self.folder).and_then(|()| lock_file(&self.folder.join("lock")));
        let file = file.map_err(|error| self.failed(&error))?;
        let until = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Locked { _file: file }),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(TryLockError::WouldBlock) => {
                    let what = "another `proof` is changing configurations";
                    return Err(usage(what, "wait until it is done, then run the command again"));
                }
                Err(TryLockError::Error(error)) => return Err(self.failed(&error)),
            }
        }
    }

    /// Keeps the texts before a change. Comes before the change.
    pub(super) fn keep(&self, by: &str, files: &[Upcoming<'_>]) -> Result<(), Exit> {
        self.kept(by, files).map_err(|error| self.failed(&error))
    }

    fn kept(&self, by: &str, files: &[Upcoming<'_>]) -> io::Result<()> {
        let numbers = self.numbers()?;
        let number = numbers.last().map_or(1, |last| last + 1);
        if number > LAST {
            return Err(io::Error::other(format!("it has a change with the number {LAST}")));
        }
        let folder = self.folder.join(format!("{number:08}"));
        private_folder(&folder)?;
        for (index, file) in files.iter().enumerate() {
            if let Some(text) = file.before {
                files::replace(&folder.join(format!("{index}.before")), None, Some(text), Access::Private, &mut Quiet)?;
            }
        }
        let changed = files.iter().map(|file| Changed {
            path: file.path.to_owned(),
            existed: file.before.is_some(),
            mode: file.before.and_then(|_| files::mode(file.path)),
            after: file.after.map(digest),
            added: file.added.clone(),
        });
        let record = Record {
            by: by.to_owned(),
            at: lock::now(),
            files: changed.collect(),
            passed: false,
            folder: PathBuf::new(),
        };
        let text = serde_json::to_string_pretty(&record)?;
        // Without this file the change does not count.
        files::replace(&folder.join("change.json"), None, Some(&text), Access::Private, &mut Quiet)?;
        self.forget_old(number, &numbers)
    }

    /// Forgets the oldest changes, such that few enough stay.
    fn forget_old(&self, newest: u64, others: &[u64]) -> io::Result<()> {
        let mut bytes = size(&self.folder.join(format!("{newest:08}")))?;
        for (count, number) in others.iter().rev().enumerate() {
            let folder = self.folder.join(format!("{number:08}"));
            bytes += size(&folder)?;
            if count + 1 >= KEPT || bytes > MOST {
                fs::remove_dir_all(folder)?;
            }
        }
        Ok(())
    }

    fn numbers(&self) -> io::Result<Vec<u64>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let number = |name: &str| {
            let is_ours = name.len() == 8 && name.bytes().all(|b| b.is_ascii_digit());
            is_ours.then(|| name.parse().ok()).flatten()
        };
        let mut numbers: Vec<u64> = entries.flatten().filter_map(|entry| number(entry.file_name().to_str()?)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// All changes, the last first.
    pub(super) fn records(&self) -> Result<Vec<Record>, Exit> {
        let numbers = self.numbers().map_err(|error| self.failed(&error))?;
        let read = |number: &u64| {
            let folder = self.folder.join(format!("{number:08}"));
            let text = files::read(&folder.join("change.json")).ok()??;
            let record: Record = serde_json::from_str(&text).ok()?;
            Some(Record { folder, ..record })
        };
        Ok(numbers.iter().rev().filter_map(read).collect())
    }

    /// The text of a file before the change that added a server, if nothing else was changed in it since.
    #[expect(clippy::option_option, reason = "no such change; no file before it; the text before it")]
    pub(super) fn before_addition(&self, path: &Path, now: &str, server: &str) -> Option<Option<String>> {
        let now = digest(now);
        for record in self.records().ok()? {
            for (index, file) in record.files.iter().enumerate() {
                // A later removal may have led to the same text.
                if file.path == path && file.after.as_ref() == Some(&now) && file.added == [server] {
                    return record.before(index).ok();
                }
            }
        }
        None
    }
}

impl Record {
    /// The text of a file before the change; `None` where there was no file.
    pub(super) fn before(&self, index: usize) -> io::Result<Option<String>> {
        if !self.files[index].existed {
            return Ok(None);
        }
        let text = files::read(&self.backup(index))?;
        text.map(Some).ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the copy of its text before is gone"))
    }

    /// Where that text is kept.
    pub(super) fn backup(&self, index: usize) -> PathBuf {
        self.folder.join(format!("{index}.before"))
    }

    /// Whether a file is as the change left it.
    pub(super) fn is_current(&self, index: usize, now: Option<&str>) -> bool {
        self.files[index].after == now.map(digest)
    }

    /// Keeps the change, for the texts before it, but not for another `proof undo`.
    pub(super) fn pass(mut self) -> io::Result<()> {
        self.passed = true;
        let path = self.folder.join("change.json");
        let (before, now) = (files::read(&path)?, serde_json::to_string_pretty(&self)?);
        files::replace(&path, before.as_deref(), Some(&now), Access::Private, &mut Quiet)
    }

    /// Forgets the change.
    pub(super) fn forget(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.folder)
    }
}

/// Makes a folder that only its owner may open.
fn private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opens the file of the lock, which holds nothing. A link is not followed.
fn lock_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    let (opened, named) = (file.metadata()?, path.symlink_metadata()?);
    if (opened.dev(), opened.ino()) == (named.dev(), named.ino()) && opened.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "its `lock` is no regular file"))
}

/// The bytes of the files in a folder.
fn size(folder: &Path) -> io::Result<u64> {
    let entries = fs::read_dir(folder)?.flatten();
    Ok(entries.filter_map(|entry| entry.metadata().ok()).map(|found| found.len()).sum())
}
