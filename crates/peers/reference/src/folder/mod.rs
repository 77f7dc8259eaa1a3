//! A directory, served read-only as resources beside the catalogue. Its URIs begin where the directory does: where it lies
//! is nobody's business. What is listed is a snapshot that [`watch`] renews; what is read is what is there now.

mod listing;
mod media;
mod root;
mod scan;
mod uri;
mod watch;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use wire::Revision;
use wire::revision::R2025_06_18;

pub(crate) use self::listing::{Entry, Listing};
use self::root::Root;
pub(crate) use self::root::Unreadable;
pub(crate) use self::uri::path;
pub(crate) use self::watch::{POLL, start};

/// The longest file that is read, in bytes. Base64 and JSON make it longer, and it must still fit what a transport queues.
pub(crate) const LARGEST: u64 = 4 << 20;
/// How many files are read at once; the others wait. Each may be in memory several times over.
const READS: usize = 4;
/// How long a read may take, waiting included: a file system may hang.
const PATIENCE: Duration = Duration::from_secs(10);

/// The template of everything in the directory; a path keeps its slashes.
pub(crate) const TEMPLATE: &str = "file:///{+path}";
/// The template's variable.
pub(crate) const VARIABLE: &str = "path";

/// Tells whoever runs the server what they may want to know.
type Notice = dyn Fn(&str) + Send + Sync;

/// A directory that is served.
pub struct Folder {
    root: Arc<Root>,
    listing: RwLock<Arc<Listing>>,
    reads: Arc<Semaphore>,
    notice: Box<Notice>,
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder").field("files", &self.listing().entries.len()).finish_non_exhaustive()
    }
}

impl Folder {
    /// Opens the directory, once and for all, and looks through it. `notice` is told, a line each time it differs, what in
    /// it cannot be served. Blocks.
    pub fn open(path: &Path, notice: impl Fn(&str) + Send + Sync + 'static) -> io::Result<Self> {
        let root = Root::open(path)?;
        let listing = scan::scan(&root)?;
        let folder = Self {
            root: Arc::new(root),
            listing: RwLock::default(),
            reads: Arc::new(Semaphore::new(READS)),
            notice: Box::new(notice),
        };
        folder.renew(listing);
        Ok(folder)
    }

    /// The files as they were when last looked at.
    pub(crate) fn listing(&self) -> Arc<Listing> {
        Arc::clone(&self.listing.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks through the directory again. Blocks.
    fn refresh(&self) -> Arc<Listing> {
        // What cannot be read at all just now, for want of descriptors perhaps, has not lost its files.
        scan::scan(&self.root).map_or_else(|_| self.listing(), |listing| self.renew(listing))
    }

    fn renew(&self, listing: Listing) -> Arc<Listing> {
        let listing = Arc::new(listing);
        let before = {
            let mut current = self.listing.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *current, Arc::clone(&listing))
        };
        if let Some(what) = listing.left_out.told().filter(|_| listing.left_out != before.left_out) {
            (self.notice)(&what);
        }
        listing
    }

    /// Whether a file was listed at `uri` when last looked at.
    pub(crate) fn lists(&self, uri: &str) -> bool {
        path(uri).is_some_and(|path| self.listing().find(&path).is_some())
    }

    /// What the template's variable may be completed to: the paths as URIs have them, so that putting one in changes
    /// nothing. Whoever types need not know how a character is encoded.
    pub(crate) fn completions(&self, typed: &str) -> Vec<String> {
        let typed = typed.to_lowercase();
        let listing = self.listing();
        let paths = listing.entries.iter().map(|entry| (entry, uri::encode(&entry.path)));
        let begins = |text: &str| text.to_lowercase().starts_with(&typed);
        paths.filter(|(entry, encoded)| begins(&entry.path) || begins(encoded)).map(|(_, encoded)| encoded).collect()
    }

    /// The contents at `path`, as one `ResourceContents`.
    pub(crate) async fn contents(&self, uri: String, path: String) -> Result<Value, Unreadable> {
        let (root, reads) = (Arc::clone(&self.root), Arc::clone(&self.reads));
        let reading = async move {
            let turn = reads.acquire_owned().await;
            let read = tokio::task::spawn_blocking(move || {
                // Kept until the read is over, also where nobody waits for it any more.
                let _turn = turn;
                root.read(&path, LARGEST).map(|bytes| contents(&uri, &path, bytes))
            });
            read.await.unwrap_or_else(|error| Err(io::Error::other(error).into()))
        };
        let late = |_| Err(io::Error::from(io::ErrorKind::TimedOut).into());
        tokio::time::timeout(PATIENCE, reading).await.unwrap_or_else(late)
    }
}

/// Text where the file may be text and is; Base64 otherwise.
fn contents(uri: &str, path: &str, bytes: Vec<u8>) -> Value {
    let media = media::of(path);
    let mut value = json!({ "uri": uri });
    if let Some(media) = media {
        value["mimeType"] = json!(media);
    }
    let textual = media.is_none_or(media::is_text) && !bytes.contains(&0);
    match std::str::from_utf8(&bytes) {
        Ok(text) if textual => value["text"] = json!(text),
        _ => value["blob"] = json!(STANDARD.encode(&bytes)),
    }
    value
}

/// The template as `resources/templates/list` describes it in `revision`.
pub(crate) fn template(revision: Revision) -> Value {
    let mut value = json!({ "uriTemplate": TEMPLATE, "name": "file", "description": "A file of the served directory, by its path" });
    if revision.at_least(R2025_06_18) {
        value["title"] = json!("File");
    }
    value
}
