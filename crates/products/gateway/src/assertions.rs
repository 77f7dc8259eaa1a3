//! Assertions: a signed statement in each request to a server that it comes through this gateway, for whom, and for which
//! body. Each is good for one request. Must not know messages, nor how a server is reached.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use net::OpenError;
use net::server::http::{Grant, HeaderMap, HeaderName, HeaderValue, Method};
use net::service::RpcError;
use oauth::jose::{Signer, encode, sha256};
use oauth::{now, random};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use wire::http::SESSION_ID;
use wire::json::canonical;

use crate::context::claim_text;
use crate::failure;
use crate::settings::{AssertionSettings, Target, UpstreamSettings};
use crate::upstream::{Client, Trouble};

/// Where the gateway publishes its keys.
pub(crate) const KEYS: &str = "/.well-known/proof-assertions/jwks.json";
/// The type of an assertion: nothing else that the same key may sign is taken for one (RFC 8725, 3.11).
const TYPE: &str = "gateway-assertion+jwt";
/// The longest claim of a token that is repeated, as JSON text in bytes.
const LONGEST: usize = 1 << 10;

/// Signs assertions for one server.
pub(crate) struct Asserter {
    upstream: String,
    settings: AssertionSettings,
    header: HeaderName,
    signer: Signer,
    signed: AtomicU64,
}

/// What the assertions of one principal say.
#[derive(Clone)]
pub(crate) struct Assertion {
    asserter: Arc<Asserter>,
    /// The claims of the principal, or why there are none.
    claims: Result<Arc<Map<String, Value>>, RpcError>,
}

impl Asserter {
    /// That of an upstream, where it has one.
    pub(crate) fn of(upstream: &UpstreamSettings) -> Result<Option<Arc<Self>>, OpenError> {
        let Some(settings) = &upstream.assertion else { return Ok(None) };
        let bad =
            |why: &str| OpenError::BadAddress { at: format!("the upstream `{}`", upstream.name), why: why.to_owned() };
        if !matches!(upstream.target, Target::Http(_) | Target::StreamableHttp(_)) {
            return Err(bad("`assertion` needs Streamable HTTP"));
        }
        let key = &settings.key;
        let signer = Signer::from_pem(key.pem.reveal(), key.algorithm).map_err(|_| bad("its key cannot sign"))?;
        let header = HeaderName::from_bytes(settings.header.as_bytes()).map_err(|_| bad("its header has no name"))?;
        let (upstream, settings) = (upstream.name.clone(), settings.clone());
        Ok(Some(Arc::new(Self { upstream, settings, header, signer, signed: AtomicU64::new(0) })))
    }

    /// Whether assertions name their user.
    pub(crate) fn is_per_user(&self) -> bool {
        !self.settings.claims.is_empty()
    }

    /// A fingerprint of what assertions say of a client; none for a client without that.
    pub(crate) fn user(&self, client: &Client) -> Option<HeaderValue> {
        let claims = self.claims(client.grant.as_deref()).ok()?;
        let text = canonical(&Value::Object(claims));
        HeaderValue::from_str(&encode(&Sha256::digest(text))).ok()
    }

    /// What the requests of a client carry.
    pub(crate) fn assertion(self: &Arc<Self>, client: &Client) -> Assertion {
        Assertion { asserter: Arc::clone(self), claims: self.claims(client.grant.as_deref()).map(Arc::new) }
    }

    /// What it does, without a secret.
    pub(crate) fn status(&self) -> Value {
        let signed = self.signed.load(Ordering::Relaxed);
        json!({ "header": self.settings.header, "key": self.settings.key.id, "signed": signed })
    }

    /// All claims of a principal, or why a server gets no request.
    fn claims(&self, grant: Option<&Grant>) -> Result<Map<String, Value>, RpcError> {
        let mut claims = Map::new();
        for name in &self.settings.claims {
            match (name.as_str(), grant.filter(|grant| grant.has_token())) {
                ("sub", grant) => {
                    let Some((issuer, subject)) = grant.and_then(user_of) else { return Err(self.user_needed()) };
                    let id = json!({ "format": "iss_sub", "iss": issuer, "sub": subject });
                    claims.extend([("sub".to_owned(), subject.into()), ("sub_id".to_owned(), id)]);
                }
                ("scope", Some(grant)) => {
                    let mut scopes = grant.scopes.clone();
                    scopes.sort_unstable();
                    scopes.dedup();
                    claims.insert("scope".to_owned(), scopes.join(" ").into());
                }
                (name, Some(grant)) => {
                    let found = grant.claims.get(name).filter(|value| !value.is_null());
                    let short = found.filter(|value| value.to_string().len() <= LONGEST);
                    claims.insert(name.to_owned(), short.ok_or_else(|| self.lacks(name))?.clone());
                }
                (_, None) => return Err(self.user_needed()),
            }
        }
        Ok(claims)
    }

    fn user_needed(&self) -> RpcError {
        let what = format!(
            "The server `{}` must learn which user asks, and the request has no token of a user",
            self.upstream
        );
        failure::USER_NEEDED.error_with(what, json!({ "upstream": self.upstream }))
    }

    fn lacks(&self, claim: &str) -> RpcError {
        let what = format!("The access token has no usable `{claim}`, which the server `{}` must get", self.upstream);
        failure::CONTEXT_MISSING.error_with(what, json!({ "upstream": self.upstream }))
    }
}

impl Assertion {
    /// Signs one more request, and adds the assertion to its `headers`.
    pub(crate) fn sign(&self, method: &Method, headers: &mut HeaderMap, body: &[u8]) -> Result<(), Trouble> {
        let Asserter { settings, header, signer, signed, .. } = &*self.asserter;
        let mut claims = (**self.claims.as_ref().map_err(|error| Trouble::Refused(error.clone()))?).clone();
        let at = now();
        let own = json!({
            "iss": settings.issuer, "aud": settings.audience, "iat": at, "exp": at + settings.lifetime.as_secs(),
            "jti": random(), "htm": method.as_str(), "body_sha256": encode(&Sha256::digest(body)),
        });
        claims.extend(own.as_object().cloned().unwrap_or_default());
        if let Some(session) = headers.get(SESSION_ID).and_then(|session| session.to_str().ok()) {
            claims.insert("session_sha256".to_owned(), sha256(session).into());
        }
        let token = signer.sign(json!({ "typ": TYPE, "kid": settings.key.id }), &Value::Object(claims));
        let is_bearer = header.as_str() == "authorization";
        let text = if is_bearer { format!("Bearer {token}") } else { token };
        let value = HeaderValue::from_str(&text);
        let mut value = value.map_err(|_| Trouble::NotSent("its assertion cannot stand in a header".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(header.clone(), value);
        signed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// The issuer and the name of the user whose token it is.
fn user_of(grant: &Grant) -> Option<(String, String)> {
    let subject: Value = serde_json::from_str(&grant.subject).ok()?;
    let issuer = subject.get(0)?.as_str()?.to_owned();
    (subject.get(1)? == "sub").then_some(())?;
    Some((issuer, claim_text(subject.get(2)?)?))
}
