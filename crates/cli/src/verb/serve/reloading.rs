//! Offers a catalogue again when its file changes. Polls, because that works on every file system. A file with mistakes changes
//! nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reference::Server;
use reference::authorization::TokenGuard;
use reference::catalogue::Catalogue;

use crate::args::serve::{Catalog, ServeArgs};
use crate::exit::tell;
use crate::verb::output;

/// The polling interval. A file that was written within it may not be whole yet.
const PAUSE: Duration = Duration::from_millis(400);

/// When a file was changed last, and its length.
type Stamp = Option<(SystemTime, u64)>;

/// A catalogue's file, and who has to know what is in it.
pub(super) struct Reloading {
    path: PathBuf,
    seen: Stamp,
    server: Server,
    guard: Option<Arc<TokenGuard>>,
}

impl Reloading {
    /// For the file of `--catalog`; `None` for a built-in catalogue.
    pub(super) fn of(args: &ServeArgs, server: &Server, guard: Option<&Arc<TokenGuard>>) -> Option<Self> {
        let Catalog::File(path) = &args.catalog else { return None };
        Some(Self { seen: stamp(path), path: path.clone(), server: server.clone(), guard: guard.cloned() })
    }

    /// Offers each version of the file; never ends.
    pub(super) async fn run(mut self) {
        loop {
            tokio::time::sleep(PAUSE).await;
            let now = stamp(&self.path);
            // A file that is gone is being replaced, as many editors do.
            if now == self.seen || now.is_none() {
                continue;
            }
            tokio::time::sleep(PAUSE).await;
            if stamp(&self.path) == now {
                self.seen = now;
                self.reload();
            }
        }
    }

    fn reload(&self) {
        let name = output::shown(&self.path);
        let catalogue = match Catalogue::load(&self.path) {
            Ok(catalogue) => Arc::new(catalogue),
            Err(errors) => {
                tell(errors);
                tell(format_args!("{name} has mistakes: still serving the version before"));
                return;
            }
        };
        if let Some(guard) = &self.guard {
            guard.replace_catalogue(Arc::clone(&catalogue));
        }
        if self.server.replace_catalogue(catalogue) {
            tell(format_args!("{name} changed: serving the new version"));
        } else {
            tell(format_args!("{name} changed too often: still serving the version before\n  try: start proof again"));
        }
    }
}

fn stamp(path: &Path) -> Stamp {
    let about = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some((about.modified().ok()?, about.len()))
}
