//! Marks every answer of a replay with where it comes from.

use net::service::{RpcError, code};
use serde_json::{Value, json};
use wire::translate;
use wire::{Era, Revision};

/// The key of `_meta`, and of an error's `data`, that says where an answer comes from.
pub const TAG: &str = "io.github.proofhouse/replay";

/// Where an answer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The recording.
    Recorded,
    /// A schema.
    Simulated,
    /// The live server.
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

/// A result of `method` at `revision`, with its origin, from a server that introduces itself as `server`.
pub(super) fn result(method: &str, recorded: &Value, revision: Revision, server: &Value, origin: Origin) -> Value {
    let mut result = translate::result(method, recorded, revision, server);
    if result.get("_meta").is_none() {
        result["_meta"] = json!({});
    }
    result["_meta"][TAG] = origin.as_str().into();
    result
}

/// An error to `method` at `revision`, with its origin; `from` is the era in which it was sent.
pub(super) fn error(method: &str, recorded: &Value, from: Option<Era>, revision: Revision, origin: Origin) -> RpcError {
    let code = recorded.get("code").and_then(Value::as_i64).unwrap_or(code::INTERNAL_ERROR);
    let code = translate::error_code(method, code, from, revision.era());
    let message = recorded.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut data = recorded.get("data").cloned().unwrap_or_else(|| json!({}));
    if data.is_object() {
        data[TAG] = origin.as_str().into();
    }
    RpcError { code, message: message.into(), data: Some(data) }
}
