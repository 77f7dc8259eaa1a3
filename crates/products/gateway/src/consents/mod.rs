//! Users' consents that the gateway calls a server in their name: those that were given, sealed, and those that were asked
//! for. Must not know messages, nor how a server is reached.

mod forms;
mod keeping;
mod pending;
mod place;
pub(crate) mod seal;
mod shared_pending;
mod shared_vault;
mod vault;

#[cfg(test)]
mod tests;

use std::io;
use std::sync::{Arc, OnceLock, Weak};

use oauth::jose::sha256;
use oauth::{ConsentClient, ConsentSource, OAuthError};
use url::Url;

use self::forms::FormKeys;
use self::keeping::Keeping;
use self::pending::LocalPending;
pub(crate) use self::pending::{Purpose, Returned};
pub(crate) use self::place::{ConsentUser, Place};
use self::seal::Seals;
use self::shared_pending::SharedPending;
use self::shared_vault::SharedVault;
pub(crate) use self::shared_vault::random_number;
pub(crate) use self::vault::Consent;
use self::vault::FolderVault;
use crate::credentials::{Credentials, PATIENCE};
use crate::settings::{AuthSettings, ConsentLogin, ConsentSettings};
use crate::shared::{Away, SharedStore};

/// Which writing of a consent it is, or who renews one: no two are the same.
pub(crate) type Number = [u8; 16];

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
    keeping: Keeping,
    forms: FormKeys,
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
    /// Opens the file of consents; without a folder, they are in the store that gateways share. `auth` names the issuer at
    /// which users sign in.
    pub(crate) fn open(
        settings: &ConsentSettings,
        auth: Option<&AuthSettings>,
        shared: Option<&Arc<SharedStore>>,
    ) -> io::Result<Arc<Self>> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        let seals = Seals::new(&settings.keys).map(Arc::new);
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
        let keeping = match (&settings.folder, shared) {
            (Some(folder), _) => {
                Keeping::Folder(Box::new((FolderVault::open(folder, seals)?, LocalPending::default())))
            }
            (None, Some(store)) => {
                let (store, pending) = (Arc::clone(store), SharedPending::new(Arc::clone(store), Arc::clone(&seals)));
                Keeping::Shared(Box::new((SharedVault { store, seals }, pending)))
            }
            (None, None) => {
                return Err(invalid("there is neither a folder nor a store of several gateways".to_owned()));
            }
        };
        let forms = FormKeys::new(&settings.keys);
        Ok(Arc::new(Self { settings: settings.clone(), keeping, forms, login, base }))
    }

    /// What only the browser with this cookie sends for this ticket, once the gateway has shown it the page.
    pub(crate) fn form_token(&self, browser: &str, ticket: &str) -> String {
        self.forms.token(browser, ticket)
    }

    /// Whether it is that.
    pub(crate) fn is_form_token(&self, token: &str, browser: &str, ticket: &str) -> bool {
        self.forms.is_token(token, browser, ticket)
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

    /// Asks a user for a consent; `None` where too many are asked. `settings` are those of the server, as a digest.
    pub(crate) async fn ask(
        &self,
        place: &Place,
        (settings, credentials): (&str, &Weak<Credentials>),
    ) -> Result<Option<Asked>, Away> {
        let Some(mut url) = self.url(PAGE) else { return Ok(None) };
        let Some(ticket) = self.ticket(place, (settings, credentials)).await? else { return Ok(None) };
        url.query_pairs_mut().append_pair("ticket", &ticket);
        Ok(Some(Asked { url: url.into(), id: sha256(&ticket) }))
    }
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
