//! The conversation as messages of Chat Completions.

use serde_json::{Value, json};

use crate::output::{Output, Part};

pub(super) fn answered(history: &mut Vec<Value>, answer: &Value) -> Result<(), String> {
    let message = answer.pointer("/choices/0/message").filter(|message| message.is_object());
    history.push(message.ok_or("the completion has no message")?.clone());
    Ok(())
}

/// Results are texts in this API: a text for the model names what was left out.
pub(super) fn returned(history: &mut Vec<Value>, outputs: &[(String, Output)]) {
    for (id, output) in outputs {
        let texts: Vec<String> = output.parts.iter().map(text).collect();
        history.push(json!({ "role": "tool", "tool_call_id": id, "content": texts.join("\n") }));
    }
}

fn text(part: &Part) -> String {
    let left_out = |kind: &str, media: &str, data: &str| {
        format!("[{kind} of type {media}, {} bytes, left out]", data.len() / 4 * 3)
    };
    match part {
        Part::Text(text) => text.clone(),
        Part::Image { media, data } => left_out("image", media, data),
        Part::File { media, data, .. } => left_out("file", media, data),
    }
}
