//! Writes to stdout and to files named on the command line. Must not know what it writes.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use crate::exit::{Exit, usage};

/// Prints to stdout. A closed pipe (`| head`) is no error; a full disk is.
pub(crate) fn print(text: &str) -> Result<(), Exit> {
    let mut stdout = std::io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(usage(&format!("cannot write to stdout: {error}"), "free disk space, or write to a file with --output"))
        }
        _ => Ok(()),
    }
}

/// Writes a file.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Exit> {
    fs::write(path, text).map_err(|error| unwritable(path, &error.to_string()))
}

/// Creates a directory unless it exists.
pub(crate) fn folder(path: &Path) -> Result<(), Exit> {
    fs::create_dir_all(path).map_err(|error| {
        usage(&format!("cannot create {}: {error}", shown(path)), "check the path and its permissions")
    })
}

/// Checks before minutes of work that a file can be written. Creates nothing.
pub(crate) fn writable(path: &Path) -> Result<(), Exit> {
    if path.exists() {
        return fs::OpenOptions::new().append(true).open(path).map(drop).map_err(|e| unwritable(path, &e.to_string()));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        Some(parent) if !parent.is_dir() => Err(unwritable(path, &format!("{} is not a directory", shown(parent)))),
        _ => Ok(()),
    }
}

/// Reports a file that cannot be written.
pub(crate) fn unwritable(path: &Path, why: &str) -> Exit {
    usage(&format!("cannot write {}: {why}", shown(path)), "check the path and its permissions")
}

/// A path, escaped for output.
pub(crate) fn shown(path: &Path) -> String {
    wire::escape::line(&path.to_string_lossy()).into_owned()
}
