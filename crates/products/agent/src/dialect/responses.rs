//! The conversation as items of the Responses API.

use serde_json::{Value, json};

use crate::output::{Output, Part};

/// All items go back as they came: reasoning items, and what `include` added, belong to the conversation.
pub(super) fn answered(history: &mut Vec<Value>, answer: &Value) -> Result<(), String> {
    let items = answer.get("output").and_then(Value::as_array).ok_or("the response has no `output`")?;
    history.extend(items.iter().cloned());
    Ok(())
}

pub(super) fn returned(history: &mut Vec<Value>, outputs: &[(String, Output)]) {
    for (id, output) in outputs {
        let whole = match output.only_text() {
            Some(text) => json!(text),
            None => output.parts.iter().map(part).collect(),
        };
        history.push(json!({ "type": "function_call_output", "call_id": id, "output": whole }));
    }
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "input_text", "text": text }),
        Part::Image { media, data } => {
            json!({ "type": "input_image", "image_url": format!("data:{media};base64,{data}") })
        }
        Part::File { name, media, data } => {
            json!({ "type": "input_file", "filename": name, "file_data": format!("data:{media};base64,{data}") })
        }
    }
}
