//! Recordings as files: new ones replace nothing, and two runs never append to one.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::exit::{Exit, usage};
use crate::verb::output;

/// Refuses a name that is taken, before anything is started or sent.
pub(super) fn is_free(path: &Path) -> Result<(), Exit> {
    if path.symlink_metadata().is_ok() { Err(exists(path)) } else { Ok(()) }
}

fn exists(path: &Path) -> Exit {
    let path = output::shown(path);
    usage(&format!("{path} exists"), &format!("--record FILE with another name, or --resume {path}"))
}

/// A new file that only its owner reads.
pub(super) fn created(path: &Path) -> Result<File, Exit> {
    let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path);
    let file = file.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => exists(path),
        _ => output::unwritable(path, &error.to_string()),
    })?;
    locked(path, file)
}

/// A file that goes on.
pub(super) fn appended(path: &Path) -> Result<File, Exit> {
    let file = OpenOptions::new().append(true).open(path);
    locked(path, file.map_err(|error| output::unwritable(path, &error.to_string()))?)
}

fn locked(path: &Path, file: File) -> Result<File, Exit> {
    match file.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => {
            let what = format!("another run is appending to {}", output::shown(path));
            Err(usage(&what, "wait for it, or --record with another name"))
        }
        // Some file systems have no locks.
        Ok(()) | Err(std::fs::TryLockError::Error(_)) => Ok(file),
    }
}
