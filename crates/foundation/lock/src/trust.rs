//! How far a signed document is to be trusted: one of five states. Must not know what the document says.

use std::fmt;

use serde_json::Value;

use crate::jws::{Flaw, MOST, Signature, Verifies, payload};

/// How far a document is to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has no signature.
    Unsigned,
    /// Its signatures are of kinds that are not taken.
    Unsupported,
    /// Its signatures are by keys that are not known.
    UnknownKey,
    /// A known key signed it as it is.
    Verified,
    /// A signature does not fit, or proves nothing: the document was changed, or never signed by whom it names.
    Tampered,
}

impl State {
    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unsigned => "unsigned",
            Self::Unsupported => "unsupported",
            Self::UnknownKey => "unknown-key",
            Self::Verified => "verified",
            Self::Tampered => "tampered",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A state and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The state.
    pub state: State,
    /// The reason, in words.
    pub reason: String,
    /// The names of the known keys that signed it.
    pub signed_by: Vec<String>,
}

impl Judgement {
    pub(crate) fn new(state: State, reason: impl Into<String>) -> Self {
        Self { state, reason: reason.into(), signed_by: Vec::new() }
    }
}

/// One signature on the way to a judgement.
pub(crate) enum Checked {
    /// By this known key.
    Good(String),
    /// Names a known key and is not its signature.
    Bad(String),
    /// Names a key that is not known.
    UnknownKey(String),
    /// Not read.
    Flawed(Flaw),
}

/// The state of `document`, whose `signatures` are checked with `keys` (JWKs).
pub fn judge(document: &Value, keys: &[Value], verifies: Verifies<'_>) -> Judgement {
    let signatures = match document.get("signatures") {
        None => &[][..],
        Some(Value::Array(signatures)) => signatures,
        Some(_) => return Judgement::new(State::Tampered, "`signatures` is not a list"),
    };
    if signatures.len() > MOST {
        return Judgement::new(State::Tampered, format!("more than {MOST} signatures"));
    }
    let payload = payload(document);
    let checked = signatures.iter().map(|signature| match Signature::read(signature) {
        Err(flaw) => Checked::Flawed(flaw),
        Ok(signature) => check(&signature.kid, keys, |key| signature.is_of(&payload, key, verifies)),
    });
    fold(checked.collect())
}

/// Whether one of the keys with this name made a signature.
pub(crate) fn check(kid: &str, keys: &[Value], is_of: impl Fn(&Value) -> bool) -> Checked {
    let mut named = keys.iter().filter(|key| key["kid"].as_str() == Some(kid)).peekable();
    if named.peek().is_none() {
        return Checked::UnknownKey(kid.to_owned());
    }
    if named.any(is_of) { Checked::Good(kid.to_owned()) } else { Checked::Bad(kid.to_owned()) }
}

/// One state out of all signatures: a bad one outweighs every good one.
pub(crate) fn fold(checked: Vec<Checked>) -> Judgement {
    if checked.is_empty() {
        return Judgement::new(State::Unsigned, "it has no signature");
    }
    let (mut good, mut unknown, mut unsupported) = (Vec::new(), Vec::new(), None);
    for one in checked {
        match one {
            Checked::Good(kid) => good.push(kid),
            Checked::Bad(kid) => {
                return Judgement::new(State::Tampered, format!("the signature is not that of the key `{kid}`"));
            }
            Checked::UnknownKey(kid) => unknown.push(kid),
            Checked::Flawed(flaw @ (Flaw::Form(_) | Flaw::Worthless(_))) => {
                return Judgement::new(State::Tampered, flaw.to_string());
            }
            Checked::Flawed(flaw) => unsupported = Some(flaw),
        }
    }
    if let Some(first) = good.first() {
        let reason = format!("signed by the key `{first}`");
        return Judgement { signed_by: good, ..Judgement::new(State::Verified, reason) };
    }
    match (unknown.first(), unsupported) {
        (Some(kid), _) => Judgement::new(State::UnknownKey, format!("signed by the key `{kid}`, which is not known")),
        (None, Some(flaw)) => Judgement::new(State::Unsupported, flaw.to_string()),
        (None, None) => Judgement::new(State::Unsigned, "it has no signature"),
    }
}
