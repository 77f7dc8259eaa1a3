//! Which arrays the judged party sent although no batch was sent to it. Must not know who is blamed for one.

use std::collections::BTreeMap;

use wire::message::{Fault, Packet};
use wire::trace::Content;

use crate::view::View;

/// Batches that were sent to the judged party, by connection and exchange: the event of the first.
pub(crate) struct Batches(BTreeMap<(u32, u32), usize>);

impl Batches {
    /// Those of a trace, the empty ones too.
    pub(crate) fn of(view: &View<'_>) -> Self {
        let full = view.by(view.subject().peer()).filter(|s| s.batched).map(|s| (s.connection, s.exchange, s.event));
        let empty = view.invalid_by_peer().filter(|g| g.malformed.fault == Fault::EmptyBatch);
        let mut first = BTreeMap::new();
        for (connection, exchange, event) in full.chain(empty.map(|g| (g.connection, g.exchange, g.event))) {
            let known = first.entry((connection, exchange)).or_insert(event);
            *known = event.min(*known);
        }
        Self(first)
    }

    /// Whether what came in `event` may answer a batch: a body answers what was posted in its own exchange, anything else
    /// whatever came before on its connection. JSON-RPC answers an array by an array, and no sentence says what else to do.
    pub(crate) fn provoked(&self, view: &View<'_>, event: usize) -> bool {
        let frame = view.frame(event);
        let body = matches!(frame.content, Content::Body { .. });
        let here = (frame.connection, u32::MIN)..=(frame.connection, u32::MAX);
        self.0.range(here).any(|(&(_, exchange), &sent)| sent < event && (!body || exchange == frame.exchange))
    }

    /// The first batch on a connection.
    pub(crate) fn first_on(&self, connection: u32) -> Option<usize> {
        self.0.range((connection, u32::MIN)..=(connection, u32::MAX)).map(|(_, &sent)| sent).min()
    }
}

/// The arrays that the judged party sent in the place of a message, by event.
pub(crate) fn arrays(view: &View<'_>) -> impl Iterator<Item = usize> {
    let is_array = |packet: Option<&Packet>| matches!(packet, Some(Packet::Batch(_)));
    view.events()
        .filter(move |(event, e)| is_array(e.packet()) && view.frame(*event).from == view.subject())
        .map(|(event, _)| event)
}
