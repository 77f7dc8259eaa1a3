//! The state of an authorizer, and the steps to a token: find the issuer, register the client, present the grant.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use url::Url;
use wire::Revision;

use super::agent::RedirectListener;
use super::authorize::{Request, RequestParts};
use super::cache::{Cache, Stored};
use super::challenge::AuthChallenge;
use super::discovery::{Discovered, discover};
use super::dpop::Prover;
use super::error::{Advice, OAuthError};
use super::issuer_trust::{Trusted, trust};
use super::metadata::Issuer;
use super::options::{Client, Enterprise, Grant, Options, Scopes};
use super::registration::{known_client, register};
use super::secret::Secret;
use super::token_endpoint::{Method, Token, TokenRequest};
use super::web::Web;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const OFFLINE: &str = "offline_access";

/// The issuers, clients and tokens known so far.
pub(crate) struct State {
    cache: Option<Cache>,
    stored: HashMap<String, Stored>,
    /// The requested scopes by issuer: later requests must not ask for less.
    requested_scopes: HashMap<String, Vec<String>>,
    active: Option<ActiveToken>,
    generation: u64,
    prover: Arc<Prover>,
    /// The issuer that got the user's client id.
    bound_to: Option<String>,
}

/// The token in use, and its issuer and client for the next one.
struct ActiveToken {
    found: Discovered,
    client: Client,
    token: Token,
}

impl State {
    pub(crate) fn new(cache: Option<PathBuf>, prover: Arc<Prover>) -> Self {
        Self {
            cache: cache.map(Cache::new),
            stored: HashMap::new(),
            requested_scopes: HashMap::new(),
            active: None,
            generation: 0,
            prover,
            bound_to: None,
        }
    }

    pub(crate) fn token(&self) -> Option<&Token> {
        self.active.as_ref().map(|active| &active.token)
    }

    /// Counts the tokens that were in use.
    pub(crate) const fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn is_bound(&self) -> bool {
        self.token().is_some_and(|token| token.bound)
    }

    /// Whether the token in use is known to have the demanded scopes.
    pub(crate) fn grants(&self, challenge: &AuthChallenge) -> bool {
        let (Some(active), Some(scopes)) = (&self.active, &challenge.scopes) else { return false };
        active.token.grants(scopes)
    }

    /// Renews a token that is about to expire. Where that fails, the server refuses the next request.
    pub(crate) async fn keep_fresh(&mut self, web: &Web) {
        let Some(active) = self.active.take_if(|active| active.token.is_expired() && active.token.refresh.is_some())
        else {
            return;
        };
        let (found, client, token) = (active.found.clone(), active.client.clone(), active.token.clone());
        match self.refresh(web, active).await {
            Ok(()) => {}
            Err(_) => self.active = Some(ActiveToken { found, client, token: Token { refresh: None, ..token } }),
        }
    }

    /// Whether a server that demands no token still publishes an issuer.
    pub(crate) async fn has_issuer(&self, web: &Web, options: &Options, url: &Url) -> bool {
        let later = options.revision.unwrap_or(Revision::NEWEST).max(Revision::R2025_06_18);
        discover(web, url, &AuthChallenge::default(), Some(later), &[]).await.is_ok()
    }

    /// Gets a token that answers `challenge`.
    pub(crate) async fn authorize(
        &mut self,
        web: &Web,
        options: &Options,
        url: &Url,
        challenge: &AuthChallenge,
    ) -> Result<(), OAuthError> {
        let of_client = || options.client.as_ref().and_then(|client| client.issuer.as_deref());
        let preferred = options.issuer.as_deref().or_else(of_client);
        let found = discover(web, url, challenge, options.revision, preferred.as_slice()).await?;
        let trusted = trust(options, self.cache.as_ref(), url.as_str(), &found.issuer.id).await?;
        self.open_cache(web, &found.issuer.id)?;
        if let (Trusted::Agreed, Some(client)) = (trusted, &options.client) {
            self.pin(&found.issuer.id, &client.id)?;
        }
        // A refused token is not reused; its issuer may refresh it.
        let old = self.active.take().filter(|active| active.found.issuer.id == found.issuer.id);
        let (old, previous) = if challenge.more_scope { (None, old) } else { (old, None) };
        if !challenge.more_scope {
            if old.is_none() && self.use_stored_token(web, &found, options, challenge) {
                return Ok(());
            }
            if self.try_refresh(web, options, &found, old).await {
                return Ok(());
            }
        }
        let scopes = self.scopes(options, &found, challenge);
        let (client, token) = match self.request_token(web, options, &found, scopes.as_deref(), challenge.bound).await {
            Ok(issued) => issued,
            Err(error) => {
                // A token with too little scope remains usable for other requests.
                self.active = previous;
                return Err(error);
            }
        };
        if let Some(scopes) = scopes {
            self.requested_scopes.insert(found.issuer.id.clone(), scopes);
        }
        self.use_token(ActiveToken { found, client, token })
    }

    /// Uses a token of an earlier run, if it fits.
    fn use_stored_token(
        &mut self,
        web: &Web,
        found: &Discovered,
        options: &Options,
        challenge: &AuthChallenge,
    ) -> bool {
        let Some(stored) = self.stored.get_mut(&found.issuer.id) else { return false };
        let scopes = challenge.scopes.clone().unwrap_or_default();
        let key = found.resource.clone().unwrap_or_default();
        let fits = |token: &&mut Token| !token.is_expired() && token.grants(&scopes);
        let Some(token) = stored.tokens.get_mut(&key).filter(fits) else { return false };
        let token = token.clone();
        let Ok(Some(client)) = known_client(options, web.verifier.as_ref(), &found.issuer, stored.client.as_ref())
        else {
            return false;
        };
        self.requested_scopes.insert(found.issuer.id.clone(), token.scopes.clone().unwrap_or_default());
        self.active = Some(ActiveToken { found: found.clone(), client, token });
        self.generation += 1;
        true
    }

    /// Whether a refresh token, in use or of an earlier run, brought a new one.
    async fn try_refresh(
        &mut self,
        web: &Web,
        options: &Options,
        found: &Discovered,
        old: Option<ActiveToken>,
    ) -> bool {
        let stored = || {
            let stored = self.stored.get(&found.issuer.id)?;
            let token = stored.tokens.get(found.resource.as_deref().unwrap_or_default())?.clone();
            let client = known_client(options, web.verifier.as_ref(), &found.issuer, stored.client.as_ref()).ok()??;
            Some(ActiveToken { found: found.clone(), client, token })
        };
        let Some(active) = old.or_else(stored).filter(|active| active.token.refresh.is_some()) else { return false };
        self.refresh(web, active).await.is_ok()
    }

    async fn refresh(&mut self, web: &Web, active: ActiveToken) -> Result<(), OAuthError> {
        let ActiveToken { found, client, token: old } = active;
        let missing = || OAuthError::new("there is no refresh token", &found.issuer.id, "authorize again");
        let refresh = old.refresh.clone().ok_or_else(missing)?;
        let mut form = vec![("grant_type", "refresh_token"), ("refresh_token", refresh.reveal())];
        form.extend(found.resource.as_deref().map(|resource| ("resource", resource)));
        let request = token_request(web, &client, &found.issuer);
        let new = request.token(&form, old.bound.then_some(self.prover.as_ref())).await;
        let new = match new {
            Ok(new) => new,
            Err(error) => {
                self.forget(&found);
                return Err(error);
            }
        };
        // Members that the response omits stay unchanged.
        let token = Token { refresh: new.refresh.or(Some(refresh)), scopes: new.scopes.or(old.scopes), ..new };
        self.use_token(ActiveToken { found, client, token })
    }

    /// A refresh token that was declined is not tried again.
    fn forget(&mut self, found: &Discovered) {
        let key = found.resource.as_deref().unwrap_or_default();
        if let Some(stored) = self.stored.get_mut(&found.issuer.id) {
            stored.tokens.remove(key);
        }
    }

    /// Which scopes to ask for; `None` leaves that to the issuer.
    fn scopes(&self, options: &Options, found: &Discovered, challenge: &AuthChallenge) -> Option<Vec<String>> {
        let mut scopes = self.requested_scopes.get(&found.issuer.id).cloned().unwrap_or_default();
        let mut add = |more: &[String]| {
            for scope in more {
                if !scopes.contains(scope) {
                    scopes.push(scope.clone());
                }
            }
        };
        add(challenge.scopes.as_deref().unwrap_or_default());
        if (challenge.scopes.is_none() && !challenge.more_scope) || options.scopes == Scopes::All {
            add(found.scopes.as_deref().unwrap_or_default());
        }
        if scopes.is_empty() {
            return None;
        }
        let offline = options.rules() >= Revision::R2026_07_28
            && options.grant == Grant::Code
            && options.scopes == Scopes::Needed
            && found.issuer.lists_scope(OFFLINE);
        if offline && !scopes.iter().any(|scope| scope == OFFLINE) {
            scopes.push(OFFLINE.to_owned());
        }
        Some(scopes)
    }

    /// Presents the grant.
    async fn request_token(
        &mut self,
        web: &Web,
        options: &Options,
        found: &Discovered,
        scopes: Option<&[String]>,
        bound: bool,
    ) -> Result<(Client, Token), OAuthError> {
        self.bind_client(web, options, &found.issuer)?;
        let scope = scopes.map(|scopes| scopes.join(" "));
        let (client, token) = match &options.grant {
            Grant::Code => self.token_by_code(web, options, found, scopes, bound).await?,
            Grant::ClientCredentials => {
                let form = [("grant_type", "client_credentials")];
                self.token_by_form(web, options, found, &form, scope.as_deref(), bound).await?
            }
            Grant::Assertion(assertion) => {
                let form = [("grant_type", JWT_BEARER), ("assertion", assertion.reveal())];
                self.token_by_form(web, options, found, &form, scope.as_deref(), bound).await?
            }
            Grant::Enterprise(enterprise) => {
                let assertion = exchange_id_token(web, enterprise, found, scope.as_deref()).await?;
                let form = [("grant_type", JWT_BEARER), ("assertion", assertion.reveal())];
                self.token_by_form(web, options, found, &form, scope.as_deref(), bound).await?
            }
        };
        // Scopes that the response omits are the requested ones.
        let scopes = token.scopes.clone().or_else(|| scopes.map(<[String]>::to_vec));
        Ok((client, Token { scopes, ..token }))
    }

    async fn token_by_form(
        &mut self,
        web: &Web,
        options: &Options,
        found: &Discovered,
        form: &[(&str, &str)],
        scope: Option<&str>,
        bound: bool,
    ) -> Result<(Client, Token), OAuthError> {
        let missing =
            || OAuthError::new("this grant requires a registered client", &found.issuer.id, Advice::BringClient);
        let client = known_client(options, web.verifier.as_ref(), &found.issuer, None)?.ok_or_else(missing)?;
        let mut form = form.to_vec();
        form.extend(found.resource.as_deref().map(|resource| ("resource", resource)));
        form.extend(scope.map(|scope| ("scope", scope)));
        let token =
            token_request(web, &client, &found.issuer).token(&form, bound.then_some(self.prover.as_ref())).await?;
        Ok((client, token))
    }

    async fn token_by_code(
        &mut self,
        web: &Web,
        options: &Options,
        found: &Discovered,
        scopes: Option<&[String]>,
        bound: bool,
    ) -> Result<(Client, Token), OAuthError> {
        let issuer = &found.issuer;
        verify_pkce(web, options.rules(), found)?;
        let own = self.stored.get(&issuer.id).and_then(|stored| stored.client.clone());
        let usable = |with: &str| web.verifier.registration(&issuer.id, with).is_ok();
        let other =
            || self.stored.iter().filter(|(with, _)| usable(with)).find_map(|(_, stored)| stored.client.clone());
        let stored = own.or_else(other);
        let registered = stored.as_ref().and_then(|client| client.redirect.clone());
        let response_url = RedirectListener::open(&options.agent, registered.as_deref()).await?;
        let redirect = response_url.redirect();
        let stored = stored.filter(|client| client.redirect.as_ref() == Some(&redirect));
        let client = match known_client(options, web.verifier.as_ref(), issuer, stored.as_ref())? {
            Some(client) => client,
            None => register(web, options, issuer, &redirect, scopes).await?,
        };
        let (id, resource) = (client.id.as_str(), found.resource.as_deref());
        let verifier = &web.verifier;
        let request = Request::new(RequestParts { issuer, client: id, redirect, resource, scopes, verifier })?;
        web.secrets.hear(&request.code_verifier);
        let code = web.secrets.heard(request.code(&response_url.visit(web, &request).await?)?);
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code.reveal()),
            ("redirect_uri", &request.redirect),
            ("code_verifier", request.code_verifier.reveal()),
        ];
        form.extend(resource.map(|resource| ("resource", resource)));
        let token = token_request(web, &client, issuer).token(&form, bound.then_some(self.prover.as_ref())).await?;
        Ok((client, token))
    }

    /// A client id given by the user is sent to the first issuer only.
    fn bind_client(&mut self, web: &Web, options: &Options, issuer: &Issuer) -> Result<(), OAuthError> {
        let Some(_) = options.client.as_ref().filter(|client| client.issuer.is_none()) else { return Ok(()) };
        let bound = self.bound_to.get_or_insert_with(|| issuer.id.clone());
        let what = "the server names another authorization server now, which does not know this client";
        let untrusted = |_| OAuthError::new(what, &issuer.id, "a client of that one");
        web.verifier.registration(&issuer.id, bound).map_err(untrusted)
    }

    fn open_cache(&mut self, web: &Web, issuer: &str) -> Result<(), OAuthError> {
        let Some(cache) = self.cache.as_ref().filter(|_| !self.stored.contains_key(issuer)) else { return Ok(()) };
        let stored = cache.load(issuer)?;
        stored.secrets().for_each(|secret| web.secrets.hear(secret));
        self.stored.insert(issuer.to_owned(), stored);
        Ok(())
    }

    /// Remembers that the user gives this issuer the credentials of `client`.
    fn pin(&mut self, issuer: &str, client: &str) -> Result<(), OAuthError> {
        let stored = self.stored.entry(issuer.to_owned()).or_default();
        stored.trusted_with.insert(client.to_owned());
        self.cache.as_ref().map_or(Ok(()), |cache| cache.store(issuer, stored))
    }

    /// Puts a token into use.
    fn use_token(&mut self, active: ActiveToken) -> Result<(), OAuthError> {
        let issuer = active.found.issuer.id.clone();
        let stored = self.stored.entry(issuer.clone()).or_default();
        // Clients from the user or a document are not stored.
        if active.client.redirect.is_some() {
            stored.client = Some(active.client.clone());
        }
        stored.tokens.insert(active.found.resource.clone().unwrap_or_default(), active.token.clone());
        self.active = Some(active);
        self.generation += 1;
        match &self.cache {
            Some(cache) => cache.store(&issuer, &self.stored[&issuer]),
            None => Ok(()),
        }
    }
}

pub(crate) fn token_request<'a>(web: &'a Web, client: &'a Client, issuer: &'a Issuer) -> TokenRequest<'a> {
    let method = Method::of(client, issuer);
    TokenRequest { web, endpoint: &issuer.token_endpoint, client, method, audience: &issuer.id }
}

/// Verifies that the issuer supports PKCE.
pub(crate) fn verify_pkce(web: &Web, rules: Revision, found: &Discovered) -> Result<(), OAuthError> {
    // Older revisions allow a server not to declare it.
    let may_be_undeclared = rules <= Revision::R2025_06_18 || found.resource.is_none();
    let advice = "fix its metadata: code_challenge_methods_supported";
    let verified = web.verifier.pkce(!may_be_undeclared, found.issuer.challenge_methods.as_deref());
    verified.map_err(|error| OAuthError::new(error.to_string(), &found.issuer.id, advice))
}

/// Exchanges the enterprise's id token for an assertion that the server's issuer accepts.
async fn exchange_id_token(
    web: &Web,
    with: &Enterprise,
    found: &Discovered,
    scope: Option<&str>,
) -> Result<Secret, OAuthError> {
    let mut form = vec![
        ("grant_type", EXCHANGE),
        ("requested_token_type", ID_JAG),
        ("audience", found.issuer.id.as_str()),
        ("subject_token", with.id_token.reveal()),
        ("subject_token_type", ID_TOKEN),
    ];
    form.extend(found.resource.as_deref().map(|resource| ("resource", resource)));
    form.extend(scope.map(|scope| ("scope", scope)));
    let provider = Issuer::with_default_endpoints(with.token_endpoint.as_str());
    let method = provider.map_or(Method::None, |provider| Method::of(&with.client, &provider));
    let audience = with.token_endpoint.as_str();
    let request = TokenRequest { web, endpoint: &with.token_endpoint, client: &with.client, method, audience };
    request.exchange(&form, ID_JAG).await
}
