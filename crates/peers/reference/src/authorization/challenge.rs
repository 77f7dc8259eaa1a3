//! What a refusal says (RFC 6750, RFC 9728).

use std::fmt::Write as _;

use super::metadata::WELL_KNOWN;
use super::proof;
use oauth::resource::TokenFlaw;

/// Why a request was refused.
pub(super) enum Refusal {
    /// It carries no token.
    Missing,
    /// It carries one that will not do.
    Invalid(TokenFlaw),
    /// It carries one, and does not show the key.
    Unproved(proof::Flaw),
}

impl Refusal {
    /// The error and a word for people; none where nothing was tried.
    pub(super) const fn error(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Missing => None,
            Self::Invalid(flaw) => Some(("invalid_token", flaw.as_str())),
            Self::Unproved(flaw) => Some((flaw.error(), flaw.as_str())),
        }
    }
}

/// The challenge for the endpoint at `path` of the server called `host`, whose tokens may be `bound` to a key.
pub(super) fn text(bound: bool, (host, path): (&str, &str), scopes: &[&str], error: Option<(&str, &str)>) -> String {
    let scheme = if bound { "DPoP" } else { "Bearer" };
    let mut text = format!("{scheme} resource_metadata=\"http://{host}{WELL_KNOWN}{}\"", path.trim_end_matches('/'));
    if bound {
        let _ = write!(text, ", algs=\"{}\"", proof::ALGORITHMS.join(" "));
    }
    if !scopes.is_empty() {
        let _ = write!(text, ", scope=\"{}\"", scopes.join(" "));
    }
    if let Some((error, why)) = error {
        let _ = write!(text, ", error=\"{error}\", error_description=\"{why}\"");
    }
    text
}
