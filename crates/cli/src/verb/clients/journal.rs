//! The texts of files before each change, for `proof undo`; and the lock that lets one `proof` at a time change files.

use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::files::{self, Quiet};
use super::machine::Machine;
use crate::exit::{Exit, usage};
use crate::verb::{lock, output};

/// How many changes are kept.
const KEPT: usize = 100;
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
    #[serde(skip)]
    folder: PathBuf,
}

/// One file of a change.
#[derive(Serialize, Deserialize)]
pub(super) struct Changed {
    pub(super) path: PathBuf,
    /// Whether the file existed before.
    existed: bool,
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
        let file = private_folder(&self.folder).and_then(|()| output::private(&self.folder.join("lock")));
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
        let folder = self.folder.join(format!("{number:08}"));
        private_folder(&folder)?;
        for (index, file) in files.iter().enumerate() {
            if let Some(text) = file.before {
                files::replace(&folder.join(format!("{index}.before")), None, Some(text), true, &mut Quiet)?;
            }
        }
        let changed = files.iter().map(|file| Changed {
            path: file.path.to_owned(),
            existed: file.before.is_some(),
            after: file.after.map(digest),
            added: file.added.clone(),
        });
        let record = Record { by: by.to_owned(), at: lock::now(), files: changed.collect(), folder: PathBuf::new() };
        let text = serde_json::to_string_pretty(&record)?;
        // Without this file the change does not count.
        files::replace(&folder.join("change.json"), None, Some(&text), true, &mut Quiet)?;
        for old in numbers.iter().rev().skip(KEPT - 1) {
            fs::remove_dir_all(self.folder.join(format!("{old:08}")))?;
        }
        Ok(())
    }

    fn numbers(&self) -> io::Result<Vec<u64>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut numbers: Vec<u64> =
            entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
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
