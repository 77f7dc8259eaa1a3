//! What the form of a page holds so that no other page can make it: a digest with a secret that all gateways with the same keys
//! have. Must not know what the form does.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use oauth::Secret;
use ring::hmac;
use serde_json::json;

use super::seal::key_bytes;

/// Keys: the first one makes tokens, and all of them check.
pub(super) struct FormKeys(Vec<hmac::Key>);

impl FormKeys {
    pub(super) fn new(keys: &[Secret]) -> Self {
        let key = |secret: &Secret| {
            let own = hmac::Key::new(hmac::HMAC_SHA256, &key_bytes(secret.reveal())?);
            let derived = hmac::sign(&own, b"proof-gateway.consent.form.1");
            Some(hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref()))
        };
        Self(keys.iter().filter_map(key).collect())
    }

    /// Empty without a key, which counts for nothing.
    pub(super) fn token(&self, browser: &str, ticket: &str) -> String {
        let sign = |key| URL_SAFE_NO_PAD.encode(hmac::sign(key, text(browser, ticket).as_bytes()));
        self.0.first().map(sign).unwrap_or_default()
    }

    pub(super) fn is_token(&self, token: &str, browser: &str, ticket: &str) -> bool {
        let Ok(token) = URL_SAFE_NO_PAD.decode(token) else { return false };
        self.0.iter().any(|key| hmac::verify(key, text(browser, ticket).as_bytes(), &token).is_ok())
    }
}

fn text(browser: &str, ticket: &str) -> String {
    json!([browser, ticket]).to_string()
}
