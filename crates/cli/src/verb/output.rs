//! Where reports go: stdout, or files that the command line names. Does not know what stands in them.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use crate::exit::{Exit, usage};

/// Prints an answer. A reader that went away (`| head`) is nobody's mistake; a full disk is not to pass for a report.
pub(crate) fn print(text: &str) -> Result<(), Exit> {
    let mut stdout = std::io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(usage(&format!("stdout cannot be written: {error}"), "make room, or name a file with --output"))
        }
        _ => Ok(()),
    }
}

/// Writes a file.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Exit> {
    fs::write(path, text).map_err(|error| unwritable(path, &error.to_string()))
}

/// Makes a folder, if it is not there.
pub(crate) fn folder(path: &Path) -> Result<(), Exit> {
    fs::create_dir_all(path)
        .map_err(|error| usage(&format!("{} cannot be made: {error}", shown(path)), "check the path"))
}

/// Whether a file can be written, as far as that shows beforehand: better now than after minutes of work. Leaves nothing
/// behind.
pub(crate) fn writable(path: &Path) -> Result<(), Exit> {
    if path.exists() {
        return fs::OpenOptions::new().append(true).open(path).map(drop).map_err(|e| unwritable(path, &e.to_string()));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        Some(parent) if !parent.is_dir() => Err(unwritable(path, &format!("there is no folder {}", shown(parent)))),
        _ => Ok(()),
    }
}

/// Says that a file cannot be written.
pub(crate) fn unwritable(path: &Path, why: &str) -> Exit {
    usage(&format!("{} cannot be written: {why}", shown(path)), "check the path")
}

/// A path as it may be shown.
pub(crate) fn shown(path: &Path) -> String {
    wire::escape::line(&path.to_string_lossy()).into_owned()
}
