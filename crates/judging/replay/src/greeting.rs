//! How a replay introduces itself: as the recorded server did, without what a recording cannot keep.

use net::service::{Call, Opening, RpcError, Service as _};
use serde_json::{Value, json};
use wire::revision::R2024_11_05;
use wire::{Era, Revision, Transport};

use super::{Replay, State, fit};

/// What the greeting of `revision`'s era said, or else that of the other, and which it is.
fn recorded(state: &State, revision: Revision) -> Option<(&Value, Era)> {
    let legacy = state.recording.index.legacy.as_ref().map(|greeting| (greeting, Era::Legacy));
    let modern = state.recording.index.modern.as_ref().map(|greeting| (greeting, Era::Modern));
    match revision.era() {
        Era::Legacy => legacy.or(modern),
        Era::Modern => modern.or(legacy),
    }
}

/// Who the server is.
pub(super) fn identity(state: &State, revision: Revision) -> Value {
    let told = recorded(state, revision).and_then(|(greeting, _)| {
        greeting.get("serverInfo").or_else(|| greeting.get("_meta")?.get("io.modelcontextprotocol/serverInfo"))
    });
    told.map_or_else(
        || json!({ "name": "proof replay", "version": env!("CARGO_PKG_VERSION") }),
        |told| fit::implementation(told, revision),
    )
}

/// What the server declares: what it said, or what it was seen to do.
pub(super) fn capabilities(state: &State, revision: Revision) -> Value {
    let counts = &state.recording.index.counts;
    if let Some((greeting, era)) = recorded(state, revision) {
        let declared = greeting.get("capabilities").cloned().unwrap_or_else(|| json!({}));
        let seen = |method| counts.contains_key(method);
        let seen = fit::Seen { subscriptions: seen("resources/subscribe"), tasks: seen("tasks/get") };
        return fit::capabilities(&declared, era, revision, seen);
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

/// Whether what the server declares has `path`.
pub(super) fn declares(state: &State, revision: Revision, path: &str) -> bool {
    let declared = capabilities(state, revision);
    let there = declared.pointer(&format!("/{}", path.replace('.', "/")));
    there.is_some_and(|value| *value != Value::Bool(false))
}

fn instructions(state: &State, revision: Revision) -> Option<&Value> {
    recorded(state, revision).and_then(|(greeting, _)| greeting.get("instructions"))
}

/// The body of `initialize`'s result. Opens the session.
pub(super) fn initialize(replay: &Replay, call: &Call) -> Result<Value, RpcError> {
    let params = call.message.params().cloned().unwrap_or_default();
    let wanted = |what: &str| RpcError::invalid_params(format!("Invalid params: `{what}` is missing or no such thing"));
    let requested = params.get("protocolVersion").and_then(Value::as_str).ok_or_else(|| wanted("protocolVersion"))?;
    let capabilities = params.get("capabilities").filter(|value| value.is_object());
    let capabilities = capabilities.cloned().ok_or_else(|| wanted("capabilities"))?;
    let text = |name: &str| params.get("clientInfo").and_then(|client| client.get(name)).is_some_and(Value::is_string);
    let client = params.get("clientInfo").filter(|_| text("name") && text("version")).cloned();
    let client = client.ok_or_else(|| wanted("clientInfo"))?;
    let revision = negotiated(replay, requested, call.context.transport)?;
    let session = call.context.session.as_ref().ok_or_else(|| RpcError::internal("A session is needed"))?;
    if !session.open(Opening { revision, capabilities, client }) {
        return Err(RpcError::invalid_request("Invalid request: this session is initialized"));
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

fn negotiated(replay: &Replay, requested: &str, over: Transport) -> Result<Revision, RpcError> {
    let served = || replay.revisions().iter().copied().filter(|revision| revision.era() == Era::Legacy);
    match served().find(|revision| revision.as_str() == requested).or_else(|| served().next()) {
        Some(_) if over == Transport::HttpSse => Ok(R2024_11_05),
        Some(revision) => Ok(revision),
        None => Err(RpcError::invalid_request("Invalid request: no revision that begins with `initialize` is served")),
    }
}

/// The body of `server/discover`'s result.
pub(super) fn discover(replay: &Replay, revision: Revision) -> Value {
    let versions: Vec<_> = replay.revisions().iter().map(|revision| revision.as_str()).collect();
    let mut body = json!({ "supportedVersions": versions, "capabilities": capabilities(&replay.0, revision) });
    if let Some(text) = instructions(&replay.0, revision) {
        body["instructions"] = text.clone();
    }
    body
}
