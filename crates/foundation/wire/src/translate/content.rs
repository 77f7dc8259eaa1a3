//! The members of results by method: descriptions in lists, contents of resources, content blocks.

use serde_json::{Map, Value, json};

use crate::revision::{R2025_03_26, R2025_06_18, R2025_11_25};
use crate::{Era, Revision};

/// Edits the members of a result of `method`.
pub(super) fn translate(method: &str, members: &mut Map<String, Value>, to: Revision) {
    match method {
        "tools/list" => for_each(members, "tools", |tool| translate_tool(tool, to)),
        "prompts/list" => for_each(members, "prompts", |prompt| {
            translate_description(prompt, to);
            for_each(prompt, "arguments", |argument| remove_later(argument, &[("title", R2025_06_18)], to));
        }),
        "resources/list" => for_each(members, "resources", |resource| translate_description(resource, to)),
        "resources/templates/list" => {
            for_each(members, "resourceTemplates", |template| translate_description(template, to));
        }
        "resources/read" => {
            for_each(members, "contents", |contents| remove_later(contents, &[("_meta", R2025_06_18)], to));
        }
        "prompts/get" => for_each(members, "messages", |message| {
            if let Some(content) = message.get_mut("content") {
                translate_block(content, to);
            }
        }),
        "tools/call" => translate_tool_result(members, to),
        _ => {}
    }
}

/// Removes the members that came with a revision after `to`; `added` names each member with its first revision.
pub(super) fn remove_later(members: &mut Map<String, Value>, added: &[(&str, Revision)], to: Revision) {
    members.retain(|name, _| added.iter().all(|(member, first)| name != member || to.at_least(*first)));
}

fn for_each(members: &mut Map<String, Value>, name: &str, edit: impl Fn(&mut Map<String, Value>)) {
    let items = members.get_mut(name).and_then(Value::as_array_mut);
    items.into_iter().flatten().filter_map(Value::as_object_mut).for_each(edit);
}

fn translate_description(item: &mut Map<String, Value>, to: Revision) {
    remove_later(item, &[("title", R2025_06_18), ("icons", R2025_11_25), ("_meta", R2025_06_18)], to);
}

fn translate_tool(tool: &mut Map<String, Value>, to: Revision) {
    translate_description(tool, to);
    remove_later(tool, &[("annotations", R2025_03_26), ("outputSchema", R2025_06_18)], to);
    let is_object = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "object");
    if to.era() == Era::Legacy && tool.get("outputSchema").is_some_and(|schema| !is_object(schema)) {
        tool.remove("outputSchema");
    }
    if to != R2025_11_25 {
        tool.remove("execution");
    }
}

fn translate_tool_result(members: &mut Map<String, Value>, to: Revision) {
    for content in members.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
        translate_block(content, to);
    }
    // A legacy structured result is an object.
    let unsupported = |value: &Value| !value.is_object() && to.era() == Era::Legacy;
    if !to.at_least(R2025_06_18) || members.get("structuredContent").is_some_and(unsupported) {
        members.remove("structuredContent");
    }
}

/// Replaces a content block of a kind that `to` does not know by a text that names the content.
fn translate_block(content: &mut Value, to: Revision) {
    let text = |name: &str| content.get(name).and_then(Value::as_str).unwrap_or_default();
    let replacement = match text("type") {
        "audio" if !to.at_least(R2025_03_26) => format!("[{}]", text("mimeType")),
        "resource_link" if !to.at_least(R2025_06_18) => text("uri").to_owned(),
        _ => {
            if let Value::Object(members) = content {
                translate_description(members, to);
            }
            return;
        }
    };
    *content = json!({ "type": "text", "text": replacement });
}
