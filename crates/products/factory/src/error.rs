//! Why an API cannot be called at all.

use std::fmt;

/// What is wrong with the settings, and what to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupError {
    /// What happened, and where.
    pub what: String,
    /// What to try.
    pub remedy: String,
}

impl SetupError {
    /// What happened, and what to try.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  try: {}", self.what, self.remedy)
    }
}

impl std::error::Error for SetupError {}
