//! Looks at the served directory again and again, and tells of what changed. Looking costs a bounded part of one core, works
//! on every file system, and makes one change of a burst. It has a thread of its own: a file system may hang.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::Folder;
use crate::State;
use crate::hub::Change;

/// The pause between two looks at the directory, where looking takes no time.
pub(crate) const POLL: Duration = Duration::from_millis(500);
/// How many times longer than a look the pause after it is.
const REST: u32 = 20;

/// Watches until the server is gone.
pub(crate) fn start(folder: Arc<Folder>, server: Weak<State>) {
    let watching = thread::Builder::new().name("folder".to_owned()).spawn({
        let folder = Arc::clone(&folder);
        move || watch(&folder, &server)
    });
    if let Err(error) = watching {
        (folder.notice)(&format!("the directory is not watched for changes: no thread: {error}"));
    }
}

fn watch(folder: &Folder, server: &Weak<State>) {
    let mut seen = folder.listing();
    let mut pause = POLL;
    loop {
        thread::sleep(pause);
        if server.strong_count() == 0 {
            return;
        }
        let begun = Instant::now();
        let now = folder.refresh();
        pause = POLL.max(begun.elapsed() * REST);
        let changes = now.since(&seen);
        let Some(server) = server.upgrade() else { return };
        if changes.list {
            server.hub.announce(Change::Resources);
        }
        for uri in changes.files {
            server.hub.announce(Change::Resource(uri));
        }
        seen = now;
    }
}
