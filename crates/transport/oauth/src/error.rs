//! Why nobody was authorized: *what happened – where – try this*. Holds no token, code or secret, and what a server said
//! stands in it escaped and cut short.

use std::fmt;

use url::Url;
use wire::escape::snippet;

/// How much of what a server said is shown.
const SNIPPET: usize = 160;

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OAuthError {
    what: String,
    at: String,
    advice: &'static str,
}

impl OAuthError {
    pub(crate) fn new(what: impl Into<String>, at: impl Into<String>, advice: &'static str) -> Self {
        Self { what: what.into(), at: at.into(), advice }
    }

    /// The same for an address, without its query: codes and states stand there.
    pub(crate) fn at(what: impl Into<String>, url: &Url, advice: &'static str) -> Self {
        Self::new(what, place(url), advice)
    }

    /// What happened, in one line.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// What happened and where, in one line, for who has advice of its own.
    pub(crate) fn line(&self) -> String {
        format!("{}; at {}", self.what, snippet(&self.at, 200))
    }
}

impl fmt::Display for OAuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, at, advice } = self;
        write!(f, "not authorized: {what}\n  at {}\n  try: {advice}", snippet(at, 200))
    }
}

impl std::error::Error for OAuthError {}

/// Where that is, without user name, query and fragment.
fn place(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Fails only where an address can hold neither.
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    url.into()
}

/// What a server said, fit to be shown.
pub(crate) fn said(text: &str) -> String {
    snippet(text, SNIPPET)
}
