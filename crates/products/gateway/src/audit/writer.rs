//! The thread that writes an audit log. Knows no request.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::Members;
use super::files::Files;

/// How many records are written at once.
const AT_ONCE: usize = 512;
/// How long a log may be unsigned while nothing is written.
const UNSIGNED: Duration = Duration::from_secs(5);

/// A record to write, and whom to tell whether it was written.
pub(super) struct Write {
    pub(super) record: Members,
    pub(super) done: Option<oneshot::Sender<bool>>,
}

/// What the writer counts.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Records that were not written and are not yet told of.
    lost: AtomicU64,
    /// All records that were not written.
    pub(super) lost_ever: AtomicU64,
}

impl State {
    pub(super) fn lose(&self, records: u64) {
        self.lost.fetch_add(records, Ordering::Relaxed);
        self.lost_ever.fetch_add(records, Ordering::Relaxed);
    }
}

pub(super) struct Writer {
    files: Files,
    state: Arc<State>,
    /// The last attempt to write failed.
    fails: bool,
}

impl Writer {
    /// Writes what comes, until there are no senders any more.
    pub(super) fn start(files: Files, state: Arc<State>, waiting: mpsc::Receiver<Write>) -> io::Result<JoinHandle<()>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let writer = Self { files, state, fails: false };
        std::thread::Builder::new().name("audit".to_owned()).spawn(move || writer.run(&runtime, waiting))
    }

    fn run(mut self, runtime: &Runtime, mut waiting: mpsc::Receiver<Write>) {
        loop {
            let mut writes = Vec::new();
            let came = runtime.block_on(async { timeout(UNSIGNED, waiting.recv_many(&mut writes, AT_ONCE)).await });
            match came {
                Ok(0) => break,
                Ok(_) => self.write(writes),
                Err(_) => {
                    self.write(Vec::new());
                    self.files.sign();
                }
            }
        }
        self.write(Vec::new());
        if let Err(error) = self.files.close() {
            tracing::error!("the audit log could not be closed: {error}");
        }
    }

    /// Writes records, and first how many are missing.
    fn write(&mut self, writes: Vec<Write>) {
        let (mut records, mut waiters) = (Vec::new(), Vec::new());
        let lost = self.state.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            records.push(vec![("kind", json!("lost")), ("records", json!(lost))]);
        }
        let count = writes.len() as u64;
        for Write { record, done } in writes {
            records.push(record);
            waiters.extend(done);
        }
        if records.is_empty() {
            return;
        }
        let written = self.files.append(&records);
        let is_written = written.is_ok();
        if !is_written {
            self.state.lost.fetch_add(lost, Ordering::Relaxed);
            self.state.lose(count);
        }
        self.report(written);
        for waiter in waiters {
            // Nobody may wait any more.
            let _ = waiter.send(is_written);
        }
    }

    /// Tells once that writing fails, and once that it is possible again.
    fn report(&mut self, written: io::Result<()>) {
        let failed = written.is_err();
        if self.fails == failed {
            return;
        }
        self.fails = failed;
        if let Err(error) = written {
            tracing::error!("the audit log cannot be written: {error}");
        } else {
            tracing::info!("the audit log is written again");
        }
    }
}
