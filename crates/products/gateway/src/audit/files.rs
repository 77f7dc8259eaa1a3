//! The files of an audit log: found again after a restart, closed at their size, only appended to. Knows no request.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::chain::{Link, line, read};
use super::signing::SigningKey;
use crate::settings::AuditSettings;

/// How the names of files begin and end: others' files in the folder are left alone.
const NAME: (&str, &str) = ("audit-", ".jsonl");
/// Held while a gateway writes: two would break each other's chain.
const LOCK: &str = "audit.lock";
/// After this many lines the log is signed at the latest.
const UNSIGNED: u64 = 1000;
/// How much of a line that was cut off is kept.
const TORN: usize = 4 << 10;
/// The longest line. Longer ones are not written, and not read.
pub(super) const LONGEST: usize = 256 << 10;

/// The open file of a log.
pub(super) struct Files {
    settings: AuditSettings,
    key: Option<SigningKey>,
    file: File,
    /// The number in the file's name.
    number: u64,
    /// How many bytes of the file are whole lines.
    length: u64,
    last: Option<Link>,
    unsigned: u64,
    /// Held, not read.
    _lock: File,
}

/// The files of the log in a folder, in order, with the numbers in their names.
pub(super) fn of(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(NAME.0)?.strip_suffix(NAME.1)?.parse().ok());
        found.extend(number.map(|number: u64| (number, entry.path())));
    }
    found.sort_unstable();
    Ok(found)
}

/// Calls `each` with every line of a file, and whether it has a line end; stops where `each` fails.
pub(super) fn for_each_line<E: From<io::Error>>(
    file: &File,
    mut each: impl FnMut(&[u8], bool) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = BufReader::new(file);
    let mut text = Vec::new();
    loop {
        text.clear();
        // One byte more than is allowed tells that it is too much.
        let most = LONGEST as u64 + 2;
        if reader.by_ref().take(most).read_until(b'\n', &mut text)? == 0 {
            return Ok(());
        }
        let is_whole = text.last() == Some(&b'\n');
        each(text.strip_suffix(b"\n").unwrap_or(&text), is_whole)?;
    }
}

impl Files {
    /// Opens the log of a folder, which is made if it is missing, and goes on after its last line.
    pub(super) fn open(settings: &AuditSettings, key: Option<SigningKey>) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&settings.folder)?;
        let lock =
            OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(settings.folder.join(LOCK))?;
        lock.try_lock().map_err(|_| io::Error::other("another gateway writes its audit log there"))?;
        let found = of(&settings.folder)?;
        let number = found.last().map_or(1, |(number, _)| *number);
        let file = append(&settings.folder, number)?;
        let mut files =
            Self { settings: settings.clone(), key, file, number, length: 0, last: None, unsigned: 0, _lock: lock };
        files.resume(&found)?;
        Ok(files)
    }

    /// Finds the last whole line. What a sudden end left behind it is cut off and kept in the next line.
    fn resume(&mut self, found: &[(u64, PathBuf)]) -> io::Result<()> {
        let mut torn = Vec::new();
        // The newest file may be empty: then the last line is in the one before it.
        for (index, (_, path)) in found.iter().enumerate().rev() {
            let file = File::open(path)?;
            let (mut length, mut last) = (0, None::<Link>);
            for_each_line(&file, |text, is_whole| {
                // Only the end can have been cut off. All else is for `verify` to find, and nothing is written over.
                match read(text, last.as_ref()) {
                    _ if !is_whole && torn.is_empty() => torn.extend_from_slice(&text[..text.len().min(TORN)]),
                    Ok((_, link)) if torn.is_empty() => {
                        length += text.len() as u64 + 1;
                        last = Some(link);
                    }
                    _ => return Err(damaged(path)),
                }
                Ok(())
            })?;
            if index + 1 == found.len() {
                self.length = length;
            } else if !torn.is_empty() {
                return Err(damaged(path));
            }
            if last.is_some() {
                self.last = last;
                break;
            }
        }
        if self.last.is_none() && found.len() > 1 {
            return Err(damaged(&self.settings.folder));
        }
        self.file.set_len(self.length)?;
        let kind = if self.last.is_some() { "resumed" } else { "began" };
        let mut members = vec![("kind", json!(kind)), ("version", json!(env!("CARGO_PKG_VERSION")))];
        if !torn.is_empty() {
            members.push(("cut_off", json!(String::from_utf8_lossy(&torn))));
        }
        self.append(&[members])
    }

    /// Writes lines, all or none, and signs them where it is time.
    pub(super) fn append(&mut self, all: &[Vec<(&str, Value)>]) -> io::Result<()> {
        if self.length >= self.settings.file_bytes {
            self.next_file()?;
        }
        self.write(all)?;
        if self.unsigned >= UNSIGNED {
            self.sign()?;
        }
        Ok(())
    }

    fn write(&mut self, all: &[Vec<(&str, Value)>]) -> io::Result<()> {
        let (mut text, mut last) = (String::new(), self.last.clone());
        for members in all {
            let (line, link) = line(last.as_ref(), members);
            text.push_str(&line);
            text.push('\n');
            last = Some(link);
        }
        let written = self
            .file
            .write_all(text.as_bytes())
            .and_then(|()| if self.settings.sync { self.file.sync_data() } else { Ok(()) });
        if let Err(error) = written {
            // Half a line would break the chain.
            self.file.set_len(self.length)?;
            return Err(error);
        }
        self.length += text.len() as u64;
        self.unsigned += all.len() as u64;
        self.last = last;
        Ok(())
    }

    /// Signs what is not signed yet.
    pub(super) fn sign(&mut self) -> io::Result<()> {
        let (Some(key), Some(last)) = (&self.key, &self.last) else { return Ok(()) };
        if self.unsigned == 0 {
            return Ok(());
        }
        let members =
            vec![("kind", json!("signed")), ("key", json!(key.name())), ("signature", json!(key.sign(&last.hash)))];
        self.write(&[members])?;
        self.unsigned = 0;
        Ok(())
    }

    /// Ends the log: what follows this line was written by a gateway that was started later.
    pub(super) fn close(mut self) -> io::Result<()> {
        self.append(&[vec![("kind", json!("closed"))]])?;
        self.sign()?;
        self.file.sync_all()
    }

    fn next_file(&mut self) -> io::Result<()> {
        self.sign()?;
        self.file.sync_all()?;
        let file = append(&self.settings.folder, self.number + 1)?;
        self.file = file;
        self.number += 1;
        self.length = 0;
        // The new name must outlast a failure of power, too.
        File::open(&self.settings.folder)?.sync_all()?;
        self.remove_old()
    }

    fn remove_old(&self) -> io::Result<()> {
        let Some(most) = self.settings.files else { return Ok(()) };
        let found = of(&self.settings.folder)?;
        for (_, path) in &found[..found.len().saturating_sub(most)] {
            fs::remove_file(path)?;
        }
        Ok(())
    }
}

fn damaged(at: &Path) -> io::Error {
    io::Error::other(format!("{} was changed: see what `proof gateway audit verify` says of it", at.display()))
}

fn append(folder: &Path, number: u64) -> io::Result<File> {
    let path = folder.join(format!("{}{number:06}{}", NAME.0, NAME.1));
    // Appending follows the length, also where that is set back.
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}
