//! Tokens for a service that calls a server: in its own name (client credentials, or an assertion of RFC 7523), or in that of a
//! user whose token it exchanges (RFC 8693). The authorization server is always one that was named: no server chooses who gets credentials. Keeps
//! no token.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use net::egress::Egress;
use tokio::sync::OnceCell;
use url::Url;

use super::backend::NetBackend;
use super::discovery::discover_named;
use super::dpop::now;
use super::error::{Advice, OAuthError};
use super::options::Client;
use super::secret::{Secret, SecretListener};
use super::token_endpoint::{ACCESS_TOKEN, Method, Token, TokenRequest};
use super::verifier::StrictVerifier;
use super::web::{Web, check_scheme};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
/// How long a token is used whose response does not say how long it lives.
pub(crate) const UNSTATED: u64 = 300;

/// Where a service gets tokens, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSource {
    /// The server that the tokens are for: https, or on this machine.
    pub server: Url,
    /// The authorization server, exactly as its metadata names it.
    pub issuer: Option<String>,
    /// Its token endpoint; without one, the metadata of `issuer` names it.
    pub token_endpoint: Option<Url>,
    /// The service, as the authorization server knows it.
    pub client: Client,
    /// The scopes to ask for.
    pub scopes: Vec<String>,
    /// `audience` of the request (RFC 8693).
    pub audience: Option<String>,
    /// `resource` of the request (RFC 8707); without it and `audience`, the name that the server's metadata gives, or its URL.
    pub resource: Option<String>,
    /// How long one answer may take.
    pub timeout: Duration,
    /// Where connections may lead; without it, as far as the authorization server is away.
    pub egress: Option<Egress>,
}

/// A token and its end, in seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedToken {
    /// The token.
    pub access: Secret,
    /// When it expires.
    pub expires: u64,
    /// Its scopes, where the issuer says.
    pub scopes: Option<Vec<String>>,
}

/// Gets tokens for one server.
pub struct ServiceClient {
    source: TokenSource,
    web: Web,
    found: OnceCell<Endpoint>,
    /// Whether the server is named in a request that names no other target.
    names_server: bool,
}

/// Where to ask, and what for.
struct Endpoint {
    url: Url,
    method: Method,
    /// The audience of a signed assertion.
    audience: String,
    resource: Option<String>,
}

impl fmt::Debug for ServiceClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceClient").field("server", &self.source.server.as_str()).finish_non_exhaustive()
    }
}

impl ServiceClient {
    /// Prepares to ask; sends nothing yet. Refuses addresses without https that are not on this machine.
    pub fn new(source: TokenSource) -> Result<Self, OAuthError> {
        check_scheme(&source.server)?;
        let issuer = match &source.issuer {
            Some(name) => Some(Url::parse(name).map_err(|_| OAuthError::new("it is not a URL", name, "its URL"))?),
            None => None,
        };
        // The authorization server comes first: its metadata leads no farther than it is away.
        let mut named: Vec<Url> = issuer.into_iter().chain(source.token_endpoint.clone()).collect();
        if named.is_empty() {
            return Err(OAuthError::at("no authorization server is named", &source.server, Advice::NameIssuer));
        }
        named.iter().try_for_each(check_scheme)?;
        named.push(source.server.clone());
        let (limit, secrets) = (source.timeout, SecretListener::default());
        let backend = Arc::new(NetBackend::plain(limit, source.egress.clone()));
        let web = Web { backend, verifier: Arc::new(StrictVerifier), limit, named, reach: OnceCell::new(), secrets };
        Ok(Self { source, web, found: OnceCell::new(), names_server: true })
    }

    /// The same, which names a target only where [`TokenSource`] does: many authorization servers of APIs know no `resource`.
    #[must_use]
    pub fn without_own_name(self) -> Self {
        Self { names_server: false, ..self }
    }

    /// A token for the service itself.
    pub async fn own(&self) -> Result<IssuedToken, OAuthError> {
        let endpoint = self.endpoint().await?;
        let mut form = vec![("grant_type", "client_credentials")];
        let scope = self.add_target(&mut form, endpoint);
        form.extend(scope.as_deref().map(|scope| ("scope", scope)));
        self.request(endpoint).token(&form, None).await.and_then(|token| usable(token, endpoint))
    }

    /// A token for the user whose access token `subject` is. That goes to the token endpoint and nowhere else.
    pub async fn exchanged(&self, subject: &Secret) -> Result<IssuedToken, OAuthError> {
        let endpoint = self.endpoint().await?;
        let mut form = vec![
            ("grant_type", EXCHANGE),
            ("subject_token", subject.reveal()),
            ("subject_token_type", ACCESS_TOKEN),
            ("requested_token_type", ACCESS_TOKEN),
        ];
        let scope = self.add_target(&mut form, endpoint);
        form.extend(scope.as_deref().map(|scope| ("scope", scope)));
        let token = self.request(endpoint).exchange_access(&form).await?;
        if token.access == *subject {
            let what = "the token endpoint gives the user's own token back, which must not reach the server";
            return Err(OAuthError::at(what, &endpoint.url, "ask who runs it"));
        }
        usable(token, endpoint)
    }

    /// A token for the service account that signed `assertion` (RFC 7523), or for whom it names.
    pub async fn asserted(&self, assertion: &Secret) -> Result<IssuedToken, OAuthError> {
        let endpoint = self.endpoint().await?;
        let mut form = vec![("grant_type", JWT_BEARER), ("assertion", assertion.reveal())];
        let scope = self.add_target(&mut form, endpoint);
        form.extend(scope.as_deref().map(|scope| ("scope", scope)));
        self.request(endpoint).token(&form, None).await.and_then(|token| usable(token, endpoint))
    }

    fn add_target<'f>(&'f self, form: &mut Vec<(&'f str, &'f str)>, endpoint: &'f Endpoint) -> Option<String> {
        form.extend(self.source.audience.as_deref().map(|audience| ("audience", audience)));
        form.extend(endpoint.resource.as_deref().map(|resource| ("resource", resource)));
        (!self.source.scopes.is_empty()).then(|| self.source.scopes.join(" "))
    }

    fn request<'r>(&'r self, endpoint: &'r Endpoint) -> TokenRequest<'r> {
        let Endpoint { url, method, audience, .. } = endpoint;
        TokenRequest { web: &self.web, endpoint: url, client: &self.source.client, method: *method, audience }
    }

    async fn endpoint(&self) -> Result<&Endpoint, OAuthError> {
        self.found.get_or_try_init(|| self.find()).await
    }

    async fn find(&self) -> Result<Endpoint, OAuthError> {
        let TokenSource { server, issuer, token_endpoint, client, audience, resource, .. } = &self.source;
        let own_name = || {
            let mut name = server.clone();
            name.set_fragment(None);
            (self.names_server && audience.is_none()).then(|| name.to_string())
        };
        if let Some(url) = token_endpoint {
            let audience = issuer.clone().unwrap_or_else(|| url.to_string());
            let resource = resource.clone().or_else(own_name);
            return Ok(Endpoint { url: url.clone(), method: Method::configured(client), audience, resource });
        }
        let name = issuer.as_deref().unwrap_or_default();
        let found = discover_named(&self.web, server, name).await?;
        let named_there = || found.resource.clone().filter(|_| audience.is_none());
        Ok(Endpoint {
            url: found.issuer.token_endpoint.clone(),
            method: Method::of(client, &found.issuer),
            audience: found.issuer.id.clone(),
            resource: resource.clone().or_else(named_there).or_else(own_name),
        })
    }
}

fn usable(token: Token, endpoint: &Endpoint) -> Result<IssuedToken, OAuthError> {
    if token.bound {
        let what = "the token endpoint binds its tokens to a key (DPoP), which is not supported here";
        return Err(OAuthError::at(what, &endpoint.url, "allow this client bearer tokens"));
    }
    let expires = token.expires.unwrap_or_else(|| now().saturating_add(UNSTATED));
    Ok(IssuedToken { access: token.access, expires, scopes: token.scopes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Credential;

    fn source(server: &str, issuer: Option<&str>, endpoint: Option<&str>) -> TokenSource {
        TokenSource {
            server: Url::parse(server).expect("a URL"),
            issuer: issuer.map(str::to_owned),
            token_endpoint: endpoint.map(|url| Url::parse(url).expect("a URL")),
            client: Client::new("gateway", Credential::Secret(Secret::new("s3cret"))),
            scopes: Vec::new(),
            audience: None,
            resource: None,
            timeout: Duration::from_secs(1),
            egress: None,
        }
    }

    #[test]
    fn addresses_are_https_or_on_this_machine_and_one_is_named() {
        let server = "https://crm.example/mcp";
        for good in [
            source(server, Some("https://as.example"), None),
            source(server, None, Some("https://as.example/token")),
            source("http://127.0.0.1:9/mcp", Some("http://localhost:9"), None),
        ] {
            assert!(ServiceClient::new(good).is_ok());
        }
        for bad in [
            source(server, None, None),
            source("http://crm.example/mcp", Some("https://as.example"), None),
            source(server, Some("http://as.example"), None),
            source(server, Some("https://as.example"), Some("http://as.example/token")),
            source(server, Some("as.example"), None),
        ] {
            assert!(ServiceClient::new(bad.clone()).is_err(), "{bad:?}");
            assert!(!format!("{bad:?}").contains("s3cret"));
        }
    }
}
