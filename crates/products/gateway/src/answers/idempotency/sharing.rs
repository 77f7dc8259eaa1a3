//! What this gateway knows of keys, written to the store that it shares with others: while calls run, when they end, and once
//! more when the store has lost it. Must not decide what a key means.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream;
use tokio::sync::{Mutex as Gate, watch};

use super::{Backing, CallKey, Entry, KeptCalls, Status, record};
use crate::answers::store::Written;
use crate::settings::StoreLoss;
use crate::shared::{self, Epoch, LEASE, RUNNING, SharedStore, Token};

/// The largest result that is shared, in bytes.
pub(super) const LARGEST: usize = 4 << 20;
/// The most keys that wait to be forgotten. Without it, they stay blocked.
const MOST_FORGOTTEN: usize = 10_000;
/// How many keys are written at the same time.
const AT_ONCE: usize = 64;
/// How long a gateway that ends waits for the store.
const LAST: Duration = Duration::from_secs(2);
/// Before what could not be written is tried again.
const PAUSE: Duration = Duration::from_millis(200);

/// What is still to be written of a key.
#[derive(Clone)]
struct Pending {
    token: Token,
    step: u64,
    /// Nothing to forget it.
    value: Option<(Arc<[u8]>, Instant)>,
}

/// The store that gateways share, and what it does not know yet.
pub(super) struct Sharing {
    pub(super) store: Arc<SharedStore>,
    pub(super) on_loss: StoreLoss,
    /// The memory of the store that has all that this gateway knows.
    complete: watch::Sender<Option<Epoch>>,
    pending: Mutex<HashMap<Vec<u8>, Pending>>,
    /// What is written of one key is written in order.
    gates: Vec<Gate<()>>,
    conflicts: AtomicU64,
}

/// A token that nobody else has.
pub(super) fn token() -> Token {
    let mut token = Token::default();
    // Without random numbers nothing else works either; two equal tokens would only block a key.
    let _ = getrandom::fill(&mut token);
    token
}

impl Sharing {
    pub(super) fn new(store: &Arc<SharedStore>, on_loss: StoreLoss) -> Self {
        Self {
            store: Arc::clone(store),
            on_loss,
            complete: watch::Sender::default(),
            pending: Mutex::default(),
            gates: (0..AT_ONCE).map(|_| Gate::default()).collect(),
            conflicts: AtomicU64::new(0),
        }
    }

    /// The memory of the store, if it has all that this gateway knows.
    pub(super) fn written_to(&self) -> Option<Epoch> {
        self.complete.borrow().clone()
    }

    pub(super) fn conflicts(&self) -> u64 {
        self.conflicts.load(Ordering::Relaxed)
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gate(&self, name: &[u8]) -> &Gate<()> {
        &self.gates[usize::from(name.first().copied().unwrap_or_default()) % AT_ONCE]
    }

    /// Writes what became of a key; forgets it where there is no entry.
    pub(super) fn write(
        &self,
        calls: &Arc<KeptCalls>,
        key: &CallKey,
        (entry, token): (Option<&Entry>, &Token),
        (ttl, now): (Duration, Instant),
    ) -> Written {
        let value = entry.map(|entry| {
            let until = entry.until.unwrap_or(now + RUNNING);
            (record::written(key, entry, (ttl, now)).into(), until)
        });
        let step = entry.map_or(0, |entry| entry.step);
        self.later(calls, record::name(key), Pending { token: *token, step, value })
    }

    /// Forgets a key that may have been taken, when the store is there again.
    pub(super) fn forget_later(&self, calls: &Arc<KeptCalls>, name: Vec<u8>, token: Token) {
        let _ = self.later(calls, name, Pending { token, step: 0, value: None });
    }

    fn later(&self, calls: &Arc<KeptCalls>, name: Vec<u8>, pending: Pending) -> Written {
        let mut all = self.pending();
        if pending.value.is_none() && all.len() >= MOST_FORGOTTEN {
            return Written::default();
        }
        all.insert(name.clone(), pending);
        drop(all);
        let (done, written) = Written::later();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return written };
        let calls = Arc::clone(calls);
        runtime.spawn(async move {
            if let Backing::Shared(sharing) = &calls.backing
                && sharing.flush(&calls, &name).await
            {
                let _ = done.send(());
            }
        });
        written
    }

    /// Writes what is to be written of a key. Whether nothing is left.
    pub(super) async fn flush(&self, calls: &KeptCalls, name: &[u8]) -> bool {
        let pending = || self.pending().get(name).cloned();
        if pending().is_none() {
            return true;
        }
        let _gate = self.gate(name).lock().await;
        let Some(Pending { token, step, value }) = pending() else { return true };
        let done = match &value {
            None => self.store.forget(name, &token).await.map(|()| true),
            Some((record, until)) => {
                let keep = until.saturating_duration_since(Instant::now());
                let is_leased = false;
                self.store.put(name, shared::Written { token: &token, record, is_leased, keep, step }).await
            }
        };
        let Ok(is_ours) = done else { return false };
        if !is_ours {
            self.note_conflict(calls, name, token);
        }
        let mut all = self.pending();
        if all.get(name).is_some_and(|pending| pending.token == token) {
            all.remove(name);
        }
        true
    }

    /// Another gateway has the key. It may have gone on with a question that this one asked.
    fn note_conflict(&self, calls: &KeptCalls, name: &[u8], token: Token) {
        let state = calls.state();
        let has_run = |entry: &Entry| !matches!(entry.status, Status::Claiming(_) | Status::Asked(_));
        let mut held = state.entries.iter().filter(|(_, entry)| entry.token == token && has_run(entry));
        let held = held.any(|(key, _)| record::name(key) == name);
        drop(state);
        if held {
            self.conflicts.fetch_add(1, Ordering::Relaxed);
            tracing::error!("a call with an idempotency key ran at two gateways while the store was away");
        }
    }

    /// Writes all that this gateway knows to a memory that may not have it.
    async fn write_all(&self, calls: &KeptCalls) -> bool {
        let keys: Vec<_> = calls.state().entries.keys().cloned().collect();
        let written = stream::iter(keys).map(|key| self.write_again(calls, key)).buffer_unordered(AT_ONCE);
        written.all(|written| async move { written }).await
    }

    async fn write_again(&self, calls: &KeptCalls, key: CallKey) -> bool {
        let name = record::name(&key);
        if !self.flush(calls, &name).await {
            return false;
        }
        let _gate = self.gate(&name).lock().await;
        let Some(Known { record, until, token, step, is_leased }) = known(calls, &key) else { return true };
        if self.pending().contains_key(&name) {
            // It has just ended, and is written by the next one at the gate.
            return true;
        }
        let keep = until.map_or(RUNNING, |until| until.saturating_duration_since(Instant::now()));
        let written = shared::Written { token: &token, record: &record, is_leased, keep, step };
        match self.store.put(&name, written).await {
            Ok(true) => true,
            Ok(false) => {
                self.note_conflict(calls, &name, token);
                true
            }
            Err(_) => false,
        }
    }

    /// Writes what could not be written, and says that calls still run.
    async fn keep_up(&self, calls: &KeptCalls) {
        let names: Vec<_> = self.pending().keys().cloned().collect();
        stream::iter(names)
            .for_each_concurrent(AT_ONCE, |name| async move {
                self.flush(calls, &name).await;
            })
            .await;
        let running: Vec<_> = {
            let state = calls.state();
            let running = state.entries.iter().filter(|(_, entry)| matches!(entry.status, Status::Running(_)));
            running.map(|(key, entry)| (record::name(key), entry.token)).collect()
        };
        stream::iter(running)
            .for_each_concurrent(AT_ONCE, |(name, token)| async move {
                let _ = self.store.renew(&name, &token).await;
            })
            .await;
    }
}

/// What this gateway knows of a key that the store may not.
struct Known {
    record: Vec<u8>,
    until: Option<Instant>,
    token: Token,
    step: u64,
    is_leased: bool,
}

fn known(calls: &KeptCalls, key: &CallKey) -> Option<Known> {
    let state = calls.state();
    let entry = state.entries.get(key)?;
    let (now, token, step) = (Instant::now(), entry.token, entry.step);
    if let Status::Claiming(_) = entry.status {
        // Before it is claimed, the question is still open.
        let status = Status::Asked(entry.asked.clone()?);
        let asked = Entry { digest: entry.digest, status, asked: None, until: None, token, step };
        let record = record::written(key, &asked, (RUNNING, now));
        return Some(Known { record, until: None, token, step, is_leased: false });
    }
    let record = record::written(key, entry, (RUNNING, now));
    Some(Known { record, until: entry.until, token, step, is_leased: entry.is_running() })
}

/// Writes what could not be written yet, before the gateway ends.
pub(super) async fn finish(calls: &KeptCalls) {
    if let Backing::Shared(sharing) = &calls.backing {
        let _ = tokio::time::timeout(LAST, sharing.keep_up(calls)).await;
    }
}

/// Keeps the store up to date, for as long as the calls are kept.
pub(super) fn keep_written(calls: &Arc<KeptCalls>) {
    let Backing::Shared(sharing) = &calls.backing else { return };
    tokio::spawn(run(Arc::downgrade(calls), sharing.store.epoch()));
}

async fn run(calls: Weak<KeptCalls>, mut epochs: watch::Receiver<Option<Epoch>>) {
    let mut patience = LEASE / 3;
    loop {
        if let Ok(Err(_)) = tokio::time::timeout(patience, epochs.changed()).await {
            return;
        }
        let Some(calls) = calls.upgrade() else { return };
        let Backing::Shared(sharing) = &calls.backing else { return };
        let epoch = epochs.borrow_and_update().clone();
        let complete = sharing.written_to();
        patience = LEASE / 3;
        match epoch {
            None => drop(sharing.complete.send_replace(None)),
            Some(epoch) if complete.as_ref() == Some(&epoch) => sharing.keep_up(&calls).await,
            Some(epoch) => {
                sharing.complete.send_replace(None);
                if sharing.write_all(&calls).await {
                    sharing.complete.send_replace(Some(epoch));
                } else {
                    patience = PAUSE;
                }
            }
        }
    }
}
