//! What was asked in a recording and how it was answered, by key. Texts stay in the file: in memory is where they stand, which
//! is 16 bytes a message and about 250 bytes for each key.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use serde_json::Value;
use serde_json_path::JsonPath;
use wire::trace::{Content, Frame, Header};
use wire::{Kind, Message, Party, RequestId};

use super::key::{Asked, Key, digest};
use super::scan::{BadRecording, Place, Torn, messages, scan};

/// How many names of one method are known by their text. Of more, only the digests are.
const NAMES: usize = 10_000;
/// The longest name that is known by its text, and the longest method that is known at all.
const NAME: usize = 1 << 10;
/// How many requests of one connection may wait for their answers at a time; of more, the oldest are forgotten.
const WAITING: usize = 1 << 12;

/// One request and what came of it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) request: Place,
    /// What the server said before it answered, in order: notifications, questions, results that ask.
    pub(super) before: Box<[Place]>,
    /// The end. None where the recording ends with a question.
    pub(super) answer: Option<Place>,
}

/// Everything that was answered.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) entries: HashMap<Key, Vec<Entry>>,
    /// The keys of each method and name.
    pub(super) families: HashMap<Key, Vec<Key>>,
    /// The names of each method.
    pub(super) names: BTreeMap<String, BTreeSet<String>>,
    /// How many answers there are to each method.
    pub(super) counts: BTreeMap<String, usize>,
    /// The result of the first `initialize` that was answered.
    pub(super) legacy: Option<Value>,
    /// The same of `server/discover`.
    pub(super) modern: Option<Value>,
    /// The highest numbers in the file, and its last moment.
    pub(super) last: Last,
    /// Whether the last line is whole but for its line feed.
    pub(super) ends_open: bool,
}

/// Where whoever adds to a recording goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Last {
    pub(super) at: u64,
    pub(super) connection: u32,
    pub(super) exchange: u32,
}

impl Index {
    /// Reads a recording through once.
    pub(super) fn of(file: &File, volatile: &[JsonPath]) -> Result<(Self, Header, Option<Torn>), BadRecording> {
        let mut reader = Reader::new(volatile);
        let (header, torn) = scan(file, |place, frame| reader.take(place, frame))?;
        let mut index = reader.finish();
        index.ends_open = ends_open(file)?;
        Ok((index, header, torn))
    }

    /// How what was asked with this key was answered.
    pub(super) fn entries(&self, key: &Key) -> &[Entry] {
        self.entries.get(key).map_or(&[], Vec::as_slice)
    }

    /// Takes in one more exchange.
    fn add(&mut self, label: &Label, entry: Entry) {
        *self.counts.entry(label.method.clone()).or_default() += 1;
        let known = self.entries.entry(label.key).or_default();
        if known.is_empty() {
            // Most are asked once: room for more would be most of what all of this takes.
            known.reserve_exact(1);
            self.families.entry(label.family).or_default().push(label.key);
            let names = self.names.entry(label.method.clone()).or_default();
            if let Some(name) = label.name.as_ref().filter(|_| names.len() < NAMES) {
                names.insert(name.clone());
            }
        }
        known.push(entry);
    }
}

/// What of a request is needed to find it again. Its arguments stand in the file.
#[derive(Clone)]
struct Label {
    method: String,
    name: Option<String>,
    key: Key,
    family: Key,
}

impl Label {
    fn of(asked: Asked) -> Self {
        let (key, family) = (asked.key(), asked.family());
        Self { method: asked.method, name: asked.name.filter(|name| name.len() <= NAME), key, family }
    }
}

/// A request that is not answered yet.
struct Waiting {
    id: RequestId,
    exchange: u32,
    token: Option<Value>,
    label: Label,
    request: Place,
    before: Vec<Place>,
}

/// A request whose result asks something, until the client comes back.
struct Round {
    state: Option<Key>,
    waiting: Waiting,
}

/// Puts together what belongs together.
#[derive(Default)]
pub(super) struct Reader<'v> {
    volatile: Cow<'v, [JsonPath]>,
    index: Index,
    /// By connection, the oldest first.
    waiting: HashMap<u32, VecDeque<Waiting>>,
    rounds: HashMap<Key, Vec<Round>>,
}

impl<'v> Reader<'v> {
    /// A reader that has read nothing.
    pub(super) fn new(volatile: impl Into<Cow<'v, [JsonPath]>>) -> Self {
        Self { volatile: volatile.into(), ..Self::default() }
    }

    /// What was put together so far.
    pub(super) const fn index(&self) -> &Index {
        &self.index
    }

    /// Reads one more frame.
    pub(super) fn take(&mut self, place: Place, frame: &Frame) {
        let last = &mut self.index.last;
        last.at = last.at.max(frame.done);
        last.connection = last.connection.max(frame.connection);
        last.exchange = last.exchange.max(frame.exchange);
        if matches!(frame.content, Content::Exit { .. } | Content::Closed(_)) && frame.exchange == 0 {
            // A connection that is over answers nothing any more.
            self.waiting.remove(&frame.connection);
        }
        for (part, message) in messages(frame) {
            let place = Place { part, ..place };
            match (frame.from, message.kind()) {
                (Party::Client, Kind::Request) => self.asked(place, frame, &message),
                (Party::Client, Kind::Notification) => self.cancelled(frame, &message),
                (Party::Server, Kind::Result | Kind::Error) => self.answered(place, frame, &message),
                (Party::Server, Kind::Request | Kind::Notification) => self.said(place, frame, &message),
                _ => {}
            }
        }
    }

    fn asked(&mut self, place: Place, frame: &Frame, message: &Message) {
        let Some(id) = message.id().cloned() else { return };
        if message.method().is_none_or(|method| method.len() > NAME) {
            return;
        }
        let label = Label::of(Asked::of(message, &self.volatile));
        let param = |name: &str| message.params().and_then(|params| params.get(name));
        let token = message.meta().and_then(|meta| meta.get("progressToken")).cloned();
        let mut waiting = Waiting { id, exchange: frame.exchange, token, label, request: place, before: Vec::new() };
        let state = param("requestState").map(digest);
        if (state.is_some() || param("inputResponses").is_some())
            && let Some(rounds) = self.rounds.get_mut(&waiting.label.key)
        {
            let same = rounds.iter().position(|round| round.state == state);
            if let Some(at) = same.or_else(|| rounds.len().checked_sub(1)) {
                let before = rounds.remove(at).waiting;
                waiting.request = before.request;
                waiting.before = before.before;
            }
        }
        let here = self.waiting.entry(frame.connection).or_default();
        if here.len() == WAITING {
            here.pop_front();
        }
        here.push_back(waiting);
    }

    /// The request that an answer with this id, on this connection, is to.
    fn taken(&mut self, connection: u32, exchange: u32, id: &RequestId) -> Option<Waiting> {
        let here = self.waiting.get_mut(&connection)?;
        // Clients without a session may use one id twice at a time; then the stream tells.
        let same = here.iter().position(|waiting| waiting.id == *id && waiting.exchange == exchange);
        let at = same.or_else(|| here.iter().position(|waiting| waiting.id == *id))?;
        here.remove(at)
    }

    fn answered(&mut self, place: Place, frame: &Frame, message: &Message) {
        let Some(mut waiting) = message.id().and_then(|id| self.taken(frame.connection, frame.exchange, id)) else {
            return;
        };
        if message.kind() == Kind::Result {
            let greeting = match waiting.label.method.as_str() {
                "initialize" => Some(&mut self.index.legacy),
                "server/discover" => Some(&mut self.index.modern),
                _ => None,
            };
            if let Some(greeting) = greeting {
                if greeting.is_none() {
                    *greeting = message.result().cloned();
                }
                return;
            }
            if asks(message) {
                waiting.before.push(place);
                let state = message.result().and_then(|result| result.get("requestState")).map(digest);
                let rounds = self.rounds.entry(waiting.label.key).or_default();
                return rounds.push(Round { state, waiting });
            }
        }
        if matches!(waiting.label.method.as_str(), "initialize" | "server/discover") {
            return;
        }
        let entry = Entry { request: waiting.request, before: waiting.before.into(), answer: Some(place) };
        self.index.add(&waiting.label, entry);
    }

    /// What the server says of its own accord belongs to the request that its token or its stream names, or to the only one
    /// that is under way.
    fn said(&mut self, place: Place, frame: &Frame, message: &Message) {
        let token = message.params().and_then(|params| params.get("progressToken"));
        let Some(here) = self.waiting.get_mut(&frame.connection) else { return };
        let alone = here.len() == 1;
        let ties = |waiting: &Waiting| match token {
            Some(_) if waiting.token.as_ref() == token => 3,
            Some(_) => 0,
            None if frame.exchange != 0 && waiting.exchange == frame.exchange => 2,
            None => u8::from(alone),
        };
        let nearest = here.iter_mut().max_by_key(|waiting| ties(waiting));
        if let Some(waiting) = nearest.filter(|waiting| ties(waiting) > 0) {
            waiting.before.push(place);
        }
    }

    fn cancelled(&mut self, frame: &Frame, message: &Message) {
        if message.method() == Some("notifications/cancelled")
            && let Some(id) = message.params().and_then(|params| RequestId::from_value(params.get("requestId")?))
        {
            self.taken(frame.connection, 0, &id);
        }
    }

    fn finish(mut self) -> Index {
        for round in self.rounds.into_values().flatten() {
            let waiting = round.waiting;
            let entry = Entry { request: waiting.request, before: waiting.before.into(), answer: None };
            self.index.add(&waiting.label, entry);
        }
        self.index
    }
}

/// Whether a result asks the client something before the request goes on (2026-07-28).
pub(super) fn asks(message: &Message) -> bool {
    message.text().contains("input_required")
        && message.result().and_then(|result| result.get("resultType")).is_some_and(|kind| kind == "input_required")
}

fn ends_open(file: &File) -> io::Result<bool> {
    let mut last = [b'\n'];
    if let Some(at) = file.metadata()?.len().checked_sub(1) {
        file.read_exact_at(&mut last, at)?;
    }
    Ok(last != [b'\n'])
}
