//! A trace that nobody arranged may hold several revisions: each connection has its own, and is judged by that.

use std::collections::{BTreeMap, BTreeSet};

use rules::View;
use wire::meta;
use wire::trace::{Header, Trace};
use wire::{Party, Revision};

/// Which connections spoke which revision. One that never came to speak any is left out.
pub fn spoken(trace: &Trace) -> BTreeMap<Revision, BTreeSet<u32>> {
    let events = trace.events();
    let view = View::new(trace, &events, Revision::NEWEST);
    let mut spoken: BTreeMap<Revision, BTreeSet<u32>> = BTreeMap::new();
    let mut told = BTreeSet::new();
    for said in view.by(Party::Client) {
        if told.contains(&said.connection) {
            continue;
        }
        let version = match view.handshake(said.connection) {
            Some(handshake) => handshake.result().and_then(|result| result.get("protocolVersion")),
            None => said.message.params().and_then(|params| params.get("_meta")?.get(meta::PROTOCOL_VERSION)),
        };
        if let Some(revision) = version.and_then(|version| version.as_str()?.parse().ok()) {
            told.insert(said.connection);
            spoken.entry(revision).or_default().insert(said.connection);
        }
    }
    spoken
}

/// What crossed on some connections, and what is no connection's.
pub fn part(trace: &Trace, revision: Revision, connections: &BTreeSet<u32>) -> Trace {
    let mut places = vec![None; trace.frames.len()];
    let mut frames = Vec::new();
    for (index, frame) in trace.frames.iter().enumerate() {
        if frame.connection == 0 || connections.contains(&frame.connection) {
            places[index] = Some(frames.len());
            frames.push(frame.clone());
        }
    }
    for frame in &mut frames {
        frame.cause = frame.cause.and_then(|cause| places.get(cause).copied().flatten());
    }
    Trace { header: Header { revision: Some(revision), ..trace.header.clone() }, frames }
}
