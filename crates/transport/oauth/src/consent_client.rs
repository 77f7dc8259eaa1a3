//! Tokens that a service gets with a user's consent: the authorization request, the check of its response, and the token
//! requests (authorization code with PKCE, RFC 7636, RFC 8707, RFC 9207). Keeps no token and no user.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use net::egress::Egress;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::{Mutex, OnceCell};
use url::Url;
use wire::Revision;

use super::authorize::{Request, RequestParts, SavedRequest};
use super::backend::NetBackend;
use super::challenge::AuthChallenge;
use super::discovery::{Discovered, discover, discover_named, issuer};
use super::dpop::now;
use super::error::{Advice, OAuthError};
use super::metadata::Issuer;
use super::options::{Client, Credential};
use super::registration::register_service;
use super::secret::{Secret, SecretListener};
use super::service_client::{IssuedToken, UNSTATED};
use super::token_endpoint::{Method, Token, TokenRequest};
use super::verifier::StrictVerifier;
use super::web::{Web, check_scheme};

const OFFLINE: &str = "offline_access";

/// What users consent to, and at which authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsentSource {
    /// The server that the tokens are for: https, or on this machine. Its metadata is read (RFC 9728). Without a server,
    /// `issuer` alone counts.
    pub server: Option<Url>,
    /// The authorization server, exactly as its metadata names it; without one, the server's metadata names it.
    pub issuer: Option<String>,
    /// The service, as the authorization server knows it; without one, a metadata document or a registration.
    pub client: Option<Client>,
    /// The scopes to ask for; without any, those that the server's metadata lists.
    pub scopes: Vec<String>,
    /// `resource` of the requests (RFC 8707); by default the server's own name for itself.
    pub resource: Option<String>,
    /// How long one answer may take.
    pub timeout: Duration,
    /// Where connections may lead.
    pub egress: Option<Egress>,
}

/// How the service presents itself to a browser.
#[derive(Clone, Copy, Debug)]
pub struct ConsentPlace<'p> {
    /// The redirect address, exactly as it is registered.
    pub redirect: &'p str,
    /// The URL of the service's metadata document, which some authorization servers accept as its id.
    pub document: Option<&'p Url>,
    /// The name of the service, where it registers itself.
    pub name: &'p str,
    /// `resource` of this request (RFC 8707), in place of that of the source.
    pub resource: Option<&'p str>,
}

/// An authorization request that waits for its response.
pub struct ConsentRequest {
    request: Request,
    client: Client,
    resource: Option<String>,
}

/// What a consent is worth: what is needed for the next token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consented {
    /// The authorization server that gave it.
    pub issuer: String,
    /// The client that it was given to.
    pub client: Client,
    /// The refresh token, where there is one.
    pub refresh: Option<Secret>,
    /// The newest access token.
    pub access: Secret,
    /// When that expires, in seconds since 1970.
    pub expires: u64,
    /// Its scopes, where the authorization server says.
    pub scopes: Option<Vec<String>>,
}

impl Consented {
    /// The access token.
    pub fn token(&self) -> IssuedToken {
        IssuedToken { access: self.access.clone(), expires: self.expires, scopes: self.scopes.clone() }
    }
}

impl fmt::Debug for ConsentRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsentRequest").field("client", &self.client.id).finish_non_exhaustive()
    }
}

/// The same as a text.
#[derive(Serialize, Deserialize)]
struct SavedConsentRequest {
    request: SavedRequest,
    client: Client,
    resource: Option<String>,
}

impl ConsentRequest {
    /// The request as JSON, for another process of the service. Holds secrets: encrypt it before it is kept anywhere.
    pub fn save(&self) -> Vec<u8> {
        let (client, resource) = (self.client.clone(), self.resource.clone());
        let saved = SavedConsentRequest { request: self.request.saved(), client, resource };
        serde_json::to_vec(&saved).unwrap_or_default()
    }

    /// A request that was saved; `None` for anything else.
    pub fn restore(text: &[u8]) -> Option<Self> {
        let SavedConsentRequest { request, client, resource } = serde_json::from_slice(text).ok()?;
        Some(Self { request: Request::restored(request, Arc::new(StrictVerifier))?, client, resource })
    }

    /// The address to send the browser to.
    pub fn url(&self) -> &Url {
        &self.request.url
    }

    /// `state`, by which the response is found.
    pub fn state(&self) -> &str {
        self.request.state()
    }
}

/// Gets tokens with users' consent, for one server.
pub struct ConsentClient {
    source: ConsentSource,
    web: Web,
    found: OnceCell<Discovered>,
    /// By issuer and redirect address; held while the service registers itself.
    registered: Mutex<HashMap<(String, String), Client>>,
}

impl fmt::Debug for ConsentClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsentClient").field("source", &self.source).finish_non_exhaustive()
    }
}

impl ConsentClient {
    /// Prepares to ask; sends nothing yet. Refuses addresses without https that are not on this machine, and credentials
    /// without a named authorization server: no server chooses who gets them.
    pub fn new(source: ConsentSource) -> Result<Self, OAuthError> {
        let issuer = match &source.issuer {
            Some(name) => Some(Url::parse(name).map_err(|_| OAuthError::new("it is not a URL", name, "its URL"))?),
            None => None,
        };
        let named: Vec<Url> = issuer.into_iter().chain(source.server.clone()).collect();
        named.iter().try_for_each(check_scheme)?;
        if source.issuer.is_none() && (source.client.is_some() || source.server.is_none()) {
            let at = source.server.as_ref().map(Url::to_string).unwrap_or_default();
            return Err(OAuthError::new("no authorization server is named", at, Advice::NameIssuer));
        }
        let (limit, secrets) = (source.timeout, SecretListener::default());
        let backend = Arc::new(NetBackend::plain(limit, source.egress.clone()));
        let web = Web { backend, verifier: Arc::new(StrictVerifier), limit, named, reach: OnceCell::new(), secrets };
        Ok(Self { source, web, found: OnceCell::new(), registered: Mutex::default() })
    }

    /// The same for an authorization server without metadata. `source` names no server, and as issuer who may be named in
    /// responses; without one, that is the origin of the page where users consent.
    pub fn at(mut source: ConsentSource, authorization: Url, token: Url) -> Result<Self, OAuthError> {
        [&authorization, &token].into_iter().try_for_each(check_scheme)?;
        let id = source.issuer.get_or_insert_with(|| authorization.origin().ascii_serialization()).clone();
        let mut client = Self::new(source)?;
        client.web.named.insert(0, token.clone());
        let document = json!({
            "issuer": id, "authorization_endpoint": authorization.as_str(), "token_endpoint": token.as_str(),
        });
        let issuer = Issuer::read(&document).map_err(|why| OAuthError::at(why, &token, "another address"))?;
        client.found = OnceCell::from(Discovered { resource: None, scopes: None, issuer });
        Ok(client)
    }

    /// Makes an authorization request, for one browser.
    pub async fn begin(&self, place: ConsentPlace<'_>) -> Result<ConsentRequest, OAuthError> {
        let found = self.found().await?;
        // Providers of a login that list no methods are common; a server of MCP must list S256.
        let required = self.source.server.is_some();
        let verified = self.web.verifier.pkce(required, found.issuer.challenge_methods.as_deref());
        let advice = "fix its metadata: code_challenge_methods_supported";
        verified.map_err(|error| OAuthError::new(error.to_string(), &found.issuer.id, advice))?;
        let scopes = self.scopes(found);
        let client = self.client(&found.issuer, place, scopes.as_deref()).await?;
        let resource = place.resource.or_else(|| self.resource(found)).map(str::to_owned);
        let request = Request::new(RequestParts {
            issuer: &found.issuer,
            client: &client.id,
            redirect: place.redirect.to_owned(),
            resource: resource.as_deref(),
            scopes: scopes.as_deref(),
            verifier: &self.web.verifier,
        })?;
        Ok(ConsentRequest { request, client, resource })
    }

    /// Turns the response to a request into tokens. `response` is the whole address that the browser came to.
    pub async fn complete(&self, asked: ConsentRequest, response: &Url) -> Result<Consented, OAuthError> {
        let found = self.found().await?;
        let ConsentRequest { request, client, resource } = asked;
        let code = request.code(response)?;
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code.reveal()),
            ("redirect_uri", request.redirect.as_str()),
            ("code_verifier", request.code_verifier.reveal()),
        ];
        form.extend(resource.as_deref().map(|resource| ("resource", resource)));
        let token = self.request(&found.issuer, &client).token(&form, None).await?;
        consented(token, &found.issuer, client, None)
    }

    /// The next token of a consent. A consent that another authorization server gave is declined as `invalid_grant`: its
    /// refresh token must not go there.
    pub async fn refresh(&self, old: &Consented) -> Result<Consented, OAuthError> {
        let found = self.found().await?;
        let ended =
            |what: &str| OAuthError::new(what, &found.issuer.id, "authorize again").declined_with("invalid_grant");
        if found.issuer.id != old.issuer {
            return Err(ended("the consent was given at another authorization server"));
        }
        let Some(refresh) = &old.refresh else { return Err(ended("there is no refresh token")) };
        let mut form = vec![("grant_type", "refresh_token"), ("refresh_token", refresh.reveal())];
        form.extend(self.resource(found).map(|resource| ("resource", resource)));
        let token = self.request(&found.issuer, &old.client).token(&form, None).await?;
        consented(token, &found.issuer, old.client.clone(), Some(old))
    }

    async fn found(&self) -> Result<&Discovered, OAuthError> {
        self.found.get_or_try_init(|| self.find()).await
    }

    async fn find(&self) -> Result<Discovered, OAuthError> {
        match (&self.source.server, self.source.issuer.as_deref()) {
            (Some(server), Some(name)) => discover_named(&self.web, server, name).await,
            (Some(server), None) => {
                discover(&self.web, server, &AuthChallenge::default(), Some(Revision::NEWEST), &[]).await
            }
            (None, name) => {
                let issuer = issuer(&self.web, name.unwrap_or_default(), Revision::NEWEST).await?;
                Ok(Discovered { resource: None, scopes: None, issuer })
            }
        }
    }

    fn resource<'r>(&'r self, found: &'r Discovered) -> Option<&'r str> {
        let own = || self.source.server.as_ref().map(Url::as_str);
        self.source.resource.as_deref().or(found.resource.as_deref()).or_else(own)
    }

    fn scopes(&self, found: &Discovered) -> Option<Vec<String>> {
        let mut scopes = self.source.scopes.clone();
        if scopes.is_empty() {
            scopes = found.scopes.clone()?;
        }
        let offline = self.source.server.is_some() && found.issuer.lists_scope(OFFLINE);
        if offline && !scopes.iter().any(|scope| scope == OFFLINE) {
            scopes.push(OFFLINE.to_owned());
        }
        Some(scopes)
    }

    async fn client(
        &self,
        issuer: &Issuer,
        place: ConsentPlace<'_>,
        scopes: Option<&[String]>,
    ) -> Result<Client, OAuthError> {
        if let Some(client) = &self.source.client {
            return Ok(client.clone());
        }
        // A document on this machine is of use to few issuers: a registration comes first then.
        let fits = |document: &&Url| document.scheme() == "https" || issuer.registration_endpoint.is_none();
        if let Some(document) = place.document.filter(fits).filter(|_| issuer.accepts_client_documents) {
            return Ok(Client::new(document.as_str(), Credential::None));
        }
        let mut registered = self.registered.lock().await;
        let key = (issuer.id.clone(), place.redirect.to_owned());
        if let Some(client) = registered.get(&key) {
            return Ok(client.clone());
        }
        let client = register_service(&self.web, issuer, (place.name, place.redirect), scopes).await?;
        registered.insert(key, client.clone());
        Ok(client)
    }

    fn request<'r>(&'r self, issuer: &'r Issuer, client: &'r Client) -> TokenRequest<'r> {
        let (endpoint, method) = (&issuer.token_endpoint, Method::of(client, issuer));
        TokenRequest { web: &self.web, endpoint, client, method, audience: &issuer.id }
    }
}

/// What a response is worth; members that it omits stay unchanged.
fn consented(token: Token, issuer: &Issuer, client: Client, old: Option<&Consented>) -> Result<Consented, OAuthError> {
    if token.bound {
        let what = "the token endpoint binds its tokens to a key (DPoP), which is not supported here";
        return Err(OAuthError::at(what, &issuer.token_endpoint, "allow this client bearer tokens"));
    }
    Ok(Consented {
        issuer: issuer.id.clone(),
        client,
        refresh: token.refresh.or_else(|| old.and_then(|old| old.refresh.clone())),
        access: token.access,
        expires: token.expires.unwrap_or_else(|| now().saturating_add(UNSTATED)),
        scopes: token.scopes.or_else(|| old.and_then(|old| old.scopes.clone())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(server: Option<&str>, issuer: Option<&str>, client: bool) -> ConsentSource {
        ConsentSource {
            server: server.map(|url| Url::parse(url).expect("a URL")),
            issuer: issuer.map(str::to_owned),
            client: client.then(|| Client::new("gateway", Credential::Secret(Secret::new("s3cret")))),
            scopes: Vec::new(),
            resource: None,
            timeout: Duration::from_secs(1),
            egress: None,
        }
    }

    #[test]
    fn a_request_is_saved_with_all_that_verifies_its_response() {
        let document = json!({
            "issuer": "https://as.example", "authorization_endpoint": "https://as.example/authorize",
            "token_endpoint": "https://as.example/token", "authorization_response_iss_parameter_supported": true,
        });
        let issuer = Issuer::read(&document).expect("enough");
        let verifier: Arc<dyn crate::verifier::Verifier> = Arc::new(StrictVerifier);
        let request = Request::new(RequestParts {
            issuer: &issuer,
            client: "me",
            redirect: "https://mcp.example/consent/callback".to_owned(),
            resource: None,
            scopes: None,
            verifier: &verifier,
        });
        let (request, client) = (request.expect("a request"), Client::new("me", Credential::None));
        let asked = ConsentRequest { request, client, resource: Some("r".to_owned()) };
        let restored = ConsentRequest::restore(&asked.save()).expect("restored");
        assert_eq!((restored.url(), restored.state(), &restored.client), (asked.url(), asked.state(), &asked.client));
        assert_eq!(restored.request.code_verifier, asked.request.code_verifier);
        let answer = |iss: &str| {
            let text = format!("https://mcp.example/consent/callback?code=c&state={}&iss={iss}", asked.state());
            Url::parse(&text).expect("a URL")
        };
        assert!(restored.request.code(&answer("https://as.example")).is_ok());
        assert!(restored.request.code(&answer("https://evil.example")).is_err(), "the issuer is still compared");
        assert!(
            restored.request.code(&Url::parse("https://mcp.example/consent/callback?code=c").expect("a URL")).is_err()
        );
        assert!(ConsentRequest::restore(b"{}").is_none());
    }

    #[test]
    fn credentials_go_to_a_named_authorization_server_alone() {
        let server = Some("https://crm.example/mcp");
        assert!(ConsentClient::new(source(server, None, false)).is_ok());
        assert!(ConsentClient::new(source(server, Some("https://as.example"), true)).is_ok());
        assert!(ConsentClient::new(source(None, Some("https://as.example"), true)).is_ok());
        for bad in [
            source(server, None, true),
            source(None, None, true),
            source(None, None, false),
            source(Some("http://crm.example/mcp"), Some("https://as.example"), true),
            source(server, Some("http://as.example"), true),
        ] {
            assert!(ConsentClient::new(bad.clone()).is_err(), "{bad:?}");
            assert!(!format!("{bad:?}").contains("s3cret"));
        }
    }
}
