//! Whose name a request comes in: a user with a token of certain scopes, got by a certain client. A token of one user and scope
//! is never exchanged, nor its result used, for another.

use net::server::http::HeaderValue;
use oauth::jose::sha256;
use serde_json::json;

use crate::upstream::Client;

impl Client {
    /// A fingerprint of the user, the scopes and the client that the token is for; none without a token.
    pub(crate) fn user(&self) -> Option<HeaderValue> {
        let grant = self.grant.as_ref()?;
        grant.token.reveal()?;
        let mut scopes = grant.scopes.clone();
        scopes.sort_unstable();
        scopes.dedup();
        let claim = |name: &str| grant.claims.get(name);
        let parts = json!([
            grant.subject,
            scopes,
            claim("client_id"),
            claim("azp"),
            claim("act"),
            claim("tenant_id"),
            claim("tid"),
        ]);
        HeaderValue::from_str(&sha256(&parts.to_string())).ok()
    }

    /// Its token, to be exchanged and never to be sent to a server.
    pub(crate) fn token(&self) -> Option<&str> {
        self.grant.as_ref()?.token.reveal()
    }
}
