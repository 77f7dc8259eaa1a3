//! What the server says about itself as a resource (RFC 9728), at every place where clients look.

use net::server::http::{GuardRequest, GuardResponse};
use net::server::http::{Method, StatusCode};
use serde_json::json;

use super::{AcceptedTokens, CALL, READ, TokenGuard, proof, reply};

/// Where the metadata is, before an endpoint's path.
pub(super) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The endpoint whose metadata is at `path`. At the root it is that of the first.
pub(super) fn is_for<'p>(path: &str, paths: &'p [String]) -> Option<&'p str> {
    let below = path.strip_prefix(WELL_KNOWN)?;
    if below.is_empty() {
        return paths.first().map(String::as_str);
    }
    paths.iter().map(String::as_str).find(|path| path.trim_end_matches('/') == below)
}

impl TokenGuard {
    /// The metadata of the endpoint at `path`, named as the client named it where that is a name of the server's own.
    pub(super) fn metadata(&self, asked: &GuardRequest, path: &str) -> GuardResponse {
        if asked.method != Method::GET {
            return reply::not_allowed("GET");
        }
        let host = asked.host();
        let own = || format!("http://{}{}", self.known_as(host), path.trim_end_matches('/'));
        let mut document = json!({
            "resource": own(),
            "authorization_servers": self.issuers(host),
            "bearer_methods_supported": ["header"],
            "resource_name": "proofhouse reference server",
        });
        if self.proofs().is_some() {
            document["dpop_bound_access_tokens_required"] = json!(true);
            document["dpop_signing_alg_values_supported"] = json!(proof::ALGORITHMS);
        }
        match &self.tokens {
            AcceptedTokens::Ours(_) => document["scopes_supported"] = json!([READ, CALL]),
            AcceptedTokens::From { scopes, audience, .. } => {
                if !scopes.is_empty() {
                    document["scopes_supported"] = json!(scopes);
                }
                if let Some(audience) = audience {
                    document["resource"] = json!(audience);
                }
            }
        }
        reply::json(StatusCode::OK, &document)
    }
}
