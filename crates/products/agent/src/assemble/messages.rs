//! A stream of Anthropic's Messages: the message that its events come to.

use std::collections::HashMap;

use eval::Sample;
use serde_json::{Value, json};

/// How many blocks a message may have.
const MOST_BLOCKS: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Whole {
    message: Option<Value>,
    blocks: Vec<Value>,
    /// The block that is open at an index. Some servers give several the same one.
    open: HashMap<u64, usize>,
    has_ended: bool,
}

impl Whole {
    pub(super) fn event(&mut self, kind: &str, event: &Value) -> Result<(), String> {
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match kind {
            "message_start" => self.message = event.get("message").cloned(),
            "content_block_start" => {
                if self.blocks.len() == MOST_BLOCKS {
                    return Err("a message has more than 10,000 blocks".to_owned());
                }
                self.open.insert(index, self.blocks.len());
                self.blocks.push(event.get("content_block").cloned().unwrap_or_default());
            }
            "content_block_delta" => {
                let block = self.open.get(&index).and_then(|at| self.blocks.get_mut(*at));
                if let (Some(block), Some(delta)) = (block, event.get("delta")) {
                    add(block, delta);
                }
            }
            "message_delta" => self.delta(event),
            "message_stop" => self.has_ended = true,
            _ => {}
        }
        Ok(())
    }

    /// The end's reason, and the tokens so far: what is said later counts.
    fn delta(&mut self, event: &Value) {
        let Some(Value::Object(message)) = &mut self.message else { return };
        message.extend(event.get("delta").and_then(Value::as_object).cloned().unwrap_or_default());
        if let Some(Value::Object(usage)) = event.get("usage") {
            let known = message.entry("usage").or_insert_with(|| json!({}));
            if let Value::Object(known) = known {
                known.extend(usage.clone());
            }
        }
    }

    pub(super) fn finish(mut self, sample: &Sample) -> Result<Value, String> {
        if !self.has_ended {
            return Err("the stream ended before `message_stop`".to_owned());
        }
        let mut message = self.message.take().filter(Value::is_object).ok_or("the stream has no `message_start`")?;
        let is_call = |block: &&mut Value| block.get("type") == Some(&json!("tool_use"));
        let uses: Vec<&mut Value> = self.blocks.iter_mut().filter(is_call).collect();
        if uses.len() != sample.calls.len() {
            return Err("the blocks of the stream do not fit its calls".to_owned());
        }
        for (block, call) in uses.into_iter().zip(&sample.calls) {
            block["input"] = Value::Object(call.arguments.clone());
        }
        message["content"] = json!(self.blocks);
        Ok(message)
    }
}

/// The next piece of a block. The input of a call is read elsewhere.
fn add(block: &mut Value, delta: &Value) {
    let piece = |member: &str| delta.get(member).and_then(Value::as_str);
    let (member, piece) = match delta.get("type").and_then(Value::as_str) {
        Some("text_delta") => ("text", piece("text")),
        Some("thinking_delta") => ("thinking", piece("thinking")),
        Some("signature_delta") => ("signature", piece("signature")),
        Some("citations_delta") => {
            if let (Value::Object(members), Some(citation)) = (block, delta.get("citation")) {
                let list = members.entry("citations").or_insert_with(|| json!([]));
                if list.is_null() {
                    *list = json!([]);
                }
                list.as_array_mut().into_iter().for_each(|list| list.push(citation.clone()));
            }
            return;
        }
        _ => return,
    };
    if let (Value::Object(members), Some(piece)) = (block, piece) {
        match members.entry(member).or_insert_with(|| json!("")) {
            Value::String(text) => text.push_str(piece),
            other => *other = json!(piece),
        }
    }
}
