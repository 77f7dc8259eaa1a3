//! The official schemas, as test material: which definition a message must satisfy, and whether it does.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, Once};

use jsonschema::Validator;
use serde_json::{Value, json};
use wire::revision::R2025_11_25;
use wire::{Era, Revision, method};

/// Methods that no revision has; their results need only be results.
const CONVENTIONS: [&str; 3] = ["metadata/get", "models/list", "models/select"];

type Key = (Revision, String);

static VALIDATORS: LazyLock<Mutex<HashMap<Key, &'static Validator>>> = LazyLock::new(Mutex::default);

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/spec"))
}

/// Whether the official schemas are there; says so once where they are not.
pub fn present() -> bool {
    static SAID: Once = Once::new();
    let present = folder().is_dir();
    if !present {
        SAID.call_once(|| println!("SKIPPED: ../shared is absent, no message was held against the official schemas"));
    }
    present
}

fn validator(revision: Revision, definition: &str) -> &'static Validator {
    let mut validators = VALIDATORS.lock().unwrap();
    validators.entry((revision, definition.to_owned())).or_insert_with(|| {
        let text = std::fs::read_to_string(folder().join(revision.as_str()).join("schema.json")).unwrap();
        let mut schema: Value = serde_json::from_str(&text).unwrap();
        let root = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
        assert!(schema[root].get(definition).is_some(), "{revision} has no {definition}");
        schema["$ref"] = json!(format!("#/{root}/{definition}"));
        Box::leak(Box::new(jsonschema::validator_for(&schema).unwrap()))
    })
}

#[track_caller]
fn conforms(revision: Revision, definition: &str, value: &Value) {
    let validator = validator(revision, definition);
    let faults: Vec<String> = validator.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(faults.is_empty(), "{revision} {definition}: {faults:?}\n{value:#}");
}

/// Holds a message of the server against the schema. `asked` is the method it answers, where it answers one.
#[track_caller]
pub fn check(revision: Revision, asked: Option<&str>, message: &Value) {
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    if !present() {
        return;
    }
    let late = revision.at_least(R2025_11_25);
    if is_extension(revision, asked, message) {
        return;
    }
    if let Some(name) = message.get("method").and_then(Value::as_str) {
        let method = method::find(name, revision).unwrap_or_else(|| panic!("{revision} has no {name}"));
        conforms(revision, method.definition, message);
    } else if message.get("error").is_some() {
        // Until 2025-06-18 the schema has no error without an id, which JSON-RPC needs for what cannot be read.
        if late || message.get("id").is_some_and(|id| !id.is_null()) {
            conforms(revision, if late { "JSONRPCErrorResponse" } else { "JSONRPCError" }, message);
        }
    } else {
        conforms(revision, if late { "JSONRPCResultResponse" } else { "JSONRPCResponse" }, message);
        let name = asked.unwrap_or_else(|| panic!("an answer to nothing: {message}"));
        if CONVENTIONS.contains(&name) {
            return;
        }
        let method = method::find(name, revision).unwrap_or_else(|| panic!("{revision} has no {name}"));
        let result = &message["result"];
        let input = result["resultType"] == "input_required";
        let task = revision == R2025_11_25 && result.get("task").is_some();
        let definition = if input || task { method.instead_at(revision) } else { method.result };
        conforms(revision, definition.unwrap(), result);
        clean(revision, result);
    }
}

/// Whether a message is the tasks extension's, which the core schema does not know.
fn is_extension(revision: Revision, asked: Option<&str>, message: &Value) -> bool {
    let method = message["method"].as_str().or(asked).unwrap_or_default();
    let answer = message.get("error").is_none();
    let ours = matches!(method, "tasks/get" | "tasks/update" | "tasks/cancel" | "notifications/tasks") && answer;
    revision.era() == Era::Modern && (ours || message["result"]["resultType"] == "task")
}

/// No member that the revision does not have, as far as a glance can tell.
#[track_caller]
fn clean(revision: Revision, result: &Value) {
    if revision.era() == Era::Legacy {
        // Of a failed tool, the kind of failure; of a task's answer, the task. Nothing of later revisions.
        let ours = ["io.modelcontextprotocol/related-task", wire::meta::ERROR];
        let mut meta = result["_meta"].as_object().into_iter().flatten();
        assert!(meta.all(|(key, _)| ours.contains(&key.as_str())), "{revision} has none of these: {result}");
        for member in ["resultType", "ttlMs", "cacheScope", "inputRequests", "requestState"] {
            assert!(result.get(member).is_none(), "{revision} has no {member}: {result}");
        }
    }
    let text = result.to_string();
    let young = [
        ("\"title\":", wire::revision::R2025_03_26),
        ("\"structuredContent\":", wire::revision::R2025_06_18),
        ("\"outputSchema\":", wire::revision::R2025_06_18),
        ("\"lastModified\":", wire::revision::R2025_06_18),
        ("\"icons\":", R2025_11_25),
        ("x-mcp-header", wire::revision::R2026_07_28),
    ];
    for (member, since) in young {
        assert!(revision.at_least(since) || !text.contains(member), "{member} at {revision}: {result}");
    }
}
