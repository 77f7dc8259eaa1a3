//! Streams: bytes of server-sent events in any chunks, whose dialect the first event tells.

use serde_json::Value;
use wire::framing::Piece;
use wire::framing::sse::{Block, Blocks};

use super::drafts::text;
use super::{Unreadable, chat, messages, responses};
use crate::call::Sample;

/// How long one event may be.
const MOST_EVENT: usize = 16 << 20;

/// Puts the calls of one stream together.
#[derive(Debug)]
pub struct Assembler {
    blocks: Blocks,
    events: Events,
}

impl Default for Assembler {
    fn default() -> Self {
        Self { blocks: Blocks::new(MOST_EVENT), events: Events::default() }
    }
}

impl Assembler {
    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Unreadable> {
        self.blocks.push(bytes);
        while let Some(piece) = self.blocks.next_block() {
            match piece {
                Piece::Whole(block) => self.events.block(block)?,
                Piece::TooLong(_) | Piece::Rest(_) => {
                    return Err(Unreadable::new("an event has more than 16 MiB", "a stream of shorter events"));
                }
            }
        }
        Ok(())
    }

    /// The end of the stream: one sample, or one for each alternative. An event that is not complete is left out.
    pub fn finish(mut self) -> Result<Vec<Sample>, Unreadable> {
        // Without its blank line an event is not dispatched, but a saved stream often lacks the last one.
        let rest = self.blocks.finish().map(|piece| piece.bytes().to_vec()).unwrap_or_default();
        let data = Block::parse(&rest).data.unwrap_or_default();
        if data == "[DONE]" || serde_json::from_str::<Value>(&data).is_ok() {
            self.events.block(&rest)?;
        } else if !rest.trim_ascii().is_empty() {
            self.events.is_cut = true;
        }
        self.events.finish()
    }
}

/// The events of one stream, whatever carries them.
#[derive(Debug, Default)]
pub(super) struct Events {
    reader: Reader,
    notes: Vec<String>,
    is_cut: bool,
}

/// What is known of the dialect.
#[derive(Debug, Default)]
enum Reader {
    #[default]
    Unknown,
    Responses(responses::Reader),
    Chat(chat::Reader),
    Messages(messages::Reader),
}

impl Events {
    fn block(&mut self, block: &[u8]) -> Result<(), Unreadable> {
        let block = Block::parse(block);
        let Some(data) = block.data else { return Ok(()) };
        let data = data.trim_ascii();
        if data == "[DONE]" {
            if let Reader::Chat(reader) = &mut self.reader {
                reader.end();
            }
            return Ok(());
        }
        if data.is_empty() {
            return Ok(());
        }
        if let Ok(Value::Object(mut members)) = serde_json::from_str(data) {
            // Some servers name the type in the event's field alone.
            if !["type", "choices", "error"].iter().any(|known| members.contains_key(*known)) {
                members.extend(block.event.map(|name| ("type".to_owned(), Value::String(name))));
            }
            return self.event(&Value::Object(members));
        }
        if self.notes.is_empty() {
            self.notes.push("an event is not a JSON object".to_owned());
        }
        Ok(())
    }

    /// One event as a value.
    pub(super) fn event(&mut self, event: &Value) -> Result<(), Unreadable> {
        if let Reader::Unknown = self.reader {
            self.reader = dialect(event);
        }
        match &mut self.reader {
            Reader::Unknown => Ok(()),
            Reader::Responses(reader) => reader.event(event),
            Reader::Chat(reader) => reader.chunk(event),
            Reader::Messages(reader) => reader.event(event),
        }
    }

    /// What the events come to.
    pub(super) fn finish(self) -> Result<Vec<Sample>, Unreadable> {
        let mut samples = match self.reader {
            Reader::Unknown => {
                return Err(Unreadable::new(
                    "no event of a known stream",
                    "a stream of the Responses API, Chat Completions or Anthropic Messages",
                ));
            }
            Reader::Responses(reader) => vec![reader.finish()],
            Reader::Chat(reader) => reader.finish(),
            Reader::Messages(reader) => vec![reader.finish()],
        };
        for sample in &mut samples {
            for note in &self.notes {
                sample.note(note.clone());
            }
            if self.is_cut {
                sample.note("the last event is not complete");
            }
        }
        Ok(samples)
    }
}

/// What an event shows of the dialect. An error or a sign of life belongs to none until another event follows.
fn dialect(event: &Value) -> Reader {
    match text(event, "type") {
        Some(kind) if kind.starts_with("response.") => Reader::Responses(responses::Reader::default()),
        Some(kind) if kind.starts_with("message_") || kind.starts_with("content_block_") => {
            Reader::Messages(messages::Reader::default())
        }
        Some("error") if event.get("sequence_number").is_some() => Reader::Responses(responses::Reader::default()),
        Some("error") => Reader::Messages(messages::Reader::default()),
        _ if event.get("choices").is_some() || event.get("error").is_some_and(|error| !error.is_null()) => {
            Reader::Chat(chat::Reader::default())
        }
        _ => Reader::Unknown,
    }
}

/// Whether a value is an event of a stream that is known.
pub(super) fn is_event(value: &Value) -> bool {
    let kind = text(value, "type").unwrap_or_default();
    kind.starts_with("response.")
        || kind.starts_with("message_")
        || kind.starts_with("content_block_")
        || text(value, "object") == Some("chat.completion.chunk")
}
