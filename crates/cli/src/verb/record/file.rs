//! The file of a recording. Each frame is written at once, so that a killed process loses none.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use net::Tap;
use wire::redact::Redactor;
use wire::trace::file::{write_frame, write_header};
use wire::trace::{Frame, Header};

use crate::exit::{Exit, tell};
use crate::verb::output;

/// The maximum number of recordings with one name.
const MOST: u32 = 10_000;

/// A file with a header.
pub(super) struct Recording {
    file: File,
    path: PathBuf,
    redactor: Redactor,
    /// The length of the header in bytes.
    header: u64,
}

impl Recording {
    /// Creates a file that only the user can read: `path`, or a numbered name if that exists.
    pub(super) fn create(path: &Path, header: &Header, redactor: Redactor) -> Result<Self, Exit> {
        let unwritable = |error: &io::Error| output::unwritable(path, &error.to_string());
        let (mut file, found) = new_file(path).map_err(|error| unwritable(&error))?;
        if found != path {
            tell(format_args!("{} exists: recording to {}", output::shown(path), output::shown(&found)));
        }
        let line = format!("{}\n", write_header(&redactor.redact_header(header)));
        file.write_all(line.as_bytes()).map_err(|error| unwritable(&error))?;
        Ok(Self { file, path: found, redactor, header: line.len() as u64 })
    }

    /// Removes the file if it holds no frame; returns whether it did. A file that replaced it meanwhile stays.
    pub(super) fn remove_if_empty(&self) -> bool {
        let identity = |file: &fs::Metadata| (file.dev(), file.ino());
        let Ok(ours) = self.file.metadata() else { return false };
        let current = fs::symlink_metadata(&self.path);
        let is_empty = ours.len() == self.header && current.is_ok_and(|file| identity(&file) == identity(&ours));
        is_empty && fs::remove_file(&self.path).is_ok()
    }

    /// The tap that writes to the file. A full disk ends the recording, not the session.
    pub(super) fn tap(&self, header: Header) -> Result<Tap, Exit> {
        let (path, redactor) = (self.path.clone(), self.redactor.clone());
        let mut file = self.file.try_clone().map_err(|error| output::unwritable(&path, &error.to_string()))?;
        let mut broken = false;
        Ok(Tap::streaming(header, move |frame| {
            if broken {
                return;
            }
            if let Err(error) = append(&mut file, &redactor, frame) {
                broken = true;
                tell(format_args!(
                    "error: cannot write {}: {error}; the recording ends here\n  try: free disk space",
                    output::shown(&path)
                ));
            }
        }))
    }
}

/// Writes a frame with one system call: it then survives the end of this process.
fn append(file: &mut File, redactor: &Redactor, frame: &Frame) -> io::Result<()> {
    let mut line = write_frame(&redactor.redact_frame(frame));
    line.push('\n');
    file.write_all(line.as_bytes())
}

fn new_file(path: &Path) -> io::Result<(File, PathBuf)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut number = 1;
    loop {
        let candidate = numbered(path, number);
        match options.open(&candidate) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < MOST => number += 1,
            Err(error) => return Err(error),
            Ok(file) => return Ok((file, candidate)),
        }
    }
}

/// `weather.jsonl`, `weather-2.jsonl`, …
fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}
