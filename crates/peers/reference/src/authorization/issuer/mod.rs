//! The authorization server for development: everything a client may meet, and nobody is asked for a password. It forgets
//! all when it ends. It is two issuers, one at the root and one with a path, for clients must find either.

mod assertion;
mod authorize;
mod client;
mod consent;
mod extended;
mod form;
mod metadata;
mod provider;
mod register;
mod state;
mod token;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use net::server::http::{self, GuardRequest, GuardResponse, Method, StatusCode};
use oauth::jose::{JwkSet, Signer};
use oauth::resource::{TokenFlaw, TokenRequirements, access, granted, text};
use oauth::{Secret, now, random};
use serde_json::json;
use tokio::sync::Semaphore;

use self::client::{Authentication, Registered};
use self::extended::Extended;
use self::state::{Code, Grant, State};
use super::proof::Proofs;
use super::{CALL, Development, READ, reply};

/// The paths of the issuers.
const TENANTS: [&str; 2] = ["", "/tenant"];
/// What a client asks for who wants to come back without the user.
const OFFLINE: &str = "offline_access";
/// All that may be asked for.
const SCOPES: [&str; 3] = [READ, CALL, OFFLINE];
/// The claim that names the consent which a token came of.
const CONSENT: &str = "consent";
/// How many documents of clients are fetched at once: anybody may have us fetch some.
const FETCHES: usize = 8;
/// Who agrees to everything.
const USER: &str = "developer";

/// Two issuers with one memory and one key.
#[derive(Debug)]
pub(super) struct Issuer {
    signer: Signer,
    keys: JwkSet,
    development: Development,
    extended: Option<Extended>,
    /// The clients that were set up beforehand: no registration takes their place.
    configured: HashMap<String, Registered>,
    /// What is wanted of who is to get a token, and of who shows one.
    proofs: Option<(Proofs, Proofs)>,
    state: Mutex<State>,
    /// Permits to fetch what a client says about itself.
    fetches: Semaphore,
}

/// One of the issuers' own pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    Metadata,
    Keys,
    Authorize,
    Token,
    Register,
    /// What an enterprise's identity provider says about itself.
    Provider,
    /// Where it exchanges tokens.
    Exchange,
}

impl Issuer {
    pub(super) fn new(development: Development) -> Self {
        let signer = Signer::fresh();
        let key = signer.public().map(|mut key| {
            key.kid = key.thumbprint();
            key
        });
        let (keys, extended) = (JwkSet { keys: key.into_iter().collect() }, development.extension.map(Extended::new));
        let proofs = Proofs::of(development.binding).zip(Proofs::of(development.binding));
        let state = State::new(development.lasts);
        let configured = configured(&development, extended.as_ref());
        Self {
            keys,
            signer,
            development,
            extended,
            configured,
            proofs,
            state: Mutex::new(state),
            fetches: Semaphore::new(FETCHES),
        }
    }

    /// The issuers' names, where the server is called `host`. With an extension there is one: assertions are for it.
    pub(super) fn names(&self, host: &str) -> Vec<String> {
        let most = if self.extended.is_some() { 1 } else { TENANTS.len() };
        TENANTS.iter().take(most).map(|tenant| name(host, tenant)).collect()
    }

    /// What is wanted of who shows a token.
    pub(super) fn proofs(&self) -> Option<&Proofs> {
        self.proofs.as_ref().map(|(_, shown)| shown)
    }

    /// Whether a page of an issuer is at `path`.
    pub(super) fn owns(&self, path: &str) -> bool {
        match page(path) {
            Some((tenant, Page::Provider | Page::Exchange)) => tenant.is_empty() && self.has_provider(),
            Some((tenant, _)) => tenant.is_empty() || self.extended.is_none(),
            None => false,
        }
    }

    /// Answers at a page of an issuer. Tokens are for one of `audiences`, and for the first where nobody says.
    pub(super) async fn serve(&self, asked: &GuardRequest, audiences: &[String]) -> GuardResponse {
        let Some((tenant, page)) = page(asked.uri.path()) else { return reply::empty(StatusCode::NOT_FOUND) };
        match (page, &asked.method) {
            (Page::Metadata, &Method::GET) => {
                let base = format!("http://{}", asked.host());
                reply::json(StatusCode::OK, &metadata::document(&base, tenant, &self.development))
            }
            (Page::Keys, &Method::GET) => reply::json(StatusCode::OK, &json!({ "keys": self.keys.keys })),
            (Page::Authorize, &Method::GET) => self.authorize(tenant, asked, audiences).await,
            (Page::Authorize, &Method::POST) => self.consented(tenant, asked, audiences).await,
            (Page::Token, &Method::POST) => self.token(tenant, asked, audiences),
            (Page::Register, &Method::POST) => self.register(tenant, asked),
            (Page::Provider, &Method::GET) => reply::json(StatusCode::OK, &provider::document(asked.host())),
            (Page::Exchange, &Method::POST) => self.exchange(asked, audiences),
            (Page::Metadata | Page::Keys | Page::Provider, _) => reply::not_allowed("GET"),
            (Page::Authorize, _) => reply::not_allowed("GET, POST"),
            (Page::Token | Page::Register | Page::Exchange, _) => reply::not_allowed("POST"),
        }
    }

    /// An access token for what was agreed to.
    fn access(&self, host: &str, grant: &Grant) -> Secret {
        let (kid, now) = (self.keys.keys.first().and_then(|key| key.kid.as_deref()), now());
        let scope = grant.scopes.iter().filter(|scope| *scope != OFFLINE).cloned().collect::<Vec<_>>().join(" ");
        let mut claims = json!({
            "iss": name(host, grant.tenant),
            "sub": grant.subject,
            "aud": grant.resource,
            "client_id": grant.client,
            "scope": scope,
            "iat": now,
            "exp": now + self.development.lasts,
            "jti": random(),
            (CONSENT): grant.family,
        });
        if let Some(key) = &grant.key {
            claims["cnf"] = json!({ "jkt": key });
        }
        Secret::new(self.signer.sign(json!({ "typ": "at+jwt", "kid": kid }), &claims))
    }

    /// What a token of ours grants, unless its consent was revoked.
    pub(super) fn admit(&self, token: &str, wanted: &TokenRequirements) -> Result<http::Grant, TokenFlaw> {
        let claims = access(token, &self.keys, wanted)?;
        let consent = text(&claims, CONSENT).ok_or(TokenFlaw::Form)?;
        match self.state().revoked.find(consent) {
            Some(()) => Err(TokenFlaw::Revoked),
            None => Ok(granted(token, &claims)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The clients that are known beforehand, by issuer and id.
fn configured(development: &Development, extended: Option<&Extended>) -> HashMap<String, Registered> {
    let Development { client, document, lands_anywhere, .. } = development;
    let named = client.iter().map(|(id, secret)| (id.as_str(), Authentication::Secret(secret.clone()), true));
    let described = document.iter().map(|id| (id.as_str(), Authentication::None, false));
    let extended = extended.into_iter().map(Extended::client);
    let all = named.chain(described).chain(extended).flat_map(|(id, authentication, own_name)| {
        let client = Registered {
            name: id.to_owned(),
            redirects: Vec::new(),
            lands_anywhere: *lands_anywhere,
            authentication,
            refreshes: false,
            own_name,
        };
        TENANTS.map(|tenant| (client::key(tenant, id), client.clone()))
    });
    all.collect()
}

fn name(host: &str, tenant: &str) -> String {
    format!("http://{host}{tenant}")
}

/// The issuer and its page at `path`.
fn page(path: &str) -> Option<(&'static str, Page)> {
    if let Some(page) = provider::page(path) {
        return Some(("", page));
    }
    TENANTS.into_iter().find_map(|tenant| {
        let inserted = ["oauth-authorization-server", "openid-configuration"]
            .into_iter()
            .any(|suffix| path == format!("/.well-known/{suffix}{tenant}"));
        if inserted {
            return Some((tenant, Page::Metadata));
        }
        let page = match path.strip_prefix(tenant)? {
            "/.well-known/openid-configuration" => Page::Metadata,
            "/jwks" => Page::Keys,
            "/authorize" => Page::Authorize,
            "/token" => Page::Token,
            "/register" => Page::Register,
            _ => return None,
        };
        Some((tenant, page))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_of_registrations_takes_the_place_of_a_configured_client() {
        let client = Some(("ours".to_owned(), Secret::new("s3cret")));
        let issuer = Issuer::new(Development { client, ..Development::default() });
        let stranger = Registered { own_name: false, ..issuer.known("", "ours").expect("configured") };
        for number in 0..2048 {
            issuer.state().clients.put(client::key("", &number.to_string()), stranger.clone());
        }
        issuer.state().clients.put(client::key("", "ours"), stranger);
        for tenant in TENANTS {
            assert!(issuer.known(tenant, "ours").is_some_and(|client| client.own_name), "{tenant}");
        }
        assert!(issuer.known("", "0").is_none() && issuer.known("", "2047").is_some(), "the oldest went");
    }

    #[test]
    fn both_issuers_are_where_clients_look() {
        for (path, expected) in [
            ("/.well-known/oauth-authorization-server", Some(("", Page::Metadata))),
            ("/.well-known/openid-configuration", Some(("", Page::Metadata))),
            ("/.well-known/oauth-authorization-server/tenant", Some(("/tenant", Page::Metadata))),
            ("/.well-known/openid-configuration/tenant", Some(("/tenant", Page::Metadata))),
            ("/tenant/.well-known/openid-configuration", Some(("/tenant", Page::Metadata))),
            ("/token", Some(("", Page::Token))),
            ("/tenant/token", Some(("/tenant", Page::Token))),
            ("/tenants/token", None),
            ("/mcp", None),
            ("/", None),
        ] {
            assert_eq!(page(path), expected, "{path}");
        }
    }
}
