//! `initialize` and `ping` (legacy era; basic/lifecycle, basic/utilities/ping).

use std::sync::Arc;

use net::service::{Call, Opening, RpcError, Service, code};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wire::revision::{R2024_11_05, R2025_03_26};
use wire::{Era, Revision, Transport};

use crate::answer::{Handled, implementation};
use crate::catalogue::Kind;
use crate::{Handshake, Server, conventions, params, tasks};

#[derive(Deserialize)]
struct Params {
    #[serde(rename = "protocolVersion")]
    version: String,
    capabilities: Map<String, Value>,
    #[serde(rename = "clientInfo")]
    client: Client,
}

#[derive(Deserialize)]
struct Client {
    name: String,
    version: String,
}

/// The same parameters, any of them left out.
#[derive(Deserialize)]
struct Partial {
    #[serde(rename = "protocolVersion")]
    version: Option<String>,
    capabilities: Option<Map<String, Value>>,
    #[serde(rename = "clientInfo")]
    client: Option<Client>,
}

impl Params {
    fn read(server: &Server, call: &Call) -> Result<Self, RpcError> {
        if server.state().options.handshake != Handshake::Lenient {
            return params::read(call);
        }
        let Partial { version, capabilities, client } = params::read(call)?;
        let unknown = || Client { name: "unknown".to_owned(), version: "unknown".to_owned() };
        Ok(Self {
            version: version.unwrap_or_default(),
            capabilities: capabilities.unwrap_or_default(),
            client: client.unwrap_or_else(unknown),
        })
    }
}

/// Agrees on a revision and opens the session.
pub(crate) fn initialize(server: &Server, call: &Call) -> Handled {
    let params = Params::read(server, call)?;
    let session = call.context.session.as_ref().ok_or_else(|| RpcError::internal("A session is needed"))?;
    let revision = negotiate(server, &params.version, call.context.transport)?;
    let opening = Opening {
        revision,
        capabilities: Value::Object(params.capabilities),
        client: json!({ "name": params.client.name, "version": params.client.version }),
    };
    if !session.open(opening) {
        return Err(RpcError::invalid_request("Invalid request: this session is initialized"));
    }
    server.state().hub.join(Arc::clone(session));
    let mut body = json!({
        "protocolVersion": revision.as_str(),
        "capabilities": capabilities(server, revision),
        "serverInfo": implementation(server, revision),
    });
    if let Some(instructions) = &server.catalogue().instructions {
        body["instructions"] = json!(instructions);
    }
    Ok(body)
}

/// The same version where it is one of the handshake's that is served, else the newest of those. The old HTTP+SSE has but
/// one.
fn negotiate(server: &Server, requested: &str, over: Transport) -> Result<Revision, RpcError> {
    let served = || server.revisions().iter().copied().filter(|revision| revision.era() == Era::Legacy);
    let wanted: Option<Revision> = requested.parse().ok();
    match served().find(|revision| Some(*revision) == wanted).or_else(|| served().next()) {
        Some(_) if over == Transport::HttpSse => Ok(R2024_11_05),
        Some(revision) => Ok(revision),
        None => {
            let supported: Vec<_> = server.revisions().iter().map(|revision| revision.as_str()).collect();
            Err(RpcError::new(code::UNSUPPORTED_VERSION, "This server needs no `initialize`: it is stateless")
                .with_data(json!({ "supported": supported, "requested": requested })))
        }
    }
}

/// What the server offers in `revision`: what it has, and no more.
pub(crate) fn capabilities(server: &Server, revision: Revision) -> Value {
    let mut capabilities = json!({ "logging": {} });
    for (name, kind) in [("tools", Kind::Tool), ("prompts", Kind::Prompt), ("resources", Kind::Resource)] {
        if server.has(kind) {
            let changes = server.changes(kind);
            let says = changes || server.catalogue().says_unchanging;
            capabilities[name] = if says { json!({ "listChanged": changes }) } else { json!({}) };
        }
    }
    if server.has(Kind::Resource) {
        capabilities["resources"]["subscribe"] = json!(true);
    }
    // 2024-11-05 has the method and no capability for it.
    if revision.at_least(R2025_03_26) && server.completes() {
        capabilities["completions"] = json!({});
    }
    tasks::declare(server, revision, &mut capabilities);
    conventions::declare(server, revision.era(), &mut capabilities);
    capabilities
}

/// Answers a ping.
pub(crate) fn ping(call: &Call) -> Handled {
    params::meta(call)?;
    Ok(json!({}))
}
