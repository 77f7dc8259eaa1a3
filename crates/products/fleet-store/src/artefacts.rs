//! Artefacts: files named by what is in them. Each is written under another name first and renamed, so that none is ever half
//! there; what no result refers to is collected.

use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use crate::bounds::{self, ARTEFACT_BYTES, NAME};
use crate::sql::{Failure, Sql};
use crate::token::hex;
use crate::{Millis, Store, StoreError};

/// What files that are being written are called at first.
const UNFINISHED: &str = ".unfinished-";
/// How many artefacts one transaction collects.
const AT_ONCE: u32 = 500;
/// Messages about a waiver that ends within a week must not be made a second time.
const DELIVERIES: Duration = Duration::from_hours(24 * 30);
/// Nothing younger is collected: its result may be on its way.
const YOUNGEST: Duration = Duration::from_mins(10);

/// The SHA-256 of an artefact.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(String);

/// What a job hands in together with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artefact {
    /// Which kind: a report, a trace, a lock.
    pub kind: String,
    /// The file.
    pub bytes: Vec<u8>,
}

/// What was collected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Ended jobs.
    pub jobs: u64,
}

impl ContentHash {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(hex(&Sha256::digest(bytes)))
    }

    fn path(&self, folder: &Path) -> PathBuf {
        let (first, rest) = self.0.split_at(2);
        folder.join(first).join(rest)
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ContentHash {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let is_hash = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_hash {
            return Err(StoreError::invalid(
                "the name of an artefact is not a SHA-256",
                "use 64 digits of 0-9 and a-f",
            ));
        }
        Ok(Self(text.to_owned()))
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Store {
    /// Stores an artefact. The same bytes are stored once.
    pub async fn put_artefact(&self, kind: &str, bytes: Vec<u8>, now: Millis) -> Result<ContentHash, StoreError> {
        bounds::name("the kind of an artefact", kind, NAME)?;
        if bytes.len() > ARTEFACT_BYTES {
            let what = format!("an artefact has {} bytes", bytes.len());
            return Err(StoreError::invalid(what, format!("use at most {ARTEFACT_BYTES}")));
        }
        let (folder, kind) = (self.artefacts().to_owned(), kind.to_owned());
        let size = bounds::count(bytes.len());
        let written = tokio::task::spawn_blocking(move || write_unfinished(&folder, &bytes)).await;
        let (hash, unfinished) =
            written.map_err(|_| StoreError::invalid("writing was interrupted", "try it again"))??;
        crate::reached("artefact-written");
        let folder = self.artefacts().to_owned();
        let (name, unfinished) = (hash.clone(), unfinished.into_temp_path());
        self.write(move |sql| enter(sql, &name, &kind, size, now, || finish(&unfinished, &name.path(&folder)))).await?;
        Ok(hash)
    }

    /// The bytes of an artefact, which are what the hash says.
    pub async fn artefact(&self, hash: &ContentHash) -> Result<Option<Vec<u8>>, StoreError> {
        let (path, hash) = (hash.path(self.artefacts()), hash.clone());
        let read = tokio::task::spawn_blocking(move || {
            let mut bytes = Vec::new();
            fs::File::open(path)?.take(ARTEFACT_BYTES as u64 + 1).read_to_end(&mut bytes).map(|_| bytes)
        });
        match read.await {
            Ok(Ok(bytes)) if ContentHash::of(&bytes) == hash => Ok(Some(bytes)),
            Ok(Ok(_)) => Err(StoreError::Refused {
                place: hash.path(self.artefacts()).display().to_string(),
                why: "the artefact is not what its name says".to_owned(),
                remedy: "delete the file and run its gate again".to_owned(),
            }),
            Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Ok(Err(error)) => Err(StoreError::io(hash.path(self.artefacts()).display(), &error)),
            Err(_) => Err(StoreError::invalid("reading was interrupted", "try it again")),
        }
    }

    /// Deletes artefacts that no result refers to, unfinished files, ended jobs and messages, when they are older than `keep`, at
    /// least ten minutes; messages at least 30 days.
    pub async fn collect_garbage(&self, keep: Duration, now: Millis) -> Result<Collected, StoreError> {
        const ENDED: &str = "DELETE FROM job WHERE state IN ('done', 'failed', 'cancelled') AND ended < $1";
        let before = now - bounds::millis(keep.max(YOUNGEST));
        let mut collected = Collected::default();
        loop {
            let folder = self.artefacts().to_owned();
            let some = self.write(move |sql| collect_some(sql, &folder, before)).await?;
            collected = collected.and(some);
            if some.files < u64::from(AT_ONCE) {
                break;
            }
        }
        let folder = self.artefacts().to_owned();
        let strays = tokio::task::spawn_blocking(move || strays(&folder, before)).await.unwrap_or_default();
        for chunk in strays.chunks(AT_ONCE as usize) {
            let chunk = chunk.to_vec();
            collected = collected.and(self.write(move |sql| remove_strays(sql, &chunk)).await?);
        }
        self.collect_deliveries(now - bounds::millis(keep.max(DELIVERIES))).await?;
        collected.jobs = self.write(move |sql| sql.execute(ENDED, &[before.into()])).await?;
        Ok(collected)
    }
}

impl Collected {
    const fn and(self, other: Self) -> Self {
        Self { files: self.files + other.files, bytes: self.bytes + other.bytes, jobs: self.jobs + other.jobs }
    }
}

fn write_unfinished(folder: &Path, bytes: &[u8]) -> Result<(ContentHash, NamedTempFile), StoreError> {
    let hash = ContentHash::of(bytes);
    let write = || {
        crate::create_private(hash.path(folder).parent().unwrap_or(folder))?;
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        Ok(file)
    };
    let file = write().map_err(|error: io::Error| StoreError::io(folder.display(), &error))?;
    Ok((hash, file))
}

/// The row first: its lock keeps the collector from this file until it is in its place.
fn enter(
    sql: &mut dyn Sql,
    hash: &ContentHash,
    kind: &str,
    size: i64,
    now: Millis,
    finish: impl Fn() -> io::Result<()>,
) -> Result<(), Failure> {
    const ENTER: &str = "INSERT INTO artefact (sha256, kind, bytes, created) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (sha256) DO UPDATE SET created = excluded.created";
    sql.execute(ENTER, &[hash.to_string().into(), kind.into(), size.into(), now.into()])?;
    finish().map_err(|error| StoreError::io(format!("artefact {hash}"), &error))?;
    crate::reached("artefact-renamed");
    Ok(())
}

fn finish(unfinished: &Path, place: &Path) -> io::Result<()> {
    match fs::rename(unfinished, place) {
        // The transaction is tried again, and the file was renamed the first time.
        Err(error) if error.kind() == io::ErrorKind::NotFound && place.exists() => Ok(()),
        renamed => renamed,
    }?;
    // The name, too, must survive a power cut before anything refers to it.
    place.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all())
}

fn collect_some(sql: &mut dyn Sql, folder: &Path, before: Millis) -> Result<Collected, Failure> {
    const UNUSED: &str = "SELECT sha256, bytes FROM artefact WHERE created < $1 \
        AND NOT EXISTS (SELECT 1 FROM gate_result WHERE report = sha256) ORDER BY created";
    let text = format!("{UNUSED} LIMIT {AT_ONCE}{}", sql.dialect().skip_locked());
    let mut collected = Collected::default();
    for row in sql.query(&text, &[before.into()])? {
        let hash: ContentHash = row.text(0)?.parse()?;
        sql.execute("DELETE FROM artefact WHERE sha256 = $1", &[hash.to_string().into()])?;
        remove(&hash.path(folder))?;
        collected = collected.and(Collected { files: 1, bytes: row.integer(1)?.unsigned_abs(), jobs: 0 });
    }
    Ok(collected)
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(path.display(), &error)),
        _ => Ok(()),
    }
}

/// Old files, with the hash that their name says; without one where they are unfinished.
fn strays(folder: &Path, before: Millis) -> Vec<(PathBuf, Option<ContentHash>)> {
    let before = UNIX_EPOCH + Duration::from_millis(before.max(0).unsigned_abs());
    let is_old = |entry: &fs::DirEntry| {
        entry.metadata().and_then(|data| Ok(data.is_file() && data.modified()? < before)).unwrap_or(false)
    };
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().collect::<Vec<_>>();
    let mut found = Vec::new();
    for entry in entries(folder) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(UNFINISHED) && is_old(&entry) {
            found.push((entry.path(), None));
        } else if name.len() == 2 {
            for file in entries(&entry.path()).iter().filter(|file| is_old(file)) {
                let hash = format!("{name}{}", file.file_name().to_string_lossy()).parse();
                found.extend(hash.ok().map(|hash| (file.path(), Some(hash))));
            }
        }
    }
    found
}

/// Files without a row: their transaction never ended.
fn remove_strays(sql: &mut dyn Sql, strays: &[(PathBuf, Option<ContentHash>)]) -> Result<Collected, Failure> {
    const KNOWN: &str = "SELECT 1 FROM artefact WHERE sha256 = $1";
    let mut collected = Collected::default();
    for (path, hash) in strays {
        let is_known = match hash {
            None => false,
            Some(hash) => !sql.query(KNOWN, &[hash.to_string().into()])?.is_empty(),
        };
        if let (false, Ok(data)) = (is_known, fs::metadata(path)) {
            remove(path)?;
            collected = collected.and(Collected { files: 1, bytes: data.len(), jobs: 0 });
        }
    }
    Ok(collected)
}
