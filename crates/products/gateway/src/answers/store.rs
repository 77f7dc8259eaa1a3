//! What must outlive the gateway: keys and values in a file. One thread writes it; all that waits meanwhile is committed
//! together. Must not know what the values say.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};
use tokio::sync::oneshot;

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("entries");
/// The file in the folder of the store.
const FILE: &str = "idempotency.redb";
/// The most changes of one commit.
const AT_ONCE: usize = 4096;
/// How much of the file is kept in memory. What is read at all is read once, at the start.
const CACHE: usize = 4 << 20;

/// One change.
struct Change {
    key: Vec<u8>,
    /// Nothing to forget the key.
    value: Option<Vec<u8>>,
    /// Dropped unused where the change could not be written.
    written: Option<oneshot::Sender<()>>,
}

/// A file of keys and values.
pub(crate) struct Store {
    changes: Mutex<Option<Sender<Change>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

/// A change under way to the disk.
#[derive(Default)]
pub(crate) struct Written(Option<oneshot::Receiver<()>>);

impl Written {
    /// A change that is over when the sender says so.
    pub(crate) fn later() -> (oneshot::Sender<()>, Self) {
        let (sender, receiver) = oneshot::channel();
        (sender, Self(Some(receiver)))
    }

    /// Waits until the change outlives a crash; whether it does. Without a store there is nothing to wait for.
    pub(crate) async fn outlives_crash(self) -> bool {
        match self.0 {
            Some(written) => written.await.is_ok(),
            None => true,
        }
    }
}

/// A key and its value, as they were read.
pub(crate) type Pair = (Vec<u8>, Vec<u8>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store {
    /// Opens the store in `folder`, which is made if it is missing, and gives what it holds. Another gateway must not use it
    /// at the same time.
    pub(crate) fn open(folder: &Path) -> io::Result<(Self, Vec<Pair>)> {
        Self::open_file(folder, FILE)
    }

    /// The same with a file of another name.
    pub(crate) fn open_file(folder: &Path, name: &str) -> io::Result<(Self, Vec<Pair>)> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let file = folder.join(name);
        let database = database(&file)?;
        let pairs = pairs(&database).map_err(io::Error::other)?;
        let (changes, waiting) = channel();
        let writer = std::thread::Builder::new().name("store".to_owned()).spawn(move || {
            Writer { file, database: Some(database) }.run(&waiting);
        })?;
        Ok((Self { changes: Mutex::new(Some(changes)), writer: Mutex::new(Some(writer)) }, pairs))
    }

    /// Keeps a value, or forgets the key. Changes are written in the order of these calls.
    pub(crate) fn set(&self, key: Vec<u8>, value: Option<Vec<u8>>) -> Written {
        let (sender, receiver) = oneshot::channel();
        self.send(Change { key, value, written: Some(sender) });
        Written(Some(receiver))
    }

    /// Forgets a key, at any time.
    pub(crate) fn forget(&self, key: Vec<u8>) {
        self.send(Change { key, value: None, written: None });
    }

    fn send(&self, change: Change) {
        if let Some(changes) = &*lock(&self.changes) {
            // Without its thread nothing is written, and those who wait learn of it.
            let _ = changes.send(change);
        }
    }

    /// Writes what waits, and closes the file. Takes as long as the disk does.
    pub(crate) fn close(&self) {
        drop(lock(&self.changes).take());
        if let Some(writer) = lock(&self.writer).take() {
            let _ = writer.join();
        }
    }
}

fn database(file: &Path) -> io::Result<Database> {
    // Results of calls are for the gateway's own user.
    let handle: File = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(file)?;
    drop(handle);
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE).set_check_integrity_on_open(true);
    builder.create(file).map_err(io::Error::other)
}

fn pairs(database: &Database) -> Result<Vec<Pair>, redb::Error> {
    let transaction = database.begin_read()?;
    let table = match transaction.open_table(TABLE) {
        Ok(table) => table,
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut pairs = Vec::new();
    for entry in table.iter()? {
        let (key, value) = entry?;
        pairs.push((key.value().to_vec(), value.value().to_vec()));
    }
    Ok(pairs)
}

struct Writer {
    file: PathBuf,
    /// Nothing after a failure: the file is opened again for the next changes.
    database: Option<Database>,
}

impl Writer {
    fn run(mut self, waiting: &Receiver<Change>) {
        while let Ok(first) = waiting.recv() {
            let mut changes = vec![first];
            changes.extend(waiting.try_iter().take(AT_ONCE - 1));
            match self.write(&changes) {
                Ok(()) => {
                    for written in changes.into_iter().filter_map(|change| change.written) {
                        let _ = written.send(());
                    }
                }
                Err(error) => {
                    tracing::error!(file = %self.file.display(), "the store cannot be written: {error}");
                    self.database = None;
                }
            }
        }
    }

    fn write(&mut self, changes: &[Change]) -> Result<(), redb::Error> {
        let database = match self.database.take() {
            Some(database) => database,
            None => database(&self.file)?,
        };
        let database = self.database.insert(database);
        let transaction = database.begin_write()?;
        {
            let mut table = transaction.open_table(TABLE)?;
            for change in changes {
                match &change.value {
                    Some(value) => table.insert(&*change.key, &**value)?,
                    None => table.remove(&*change.key)?,
                };
            }
        }
        // By default a commit is on the disk when it returns.
        Ok(transaction.commit()?)
    }
}

#[cfg(test)]
mod tests {
    use super::Store;

    fn texts(pairs: Vec<super::Pair>) -> Vec<(String, String)> {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        pairs.into_iter().map(|(key, value)| (text(key), text(value))).collect()
    }

    #[tokio::test]
    async fn what_was_kept_is_there_again_and_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let (store, pairs) = Store::open(&folder.path().join("new")).expect("opened");
        assert!(pairs.is_empty());
        for turn in 0..50 {
            assert!(store.set(b"a".to_vec(), Some(turn.to_string().into_bytes())).outlives_crash().await);
        }
        let written = store.set(b"b".to_vec(), Some(b"x".to_vec()));
        store.forget(b"b".to_vec());
        assert!(written.outlives_crash().await);
        assert!(store.set(b"c".to_vec(), Some(b"y".to_vec())).outlives_crash().await);
        store.close();
        assert!(!store.set(b"d".to_vec(), None).outlives_crash().await, "it is closed");
        let (_store, pairs) = Store::open(&folder.path().join("new")).expect("opened again");
        let expected = [("a", "49"), ("c", "y")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(texts(pairs), expected);
    }

    #[tokio::test]
    async fn two_gateways_cannot_use_one_store() {
        let folder = tempfile::tempdir().expect("a folder");
        let _first = Store::open(folder.path()).expect("opened");
        let Err(error) = Store::open(folder.path()) else { panic!("opened twice") };
        assert!(error.to_string().contains("already open"), "{error}");
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(super::FILE), vec![7; 9000]).expect("written");
        assert!(Store::open(folder.path()).is_err());
    }
}
