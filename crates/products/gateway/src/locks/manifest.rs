//! A signed manifest of a locked server: admitted, and looked at again as time passes. Must not know lists.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lock::admission::{Inadmissible, admit};
use lock::manifest::{Manifest, Refusal};
use lock::strict::{Integers, read};
use lock::time::millis;
use lock::{Entry, Pins};
use oauth::jose::{Jwk, JwkSet};
use serde_json::Value;

use super::files::{LockError, text};
use super::now;
use crate::settings::ManifestSettings;

/// A manifest, and whose signatures count.
#[derive(Debug)]
pub(super) struct SignedManifest {
    text: String,
    keys: Vec<Value>,
    state: Mutex<Arc<Admission>>,
}

/// The manifest with the locked digests that it states, too.
type Admission = Result<(Manifest, Pins), Inadmissible>;

/// What is locked of its server.
type Locked<'l> = (&'l Entry, &'l Pins);

impl PartialEq for SignedManifest {
    fn eq(&self, other: &Self) -> bool {
        // What is known of it at a time is no part of what it is.
        self.text == other.text && self.keys == other.keys
    }
}

impl SignedManifest {
    /// Reads the files. What the manifest says is judged later, again and again.
    pub(super) fn read(settings: &ManifestSettings, (entry, pins): Locked<'_>) -> Result<Self, LockError> {
        let keys = match &settings.keys {
            Some(file) => trusted(file)?,
            None if entry.keys.is_empty() => {
                let why = "no `keys` are configured, and the lock pins none";
                return Err(LockError::of("manifest", &settings.file, why, "add keys: keys.json to the manifest"));
            }
            None => entry.keys.clone(),
        };
        let text = text("manifest", &settings.file)?;
        let state = Mutex::new(Arc::new(admitted((&text, &keys), (entry, pins), now())));
        Ok(Self { text, keys, state })
    }

    /// What is known of it at `now`: what expired is refused, and what was issued in the future is admitted in time.
    fn admission(&self, locked: Locked<'_>, now: u64) -> Arc<Admission> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = match &**state {
            Ok((manifest, _)) => manifest.validity(now).is_some(),
            Err(Inadmissible::Refused(Refusal::Early(_))) => true,
            Err(_) => false,
        };
        if is_due {
            *state = Arc::new(admitted((&self.text, &self.keys), locked, now));
        }
        Arc::clone(&state)
    }

    /// Why it is refused.
    pub(super) fn refusal(&self, locked: Locked<'_>, now: u64) -> Option<String> {
        self.admission(locked, now).as_ref().as_ref().err().map(ToString::to_string)
    }

    /// Why it is refused, without a text of it.
    pub(super) fn rejected(&self, locked: Locked<'_>, now: u64) -> Option<&'static str> {
        Some(match self.admission(locked, now).as_ref().as_ref().err()? {
            Inadmissible::Unreadable(_) => "not readable",
            Inadmissible::Untrusted(judgement) => judgement.state.as_str(),
            Inadmissible::Refused(Refusal::Expired(_)) => "expired",
            Inadmissible::Refused(Refusal::Early(_)) => "issued in the future",
            Inadmissible::Refused(Refusal::Rollback(_)) => "older than one that was seen before",
            Inadmissible::Refused(Refusal::ImmutableVersion(_)) => {
                "of a version that was signed before for something else"
            }
            Inadmissible::Refused(Refusal::Differs(_)) => "of another server than the locked one",
        })
    }

    /// Of the locked digests, those that it states; none where it is refused.
    pub(super) fn pins(&self, locked: Locked<'_>, now: u64) -> Pins {
        match &*self.admission(locked, now) {
            Ok((_, pins)) => pins.clone(),
            Err(_) => Pins::default(),
        }
    }

    /// How long it still holds.
    pub(super) fn holds_for(&self, now: u64) -> Option<Duration> {
        let state = Arc::clone(&self.state.lock().unwrap_or_else(PoisonError::into_inner));
        let expires = millis(state.as_ref().as_ref().ok()?.0.expires.as_deref()?)?;
        Some(Duration::from_millis(expires.saturating_sub(now)))
    }
}

fn admitted((text, keys): (&str, &[Value]), (entry, pins): Locked<'_>, now: u64) -> Admission {
    let manifest = admit(text, entry, keys, now, &verifies)?;
    let pins = pins.clone().signed_by(&manifest);
    Ok((manifest, pins))
}

/// The keys of a JWK set. Keys without a name get their thumbprint.
fn trusted(file: &Path) -> Result<Vec<Value>, LockError> {
    let wrong = |why: &str| LockError::of("set of keys", file, why, "use the public keys of `proof keygen`");
    let value = read(&text("set of keys", file)?, Integers::Doubles).map_err(|why| wrong(&why.to_string()))?;
    let set = JwkSet::read(&value).ok_or_else(|| wrong("it has no list `keys`"))?;
    let name = |key: Jwk| Jwk { kid: key.kid.clone().or_else(|| key.thumbprint()), ..key };
    let keys: Vec<Value> = set.keys.into_iter().map(name).filter_map(|key| serde_json::to_value(key).ok()).collect();
    if keys.is_empty() { Err(wrong("it has no public key that is understood")) } else { Ok(keys) }
}

/// Whether a signature is that of a public key.
fn verifies(key: &Value, alg: &str, message: &[u8], signature: &[u8]) -> bool {
    // A key that was published for one name of Ed25519 is one for the other.
    let read = |key: &Value| Jwk::read(key).map(|key| Jwk { alg: key.alg.clone().filter(|_| key.kty != "OKP"), ..key });
    read(key).is_some_and(|key| key.verifies(alg, message, signature))
}
