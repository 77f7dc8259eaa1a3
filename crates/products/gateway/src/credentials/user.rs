//! Whose name a request comes in: a user with a token of certain scopes and claims, got by a certain client. What is got for
//! one such token is never used for another.

use net::server::http::HeaderValue;
use oauth::jose::sha256;
use serde_json::{Map, json};
use wire::json::canonical;

use crate::consents::ConsentUser;
use crate::upstream::Client;

/// Claims that differ from one token of a user to the next: times, and names of the token and of the login (RFC 7519, OpenID
/// Connect, Entra). Scopes are compared as a set. Everything else may decide what the token is exchanged for.
const CHANGING: [&str; 15] = [
    "active",
    "aio",
    "at_hash",
    "auth_time",
    "exp",
    "iat",
    "jti",
    "nbf",
    "nonce",
    "rh",
    "scope",
    "scp",
    "session_state",
    "sid",
    "uti",
];

impl Client {
    /// A fingerprint of all that the token says, but for its times; none without a token.
    pub(crate) fn user(&self) -> Option<HeaderValue> {
        let grant = self.grant.as_ref()?;
        grant.token.reveal()?;
        let mut scopes = grant.scopes.clone();
        scopes.sort_unstable();
        scopes.dedup();
        let claims = grant.claims.as_object().into_iter().flatten();
        let lasting = claims.filter(|(name, _)| !CHANGING.contains(&name.as_str()));
        let told: Map<_, _> = lasting.map(|(name, value)| (name.clone(), value.clone())).collect();
        let parts = canonical(&json!([grant.subject, scopes, told]));
        HeaderValue::from_str(&sha256(&String::from_utf8_lossy(&parts))).ok()
    }

    /// The user whose consents count for it: one subject in two tenants is two users.
    pub(crate) fn consent_user(&self) -> Option<ConsentUser> {
        let principal = self.grant.as_ref()?.subject.clone();
        Some(ConsentUser { principal, tenant: self.shape.user_tenant.as_deref().map(str::to_owned) })
    }

    /// Its token, to be exchanged and never to be sent to a server.
    pub(crate) fn token(&self) -> Option<&str> {
        self.grant.as_ref()?.token.reveal()
    }
}
