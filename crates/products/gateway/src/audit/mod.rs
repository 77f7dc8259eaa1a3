//! The audit log: one record for each request of a client, in files whose lines hold the hash of the line before. Written by a
//! thread of its own, several records at a time. Without such settings it costs nothing. Must not decide about a request, but
//! for one that could not be recorded where records are required.

mod chain;
mod files;
mod request;
mod signing;
mod verify;

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use net::service::{Answer, Call};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use wire::redact::Redactor;

use self::files::Files;
use self::request::Received;
pub(crate) use self::request::Trail;
use self::signing::SigningKey;
use crate::settings::{AuditSettings, Settings};

pub use chain::{Flaw, Link};
pub use signing::{VerifyingKey, generate as generate_key, text_of as key_text};
pub use verify::{Verified, VerifyError, verify};

/// How many records may wait to be written. What comes then waits, or is lost where records are not required.
const WAITING: usize = 8192;
/// How many records are written at once.
const AT_ONCE: usize = 512;
/// How many refusals of strangers are recorded in a second.
const REFUSALS: u32 = 20;
/// How long a log may be unsigned while nothing is written.
const SIGNED: Duration = Duration::from_secs(5);

/// Whether a text is a private key that can sign a log; why not otherwise.
pub fn check_key(pem: &str) -> Result<(), String> {
    SigningKey::read(pem).map(drop)
}

type Members = Vec<(&'static str, Value)>;

enum Order {
    /// Write this; say whether it was written.
    Record(Members, Option<oneshot::Sender<bool>>),
    /// Try whether something can be written.
    Try(oneshot::Sender<bool>),
}

/// A log that is being written. Dropped, it is closed.
pub(crate) struct AuditLog {
    settings: AuditSettings,
    redactor: Redactor,
    /// Nothing once it is closed.
    writer: Mutex<Option<(mpsc::Sender<Order>, JoinHandle<()>)>>,
    strangers: Mutex<Strangers>,
    state: Arc<State>,
}

/// How many records of refusals were written lately.
struct Strangers {
    since: Instant,
    written: u32,
    /// How many were not written since the last one that was.
    left_out: u64,
}

impl Strangers {
    /// A stranger is refused: how many were left out before, if this one is recorded.
    fn next(&mut self, now: Instant) -> Option<u64> {
        if now.duration_since(self.since) >= Duration::from_secs(1) {
            (self.since, self.written) = (now, 0);
        }
        if self.written >= REFUSALS {
            self.left_out += 1;
            return None;
        }
        self.written += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[derive(Debug, Default)]
struct State {
    /// The last attempt to write failed.
    fails: AtomicBool,
    /// Records that were not written and are not yet told of.
    lost: AtomicU64,
    /// All records that were not written.
    lost_ever: AtomicU64,
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog").field("folder", &self.settings.folder).finish_non_exhaustive()
    }
}

/// A request that will have a record.
pub(crate) struct Audited {
    received: Received,
    begun: Instant,
    pub(crate) trail: Trail,
}

impl Audited {
    /// A request begins: keeps what its record needs.
    pub(crate) fn begin(request: u64, server: &str, call: &Call) -> Self {
        Self { received: Received::new(request, server, call), begun: Instant::now(), trail: Trail::kept(request) }
    }
}

impl AuditLog {
    /// Opens the log in its folder and goes on after its last line.
    pub(crate) fn open(audit: &AuditSettings, settings: &Settings) -> io::Result<Self> {
        let key = audit.key.as_deref().map(SigningKey::read).transpose().map_err(io::Error::other)?;
        let files = Files::open(audit, key)?;
        let (orders, waiting) = mpsc::channel(WAITING);
        let state = Arc::<State>::default();
        let writer = Writer { files, state: Arc::clone(&state) };
        let thread = std::thread::Builder::new().name("audit".to_owned()).spawn(move || writer.run(waiting))?;
        let redactor = net::new_redactor().knowing(&crate::recording::secrets(settings)).masked();
        let writer = Mutex::new(Some((orders, thread)));
        let strangers = Mutex::new(Strangers { since: Instant::now(), written: 0, left_out: 0 });
        Ok(Self { settings: audit.clone(), redactor, writer, strangers, state })
    }

    fn orders(&self) -> Option<mpsc::Sender<Order>> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.as_ref().map(|(orders, _)| orders.clone())
    }

    /// Ends the log, once everything in it is written.
    pub(crate) fn close(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((orders, thread)) = writer {
            // Without senders, the thread ends when everything is written.
            drop(orders);
            let _ = thread.join();
        }
    }

    /// How many records were not written since the start.
    pub(crate) fn lost(&self) -> u64 {
        self.state.lost_ever.load(Ordering::Relaxed)
    }

    /// Whether requests may run: where records are required, only while they can be written.
    pub(crate) async fn may_run(&self) -> bool {
        if !self.settings.required || !self.state.fails.load(Ordering::Relaxed) {
            return true;
        }
        let (done, written) = oneshot::channel();
        let Some(orders) = self.orders() else { return false };
        orders.send(Order::Try(done)).await.is_ok() && written.await.unwrap_or_default()
    }

    /// Records a request and its answer. `false` where that failed although it is required: the client must not get the answer.
    pub(crate) fn end<'l>(&'l self, audited: Audited, answer: &Answer) -> impl Future<Output = bool> + Send + use<'l> {
        let took = audited.begun.elapsed();
        let record = audited.received.record(&audited.trail, answer, took, (&self.settings, &self.redactor));
        self.write(record)
    }

    /// Records that somebody was not let in. Strangers cannot fill the disk: of many in one second, the rest is counted.
    pub(crate) fn refused(&self, path: &str, why: &str) {
        let Some(more) = self.strangers.lock().unwrap_or_else(PoisonError::into_inner).next(Instant::now()) else {
            return;
        };
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let path: String = path.chars().take(256).collect();
        let record = vec![
            ("kind", json!("refused")),
            ("time", json!(wire::timestamp::rfc3339(since))),
            ("path", json!(self.redactor.redact_text(&path))),
            ("token", json!(why)),
            ("status", json!("denied")),
            ("not_recorded", json!(more)),
        ];
        self.offer(record);
    }

    async fn write(&self, record: Members) -> bool {
        if !self.settings.required {
            self.offer(record);
            return true;
        }
        let (done, written) = oneshot::channel();
        let Some(orders) = self.orders() else { return false };
        orders.send(Order::Record(record, Some(done))).await.is_ok() && written.await.unwrap_or_default()
    }

    /// Writes a record if there is room.
    fn offer(&self, record: Members) {
        let sent = self.orders().is_some_and(|orders| orders.try_send(Order::Record(record, None)).is_ok());
        if !sent {
            self.state.lose(1);
        }
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        self.close();
    }
}

impl State {
    fn lose(&self, records: u64) {
        self.lost.fetch_add(records, Ordering::Relaxed);
        self.lost_ever.fetch_add(records, Ordering::Relaxed);
    }
}

struct Writer {
    files: Files,
    state: Arc<State>,
}

impl Writer {
    fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let Ok(runtime) = runtime else { return };
        loop {
            let mut waiting = Vec::new();
            let received =
                runtime.block_on(async { tokio::time::timeout(SIGNED, orders.recv_many(&mut waiting, AT_ONCE)).await });
            match received {
                Ok(0) => break,
                Ok(_) => self.write(waiting),
                Err(_) => {
                    self.settle(Files::sign);
                }
            }
        }
        if let Err(error) = self.files.close() {
            tracing::error!("the audit log could not be closed: {error}");
        }
    }

    fn write(&mut self, orders: Vec<Order>) {
        let (mut records, mut dones) = (Vec::new(), Vec::new());
        let lost = self.state.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            records.push(vec![("kind", json!("lost")), ("records", json!(lost))]);
        }
        let mut count = 0;
        for order in orders {
            match order {
                Order::Record(record, done) => {
                    count += 1;
                    records.push(record);
                    dones.extend(done);
                }
                Order::Try(done) => dones.push(done),
            }
        }
        if count == 0 {
            records.push(vec![("kind", json!("written_again"))]);
        }
        let written = self.settle(|files| files.append(&records));
        if !written {
            self.state.lost.fetch_add(lost, Ordering::Relaxed);
            self.state.lose(count);
        }
        for done in dones {
            // Nobody may wait any more.
            let _ = done.send(written);
        }
    }

    /// Writes, and keeps in mind whether that was possible.
    fn settle(&mut self, write: impl FnOnce(&mut Files) -> io::Result<()>) -> bool {
        let written = write(&mut self.files);
        let failed = written.is_err();
        if self.state.fails.swap(failed, Ordering::Relaxed) != failed {
            if let Err(error) = &written {
                tracing::error!("the audit log cannot be written: {error}");
            } else {
                tracing::info!("the audit log is written again");
            }
        }
        !failed
    }
}
