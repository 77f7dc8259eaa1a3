//! Facts that judges look up for many messages, found in one walk: without it, each lookup would walk
//! the whole trace. Private to [`View`].

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wire::meta;
use wire::trace::{Closed, Content, Frame, Mark};
use wire::{Kind, Party, RequestId};

use super::{Call, MessageAt, View, Window};

/// Places in a trace, by what they are asked for.
#[derive(Default)]
pub(super) struct Index<'v> {
    /// Closed quiet windows, by their openings.
    windows: Vec<Window<'v>>,
    /// The same by connection.
    windows_by_connection: BTreeMap<u32, Vec<Window<'v>>>,
    /// By connection: answered requests to the judged party, as events of the request and of the answer.
    answered: BTreeMap<u32, Vec<(usize, usize)>>,
    /// By exchange: frames that end it.
    ends: BTreeMap<u32, Vec<usize>>,
    /// By connection: frames that end it, or by which we end it, outside any exchange.
    connection_ends: BTreeMap<u32, Vec<usize>>,
    /// Connections on which something cannot be read.
    partly_unseen: BTreeSet<u32>,
    /// By connection: where it was seen to open.
    opened: BTreeMap<u32, usize>,
    /// By connection: what the client's first `initialize` that says so declared.
    declared: BTreeMap<u32, &'v Value>,
    /// By connection and sender: the place of the first message.
    first: BTreeMap<(u32, Party), usize>,
    /// By connection, sender and id: the places of requests.
    requests_by_id: BTreeMap<(u32, Party, &'v RequestId), Vec<usize>>,
    /// By sender: ids of all requests.
    known: BTreeSet<(Party, &'v RequestId)>,
    /// Events of the judged party's messages.
    pub(super) own: Vec<usize>,
    /// By connection and exchange: events of the judged party's messages.
    by_stream: BTreeMap<(u32, u32), Vec<usize>>,
    /// By exchange: events that say it was closed.
    closed: BTreeMap<u32, Vec<usize>>,
    /// By connection: events and places of the judged party's errors without an id.
    errors_without_id: BTreeMap<u32, Vec<(usize, usize)>>,
    /// By connection and sender: the first event that should have been a message.
    invalid: BTreeMap<(u32, Party), usize>,
}

impl<'v> Index<'v> {
    pub(super) fn of(view: &View<'v>) -> Self {
        let mut index = Self { windows: windows(view), ..Self::default() };
        for window in &index.windows {
            index.windows_by_connection.entry(window.connection).or_default().push(*window);
        }
        for (event, frame) in view.frames() {
            index.take(event, frame, view.subject());
        }
        index.listen(view);
        index
    }

    fn take(&mut self, event: usize, frame: &'v Frame, subject: Party) {
        let ends = match &frame.content {
            Content::Closed(how) => matches!(how, Closed::End | Closed::Aborted | Closed::TimedOut),
            Content::Body { complete, .. } => *complete && frame.from == subject,
            Content::Response { status, .. } => *status == 202 || *status == 204,
            _ => false,
        };
        if ends {
            self.ends.entry(frame.exchange).or_default().push(event);
        }
        if matches!(frame.content, Content::Closed(_)) {
            self.closed.entry(frame.exchange).or_default().push(event);
        }
        let by_us = matches!(&frame.content, Content::Mark(Mark::StdinClosed | Mark::Signal(_)));
        let ends_connection = by_us || matches!(&frame.content, Content::Closed(_) | Content::Exit { .. });
        if ends_connection && frame.exchange == 0 {
            self.connection_ends.entry(frame.connection).or_default().push(event);
        }
        let raw = matches!(frame.content, Content::Raw(_)) && frame.from == subject.peer();
        if raw || matches!(&frame.content, Content::Mark(Mark::Limit(_))) {
            self.partly_unseen.insert(frame.connection);
        }
        if matches!(frame.content, Content::Opened) {
            self.opened.entry(frame.connection).or_insert(event);
        }
    }

    /// Collects what the messages show.
    fn listen(&mut self, view: &View<'v>) {
        for Call { request, response } in view.all_calls() {
            if let Some(response) = response {
                self.answered.entry(request.connection).or_default().push((request.event, response.event));
            }
        }
        for sent in view.messages() {
            self.first.entry((sent.connection, sent.from)).or_insert(sent.index);
            if let Some(id) = sent.message.id().filter(|_| sent.message.kind() == Kind::Request) {
                self.requests_by_id.entry((sent.connection, sent.from, id)).or_default().push(sent.index);
                self.known.insert((sent.from, id));
            }
            if sent.from == view.subject() {
                self.own.push(sent.event);
                self.by_stream.entry((sent.connection, sent.exchange)).or_default().push(sent.event);
                if sent.message.kind() == Kind::Error && sent.message.id().is_none() {
                    self.errors_without_id.entry(sent.connection).or_default().push((sent.event, sent.index));
                }
            }
        }
        for sent in view.by(Party::Client) {
            let params = sent.message.params();
            if let Some(capabilities) = params.and_then(|p| p.get("capabilities")).filter(|_| sent.is("initialize")) {
                self.declared.entry(sent.connection).or_insert(capabilities);
            }
        }
        for invalid in &view.invalid {
            self.invalid.entry((invalid.connection, invalid.from)).or_insert(invalid.event);
        }
    }
}

/// Every window with the first mark after its opening that closes one of its name on its connection.
fn windows<'v>(view: &View<'v>) -> Vec<Window<'v>> {
    let mut open: BTreeMap<(u32, &'v String), Vec<usize>> = BTreeMap::new();
    let mut windows = Vec::new();
    for (event, frame) in view.frames() {
        match &frame.content {
            Content::Mark(Mark::WindowOpened(name)) => {
                open.entry((frame.connection, name)).or_default().push(event);
            }
            Content::Mark(Mark::WindowClosed(name)) => {
                let ended = open.remove(&(frame.connection, name)).unwrap_or_default().into_iter();
                let connection = frame.connection;
                windows.extend(ended.map(|opened| Window { opened, closed: event, connection, name }));
            }
            _ => {}
        }
    }
    windows.sort_by_key(|w| w.opened);
    windows
}

/// The first of `events`, which are in order, that comes after `event`.
fn after(events: Option<&Vec<usize>>, event: usize) -> Option<usize> {
    let events = events?;
    events.get(events.partition_point(|&e| e <= event)).copied()
}

impl<'v> View<'v> {
    /// Closed quiet windows, in the order in which they opened.
    pub fn windows(&self) -> &[Window<'v>] {
        &self.index.windows
    }

    /// Closed quiet windows of one connection, in the same order.
    pub fn windows_on(&self, connection: u32) -> &[Window<'v>] {
        self.index.windows_by_connection.get(&connection).map_or(&[], Vec::as_slice)
    }

    /// The first window on `connection` that opened after `event`: by its end, what `event` led to had its time.
    pub fn window_after(&self, event: usize, connection: u32) -> Option<Window<'v>> {
        let here = self.windows_on(connection);
        here.get(here.partition_point(|w| w.opened <= event)).copied()
    }

    /// The answer to the first request made after `event` on a connection that has one.
    pub fn answered_after(&self, event: usize, connection: u32) -> Option<usize> {
        let answered = self.index.answered.get(&connection)?;
        answered.get(answered.partition_point(|(request, _)| *request <= event)).map(|(_, response)| *response)
    }

    /// What happened to a connection after `event`: `Ok` with the answer to a request sent later, `Err` with the event by
    /// which the server ended it on its own, `None` where neither is seen. Of a client, which need not stay: [`View::reaction`].
    pub fn aftermath(&self, event: usize, connection: u32) -> Option<Result<usize, usize>> {
        if self.subject() == Party::Client {
            return self.reaction(event);
        }
        if let Some(answer) = self.answered_after(event, connection) {
            return Some(Ok(answer));
        }
        let outcome_of = after(self.index.connection_ends.get(&connection), event)?;
        let frame = self.frame(outcome_of);
        let ended = matches!(&frame.content, Content::Closed(Closed::End | Closed::Reset) | Content::Exit { .. });
        (ended && frame.from == self.subject()).then_some(Err(outcome_of))
    }

    /// The first event by which whatever `event` could still provoke would have shown: within an exchange its end, else
    /// the answer to a request sent later on its connection; in both cases the end of a quiet window opened later.
    pub fn settled(&self, event: usize) -> Option<usize> {
        let Frame { connection, exchange, .. } = *self.frame(event);
        let window = self.window_after(event, connection).map(|w| w.closed);
        let ended = if exchange == 0 {
            self.answered_after(event, connection)
        } else {
            after(self.index.ends.get(&exchange), event)
        };
        ended.into_iter().chain(window).min()
    }

    /// Whether everything that the other party sent on a connection can be read here: nothing went out piecemeal or
    /// outside any framing, and nothing was dropped. Only then is what has no visible cause known to have none.
    pub fn is_fully_seen(&self, connection: u32) -> bool {
        !self.is_cut() && !self.index.partly_unseen.contains(&connection)
    }

    /// Where a connection was seen to open.
    pub fn opened(&self, connection: u32) -> Option<usize> {
        self.index.opened.get(&connection).copied()
    }

    /// Whether a message is the first of its sender on its connection.
    pub fn is_first(&self, sent: MessageAt<'_>) -> bool {
        self.index.first.get(&(sent.connection, sent.from)) == Some(&sent.index)
    }

    /// The first message of `party` on a connection.
    pub fn first_of(&self, party: Party, connection: u32) -> Option<MessageAt<'v>> {
        self.index.first.get(&(connection, party)).map(|&place| self.messages[place])
    }

    /// Whether something that `party` sent on a connection before `event` should have been a message and is not.
    pub fn invalid_before(&self, event: usize, party: Party, connection: u32) -> bool {
        self.index.invalid.get(&(connection, party)).is_some_and(|first| *first < event)
    }

    /// Requests of `party` on a connection under that id, in order.
    pub fn requests_under<'a>(
        &'a self,
        id: &'a RequestId,
        party: Party,
        connection: u32,
    ) -> impl DoubleEndedIterator<Item = MessageAt<'v>> + use<'a, 'v> {
        let places = self.index.requests_by_id.get(&(connection, party, id)).map_or(&[][..], Vec::as_slice);
        places.iter().map(|&place| self.messages[place])
    }

    /// Whether `party` made a request under that id on any connection.
    pub fn has_asked(&self, id: &RequestId, party: Party) -> bool {
        self.index.known.contains(&(party, id))
    }

    /// The first message of the judged party after `event` on the same stream.
    pub fn next_on_stream(&self, event: usize, connection: u32, exchange: u32) -> Option<usize> {
        after(self.index.by_stream.get(&(connection, exchange)), event)
    }

    /// The first error without an id that the judged party sent after `event` on a connection.
    pub fn error_without_id_after(&self, event: usize, connection: u32) -> Option<MessageAt<'v>> {
        let errors = self.index.errors_without_id.get(&connection)?;
        errors.get(errors.partition_point(|(at, _)| *at <= event)).map(|&(_, place)| self.messages[place])
    }

    /// Where an exchange was closed after `event`.
    pub fn closed_after(&self, event: usize, exchange: u32) -> Option<usize> {
        after(self.index.closed.get(&exchange), event)
    }

    /// The client's capabilities as last declared before (or in) message `said`: its own `_meta` in the modern era, the
    /// `initialize` request of its connection in the legacy era.
    pub fn client_capabilities(&self, sent: MessageAt<'v>) -> Option<&'v Value> {
        let own = sent.message.params().and_then(|p| p.get("_meta")?.get(meta::CLIENT_CAPABILITIES));
        own.or_else(|| self.index.declared.get(&sent.connection).copied())
    }
}
