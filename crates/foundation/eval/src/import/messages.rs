//! Anthropic's Messages API: whole messages, conversations, and every event of a stream.

use std::collections::HashMap;

use serde_json::Value;

use super::Unreadable;
use super::drafts::{Drafts, error_text, text};
use crate::call::Sample;

/// Reads the events of one stream, of one message or of several in a row.
#[derive(Debug, Default)]
pub(super) struct Reader {
    drafts: Drafts,
    /// Calls by the index of their block. Some servers give several the same one: the last counts.
    blocks: HashMap<u64, usize>,
    is_open: bool,
}

fn is_call(block: &Value) -> bool {
    matches!(text(block, "type"), Some("tool_use" | "mcp_tool_use" | "server_tool_use"))
}

impl Reader {
    /// One event.
    pub(super) fn event(&mut self, event: &Value) -> Result<(), Unreadable> {
        match text(event, "type").unwrap_or_default() {
            "message_start" => {
                self.drafts.next_turn();
                self.blocks.clear();
                self.is_open = true;
            }
            "content_block_start" => self.start(event)?,
            "content_block_delta" => self.delta(event)?,
            "content_block_stop" => {
                if let Some(at) = self.blocks.get(&index(event)) {
                    self.drafts.close(*at);
                }
            }
            "message_delta" => stop_reason(&mut self.drafts, event.pointer("/delta/stop_reason")),
            "message_stop" => self.is_open = false,
            "error" => {
                self.is_open = false;
                self.drafts.fail(error_text(event));
            }
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, event: &Value) -> Result<(), Unreadable> {
        self.is_open = true;
        let Some(block) = event.get("content_block") else { return Ok(()) };
        if is_call(block) {
            let at = self.drafts.open(text(block, "id"), text(block, "name").unwrap_or_default())?;
            self.drafts.set_unless_text(at, block.get("input"))?;
            self.blocks.insert(index(event), at);
        } else {
            // A block of text at the index of a call that has ended.
            self.blocks.remove(&index(event));
            self.drafts.sample.write(text(block, "text").unwrap_or_default());
        }
        Ok(())
    }

    fn delta(&mut self, event: &Value) -> Result<(), Unreadable> {
        let Some(delta) = event.get("delta") else { return Ok(()) };
        match text(delta, "type") {
            Some("input_json_delta") => {
                let at = if let Some(at) = self.blocks.get(&index(event)) {
                    *at
                } else {
                    self.drafts.sample.note("arguments came of a call that was not announced");
                    let at = self.drafts.open(None, "")?;
                    self.blocks.insert(index(event), at);
                    at
                };
                self.drafts.append(at, text(delta, "partial_json").unwrap_or_default())
            }
            Some("text_delta") => {
                self.drafts.sample.write(text(delta, "text").unwrap_or_default());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The end of the stream.
    pub(super) fn finish(mut self) -> Sample {
        if self.is_open {
            self.drafts.cut("the stream ended before `message_stop`");
        }
        self.drafts.finish()
    }
}

fn index(event: &Value) -> u64 {
    event.get("index").and_then(Value::as_u64).unwrap_or(0)
}

fn stop_reason(drafts: &mut Drafts, why: Option<&Value>) {
    match why.and_then(Value::as_str) {
        Some("refusal") => drafts.sample.is_refusal = true,
        Some("max_tokens") => drafts.partial("the answer was cut off at the limit of tokens"),
        _ => {}
    }
}

/// A whole message.
pub(super) fn message(value: &Value) -> Result<Sample, Unreadable> {
    let mut drafts = Drafts::default();
    stop_reason(&mut drafts, value.get("stop_reason"));
    content(&mut drafts, value.get("content"))?;
    Ok(drafts.finish())
}

/// A conversation as a list of messages.
pub(super) fn conversation(messages: &[Value]) -> Result<Sample, Unreadable> {
    let mut drafts = Drafts::default();
    for message in messages {
        if text(message, "role") == Some("assistant") {
            content(&mut drafts, message.get("content"))?;
        } else {
            drafts.next_turn();
        }
    }
    Ok(drafts.finish())
}

fn content(drafts: &mut Drafts, content: Option<&Value>) -> Result<(), Unreadable> {
    match content {
        Some(Value::String(text)) => drafts.sample.write(text),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                if is_call(block) {
                    drafts.add(text(block, "id"), text(block, "name").unwrap_or_default(), block.get("input"))?;
                } else {
                    drafts.sample.write(text(block, "text").unwrap_or_default());
                }
            }
        }
        _ => {}
    }
    Ok(())
}
