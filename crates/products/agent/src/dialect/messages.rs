//! The conversation as messages of Anthropic's API.

use serde_json::{Value, json};

use crate::output::{Output, Part};

/// All blocks go back as they came: thinking blocks belong to the conversation.
pub(super) fn answered(history: &mut Vec<Value>, answer: &Value) -> Result<(), String> {
    let content = answer.get("content").filter(|content| content.is_array());
    let content = content.ok_or("the message has no `content`")?;
    history.push(json!({ "role": "assistant", "content": content }));
    Ok(())
}

pub(super) fn returned(history: &mut Vec<Value>, outputs: &[(String, Output)]) {
    let result = |(id, output): &(String, Output)| {
        let content: Vec<Value> = output.parts.iter().map(part).collect();
        json!({ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": output.is_error })
    };
    let results: Vec<Value> = outputs.iter().map(result).collect();
    history.push(json!({ "role": "user", "content": results }));
}

fn part(part: &Part) -> Value {
    let source = |media: &str, data: &str| json!({ "type": "base64", "media_type": media, "data": data });
    match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Image { media, data } => json!({ "type": "image", "source": source(media, data) }),
        Part::File { media, data, .. } if media == "application/pdf" => {
            json!({ "type": "document", "source": source(media, data) })
        }
        Part::File { media, .. } => json!({ "type": "text", "text": format!("[file of type {media}, left out]") }),
    }
}
