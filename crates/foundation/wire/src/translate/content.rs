//! The members of results by method: descriptions in lists, contents of resources, content blocks.

use serde_json::{Map, Value, json};

use super::table::{Loss, losses};
use crate::json::Token;
use crate::revision::{R2025_03_26, R2025_06_18, R2025_11_25};
use crate::{Era, Revision};

/// Edits the members of a result of `method`. Says what is lost.
pub(super) fn translate(method: &str, members: &mut Map<String, Value>, to: Revision) -> Vec<Loss> {
    let mut lost = Lost::default();
    match method {
        "tools/list" => for_each(members, "tools", |tool| translate_tool(tool, to, &mut lost)),
        "prompts/list" => for_each(members, "prompts", |prompt| {
            lost.note(losses::LIST_MEMBER, translate_description(prompt, to));
            for_each(prompt, "arguments", |argument| {
                lost.note(losses::LIST_MEMBER, remove_later(argument, &[("title", R2025_06_18)], to));
            });
        }),
        "resources/list" => for_each(members, "resources", |resource| {
            lost.note(losses::LIST_MEMBER, translate_description(resource, to));
        }),
        "resources/templates/list" => for_each(members, "resourceTemplates", |template| {
            lost.note(losses::LIST_MEMBER, translate_description(template, to));
        }),
        "resources/read" => for_each(members, "contents", |contents| {
            lost.note(losses::RESOURCE_META, remove_later(contents, &[("_meta", R2025_06_18)], to));
        }),
        "prompts/get" => for_each(members, "messages", |message| {
            if let Some(content) = message.get_mut("content") {
                translate_block(content, to, &mut lost);
            }
        }),
        "tools/call" => translate_tool_result(members, to, &mut lost),
        _ => {}
    }
    lost.0
}

/// Whether [`translate`] may change a result, by what is known of it before it is read: what `structuredContent` is. The last
/// revision that added members to contents or lists is 2025-11-25.
pub(super) fn may_change(method: &str, to: Revision, structured: Option<Token>) -> bool {
    let legacy = to.era() == Era::Legacy;
    !to.at_least(R2025_11_25)
        || method == "tools/list"
        || (method == "tools/call" && legacy && structured.is_some_and(|kind| kind != Token::ObjectStart))
}

/// What is lost, each loss once.
#[derive(Default)]
pub(super) struct Lost(pub(super) Vec<Loss>);

impl Lost {
    pub(super) fn note(&mut self, loss: Loss, happened: bool) {
        if happened && !self.0.contains(&loss) {
            self.0.push(loss);
        }
    }
}

/// Removes the members that came with a revision after `to`; `added` names each member with its first revision. Says whether
/// there was one.
pub(super) fn remove_later(members: &mut Map<String, Value>, added: &[(&str, Revision)], to: Revision) -> bool {
    let before = members.len();
    members.retain(|name, _| added.iter().all(|(member, first)| name != member || to.at_least(*first)));
    members.len() < before
}

fn for_each(members: &mut Map<String, Value>, name: &str, edit: impl FnMut(&mut Map<String, Value>)) {
    let items = members.get_mut(name).and_then(Value::as_array_mut);
    items.into_iter().flatten().filter_map(Value::as_object_mut).for_each(edit);
}

fn translate_description(item: &mut Map<String, Value>, to: Revision) -> bool {
    let mut removed = remove_later(item, &[("title", R2025_06_18), ("icons", R2025_11_25), ("_meta", R2025_06_18)], to);
    if let Some(annotations) = item.get_mut("annotations").and_then(Value::as_object_mut) {
        removed |= remove_later(annotations, &[("lastModified", R2025_06_18)], to);
    }
    removed
}

pub(super) fn translate_tool(tool: &mut Map<String, Value>, to: Revision, lost: &mut Lost) {
    let added = [("annotations", R2025_03_26), ("outputSchema", R2025_06_18)];
    // Both are called, whatever the first one finds.
    let removed = translate_description(tool, to) | remove_later(tool, &added, to);
    let is_object = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "object");
    if to.era() == Era::Legacy {
        if tool.get("outputSchema").is_some_and(|schema| !is_object(schema)) {
            tool.remove("outputSchema");
            lost.note(losses::OUTPUT_SCHEMA, true);
        }
        for name in ["inputSchema", "outputSchema"] {
            if let Some(schema) = tool.get_mut(name).and_then(Value::as_object_mut) {
                lost.note(losses::SCHEMA_MEMBER, restrict_schema(schema));
            }
        }
    }
    let executes = to != R2025_11_25 && tool.remove("execution").is_some();
    lost.note(losses::TOOL_MEMBER, removed || executes);
}

/// Gives a schema the form that the legacy era demands of its root. Says whether a member had to go.
fn restrict_schema(schema: &mut Map<String, Value>) -> bool {
    for property in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
        match property {
            Value::Bool(true) => *property = json!({}),
            Value::Bool(false) => *property = json!({ "not": {} }),
            _ => {}
        }
    }
    let before = schema.len();
    schema.retain(|name, value| match name.as_str() {
        "properties" => value.as_object().is_some_and(|all| all.values().all(Value::is_object)),
        "required" => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
        _ => true,
    });
    schema.len() < before
}

pub(super) fn translate_tool_result(members: &mut Map<String, Value>, to: Revision, lost: &mut Lost) {
    for content in members.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
        translate_block(content, to, lost);
    }
    // A legacy structured result is an object.
    let unsupported = |value: &Value| !value.is_object() && to.era() == Era::Legacy;
    if !to.at_least(R2025_06_18) || members.get("structuredContent").is_some_and(unsupported) {
        let Some(structured) = members.remove("structuredContent") else { return };
        lost.note(losses::STRUCTURED_CONTENT, true);
        // The value reaches the client as text at least.
        if let Some(content) = members.get_mut("content").and_then(Value::as_array_mut)
            && !content.iter().any(|block| block.get("type").is_some_and(|kind| kind == "text"))
        {
            content.push(json!({ "type": "text", "text": structured.to_string() }));
        }
    }
}

/// Replaces a content block of a kind that `to` does not know by a text that names the content.
pub(super) fn translate_block(content: &mut Value, to: Revision, lost: &mut Lost) {
    let text = |name: &str| content.get(name).and_then(Value::as_str).unwrap_or_default();
    let replacement = match text("type") {
        "audio" if !to.at_least(R2025_03_26) => format!("[{}]", text("mimeType")),
        "resource_link" if !to.at_least(R2025_06_18) => text("uri").to_owned(),
        _ => {
            if let Value::Object(members) = content {
                lost.note(losses::CONTENT_MEMBER, translate_description(members, to));
            }
            return;
        }
    };
    lost.note(losses::CONTENT_KIND, true);
    *content = json!({ "type": "text", "text": replacement });
}
