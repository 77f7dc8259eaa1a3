//! What several gateways share through a Redis or Valkey. Every operation has a time limit and may fail; what follows from
//! that, callers decide. Must not know what the values say.

mod consent_scripts;
mod consents;
mod limits;
mod link;
mod replicas;
mod scripts;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use redis::{Cmd, FromRedisValue, Value, from_redis_value};
use tokio::task::AbortHandle;

pub(crate) use self::consents::Leased;
pub(crate) use self::limits::{CostLent, CountName, RateWanted, RatesLent, SharedAccount};
pub(crate) use self::link::Epoch;
use self::link::Link;
pub(crate) use self::link::Published;
use crate::settings::SharedStoreSettings;

/// What stands before the names of all keys.
const PREFIX: &str = "proof-gateway:";
/// For how long a running call is its owner's without a word from it.
pub(crate) const LEASE: Duration = Duration::from_secs(6);
/// For how long a running call is known at all.
pub(crate) const RUNNING: Duration = Duration::from_hours(24);

/// How soon it is tried again to publish what could not be.
const NEWS: Duration = Duration::from_millis(100);

/// The store is not there, or does not do what it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Away;

/// Who runs a call: no two calls have the same.
pub(crate) type Token = [u8; 16];

/// What came of an attempt to take a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It is ours.
    Free,
    /// It was there already.
    Held(Held),
    /// The store lost what it knew: nobody takes a key before all have written again what they know.
    Recovering(Duration),
}

/// A key that was there already.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) token: Vec<u8>,
    pub(crate) record: Vec<u8>,
    /// It runs, and its owner was heard of a moment ago.
    pub(crate) is_leased: bool,
    pub(crate) step: u64,
}

/// What is written of a key.
pub(crate) struct Written<'r> {
    pub(crate) token: &'r Token,
    pub(crate) record: &'r [u8],
    /// It runs.
    pub(crate) is_leased: bool,
    pub(crate) keep: Duration,
    /// How often something came of the key.
    pub(crate) step: u64,
}

/// A store that gateways share.
pub(crate) struct SharedStore {
    link: Arc<Link>,
    connecting: AbortHandle,
    /// What it calls itself to the other gateways.
    id: String,
    /// Operations that failed.
    failed: AtomicU64,
    /// The other gateways missed something of this one's.
    owes_news: AtomicBool,
}

impl SharedStore {
    /// Connects in the background, and again whenever the connection is lost.
    pub(crate) fn open(settings: &SharedStoreSettings) -> Self {
        let (link, connecting) = Link::start(settings);
        Self { link, connecting, id: oauth::random(), failed: AtomicU64::new(0), owes_news: AtomicBool::new(false) }
    }

    /// Whether it is there, as far as is known; and how often it was not.
    pub(crate) fn counts(&self) -> (bool, u64, u64) {
        let (lost, failed) = (self.link.lost(), self.failed.load(Ordering::Relaxed));
        (self.link.epoch().borrow().is_some(), lost, failed)
    }

    /// Which memory the store has; nothing while it is away. With another one, everything must be written again.
    pub(crate) fn epoch(&self) -> tokio::sync::watch::Receiver<Option<Epoch>> {
        self.link.epoch()
    }

    /// What other gateways publish.
    pub(crate) fn published(&self) -> tokio::sync::broadcast::Receiver<Published> {
        self.link.published()
    }

    /// What this gateway calls itself.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Whether it hears what the others publish.
    pub(crate) fn is_heard(&self) -> bool {
        self.link.epoch().borrow().is_some()
    }

    /// Publishes something to the other gateways.
    pub(crate) async fn publish(&self, what: &str) -> Result<(), Away> {
        let mut command = redis::cmd("PUBLISH");
        command.arg(self.link.channel()).arg(what);
        self.run::<i64>(&command).await.map(|_| ())
    }

    /// Publishes something later that could not be published, when the store is there again; once for all that was missed.
    pub(crate) fn publish_later(self: &Arc<Self>, what: String) {
        if self.owes_news.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(NEWS).await;
                // What is missed from now on is owed again.
                shared.owes_news.store(false, Ordering::Release);
                if shared.publish(&what).await.is_ok() || shared.owes_news.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
        });
    }

    /// Takes a new key for a call that runs.
    pub(crate) async fn take(&self, name: &[u8], epoch: &Epoch, written: Written<'_>) -> Result<Taken, Away> {
        let mut command = scripts::command(scripts::TAKE, &[&key(name), &epoch_key()]);
        command.arg(&written.token[..]).arg(written.record).arg(millis(LEASE)).arg(millis(written.keep));
        command.arg(&*epoch.id);
        let reply: Vec<Value> = self.run(&command).await?;
        taken(reply).ok_or(Away)
    }

    /// Writes what became of a key, or of one that the store lost. Whether nobody else has more of it.
    pub(crate) async fn put(&self, name: &[u8], written: Written<'_>) -> Result<bool, Away> {
        let mut command = scripts::command(scripts::PUT, &[&key(name), &epoch_key()]);
        command.arg(&written.token[..]).arg(written.record);
        command.arg(if written.is_leased { millis(LEASE) } else { 0 }).arg(millis(written.keep));
        command.arg(link::GRACE_MS).arg(written.step);
        Ok(self.run::<i64>(&command).await? == 1)
    }

    /// Goes on with a key that waits: it was `held`, and is ours now. Whether nobody was faster.
    pub(crate) async fn go_on(&self, name: &[u8], held: &Held, written: Written<'_>) -> Result<bool, Away> {
        let mut command = scripts::command(scripts::GO_ON, &[&key(name)]);
        command.arg(&*held.token).arg(&*held.record).arg(&written.token[..]).arg(written.record);
        command.arg(millis(LEASE)).arg(millis(written.keep)).arg(written.step);
        Ok(self.run::<i64>(&command).await? == 1)
    }

    /// Writes what became of a call whose owner is gone. The owner may still correct it: it keeps its token.
    pub(crate) async fn bury(&self, name: &[u8], held: &Held, record: &[u8], keep: Duration) -> Result<(), Away> {
        let mut command = scripts::command(scripts::BURY, &[&key(name)]);
        command.arg(&*held.token).arg(record).arg(millis(keep));
        self.run::<i64>(&command).await.map(|_| ())
    }

    /// Forgets a key of ours.
    pub(crate) async fn forget(&self, name: &[u8], token: &Token) -> Result<(), Away> {
        let mut command = scripts::command(scripts::FORGET, &[&key(name)]);
        command.arg(&token[..]);
        self.run::<i64>(&command).await.map(|_| ())
    }

    /// Says that a call still runs.
    pub(crate) async fn renew(&self, name: &[u8], token: &Token) -> Result<(), Away> {
        let mut command = scripts::command(scripts::RENEW, &[&key(name)]);
        command.arg(&token[..]).arg(millis(LEASE)).arg(millis(RUNNING));
        self.run::<i64>(&command).await.map(|_| ())
    }

    /// A session begins; whether it is new. One that was there ends.
    pub(crate) async fn begin_session(&self, id: &str, keep: Duration) -> Result<bool, Away> {
        let mut command = scripts::command(scripts::BEGIN_SESSION, &[&session_key(id)]);
        command.arg(millis(keep));
        Ok(self.run::<i64>(&command).await? == 1)
    }

    /// The refresh token with this number is used; whether it was the newest. The session ends where it was not.
    pub(crate) async fn advance_session(&self, id: &str, generation: u64) -> Result<bool, Away> {
        let mut command = scripts::command(scripts::ADVANCE_SESSION, &[&session_key(id)]);
        command.arg(generation).arg(generation.saturating_add(1));
        Ok(self.run::<i64>(&command).await? == 1)
    }

    /// Ends a session.
    pub(crate) async fn end_session(&self, id: &str) -> Result<(), Away> {
        let command = scripts::command(scripts::END_SESSION, &[&session_key(id)]);
        self.run::<i64>(&command).await.map(|_| ())
    }

    /// Whether a session goes on.
    pub(crate) async fn has_session(&self, id: &str) -> Result<bool, Away> {
        let mut command = redis::cmd("GET");
        command.arg(session_key(id));
        let found: Option<Vec<u8>> = self.run(&command).await?;
        Ok(found.is_some_and(|found| found != scripts::ENDED.as_bytes()))
    }

    async fn run<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Away> {
        let done = self.link.run(command).await;
        if done.is_err() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        done
    }
}

impl std::fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedStore").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Drop for SharedStore {
    fn drop(&mut self) {
        self.connecting.abort();
    }
}

fn key(name: &[u8]) -> Vec<u8> {
    [PREFIX.as_bytes(), b"call:", name].concat()
}

fn session_key(id: &str) -> Vec<u8> {
    [PREFIX.as_bytes(), b"session:", id.as_bytes()].concat()
}

fn epoch_key() -> Vec<u8> {
    [PREFIX.as_bytes(), b"epoch"].concat()
}

fn millis(time: Duration) -> u64 {
    (time.as_millis() as u64).max(1)
}

fn taken(reply: Vec<Value>) -> Option<Taken> {
    let mut reply = reply.into_iter();
    let kind: i64 = from_redis_value(reply.next()?).ok()?;
    let mut bytes = || from_redis_value::<Vec<u8>>(reply.next()?).ok();
    match kind {
        0 => Some(Taken::Free),
        1 => {
            let (token, record) = (bytes()?, bytes()?);
            let is_leased = from_redis_value::<i64>(reply.next()?).ok()? > 0;
            let step = from_redis_value(reply.next()?).ok()?;
            Some(Taken::Held(Held { token, record, is_leased, step }))
        }
        _ => {
            let left = from_redis_value::<u64>(reply.next()?).ok()?;
            Some(Taken::Recovering(Duration::from_millis(left)))
        }
    }
}
