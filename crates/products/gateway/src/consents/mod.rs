//! Users' consents that the gateway calls a server in their name: those that were given, sealed, and those that were asked
//! for. Must not know messages, nor how a server is reached.

mod pending;
pub(crate) mod seal;
mod vault;

#[cfg(test)]
mod tests;

use std::io;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use oauth::jose::sha256;
use oauth::{ConsentClient, ConsentSource, OAuthError};
use serde_json::{Value, json};
use url::Url;

pub(crate) use self::pending::{Pending, Purpose, Returned};
use self::seal::Seals;
pub(crate) use self::vault::{Place, Vault};
use crate::credentials::{Credentials, PATIENCE};
use crate::settings::{AuthSettings, ConsentLogin, ConsentSettings};

/// The page that users open; what stands behind it is for authorization servers.
pub(crate) const PAGE: &str = "/consent";
pub(crate) const CALLBACK: &str = "/consent/callback";
pub(crate) const LOGIN: &str = "/consent/login";
pub(crate) const DOCUMENT: &str = "/consent/client.json";
/// How the gateway calls itself where it registers.
pub(crate) const NAME: &str = "Proofhouse gateway";

/// All consents of a gateway.
pub(crate) struct Consents {
    pub(crate) settings: ConsentSettings,
    pub(crate) vault: Vault,
    pub(crate) pending: Pending,
    /// Signs users in, where that is asked for.
    pub(crate) login: Option<ConsentClient>,
    /// Scheme, host and port by which browsers reach the gateway.
    base: OnceLock<String>,
}

/// Where a user consents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) url: String,
    /// Names the question, and opens nothing.
    pub(crate) id: String,
}

impl Consents {
    /// Opens the file of consents. `auth` names the issuer at which users sign in.
    pub(crate) fn open(settings: &ConsentSettings, auth: Option<&AuthSettings>) -> io::Result<Arc<Self>> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        let seals = Seals::new(&settings.keys);
        let seals = seals.ok_or_else(|| invalid("a key is not 32 bytes in base64".to_owned()))?;
        let login = match &settings.login {
            ConsentLogin::Page => None,
            ConsentLogin::Client { .. } => {
                let login = login_of(settings, auth).map_err(|error| invalid(error.what().to_owned()))?;
                Some(login)
            }
        };
        let base = OnceLock::new();
        if let Some(url) = auth.and_then(|auth| auth.public_url.as_ref()) {
            let _ = base.set(url.trim_end_matches('/').to_owned());
        }
        let vault = Vault::open(&settings.folder, seals)?;
        Ok(Arc::new(Self { settings: settings.clone(), vault, pending: Pending::default(), login, base }))
    }

    /// The gateway listens there; what is configured counts first.
    pub(crate) fn listening(&self, base: &str) {
        let _ = self.base.set(base.to_owned());
    }

    /// Scheme, host and port by which browsers reach the gateway, once it listens.
    pub(crate) fn base(&self) -> Option<&str> {
        self.base.get().map(String::as_str)
    }

    /// One of the gateway's own addresses.
    pub(crate) fn url(&self, path: &str) -> Option<Url> {
        Url::parse(&format!("{}{path}", self.base()?)).ok()
    }

    /// Asks a user for a consent; `None` where too many are asked.
    pub(crate) fn ask(&self, place: &Place, credentials: &Weak<Credentials>) -> Option<Asked> {
        let mut url = self.url(PAGE)?;
        let ticket = self.pending.ticket(place, credentials, (self.settings.wait, Instant::now()))?;
        url.query_pairs_mut().append_pair("ticket", &ticket);
        Some(Asked { url: url.into(), id: sha256(&ticket) })
    }

    /// All consents, for those who run the gateway. Nothing of a token.
    pub(crate) fn list(&self) -> Value {
        let listed = self.vault.list().into_iter().map(|one| {
            json!({
                "id": id_of(&one.place), "principal": one.place.principal, "upstream": one.place.upstream,
                "issuer": one.issuer, "since": one.since, "opens": one.opens,
            })
        });
        json!({ "consents": listed.collect::<Vec<_>>(), "pending": self.pending.len() })
    }

    /// The place that has this id in the list.
    pub(crate) fn place(&self, id: &str) -> Option<Place> {
        self.vault.list().into_iter().map(|one| one.place).find(|place| id_of(place) == id)
    }
}

/// A short name of a place.
fn id_of(place: &Place) -> String {
    sha256(&json!([place.principal, place.upstream]).to_string()).chars().take(16).collect()
}

fn login_of(settings: &ConsentSettings, auth: Option<&AuthSettings>) -> Result<ConsentClient, OAuthError> {
    let (client, scopes) = match &settings.login {
        ConsentLogin::Client { client, scopes } => (Some(client.clone()), scopes.clone()),
        ConsentLogin::Page => (None, Vec::new()),
    };
    ConsentClient::new(ConsentSource {
        server: None,
        issuer: auth.map(|auth| auth.issuer.clone()),
        client,
        scopes,
        resource: None,
        timeout: PATIENCE,
        egress: auth.and_then(|auth| auth.egress.clone()),
    })
}
