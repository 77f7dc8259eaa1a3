//! The legacy sessions of one endpoint and the streams each of them keeps. Knows no header and no method.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::header::HeaderValue;
use wire::RequestId;

use super::Limits;
use super::events::EventStream;
use super::kept::Kept;
use super::routing::Router;
use super::shares::{network, share_of};
use crate::server::InFlight;
use crate::server::link::{Gone, MessageSink, Session};

/// How many streams without a request one session may have open; one more ends the oldest.
const MOST_LISTENING: usize = 4;
/// How many unused sessions end at a time where there are too many.
const MAKE_ROOM: usize = 64;
/// After how long without a request, in milliseconds, a session in use may end where there are too many.
const FORSAKEN: u64 = 60_000;

#[derive(Default)]
struct Table {
    /// Streams of requests, running or kept for resumption; oldest first.
    requests: VecDeque<Arc<EventStream>>,
    /// Streams opened with GET; newest last.
    listening: VecDeque<Arc<EventStream>>,
}

/// The streams of one session. As a sink it takes messages that belong to no request.
pub(super) struct Streams {
    next: AtomicU32,
    limits: Arc<Limits>,
    kept: Arc<Kept>,
    table: Mutex<Table>,
}

impl Streams {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new stream, not in the table yet.
    pub(super) fn open(&self) -> Arc<EventStream> {
        Arc::new(EventStream::new(self.next.fetch_add(1, Ordering::Relaxed), &self.limits, Arc::clone(&self.kept)))
    }

    /// Keeps a request's stream; the oldest ended streams make room.
    pub(super) fn keep(&self, stream: &Arc<EventStream>) {
        self.kept.remember(stream);
        let mut table = self.table();
        table.requests.push_back(Arc::clone(stream));
        let mut surplus =
            table.requests.iter().filter(|stream| stream.has_ended()).count().saturating_sub(self.limits.streams);
        table.requests.retain(|stream| {
            let goes = surplus > 0 && stream.has_ended() && !stream.is_attached();
            surplus -= usize::from(goes);
            !goes
        });
    }

    pub(super) fn forget(&self, stream: &EventStream) {
        self.table().requests.retain(|kept| kept.id() != stream.id());
    }

    pub(super) fn find(&self, id: u32) -> Option<Arc<EventStream>> {
        let table = self.table();
        let kept = |stream: &&Arc<EventStream>| stream.id() == id && !stream.is_dropped();
        table.requests.iter().chain(&table.listening).find(kept).cloned()
    }

    /// A stream for a GET: one that waits for its first reader, or a new one.
    pub(super) fn listen(&self) -> Arc<EventStream> {
        let mut table = self.table();
        if let Some(waiting) = table.listening.back().filter(|stream| stream.is_fresh()) {
            return Arc::clone(waiting);
        }
        let stream = self.open();
        table.listening.push_back(Arc::clone(&stream));
        if table.listening.len() > MOST_LISTENING
            && let Some(oldest) = table.listening.pop_front()
        {
            oldest.end();
        }
        stream
    }

    fn has_readers(&self) -> bool {
        let table = self.table();
        table.requests.iter().chain(&table.listening).any(|stream| stream.is_attached())
    }

    fn hang_up(&self) {
        for stream in &self.table().listening {
            stream.end();
        }
    }

    fn end(&self) {
        let table = std::mem::take(&mut *self.table());
        for stream in table.requests.iter().chain(&table.listening) {
            stream.end();
        }
    }
}

impl MessageSink for Streams {
    /// Sends on one stream only: the newest with a reader, else the newest, else a new one that waits for a reader.
    fn send(&self, text: String) -> Result<(), Gone> {
        let mut table = self.table();
        let chosen =
            table.listening.iter().rev().find(|stream| stream.is_attached()).or(table.listening.back()).cloned();
        let chosen = chosen.unwrap_or_else(|| {
            let stream = self.open();
            table.listening.push_back(Arc::clone(&stream));
            stream
        });
        drop(table);
        chosen.send(text)
    }
}

/// Whose share of the sessions one takes: a subject's, or an address's where requests need no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Subject(HeaderValue),
    Address(Option<IpAddr>),
}

impl Owner {
    pub(super) fn new(subject: Option<&HeaderValue>, address: Option<IpAddr>) -> Self {
        subject.map_or_else(|| Self::Address(address.map(network)), |subject| Self::Subject(subject.clone()))
    }
}

/// A session and what its transport keeps for it.
pub(super) struct HttpSession {
    pub(super) session: Arc<Session>,
    pub(super) streams: Arc<Streams>,
    pub(super) in_flight: InFlight,
    /// Whose token opened it, where there is a guard.
    pub(super) subject: Option<HeaderValue>,
    /// Whose share of the sessions it takes.
    pub(super) owner: Owner,
    touched: AtomicU64,
    batches: AtomicU64,
}

impl HttpSession {
    /// An id for a batch as a whole, which no client can name: the parts have ids of their own.
    pub(super) fn next_batch_id(&self) -> RequestId {
        RequestId::String(format!("\u{0}batch {}", self.batches.fetch_add(1, Ordering::Relaxed)))
    }

    /// When it was used last, if it may end to make room. A session that was opened and never used goes first.
    fn unused_since(&self, now: u64) -> Option<(bool, u64)> {
        let touched = self.touched.load(Ordering::Relaxed);
        let ready = self.session.is_ready();
        let quiet = now.saturating_sub(touched) >= if ready { FORSAKEN } else { 0 };
        (quiet && self.in_flight.is_empty() && !self.streams.has_readers()).then_some((ready, touched))
    }

    /// Stops everything that runs in the session.
    fn end(&self) {
        self.in_flight.cancel_all();
        self.session.abandon();
        self.streams.end();
    }
}

/// All sessions.
pub(super) struct Sessions {
    limits: Arc<Limits>,
    router: Option<Arc<dyn Router>>,
    kept: Arc<Kept>,
    born: Instant,
    by_key: Mutex<HashMap<u128, Arc<HttpSession>>>,
}

impl Sessions {
    pub(super) fn new(limits: Limits, router: Option<Arc<dyn Router>>) -> Self {
        let kept = Arc::new(Kept::new(limits.kept_bytes));
        Self { limits: Arc::new(limits), router, kept, born: Instant::now(), by_key: Mutex::default() }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<u128, Arc<HttpSession>>> {
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        self.born.elapsed().as_millis() as u64
    }

    /// Whether `owner` may have one more session. Where there are too many, unused ones end: an owner who never speaks again
    /// must not lock others out, nor itself.
    pub(super) fn has_room(&self, owner: &Owner) -> bool {
        let ended = {
            let mut table = self.table();
            let share = share_of(self.limits.sessions);
            if table.len() < share {
                return true;
            }
            let own = table.values().filter(|session| session.owner == *owner).count();
            if own < share && table.len() < self.limits.sessions {
                return true;
            }
            let mut unused: Vec<_> = table
                .iter()
                .filter(|(_, session)| own < share || session.owner == *owner)
                .filter_map(|(key, session)| Some((session.unused_since(self.now())?, *key)))
                .collect();
            unused.sort_unstable();
            let keys = unused.into_iter().take(MAKE_ROOM).map(|(_, key)| key);
            keys.filter_map(|key| table.remove(&key)).collect::<Vec<_>>()
        };
        for session in &ended {
            session.end();
        }
        !ended.is_empty()
    }

    /// A session with an unguessable id, not yet known to [`Self::find`].
    pub(super) fn begin(&self, owner: Owner) -> Option<HttpSession> {
        let id = unguessable(self.router.as_ref())?;
        let (limits, kept) = (Arc::clone(&self.limits), Arc::clone(&self.kept));
        let streams = Arc::new(Streams { next: AtomicU32::new(1), limits, kept, table: Mutex::default() });
        let session = Arc::new(Session::new(Some(id), Arc::clone(&streams) as Arc<dyn MessageSink>));
        Some(HttpSession {
            session,
            streams,
            in_flight: InFlight::default(),
            subject: None,
            owner,
            touched: AtomicU64::new(self.now()),
            batches: AtomicU64::new(0),
        })
    }

    pub(super) fn add(&self, session: HttpSession) {
        if let Some(key) = session.session.id().and_then(key) {
            self.table().insert(key, Arc::new(session));
        }
    }

    /// The session of this id, which is in use from now on.
    pub(super) fn find(&self, id: &str) -> Option<Arc<HttpSession>> {
        let session = self.table().get(&key(id)?).filter(|session| session.session.id() == Some(id)).cloned()?;
        session.touched.store(self.now(), Ordering::Relaxed);
        Some(session)
    }

    /// Ends one session; `false` where there is none of this id.
    pub(super) fn remove(&self, id: &str) -> bool {
        if self.find(id).is_none() {
            return false;
        }
        let removed = key(id).and_then(|key| self.table().remove(&key));
        removed.map(|session| session.end()).is_some()
    }

    /// Ends the sessions that were not used for too long.
    pub(super) fn sweep(&self) {
        let idle = |session: &HttpSession| {
            let quiet = Duration::from_millis(self.now().saturating_sub(session.touched.load(Ordering::Relaxed)));
            if session.in_flight.is_empty() && !session.streams.has_readers() {
                return quiet > self.limits.idle;
            }
            session.touched.store(self.now(), Ordering::Relaxed);
            false
        };
        let ended: Vec<_> = self.table().extract_if(|_, session| idle(session)).collect();
        for (_, session) in ended {
            session.end();
        }
    }

    /// Ends the streams that belong to no request.
    pub(super) fn hang_up(&self) {
        for session in self.table().values() {
            session.streams.hang_up();
        }
    }

    /// Ends every session.
    pub(super) fn end_all(&self) {
        for (_, session) in self.table().drain() {
            session.end();
        }
    }
}

/// A new id: 128 bits from the system, as visible ASCII, and what the router adds.
pub(super) fn unguessable(router: Option<&Arc<dyn Router>>) -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    let digits = format!("{:032x}", u128::from_be_bytes(bytes));
    Some(match router {
        Some(router) => router.session_id(digits),
        None => digits,
    })
}

/// Our ids are 32 lower-case hexadecimal digits, perhaps with a dot and more; anything else is unknown.
pub(super) fn key(id: &str) -> Option<u128> {
    let digits = id.split_once('.').map_or(id, |(digits, _)| digits);
    let ours = digits.len() == 32 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if ours { u128::from_str_radix(digits, 16).ok() } else { None }
}
