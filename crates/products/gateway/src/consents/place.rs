//! Whose a consent is. A user of two tenants, or of two issuers, is two users.

use net::server::http::HeaderValue;
use oauth::jose::sha256;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Whose consent it is, and for which server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The subject of a token and its issuer.
    pub(crate) principal: String,
    pub(crate) upstream: String,
    /// The tenant that the token names, where the gateway knows tenants. Last: files from before have no tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tenant: Option<String>,
}

/// A user, whatever the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConsentUser {
    pub(crate) principal: String,
    pub(crate) tenant: Option<String>,
}

impl Place {
    /// A digest that names it and shows nothing of it.
    pub(crate) fn name(&self) -> String {
        sha256(&match &self.tenant {
            None => json!([self.principal, self.upstream]).to_string(),
            Some(tenant) => json!([self.principal, self.upstream, tenant]).to_string(),
        })
    }

    /// Its user.
    pub(crate) fn user(&self) -> ConsentUser {
        ConsentUser { principal: self.principal.clone(), tenant: self.tenant.clone() }
    }
}

impl ConsentUser {
    /// The place of this user's consent for a server.
    pub(crate) fn at(self, upstream: &str) -> Place {
        Place { principal: self.principal, upstream: upstream.to_owned(), tenant: self.tenant }
    }

    /// All of it as a text.
    pub(crate) fn text(&self) -> String {
        json!([self.principal, self.tenant]).to_string()
    }

    /// The user of such a text.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let (principal, tenant) = serde_json::from_str(text).ok()?;
        Some(Self { principal, tenant })
    }

    /// A name among those who have tokens.
    pub(crate) fn key(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&sha256(&self.text())).ok()
    }
}
