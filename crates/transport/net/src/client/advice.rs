//! What a person can do about a connection that failed. Which option or button does it, only the program knows.

use std::borrow::Cow;
use std::fmt;

/// What a person can do about a connection that failed. [`fmt::Display`] is for programs without options of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Send other credentials, or get some by OAuth.
    GiveCredentials,
    /// Look into the server's log: it may need credentials or other arguments.
    GiveCredentialsOrArguments,
    /// Fix the server's certificate, or trust its issuer.
    TrustIssuer,
    /// Make a certificate for the server, whose present one is an authority's, and trust its issuer.
    ReplaceCertificate,
    /// Check that it is an MCP server; wait longer for one that starts slowly.
    WaitLonger,
    /// Anything that needs nothing of the program.
    Text(Cow<'static, str>),
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GiveCredentials => "send a token or another header, or get a token by OAuth",
            Self::GiveCredentialsOrArguments => "look into the server's log; does it need a token or arguments?",
            Self::TrustIssuer => "fix the certificate, or trust its issuer",
            Self::ReplaceCertificate => "make one with basicConstraints=CA:FALSE, and trust its issuer",
            Self::WaitLonger => "is it an MCP server? If it is slow to start, wait longer",
            Self::Text(text) => text,
        })
    }
}

impl From<&'static str> for Advice {
    fn from(text: &'static str) -> Self {
        Self::Text(text.into())
    }
}
