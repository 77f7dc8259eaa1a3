//! What an issuer says about itself (RFC 8414, OpenID Connect Discovery).

use serde_json::{Value, json};

use super::SCOPES;
use super::extended::JWT_BEARER;
use crate::authorization::{Binding, Development, Extension, proof};

/// The document of the issuer at `tenant` of `base`.
pub(super) fn document(base: &str, tenant: &str, development: &Development) -> Value {
    let extension = development.extension;
    let issuer = format!("{base}{tenant}");
    let (grants, methods) = taken(extension);
    let mut document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "jwks_uri": format!("{issuer}/jwks"),
        "scopes_supported": SCOPES,
        "response_types_supported": if extension.is_some() { json!([]) } else { json!(["code"]) },
        "response_modes_supported": ["query"],
        "grant_types_supported": grants,
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": methods,
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    });
    if extension == Some(Extension::Key) {
        document["token_endpoint_auth_signing_alg_values_supported"] = json!(["ES256"]);
    }
    if development.binding != Binding::Free {
        document["dpop_signing_alg_values_supported"] = json!(proof::ALGORITHMS);
    }
    document
}

/// The grants that are taken, and how clients may show who they are.
const fn taken(extension: Option<Extension>) -> (&'static [&'static str], &'static [&'static str]) {
    match extension {
        None => (
            &["authorization_code", "refresh_token", "client_credentials"],
            &["none", "client_secret_basic", "client_secret_post"],
        ),
        Some(Extension::Key) => (&["client_credentials"], &["private_key_jwt"]),
        Some(Extension::Workload) => (&[JWT_BEARER], &["none"]),
        Some(Extension::Enterprise) => (&[JWT_BEARER], &["client_secret_basic", "client_secret_post"]),
    }
}

/// Whether this grant is among them.
pub(super) fn takes(extension: Option<Extension>, grant: &str) -> bool {
    taken(extension).0.contains(&grant)
}
