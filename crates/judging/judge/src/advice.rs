//! What a person can do where something could not be judged. Which option does it, only the program knows.

use std::fmt;

/// What a person can do. [`fmt::Display`] is for programs without options of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// About the connection to the server.
    Connect(net::client::Advice),
    /// Send a token: the server demands one.
    GiveToken,
    /// Send another token: the server refuses this one.
    ReplaceToken,
    /// Name the revision to judge at: it cannot be found out.
    NameRevision,
    /// Name no revision, or one that the server speaks.
    NameServedRevision,
    /// Name no revision, or others that the transport carries.
    NameCarriedRevision,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect(advice) => return advice.fmt(f),
            Self::GiveToken => "send one, or get one by OAuth",
            Self::ReplaceToken => "send another, or get one by OAuth",
            Self::NameRevision => "name the revision to judge at",
            Self::NameServedRevision => "name no revision, or one of those",
            Self::NameCarriedRevision => "name no revision, or others that the transport carries",
        })
    }
}

/// Advice in the words of the program that judges: its options, its buttons.
pub type Words = fn(&Advice) -> String;
