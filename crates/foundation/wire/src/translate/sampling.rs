//! Sampling between revisions: before 2025-11-25 a message has one block of content, and tools are unknown.

use serde_json::{Map, Value, json};

use super::content::{Lost, translate_block, translate_tool, translate_tool_result};
use super::table::losses;
use crate::Revision;
use crate::revision::R2025_11_25;

/// Edits the parameters of `sampling/createMessage` for a client of `to`.
pub(super) fn request(params: &mut Map<String, Value>, to: Revision, lost: &mut Lost) {
    if !to.at_least(R2025_11_25) {
        // Both are removed, whatever the first one finds.
        let tools = params.remove("tools").is_some() | params.remove("toolChoice").is_some();
        lost.note(losses::SAMPLING, tools);
    }
    for tool in params.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(tool) = tool.as_object_mut() {
            translate_tool(tool, to, lost);
        }
    }
    let Some(messages) = params.get_mut("messages").and_then(Value::as_array_mut) else { return };
    let mut translated = Vec::with_capacity(messages.len());
    for mut message in std::mem::take(messages) {
        let Some(content) = message.get_mut("content") else {
            translated.push(message);
            continue;
        };
        blocks_of(content, to, lost);
        match content.as_array().cloned() {
            Some(blocks) if !to.at_least(R2025_11_25) => {
                // One block that stood in a list says the same alone.
                lost.note(losses::SAMPLING, blocks.len() != 1);
                for block in blocks {
                    let mut one = message.clone();
                    one["content"] = block;
                    translated.push(one);
                }
            }
            _ => translated.push(message),
        }
    }
    *messages = translated;
}

/// Edits the result of `sampling/createMessage` for a server of `to`.
pub(super) fn answer(result: &mut Map<String, Value>, to: Revision, lost: &mut Lost) {
    let Some(content) = result.get_mut("content") else { return };
    blocks_of(content, to, lost);
    let Some(blocks) = content.as_array().cloned().filter(|_| !to.at_least(R2025_11_25)) else { return };
    lost.note(losses::SAMPLING, blocks.len() != 1);
    *content = match <[Value; 1]>::try_from(blocks) {
        Ok([block]) => block,
        Err(blocks) => {
            let texts: Vec<String> = blocks.iter().map(as_text).collect();
            json!({ "type": "text", "text": texts.join("\n") })
        }
    };
}

/// Translates one block, or each of a list.
fn blocks_of(content: &mut Value, to: Revision, lost: &mut Lost) {
    match content {
        Value::Array(blocks) => blocks.iter_mut().for_each(|block| translate(block, to, lost)),
        block => translate(block, to, lost),
    }
}

fn translate(block: &mut Value, to: Revision, lost: &mut Lost) {
    match (block.get("type").and_then(Value::as_str), to.at_least(R2025_11_25)) {
        (Some("tool_use" | "tool_result"), false) => {
            lost.note(losses::SAMPLING, true);
            *block = json!({ "type": "text", "text": block.to_string() });
        }
        (Some("tool_result"), true) => {
            if let Some(members) = block.as_object_mut() {
                translate_tool_result(members, to, lost);
            }
        }
        _ => translate_block(block, to, lost),
    }
}

fn as_text(block: &Value) -> String {
    block.get("text").and_then(Value::as_str).map_or_else(|| block.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::question::Question;
    use super::super::table::losses;
    use crate::revision::{R2025_06_18, R2025_11_25, R2026_07_28};

    #[test]
    fn row_42_a_message_has_one_block_before_2025_11_25() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        let tool = json!({ "type": "tool_use", "id": "1", "name": "t", "input": {} });
        let params = json!({ "maxTokens": 5, "tools": [], "toolChoice": {}, "messages": [
            { "role": "user", "content": [text("a")] },
            { "role": "assistant", "content": [text("b"), tool] },
            { "role": "user", "content": text("c") } ] });
        let asked = Question::new("sampling/createMessage", &params, R2026_07_28, R2025_06_18, "key");
        assert_eq!(
            asked.params,
            json!({ "maxTokens": 5, "messages": [
                { "role": "user", "content": text("a") },
                { "role": "assistant", "content": text("b") },
                { "role": "assistant", "content": text(&tool.to_string()) },
                { "role": "user", "content": text("c") } ] })
        );
        assert_eq!(asked.losses, [losses::SAMPLING]);
        let newer = Question::new("sampling/createMessage", &params, R2026_07_28, R2025_11_25, "key");
        assert_eq!((newer.params, newer.losses), (params, Vec::new()));
    }

    #[test]
    fn row_42_an_answer_has_one_block_before_2025_11_25() {
        let answer = |blocks: serde_json::Value| {
            let result = json!({ "role": "assistant", "model": "m", "content": blocks });
            let asked = Question::new("sampling/createMessage", &json!({}), R2025_06_18, R2026_07_28, "key");
            let (answer, losses) = asked.answer(&result, R2025_06_18);
            (answer["content"].clone(), losses)
        };
        let text = |text: &str| json!({ "type": "text", "text": text });
        assert_eq!(answer(json!([text("a")])), (text("a"), Vec::new()));
        assert_eq!(answer(json!([text("a"), text("b")])), (text("a\nb"), vec![losses::SAMPLING]));
    }
}
