//! A stream of Chat Completions: the message that its chunks come to.

use eval::Sample;
use serde_json::{Map, Value, json};

#[derive(Debug, Default)]
pub(super) struct Whole {
    message: Map<String, Value>,
    finish: Option<String>,
    usage: Option<Value>,
    has_ended: bool,
}

impl Whole {
    pub(super) fn chunk(&mut self, chunk: &Value) {
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(usage.clone());
        }
        let choices = chunk.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let Some(choice) = choices.iter().find(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0)
        else {
            return;
        };
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(reason.to_owned());
        }
        let delta = choice.get("delta").or_else(|| choice.get("message")).and_then(Value::as_object);
        for (name, piece) in
            delta.into_iter().flatten().filter(|(name, _)| !matches!(name.as_str(), "role" | "tool_calls"))
        {
            self.add(name, piece);
        }
    }

    /// Texts are continued and lists are extended, also of members that are not known here, such as reasoning.
    fn add(&mut self, name: &str, piece: &Value) {
        match (self.message.get_mut(name), piece) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(piece)) => text.push_str(piece),
            (Some(Value::Array(list)), Value::Array(piece)) => list.extend(piece.iter().cloned()),
            _ => {
                self.message.insert(name.to_owned(), piece.clone());
            }
        }
    }

    pub(super) const fn end(&mut self) {
        self.has_ended = true;
    }

    pub(super) fn finish(mut self, sample: &Sample) -> Result<Value, String> {
        if self.finish.is_none() && !self.has_ended {
            return Err("the stream ended before a `finish_reason` or `[DONE]`".to_owned());
        }
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        message.insert("content".to_owned(), Value::Null);
        message.append(&mut self.message);
        if !sample.calls.is_empty() {
            let call = |call: &eval::ToolCall| {
                let arguments = Value::Object(call.arguments.clone()).to_string();
                json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
            };
            message.insert("tool_calls".to_owned(), sample.calls.iter().map(call).collect());
        }
        let choice = json!({ "index": 0, "message": message, "finish_reason": self.finish });
        Ok(json!({ "object": "chat.completion", "choices": [choice], "usage": self.usage }))
    }
}
