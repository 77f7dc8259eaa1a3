//! Calls with an idempotency key run once: which key a call has, and what came of it. Kept in memory, and in a store where there
//! is one. Must not know how a call runs.

mod record;

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use net::service::{Answer, Call, code};
use tokio::sync::watch;
use wire::json::unquote;
use wire::message::{Packet, parse};
use wire::splice::{member, members};
use wire::{Kind, Message, Revision, meta};

use super::request::{KEY_ARGUMENT, RequestDigest};
use super::store::{Store, Written};
use crate::failure::{self, Failure};
use crate::settings::IdempotencySettings;

/// The header that may hold a key.
const HEADER: &str = "idempotency-key";
/// The longest key, in characters.
const LONGEST: usize = 255;
/// The most calls with a key that run at the same time: they go on when their clients leave.
const MOST_RUNNING: usize = 1024;
/// How many bytes a key costs besides its result.
const OVERHEAD: usize = 512;

/// A key that a client gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenKey {
    pub(crate) text: String,
    /// It is an argument of the tool.
    pub(crate) is_argument: bool,
}

/// The key of a call; what is wrong with it otherwise.
pub(crate) fn key_of(call: &Call) -> Result<Option<GivenKey>, String> {
    let argument = argument_of(&call.message)?;
    let is_argument = argument.is_some();
    let of_meta = match call.message.meta().and_then(|all| all.get(meta::IDEMPOTENCY_KEY)) {
        Some(value) => Some(value.as_str().ok_or("the key in `_meta` is not a string")?.to_owned()),
        None => None,
    };
    let mut keys: Vec<String> = argument.into_iter().chain(of_meta).collect();
    for value in call.context.headers.iter().flat_map(|headers| headers.get_all(HEADER)) {
        let text = value.to_str().map_err(|_| "the header `Idempotency-Key` is not plain text")?.trim();
        // As a string of RFC 8941, or as it is.
        let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
        keys.push(text.to_owned());
    }
    let Some(text) = keys.pop() else { return Ok(None) };
    if keys.iter().any(|other| *other != text) {
        return Err("the call has several keys".to_owned());
    }
    if text.is_empty() || text.len() > LONGEST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!("a key has 1 to {LONGEST} visible ASCII characters"));
    }
    Ok(Some(GivenKey { text, is_argument }))
}

fn argument_of(message: &Message) -> Result<Option<String>, String> {
    let Some(arguments) = message.body_member("arguments") else { return Ok(None) };
    let Some(all) = members(arguments) else { return Ok(None) };
    let Some(found) = member(arguments, &all, KEY_ARGUMENT) else { return Ok(None) };
    match &arguments[found.value.clone()] {
        text if text.starts_with('"') => Ok(Some(unquote(text).into_owned())),
        _ => Err(format!("the argument `{KEY_ARGUMENT}` is not a string")),
    }
}

/// What a key belongs to. The same text of another principal, server or tool is another key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallKey {
    /// Whose token the client has. Without tokens, all clients are one.
    pub(crate) principal: Option<HeaderValue>,
    /// The server that clients see.
    pub(crate) server: String,
    /// The upstream, and the tool as it calls it.
    pub(crate) upstream: String,
    pub(crate) tool: String,
    pub(crate) key: String,
}

/// An answer without the id of its request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KeptAnswer {
    /// The revision of the client that got it.
    pub(crate) revision: Revision,
    pub(crate) text: String,
    pub(crate) code: Option<i64>,
}

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallEnd {
    Definite,
    /// The client has to answer something first.
    Asked,
    NotRun,
    Unknown,
}

impl CallEnd {
    fn of(answer: &Answer) -> Self {
        let Ok(Packet::Message(message)) = parse(answer.text()) else { return Self::Unknown };
        match message.kind() {
            Kind::Result if message.string_member("resultType").as_deref() == Some("input_required") => Self::Asked,
            Kind::Result => Self::Definite,
            Kind::Error => {
                let outcome = message.error().and_then(|error| error.get("data")?.get("outcome")?.as_str());
                match (outcome, answer.code()) {
                    (Some("unknown"), _) => Self::Unknown,
                    (Some("not run"), _) => Self::NotRun,
                    // By these codes a server says that it did not begin.
                    (_, Some(code)) if REFUSALS.contains(&code) => Self::NotRun,
                    _ => Self::Definite,
                }
            }
            _ => Self::Unknown,
        }
    }
}

const REFUSALS: [i64; 8] = [
    code::PARSE_ERROR,
    code::INVALID_REQUEST,
    code::METHOD_NOT_FOUND,
    code::INVALID_PARAMS,
    code::HEADER_MISMATCH,
    code::MISSING_CLIENT_CAPABILITY,
    code::UNSUPPORTED_VERSION,
    // The call has ended, and is to be sent again.
    code::URL_ELICITATION_REQUIRED,
];

/// How a call stands that others wait for.
#[derive(Clone, Debug)]
pub(crate) enum Progress {
    Running,
    Answered(Arc<KeptAnswer>),
    Unknown,
}

enum Status {
    Running(watch::Receiver<Progress>),
    /// It waits for the client's next request; what was asked, if there was room.
    Asked(Option<Arc<KeptAnswer>>),
    Ended(Arc<KeptAnswer>),
    TooLarge,
    Unknown,
}

/// What a client was asked, if there was room for it.
struct AskedBefore(Option<Arc<KeptAnswer>>);

struct Entry {
    digest: RequestDigest,
    status: Status,
    /// What the client was asked in the round before: a refused answer changes nothing.
    asked: Option<AskedBefore>,
    /// Nothing while it runs.
    until: Option<Instant>,
}

impl Entry {
    const fn is_running(&self) -> bool {
        matches!(self.status, Status::Running(_))
    }

    fn bytes(&self) -> usize {
        let kept = match &self.status {
            Status::Ended(answer) | Status::Asked(Some(answer)) => answer.text.len(),
            _ => 0,
        };
        OVERHEAD + kept
    }
}

#[derive(Default)]
struct State {
    entries: HashMap<CallKey, Entry>,
    bytes: usize,
    running: usize,
}

/// What becomes of a call with a key.
pub(crate) enum Begun {
    /// It runs.
    Run(RunningCall),
    /// Another one with the same key runs.
    Wait(watch::Receiver<Progress>),
    /// It has run.
    Answered(Arc<KeptAnswer>),
    Refused(Failure),
}

/// What came of calls with a key.
#[derive(Default)]
pub(crate) struct KeptCalls {
    state: Mutex<State>,
    replayed: AtomicU64,
    store: Option<Store>,
}

impl KeptCalls {
    /// What the store in `folder` holds, and all that is added to it.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let (store, pairs) = Store::open(folder)?;
        let (now, mut state) = (Instant::now(), State::default());
        for (name, value) in pairs {
            match record::read(&value, now) {
                Ok(Some((key, entry))) => {
                    state.bytes += entry.bytes();
                    state.entries.insert(key, entry);
                }
                Ok(None) => store.forget(name),
                Err(_) => return Err(io::Error::other("it holds what this version of the gateway cannot read")),
            }
        }
        Ok(Self { state: Mutex::new(state), replayed: AtomicU64::new(0), store: Some(store) })
    }

    /// Writes what waits, and closes the store.
    pub(crate) fn close(&self) {
        if let Some(store) = &self.store {
            store.close();
        }
    }

    /// Writes how a key stands now. To be called while the state is locked: the order is that of what happened.
    fn write(&self, state: &State, key: &CallKey, (ttl, now): (Duration, Instant)) -> Written {
        let Some(store) = &self.store else { return Written::default() };
        let value = state.entries.get(key).map(|entry| record::written(key, entry, (ttl, now)));
        store.set(record::name(key), value)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call with a key comes; `is_round` where it answers what the server asked.
    pub(crate) fn begin(
        self: &Arc<Self>,
        key: CallKey,
        (digest, is_round): (RequestDigest, bool),
        settings: &IdempotencySettings,
        now: Instant,
    ) -> Begun {
        let mut state = self.state();
        if state.entries.get(&key).is_some_and(|entry| entry.until.is_some_and(|until| until <= now)) {
            state.remove(&key);
        }
        let (sender, receiver) = watch::channel(Progress::Running);
        let running = |state: &State, key: CallKey| {
            let begun = self.write(state, &key, (settings.ttl, now));
            RunningCall { calls: Arc::clone(self), key, settings: settings.clone(), sender, begun, over: false }
        };
        let Some(entry) = state.entries.get_mut(&key) else {
            if !state.has_room(&key, settings, now) {
                return Begun::Refused(failure::IDEMPOTENCY_FULL);
            }
            let entry = Entry { digest, status: Status::Running(receiver), asked: None, until: None };
            state.bytes += entry.bytes();
            state.running += 1;
            state.entries.insert(key.clone(), entry);
            return Begun::Run(running(&state, key));
        };
        if entry.digest != digest {
            return Begun::Refused(failure::IDEMPOTENCY_CONFLICT);
        }
        match &entry.status {
            Status::Running(running) => Begun::Wait(running.clone()),
            Status::Asked(asked) if is_round => {
                let (asked, freed) = (asked.clone(), entry.bytes() - OVERHEAD);
                entry.asked = Some(AskedBefore(asked));
                (entry.status, entry.until) = (Status::Running(receiver), None);
                state.bytes -= freed;
                state.running += 1;
                Begun::Run(running(&state, key))
            }
            Status::Asked(Some(answer)) | Status::Ended(answer) => Begun::Answered(Arc::clone(answer)),
            Status::TooLarge => Begun::Refused(failure::IDEMPOTENCY_TOO_LARGE),
            Status::Asked(None) | Status::Unknown => Begun::Refused(failure::IDEMPOTENCY_UNKNOWN),
        }
    }

    /// A kept answer goes to another request.
    pub(crate) fn note_replayed(&self) {
        self.replayed.fetch_add(1, Ordering::Relaxed);
    }

    /// Forgets keys whose time is over.
    pub(crate) fn sweep(&self, now: Instant) {
        let mut state = self.state();
        for key in state.sweep(now) {
            if let Some(store) = &self.store {
                store.forget(record::name(&key));
            }
        }
    }

    /// How many keys are kept, how many bytes, and how many calls were answered so.
    pub(crate) fn counts(&self) -> (usize, usize, u64) {
        let state = self.state();
        (state.entries.len(), state.bytes, self.replayed.load(Ordering::Relaxed))
    }
}

impl State {
    fn remove(&mut self, key: &CallKey) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.bytes();
        }
    }

    /// Forgets keys whose time is over, and names them.
    fn sweep(&mut self, now: Instant) -> Vec<CallKey> {
        let over = |_: &CallKey, entry: &mut Entry| entry.until.is_some_and(|until| until <= now);
        let forgotten: Vec<_> = self.entries.extract_if(over).collect();
        self.bytes -= forgotten.iter().map(|(_, entry)| entry.bytes()).sum::<usize>();
        forgotten.into_iter().map(|(key, _)| key).collect()
    }

    /// Whether one more key can be kept. A key is never given up for another one: its call could run twice.
    fn has_room(&mut self, key: &CallKey, settings: &IdempotencySettings, now: Instant) -> bool {
        if self.entries.len() >= settings.entries {
            self.sweep(now);
        }
        let running = |entry: &Entry| usize::from(entry.is_running());
        self.fits(key, 1, (self.entries.len(), settings.entries), |_| 1)
            && self.fits(key, 1, (self.running, MOST_RUNNING), running)
    }

    /// Whether there is room for more of what `count` counts, of which there is `now` and may be `most`: in all, and for the
    /// principal of `key`.
    fn fits(&self, key: &CallKey, more: usize, (now, most): (usize, usize), count: impl Fn(&Entry) -> usize) -> bool {
        if now + more > most {
            return false;
        }
        // One principal must not have so much that nothing is left for others.
        let share = (most - most / 4).max(1);
        if key.principal.is_none() || now + more <= share {
            return true;
        }
        let own = self.entries.iter().filter(|(other, _)| other.principal == key.principal);
        own.map(|(_, entry)| count(entry)).sum::<usize>() + more <= share
    }

    /// Whether a result of this size can be kept.
    fn has_bytes(&self, key: &CallKey, more: usize, most: usize) -> bool {
        self.fits(key, more, (self.bytes, most), Entry::bytes)
    }
}

/// A call that runs. Dropped before its end, its outcome is unknown.
pub(crate) struct RunningCall {
    calls: Arc<KeptCalls>,
    key: CallKey,
    settings: IdempotencySettings,
    sender: watch::Sender<Progress>,
    /// That it runs is being written.
    begun: Written,
    over: bool,
}

impl RunningCall {
    /// Waits until it outlives a crash that the call runs; whether it does. Otherwise the call must not run.
    pub(crate) async fn is_recorded(&mut self) -> bool {
        std::mem::take(&mut self.begun).is_kept().await
    }

    /// The call was answered to a client of `revision`. What is returned is over when that outlives a crash.
    pub(crate) fn end(mut self, answer: &Answer, revision: Revision, now: Instant) -> Written {
        let text = String::from_utf8_lossy(answer.text()).into_owned();
        let kept = Arc::new(KeptAnswer { revision, text, code: answer.code() });
        self.settle(CallEnd::of(answer), Some(kept), now)
    }

    fn settle(&mut self, end: CallEnd, kept: Option<Arc<KeptAnswer>>, now: Instant) -> Written {
        self.over = true;
        let mut state = self.calls.state();
        state.running -= 1;
        let room = kept.as_ref().is_some_and(|kept| state.has_bytes(&self.key, kept.text.len(), self.settings.bytes));
        let before = state.entries.get_mut(&self.key).and_then(|entry| entry.asked.take());
        let status = match (end, before) {
            (CallEnd::NotRun, Some(AskedBefore(asked))) => Some(Status::Asked(asked)),
            (CallEnd::NotRun, None) => None,
            (CallEnd::Unknown, _) => Some(Status::Unknown),
            (CallEnd::Asked, _) => Some(Status::Asked(kept.clone().filter(|_| room))),
            (CallEnd::Definite, _) => Some(kept.clone().filter(|_| room).map_or(Status::TooLarge, Status::Ended)),
        };
        match status {
            None => state.remove(&self.key),
            Some(status) => {
                let until = Some(now + self.settings.ttl);
                if let Some(entry) = state.entries.get_mut(&self.key) {
                    let before = entry.bytes();
                    (entry.status, entry.until) = (status, until);
                    let after = entry.bytes();
                    state.bytes = state.bytes + after - before;
                }
            }
        }
        let written = self.calls.write(&state, &self.key, (self.settings.ttl, now));
        drop(state);
        let progress = match kept {
            Some(kept) if end != CallEnd::Unknown => Progress::Answered(kept),
            _ => Progress::Unknown,
        };
        self.sender.send_replace(progress);
        written
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if !self.over {
            let _ = self.settle(CallEnd::Unknown, None, Instant::now());
        }
    }
}

/// Waits for the end of a call that runs. `None` where its outcome is unknown.
pub(crate) async fn awaited(mut running: watch::Receiver<Progress>) -> Option<Arc<KeptAnswer>> {
    let ended = running.wait_for(|progress| !matches!(progress, Progress::Running)).await.ok()?;
    match &*ended {
        Progress::Answered(answer) => Some(Arc::clone(answer)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
