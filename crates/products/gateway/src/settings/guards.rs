//! What stands between a call that may be made and its server: a question to the user, and what was called before. Values only.

use std::time::Duration;

use super::AccessRule;

/// Which calls the user is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmSettings {
    /// A call that one of them fits needs an answer. Their effect is [`Deny`](super::Effect::Deny): what cannot be decided fits.
    pub rules: Vec<AccessRule>,
    /// How long an answer is waited for.
    pub wait: Duration,
}

/// Tools that must not be called after others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceRule {
    /// Patterns of tools' names as clients see them.
    pub after: Vec<String>,
    /// Tools that are denied then.
    pub deny: Vec<String>,
    /// For how long.
    pub ttl: Duration,
    /// Whose calls count.
    pub per: SequenceScope,
}

/// Whose calls a sequence is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SequenceScope {
    /// All of a principal.
    #[default]
    Principal,
    /// Those of a session; of a client without sessions, all of its principal.
    Session,
    /// Those of a chain that the client names; without a name, all of the principal.
    Chain,
}
