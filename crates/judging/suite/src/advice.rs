//! What a person can do about a case. Which option does it, only the program knows.

use std::fmt;

/// What a person can do. [`fmt::Display`] is for programs without options of their own.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Advice {
    /// About the server or the way to it.
    Client(client::Advice),
    /// Write the snapshot of a case that has none yet.
    WriteSnapshot,
    /// Replace snapshots that cannot be read.
    ReplaceSnapshots,
    /// Allow calls of this tool.
    AllowTool(String),
    /// Name the directory that a placeholder stands for.
    NameFixture,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(advice) => advice.fmt(f),
            Self::WriteSnapshot => f.write_str("write it by an update"),
            Self::ReplaceSnapshots => f.write_str("replace them by an update"),
            Self::AllowTool(name) => write!(f, "allow calls of {}", wire::escape::line(name)),
            Self::NameFixture => f.write_str("name the directory"),
        }
    }
}

/// Advice in the words of the program: its options, its buttons.
pub type Words = fn(&Advice) -> String;

/// An error of the client, with advice in the words of the program.
pub(crate) fn describe(error: &client::ClientError, words: Words) -> String {
    error.describe(|advice| words(&Advice::Client(advice.clone())))
}
