//! The token that workers show to their coordinator.

use std::fmt::{self, Write as _};

use net::server::http::HeaderMap;
use subtle::ConstantTimeEq as _;

/// Random bytes of a token.
const BYTES: usize = 32;

/// The token of a coordinator. Its `Debug` shows nothing of it.
#[derive(Clone)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A random one.
    pub fn random() -> std::io::Result<Self> {
        Ok(Self(random_hex::<BYTES>()?))
    }

    /// `None` for what is shorter than 16 characters, longer than 512, or other than visible ASCII.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let fits = (16..=512).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then_some(Self(text))
    }

    /// The token.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether a request carries it, exactly once.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        let mut sent = headers.get_all("authorization").iter();
        let (Some(value), None) = (sent.next(), sent.next()) else { return false };
        let Some((scheme, presented)) = value.as_bytes().split_at_checked(b"bearer ".len()) else { return false };
        scheme.eq_ignore_ascii_case(b"bearer ") && bool::from(presented.ct_eq(self.0.as_bytes()))
    }
}

/// Random bytes as hexadecimal digits.
pub(crate) fn random_hex<const N: usize>() -> std::io::Result<String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(hex(&bytes))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use net::server::http::{HeaderName, HeaderValue};

    use super::*;

    fn carrying(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_str(value).expect("a value");
            headers.append(HeaderName::from_static("authorization"), value);
        }
        headers
    }

    #[test]
    fn exactly_this_token_admits_and_only_once() {
        let token = Token::new("0123456789abcdef").expect("a token");
        assert!(token.admits(&carrying(&["Bearer 0123456789abcdef"])));
        assert!(token.admits(&carrying(&["bearer 0123456789abcdef"])));
        for wrong in ["", "Bearer", "Bearer ", "0123456789abcdef", "Bearer 0123456789abcde", "Bearer  0123456789abcdef"]
        {
            assert!(!token.admits(&carrying(&[wrong])), "{wrong}");
        }
        assert!(!token.admits(&carrying(&[])));
        assert!(!token.admits(&carrying(&["Bearer 0123456789abcdef"; 2])));
        assert!(!Token::random().expect("randomness").admits(&carrying(&["Bearer 0123456789abcdef"])));
    }

    #[test]
    fn what_is_short_or_cannot_stand_in_a_header_is_no_token() {
        for bad in ["", "short", "0123456789 abcdef", "0123456789\nabcdef"] {
            assert!(Token::new(bad).is_none(), "{bad:?}");
        }
        assert_eq!(format!("{:?}", Token::new("0123456789abcdef")), "Some(Token)");
    }
}
