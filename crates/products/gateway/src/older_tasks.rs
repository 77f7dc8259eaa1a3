//! Tasks of servers of 2025-11-25 that clients of 2026-07-28 follow: whose each is, where it runs, and what it has asked. Must
//! not know how a task is translated.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use serde_json::{Map, Value, json};
use wire::translate::task::to_modern;

use crate::ids::Ids;
use crate::long_calls::{millis, moment};
use crate::outputs::OutputCheck;
use crate::parked::Question;
use crate::question_room::NoRoom;
use crate::upstream::{Client, Conversation, Flight, Hold, Upstream};

/// The most tasks, and the most of one principal. Clients without a token are one principal.
const MOST: usize = 4096;
const MOST_OF_ONE: usize = 1024;
/// How long a task is followed at most, whatever its server says.
const LONGEST: Duration = Duration::from_hours(1);
/// The longest id of a server that is kept.
const LONGEST_ID: usize = 1024;

/// The longest `statusMessage` that is passed on, in characters; the longest moment; and the longest pause between two polls, in
/// milliseconds.
const LONGEST_MESSAGE: usize = 1024;
const LONGEST_MOMENT: usize = 40;
const LONGEST_POLL: u64 = 3_600_000;

/// How the ids begin that clients get for such tasks.
const OWN: &str = "proof-gateway-task.";

/// Whether an id is of this kind.
pub(crate) fn is_ours(id: &str) -> bool {
    id.starts_with(OWN)
}

/// Whose a task is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// The server that the client sees.
    server: String,
    /// The subject of its token.
    subject: Option<HeaderValue>,
    /// Who it is at the upstream of the task.
    there: Option<HeaderValue>,
}

impl Owner {
    /// The owner of what `client` begins at `upstream`, by the server called `server`.
    pub(crate) fn of(server: &str, client: &Client, upstream: &Upstream) -> Self {
        Self { server: server.to_owned(), subject: client.subject.clone(), there: upstream.owner(client) }
    }
}

/// What a client can be asked that declares `capabilities`: of these nothing else is kept, for they may be large.
pub(crate) fn asks_of(capabilities: &Value) -> Value {
    let mut asks = json!({});
    for name in ["roots", "sampling", "elicitation"] {
        if let Some(declared) = capabilities.get(name) {
            asks[name] = json!({});
            if declared.get("url").is_some() {
                asks[name]["url"] = json!({});
            }
        }
    }
    asks
}

/// How a task stands, as its client may read it: each member has the type and the size that the extension gives it, or is left
/// out. Only the status may still be unknown.
pub(crate) fn bounded(task: &Map<String, Value>) -> Map<String, Value> {
    let mut state = to_modern(task);
    state.retain(|name, value| match name.as_str() {
        "pollIntervalMs" => value.as_u64().is_some_and(|pause| pause <= LONGEST_POLL),
        "createdAt" | "lastUpdatedAt" => value.as_str().is_some_and(is_moment),
        "statusMessage" => value.is_string(),
        _ => true,
    });
    if let Some(Value::String(text)) = state.get_mut("statusMessage")
        && let Some((end, _)) = text.char_indices().nth(LONGEST_MESSAGE)
    {
        text.truncate(end);
        text.push('…');
    }
    state
}

/// Whether a text has the form of a moment (RFC 3339), as far as its reader depends on it.
fn is_moment(text: &str) -> bool {
    let pattern = "0000-00-00T00:00:00";
    let fits = |(byte, form): (u8, u8)| if form == b'0' { byte.is_ascii_digit() } else { byte == form };
    (pattern.len() + 1..=LONGEST_MOMENT).contains(&text.len())
        && text.bytes().zip(pattern.bytes()).all(fits)
        && text.bytes().skip(pattern.len()).all(|byte| byte.is_ascii_digit() || b".Z+-:".contains(&byte))
}

/// Where a task runs.
pub(crate) struct Place {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) conversation: Arc<Conversation>,
    /// Its id there.
    pub(crate) id: String,
}

/// What a task has asked so far.
#[derive(Default)]
pub(crate) struct Course {
    /// The request for its result, on which it asks.
    pub(crate) flight: Option<Flight>,
    /// What waits for an answer.
    pub(crate) open: Vec<Question>,
    /// How much it has asked: no key is used twice.
    pub(crate) asked: u64,
    /// Why its last question was refused that there was no room for.
    pub(crate) refused: Option<NoRoom>,
}

impl Course {
    /// The request for the result has ended: what it asked cannot be answered any more.
    pub(crate) fn end(&mut self) {
        self.flight = None;
        self.open.clear();
    }
}

/// A task that a client follows.
pub(crate) struct OlderTask {
    owner: Owner,
    pub(crate) place: Place,
    /// What its client can be asked, as far as that decides.
    pub(crate) asks: Value,
    /// What its result is held against.
    pub(crate) output: Option<OutputCheck>,
    pub(crate) course: tokio::sync::Mutex<Course>,
    created: String,
    ttl: Duration,
    until: Instant,
    /// Its conversation is not idle while it is followed.
    _hold: Hold,
}

impl OlderTask {
    /// The subject of its principal's token.
    pub(crate) const fn subject(&self) -> Option<&HeaderValue> {
        self.owner.subject.as_ref()
    }

    /// How it stands, under the id that its client knows, for no longer than it is followed.
    pub(crate) fn shown(&self, id: &str, mut state: Map<String, Value>) -> Map<String, Value> {
        let ttl = state.get("ttlMs").and_then(Value::as_u64).map_or(self.ttl, Duration::from_millis);
        state.insert("taskId".to_owned(), json!(id));
        state.insert("ttlMs".to_owned(), json!(millis(ttl.min(self.ttl))));
        for name in ["createdAt", "lastUpdatedAt"] {
            state.entry(name).or_insert_with(|| json!(self.created));
        }
        state
    }
}

/// All of them, by the id that their client knows.
#[derive(Default)]
pub(crate) struct OlderTasks(Mutex<HashMap<String, Arc<OlderTask>>>, Ids);

/// What becomes of a request about a task.
pub(crate) enum Found {
    /// It does not exist, or its time is over.
    Unknown,
    /// It belongs to another client.
    Foreign,
    Known(Arc<OlderTask>),
}

impl OlderTasks {
    pub(crate) fn new(ids: Ids) -> Self {
        Self(Mutex::default(), ids)
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<OlderTask>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is room for one more of this owner's.
    pub(crate) fn has_room(&self, owner: &Owner) -> bool {
        has_room(&self.all(), owner)
    }

    /// Keeps a task that has begun, for `ttl` at most. Its id for the client, and the task; `None` where there is no room.
    pub(crate) fn keep(
        &self,
        (owner, asks): (Owner, Value),
        place: Place,
        output: Option<OutputCheck>,
        ttl: Option<u64>,
    ) -> Option<(String, Arc<OlderTask>)> {
        let id = self.1.unguessable(OWN)?;
        let ttl = ttl.map_or(LONGEST, Duration::from_millis).min(LONGEST);
        let hold = Conversation::hold(&place.conversation);
        let until = Instant::now() + ttl;
        let (created, course) = (moment(), tokio::sync::Mutex::default());
        let task = Arc::new(OlderTask { owner, place, asks, output, course, created, ttl, until, _hold: hold });
        let mut all = self.all();
        if task.place.id.len() > LONGEST_ID || !has_room(&all, &task.owner) {
            return None;
        }
        all.insert(id.clone(), Arc::clone(&task));
        Some((id, task))
    }

    /// The task that a client of this server calls `id`.
    pub(crate) fn find(&self, server: &str, client: &Client, id: &str) -> Found {
        let task = self.all().get(id).filter(|task| task.until > Instant::now()).cloned();
        match task {
            None => Found::Unknown,
            Some(task) if task.owner == Owner::of(server, client, &task.place.upstream) => Found::Known(task),
            Some(_) => Found::Foreign,
        }
    }

    /// Its server does not know it any more.
    pub(crate) fn forget(&self, id: &str) {
        // What it holds is dropped without the lock.
        let task = self.all().remove(id);
        drop(task);
    }

    /// Forgets those whose time is over.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        let over: Vec<_> = self.all().extract_if(|_, task| task.until <= now).collect();
        drop(over);
    }
}

fn has_room(all: &HashMap<String, Arc<OlderTask>>, owner: &Owner) -> bool {
    let of_one = all.values().filter(|task| task.owner.subject == owner.subject).count();
    all.len() < MOST && of_one < MOST_OF_ONE
}
