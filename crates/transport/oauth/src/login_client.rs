//! Who signed in at a provider (OpenID Connect Core 1.0, authorization code with PKCE): the request, and the check of what comes
//! back. What must be known in between can be written down: another process may complete what one began. Keeps no token.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use net::egress::Egress;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::OnceCell;
use url::Url;
use wire::Revision;

use super::authorize::{Request, RequestParts};
use super::backend::NetBackend;
use super::discovery::issuer;
use super::error::OAuthError;
use super::metadata::Issuer;
use super::options::Client;
use super::resource::{Keys, Source, TokenFlaw, TokenRequirements, text, vouched};
use super::secret::{Secret, SecretListener, random};
use super::token_endpoint::{Method, TokenRequest};
use super::verifier::StrictVerifier;
use super::web::{Web, check_scheme};

/// The scope that makes a provider say who signed in.
const OPENID: &str = "openid";

/// A provider, and the service as the provider knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginSource {
    /// The provider, exactly as its metadata names it: https, or on this machine.
    pub issuer: String,
    /// The service.
    pub client: Client,
    /// The scopes to ask for; `openid` is always among them.
    pub scopes: Vec<String>,
    /// How long one answer may take.
    pub timeout: Duration,
    /// Where connections may lead.
    pub egress: Option<Egress>,
}

/// What must be known of a request when its response comes. Its verifier is a secret: it must be sealed where others see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedLogin {
    state: String,
    nonce: String,
    verifier: Secret,
}

impl SavedLogin {
    /// `state`, by which the response is found.
    pub fn state(&self) -> &str {
        &self.state
    }
}

/// Signs users in at one provider.
pub struct LoginClient {
    source: LoginSource,
    web: Web,
    found: OnceCell<(Issuer, Arc<Keys>)>,
}

impl fmt::Debug for LoginClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginClient").field("issuer", &self.source.issuer).finish_non_exhaustive()
    }
}

impl LoginClient {
    /// Prepares to ask; sends nothing yet. Refuses a provider without https that is not on this machine.
    pub fn new(source: LoginSource) -> Result<Self, OAuthError> {
        let named = Url::parse(&source.issuer);
        let named = named.map_err(|_| OAuthError::new("it is not a URL", &source.issuer, "the provider's URL"))?;
        check_scheme(&named)?;
        let (limit, secrets) = (source.timeout, SecretListener::default());
        let backend = Arc::new(NetBackend::plain(limit, source.egress.clone()));
        let named = vec![named];
        let web = Web { backend, verifier: Arc::new(StrictVerifier), limit, named, reach: OnceCell::new(), secrets };
        Ok(Self { source, web, found: OnceCell::new() })
    }

    /// The address to send a browser to, and what to keep until it comes back to `redirect`.
    pub async fn begin(&self, redirect: &str) -> Result<(Url, SavedLogin), OAuthError> {
        let (issuer, _) = self.found().await?;
        // Many providers support PKCE without saying so; one that lists other methods alone does not do.
        let verified = self.web.verifier.pkce(false, issuer.challenge_methods.as_deref());
        let advice = "fix its metadata: code_challenge_methods_supported";
        verified.map_err(|error| OAuthError::new(error.to_string(), &issuer.id, advice))?;
        let mut scopes = vec![OPENID.to_owned()];
        scopes.extend(self.source.scopes.iter().filter(|scope| *scope != OPENID).cloned());
        let request = Request::new(RequestParts {
            issuer,
            client: &self.source.client.id,
            redirect: redirect.to_owned(),
            resource: None,
            scopes: Some(&scopes),
            verifier: &self.web.verifier,
        })?;
        let (mut url, nonce) = (request.url.clone(), random());
        url.query_pairs_mut().append_pair("nonce", &nonce);
        let state = request.state().to_owned();
        Ok((url, SavedLogin { state, nonce, verifier: request.code_verifier }))
    }

    /// The claims of the user who came back. `response` is the whole address that the browser came to. The identity token must
    /// be signed by the provider, for this service, in time, and for this very request.
    pub async fn complete(&self, saved: SavedLogin, redirect: &str, response: &Url) -> Result<Value, OAuthError> {
        let (issuer, keys) = self.found().await?;
        let SavedLogin { state, nonce, verifier } = saved;
        let request = Request::resumed(issuer, redirect, (state, verifier), &self.web.verifier)?;
        let code = request.code(response)?;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code.reveal()),
            ("redirect_uri", redirect),
            ("code_verifier", request.code_verifier.reveal()),
        ];
        let (endpoint, client) = (&issuer.token_endpoint, &self.source.client);
        let method = Method::of(client, issuer);
        let asked = TokenRequest { web: &self.web, endpoint, client, method, audience: &issuer.id };
        let token = asked.identity(&form).await?;
        let unusable = |why: &str| {
            OAuthError::at(format!("the identity token cannot be used: {why}"), endpoint, "ask who runs the provider")
        };
        let claims = match self.verified(&token, keys) {
            Err(TokenFlaw::Key) if keys.renew().await => self.verified(&token, keys),
            read => read,
        };
        let claims = claims.map_err(|flaw| unusable(flaw.as_str()))?;
        is_for(&claims, &client.id, &nonce).map_err(unusable)?;
        Ok(claims)
    }

    fn verified(&self, token: &Secret, keys: &Keys) -> Result<Value, TokenFlaw> {
        let (issuers, audiences) = (vec![self.source.issuer.clone()], vec![self.source.client.id.clone()]);
        let wanted = TokenRequirements { issuers, audiences, key: None, certificate: None };
        vouched(token.reveal(), &["", "jwt"], &keys.current(), &wanted)
    }

    async fn found(&self) -> Result<&(Issuer, Arc<Keys>), OAuthError> {
        let found = self.found.get_or_try_init(|| async {
            let issuer = issuer(&self.web, &self.source.issuer, Revision::NEWEST).await?;
            let missing = || OAuthError::new("it publishes no `jwks_uri`", &issuer.id, "a provider of OpenID Connect");
            let address = issuer.keys.clone().ok_or_else(missing)?;
            // Its metadata leads no farther than the provider itself is away.
            self.web.check_url(&address).await?;
            let keys = Keys::read_within(Source::Address(address.clone()), self.source.egress.clone()).await;
            let keys =
                keys.map_err(|why| OAuthError::at(format!("its keys cannot be read: {why}"), &address, "fix it"))?;
            Ok((issuer, Arc::new(keys)))
        });
        let found = found.await?;
        found.1.keep_current().await;
        Ok(found)
    }
}

/// Whether an identity token is for this client and this request (OpenID Connect Core 1.0, 3.1.3.7).
fn is_for(claims: &Value, client: &str, nonce: &str) -> Result<(), &'static str> {
    if text(claims, "nonce") != Some(nonce) {
        return Err("it is for another request");
    }
    let for_several = claims.get("aud").and_then(Value::as_array).is_some_and(|all| all.len() > 1);
    match claims.get("azp") {
        Some(party) if party == client => {}
        None if !for_several => {}
        _ => return Err("it is for another client, too"),
    }
    let subject = text(claims, "sub").is_some_and(|sub| !sub.is_empty());
    if subject { Ok(()) } else { Err("it names no user") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_identity_token_is_for_one_client_and_one_request() {
        for (claims, good) in [
            (json!({ "aud": "me", "nonce": "n", "sub": "ann" }), true),
            (json!({ "aud": ["me"], "nonce": "n", "sub": "ann", "azp": "me" }), true),
            (json!({ "aud": ["me", "you"], "nonce": "n", "sub": "ann", "azp": "me" }), true),
            (json!({ "aud": ["me", "you"], "nonce": "n", "sub": "ann" }), false),
            (json!({ "aud": ["me", "you"], "nonce": "n", "sub": "ann", "azp": "you" }), false),
            (json!({ "aud": "me", "nonce": "n", "sub": "ann", "azp": 1 }), false),
            (json!({ "aud": "me", "nonce": "m", "sub": "ann" }), false),
            (json!({ "aud": "me", "sub": "ann" }), false),
            (json!({ "aud": "me", "nonce": "n", "sub": "" }), false),
            (json!({ "aud": "me", "nonce": "n", "sub": 7 }), false),
        ] {
            assert_eq!(is_for(&claims, "me", "n").is_ok(), good, "{claims}");
        }
    }

    #[test]
    fn a_provider_is_reached_by_https_or_on_this_machine() {
        let source = |issuer: &str| LoginSource {
            issuer: issuer.to_owned(),
            client: Client::new("gateway", super::super::options::Credential::Secret(Secret::new("s3cret"))),
            scopes: Vec::new(),
            timeout: Duration::from_secs(1),
            egress: None,
        };
        for (issuer, good) in [
            ("https://idp.example", true),
            ("http://127.0.0.1:9", true),
            ("http://idp.example", false),
            ("idp.example", false),
        ] {
            assert_eq!(LoginClient::new(source(issuer)).is_ok(), good, "{issuer}");
            assert!(!format!("{:?}", source(issuer)).contains("s3cret"));
        }
    }
}
