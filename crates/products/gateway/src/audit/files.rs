//! The files of an audit log: found again after a restart, closed at their size, only appended to. Knows no request.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use wire::timestamp::rfc3339;

use super::Members;
use super::chain::{Link, line, read};
use super::signing::SigningKey;
use crate::settings::AuditSettings;

/// How the names of files begin and end: others' files in the folder are left alone.
const NAME: (&str, &str) = ("audit-", ".jsonl");
/// Held while a gateway writes: two would break each other's chain.
const LOCK: &str = "audit.lock";
/// After this many lines the log is signed at the latest, but for what is written at once.
const UNSIGNED: u64 = 1000;
/// More unsigned lines than this in a row are not what a gateway leaves behind.
pub(super) const MOST_UNSIGNED: u64 = 2000;
/// How much of a line that was cut off is kept.
const CUT_OFF: usize = 4 << 10;
/// The longest line. Of a longer record, the long members are left out.
pub(super) const LONGEST: usize = 256 << 10;
/// What stays of such a record: members up to this size.
const SHORT: usize = 1 << 10;

/// The open file of a log.
pub(super) struct Files {
    settings: AuditSettings,
    key: Option<SigningKey>,
    file: File,
    /// The number in the file's name.
    number: u64,
    /// How many bytes of the file are whole lines.
    length: u64,
    /// There may be more in the file than that.
    is_dirty: bool,
    last: Option<Link>,
    unsigned: u64,
    /// Held, not read.
    _lock: File,
}

/// The files of the log in a folder, in order, with the numbers in their names.
pub(super) fn log_files(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
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

/// A piece of a file of a log.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'t> {
    /// A line, without its line end.
    Line(&'t [u8]),
    /// The end of the file, without a line end.
    End(&'t [u8]),
    /// More than a line may have.
    TooLong,
}

/// Calls `each` with every line of a file; stops where `each` fails, and after what is too long.
pub(super) fn for_each_line<E: From<io::Error>>(
    file: &File,
    mut each: impl FnMut(Piece<'_>) -> Result<(), E>,
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
        match text.strip_suffix(b"\n") {
            Some(line) => each(Piece::Line(line))?,
            None if text.len() > LONGEST => return each(Piece::TooLong),
            None => each(Piece::End(&text))?,
        }
    }
}

/// What stands at the end of a log.
#[derive(Default)]
struct End {
    last: Option<Link>,
    /// How many bytes of the newest file are whole lines.
    length: u64,
    /// How many lines come after the last one that our key signed.
    unsigned: u64,
    cut_off: Vec<u8>,
}

impl Files {
    /// Opens the log of a folder, which is made if it is missing, and goes on after its last line.
    pub(super) fn open(settings: &AuditSettings, key: Option<SigningKey>) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&settings.folder)?;
        let lock =
            OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(settings.folder.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other("another gateway writes its audit log there"));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let found = log_files(&settings.folder)?;
        let end = end_of(&found, key.as_ref())?;
        let number = found.last().map_or(1, |(number, _)| *number);
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path_of(&settings.folder, number))?;
        if !end.cut_off.is_empty() {
            file.set_len(end.length)?;
        }
        let mut files = Self {
            settings: settings.clone(),
            key,
            file,
            number,
            length: end.length,
            is_dirty: false,
            last: end.last,
            unsigned: end.unsigned,
            _lock: lock,
        };
        let kind = if files.last.is_some() { "resumed" } else { "began" };
        let mut members = vec![("kind", json!(kind)), ("version", json!(env!("CARGO_PKG_VERSION")))];
        if !end.cut_off.is_empty() {
            members.push(("cut_off", json!(String::from_utf8_lossy(&end.cut_off))));
        }
        files.append(&[members])?;
        Ok(files)
    }

    /// Writes lines, all or none, and signs them where it is time.
    pub(super) fn append(&mut self, all: &[Members]) -> io::Result<()> {
        if self.length >= self.settings.file_bytes {
            self.next_file()?;
        }
        self.write(all)?;
        if self.unsigned >= UNSIGNED {
            self.sign();
        }
        Ok(())
    }

    fn write(&mut self, all: &[Members]) -> io::Result<()> {
        if self.is_dirty {
            self.file.set_len(self.length)?;
            self.is_dirty = false;
        }
        let (mut text, mut last) = (String::new(), self.last.clone());
        for members in all {
            let (line, link) = line(last.as_ref(), &complete(members));
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
            self.is_dirty = self.file.set_len(self.length).is_err();
            return Err(error);
        }
        self.length += text.len() as u64;
        self.unsigned += all.len() as u64;
        self.last = last;
        Ok(())
    }

    /// Signs what is not signed yet. Where that fails, it is tried again with the next lines.
    pub(super) fn sign(&mut self) {
        let (Some(key), Some(last)) = (&self.key, &self.last) else { return };
        if self.unsigned == 0 {
            return;
        }
        let members =
            vec![("kind", json!("signed")), ("key", json!(key.name())), ("signature", json!(key.sign(&last.hash)))];
        match self.write(&[members]) {
            Ok(()) => self.unsigned = 0,
            Err(error) => tracing::warn!("the audit log could not be signed: {error}"),
        }
    }

    /// Ends the log: what follows this line was written by a gateway that was started later.
    pub(super) fn close(mut self) -> io::Result<()> {
        self.append(&[vec![("kind", json!("closed"))]])?;
        self.sign();
        self.file.sync_all()
    }

    fn next_file(&mut self) -> io::Result<()> {
        self.sign();
        self.file.sync_all()?;
        // A file that is there already is nobody's that we know.
        let path = path_of(&self.settings.folder, self.number + 1);
        self.file = OpenOptions::new().create_new(true).append(true).mode(0o600).open(path)?;
        self.number += 1;
        self.length = 0;
        let tidied = self.tidy();
        if let Err(error) = tidied {
            tracing::warn!("the files of the audit log could not be put in order: {error}");
        }
        Ok(())
    }

    /// Makes the new name outlast a failure of power, and removes the oldest files.
    fn tidy(&self) -> io::Result<()> {
        File::open(&self.settings.folder)?.sync_all()?;
        let Some(most) = self.settings.files else { return Ok(()) };
        let found = log_files(&self.settings.folder)?;
        for (_, path) in &found[..found.len().saturating_sub(most)] {
            fs::remove_file(path)?;
        }
        Ok(())
    }
}

/// The texts of a line's members with the time, and without what makes it too long.
fn complete(members: &[(&'static str, Value)]) -> Vec<(&'static str, String)> {
    // Through the formatter, `to_string` takes twice as long.
    let text = |value: &Value| serde_json::to_string(value).unwrap_or_default();
    let mut texts: Vec<_> = members.iter().map(|(name, value)| (*name, text(value))).collect();
    let has_time = members.iter().any(|(name, _)| *name == "time");
    if !has_time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        texts.insert(texts.len().min(1), ("time", text(&json!(rfc3339(since)))));
    }
    // With room for the names and the hashes.
    if texts.iter().map(|(_, text)| text.len()).sum::<usize>() > LONGEST - (8 << 10) {
        texts.retain(|(_, text)| text.len() <= SHORT);
        texts.push(("is_shortened", "true".to_owned()));
    }
    texts
}

/// Reads the newest lines of a log. What a sudden end left behind the last one is cut off. Lines that were changed are an
/// error, and so are more unsigned ones than a gateway leaves behind: what follows would vouch for them.
fn end_of(found: &[(u64, PathBuf)], key: Option<&SigningKey>) -> io::Result<End> {
    let mut end = End::default();
    // The newest file may be empty: then the last line is in the one before it.
    for (index, (_, path)) in found.iter().enumerate().rev() {
        let (mut length, mut cut_off) = (0, Vec::new());
        for_each_line(&net::open_regular(path)?, |piece| {
            let text = match piece {
                Piece::Line(text) => text,
                Piece::End(text) => {
                    cut_off.extend_from_slice(&text[..text.len().min(CUT_OFF)]);
                    return Ok(());
                }
                Piece::TooLong => return Err(damaged(path)),
            };
            let (members, link) = read(text, end.last.as_ref()).map_err(|_| damaged(path))?;
            length += text.len() as u64 + 1;
            let before = members.get("before").and_then(Value::as_str).unwrap_or_default();
            let signature = members.get("signature").and_then(Value::as_str).unwrap_or_default();
            let is_ours = members.get("kind").is_some_and(|kind| kind == "signed")
                && key.is_some_and(|key| key.public().verifies(before, signature));
            end.unsigned = if is_ours { 0 } else { end.unsigned + 1 };
            end.last = Some(link);
            Ok::<_, io::Error>(())
        })?;
        if index + 1 == found.len() {
            (end.length, end.cut_off) = (length, cut_off);
        } else if !cut_off.is_empty() {
            return Err(damaged(path));
        }
        if end.last.is_some() {
            break;
        }
    }
    // A log that had no key before is unsigned as a whole: with a key, another one begins.
    if key.is_some() && end.unsigned > MOST_UNSIGNED {
        let what = "its last lines have no signature by this key: move them to another folder, and see what `proof gateway \
                    audit verify` says of them";
        return Err(io::Error::other(what));
    }
    if end.last.is_none() && found.len() > 1 {
        return Err(io::Error::other("its files are empty"));
    }
    Ok(end)
}

fn damaged(at: &Path) -> io::Error {
    io::Error::other(format!("{} was changed: see what `proof gateway audit verify` says of it", at.display()))
}

fn path_of(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{}{number:06}{}", NAME.0, NAME.1))
}
