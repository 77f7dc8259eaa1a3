//! Secrets: passwords, tokens, keys.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A text that shows nothing of itself in logs and errors.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Hears of secrets, so that a program can conceal them in what it prints and writes.
#[derive(Clone)]
pub struct SecretListener(Arc<dyn Fn(&str) + Send + Sync>);

impl SecretListener {
    /// Calls `hear` with each secret.
    pub fn new(hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    /// Announces a secret.
    pub(crate) fn hear(&self, secret: &Secret) {
        (self.0)(secret.reveal());
    }

    /// The secret, announced.
    pub(crate) fn heard(&self, secret: Secret) -> Secret {
        self.hear(&secret);
        secret
    }
}

impl Default for SecretListener {
    fn default() -> Self {
        Self::new(|_| ())
    }
}

impl fmt::Debug for SecretListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretListener")
    }
}

/// 256 random bits as URL-safe text: PKCE verifiers, states, ids of assertions.
///
/// # Panics
/// Panics where the system has no random numbers: nothing here would be safe without them.
pub fn random() -> String {
    use base64::Engine as _;
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system gives random numbers");
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
}
