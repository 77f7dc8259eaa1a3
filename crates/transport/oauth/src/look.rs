//! The discovery of an authorization server in its two steps, for people who want to see each of them. It asks for documents
//! alone: nothing is registered and no token is fetched. The rules are those by which an [`Authorizer`](super::Authorizer) goes.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;
use url::Url;
use wire::Revision;

use super::backend::Backend;
use super::challenge::AuthChallenge;
use super::discovery;
use super::error::OAuthError;
use super::metadata::{Issuer, Resource};
use super::secret::SecretListener;
use super::verifier::StrictVerifier;
use super::web::{Web, check_scheme};

/// Looks for the documents that lead from a server to its authorization server.
#[derive(Debug)]
pub struct Discovery {
    web: Web,
    url: Url,
}

impl Discovery {
    /// For the MCP server at `url`; `limit` bounds each request, which `backend` sends.
    pub fn new(url: Url, backend: Arc<dyn Backend>, limit: Duration) -> Self {
        let (named, reach) = (vec![url.clone()], OnceCell::new());
        let (verifier, secrets) = (Arc::new(StrictVerifier), SecretListener::default());
        Self { web: Web { backend, verifier, limit, named, reach, secrets }, url }
    }

    /// The metadata of the server as a protected resource, if it publishes any.
    pub async fn resource(&self, challenge: &AuthChallenge) -> Result<Option<Resource>, OAuthError> {
        check_scheme(&self.url)?;
        discovery::resource(&self.web, &self.url, challenge).await
    }

    /// The metadata of the authorization server that is called `named`.
    pub async fn issuer(&self, named: &str) -> Result<Issuer, OAuthError> {
        discovery::issuer(&self.web, named, Revision::NEWEST).await
    }

    /// The authorization server of a server without metadata, as revision 2025-03-26 has it: at the same origin. `None` where
    /// it publishes no metadata either; clients then try fixed paths.
    pub async fn issuer_at_origin(&self) -> Result<Option<Issuer>, OAuthError> {
        discovery::published_at_origin(&self.web, &self.url, Revision::R2025_03_26).await
    }
}
