//! Assertions of a service account (RFC 7523): who it is, signed with its own key, which is worth a token.

use oauth::jose::Signer;
use oauth::{Secret, now, random};
use serde_json::{Value, json};

use crate::error::SetupError;
use crate::shown;

/// How many seconds an assertion is good. It is used at once.
const LASTS: u64 = 300;

/// A service account.
#[derive(Debug)]
pub(crate) struct ServiceAccount {
    signer: Signer,
    key_id: Option<String>,
    issuer: String,
    subject: Option<String>,
    audience: String,
    /// Scopes among the claims, as Google reads them.
    scope: Option<String>,
}

/// A key file as Google gives it.
pub(super) struct KeyFile {
    pub(super) email: String,
    pub(super) key: Secret,
    pub(super) key_id: Option<String>,
    pub(super) token_url: Option<String>,
}

impl KeyFile {
    /// Reads it; `place` names it in errors, which show nothing of it.
    pub(super) fn read(text: &Secret, place: &str) -> Result<Self, SetupError> {
        let bad = |what: &str| SetupError::new(format!("{place} {what}"), "the JSON file of a service account's key");
        let value: Value = serde_json::from_str(text.reveal()).map_err(|_| bad("is not JSON"))?;
        let text = |member: &str| value.get(member).and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            email: text("client_email").ok_or_else(|| bad("has no `client_email`"))?,
            key: Secret::new(text("private_key").ok_or_else(|| bad("has no `private_key`"))?),
            key_id: text("private_key_id"),
            token_url: text("token_uri"),
        })
    }
}

/// What an assertion says.
pub(super) struct Claims {
    pub(super) key_id: Option<String>,
    pub(super) issuer: String,
    pub(super) subject: Option<String>,
    pub(super) audience: String,
    pub(super) scope: Option<String>,
}

impl ServiceAccount {
    /// With a private key that signs by `algorithm`.
    pub(super) fn new(key: &Secret, algorithm: &str, claims: Claims, place: &str) -> Result<Self, SetupError> {
        let unfit = |why| {
            let what = format!("{place}: {why} (algorithm {})", shown(algorithm));
            SetupError::new(what, "a private key in PKCS #8: `openssl pkcs8 -topk8 -nocrypt` converts others")
        };
        let signer = Signer::from_pem(key.reveal(), algorithm).map_err(unfit)?;
        let Claims { key_id, issuer, subject, audience, scope } = claims;
        Ok(Self { signer, key_id, issuer, subject, audience, scope })
    }

    /// A new assertion.
    pub(super) fn assertion(&self) -> Secret {
        let now = now();
        let mut claims = json!({
            "iss": self.issuer, "aud": self.audience, "iat": now, "exp": now + LASTS, "jti": random(),
        });
        for (name, value) in [("sub", &self.subject), ("scope", &self.scope)] {
            if let Some(value) = value {
                claims[name] = json!(value);
            }
        }
        let mut header = json!({ "typ": "JWT" });
        if let Some(key_id) = &self.key_id {
            header["kid"] = json!(key_id);
        }
        Secret::new(self.signer.sign(header, &claims))
    }
}
