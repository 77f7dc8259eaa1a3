//! Which signed manifest may be enforced for a locked server: the one rule for all who enforce, and it fails closed. Must not
//! know of files, clocks or requests.

use std::fmt;

use serde_json::Value;

use crate::jws::Verifies;
use crate::manifest::{BadManifest, Manifest, Refusal};
use crate::strict::{Integers, read};
use crate::trust::{Judgement, State, judge};
use crate::{Entry, dsse};

/// Why nothing of a server is admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inadmissible {
    /// The text is not a manifest or an envelope of one.
    Unreadable(BadManifest),
    /// It is not verified: one of the other four states.
    Untrusted(Judgement),
    /// It is verified and refused.
    Refused(Refusal),
}

impl fmt::Display for Inadmissible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => write!(f, "the manifest is not readable: {why}"),
            Self::Untrusted(judgement) => write!(f, "the manifest is {}: {}", judgement.state, judgement.reason),
            Self::Refused(why) => write!(f, "the manifest is refused: {why}"),
        }
    }
}

impl std::error::Error for Inadmissible {}

/// A manifest, and the document whose signatures are checked: itself, or the envelope around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Signed {
    /// The manifest. Nothing in it may be trusted before its signatures are verified.
    pub manifest: Manifest,
    document: Value,
}

/// A manifest that was examined: how far it is to be trusted, and why it is refused in any case.
#[derive(Clone, Debug, PartialEq)]
pub struct Examination {
    /// How far its signatures are to be trusted.
    pub judgement: Judgement,
    /// Why it is refused although its signature may be good.
    pub refusals: Vec<Refusal>,
}

impl Examination {
    /// Whether the manifest counts.
    pub fn is_admitted(&self) -> bool {
        self.judgement.state == State::Verified && self.refusals.is_empty()
    }
}

impl Signed {
    /// Reads a manifest or an envelope of one.
    pub fn read(text: &str) -> Result<Self, BadManifest> {
        let document = read(text, Integers::Doubles).map_err(BadManifest::Json)?;
        let manifest =
            if dsse::is_envelope(&document) { dsse::opened(&document)? } else { Manifest::of(document.clone())? };
        Ok(Self { manifest, document })
    }

    /// The state of the signatures, by `keys` (JWKs) alone.
    pub fn judge(&self, keys: &[Value], verifies: Verifies<'_>) -> Judgement {
        if dsse::is_envelope(&self.document) {
            dsse::judge(&self.document, keys, verifies)
        } else {
            judge(&self.document, keys, verifies)
        }
    }

    /// Examines it at `now` (milliseconds since the epoch): for the server that `entry` locks, if there is one. Where the lock
    /// pins keys, a key counts only if it is in both.
    pub fn examine(&self, entry: Option<&Entry>, keys: &[Value], now: u64, verifies: Verifies<'_>) -> Examination {
        let pinned = entry.map(|entry| entry.keys.as_slice()).unwrap_or_default();
        let judgement = self.judge(&usable(keys, pinned), verifies);
        let manifest = &self.manifest;
        // One publisher may sign several servers with one key: the manifest of another one must not count here.
        let other = entry
            .filter(|entry| entry.name() != Some(manifest.name.as_str()))
            .map(|_| Refusal::Differs(format!("the manifest is for the server `{}`", manifest.name)));
        let misplaced = entry.into_iter().flat_map(|entry| manifest.misplaced(entry));
        let superseded = entry.and_then(|entry| manifest.succession(entry.release.as_ref()?));
        let refusals = other.into_iter().chain(misplaced).chain(manifest.validity(now)).chain(superseded).collect();
        Examination { judgement, refusals }
    }
}

/// Reads a signed manifest (a document with signatures, or an envelope) and admits it for the server that `entry` locks.
///
/// It has to be verified by one of `keys` (JWKs), hold at `now` (milliseconds since the epoch), be of this server at its place,
/// and follow the newest release in the lock. Where the lock pins keys, a key counts only if it is in both.
pub fn admit(
    text: &str,
    entry: &Entry,
    keys: &[Value],
    now: u64,
    verifies: Verifies<'_>,
) -> Result<Manifest, Inadmissible> {
    let signed = Signed::read(text).map_err(Inadmissible::Unreadable)?;
    let Examination { judgement, refusals } = signed.examine(Some(entry), keys, now, verifies);
    if judgement.state != State::Verified {
        return Err(Inadmissible::Untrusted(judgement));
    }
    match refusals.into_iter().next() {
        Some(why) => Err(Inadmissible::Refused(why)),
        None => Ok(signed.manifest),
    }
}

/// The keys that count: the given ones, and only those that the lock pins if it pins any.
fn usable(keys: &[Value], pinned: &[Value]) -> Vec<Value> {
    let is_same = |one: &Value, other: &Value| {
        ["kty", "crv", "x", "y", "kid"].iter().all(|member| one.get(*member) == other.get(*member))
    };
    let counts = |key: &&Value| pinned.is_empty() || pinned.iter().any(|other| is_same(key, other));
    keys.iter().filter(counts).cloned().collect()
}
