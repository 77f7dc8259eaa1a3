//! The clients: those that registered (RFC 7591), whose id is their sealed registration, and those whose id is the URL of a
//! document about them. A registration costs no memory, so nobody can fill it. Must not know users and tokens.

mod documents;

use std::time::Duration;

use net::egress::Egress;
use oauth::redirect::{is_registrable, is_same};
use oauth::{Reach, fetch_within, is_loopback, now};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use self::documents::Documents;
use super::sealing::{Purpose, Sealing};
use crate::settings::BridgeSettings;

/// What stands before a sealed registration.
const PREFIX: &str = "dcr.";
/// For how long a registration counts, in seconds.
const LASTS: u64 = 180 * 86_400;
/// The longest name that is kept, in characters.
const NAME: usize = 100;
/// The most redirect addresses of a client, and the longest text of all of them.
const MOST_REDIRECTS: usize = 16;
const LONGEST_REDIRECTS: usize = 1024;
/// The longest id of a client.
pub(super) const LONGEST_ID: usize = 2048;
/// The longest URL and text of a document.
const LONGEST_URL: usize = 512;
const LONGEST_DOCUMENT: usize = 64 << 10;
/// How long a document may take to come.
const PATIENCE: Duration = Duration::from_secs(5);
/// For how long a document counts, and the absence of one; how many are kept.
const KNOWN: Duration = Duration::from_mins(5);
const UNKNOWN: Duration = Duration::from_secs(30);
const MOST_KNOWN: usize = 1000;

/// What a client says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClientFacts {
    /// For people; anyone can choose any name.
    #[serde(rename = "n")]
    pub(super) name: String,
    /// Where answers may go.
    #[serde(rename = "r")]
    redirects: Vec<String>,
    /// Whether it gets refresh tokens.
    #[serde(rename = "f")]
    pub(super) refreshes: bool,
    /// When it registered, in seconds since 1970.
    #[serde(rename = "t")]
    since: u64,
}

impl ClientFacts {
    /// Whether answers may go there.
    pub(super) fn lands_at(&self, redirect: &str) -> bool {
        self.redirects.iter().any(|own| is_same(own, redirect))
    }

    /// Reads what a client says of itself; the OAuth error and the reason where it will not do.
    fn read(metadata: &Value, schemes: &[String]) -> Result<Self, (&'static str, &'static str)> {
        let bad = |why| Err(("invalid_client_metadata", why));
        let texts = |name: &str| -> Option<Vec<String>> {
            metadata.get(name)?.as_array()?.iter().map(|one| one.as_str().map(str::to_owned)).collect()
        };
        let redirects = texts("redirect_uris").filter(|all| (1..=MOST_REDIRECTS).contains(&all.len()));
        let redirects = redirects.ok_or(("invalid_redirect_uri", "redirect_uris must be 1 to 16 addresses"))?;
        if redirects.iter().map(String::len).sum::<usize>() > LONGEST_REDIRECTS {
            return Err(("invalid_redirect_uri", "redirect_uris have more than 1024 characters"));
        }
        if !redirects.iter().all(|one| is_registrable(one, schemes)) {
            return Err(("invalid_redirect_uri", "a redirect address must have https, or be on loopback"));
        }
        let lists = |name: &str, wanted: &str, default: bool| {
            metadata.get(name).map_or(default, |_| texts(name).is_some_and(|all| all.iter().any(|one| one == wanted)))
        };
        if !lists("grant_types", "authorization_code", true) || !lists("response_types", "code", true) {
            return bad("only the authorization code grant is supported");
        }
        let name = metadata.get("client_name").and_then(Value::as_str).unwrap_or("a program without a name");
        let refreshes = lists("grant_types", "refresh_token", false);
        Ok(Self { name: name.chars().take(NAME).collect(), redirects, refreshes, since: now() })
    }
}

/// All clients.
pub(super) struct Clients {
    registration: bool,
    takes_documents: bool,
    schemes: Vec<String>,
    reach: Reach,
    egress: Option<Egress>,
    documents: Documents,
}

impl Clients {
    /// The clients that the settings allow. Documents of a gateway that only this machine reaches may lie on this machine.
    pub(super) fn new(settings: &BridgeSettings, issuer: &Url) -> Self {
        Self {
            registration: settings.registration,
            takes_documents: settings.documents,
            schemes: settings.redirect_schemes.clone(),
            reach: if is_loopback(issuer) { Reach::Machine } else { Reach::Public },
            egress: settings.egress.clone(),
            documents: Documents::default(),
        }
    }

    /// Registers a client: what to answer, or the OAuth error and the reason.
    pub(super) fn register(&self, sealing: &Sealing, body: &[u8]) -> Result<Value, (&'static str, &'static str)> {
        let Ok(metadata @ Value::Object(_)) = serde_json::from_slice(body) else {
            return Err(("invalid_client_metadata", "the body must be a JSON object"));
        };
        let facts = ClientFacts::read(&metadata, &self.schemes)?;
        let sealed = sealing.seal(Purpose::Client, "", &facts);
        let id = sealed.map(|sealed| format!("{PREFIX}{sealed}")).filter(|id| id.len() <= LONGEST_ID);
        let id = id.ok_or(("invalid_client_metadata", "the registration is too long"))?;
        let mut grants = vec!["authorization_code"];
        if facts.refreshes {
            grants.push("refresh_token");
        }
        Ok(json!({
            "client_id": id, "client_id_issued_at": facts.since, "client_name": facts.name,
            "redirect_uris": facts.redirects, "grant_types": grants, "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }))
    }

    /// Whether clients with such ids may still be there.
    pub(super) fn allows(&self, id: &str) -> bool {
        if id.starts_with(PREFIX) { self.registration } else { self.document_url(id).is_some() }
    }

    /// The client with this id.
    pub(super) async fn find(&self, sealing: &Sealing, id: &str) -> Option<ClientFacts> {
        if id.len() > LONGEST_ID {
            return None;
        }
        if let Some(sealed) = id.strip_prefix(PREFIX) {
            let mut facts: ClientFacts = sealing.open(Purpose::Client, "", sealed).filter(|_| self.registration)?;
            // A scheme that programs may not use any more does not outlive that in what was sealed before.
            facts.redirects.retain(|one| is_registrable(one, &self.schemes));
            return (facts.since.saturating_add(LASTS) > now()).then_some(facts);
        }
        let url = self.document_url(id)?;
        self.documents.find(&url, self.fetch(&url)).await
    }

    /// An id that may be the URL of a document: written as URLs are, with a path, and nothing that hides where it leads.
    fn document_url(&self, id: &str) -> Option<Url> {
        let url = Url::parse(id).ok().filter(|url| url.as_str() == id && id.len() <= LONGEST_URL)?;
        let is_secure = url.scheme() == "https" || (self.reach == Reach::Machine && is_loopback(&url));
        let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        (self.takes_documents && is_secure && is_plain && url.path() != "/").then_some(url)
    }

    async fn fetch(&self, url: &Url) -> Option<ClientFacts> {
        let fetched = fetch_within(url, self.reach, PATIENCE, self.egress.clone()).await;
        let document = fetched.inspect_err(|error| tracing::warn!("no document of a client: {}", error.what())).ok()?;
        let is_public = document.get("token_endpoint_auth_method").is_none_or(|method| method == "none");
        let is_own = document.get("client_id").and_then(Value::as_str) == Some(url.as_str());
        let is_short = document.to_string().len() <= LONGEST_DOCUMENT;
        if !is_public || !is_own || !is_short || document.get("client_secret").is_some() {
            tracing::warn!(host = url.host_str(), "the document of a client cannot be used");
            return None;
        }
        ClientFacts::read(&document, &self.schemes).ok()
    }
}

#[cfg(test)]
mod tests;
