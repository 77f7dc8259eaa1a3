//! The checks that keep codes and tokens away from an attacker: one method for each decision. [`StrictVerifier`] decides as
//! the specifications demand. Another verifier is another type, named where an authorizer is made; no option changes one.

use std::fmt::{self, Debug};

use super::error::quoted;

/// The PKCE method that must be supported.
const S256: &str = "S256";

/// Decides whether responses may be trusted. Each method gets the expected and the received value.
pub trait Verifier: Debug + Send + Sync {
    /// The `state` of the authorization response.
    fn state(&self, expected: &str, received: Option<&str>) -> Result<(), VerificationError>;

    /// The `iss` of the authorization response (RFC 9207). `announced`: the issuer's metadata says that it sends one.
    fn response_issuer(&self, expected: &str, announced: bool, received: Option<&str>)
    -> Result<(), VerificationError>;

    /// The `issuer` of an authorization server's metadata, against the name that led there (RFC 8414, 3.3).
    fn metadata_issuer(&self, expected: &str, received: &str) -> Result<(), VerificationError>;

    /// The PKCE methods that the issuer lists. `required`: an issuer that lists none does not do.
    fn pkce(&self, required: bool, listed: Option<&[String]>) -> Result<(), VerificationError>;

    /// Whether a client that is registered with one issuer may be named to `issuer`.
    fn registration(&self, issuer: &str, registered_with: &str) -> Result<(), VerificationError>;
}

/// Decides as the specifications demand.
#[derive(Clone, Copy, Debug, Default)]
pub struct StrictVerifier;

impl Verifier for StrictVerifier {
    fn state(&self, expected: &str, received: Option<&str>) -> Result<(), VerificationError> {
        if received == Some(expected) { Ok(()) } else { Err(VerificationError::State) }
    }

    fn response_issuer(
        &self,
        expected: &str,
        announced: bool,
        received: Option<&str>,
    ) -> Result<(), VerificationError> {
        match received {
            Some(received) if received == expected => Ok(()),
            None if !announced => Ok(()),
            _ => Err(VerificationError::ResponseIssuer {
                expected: expected.to_owned(),
                received: received.map(str::to_owned),
            }),
        }
    }

    fn metadata_issuer(&self, expected: &str, received: &str) -> Result<(), VerificationError> {
        // Exact comparison: a server that speaks for another issuer is after its tokens.
        if received == expected {
            return Ok(());
        }
        Err(VerificationError::MetadataIssuer { expected: expected.to_owned(), received: received.to_owned() })
    }

    fn pkce(&self, required: bool, listed: Option<&[String]>) -> Result<(), VerificationError> {
        let supported = listed.map_or(!required, |methods| methods.iter().any(|method| method == S256));
        if supported { Ok(()) } else { Err(VerificationError::Pkce) }
    }

    fn registration(&self, issuer: &str, registered_with: &str) -> Result<(), VerificationError> {
        if registered_with == issuer {
            return Ok(());
        }
        Err(VerificationError::Registration { registered_with: registered_with.to_owned() })
    }
}

/// Why a response may not be trusted. Its text quotes the server escaped and truncated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerificationError {
    /// The authorization response has another `state`, or none.
    State,
    /// The authorization response is from another issuer, or lacks the `iss` that was announced.
    ResponseIssuer {
        /// The issuer that was asked.
        expected: String,
        /// The issuer in the response.
        received: Option<String>,
    },
    /// The metadata is that of another issuer.
    MetadataIssuer {
        /// The issuer that was looked for.
        expected: String,
        /// The issuer in the document.
        received: String,
    },
    /// PKCE with S256 is not listed as supported.
    Pkce,
    /// The client is registered with another issuer.
    Registration {
        /// The issuer that knows the client.
        registered_with: String,
    },
}

impl fmt::Display for VerificationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State => f.write_str("the authorization response does not carry the `state` of the request"),
            Self::ResponseIssuer { expected, received: Some(received) } => {
                let (received, expected) = (quoted(received), quoted(expected));
                write!(f, "the authorization response is from another issuer: {received}, not {expected}")
            }
            Self::ResponseIssuer { received: None, .. } => {
                f.write_str("the authorization response does not say who issued it (`iss`)")
            }
            Self::MetadataIssuer { expected, received } => {
                let (received, expected) = (quoted(received), quoted(expected));
                write!(f, "the metadata is that of another issuer: {received}, not {expected}")
            }
            Self::Pkce => f.write_str("the authorization server does not list PKCE with S256 as supported"),
            Self::Registration { registered_with } => {
                write!(f, "the client is registered with {}, not with this issuer", quoted(registered_with))
            }
        }
    }
}

impl std::error::Error for VerificationError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_refuses_wrong_values() {
        let strict = StrictVerifier;
        assert_eq!(strict.state("s", Some("s")), Ok(()));
        for received in [None, Some(""), Some("S"), Some("s ")] {
            assert_eq!(strict.state("s", received), Err(VerificationError::State), "{received:?}");
        }
        for (announced, received, good) in [
            (true, Some("https://a"), true),
            (false, Some("https://a"), true),
            (false, None, true),
            (true, None, false),
            (true, Some("https://a/"), false),
            (false, Some("https://A"), false),
        ] {
            let decision = strict.response_issuer("https://a", announced, received);
            assert_eq!(decision.is_ok(), good, "{announced} {received:?}");
        }
        assert!(strict.metadata_issuer("https://a", "https://a").is_ok());
        assert!(strict.metadata_issuer("https://a", "https://a/").is_err());
        let listed = |methods: &[&str]| methods.iter().map(|method| (*method).to_owned()).collect::<Vec<_>>();
        for (required, methods, good) in [
            (true, Some(listed(&["plain", "S256"])), true),
            (true, Some(listed(&["plain"])), false),
            (false, Some(listed(&[])), false),
            (true, None, false),
            (false, None, true),
        ] {
            assert_eq!(strict.pkce(required, methods.as_deref()).is_ok(), good, "{required} {methods:?}");
        }
        assert!(strict.registration("https://a", "https://a").is_ok());
        assert!(strict.registration("https://a", "https://b").is_err());
    }
}
