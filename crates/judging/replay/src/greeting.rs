//! How a replay introduces itself: as the recorded server did, without the capabilities that a recording cannot keep.

use net::service::{Call, Opening, RpcError, Service as _};
use serde_json::{Value, json};
use wire::revision::R2024_11_05;
use wire::{Era, Revision, Transport, meta, translate};

use super::{Replay, State};

/// The recorded greeting of `revision`'s era, or else that of the other era, with its era.
fn recorded(state: &State, revision: Revision) -> Option<(&Value, Era)> {
    let legacy = state.recording.index.legacy.as_ref().map(|greeting| (greeting, Era::Legacy));
    let modern = state.recording.index.modern.as_ref().map(|greeting| (greeting, Era::Modern));
    match revision.era() {
        Era::Legacy => legacy.or(modern),
        Era::Modern => modern.or(legacy),
    }
}

/// The server's name and version.
pub(super) fn identity(state: &State, revision: Revision) -> Value {
    let server = recorded(state, revision)
        .and_then(|(greeting, _)| greeting.get("serverInfo").or_else(|| greeting.get("_meta")?.get(meta::SERVER_INFO)));
    server.map_or_else(
        || json!({ "name": "proof replay", "version": env!("CARGO_PKG_VERSION") }),
        |server| translate::implementation(server, revision),
    )
}

/// The server's capabilities: those that it declared, or else those that its answers show.
pub(super) fn capabilities(state: &State, revision: Revision) -> Value {
    let counts = &state.recording.index.counts;
    if let Some((greeting, era)) = recorded(state, revision) {
        let declared = greeting.get("capabilities").cloned().unwrap_or_else(|| json!({}));
        let mut declared = translate::server_capabilities(&declared, era, revision);
        remove_unreplayable(&mut declared, revision, |method| counts.contains_key(method));
        return declared;
    }
    let mut declared = json!({});
    for method in counts.keys() {
        if let Some((_, path)) = wire::method::find(method, revision).and_then(|method| method.capability_at(revision))
            && !path.contains('.')
        {
            declared[path] = json!({});
        }
    }
    declared
}

/// Removes the capabilities that a replay cannot keep: nothing changes in it, and it follows up only recorded tasks.
fn remove_unreplayable(declared: &mut Value, revision: Revision, recorded: impl Fn(&str) -> bool) {
    let Value::Object(declared) = declared else { return };
    if !recorded("tasks/get") {
        declared.remove("tasks");
        if let Some(Value::Object(extensions)) = declared.get_mut("extensions") {
            extensions.remove(meta::TASKS_EXTENSION);
        }
    }
    let modern = revision.era() == Era::Modern;
    for name in ["tools", "prompts", "resources"] {
        if let Some(Value::Object(parts)) = declared.get_mut(name) {
            parts.remove("listChanged");
            if modern || !recorded("resources/subscribe") {
                parts.remove("subscribe");
            }
        }
    }
}

/// Whether the server declares the capability at `path`.
pub(super) fn declares(state: &State, revision: Revision, path: &str) -> bool {
    let declared = capabilities(state, revision);
    let found = declared.pointer(&format!("/{}", path.replace('.', "/")));
    found.is_some_and(|value| *value != Value::Bool(false))
}

fn instructions(state: &State, revision: Revision) -> Option<&Value> {
    recorded(state, revision).and_then(|(greeting, _)| greeting.get("instructions"))
}

/// The body of the result of `initialize`. Opens the session.
pub(super) fn initialize(replay: &Replay, call: &Call) -> Result<Value, RpcError> {
    let params = call.message.params().cloned().unwrap_or_default();
    let invalid = |name: &str| RpcError::invalid_params(format!("Invalid params: `{name}` is missing or invalid"));
    let requested = params.get("protocolVersion").and_then(Value::as_str).ok_or_else(|| invalid("protocolVersion"))?;
    let capabilities = params.get("capabilities").filter(|value| value.is_object());
    let capabilities = capabilities.cloned().ok_or_else(|| invalid("capabilities"))?;
    let text = |name: &str| params.get("clientInfo").and_then(|client| client.get(name)).is_some_and(Value::is_string);
    let client = params.get("clientInfo").filter(|_| text("name") && text("version")).cloned();
    let client = client.ok_or_else(|| invalid("clientInfo"))?;
    let revision = negotiate(replay, requested, call.context.transport)?;
    let session = call.context.session.as_ref().ok_or_else(|| RpcError::internal("`initialize` needs a session"))?;
    if !session.open(Opening { revision, capabilities, client }) {
        return Err(RpcError::invalid_request("Invalid request: this session is already initialized"));
    }
    let state = &replay.0;
    let mut body = json!({
        "protocolVersion": revision.as_str(),
        "capabilities": self::capabilities(state, revision),
        "serverInfo": identity(state, revision),
    });
    if let Some(text) = instructions(state, revision) {
        body["instructions"] = text.clone();
    }
    Ok(body)
}

fn negotiate(replay: &Replay, requested: &str, over: Transport) -> Result<Revision, RpcError> {
    let served = || replay.revisions().iter().copied().filter(|revision| revision.era() == Era::Legacy);
    match served().find(|revision| revision.as_str() == requested).or_else(|| served().next()) {
        Some(_) if over == Transport::HttpSse => Ok(R2024_11_05),
        Some(revision) => Ok(revision),
        None => {
            Err(RpcError::invalid_request("Invalid request: this server serves only revisions without `initialize`"))
        }
    }
}

/// The body of the result of `server/discover`.
pub(super) fn discover(replay: &Replay, revision: Revision) -> Value {
    let versions: Vec<_> = replay.revisions().iter().map(|revision| revision.as_str()).collect();
    let mut body = json!({ "supportedVersions": versions, "capabilities": capabilities(&replay.0, revision) });
    if let Some(text) = instructions(&replay.0, revision) {
        body["instructions"] = text.clone();
    }
    body
}
