//! When two messages count as the same, and when one is the other without what was declared as lost.

use serde_json::{Map, Value, json};
use wire::meta;
use wire::translate::table::{Loss, losses};

use crate::kinds::Kind;

/// Members of results and requests that belong to one era, and are written again in the other.
const ENVELOPE: [&str; 7] =
    ["resultType", "ttlMs", "cacheScope", "inputResponses", "requestState", "task", "elicitationId"];

/// A message without what an era or a hop adds by itself.
pub(crate) fn normal(kind: &Kind, message: &Value) -> Value {
    let mut message = message.clone();
    let body = match kind {
        Kind::Result(_) | Kind::Answer(_) => "result",
        Kind::Error(_) => "error",
        _ => "params",
    };
    let Some(members) = message.get_mut(body).and_then(Value::as_object_mut) else { return message };
    // An answer has no envelope.
    if !matches!(kind, Kind::Answer(_)) {
        members.retain(|name, _| !ENVELOPE.contains(&name.as_str()));
    }
    match kind {
        // A question's `_meta` is of its own connection; a form is what a question without `mode` is.
        Kind::Question(_) => {
            members.remove("_meta");
            if members.get("mode") == Some(&json!("form")) {
                members.remove("mode");
            }
            for message in members.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten() {
                unwrap_single(message);
            }
        }
        Kind::Answer(_) => single(members),
        Kind::Result(method) if method.name == "tools/list" => {
            members.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten().for_each(spell_out);
        }
        Kind::Error(method) => rows_29_and_31(method, members),
        _ => {}
    }
    if let Some(Value::Object(meta)) = members.get_mut("_meta") {
        meta.retain(|name, _| !name.starts_with(meta::PREFIX));
        if meta.is_empty() {
            members.remove("_meta");
        }
    }
    if members.is_empty() && body == "params" {
        message.as_object_mut().map(|members| members.remove("params"));
    }
    message
}

/// The two boolean schemas have another spelling, which the legacy era needs.
fn spell_out(tool: &mut Value) {
    let properties = tool.pointer_mut("/inputSchema/properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(Map::values_mut) {
        match property.as_bool() {
            Some(true) => *property = json!({}),
            Some(false) => *property = json!({ "not": {} }),
            None => {}
        }
    }
}

/// One block in a list says the same as the block alone.
fn unwrap_single(message: &mut Value) {
    if let Some(members) = message.as_object_mut() {
        single(members);
    }
}

fn single(members: &mut Map<String, Value>) {
    if let Some(Value::Array(blocks)) = members.get("content")
        && let [block] = blocks.as_slice()
    {
        let block = block.clone();
        members.insert("content".to_owned(), block);
    }
}

/// Codes that the rows make equal.
fn rows_29_and_31(method: &str, error: &mut Map<String, Value>) {
    let code = error.get("code").and_then(Value::as_i64);
    match code {
        Some(-32002) if method == "resources/read" => error.insert("code".to_owned(), json!(-32602)),
        Some(-32020 | -32022) => error.insert("code".to_owned(), json!(-32603)),
        _ => None,
    };
}

/// Whether `part` is `whole` without members, or with text in the place of content, as `losses` say. A sampling request may
/// have other messages.
pub(crate) fn is_minus(part: &Value, whole: &Value, losses: &[Loss]) -> bool {
    if losses.contains(&losses::SAMPLING) {
        return true;
    }
    match (part, whole) {
        (Value::Object(part), Value::Object(all)) => {
            let text = |members: &Map<String, Value>| members.get("type") == Some(&json!("text"));
            let became_text = losses.contains(&losses::CONTENT_KIND) && text(part) && !text(all);
            became_text
                || part.iter().all(|(name, value)| all.get(name).is_some_and(|other| is_minus(value, other, losses)))
        }
        (Value::Array(part), Value::Array(all)) => {
            let extra = part.len() == all.len() + 1 && losses.contains(&losses::STRUCTURED_CONTENT);
            (part.len() == all.len() || extra) && part.iter().zip(all).all(|(one, other)| is_minus(one, other, losses))
        }
        _ => part == whole,
    }
}

#[test]
fn what_was_not_declared_is_noticed() {
    let whole = json!({ "tools": [{ "name": "a", "title": "A" }], "content": [{ "type": "audio" }] });
    let minus = |part: &Value, losses: &[Loss]| is_minus(part, &whole, losses);
    let text = json!({ "content": [{ "type": "text", "text": "t" }] });
    assert!(minus(&json!({ "tools": [{ "name": "a" }] }), &[losses::TOOL_MEMBER]));
    assert!(!minus(&json!({ "tools": [{ "name": "b" }] }), &[losses::TOOL_MEMBER]));
    assert!(!minus(&json!({ "tools": [] }), &[losses::TOOL_MEMBER]));
    assert!(minus(&text, &[losses::CONTENT_KIND]) && !minus(&text, &[losses::TOOL_MEMBER]));
}
