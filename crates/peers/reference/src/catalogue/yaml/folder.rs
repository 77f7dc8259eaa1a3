//! The folder of a catalogue file, from which it may take others: none outside, and not without end.

use std::cell::Cell;
use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// How long one file may be, in bytes.
const LONGEST: u64 = 2 << 20;
/// How much all of them may come to.
const MOST: u64 = 16 << 20;

/// A folder.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    taken: Cell<u64>,
}

impl Folder {
    /// The folder that `file` is in.
    pub(super) fn of(file: &Path) -> Self {
        let path = file.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self { path: path.to_owned(), taken: Cell::new(0) }
    }

    /// What is in a file of the folder. `Err`: what is wrong, and what to try.
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, (String, &'static str)> {
        const INSIDE: &str = "a path below the catalogue's own folder";
        let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !Path::new(name).components().all(plain) {
            return Err(("this path leads out of the catalogue's folder".to_owned(), INSIDE));
        }
        let unreadable = |error| (format!("this file cannot be read: {error}"), INSIDE);
        let whole = self.path.join(name).canonicalize().map_err(unreadable)?;
        if !whole.starts_with(self.path.canonicalize().map_err(unreadable)?) {
            return Err(("this file is elsewhere: a link leads out of the catalogue's folder".to_owned(), INSIDE));
        }
        if !whole.is_file() {
            return Err(("this is no plain file".to_owned(), "a file"));
        }
        let mut bytes = Vec::new();
        File::open(whole).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
        let length = bytes.len() as u64;
        self.taken.set(self.taken.get() + length);
        if length > LONGEST || self.taken.get() > MOST {
            return Err(("the files are too long: 2 MiB each, 16 MiB in all".to_owned(), "a smaller one"));
        }
        Ok(bytes)
    }
}

/// The MIME type that a file's ending stands for.
pub(super) fn mime_type(name: &str) -> Option<&'static str> {
    let ending = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
    Some(match ending.as_str() {
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "csv" => "text/csv",
        "js" => "text/javascript",
        "json" => "application/json",
        "yaml" | "yml" => "application/yaml",
        "xml" => "application/xml",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        "ogg" => "audio/ogg",
        _ => return None,
    })
}
