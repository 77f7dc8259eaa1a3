//! Admits requests by access tokens of an issuer (RFC 6750, RFC 8707, RFC 9068), and says where clients get one (RFC 9728).
//! Knows no message.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::OnceLock;

use net::server::http::{
    Denied, Grant, Guard, GuardRequest, GuardResponse, Head, HeaderMap, HeaderValue, HttpFuture, Method,
    PresentedToken, StatusCode,
};
use oauth::resource::{IntrospectionRefusal, TokenFlaw, authorities, carried};
use serde_json::json;
use wire::Message;

use super::tokens::Tokens;
use crate::bridge::Bridge;
use crate::failure;
use crate::hub::Gateway;
use crate::metrics::{AuthFailure, Foreign};
use crate::settings::AuthSettings;

/// Where the metadata is, before an endpoint's path.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
/// What stands after an endpoint's prefix for the other transports.
const OTHER_PATHS: [&str; 3] = ["/sse", "/messages", "/ws"];

/// Lets in who has a token of the issuer for the endpoint.
#[derive(Debug)]
pub struct TokenGuard {
    pub(super) gateway: Gateway,
    pub(super) settings: AuthSettings,
    pub(super) tokens: Tokens,
    address: OnceLock<SocketAddr>,
    tls: Option<GuardedTls>,
}

/// How a guard knows that clients come with TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardedTls {
    /// They show no certificates.
    Plain,
    /// They may show certificates, to which tokens may be bound (RFC 8705).
    Certificates,
}

impl TokenGuard {
    /// Reads the issuer's keys, where it has some; says why there are none otherwise.
    pub async fn start(gateway: &Gateway, settings: &AuthSettings) -> Result<Self, String> {
        let tokens = Tokens::start(settings, gateway.bridge().map(|bridge| &**bridge)).await?;
        Ok(Self { gateway: gateway.clone(), settings: settings.clone(), tokens, address: OnceLock::new(), tls: None })
    }

    /// The same where clients come with TLS.
    #[must_use]
    pub fn over(self, tls: GuardedTls) -> Self {
        Self { tls: Some(tls), ..self }
    }

    const fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// Scheme, host and port of each address where we listen, the preferred one first.
    pub(super) fn own_addresses(&self) -> Vec<String> {
        let scheme = self.scheme();
        let own = self.address.get().map(|address| authorities(*address, scheme)).unwrap_or_default();
        own.into_iter().map(|host| format!("{scheme}://{host}")).collect()
    }

    /// The path of the Streamable HTTP endpoint that `path` belongs to.
    fn endpoint(&self, path: &str) -> Option<String> {
        let belongs = |endpoint: &crate::Endpoint| {
            let other = path.strip_prefix(endpoint.prefix.as_str());
            path == endpoint.path || other.is_some_and(|rest| OTHER_PATHS.contains(&rest))
        };
        self.gateway.endpoints().into_iter().find(belongs).map(|endpoint| endpoint.path)
    }

    /// How clients call the endpoint, the preferred name first: as configured, or by the address where we listen. What a
    /// request says of its host counts for nothing.
    pub(super) fn names(&self, endpoint: &str) -> Vec<String> {
        if let Some(url) = &self.settings.public_url {
            return vec![format!("{}{endpoint}", url.trim_end_matches('/'))];
        }
        self.own_addresses().into_iter().map(|own| format!("{own}{endpoint}")).collect()
    }

    /// What tokens for the endpoint must say in `aud`.
    pub(super) fn audiences(&self, endpoint: &str) -> Vec<String> {
        self.settings.audience.clone().map_or_else(|| self.names(endpoint), |audience| vec![audience])
    }

    /// What tokens may be for: all endpoints, each once.
    fn resources(&self) -> Vec<String> {
        let endpoints = self.gateway.endpoints();
        let mut all: Vec<_> = endpoints.iter().flat_map(|endpoint| self.audiences(&endpoint.path)).collect();
        all.dedup();
        all
    }

    /// The name to tell a client that came to `host`.
    fn name_for(&self, endpoint: &str, host: &str) -> String {
        let names = self.names(endpoint);
        let called = format!("{}://{host}{endpoint}", self.scheme());
        names.iter().find(|name| name.eq_ignore_ascii_case(&called)).or(names.first()).cloned().unwrap_or(called)
    }

    fn denied(&self, head: Head<'_>, status: StatusCode, error: Option<(&str, &str)>) -> Denied {
        let endpoint = self.endpoint(head.uri.path()).unwrap_or_default();
        let resource = self.name_for(&endpoint, head.host());
        let base = resource.strip_suffix(endpoint.as_str()).unwrap_or(&resource);
        let mut challenge = format!("Bearer resource_metadata=\"{base}{WELL_KNOWN}{endpoint}\"");
        if !self.settings.scopes.is_empty() {
            let _ = write!(challenge, ", scope=\"{}\"", self.settings.scopes.join(" "));
        }
        self.gateway.stats().security.refused(match error {
            None => AuthFailure::Missing,
            Some(("insufficient_scope", _)) => AuthFailure::Scope,
            Some(_) => AuthFailure::Invalid,
        });
        if let Some(audit) = self.gateway.audit() {
            audit.refused(head.uri.path(), error.map_or("none", |(_, why)| why));
        }
        if let Some((error, why)) = error {
            let _ = write!(challenge, ", error=\"{error}\", error_description=\"{why}\"");
        }
        let failure = if status == StatusCode::FORBIDDEN { failure::SCOPE_MISSING } else { failure::TOKEN_INVALID };
        let what = error.map_or("an access token is needed", |(_, why)| why);
        let body = failure.body(format!("Unauthorized: {what}"));
        Denied { status, challenge, nonce: None, error: Some(Box::new(body)) }
    }

    /// The refusal of a token that cannot be checked now: another one would not help, so there is no challenge.
    fn unavailable(&self, head: Head<'_>) -> Denied {
        let (who, why) = match self.gateway.bridge() {
            Some(_) => ("the store of sessions does not answer", "the store fails"),
            None => ("the authorization server does not answer", "the introspection endpoint fails"),
        };
        if let Some(audit) = self.gateway.audit() {
            audit.refused(head.uri.path(), who);
        }
        tracing::warn!(issuer = self.settings.issuer, "a token cannot be checked: {why}");
        Denied { status: StatusCode::SERVICE_UNAVAILABLE, challenge: String::new(), nonce: None, error: None }
    }

    fn metadata(&self, endpoint: &str, host: &str) -> serde_json::Value {
        let mut document = json!({
            "resource": self.settings.audience.clone().unwrap_or_else(|| self.name_for(endpoint, host)),
            "authorization_servers": [self.settings.issuer],
            "bearer_methods_supported": ["header"],
        });
        if self.tls == Some(GuardedTls::Certificates) {
            document["tls_client_certificate_bound_access_tokens"] = json!(true);
        }
        if !self.settings.scopes.is_empty() {
            document["scopes_supported"] = json!(self.settings.scopes);
        }
        document
    }

    async fn check(&self, head: Head<'_>) -> Result<Grant, Denied> {
        let refuse = |flaw: TokenFlaw| {
            self.gateway.stats().security.flawed(flaw);
            self.denied(head, StatusCode::UNAUTHORIZED, Some(("invalid_token", flaw.as_str())))
        };
        let token = carried(head.headers, "bearer").map_err(refuse)?;
        let token = token.ok_or_else(|| self.denied(head, StatusCode::UNAUTHORIZED, None))?;
        let endpoint = self.endpoint(head.uri.path()).ok_or(TokenFlaw::Audience).map_err(refuse)?;
        let certificate = head.certificate.map(|certificate| certificate.sha256.as_str());
        let mut grant = match self.tokens.grant(token, self.audiences(&endpoint), certificate).await {
            Ok(grant) => grant,
            Err(IntrospectionRefusal::Flaw(flaw)) => return Err(refuse(flaw)),
            Err(IntrospectionRefusal::Unavailable) => return Err(self.unavailable(head)),
        };
        if let Some(bridge) = self.gateway.bridge() {
            bridge.check(&grant.claims).await.map_err(refuse)?.ok_or_else(|| self.unavailable(head))?;
        }
        let lacks = self.settings.scopes.iter().any(|scope| !grant.scopes.contains(scope));
        if lacks {
            let error = Some(("insufficient_scope", "more scope is needed"));
            return Err(self.denied(head, StatusCode::FORBIDDEN, error));
        }
        if self.gateway.exchanges_tokens() {
            grant.token = PresentedToken::new(token);
        }
        Ok(grant)
    }
}

impl Guard for TokenGuard {
    fn listening(&self, address: SocketAddr) {
        // Where it listens twice, the first address is its own.
        let _ = self.address.set(address);
        if let (Some(consents), Some(own)) = (self.gateway.consents(), self.own_addresses().first()) {
            consents.listening(own);
        }
    }

    fn owns(&self, path: &str) -> bool {
        path.strip_prefix(WELL_KNOWN).is_some_and(|endpoint| self.endpoint(endpoint).is_some())
            || self.owns_consent_page(path)
            || self.gateway.bridge().is_some_and(|_| Bridge::owns(path))
    }

    fn issues(&self, path: &str) -> bool {
        self.gateway.bridge().is_some_and(|_| Bridge::owns(path))
    }

    fn serve(&self, request: GuardRequest) -> HttpFuture<'_, GuardResponse> {
        if self.owns_consent_page(request.uri.path()) {
            return Box::pin(self.consent_page(request));
        }
        if let Some(bridge) = self.gateway.bridge().filter(|_| Bridge::owns(request.uri.path())) {
            if self.is_foreign_post(&request, Bridge::is_form(request.uri.path())) {
                return Box::pin(async move { Bridge::foreign(request.uri.path()) });
            }
            return Box::pin(async move { bridge.serve(&request, &self.resources()).await });
        }
        Box::pin(async move {
            let path = request.uri.path().strip_prefix(WELL_KNOWN).unwrap_or_default();
            let endpoint = self.endpoint(path).unwrap_or_default();
            let mut headers = HeaderMap::new();
            headers.insert("cache-control", HeaderValue::from_static("no-store"));
            if request.method != Method::GET {
                headers.insert("allow", HeaderValue::from_static("GET"));
                return GuardResponse { status: StatusCode::METHOD_NOT_ALLOWED, headers, body: Vec::new() };
            }
            headers.insert("content-type", HeaderValue::from_static("application/json"));
            let body = self.metadata(&endpoint, request.host()).to_string().into_bytes();
            GuardResponse { status: StatusCode::OK, headers, body }
        })
    }

    fn admit<'g>(&'g self, head: Head<'g>) -> HttpFuture<'g, Result<Grant, Denied>> {
        Box::pin(self.check(head))
    }

    fn foreign_session(&self) {
        self.gateway.stats().security.crossed(Foreign::Session);
    }

    fn permits(&self, _grant: &Grant, _head: Head<'_>, _message: &Message) -> Result<(), Denied> {
        // What a client may use is decided where tools and resources are known.
        Ok(())
    }
}
