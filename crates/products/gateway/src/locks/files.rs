//! The files of a lock: read whole or not at all, and recognized when they change. Must not know what they mean.

use std::fmt;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use lock::strict::LONGEST;
use lock::{Entry, Lock, Pins};

use crate::settings::LockSettings;

/// Why a lock cannot be enforced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockError {
    what: String,
    remedy: &'static str,
}

impl LockError {
    /// What is wrong with a file.
    pub(super) fn of(what: &str, file: &Path, why: &str, remedy: &'static str) -> Self {
        let why = wire::escape::line(why);
        Self { what: format!("the {what} `{}` cannot be used: {why}", file.display()), remedy }
    }

    /// What to do.
    pub const fn remedy(&self) -> &'static str {
        self.remedy
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for LockError {}

/// The text of a file.
pub(super) fn text(what: &str, file: &Path) -> Result<String, LockError> {
    let unreadable = |why: &str| LockError::of(what, file, why, "check the path and its permissions");
    let mut text = String::new();
    let opened = net::open_regular(file).map_err(|error| unreadable(&error.to_string()))?;
    let read = opened.take(LONGEST as u64 + 1).read_to_string(&mut text);
    read.map_err(|error| unreadable(&error.to_string()))?;
    if text.len() > LONGEST {
        return Err(LockError::of(what, file, "it is larger than 32 MiB", "name the file that `proof` wrote"));
    }
    Ok(text)
}

/// A lock that was read.
pub(super) struct Loaded(Lock);

impl Loaded {
    pub(super) fn read(settings: &LockSettings) -> Result<Self, LockError> {
        let text = text("lock", &settings.file)?;
        let wrong = |why: &str| LockError::of("lock", &settings.file, why, "write it with `proof lock`");
        Lock::read(&text).map(Self).map_err(|why| wrong(&why.to_string()))
    }

    /// What is locked of an upstream. A server that the settings name has to be there.
    pub(super) fn entry(&self, settings: &LockSettings, upstream: &str) -> Result<Option<(Entry, Pins)>, LockError> {
        let named = settings.servers.get(upstream);
        let name = named.map_or(upstream, String::as_str);
        let found = self.0.servers.get(name).cloned().zip(self.0.pins(name));
        let is_needed = named.is_some() || settings.manifests.contains_key(upstream);
        if found.is_none() && is_needed {
            let why = format!("it has no server `{name}` for the upstream `{upstream}`");
            return Err(LockError::of("lock", &settings.file, &why, "lock it: proof lock --name NAME"));
        }
        Ok(found)
    }
}

/// The files of a lock as they were at one time: where two differ, a file may hold something else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFiles(Vec<Option<Print>>);

/// Device, file, size, and the times of the last change of content and of the file.
type Print = ([u64; 3], [i64; 4]);

impl LockFiles {
    /// The files as they are now.
    pub(crate) fn look(settings: Option<&LockSettings>) -> Self {
        let of_manifest = |one: &crate::settings::ManifestSettings| [Some(one.file.clone()), one.keys.clone()];
        let paths = settings.into_iter().flat_map(|settings| {
            let manifests = settings.manifests.values().flat_map(of_manifest).flatten();
            std::iter::once(settings.file.clone()).chain(manifests)
        });
        Self(paths.map(|path| print(&path)).collect())
    }

    /// Whether one of them is missing.
    pub fn is_incomplete(&self) -> bool {
        self.0.iter().any(Option::is_none)
    }
}

fn print(path: &PathBuf) -> Option<Print> {
    let one = std::fs::metadata(path).ok()?;
    Some(([one.dev(), one.ino(), one.len()], [one.mtime(), one.mtime_nsec(), one.ctime(), one.ctime_nsec()]))
}
