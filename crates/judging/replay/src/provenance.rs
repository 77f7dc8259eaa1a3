//! A recorded text as another revision has it: what that one does not know is taken out, what it demands is added. What no
//! revision says anything about stays.

use net::service::{RpcError, code};
use serde_json::{Map, Value, json};
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25};
use wire::{Era, Revision};

/// Where a result says where it comes from.
pub const TAG: &str = "io.github.proofhouse/replay";

/// How an answer came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It stands in the recording.
    Recorded,
    /// It was made from a schema.
    Simulated,
    /// The live server gave it.
    Live,
}

impl Origin {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Simulated => "simulated",
            Self::Live => "live",
        }
    }
}

/// The members of the modern era's every result, and where they stand.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
const MODERN_META: &str = "io.modelcontextprotocol/";

/// The extension by which modern calls become tasks.
pub(super) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The methods whose results a modern client may keep.
const CACHEABLE: [&str; 6] =
    ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "server/discover"];

/// A result of `method` at `revision`, from a server that calls itself `server`.
pub(super) fn result(method: &str, recorded: &Value, revision: Revision, server: &Value, origin: Origin) -> Value {
    let mut members = recorded.as_object().cloned().unwrap_or_default();
    body(method, &mut members, revision);
    let mut meta = match members.remove("_meta") {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    meta.retain(|name, _| !name.starts_with(MODERN_META));
    match revision.era() {
        Era::Legacy => {
            for name in ["resultType", "ttlMs", "cacheScope"] {
                members.remove(name);
            }
        }
        Era::Modern => {
            members.entry("resultType").or_insert_with(|| json!("complete"));
            let complete = members.get("resultType").is_some_and(|kind| kind == "complete");
            if complete && CACHEABLE.contains(&method) {
                // The next answer to the same request may be another.
                members.entry("ttlMs").or_insert_with(|| json!(0));
                members.entry("cacheScope").or_insert_with(|| json!("private"));
            }
            meta.insert(SERVER_INFO.to_owned(), implementation(server, revision));
        }
    }
    meta.insert(TAG.to_owned(), origin.as_str().into());
    members.insert("_meta".to_owned(), Value::Object(meta));
    Value::Object(members)
}

/// An error to `method` at `revision`. What was said in the same era (`from`) keeps its code, right or wrong.
pub(super) fn error(method: &str, recorded: &Value, from: Option<Era>, revision: Revision, origin: Origin) -> RpcError {
    let number = recorded.get("code").and_then(Value::as_i64).unwrap_or(code::INTERNAL_ERROR);
    let number = match (method, revision.era(), number) {
        (_, era, number) if from == Some(era) => number,
        ("resources/read", Era::Modern, code::RESOURCE_NOT_FOUND) => code::INVALID_PARAMS,
        ("resources/read", Era::Legacy, code::INVALID_PARAMS) => code::RESOURCE_NOT_FOUND,
        _ => number,
    };
    let message = recorded.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
    let tag = || (TAG.to_owned(), json!(origin.as_str()));
    let data = match recorded.get("data").cloned() {
        None => Some(Value::Object([tag()].into_iter().collect())),
        Some(Value::Object(mut members)) => {
            members.extend([tag()]);
            Some(Value::Object(members))
        }
        other => other,
    };
    RpcError { code: number, message: message.into(), data }
}

/// Whether a recorded result is a task, which no other era could follow up: one of 2025-11-25, or of the extension.
pub(super) fn is_foreign_task(method: &str, recorded: &Value, revision: Revision) -> bool {
    let extension = recorded.get("resultType").is_some_and(|kind| kind == "task");
    let legacy = method == "tools/call" && recorded.get("task").is_some_and(Value::is_object);
    (extension && revision.era() == Era::Legacy) || (legacy && !extension && revision != R2025_11_25)
}

/// Who a server says it is.
pub(super) fn implementation(recorded: &Value, revision: Revision) -> Value {
    let mut server = recorded.clone();
    if let Value::Object(members) = &mut server {
        since(members, &[("title", R2025_06_18), ("icons", R2025_11_25), ("websiteUrl", R2025_11_25)], revision);
        since(members, &[("description", R2025_11_25)], revision);
    }
    server
}

fn since(members: &mut Map<String, Value>, names: &[(&str, Revision)], revision: Revision) {
    members.retain(|name, _| names.iter().all(|(of, first)| name != of || revision.at_least(*first)));
}

fn body(method: &str, members: &mut Map<String, Value>, revision: Revision) {
    match method {
        "tools/list" => each(members, "tools", |tool| self::tool(tool, revision)),
        "prompts/list" => each(members, "prompts", |prompt| {
            listed(prompt, revision);
            each(prompt, "arguments", |argument| since(argument, &[("title", R2025_06_18)], revision));
        }),
        "resources/list" => each(members, "resources", |resource| listed(resource, revision)),
        "resources/templates/list" => each(members, "resourceTemplates", |template| listed(template, revision)),
        "resources/read" => each(members, "contents", |contents| since(contents, &[("_meta", R2025_06_18)], revision)),
        "prompts/get" => each(members, "messages", |message| {
            if let Some(content) = message.get_mut("content") {
                block(content, revision);
            }
        }),
        "tools/call" => {
            for content in members.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
                block(content, revision);
            }
            let bare = |value: &Value| !value.is_object() && revision.era() == Era::Legacy;
            if !revision.at_least(R2025_06_18) || members.get("structuredContent").is_some_and(bare) {
                members.remove("structuredContent");
            }
        }
        _ => {}
    }
}

fn each(members: &mut Map<String, Value>, name: &str, edit: impl Fn(&mut Map<String, Value>)) {
    let items = members.get_mut(name).and_then(Value::as_array_mut);
    items.into_iter().flatten().filter_map(Value::as_object_mut).for_each(edit);
}

fn listed(item: &mut Map<String, Value>, revision: Revision) {
    since(item, &[("title", R2025_06_18), ("icons", R2025_11_25), ("_meta", R2025_06_18)], revision);
}

fn tool(tool: &mut Map<String, Value>, revision: Revision) {
    listed(tool, revision);
    since(tool, &[("annotations", R2025_03_26), ("outputSchema", R2025_06_18)], revision);
    let object = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "object");
    if revision.era() == Era::Legacy && tool.get("outputSchema").is_some_and(|schema| !object(schema)) {
        tool.remove("outputSchema");
    }
    if revision != R2025_11_25 {
        tool.remove("execution");
    }
}

/// A content block. One of a kind that came later becomes a text that tells what was there.
fn block(content: &mut Value, revision: Revision) {
    let text = |name: &str| content.get(name).and_then(Value::as_str).unwrap_or_default();
    let instead = match text("type") {
        "audio" if !revision.at_least(R2025_03_26) => format!("[{}]", text("mimeType")),
        "resource_link" if !revision.at_least(R2025_06_18) => text("uri").to_owned(),
        _ => return later_members(content, revision),
    };
    *content = json!({ "type": "text", "text": instead });
}

fn later_members(content: &mut Value, revision: Revision) {
    if let Value::Object(members) = content {
        listed(members, revision);
    }
}

/// What was seen in a recording, beyond what was declared.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    /// A resource was subscribed to.
    pub(super) subscriptions: bool,
    /// A task was followed up.
    pub(super) tasks: bool,
}

/// What a server declares, as far as a replay can keep it: it changes nothing, so it has no changes to tell of.
pub(super) fn capabilities(recorded: &Value, from: Era, revision: Revision, seen: Seen) -> Value {
    const MODERN: [&str; 7] = ["completions", "logging", "prompts", "resources", "tools", "experimental", "extensions"];
    let mut declared = recorded.as_object().cloned().unwrap_or_default();
    let modern = revision.era() == Era::Modern;
    declared.retain(|name, _| match name.as_str() {
        "tasks" => revision == R2025_11_25 && from == Era::Legacy && seen.tasks,
        "extensions" => modern && from == Era::Modern,
        "completions" => revision.at_least(R2025_03_26),
        name => !modern || MODERN.contains(&name),
    });
    if let Some(Value::Object(extensions)) = declared.get_mut("extensions") {
        extensions.retain(|name, _| name != TASKS || seen.tasks);
    }
    for name in ["tools", "prompts", "resources"] {
        if let Some(Value::Object(parts)) = declared.get_mut(name) {
            parts.remove("listChanged");
            if modern || !seen.subscriptions {
                parts.remove("subscribe");
            }
        }
    }
    Value::Object(declared)
}
