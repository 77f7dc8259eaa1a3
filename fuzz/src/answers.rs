//! Who must be answered, and who was. Knows JSON-RPC, and of MCP only which requests may take their time.

use std::collections::HashMap;

use wire::message::{Packet, parse};
use wire::{Kind, Message, RequestId};

/// How often an id was asked with, and answered.
#[derive(Default)]
struct Count {
    /// Requests that must be answered at once.
    must: usize,
    /// Those, and everything else that an answer with this id may be for.
    may: usize,
    answered: usize,
}

/// The requests and the answers of one conversation.
#[derive(Default)]
pub struct Ledger {
    counts: HashMap<RequestId, Count>,
}

impl Ledger {
    /// Takes note of what was sent to the server.
    pub fn sent(&mut self, bytes: &[u8]) {
        match parse(bytes) {
            Ok(Packet::Message(message)) => self.asked(&message, !takes_time(&message)),
            // Only one revision has batches; others refuse the whole.
            Ok(Packet::Batch(parts)) => parts.iter().for_each(|part| match part {
                Ok(message) => self.asked(message, false),
                Err(malformed) => self.allowed(malformed.id.as_ref()),
            }),
            Err(malformed) => self.allowed(malformed.id.as_ref()),
        }
    }

    fn asked(&mut self, message: &Message, must: bool) {
        if let (Kind::Request, Some(id)) = (message.kind(), message.id()) {
            let count = self.counts.entry(id.clone()).or_default();
            count.must += usize::from(must);
            count.may += 1;
        }
    }

    fn allowed(&mut self, id: Option<&RequestId>) {
        if let Some(id) = id {
            self.counts.entry(id.clone()).or_default().may += 1;
        }
    }

    /// Takes note of what the server sent, which must be well-formed, and tells what it was.
    pub fn received(&mut self, bytes: &[u8]) -> Vec<Message> {
        let messages = match parse(bytes) {
            Ok(Packet::Message(message)) => vec![message],
            Ok(Packet::Batch(parts)) => parts.into_iter().map(|part| part.expect("a message in a batch")).collect(),
            Err(malformed) => panic!("the server sent {malformed:?}: {}", String::from_utf8_lossy(bytes)),
        };
        for message in messages.iter().filter(|message| message.kind().is_response()) {
            if let Some(id) = message.id() {
                self.counts.entry(id.clone()).or_default().answered += 1;
            }
        }
        messages
    }

    /// Nothing more will come: whoever had to be answered was, once, and nobody else.
    pub fn settle(&self) {
        for (id, count) in &self.counts {
            let Count { must, may, answered } = count;
            assert!(must <= answered, "{id}: {answered} answers to {must} requests");
            assert!(answered <= may, "{id}: {answered} answers to at most {may} requests");
        }
    }
}

/// Whether an answer may wait for time, for the client or for the end, and so can be cancelled.
pub fn takes_time(message: &Message) -> bool {
    matches!(message.method(), Some("tools/call" | "subscriptions/listen"))
}
