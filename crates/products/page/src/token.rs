//! Who may use the API: the holder of this launch's token, from this page alone. A cookie would reach every other local port: it
//! is a header.

use std::fmt::{self, Write as _};

use net::server::http::HeaderMap;
use subtle::ConstantTimeEq as _;

/// Random bytes of a token.
const BYTES: usize = 32;

/// The token of one launch. Shows nothing of itself.
#[derive(Clone)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A new one.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })))
    }

    /// The token, for the address that is printed.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether a request carries it, exactly once.
    pub fn admits(&self, headers: &HeaderMap) -> bool {
        let mut sent = headers.get_all("authorization").iter();
        let presented = sent.next().and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        let is_only = sent.next().is_none();
        presented.is_some_and(|presented| is_only && bool::from(presented.ct_eq(self.0.as_bytes())))
    }
}

/// Whether a request comes from the page itself, or from no page: `Origin` is missing, or is the one that `Host` names.
pub(crate) fn is_own_origin(headers: &HeaderMap) -> bool {
    let host = headers.get("host").map(|host| [b"http://", host.as_bytes()].concat());
    headers.get_all("origin").iter().all(|origin| Some(origin.as_bytes()) == host.as_deref())
}

#[cfg(test)]
mod tests {
    use net::server::http::{HeaderMap, HeaderName, HeaderValue};

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).expect("a value"))
        };
        let mut headers = HeaderMap::new();
        for (name, value) in pairs.iter().map(pair) {
            headers.append(name, value);
        }
        headers
    }

    #[test]
    fn only_the_whole_token_admits_and_only_once() {
        let token = Token::random().expect("randomness");
        let bearer = format!("Bearer {}", token.reveal());
        assert_eq!(token.reveal().len(), 64);
        assert!(token.admits(&headers(&[("authorization", &bearer)])));
        let other = Token::random().expect("randomness");
        for wrong in [
            &bearer[..bearer.len() - 1],
            "Bearer ",
            "",
            token.reveal(),
            &bearer.to_lowercase().replace("bearer ", "bearer  "),
        ] {
            assert!(!token.admits(&headers(&[("authorization", wrong)])), "{wrong}");
        }
        assert!(!other.admits(&headers(&[("authorization", &bearer)])));
        assert!(!token.admits(&headers(&[("authorization", &bearer), ("authorization", &bearer)])));
        assert!(!token.admits(&headers(&[])));
    }

    #[test]
    fn another_port_is_another_page() {
        let host = ("host", "127.0.0.1:4000");
        assert!(is_own_origin(&headers(&[host])));
        assert!(is_own_origin(&headers(&[host, ("origin", "http://127.0.0.1:4000")])));
        for origin in ["http://127.0.0.1:4001", "http://localhost:4000", "https://127.0.0.1:4000", "null", ""] {
            assert!(!is_own_origin(&headers(&[host, ("origin", origin)])), "{origin}");
        }
        assert!(!is_own_origin(&headers(&[host, ("origin", "http://127.0.0.1:4000"), ("origin", "null")])));
    }
}
