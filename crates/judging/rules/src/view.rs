//! A trace arranged for judges: messages paired with their answers, exchanges put together, what each party declared.
//!
//! Everything here is found in the trace; nothing is judged. Judges ask the view and never walk frames themselves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wire::message::{Fault, Malformed, Message, Packet};
use wire::meta;
use wire::trace::{Closed, Content, Event, Frame, Trace};
use wire::{Era, Kind, Party, Revision, Transport};

use crate::budget::{Budget, Stop};
use crate::verdict::{Breach, Located};

mod client_exit;
mod exchange;
mod index;
mod marks;
mod pairs;
mod request_validity;

pub use exchange::Exchange;
use index::Index;
use marks::Facts;
pub use marks::Timeout;
pub(crate) use marks::twin_of;
pub(crate) use request_validity::has_unpaired_escape;

/// A message and where in the trace it is.
#[derive(Clone, Copy, Debug)]
pub struct MessageAt<'v> {
    /// Its place among all messages of the trace.
    pub index: usize,
    /// The event that carried it.
    pub event: usize,
    /// Who sent it.
    pub from: Party,
    /// The connection that carried it.
    pub connection: u32,
    /// The exchange that carried it; 0 where the transport has none.
    pub exchange: u32,
    /// When it was complete, in microseconds.
    pub done: u64,
    /// Whether it was part of a batch.
    pub batched: bool,
    /// The message.
    pub message: &'v Message,
}

impl MessageAt<'_> {
    /// A breach at `pointer` within this message.
    pub fn breach(&self, pointer: impl Into<String>, why: impl Into<String>) -> Breach {
        Breach::at(self.event, pointer, why)
    }

    /// Whether this is a request or notification of `method`.
    pub fn is(&self, method: &str) -> bool {
        self.message.method() == Some(method)
    }
}

impl Located for MessageAt<'_> {
    fn event(&self) -> usize {
        self.event
    }
}

impl<T> Located for (MessageAt<'_>, T) {
    fn event(&self) -> usize {
        self.0.event
    }
}

/// A request and its response, if one came.
#[derive(Clone, Copy, Debug)]
pub struct Call<'v> {
    /// The request.
    pub request: MessageAt<'v>,
    /// The first response that answers it.
    pub response: Option<MessageAt<'v>>,
}

impl<'v> Call<'v> {
    /// The result, if it was answered with one.
    pub fn result(&self) -> Option<&'v Value> {
        self.response?.message.result()
    }

    /// The error, if it was answered with one.
    pub fn error(&self) -> Option<&'v Value> {
        self.response?.message.error()
    }

    /// The error's code, if it was answered with one.
    pub fn error_code(&self) -> Option<i64> {
        self.response?.message.error_code()
    }
}

impl Located for Call<'_> {
    fn event(&self) -> usize {
        self.response.map_or(self.request.event, |r| r.event)
    }
}

/// Bytes that should have been a message.
#[derive(Clone, Copy, Debug)]
pub struct InvalidMessage<'v> {
    /// The event.
    pub event: usize,
    /// Who sent it.
    pub from: Party,
    /// The connection.
    pub connection: u32,
    /// The exchange; 0 where the transport has none.
    pub exchange: u32,
    /// What is wrong with it.
    pub malformed: &'v Malformed,
}

impl Located for InvalidMessage<'_> {
    fn event(&self) -> usize {
        self.event
    }
}

/// A span in which the observer listened without sending, from its opening to its closing mark.
#[derive(Clone, Copy, Debug)]
pub struct Window<'v> {
    /// The event of the opening mark.
    pub opened: usize,
    /// The event of the closing mark.
    pub closed: usize,
    /// The connection listened to.
    pub connection: u32,
    /// What for.
    pub name: &'v str,
}

impl Located for Window<'_> {
    fn event(&self) -> usize {
        self.closed
    }
}

/// A trace arranged for judges.
pub struct View<'v> {
    trace: &'v Trace,
    /// The frames that are judged: those up to the limit of the trace's size, if that was reached.
    frames: &'v [Frame],
    events: &'v [Event],
    revision: Revision,
    messages: Vec<MessageAt<'v>>,
    invalid: Vec<InvalidMessage<'v>>,
    answers: BTreeMap<usize, usize>,
    questions: BTreeMap<usize, usize>,
    handshakes: BTreeMap<u32, usize>,
    exchanges: Vec<Exchange<'v>>,
    /// The index of each exchange, by its number.
    numbers: BTreeMap<u32, usize>,
    /// The indices of exchanges with the MCP endpoint.
    endpoint: Vec<usize>,
    /// What the server declared, each time.
    declarations: Vec<&'v Value>,
    discovered: Option<BTreeSet<&'v str>>,
    modern_only: Option<bool>,
    index: Index<'v>,
    facts: Facts,
    budget: Budget,
}

impl<'v> View<'v> {
    /// Arranges a trace and its events ([`Trace::events`]) as judged at `revision`.
    pub fn new(trace: &'v Trace, events: &'v [Event], revision: Revision) -> Self {
        let frames = marks::seen(&trace.frames);
        let mut view = Self {
            trace,
            frames,
            events: &events[..frames.len().min(events.len())],
            revision,
            messages: Vec::new(),
            invalid: Vec::new(),
            answers: BTreeMap::new(),
            questions: BTreeMap::new(),
            handshakes: BTreeMap::new(),
            exchanges: Vec::new(),
            numbers: BTreeMap::new(),
            endpoint: Vec::new(),
            declarations: Vec::new(),
            discovered: None,
            modern_only: None,
            index: Index::default(),
            facts: Facts::default(),
            budget: Budget::of(trace),
        };
        view.sort();
        view.answers = pairs::pair(trace, &view.messages);
        view.questions = view.answers.iter().map(|(&request, &answer)| (answer, request)).collect();
        view.handshakes = view.find_handshakes();
        view.gather();
        view.declarations = view.find_declarations();
        view.discovered = view.find_discovered();
        view.modern_only = view.find_modern_only();
        view.index = Index::of(&view);
        view.facts = Facts::of(&view);
        view
    }

    /// The same view, whose judges give up once `stop` says so.
    #[must_use]
    pub fn until(mut self, stop: Stop) -> Self {
        self.budget.obey(stop);
        self
    }

    fn sort(&mut self) {
        for (event, (frame, understood)) in self.frames.iter().zip(self.events).enumerate() {
            match understood {
                Event::Packet(packet) | Event::Sse { packet: Some(Ok(packet)), .. } => self.take(event, frame, packet),
                Event::Malformed(malformed) | Event::Sse { packet: Some(Err(malformed)), .. } => {
                    self.take_invalid(event, frame, malformed);
                }
                // What a client posts to a server was meant to be a message; a server's body that is not JSON is garbled
                // only where it claims to be JSON: see `Exchange`.
                Event::Body(malformed)
                    if frame.from == Party::Client && frame.to == Party::Server && malformed.fault != Fault::Empty =>
                {
                    self.take_invalid(event, frame, malformed);
                }
                Event::Sse { packet: None, .. } | Event::Body(_) | Event::Plain => {}
            }
        }
    }

    fn take(&mut self, event: usize, frame: &Frame, packet: &'v Packet) {
        let mut push = |message: &'v Message, batched: bool| {
            self.messages.push(MessageAt {
                index: self.messages.len(),
                event,
                from: frame.from,
                connection: frame.connection,
                exchange: frame.exchange,
                done: frame.done,
                batched,
                message,
            });
        };
        match packet {
            Packet::Message(message) => push(message, false),
            Packet::Batch(parts) => {
                parts.iter().filter_map(|p| p.as_ref().ok()).for_each(|message| push(message, true));
                for malformed in parts.iter().filter_map(|p| p.as_ref().err()) {
                    self.take_invalid(event, frame, malformed);
                }
            }
        }
    }

    fn take_invalid(&mut self, event: usize, frame: &Frame, malformed: &'v Malformed) {
        let Frame { from, connection, exchange, .. } = *frame;
        self.invalid.push(InvalidMessage { event, from, connection, exchange, malformed });
    }

    /// The work that the current judge has left.
    pub const fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The trace.
    pub const fn trace(&self) -> &'v Trace {
        self.trace
    }

    /// The frame of an event.
    pub fn frame(&self, event: usize) -> &'v Frame {
        &self.trace.frames[event]
    }

    /// Every frame with its event's index.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = (usize, &'v Frame)> + use<'v> {
        self.budget.walk(self.frames.iter().enumerate())
    }

    /// Every event with its index.
    pub fn events(&self) -> impl Iterator<Item = (usize, &'v Event)> + use<'v> {
        self.budget.walk(self.events.iter().enumerate())
    }

    /// The revision the trace is judged at.
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Its era.
    pub const fn era(&self) -> Era {
        self.revision.era()
    }

    /// What carried the messages.
    pub const fn transport(&self) -> Transport {
        self.trace.header.transport
    }

    /// The party that is judged.
    pub const fn subject(&self) -> Party {
        self.trace.header.subject
    }

    /// All messages, in the order in which they were seen.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = MessageAt<'v>> + '_ {
        self.budget.walk(self.messages.iter().copied())
    }

    /// The messages of one party.
    pub fn by(&self, party: Party) -> impl DoubleEndedIterator<Item = MessageAt<'v>> + '_ {
        self.messages().filter(move |s| s.from == party)
    }

    /// The messages of the judged party.
    pub fn by_subject(&self) -> impl DoubleEndedIterator<Item = MessageAt<'v>> + '_ {
        self.by(self.subject())
    }

    /// Bytes of the judged party that should have been messages.
    pub fn invalid_by_subject(&self) -> impl Iterator<Item = InvalidMessage<'v>> + '_ {
        self.budget.walk(self.invalid.iter().copied()).filter(|g| g.from == self.subject())
    }

    /// Whether an invalid message gives an impossible id back: it answers an impossible request of the other party.
    pub fn echoes_impossible_id(&self, answer: &InvalidMessage<'v>) -> bool {
        let fault = &answer.malformed.fault;
        let same = |asked: InvalidMessage<'v>| {
            asked.connection == answer.connection && asked.event < answer.event && asked.malformed.fault == *fault
        };
        matches!(fault, Fault::IdType | Fault::IdFraction | Fault::IdNull) && self.invalid_by_peer().any(same)
    }

    /// Bytes of the other party (sent by a probe on purpose) that are not messages.
    pub fn invalid_by_peer(&self) -> impl Iterator<Item = InvalidMessage<'v>> + '_ {
        self.budget.walk(self.invalid.iter().copied()).filter(|g| g.from != self.subject())
    }

    /// Notifications of `method` by the judged party.
    pub fn notifications<'a>(&'a self, method: &'a str) -> impl Iterator<Item = MessageAt<'v>> + 'a {
        self.by_subject().filter(move |s| s.message.kind() == Kind::Notification && s.is(method))
    }

    /// Requests put *to* the judged party, with their answers: all of them.
    pub fn all_calls(&self) -> impl Iterator<Item = Call<'v>> + '_ {
        self.calls_by(self.subject().peer())
    }

    /// Requests of `method` put *to* the judged party, with their answers.
    pub fn calls<'a>(&'a self, method: &'a str) -> impl Iterator<Item = Call<'v>> + 'a {
        self.all_calls().filter(move |c| c.request.is(method))
    }

    /// Requests that `party` made, with their answers.
    pub fn calls_by(&self, party: Party) -> impl Iterator<Item = Call<'v>> + '_ {
        self.by(party)
            .filter(|s| s.message.kind() == Kind::Request)
            .map(|request| Call { request, response: self.answer(request) })
    }

    /// Requests of `method` that the client made, with their answers, whichever party is judged.
    pub fn client_calls<'a>(&'a self, method: &'a str) -> impl Iterator<Item = Call<'v>> + 'a {
        self.calls_by(Party::Client).filter(move |c| c.request.is(method))
    }

    /// The response to a request.
    pub fn answer(&self, request: MessageAt<'v>) -> Option<MessageAt<'v>> {
        self.answers.get(&request.index).map(|&index| self.messages[index])
    }

    /// The request that a response answers.
    pub fn question(&self, response: MessageAt<'v>) -> Option<MessageAt<'v>> {
        self.questions.get(&response.index).map(|&index| self.messages[index])
    }

    /// Results of `method` by the judged party: the response and its `result`.
    pub fn results<'a>(&'a self, method: &'a str) -> impl Iterator<Item = (MessageAt<'v>, &'v Value)> + 'a {
        self.calls(method).filter_map(|c| Some((c.response?, c.result()?)))
    }

    /// Whether a message is to be read by the revision that the trace is judged at.
    pub fn is_current(&self, sent: MessageAt<'v>) -> bool {
        self.revision_of(sent) == Some(self.revision)
    }

    /// How a connection ended, as far as the trace shows.
    pub fn closings(&self) -> impl Iterator<Item = (usize, &'v Frame, &'v Closed)> + use<'v> {
        self.frames().filter_map(|(event, frame)| match &frame.content {
            Content::Closed(how) => Some((event, frame, how)),
            _ => None,
        })
    }

    /// The first `initialize` that was answered with a result.
    pub fn initialized(&self) -> Option<Call<'v>> {
        self.calls_by(Party::Client).find(|c| c.request.is("initialize") && c.result().is_some())
    }

    /// The revision that the handshake agreed on, as text.
    pub fn negotiated(&self) -> Option<&'v str> {
        self.initialized()?.result()?.get("protocolVersion")?.as_str()
    }

    /// The first `initialize` of a connection that was answered with a result.
    pub fn handshake(&self, connection: u32) -> Option<Call<'v>> {
        let request = self.messages[*self.handshakes.get(&connection)?];
        Some(Call { request, response: self.answer(request) })
    }

    fn find_handshakes(&self) -> BTreeMap<u32, usize> {
        let mut first = BTreeMap::new();
        for call in self.calls_by(Party::Client).filter(|c| c.request.is("initialize") && c.result().is_some()) {
            first.entry(call.request.connection).or_insert(call.request.index);
        }
        first
    }

    /// The revision that a message is to be read by: what its request's `_meta` names, else what its connection's
    /// handshake agreed on, else the trace's. `None` where that is not a revision we know, or where a modern request does
    /// not say.
    pub fn revision_of(&self, sent: MessageAt<'v>) -> Option<Revision> {
        let request = if sent.message.kind().is_response() { self.question(sent)? } else { sent };
        if let Some(version) = request.message.params().and_then(|p| p.get("_meta")?.get(meta::PROTOCOL_VERSION)) {
            return version.as_str()?.parse().ok();
        }
        if request.is("initialize") {
            return self.answer(request)?.message.result()?.get("protocolVersion")?.as_str()?.parse().ok();
        }
        if let Some(handshake) = self.handshake(sent.connection) {
            return handshake.result()?.get("protocolVersion")?.as_str()?.parse().ok();
        }
        let modern_request = self.era() == Era::Modern && request.message.kind() == Kind::Request;
        (!modern_request).then_some(self.revision)
    }

    /// The server's capabilities as first declared: the result of `initialize` or of `server/discover`.
    pub fn server_capabilities(&self) -> Option<&'v Value> {
        self.declarations.first().copied()
    }

    fn find_declarations(&self) -> Vec<&'v Value> {
        self.calls_by(Party::Client)
            .filter(|c| c.request.is("initialize") || c.request.is("server/discover"))
            .filter_map(|c| c.result()?.get("capabilities"))
            .collect()
    }

    /// A server capability by dotted path: `resources.subscribe`. `false` counts as not declared.
    pub fn capability(&self, path: &str) -> Option<&'v Value> {
        declared(self.server_capabilities()?, path)
    }

    /// Whether the client declared a capability anywhere: in an `initialize`, or with a request of the modern era. `None`
    /// where it declared nothing at all, not even that it has no capabilities.
    pub fn client_declares(&self, path: &str) -> Option<bool> {
        let greeted = |s: MessageAt<'v>| s.message.params()?.get("capabilities").filter(|_| s.is("initialize"));
        let each = self
            .by(Party::Client)
            .filter_map(|s| greeted(s).or_else(|| s.message.meta()?.get(meta::CLIENT_CAPABILITIES)));
        each.fold(None, |sum, own| Some(sum == Some(true) || declared(own, path).is_some()))
    }

    /// Whether the server declared a capability any time it was asked: what it declares may depend on the client.
    pub fn declares_ever(&self, path: &str) -> bool {
        self.declarations.iter().any(|capabilities| declared(capabilities, path).is_some())
    }
}

/// The value at a dotted path within declared capabilities; `false` and `null` count as not declared. What follows
/// `extensions.` is an extension's id, dots and all.
pub fn declared<'c>(capabilities: &'c Value, path: &str) -> Option<&'c Value> {
    let found = match path.strip_prefix("extensions.") {
        Some(id) => capabilities.get("extensions")?.get(id)?,
        None => path.split('.').try_fold(capabilities, |value, step| value.get(step))?,
    };
    (!found.is_null() && found != &Value::Bool(false)).then_some(found)
}
