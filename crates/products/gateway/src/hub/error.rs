//! Why a gateway cannot run with its settings. Must not know what would correct them.

use crate::access::ConditionError;
use crate::locks::LockError;

/// Why a gateway cannot run with its settings.
#[derive(Debug)]
pub enum SettingsError {
    /// The address of an upstream is wrong.
    Address(net::OpenError),
    /// The condition of an access rule is wrong.
    Condition(ConditionError),
    /// The audit log cannot be written.
    Audit(std::io::Error),
    /// The store cannot be used.
    Store(std::io::Error),
    /// Consents cannot be kept.
    Consents(std::io::Error),
    /// The bridge to a provider cannot be used.
    Bridge(std::io::Error),
    /// The lock cannot be enforced.
    Lock(LockError),
    /// The keys of `replicas` cannot be used, or no store is shared.
    Replicas,
}

impl std::fmt::Display for SettingsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Address(error) => error.fmt(f),
            Self::Condition(error) => error.fmt(f),
            Self::Lock(error) => error.fmt(f),
            Self::Audit(error) => write!(f, "the audit log cannot be written: {error}"),
            Self::Store(error) => write!(f, "the store cannot be used: {error}"),
            Self::Consents(error) => write!(f, "consents cannot be kept: {error}"),
            Self::Bridge(error) => write!(f, "`auth.bridge` cannot be used: {error}"),
            Self::Replicas => f.write_str("`replicas` has no usable keys, or no store that gateways share"),
        }
    }
}

impl std::error::Error for SettingsError {}

impl From<net::OpenError> for SettingsError {
    fn from(error: net::OpenError) -> Self {
        Self::Address(error)
    }
}

impl From<ConditionError> for SettingsError {
    fn from(error: ConditionError) -> Self {
        Self::Condition(error)
    }
}
