//! How bad a finding about the texts of a server is: one scale for all who examine or compare them.

use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing. A change that is shown, and the lock still holds.
    Info,
    /// A weakness that helps an attack. Drift that no model sees.
    Low,
    /// To be reviewed by a person. Drift that changes what a call does or returns.
    Medium,
    /// Fails a scan. Drift that can steer a model, or hide who is asked.
    High,
}

impl Severity {
    /// All, from the least on.
    pub const ALL: [Self; 4] = [Self::Info, Self::Low, Self::Medium, Self::High];

    /// The word in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
