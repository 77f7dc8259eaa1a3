//! Why the store did not do something: what, where, and what to try. No text holds a password.

use std::fmt;

/// Why the store did not do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// A value that the store does not take.
    Invalid {
        /// Which, and why.
        what: String,
        /// What is taken.
        remedy: String,
    },
    /// A row that is not there.
    Missing {
        /// Which.
        what: String,
    },
    /// The store was written by a newer program.
    Newer {
        /// Where the store is.
        place: String,
        /// The version of its tables.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// The store, or the coordinator, did not answer in time.
    Unreachable {
        /// Where it should be.
        place: String,
        /// What came instead.
        why: String,
    },
    /// The store, or the coordinator, answered that it will not.
    Refused {
        /// Where it is.
        place: String,
        /// Its reason.
        why: String,
        /// What to try.
        remedy: String,
    },
    /// A file or an address of this machine is of no use.
    Io {
        /// Which.
        place: String,
        /// Why.
        why: String,
    },
}

impl StoreError {
    pub(crate) fn invalid(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), remedy: remedy.into() }
    }

    pub(crate) fn missing(what: impl Into<String>) -> Self {
        Self::Missing { what: what.into() }
    }

    pub(crate) fn io(place: impl fmt::Display, why: &std::io::Error) -> Self {
        Self::Io { place: place.to_string(), why: why.to_string() }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { what, remedy } => write!(f, "{what} – {remedy}"),
            Self::Missing { what } => write!(f, "{what} is not in the store – look at what the store lists"),
            Self::Newer { place, found, known } => write!(
                f,
                "the tables have version {found}, this program knows {known} – {place} – use the newer program"
            ),
            Self::Unreachable { place, why } => {
                write!(f, "no answer: {why} – {place} – start it, or correct its address")
            }
            Self::Refused { place, why, remedy } => write!(f, "{why} – {place} – {remedy}"),
            Self::Io { place, why } => write!(f, "{why} – {place} – check that it exists and may be written"),
        }
    }
}

impl std::error::Error for StoreError {}
