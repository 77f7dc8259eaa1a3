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

/// Reads a signed manifest (a document with signatures, or an envelope) and admits it for the server that `entry` locks.
///
/// It has to be verified by one of `keys` (JWKs), hold at `now` (milliseconds since the epoch), be of this server, and follow
/// the newest release in the lock. Where the lock pins keys, a key counts only if it is in both.
pub fn admit(
    text: &str,
    entry: &Entry,
    keys: &[Value],
    now: u64,
    verifies: Verifies<'_>,
) -> Result<Manifest, Inadmissible> {
    let unreadable = Inadmissible::Unreadable;
    let document = read(text, Integers::Doubles).map_err(|why| unreadable(BadManifest::Json(why)))?;
    let known = usable(keys, &entry.keys);
    let (judgement, manifest) = if dsse::is_envelope(&document) {
        (dsse::judge(&document, &known, verifies), dsse::opened(&document).map_err(unreadable)?)
    } else {
        (judge(&document, &known, verifies), Manifest::of(document).map_err(unreadable)?)
    };
    if judgement.state != State::Verified {
        return Err(Inadmissible::Untrusted(judgement));
    }
    // One publisher may sign several servers with one key: the manifest of another one must not count here.
    let other = (entry.name() != Some(manifest.name.as_str()))
        .then(|| Refusal::Differs(format!("the manifest is for the server `{}`", manifest.name)));
    let superseded = || manifest.succession(entry.release.as_ref()?);
    match other.or_else(|| manifest.validity(now)).or_else(superseded) {
        Some(why) => Err(Inadmissible::Refused(why)),
        None => Ok(manifest),
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
