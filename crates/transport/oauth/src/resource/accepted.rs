//! Tokens of one issuer, many times each: a signature is verified once, everything else each time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use net::server::http::Grant;
use serde_json::Value;

use super::keys::Keys;
use super::token::{TokenFlaw, TokenRequirements, granted, in_time, meets, signed};
use crate::jose::{JwkSet, sha256};

/// The most signatures whose verdict is kept.
const MOST: usize = 10_000;

/// The tokens of one issuer that are accepted.
#[derive(Debug)]
pub struct AcceptedTokens {
    keys: Arc<Keys>,
    issuer: String,
    verified: Mutex<Verified>,
}

/// The claims of tokens whose signature is good, by the SHA-256 of the token: the token itself is not kept.
#[derive(Debug, Default)]
struct Verified {
    /// The keys that verified them.
    by: Option<Arc<JwkSet>>,
    claims: HashMap<String, Arc<Value>>,
}

impl AcceptedTokens {
    /// The tokens of `issuer`, which signs with `keys`.
    pub fn new(keys: Keys, issuer: String) -> Self {
        Self { keys: Arc::new(keys), issuer, verified: Mutex::default() }
    }

    /// What a token grants that must be for one of `audiences`, on a connection with `certificate`. Issuer, audience and time are
    /// looked at each time.
    pub async fn grant(
        &self,
        token: &str,
        audiences: Vec<String>,
        certificate: Option<&str>,
    ) -> Result<Grant, TokenFlaw> {
        let wanted = TokenRequirements {
            issuers: vec![self.issuer.clone()],
            audiences,
            key: None,
            certificate: certificate.map(str::to_owned),
        };
        self.keys.keep_current().await;
        let claims = match self.claims(token) {
            // Keys change; a token that is signed with a new one makes us look for it, though not all the time.
            Err(TokenFlaw::Key) if self.keys.renew().await => self.claims(token),
            found => found,
        }?;
        meets(&claims, &wanted)?;
        Ok(granted(token, &claims))
    }

    #[cfg(test)]
    pub(super) fn keys(&self) -> &Keys {
        &self.keys
    }

    fn claims(&self, token: &str) -> Result<Arc<Value>, TokenFlaw> {
        let keys = self.keys.current();
        let name = sha256(token);
        {
            let mut verified = self.lock();
            if !verified.by.as_ref().is_some_and(|by| Arc::ptr_eq(by, &keys)) {
                *verified = Verified { by: Some(Arc::clone(&keys)), claims: HashMap::new() };
            }
            if let Some(claims) = verified.claims.get(&name) {
                return Ok(Arc::clone(claims));
            }
        }
        let claims = Arc::new(signed(token, &["", "at+jwt", "jwt"], &keys)?);
        let mut verified = self.lock();
        // Keys that were replaced meanwhile vouch for nothing.
        if verified.by.as_ref().is_some_and(|by| Arc::ptr_eq(by, &keys)) {
            if verified.claims.len() >= MOST {
                verified.claims.retain(|_, claims| in_time(claims));
            }
            if verified.claims.len() >= MOST {
                verified.claims.clear();
            }
            verified.claims.insert(name, Arc::clone(&claims));
        }
        Ok(claims)
    }

    fn lock(&self) -> MutexGuard<'_, Verified> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
