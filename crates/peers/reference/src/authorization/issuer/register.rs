//! Dynamic registration (RFC 7591). Anybody may.

use net::server::http::StatusCode;
use net::server::http::{GuardRequest, GuardResponse};
use oauth::{Secret, now, random};
use serde_json::{Value, json};

use super::client::{Authentication, NAME, Registered, key, redirects};
use super::{Issuer, SCOPES};
use crate::authorization::reply;

impl Issuer {
    /// Registers a client.
    pub(super) fn register(&self, tenant: &'static str, asked: &GuardRequest) -> GuardResponse {
        let refused = |error: &str, why: &str| reply::error(StatusCode::BAD_REQUEST, error, why);
        if self.extended.is_some() {
            return refused("invalid_client_metadata", "who is known here is known beforehand");
        }
        let Ok(wanted @ Value::Object(_)) = serde_json::from_slice(&asked.body) else {
            return refused("invalid_client_metadata", "the body is no JSON object");
        };
        let redirects = match redirects(&wanted) {
            Ok(redirects) => redirects,
            Err(why) => return refused("invalid_redirect_uri", why),
        };
        let method = wanted["token_endpoint_auth_method"].as_str().unwrap_or("client_secret_basic");
        let secret = match method {
            "none" => None,
            "client_secret_basic" | "client_secret_post" => Some(Secret::new(random())),
            _ => return refused("invalid_client_metadata", "this method of authentication is not supported"),
        };
        let grants = wanted["grant_types"].as_array().cloned().unwrap_or_else(|| vec![json!("authorization_code")]);
        let name: String = wanted["client_name"].as_str().unwrap_or("a client").chars().take(NAME).collect();
        let authentication = secret.clone().map_or(Authentication::None, Authentication::Secret);
        let refreshes = grants.iter().any(|grant| grant == "refresh_token");
        let (id, now) = (random(), now());
        let mut registered = json!({
            "client_id": id,
            "client_id_issued_at": now,
            "client_name": name,
            "redirect_uris": redirects,
            "grant_types": if refreshes { json!(["authorization_code", "refresh_token"]) } else { json!(["authorization_code"]) },
            "response_types": ["code"],
            "token_endpoint_auth_method": method,
            "scope": SCOPES.join(" "),
        });
        if let Some(secret) = &secret {
            registered["client_secret"] = secret.reveal().into();
            registered["client_secret_expires_at"] = 0.into();
        }
        let client = Registered { name, redirects, lands_anywhere: false, authentication, refreshes, own_name: false };
        self.state().clients.put(key(tenant, &id), client);
        reply::json(StatusCode::CREATED, &registered)
    }
}
