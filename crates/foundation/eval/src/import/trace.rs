//! Calls that an MCP client sent, from a trace or a recording of ours.

use std::collections::HashSet;

use wire::message::{Kind, Packet};
use wire::trace::Event;
use wire::trace::file::FrameReader;
use wire::{Message, Party};

use super::Unreadable;
use super::drafts::{Drafts, text};
use crate::call::Sample;

/// The calls of a trace.
pub(super) fn read(file: &str) -> Result<Sample, Unreadable> {
    let bad = |bad: wire::trace::file::BadTrace| {
        Unreadable::new(format!("not a trace: {}", bad.why), "a file that `proof record` wrote").at(bad.line)
    };
    let mut calls = Calls::default();
    for frame in FrameReader::new(file.lines()).map_err(bad)? {
        let frame = frame.map_err(bad)?;
        if matches!(frame.from, Party::Client | Party::Server) {
            calls.take(frame.from, frame.connection, &Event::of(&frame))?;
        }
    }
    Ok(calls.drafts.finish())
}

#[derive(Debug, Default)]
struct Calls {
    drafts: Drafts,
    /// Calls that wait for an answer, by connection and identifier.
    waiting: HashSet<(u32, String)>,
}

impl Calls {
    fn take(&mut self, from: Party, connection: u32, event: &Event) -> Result<(), Unreadable> {
        let messages: Vec<&Message> = match event.packet() {
            None => return Ok(()),
            Some(Packet::Message(message)) => vec![message],
            Some(Packet::Batch(messages)) => messages.iter().flatten().collect(),
        };
        for message in messages {
            if from == Party::Client {
                self.call(connection, message)?;
            } else if message.kind().is_response()
                && message.id().is_some_and(|id| self.waiting.remove(&(connection, id.to_json())))
            {
                self.drafts.next_turn();
            }
        }
        Ok(())
    }

    fn call(&mut self, connection: u32, message: &Message) -> Result<(), Unreadable> {
        if message.kind() != Kind::Request || message.method() != Some("tools/call") {
            return Ok(());
        }
        let Some(params) = message.params() else { return Ok(()) };
        let id = message.id().map(wire::RequestId::to_json);
        self.drafts.add(id.as_deref(), text(params, "name").unwrap_or_default(), params.get("arguments"))?;
        self.waiting.extend(id.map(|id| (connection, id)));
        Ok(())
    }
}
