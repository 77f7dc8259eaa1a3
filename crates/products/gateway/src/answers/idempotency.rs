//! Calls with an idempotency key run once: what came of the call of a key. Kept in memory, and in a store where there is one.
//! Must not know how a call runs.

mod claim;
mod given;
mod record;
mod room;
mod sharing;

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use net::service::{Answer, code};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use wire::message::{Packet, parse};
use wire::{Kind, Message, Revision};

pub(crate) use self::claim::Claimed;
pub(crate) use self::given::{GivenKey, key_of};
use self::room::OVERHEAD;
#[cfg(test)]
use self::room::{LONGEST_NAME, MOST_RUNNING};
use self::sharing::Sharing;
use super::request::RequestDigest;
use super::store::{Store, Written};
use crate::failure::{self, Failure};
use crate::settings::{IdempotencySettings, StoreSettings};
use crate::shared::{SharedStore, Token};

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
    /// The shared store is asked whether it may run.
    Claiming,
    Running,
    Answered(Arc<KeptAnswer>),
    Unknown,
}

enum Status {
    /// It runs if the shared store has nothing else of its key.
    Claiming(watch::Receiver<Progress>),
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
    /// Whose it is in the shared store, and after how many steps: where two gateways hold it, the later step counts.
    token: Token,
    step: u64,
}

/// What a kept key says of another call with it.
enum Decision {
    Claiming(watch::Receiver<Progress>),
    Wait(watch::Receiver<Progress>),
    /// It answers the question that is open.
    GoOn(Asked),
    Answered(Arc<KeptAnswer>),
    Refused(Failure),
}

impl Entry {
    const fn is_running(&self) -> bool {
        matches!(self.status, Status::Claiming(_) | Status::Running(_))
    }

    /// What it says of a call that asks for this.
    fn decide(&self, digest: &RequestDigest, round: Option<Round>) -> Decision {
        // Only the shared store knows what the first one asks for.
        if let Status::Claiming(running) = &self.status {
            return Decision::Claiming(running.clone());
        }
        if self.digest != *digest {
            return Decision::Refused(failure::IDEMPOTENCY_CONFLICT);
        }
        match &self.status {
            Status::Claiming(running) | Status::Running(running) => Decision::Wait(running.clone()),
            Status::Asked(asked) if round.is_some_and(|round| round.fits(asked)) => Decision::GoOn(asked.clone()),
            Status::Asked(Asked { answer: Some(answer), .. }) | Status::Ended(answer) => {
                Decision::Answered(Arc::clone(answer))
            }
            Status::TooLarge => Decision::Refused(failure::IDEMPOTENCY_TOO_LARGE),
            Status::Asked(Asked { answer: None, .. }) | Status::Unknown => {
                Decision::Refused(failure::IDEMPOTENCY_UNKNOWN)
            }
        }
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
    /// Another one with the same key waits for the shared store: begin once more when it has its answer.
    Claiming(watch::Receiver<Progress>),
    /// Another one with the same key runs.
    Wait(watch::Receiver<Progress>),
    /// It has run.
    Answered(Arc<KeptAnswer>),
    Refused(Failure),
}

/// Where keys are kept in addition to the memory.
#[derive(Default)]
enum Backing {
    #[default]
    Memory,
    File(Store),
    Shared(Sharing),
}

/// What came of calls with a key.
#[derive(Default)]
pub(crate) struct KeptCalls {
    state: Mutex<State>,
    replayed: AtomicU64,
    backing: Backing,
}

impl KeptCalls {
    /// What the store holds, and all that is added to it.
    pub(crate) fn open(settings: &StoreSettings, shared: Option<&Arc<SharedStore>>) -> io::Result<Arc<Self>> {
        match (settings, shared) {
            (StoreSettings::Shared(settings), Some(store)) => {
                let backing = Backing::Shared(Sharing::new(store, settings.on_loss));
                let calls = Arc::new(Self { backing, ..Self::default() });
                sharing::keep_written(&calls);
                Ok(calls)
            }
            (StoreSettings::Folder(folder), _) => Self::in_folder(folder).map(Arc::new),
            (StoreSettings::Shared(_), None) => Ok(Arc::default()),
        }
    }

    fn in_folder(folder: &Path) -> io::Result<Self> {
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
        Ok(Self { state: Mutex::new(state), replayed: AtomicU64::new(0), backing: Backing::File(store) })
    }

    /// Writes what a shared store does not have yet.
    pub(crate) async fn finish(&self) {
        sharing::finish(self).await;
    }

    /// Writes what waits, and closes the store.
    pub(crate) fn close(&self) {
        if let Backing::File(store) = &self.backing {
            store.close();
        }
    }

    /// Whether other gateways have the same keys.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.backing, Backing::Shared(_))
    }

    /// How often two gateways used a key while the store was away; nothing without a shared store.
    pub(crate) fn conflicts(&self) -> Option<u64> {
        match &self.backing {
            Backing::Shared(sharing) => Some(sharing.conflicts()),
            Backing::Memory | Backing::File(_) => None,
        }
    }

    /// Writes how a key stands now. To be called while the state is locked: the order is that of what happened.
    fn write(self: &Arc<Self>, state: &State, key: &CallKey, token: &Token, time: (Duration, Instant)) -> Written {
        let entry = state.entries.get(key);
        match &self.backing {
            Backing::Memory => Written::default(),
            Backing::File(store) => store.set(record::name(key), entry.map(|entry| record::written(key, entry, time))),
            Backing::Shared(sharing) => sharing.write(self, key, (entry, token), time),
        }
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
        let first = if self.is_shared() { Progress::Claiming } else { Progress::Running };
        let (sender, receiver) = watch::channel(first);
        let status = if self.is_shared() { Status::Claiming(receiver) } else { Status::Running(receiver) };
        let call = |key: CallKey, begun: Written| {
            let (calls, settings, token) = (Arc::clone(self), settings.clone(), sharing::token());
            RunningCall { calls, key, asked_for: (digest, round), settings, sender, begun, token, over: false }
        };
        let Some(entry) = state.entries.get_mut(&key) else {
            if let Some(full) = state.lacks(&key, settings, now) {
                return Begun::Refused(full);
            }
            let entry = Entry { digest, status, asked: None, until: None, token: Token::default(), step: 0 };
            state.bytes += entry.bytes(&key);
            state.running += 1;
            state.entries.insert(key.clone(), entry);
            let begun = self.write_begun(&state, &key, (settings.ttl, now));
            return Begun::Run(call(key, begun));
        };
        let asked = match entry.decide(&digest, round) {
            // Another gateway may have gone on with it: the shared store decides, also about a wrong answer to the question.
            _ if self.is_shared() && matches!(entry.status, Status::Asked(_)) => match &entry.status {
                Status::Asked(asked) => asked.clone(),
                _ => return Begun::Refused(failure::IDEMPOTENCY_UNKNOWN),
            },
            Decision::GoOn(asked) => asked,
            Decision::Claiming(claiming) => return Begun::Claiming(claiming),
            Decision::Wait(running) => return Begun::Wait(running),
            Decision::Answered(answer) => return Begun::Answered(answer),
            Decision::Refused(failure) => return Begun::Refused(failure),
        };
        let freed = entry.kept_bytes();
        if !state.may_run(&key) {
            return Begun::Refused(failure::IDEMPOTENCY_BUSY);
        }
        let Some(entry) = state.entries.get_mut(&key) else {
            return Begun::Refused(failure::IDEMPOTENCY_UNKNOWN);
        };
        entry.asked = Some(asked);
        (entry.status, entry.until) = (status, None);
        state.bytes -= freed;
        state.running += 1;
        let begun = self.write_begun(&state, &key, (settings.ttl, now));
        Begun::Run(call(key, begun))
    }

    /// Writes that a call runs. In a shared store it is claimed instead.
    fn write_begun(self: &Arc<Self>, state: &State, key: &CallKey, time: (Duration, Instant)) -> Written {
        if self.is_shared() { Written::default() } else { self.write(state, key, &Token::default(), time) }
    }

    /// A kept answer goes to another request.
    pub(crate) fn note_replayed(&self) {
        self.replayed.fetch_add(1, Ordering::Relaxed);
    }

    /// Forgets keys whose time is over.
    pub(crate) fn sweep(&self, now: Instant) {
        let mut state = self.state();
        for key in state.sweep(now) {
            // A shared store forgets by itself.
            if let Backing::File(store) = &self.backing {
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
}

/// A call that runs, or that waits for the shared store. Dropped before its end, its outcome is unknown.
pub(crate) struct RunningCall {
    calls: Arc<KeptCalls>,
    key: CallKey,
    asked_for: (RequestDigest, Option<Round>),
    settings: IdempotencySettings,
    sender: watch::Sender<Progress>,
    /// That it runs is being written.
    begun: Written,
    token: Token,
    over: bool,
}

impl RunningCall {
    /// The call was refused, and is over if it was not before.
    pub(crate) fn refuse(self, answer: &Answer, revision: Revision) {
        if !self.over {
            drop(self.end(answer, revision, Instant::now()));
        }
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
        let most = if self.calls.is_shared() { sharing::LARGEST } else { usize::MAX };
        let fits = |text: &str| text.len() <= most && state.has_bytes(&self.key, text.len(), self.settings.bytes);
        let room = kept.as_ref().is_some_and(|kept| fits(&kept.text));
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
                    entry.step += 1;
                    let after = entry.kept_bytes();
                    state.bytes = state.bytes + after - before;
                }
            }
        }
        let written = self.calls.write(&state, &self.key, &self.token, (self.settings.ttl, now));
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
        if self.over {
            return;
        }
        let is_claiming = matches!(*self.sender.borrow(), Progress::Claiming);
        if is_claiming {
            self.abandon();
        } else {
            let _ = self.settle(CallEnd::Unknown, None, Instant::now());
        }
    }
}

/// Waits for the end of a call that runs. `None` where its outcome is unknown.
pub(crate) async fn awaited(mut running: watch::Receiver<Progress>) -> Option<Arc<KeptAnswer>> {
    let is_over = |progress: &Progress| matches!(progress, Progress::Answered(_) | Progress::Unknown);
    match &*running.wait_for(is_over).await.ok()? {
        Progress::Answered(answer) => Some(Arc::clone(answer)),
        _ => None,
    }
}

/// Waits until the shared store has answered another call with the same key.
pub(crate) async fn claimed(mut claiming: watch::Receiver<Progress>) {
    let _ = claiming.wait_for(|progress| !matches!(progress, Progress::Claiming)).await;
}

#[cfg(test)]
mod tests;
