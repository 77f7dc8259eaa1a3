//! What our side says of itself: its name, and what it can do.

use serde_json::{Value, json};
use wire::{Era, Revision};

/// Who we say we are.
pub fn client_info() -> Value {
    json!({ "name": "proofhouse", "version": env!("CARGO_PKG_VERSION") })
}

/// What we say we can do: everything a server may ask of a client, so that it asks.
pub fn client_capabilities(revision: Revision) -> Value {
    let mut capabilities = json!({ "roots": {}, "sampling": {} });
    if revision.era() == Era::Legacy {
        capabilities["roots"] = json!({ "listChanged": true });
    }
    if revision.at_least(Revision::R2025_06_18) {
        capabilities["elicitation"] = json!({});
    }
    if revision.at_least(Revision::R2025_11_25) {
        capabilities["elicitation"] = json!({ "form": {}, "url": {} });
        capabilities["sampling"] = json!({ "tools": {}, "context": {} });
    }
    capabilities
}

/// The least with which a server may ask us for everything: forms and plain sampling.
pub fn modest_capabilities() -> Value {
    json!({ "roots": {}, "sampling": {}, "elicitation": {} })
}
