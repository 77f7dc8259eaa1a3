//! What servers have that no revision defines: models to choose from, and metadata to ask for. A legacy server declares
//! capabilities of those names; a modern one announces extensions, and serves who declares them too (basic/versioning).

use std::sync::atomic::{AtomicUsize, Ordering};

use net::service::{Call, RpcError, code};
use serde::Deserialize;
use serde_json::{Value, json};
use wire::Era;

use crate::answer::{Handled, implementation};
use crate::catalogue::Model;
use crate::lifecycle::capabilities;
use crate::logging::SessionState;
use crate::{Server, params};

/// A legacy capability and a modern extension of the same meaning.
struct Convention {
    capability: &'static str,
    extension: &'static str,
}

const MODELS: Convention = Convention { capability: "models", extension: "io.github.proofhouse/models" };
const METADATA: Convention = Convention { capability: "metadata", extension: "io.github.proofhouse/metadata" };

/// Adds what the server has of this to its capabilities.
pub(crate) fn declare(server: &Server, era: Era, capabilities: &mut Value) {
    let catalogue = server.catalogue();
    for (convention, offered) in [(MODELS, !catalogue.models.is_empty()), (METADATA, catalogue.metadata)] {
        match era {
            _ if !offered => {}
            Era::Legacy => capabilities[convention.capability] = json!({}),
            Era::Modern => capabilities["extensions"][convention.extension] = json!({}),
        }
    }
}

/// Refuses a modern client that does not declare the extension.
fn admit(call: &Call, convention: &Convention) -> Result<(), RpcError> {
    params::meta(call)?;
    let declared =
        || call.client_capabilities()?.get("extensions")?.get(convention.extension).filter(|s| s.is_object());
    if call.context.era() == Era::Legacy || declared().is_some() {
        return Ok(());
    }
    let required = json!({ "extensions": { convention.extension: {} } });
    Err(RpcError::new(code::MISSING_CLIENT_CAPABILITY, "Missing required client capability")
        .with_data(json!({ "requiredCapabilities": required })))
}

/// Where a session keeps its model. A modern request has no session, and is the only one that it is about.
fn kept(call: &Call) -> Option<&AtomicUsize> {
    let session = call.context.session.as_ref().filter(|_| call.context.era() == Era::Legacy)?;
    Some(&session.state::<SessionState>().model)
}

/// `models/list`
pub(crate) fn list_models(server: &Server, call: &Call) -> Handled {
    admit(call, &MODELS)?;
    let models = &server.catalogue().models;
    let active = models.get(kept(call).map_or(0, |kept| kept.load(Ordering::Relaxed)));
    let described: Vec<_> = models.iter().map(Model::describe).collect();
    Ok(json!({ "models": described, "active": active.map(|model| &model.name) }))
}

#[derive(Deserialize)]
struct Selection {
    name: String,
}

/// `models/select`
pub(crate) fn select_model(server: &Server, call: &Call) -> Handled {
    admit(call, &MODELS)?;
    let Selection { name } = params::read(call)?;
    let place = server.catalogue().models.iter().position(|model| model.name == name);
    let unknown = || RpcError::invalid_params(format!("Unknown model: {}", name.escape_debug()));
    let place = place.ok_or_else(unknown)?;
    if let Some(kept) = kept(call) {
        kept.store(place, Ordering::Relaxed);
    }
    Ok(json!({ "active": name }))
}

/// `metadata/get`
pub(crate) fn metadata(server: &Server, call: &Call) -> Handled {
    admit(call, &METADATA)?;
    let revision = call.context.revision;
    let mut metadata = json!(implementation(server, revision));
    metadata["capabilities"] = capabilities(server, revision);
    let http = &server.state().options.http;
    let guarded = http.bearer.is_some() || http.guard.is_some();
    metadata["authRequired"] = json!(guarded);
    Ok(metadata)
}
