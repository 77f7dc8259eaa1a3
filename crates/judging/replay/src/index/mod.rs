//! What was asked in a recording and how it was answered, by key. Texts stay in the file; where they stand is in a
//! [`Ledger`], so that memory does not grow with the recording.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use serde_json::{Value, json};
use serde_json_path::JsonPath;
use wire::trace::{Content, Frame, Header};
use wire::{Kind, Message, Party, RequestId};

use super::key::{Asked, Key, digest};
use super::ledger::{Ledger, List, Table};
use super::scan::{BadRecording, Place, Torn, messages, scan};

/// The longest method, and the longest id, that is known at all.
const NAME: usize = 1 << 10;
/// How many methods are known.
const METHODS: usize = 1 << 12;
/// How many requests of one connection may wait for their answers at a time, and how many of all; of more, the oldest are
/// forgotten.
const WAITING: usize = 1 << 12;
const WAITING_IN_ALL: usize = 1 << 16;

/// One request and what came of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) request: Place,
    /// What the server said before it answered, in order: notifications, questions, results that ask.
    before: List,
    /// The end. None where the recording ends with a question.
    pub(super) answer: Option<Place>,
}

impl Entry {
    /// How many messages came before the answer.
    pub(super) const fn said_before(self) -> u64 {
        self.before.len()
    }
}

/// How many bytes an [`Entry`] takes in a ledger.
const ENTRY: usize = 3 * Place::BYTES;

/// Everything that was answered.
#[derive(Debug, Default)]
pub(super) struct Index {
    ledger: Ledger,
    /// The entries of each key.
    entries: Table,
    /// The first entry of each key, by method and name.
    families: Table,
    /// The first entry of each family, by method.
    methods: Table,
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

/// The entries of one list, none of which is read before it is wanted.
#[derive(Clone, Copy)]
pub(super) struct Entries<'i> {
    index: &'i Index,
    list: List,
}

impl<'i> Entries<'i> {
    pub(super) const fn len(self) -> u64 {
        self.list.len()
    }

    pub(super) const fn is_empty(self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn at(self, number: u64) -> io::Result<Option<Entry>> {
        let at = self.list.at(&self.index.ledger, number)?;
        at.map(|at| self.index.entry(at)).transpose()
    }

    pub(super) fn iter(self) -> impl Iterator<Item = io::Result<Entry>> + 'i {
        self.list.iter(&self.index.ledger).map(move |at| self.index.entry(at?))
    }
}

impl Index {
    /// Reads a recording through once.
    pub(super) fn of(file: &File, volatile: &[JsonPath]) -> Result<(Self, Header, Option<Torn>), BadRecording> {
        let mut reader = Reader::new(volatile);
        let (header, torn) = scan(file, |place, frame| reader.take(place, frame))?;
        let mut index = reader.finish().map_err(BadRecording::NoRoom)?;
        index.ends_open = ends_open(file)?;
        Ok((index, header, torn))
    }

    /// Whether nothing was answered.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.legacy.is_none() && self.modern.is_none()
    }

    /// How what was asked with this key was answered.
    pub(super) fn entries(&self, key: &Key) -> io::Result<Entries<'_>> {
        self.listed(&self.entries, key)
    }

    /// The first entry of each key of a method and name.
    pub(super) fn family(&self, family: &Key) -> io::Result<Entries<'_>> {
        self.listed(&self.families, family)
    }

    /// The first entry of each name of a method.
    pub(super) fn method(&self, method: &str) -> io::Result<Entries<'_>> {
        self.listed(&self.methods, &of_method(method))
    }

    /// The message at `number` of what the server said before it answered.
    pub(super) fn before(&self, entry: Entry, number: u64) -> io::Result<Option<Place>> {
        let at = entry.before.at(&self.ledger, number)?;
        at.map(|at| self.ledger.read(at).map(Place::from_bytes)).transpose()
    }

    fn listed(&self, table: &Table, key: &Key) -> io::Result<Entries<'_>> {
        Ok(Entries { index: self, list: table.list(&self.ledger, key)? })
    }

    fn entry(&self, at: u64) -> io::Result<Entry> {
        let bytes: [u8; ENTRY] = self.ledger.read(at)?;
        let third = |number: usize| std::array::from_fn(|byte| bytes[number * Place::BYTES + byte]);
        let answer = Place::from_bytes(third(1));
        Ok(Entry {
            request: Place::from_bytes(third(0)),
            answer: (answer != Place::NOWHERE).then_some(answer),
            before: List::from_bytes(third(2)),
        })
    }

    /// Takes in one more exchange.
    fn add(&mut self, label: &Label, entry: Entry) -> io::Result<()> {
        let (count, known) = (self.counts.len(), self.counts.get_mut(&label.method));
        match known {
            Some(count) => *count += 1,
            None if count < METHODS => _ = self.counts.insert(label.method.clone(), 1),
            None => return Ok(()),
        }
        let answer = entry.answer.unwrap_or(Place::NOWHERE);
        let bytes = [entry.request.to_bytes(), answer.to_bytes(), entry.before.to_bytes()].concat();
        let ledger = &mut self.ledger;
        let at = ledger.append(&bytes)?;
        if self.entries.push(ledger, &label.key, at)? && self.families.push(ledger, &label.family, at)? {
            self.methods.push(ledger, &of_method(&label.method), at)?;
        }
        Ok(())
    }

    /// Takes in one more thing that is said before an answer.
    fn said(&mut self, before: &mut List, place: Place) -> io::Result<()> {
        let at = self.ledger.append(&place.to_bytes())?;
        before.push(&mut self.ledger, at)
    }
}

fn of_method(method: &str) -> Key {
    digest(&json!([method]))
}

/// What of a request is needed to find it again. Its name and arguments stand in the file.
#[derive(Clone)]
struct Label {
    method: String,
    key: Key,
    family: Key,
}

impl Label {
    fn of(asked: Asked) -> Self {
        let (key, family) = (asked.key(), asked.family());
        Self { method: asked.method, key, family }
    }
}

/// A request that is not answered yet.
struct Waiting {
    id: RequestId,
    exchange: u32,
    /// Of its progress token.
    token: Option<Key>,
    label: Label,
    request: Place,
    before: List,
}

impl Waiting {
    const fn answered(&self, answer: Option<Place>) -> Entry {
        Entry { request: self.request, before: self.before, answer }
    }
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
    /// By connection, the oldest first. No connection without one.
    waiting: BTreeMap<u32, VecDeque<Waiting>>,
    /// How many these are.
    number: usize,
    /// The oldest first.
    rounds: VecDeque<Round>,
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

    /// Reads one more frame. Fails where the index has no room.
    pub(super) fn take(&mut self, place: Place, frame: &Frame) -> io::Result<()> {
        let last = &mut self.index.last;
        last.at = last.at.max(frame.done);
        last.connection = last.connection.max(frame.connection);
        last.exchange = last.exchange.max(frame.exchange);
        if matches!(frame.content, Content::Exit { .. } | Content::Closed(_)) && frame.exchange == 0 {
            // A connection that is over answers nothing any more.
            self.number -= self.waiting.remove(&frame.connection).map_or(0, |gone| gone.len());
        }
        for (part, message) in messages(frame) {
            let place = Place { part, ..place };
            match (frame.from, message.kind()) {
                (Party::Client, Kind::Request) => self.asked(place, frame, &message),
                (Party::Client, Kind::Notification) => self.cancelled(frame, &message),
                (Party::Server, Kind::Result | Kind::Error) => self.answered(place, frame, &message)?,
                (Party::Server, Kind::Request | Kind::Notification) => self.said(place, frame, &message)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn asked(&mut self, place: Place, frame: &Frame, message: &Message) {
        let Some(id) = message.id().filter(|id| length(id) <= NAME) else { return };
        if message.method().is_none_or(|method| method.len() > NAME) {
            return;
        }
        let label = Label::of(Asked::of(message, &self.volatile));
        let param = |name: &str| message.params().and_then(|params| params.get(name));
        let token = message.meta().and_then(|meta| meta.get("progressToken")).map(digest);
        let (id, exchange) = (id.clone(), frame.exchange);
        let mut waiting = Waiting { id, exchange, token, label, request: place, before: List::default() };
        let state = param("requestState").map(digest);
        if state.is_some() || param("inputResponses").is_some() {
            let of_key = |round: &Round| round.waiting.label.key == waiting.label.key;
            let same = self.rounds.iter().position(|round| of_key(round) && round.state == state);
            let at = same.or_else(|| self.rounds.iter().rposition(of_key));
            if let Some(round) = at.and_then(|at| self.rounds.remove(at)) {
                waiting.request = round.waiting.request;
                waiting.before = round.waiting.before;
            }
        }
        self.wait(frame.connection, waiting);
    }

    fn wait(&mut self, connection: u32, waiting: Waiting) {
        let here = self.waiting.get(&connection).map_or(0, VecDeque::len);
        let crowded = match self.waiting.keys().next() {
            Some(oldest) if self.number == WAITING_IN_ALL => Some(*oldest),
            _ => (here == WAITING).then_some(connection),
        };
        if let Some(crowded) = crowded {
            self.leave(crowded, 0);
        }
        self.number += 1;
        self.waiting.entry(connection).or_default().push_back(waiting);
    }

    fn leave(&mut self, connection: u32, at: usize) -> Option<Waiting> {
        let here = self.waiting.get_mut(&connection)?;
        let gone = here.remove(at)?;
        self.number -= 1;
        if here.is_empty() {
            self.waiting.remove(&connection);
        }
        Some(gone)
    }

    /// The request that an answer with this id, on this connection, is to.
    fn taken(&mut self, connection: u32, exchange: u32, id: &RequestId) -> Option<Waiting> {
        let here = self.waiting.get(&connection)?;
        // Clients without a session may use one id twice at a time; then the stream tells.
        let same = here.iter().position(|waiting| waiting.id == *id && waiting.exchange == exchange);
        let at = same.or_else(|| here.iter().position(|waiting| waiting.id == *id))?;
        self.leave(connection, at)
    }

    fn answered(&mut self, place: Place, frame: &Frame, message: &Message) -> io::Result<()> {
        let Some(mut waiting) = message.id().and_then(|id| self.taken(frame.connection, frame.exchange, id)) else {
            return Ok(());
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
                return Ok(());
            }
            if asks(message) {
                self.index.said(&mut waiting.before, place)?;
                let state = message.result().and_then(|result| result.get("requestState")).map(digest);
                self.rounds.push_back(Round { state, waiting });
                // Whoever did not come back for so long does not any more.
                return if self.rounds.len() > WAITING { self.ended_asking() } else { Ok(()) };
            }
        }
        if matches!(waiting.label.method.as_str(), "initialize" | "server/discover") {
            return Ok(());
        }
        self.index.add(&waiting.label, waiting.answered(Some(place)))
    }

    /// The oldest question was the end of its exchange.
    fn ended_asking(&mut self) -> io::Result<()> {
        let Some(Round { waiting, .. }) = self.rounds.pop_front() else { return Ok(()) };
        self.index.add(&waiting.label, waiting.answered(None))
    }

    /// What the server says of its own accord belongs to the request that its token or its stream names, or to the only one
    /// that is under way.
    fn said(&mut self, place: Place, frame: &Frame, message: &Message) -> io::Result<()> {
        let token = message.params().and_then(|params| params.get("progressToken")).map(digest);
        let Some(here) = self.waiting.get_mut(&frame.connection) else { return Ok(()) };
        let alone = here.len() == 1;
        let ties = |waiting: &Waiting| match token {
            Some(_) if waiting.token == token => 3,
            Some(_) => 0,
            None if frame.exchange != 0 && waiting.exchange == frame.exchange => 2,
            None => u8::from(alone),
        };
        let nearest = here.iter_mut().max_by_key(|waiting| ties(waiting));
        match nearest.filter(|waiting| ties(waiting) > 0) {
            Some(waiting) => self.index.said(&mut waiting.before, place),
            None => Ok(()),
        }
    }

    fn cancelled(&mut self, frame: &Frame, message: &Message) {
        if message.method() == Some("notifications/cancelled")
            && let Some(id) = message.params().and_then(|params| RequestId::from_value(params.get("requestId")?))
        {
            self.taken(frame.connection, 0, &id);
        }
    }

    fn finish(mut self) -> io::Result<Index> {
        while !self.rounds.is_empty() {
            self.ended_asking()?;
        }
        Ok(self.index)
    }
}

const fn length(id: &RequestId) -> usize {
    match id {
        RequestId::String(text) | RequestId::Number(text) => text.len(),
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
