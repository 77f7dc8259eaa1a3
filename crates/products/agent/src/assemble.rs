//! Streams of the three APIs, put together to the answer that the API gives when it does not stream. The calls are those that
//! [`eval::import::Assembler`] finds, whatever the chunks; here is what else goes back into the conversation.

mod chat;
mod messages;
mod responses;

use eval::import;
use eval::recording::Recording;
use serde_json::Value;
use wire::framing::Piece;
use wire::framing::sse::{Block, Blocks};

use crate::answer::Answered;
use crate::dialect::Dialect;
use crate::weight::{self, Room};

/// How long one event may be, in bytes.
const MOST_EVENT: usize = 16 << 20;

/// One stream of an endpoint.
#[derive(Debug)]
pub(crate) struct Stream {
    dialect: Dialect,
    blocks: Blocks,
    calls: import::Assembler,
    whole: Whole,
    error: Option<String>,
    room: Room,
}

/// What an answer consists of, in its API's form.
#[derive(Debug)]
enum Whole {
    Responses(responses::Whole),
    Chat(chat::Whole),
    Messages(messages::Whole),
}

impl Stream {
    pub(crate) fn new(dialect: Dialect) -> Self {
        let whole = match dialect {
            Dialect::Responses => Whole::Responses(responses::Whole::default()),
            Dialect::Chat => Whole::Chat(chat::Whole::default()),
            Dialect::Messages => Whole::Messages(messages::Whole::default()),
        };
        let (blocks, calls) = (Blocks::new(MOST_EVENT), import::Assembler::default());
        Self { dialect, blocks, calls, whole, error: None, room: Room::default() }
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.blocks.push(bytes);
        while let Some(piece) = self.blocks.next_block() {
            let Piece::Whole(block) = piece else { return Err("an event has more than 16 MiB".to_owned()) };
            let block = Block::parse(block);
            event(&mut self.whole, &mut self.error, &mut self.room, &block)?;
        }
        // Last, because it does not count the values that it parses and keeps.
        self.calls.push(bytes).map_err(|error| error.what)
    }

    /// The end of the stream. One that broke off is an error.
    pub(crate) fn finish(mut self) -> Result<Answered, String> {
        if let Some(Piece::Whole(block)) = self.blocks.finish() {
            event(&mut self.whole, &mut self.error, &mut self.room, &Block::parse(block))?;
        }
        if let Some(error) = self.error {
            return Err(format!("an error in the stream: {error}"));
        }
        let samples = self.calls.finish().map_err(|error| error.what)?;
        let sample = samples.into_iter().next().ok_or("the stream is empty")?;
        let whole = match self.whole {
            Whole::Responses(whole) => whole.finish(&sample),
            Whole::Chat(whole) => whole.finish(&sample),
            Whole::Messages(whole) => whole.finish(&sample),
        };
        Answered::new(self.dialect, whole?, sample)
    }
}

fn event(whole: &mut Whole, error: &mut Option<String>, room: &mut Room, block: &Block) -> Result<(), String> {
    let data = block.data.as_deref().unwrap_or_default().trim_ascii();
    if data.is_empty() {
        return Ok(());
    }
    if data == "[DONE]" {
        if let Whole::Chat(whole) = whole {
            whole.end();
        }
        return Ok(());
    }
    let event = weight::parse(data, "an event of the stream is not JSON")?;
    // Some servers name the type in the event's field alone.
    let kind = event.get("type").and_then(Value::as_str).or(block.event.as_deref()).unwrap_or_default();
    if matches!(kind, "error" | "response.error") || event.get("error").is_some_and(|error| !error.is_null()) {
        let of = event.get("error").filter(|error| error.is_object()).unwrap_or(&event);
        let said = of.get("message").or_else(|| of.get("code")).and_then(Value::as_str).unwrap_or("without a message");
        error.get_or_insert_with(|| wire::escape::snippet(said, 300));
        return Ok(());
    }
    room.take(kept(kind, &event))?;
    room.take_texts(&event)?;
    match whole {
        Whole::Responses(whole) => whole.event(kind, &event),
        Whole::Chat(whole) => whole.chunk(&event),
        Whole::Messages(whole) => whole.event(kind, &event)?,
    }
    Ok(())
}

/// How many values stay in memory after an event of any API. What later events replace does not count.
fn kept(kind: &str, event: &Value) -> usize {
    let choices = event.get("choices").and_then(Value::as_array).into_iter().flatten();
    let deltas = choices.filter_map(|choice| choice.get("delta").or_else(|| choice.get("message"))?.as_object());
    let members = deltas.flat_map(serde_json::Map::values).filter(|member| !member.is_null());
    let members: usize = members.map(Recording::values_of).sum();
    let places = ["/content_block", "/delta/citation", "/item", "/arguments", "/input"];
    let others: usize = places.iter().filter_map(|place| event.pointer(place)).map(Recording::values_of).sum();
    let end = if kind == "message_delta" { Recording::values_of(event) } else { 0 };
    members + others + end
}

#[cfg(test)]
mod tests;
