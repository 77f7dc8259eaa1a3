//! Why the authorization failed: *what happened – where – try this*. Contains no token, code or secret; texts of a server are
//! escaped and truncated.

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
    advice: Advice,
    /// The code by which a token endpoint declined.
    declined: Option<String>,
}

/// What a person can do about it. Which option or button does it, only the program knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Bring a token from elsewhere.
    BringToken,
    /// The same, after a look at whether the authorization server is up.
    CheckServerOrBringToken,
    /// Bring the id of a client that is registered already.
    BringClient,
    /// Name the authorization server, if it is the right one.
    NameIssuer,
    /// Let a person agree in a browser.
    UseBrowser,
    /// Get the token by the connection itself: each request needs a proof of its own.
    AuthorizeRequests,
    /// Anything that needs nothing of the program.
    Other(&'static str),
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BringToken => "bring a token",
            Self::CheckServerOrBringToken => "check that the authorization server is up, or bring a token",
            Self::BringClient => "bring the id of a registered client",
            Self::NameIssuer => "name the authorization server, if it is the right one",
            Self::UseBrowser => "authorize with a browser",
            Self::AuthorizeRequests => "authorize each request",
            Self::Other(text) => text,
        })
    }
}

impl From<&'static str> for Advice {
    fn from(text: &'static str) -> Self {
        Self::Other(text)
    }
}

impl OAuthError {
    pub(crate) fn new(what: impl Into<String>, at: impl Into<String>, advice: impl Into<Advice>) -> Self {
        Self { what: what.into(), at: at.into(), advice: advice.into(), declined: None }
    }

    /// The same for an address, without its query, which may hold codes and states.
    pub(crate) fn at(what: impl Into<String>, url: &Url, advice: impl Into<Advice>) -> Self {
        Self::new(what, place(url), advice)
    }

    /// The same with the code by which a token endpoint declined, where it looks like one.
    pub(crate) fn declined_with(self, code: &str) -> Self {
        let is_code = code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        Self { declined: Some(if is_code { code.to_owned() } else { String::new() }), ..self }
    }

    /// The code by which a token endpoint declined (RFC 6749, 5.2), empty where it is none; `None` where none was reached.
    pub fn declined(&self) -> Option<&str> {
        self.declined.as_deref()
    }

    /// What happened, in one line.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Where it happened, without user name, query and fragment; shortened.
    pub fn place(&self) -> String {
        snippet(&self.at, 200)
    }

    /// What a person can do about it.
    pub const fn advice(&self) -> Advice {
        self.advice
    }

    /// The error for a person, as `Display` has it, with advice in the program's own words.
    pub fn describe(&self, words: impl Fn(Advice) -> String) -> String {
        format!("not authorized: {}\n  at {}\n  try: {}", self.what, snippet(&self.at, 200), words(self.advice))
    }

    /// What happened and where, in one line, for callers with advice of their own.
    pub(crate) fn line(&self) -> String {
        let line = format!("{}; at {}", self.what, snippet(&self.at, 200));
        // The callers' advice is about tokens, and this is about who gets the credentials for one.
        if self.advice == Advice::NameIssuer { format!("{line}; {}", self.advice) } else { line }
    }
}

impl fmt::Display for OAuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(|advice| advice.to_string()))
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

/// A server's text, escaped and truncated.
pub(crate) fn quoted(text: &str) -> String {
    snippet(text, SNIPPET)
}
