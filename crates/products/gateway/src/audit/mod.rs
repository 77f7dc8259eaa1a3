//! The audit log: one record for each request of a client, in files whose lines hold the hash of the line before. Written by a
//! thread of its own, several records at a time. Without such settings it costs nothing. Must not decide about a request, but
//! for one that could not be recorded where records are required.

mod chain;
mod files;
mod refusals;
mod request;
mod signing;
mod verify;
mod writer;

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Instant;

use net::service::{Answer, Call};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use wire::redact::Redactor;

use self::files::Files;
use self::refusals::RefusalLimit;
use self::request::Received;
pub(crate) use self::request::Trail;
use self::signing::SigningKey;
use self::writer::{State, Write, Writer};
use crate::settings::{AuditSettings, Settings};

pub use chain::{Flaw, Link};
pub use signing::{VerifyingKey, generate as generate_key, text_of as key_text};
pub use verify::{Verified, VerifyError, verify};

/// How many records may wait to be written. What comes then waits, or is lost where records are not required.
const WAITING: usize = 4096;

/// Whether a text is a private key that can sign a log; why not otherwise.
pub fn check_key(pem: &str) -> Result<(), String> {
    SigningKey::read(pem).map(drop)
}

/// The members of a line.
type Members = Vec<(&'static str, Value)>;

/// A log that is being written. Dropped, it is closed.
pub(crate) struct AuditLog {
    settings: AuditSettings,
    redactor: RwLock<Redactor>,
    /// Nothing once it is closed.
    writer: Mutex<Option<(mpsc::Sender<Write>, JoinHandle<()>)>>,
    refusals: Mutex<RefusalLimit>,
    state: Arc<State>,
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog").field("folder", &self.settings.folder).finish_non_exhaustive()
    }
}

/// A request that will have a record. Dropped before its end, it gets one that says so: a client that leaves in the middle
/// of a call must not leave no trace.
pub(crate) struct Audited {
    log: Arc<AuditLog>,
    received: Received,
    begun: Instant,
    pub(crate) trail: Trail,
    is_recorded: bool,
}

/// A redactor that knows what the configuration holds.
fn redactor(settings: &Settings) -> Redactor {
    net::new_redactor().knowing(&crate::recording::secrets(settings)).masked()
}

impl AuditLog {
    /// Opens the log in its folder and goes on after its last line.
    pub(crate) fn open(audit: &AuditSettings, settings: &Settings) -> io::Result<Self> {
        let key = audit.key.as_deref().map(SigningKey::read).transpose().map_err(io::Error::other)?;
        let files = Files::open(audit, key)?;
        let (writes, waiting) = mpsc::channel(WAITING);
        let state = Arc::<State>::default();
        let thread = Writer::start(files, Arc::clone(&state), waiting)?;
        Ok(Self {
            settings: audit.clone(),
            redactor: RwLock::new(redactor(settings)),
            writer: Mutex::new(Some((writes, thread))),
            refusals: Mutex::new(RefusalLimit::new(Instant::now())),
            state,
        })
    }

    /// Another configuration holds: its secrets are replaced from now on.
    pub(crate) fn know(&self, settings: &Settings) {
        *self.redactor.write().unwrap_or_else(PoisonError::into_inner) = redactor(settings);
    }

    fn redactor(&self) -> Redactor {
        self.redactor.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn writes(&self) -> Option<mpsc::Sender<Write>> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.as_ref().map(|(writes, _)| writes.clone())
    }

    /// Ends the log, once everything in it is written. Blocks.
    pub(crate) fn close(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((writes, thread)) = writer {
            // Without senders, the thread ends when everything is written.
            drop(writes);
            let _ = thread.join();
        }
    }

    /// Whether nothing is answered that is not recorded.
    pub(crate) const fn is_required(&self) -> bool {
        self.settings.required
    }

    /// How many records were not written since the start.
    pub(crate) fn lost(&self) -> u64 {
        self.state.lost_ever.load(Ordering::Relaxed)
    }

    /// A request begins. Where records are required, it may run only once the log says so; `None` where that failed.
    pub(crate) async fn begin(self: &Arc<Self>, request: u64, server: &str, call: &Call) -> Option<Audited> {
        let audited = Audited {
            log: Arc::clone(self),
            received: Received::new(request, server, call),
            begun: Instant::now(),
            trail: Trail::kept(request),
            is_recorded: false,
        };
        if self.settings.required {
            let started = audited.received.started(&self.settings, &self.redactor());
            if !self.write(started).await {
                audited.forget();
                return None;
            }
        }
        Some(audited)
    }

    /// Records that a client subscribes: what comes of it is not recorded.
    pub(crate) fn subscribed(&self, request: u64, server: &str, call: &Call) {
        let mut record = Received::new(request, server, call).started(&self.settings, &self.redactor());
        record[0].1 = json!("subscribed");
        self.offer(record);
    }

    /// Records that somebody was not let in, if it is not one of too many.
    pub(crate) fn refused(&self, path: &str, why: &str) {
        let more = self.refusals.lock().unwrap_or_else(PoisonError::into_inner).next(Instant::now());
        let Some(more) = more else { return };
        let path: String = path.chars().take(256).collect();
        self.offer(vec![
            ("kind", json!("refused")),
            ("path", json!(self.redactor().redact_text(&path))),
            ("token", json!(why)),
            ("status", json!("denied")),
            ("not_recorded", json!(more)),
        ]);
    }

    /// Writes a record; `false` where it is required and could not be written. Unless too many wait, it is handed over before
    /// anybody awaits that: who stops waiting takes no record along.
    fn write(&self, record: Members) -> impl Future<Output = bool> + Send + use<> {
        let (done, written) = oneshot::channel();
        let required = self.settings.required;
        let waiting = if required {
            self.writes().map(|writes| match writes.try_send(Write { record, done: Some(done) }) {
                // A sender that is held keeps the log from being closed.
                Ok(()) => None,
                Err(refused) => Some((writes, refused.into_inner())),
            })
        } else {
            self.offer(record);
            None
        };
        async move {
            let is_sent = match waiting {
                None => return !required,
                Some(None) => true,
                Some(Some((writes, write))) => writes.send(write).await.is_ok(),
            };
            is_sent && written.await.unwrap_or_default()
        }
    }

    /// Writes a record if there is room.
    fn offer(&self, record: Members) {
        let sent = self.writes().is_some_and(|writes| writes.try_send(Write { record, done: None }).is_ok());
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

impl Audited {
    /// Records the request and its answer. `false` where that failed although it is required: the client must not get the
    /// answer.
    pub(crate) fn end(mut self, answer: &Answer) -> impl Future<Output = bool> + Send + use<> {
        let record = self.record(Some(answer));
        self.is_recorded = true;
        self.log.write(record)
    }

    /// The record; a short one where making it panics, for an answer must not go out without.
    fn record(&self, answer: Option<&Answer>) -> Members {
        let (took, redactor) = (self.begun.elapsed(), self.log.redactor());
        let made = || self.received.record(&self.trail, answer, took, (&self.log.settings, &redactor));
        catch_unwind(AssertUnwindSafe(made)).unwrap_or_else(|_| {
            tracing::error!("a record of the audit log made the gateway panic");
            self.received.shortest()
        })
    }

    /// It did not run: it gets no record.
    fn forget(mut self) {
        self.is_recorded = true;
    }
}

impl Drop for Audited {
    fn drop(&mut self) {
        if !self.is_recorded {
            let record = self.record(None);
            self.log.offer(record);
        }
    }
}
