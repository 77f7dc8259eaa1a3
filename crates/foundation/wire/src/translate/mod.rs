//! Messages of one revision in the form of another: members that the target revision does not know are removed, members
//! that it requires are added. Members that no revision describes stay. Must not know who sent a message, or why.

mod content;
pub mod form;
pub mod message;
pub mod question;
mod sampling;
pub mod table;
pub mod task;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use self::table::{Loss, losses};
use crate::error_code::{HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, UNSUPPORTED_VERSION};
use crate::meta;
use crate::revision::{R2025_03_26, R2025_06_18, R2025_11_25};
use crate::{Era, Revision};

/// Methods whose modern results must say how long a client may cache them.
const CACHEABLE: [&str; 6] =
    ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "server/discover"];

/// The result of `method` as `to` describes it. `server` is the server's name and version, which a modern result repeats.
pub fn result(method: &str, result: &Value, to: Revision, server: &Value) -> Value {
    result_and_losses(method, result, to, server).0
}

/// The same, and what is lost.
pub fn result_and_losses(method: &str, result: &Value, to: Revision, server: &Value) -> (Value, Vec<Loss>) {
    let mut members = result.as_object().cloned().unwrap_or_default();
    let lost = content::translate(method, &mut members, to);
    (Value::Object(with_envelope(method, members, to, server)), lost)
}

/// Members of a result with those that say which era it is of, and without the other era's.
fn with_envelope(method: &str, mut members: Map<String, Value>, to: Revision, server: &Value) -> Map<String, Value> {
    let mut meta = match members.remove("_meta") {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    meta.retain(|name, _| !name.starts_with(meta::PREFIX) || name == meta::RELATED_TASK);
    match to.era() {
        Era::Legacy => {
            for name in ["resultType", "ttlMs", "cacheScope"] {
                members.remove(name);
            }
        }
        Era::Modern => {
            add_modern_members(method, &mut members);
            meta.insert(meta::SERVER_INFO.to_owned(), implementation(server, to));
        }
    }
    if !meta.is_empty() {
        members.insert("_meta".to_owned(), Value::Object(meta));
    }
    members
}

fn add_modern_members(method: &str, members: &mut Map<String, Value>) {
    members.entry("resultType").or_insert_with(|| json!("complete"));
    let complete = members.get("resultType").is_some_and(|kind| kind == "complete");
    if complete && CACHEABLE.contains(&method) {
        // Nothing is known about how long the result stays valid.
        members.entry("ttlMs").or_insert_with(|| json!(0));
        members.entry("cacheScope").or_insert_with(|| json!("private"));
    }
}

/// The code of an error to `method`. Within one era a code stays as it is, right or wrong; `from` is `None` where the era of
/// the request is unknown.
pub fn error_code(method: &str, code: i64, from: Option<Era>, to: Era) -> i64 {
    match (method, to, code) {
        _ if from == Some(to) => code,
        ("resources/read", Era::Modern, RESOURCE_NOT_FOUND) => INVALID_PARAMS,
        ("resources/read", Era::Legacy, INVALID_PARAMS) => RESOURCE_NOT_FOUND,
        // They concern the request of the translating program, not the client's.
        (_, Era::Legacy, HEADER_MISMATCH | UNSUPPORTED_VERSION) => INTERNAL_ERROR,
        _ => code,
    }
}

/// Whether `result` creates a task that a client of `to` cannot follow up: the tasks of 2025-11-25 and those of the extension
/// have different methods.
pub fn is_untranslatable_task(method: &str, result: &Value, to: Revision) -> bool {
    let extension = result.get("resultType").is_some_and(|kind| kind == "task");
    let legacy = method == "tools/call" && result.get("task").is_some_and(Value::is_object);
    (extension && to.era() == Era::Legacy) || (legacy && !extension && to != R2025_11_25)
}

/// The name and version of a client or a server, with the members that `to` knows.
pub fn implementation(implementation: &Value, to: Revision) -> Value {
    let mut implementation = implementation.clone();
    if let Value::Object(members) = &mut implementation {
        let added =
            [("title", R2025_06_18), ("icons", R2025_11_25), ("websiteUrl", R2025_11_25), ("description", R2025_11_25)];
        content::remove_later(members, &added, to);
    }
    implementation
}

/// What a server of the era `from` declares, with the capabilities that `to` knows. Tasks and extensions do not cross eras.
pub fn server_capabilities(declared: &Value, from: Era, to: Revision) -> Value {
    const MODERN: [&str; 7] = ["completions", "logging", "prompts", "resources", "tools", "experimental", "extensions"];
    let mut declared = declared.as_object().cloned().unwrap_or_default();
    let modern = to.era() == Era::Modern;
    declared.retain(|name, _| match name.as_str() {
        "tasks" => to == R2025_11_25 && from == Era::Legacy,
        "extensions" => modern && from == Era::Modern,
        "completions" => to.at_least(R2025_03_26),
        name => !modern || MODERN.contains(&name),
    });
    Value::Object(declared)
}

/// What of `declared` a client is not shown in `given`. That completion is not declared to 2024-11-05 loses nothing: a client
/// may ask for it all the same.
pub fn hidden_capability(declared: &Value, given: &Value) -> Option<Loss> {
    let hidden = |name: &String| name != "completions" && given.get(name).is_none();
    declared.as_object()?.keys().any(hidden).then_some(losses::CAPABILITY)
}

/// The parameters of a request to the client, from a server of `from` for a client of `to`. Within one era its `_meta`, which
/// may name a task, stays.
pub fn question_params(method: &str, params: &Value, from: Era, to: Revision, id: &str) -> Value {
    let mut translated = input_request_params(method, params, to, id);
    if let (true, Some(meta), Value::Object(members)) = (from == to.era(), params.get("_meta"), &mut translated) {
        members.insert("_meta".to_owned(), meta.clone());
    }
    translated
}

/// The parameters of a request to the client (`method`), which the legacy era sends as a request and the modern one inside a
/// result. `id` becomes the `elicitationId` of a legacy request that has none.
pub fn input_request_params(method: &str, params: &Value, to: Revision, id: &str) -> Value {
    let mut params = params.clone();
    let Value::Object(members) = &mut params else { return params };
    members.remove("_meta");
    if method != "elicitation/create" {
        return params;
    }
    let by_url = members.get("mode").is_some_and(|mode| mode == "url");
    if !to.at_least(R2025_11_25) {
        members.remove("mode");
    }
    if to.era() == Era::Modern {
        members.remove("elicitationId");
    } else if by_url {
        members.entry("elicitationId").or_insert_with(|| id.into());
    }
    params
}
