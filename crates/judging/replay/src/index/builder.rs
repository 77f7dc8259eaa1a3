//! Builds an [`Index`] from frames: matches answers to their requests, and messages to the request that they precede.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::io;

use serde_json_path::JsonPath;
use wire::trace::{Content, Frame};
use wire::{Kind, Message, Party, RequestId};

use super::{Entry, Index, asks_client};
use crate::request_key::{Key, KeyedRequest, digest};
use crate::scan::{Location, messages};
use crate::spill::List;

/// The longest method, and the longest id, that is indexed, in bytes.
const MAX_NAME: usize = 1 << 10;
/// How many requests may be pending on one connection, and in total. The oldest ones are dropped beyond that.
const PENDING: usize = 1 << 12;
const PENDING_IN_TOTAL: usize = 1 << 16;

/// What the index keeps of a request. Its name and arguments stay in the file.
#[derive(Clone)]
pub(super) struct Label {
    pub(super) method: String,
    pub(super) key: Key,
    /// Of method and name.
    pub(super) family: Key,
}

impl Label {
    fn of(request: KeyedRequest) -> Self {
        let (key, family) = (request.key(), request.family());
        Self { method: request.method, key, family }
    }
}

/// A request without an answer so far.
struct Pending {
    id: RequestId,
    exchange: u32,
    /// The digest of its progress token.
    token: Option<Key>,
    label: Label,
    request: Location,
    preceding: List,
}

impl Pending {
    const fn entry(&self, answer: Option<Location>) -> Entry {
        Entry { request: self.request, preceding: self.preceding, answer }
    }
}

/// A request whose result asked for input, until the client repeats the request with it.
struct Round {
    /// The digest of its `requestState`.
    state: Option<Key>,
    pending: Pending,
}

/// Reads frames in order and indexes what they hold.
#[derive(Default)]
pub(crate) struct Builder<'v> {
    volatile: Cow<'v, [JsonPath]>,
    index: Index,
    /// By connection, the oldest first. Connections without pending requests are absent.
    pending: BTreeMap<u32, VecDeque<Pending>>,
    /// How many requests are pending on all connections.
    pending_count: usize,
    /// Oldest first.
    rounds: VecDeque<Round>,
}

impl<'v> Builder<'v> {
    /// A builder that has read nothing.
    pub(crate) fn new(volatile: impl Into<Cow<'v, [JsonPath]>>) -> Self {
        Self { volatile: volatile.into(), ..Self::default() }
    }

    /// The index so far.
    pub(crate) const fn index(&self) -> &Index {
        &self.index
    }

    /// Reads a frame. Fails where the index cannot grow.
    pub(crate) fn add(&mut self, location: Location, frame: &Frame) -> io::Result<()> {
        let tail = &mut self.index.tail;
        tail.at = tail.at.max(frame.done);
        tail.connection = tail.connection.max(frame.connection);
        tail.exchange = tail.exchange.max(frame.exchange);
        if matches!(frame.content, Content::Exit { .. } | Content::Closed(_)) && frame.exchange == 0 {
            // A closed connection carries no more answers.
            self.pending_count -= self.pending.remove(&frame.connection).map_or(0, |dropped| dropped.len());
        }
        for (part, message) in messages(frame) {
            let location = Location { part, ..location };
            match (frame.from, message.kind()) {
                (Party::Client, Kind::Request) => self.add_request(location, frame, &message),
                (Party::Client, Kind::Notification) => self.cancel(frame, &message),
                (Party::Server, Kind::Result | Kind::Error) => self.add_answer(location, frame, &message)?,
                (Party::Server, Kind::Request | Kind::Notification) => self.add_preceding(location, frame, &message)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn add_request(&mut self, location: Location, frame: &Frame, message: &Message) {
        let Some(id) = message.id().filter(|id| id_length(id) <= MAX_NAME) else { return };
        if message.method().is_none_or(|method| method.len() > MAX_NAME) {
            return;
        }
        let label = Label::of(KeyedRequest::of(message, &self.volatile));
        let param = |name: &str| message.params().and_then(|params| params.get(name));
        let token = message.meta().and_then(|meta| meta.get("progressToken")).map(digest);
        let (id, exchange) = (id.clone(), frame.exchange);
        let mut pending = Pending { id, exchange, token, label, request: location, preceding: List::default() };
        let state = param("requestState").map(digest);
        if state.is_some() || param("inputResponses").is_some() {
            let of_key = |round: &Round| round.pending.label.key == pending.label.key;
            let same = self.rounds.iter().position(|round| of_key(round) && round.state == state);
            let at = same.or_else(|| self.rounds.iter().rposition(of_key));
            if let Some(round) = at.and_then(|at| self.rounds.remove(at)) {
                pending.request = round.pending.request;
                pending.preceding = round.pending.preceding;
            }
        }
        self.push_pending(frame.connection, pending);
    }

    fn push_pending(&mut self, connection: u32, pending: Pending) {
        let here = self.pending.get(&connection).map_or(0, VecDeque::len);
        let full = match self.pending.keys().next() {
            Some(oldest) if self.pending_count == PENDING_IN_TOTAL => Some(*oldest),
            _ => (here == PENDING).then_some(connection),
        };
        if let Some(full) = full {
            self.remove_pending(full, 0);
        }
        self.pending_count += 1;
        self.pending.entry(connection).or_default().push_back(pending);
    }

    fn remove_pending(&mut self, connection: u32, at: usize) -> Option<Pending> {
        let here = self.pending.get_mut(&connection)?;
        let removed = here.remove(at)?;
        self.pending_count -= 1;
        if here.is_empty() {
            self.pending.remove(&connection);
        }
        Some(removed)
    }

    /// Removes the request that an answer with this id, on this connection, belongs to.
    fn take_pending(&mut self, connection: u32, exchange: u32, id: &RequestId) -> Option<Pending> {
        let here = self.pending.get(&connection)?;
        // Clients without a session may use an id twice at a time; then the exchange decides.
        let same = here.iter().position(|pending| pending.id == *id && pending.exchange == exchange);
        let at = same.or_else(|| here.iter().position(|pending| pending.id == *id))?;
        self.remove_pending(connection, at)
    }

    fn add_answer(&mut self, location: Location, frame: &Frame, message: &Message) -> io::Result<()> {
        let answered = message.id().and_then(|id| self.take_pending(frame.connection, frame.exchange, id));
        let Some(mut pending) = answered else { return Ok(()) };
        if message.kind() == Kind::Result {
            let greeting = match pending.label.method.as_str() {
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
            if asks_client(message) {
                self.index.add_preceding(&mut pending.preceding, location)?;
                let state = message.result().and_then(|result| result.get("requestState")).map(digest);
                self.rounds.push_back(Round { state, pending });
                // The oldest question counts as abandoned.
                return if self.rounds.len() > PENDING { self.close_oldest_round() } else { Ok(()) };
            }
        }
        if matches!(pending.label.method.as_str(), "initialize" | "server/discover") {
            return Ok(());
        }
        self.index.add(&pending.label, pending.entry(Some(location)))
    }

    /// Adds the oldest round as an exchange without an answer.
    fn close_oldest_round(&mut self) -> io::Result<()> {
        let Some(Round { pending, .. }) = self.rounds.pop_front() else { return Ok(()) };
        self.index.add(&pending.label, pending.entry(None))
    }

    /// Adds a request or notification of the server to the pending request that its progress token or its exchange names, or
    /// to the only pending one.
    fn add_preceding(&mut self, location: Location, frame: &Frame, message: &Message) -> io::Result<()> {
        let token = message.params().and_then(|params| params.get("progressToken")).map(digest);
        let Some(here) = self.pending.get_mut(&frame.connection) else { return Ok(()) };
        let alone = here.len() == 1;
        let score = |pending: &Pending| match token {
            Some(_) if pending.token == token => 3,
            Some(_) => 0,
            None if frame.exchange != 0 && pending.exchange == frame.exchange => 2,
            None => u8::from(alone),
        };
        let nearest = here.iter_mut().max_by_key(|pending| score(pending));
        match nearest.filter(|pending| score(pending) > 0) {
            Some(pending) => self.index.add_preceding(&mut pending.preceding, location),
            None => Ok(()),
        }
    }

    fn cancel(&mut self, frame: &Frame, message: &Message) {
        if message.method() == Some("notifications/cancelled")
            && let Some(id) = message.params().and_then(|params| RequestId::from_value(params.get("requestId")?))
        {
            self.take_pending(frame.connection, 0, &id);
        }
    }

    pub(super) fn finish(mut self) -> io::Result<Index> {
        while !self.rounds.is_empty() {
            self.close_oldest_round()?;
        }
        Ok(self.index)
    }
}

const fn id_length(id: &RequestId) -> usize {
    match id {
        RequestId::String(text) | RequestId::Number(text) => text.len(),
    }
}
