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
use sha2::{Digest as _, Sha256};
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
/// How many bytes a key costs besides its texts and its result.
const OVERHEAD: usize = 512;
/// The longest name of a tool, in bytes: a client may make one up.
const LONGEST_NAME: usize = 1024;

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

impl CallKey {
    fn bytes(&self) -> usize {
        let principal = self.principal.as_ref().map_or(0, HeaderValue::len);
        principal + self.server.len() + self.upstream.len() + self.tool.len() + self.key.len()
    }
}

/// An answer without the id of its request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KeptAnswer {
    /// The revision of the client that got it.
    pub(crate) revision: Revision,
    pub(crate) text: String,
    pub(crate) code: Option<i64>,
}

impl KeptAnswer {
    /// The state that a question came with.
    fn state(&self) -> Option<StateDigest> {
        match parse(self.text.as_bytes()) {
            Ok(Packet::Message(message)) => state_of(&message),
            _ => None,
        }
    }
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
                let outcome = || message.error().and_then(|error| error.get("data")?.get("outcome")?.as_str());
                // What a server calls an outcome is not ours.
                match (outcome().filter(|_| answer.is_own_error()), answer.code()) {
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
    /// It waits for the client's next request.
    Asked(Asked),
    Ended(Arc<KeptAnswer>),
    TooLarge,
    Unknown,
}

/// What a client was asked.
#[derive(Clone)]
struct Asked {
    /// If there was room for it.
    answer: Option<Arc<KeptAnswer>>,
    state: Option<StateDigest>,
}

/// SHA-256 of a `requestState`.
type StateDigest = [u8; 32];

/// What a call brings that answers questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    state: Option<StateDigest>,
}

impl Round {
    /// The round of a call; nothing where it answers nothing.
    pub(crate) fn of(message: &Message) -> Option<Self> {
        let brings = |name: &str| message.body_member(name).is_some_and(|value| value != "null");
        (brings("inputResponses") || brings("requestState")).then(|| Self { state: state_of(message) })
    }

    /// Whether it comes from the question that is open. With another state, the call would begin a second time.
    fn fits(self, asked: &Asked) -> bool {
        self.state == asked.state
    }
}

fn state_of(message: &Message) -> Option<StateDigest> {
    message.string_member("requestState").map(|state| Sha256::digest(state.as_bytes()).into())
}

struct Entry {
    digest: RequestDigest,
    status: Status,
    /// What the client was asked in the round before: a refused answer changes nothing.
    asked: Option<Asked>,
    /// Nothing while it runs.
    until: Option<Instant>,
}

impl Entry {
    const fn is_running(&self) -> bool {
        matches!(self.status, Status::Running(_))
    }

    fn kept_bytes(&self) -> usize {
        match &self.status {
            Status::Ended(answer) | Status::Asked(Asked { answer: Some(answer), .. }) => answer.text.len(),
            _ => 0,
        }
    }

    /// What it costs under `key`.
    fn bytes(&self, key: &CallKey) -> usize {
        OVERHEAD + key.bytes() + self.kept_bytes()
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
                    state.bytes += entry.bytes(&key);
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

    /// A call with a key comes.
    pub(crate) fn begin(
        self: &Arc<Self>,
        key: CallKey,
        (digest, round): (RequestDigest, Option<Round>),
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
            if let Some(full) = state.lacks(&key, settings, now) {
                return Begun::Refused(full);
            }
            let entry = Entry { digest, status: Status::Running(receiver), asked: None, until: None };
            state.bytes += entry.bytes(&key);
            state.running += 1;
            state.entries.insert(key.clone(), entry);
            return Begun::Run(running(&state, key));
        };
        if entry.digest != digest {
            return Begun::Refused(failure::IDEMPOTENCY_CONFLICT);
        }
        match &entry.status {
            Status::Running(running) => Begun::Wait(running.clone()),
            Status::Asked(asked) if round.is_some_and(|round| round.fits(asked)) => {
                let (asked, freed) = (asked.clone(), entry.kept_bytes());
                if !state.may_run(&key) {
                    return Begun::Refused(failure::IDEMPOTENCY_BUSY);
                }
                let Some(entry) = state.entries.get_mut(&key) else {
                    return Begun::Refused(failure::IDEMPOTENCY_UNKNOWN);
                };
                entry.asked = Some(asked);
                (entry.status, entry.until) = (Status::Running(receiver), None);
                state.bytes -= freed;
                state.running += 1;
                Begun::Run(running(&state, key))
            }
            Status::Asked(Asked { answer: Some(answer), .. }) | Status::Ended(answer) => {
                Begun::Answered(Arc::clone(answer))
            }
            Status::TooLarge => Begun::Refused(failure::IDEMPOTENCY_TOO_LARGE),
            Status::Asked(Asked { answer: None, .. }) | Status::Unknown => Begun::Refused(failure::IDEMPOTENCY_UNKNOWN),
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
            self.bytes -= entry.bytes(key);
        }
    }

    /// Forgets keys whose time is over, and names them.
    fn sweep(&mut self, now: Instant) -> Vec<CallKey> {
        let over = |_: &CallKey, entry: &mut Entry| entry.until.is_some_and(|until| until <= now);
        let forgotten: Vec<_> = self.entries.extract_if(over).collect();
        self.bytes -= forgotten.iter().map(|(key, entry)| entry.bytes(key)).sum::<usize>();
        forgotten.into_iter().map(|(key, _)| key).collect()
    }

    /// Why one more key cannot be kept. A key is never given up for another one: its call could run twice.
    fn lacks(&mut self, key: &CallKey, settings: &IdempotencySettings, now: Instant) -> Option<Failure> {
        if key.tool.len() > LONGEST_NAME {
            return Some(failure::IDEMPOTENCY_KEY_INVALID);
        }
        let cost = OVERHEAD + key.bytes();
        let fits = |state: &Self| {
            state.fits(key, 1, (state.entries.len(), settings.entries), |_, _| 1)
                && state.has_bytes(key, cost, settings.bytes)
        };
        if !fits(self) {
            self.sweep(now);
            if !fits(self) {
                return Some(failure::IDEMPOTENCY_FULL);
            }
        }
        (!self.may_run(key)).then_some(failure::IDEMPOTENCY_BUSY)
    }

    /// Whether one more call may run.
    fn may_run(&self, key: &CallKey) -> bool {
        self.fits(key, 1, (self.running, MOST_RUNNING), |_, entry| usize::from(entry.is_running()))
    }

    /// Whether there is room for more of what `count` counts, of which there is `now` and may be `most`: in all, and for the
    /// principal of `key`.
    fn fits(
        &self,
        key: &CallKey,
        more: usize,
        (now, most): (usize, usize),
        count: impl Fn(&CallKey, &Entry) -> usize,
    ) -> bool {
        if now + more > most {
            return false;
        }
        // While most of it is free, nobody is in need.
        if key.principal.is_none() || now + more <= most / 4 {
            return true;
        }
        let of_principal = self.entries.iter().filter(|(other, _)| other.principal == key.principal);
        let own: usize = of_principal.map(|(key, entry)| count(key, entry)).sum();
        // Three quarters of what others leave: however many have all that they may, there is something for the next one.
        let left = most - (now - own);
        own + more <= (left - left / 4).max(1)
    }

    /// Whether a result of this size can be kept.
    fn has_bytes(&self, key: &CallKey, more: usize, most: usize) -> bool {
        self.fits(key, more, (self.bytes, most), |key, entry| entry.bytes(key))
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
        std::mem::take(&mut self.begun).outlives_crash().await
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
            (CallEnd::NotRun, Some(asked)) => Some(Status::Asked(asked)),
            (CallEnd::NotRun, None) => None,
            (CallEnd::Unknown, _) => Some(Status::Unknown),
            (CallEnd::Asked, _) => Some(Status::Asked(Asked {
                answer: kept.clone().filter(|_| room),
                state: kept.as_ref().and_then(|kept| kept.state()),
            })),
            (CallEnd::Definite, _) => Some(kept.clone().filter(|_| room).map_or(Status::TooLarge, Status::Ended)),
        };
        match status {
            None => state.remove(&self.key),
            Some(status) => {
                let until = Some(now + self.settings.ttl);
                if let Some(entry) = state.entries.get_mut(&self.key) {
                    let before = entry.kept_bytes();
                    (entry.status, entry.until) = (status, until);
                    let after = entry.kept_bytes();
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
