//! What marks show: stimuli, requests that timed out, processes that we ended. A mark about a request is found
//! by its connection and the request together; an id alone may be used on several connections, or twice on one.

use std::collections::{BTreeMap, BTreeSet};

use wire::trace::{Content, Frame, Limit, Mark, Signal, Stimulus, StimulusKind};
use wire::{Party, RequestId};

use super::{MessageAt, View};

/// The frames up to the mark that the trace reached its limit, and that. What the recorder still writes then is a part of what
/// crossed: an end without what led to it.
pub(super) fn seen(frames: &[Frame]) -> &[Frame] {
    let cut = frames.iter().position(is_trace_limit).map_or(frames.len(), |at| at + 1);
    &frames[..cut]
}

fn is_trace_limit(frame: &Frame) -> bool {
    matches!(frame.content, Content::Mark(Mark::Limit(Limit::Trace)))
}

/// A request that was not answered in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// The event of the mark.
    pub event: usize,
    /// How long it was waited for, in milliseconds.
    pub after_ms: u64,
}

/// Facts about requests, by the request's place among all messages; and about processes, by connection.
#[derive(Default)]
pub(super) struct Facts {
    timeouts: BTreeMap<usize, Timeout>,
    /// All of them, by connection and id.
    timeouts_by_id: BTreeMap<(u32, RequestId), Vec<Timeout>>,
    cancellations: BTreeMap<usize, usize>,
    /// The requests of which an id of the other type was cancelled that reads the same.
    twins_cancelled: BTreeSet<usize>,
    /// Where we first closed a process's stdin or signalled it.
    stopped: BTreeMap<u32, usize>,
}

impl Facts {
    pub(super) fn of(view: &View<'_>) -> Self {
        let mut facts = Self::default();
        for (event, mark) in view.marks() {
            let connection = view.frame(event).connection;
            match mark {
                Mark::Unanswered { id, after_ms } => facts.time_out(view, event, id, *after_ms),
                Mark::StdinClosed | Mark::Signal(_) => {
                    facts.stopped.entry(connection).or_insert(event);
                }
                _ => {}
            }
        }
        for sent in view.messages().filter(|sent| sent.is("notifications/cancelled")) {
            facts.cancel(view, sent);
        }
        facts
    }

    /// The mark belongs to the last request of that id on its connection that had no answer then, and no mark of its own.
    fn time_out(&mut self, view: &View<'_>, event: usize, id: &RequestId, after_ms: u64) {
        let waits = |request: &MessageAt<'_>| {
            let open = view.answer(*request).is_none_or(|answer| answer.event > event);
            request.event < event && open && !self.timeouts.contains_key(&request.index)
        };
        let (connection, timeout) = (view.frame(event).connection, Timeout { event, after_ms });
        self.timeouts_by_id.entry((connection, id.clone())).or_default().push(timeout);
        if let Some(request) = view.requests_under(id, view.subject().peer(), connection).rfind(waits) {
            self.timeouts.entry(request.index).or_insert(timeout);
        }
    }

    /// A cancellation belongs to the last request of that id that its sender made on its connection.
    fn cancel(&mut self, view: &View<'_>, sent: MessageAt<'_>) {
        let named = sent.message.params().and_then(|params| RequestId::from_value(params.get("requestId")?));
        let Some(id) = named else { return };
        let last = |id: &RequestId| {
            view.requests_under(id, sent.from, sent.connection).rfind(|request| request.index < sent.index)
        };
        if let Some(request) = last(&id) {
            self.cancellations.entry(request.index).or_insert(sent.index);
        }
        self.twins_cancelled.extend(last(&twin_of(&id)).map(|request| request.index));
    }
}

/// The identifier of the same text and the other type: `"1"` for `1`.
pub(crate) fn twin_of(id: &RequestId) -> RequestId {
    match id {
        RequestId::Number(text) => RequestId::String(text.clone()),
        RequestId::String(text) => RequestId::Number(text.clone()),
    }
}

impl<'v> View<'v> {
    /// Every mark with its event.
    pub fn marks(&self) -> impl Iterator<Item = (usize, &'v Mark)> + use<'v> {
        self.frames().filter_map(|(event, frame)| match &frame.content {
            Content::Mark(mark) => Some((event, mark)),
            _ => None,
        })
    }

    /// Every stimulus with its event.
    pub fn stimuli(&self) -> impl Iterator<Item = (usize, &'v Stimulus)> + use<'v> {
        self.marks()
            .filter_map(|(event, mark)| if let Mark::Stimulus(what) = mark { Some((event, what)) } else { None })
    }

    /// The events of the stimuli of one kind.
    pub fn stimulated(&self, kind: StimulusKind) -> impl Iterator<Item = usize> + use<'v> {
        self.stimuli().filter(move |(_, what)| what.kind() == Some(kind)).map(|(event, _)| event)
    }

    /// The events in which we closed a child's stdin.
    pub fn stdin_closings(&self) -> impl Iterator<Item = usize> + use<'v> {
        self.marks().filter(|(_, mark)| **mark == Mark::StdinClosed).map(|(event, _)| event)
    }

    /// The signals that we sent, with their events.
    pub fn signals(&self) -> impl Iterator<Item = (usize, Signal)> + use<'v> {
        self.marks()
            .filter_map(|(event, mark)| if let Mark::Signal(signal) = mark { Some((event, *signal)) } else { None })
    }

    /// Samples of a child's memory in bytes, with their events.
    pub fn memory_samples(&self) -> impl Iterator<Item = (usize, u64)> + use<'v> {
        self.marks()
            .filter_map(|(event, mark)| if let Mark::Memory(bytes) = mark { Some((event, *bytes)) } else { None })
    }

    /// Whether we closed a process's stdin or signalled it before `event`.
    pub fn was_stopped(&self, event: usize, connection: u32) -> bool {
        self.facts.stopped.get(&connection).is_some_and(|stopped| *stopped < event)
    }

    /// Where a request to the judged party timed out.
    pub fn timeout_of(&self, request: MessageAt<'v>) -> Option<Timeout> {
        self.facts.timeouts.get(&request.index).copied()
    }

    /// The same for a request that went out in `event` in a way that no message is read from.
    pub fn timeout_after(&self, event: usize, id: &RequestId, connection: u32) -> Option<Timeout> {
        let timeouts_by_id = self.facts.timeouts_by_id.get(&(connection, id.clone()))?;
        timeouts_by_id.iter().find(|timeout| timeout.event > event).copied()
    }

    /// The first notification by which the sender of a request cancelled it.
    pub fn cancellation_of(&self, request: MessageAt<'v>) -> Option<MessageAt<'v>> {
        self.facts.cancellations.get(&request.index).map(|&sent| self.messages[sent])
    }

    /// Whether the sender of a request cancelled an id of the other type that reads the same: "5" for 5.
    pub fn is_twin_cancelled(&self, request: MessageAt<'v>) -> bool {
        self.facts.twins_cancelled.contains(&request.index)
    }

    /// Whether the trace reached the limit of its size: what came later is not in it, or is not judged.
    pub fn is_cut(&self) -> bool {
        self.frames.last().is_some_and(is_trace_limit)
    }

    /// Where we ceased to see what the client under test does: we killed it because its time was up, or the trace reached its
    /// limit. It might have done more later.
    pub fn client_unseen_from(&self) -> Option<usize> {
        let client = self.subject() == Party::Client;
        let killed = self.signals().map(|(event, _)| event).find(|&event| self.frame(event).connection == 0);
        let cut = self.is_cut().then(|| self.frames.len() - 1);
        killed.or(cut).filter(|_| client)
    }
}
