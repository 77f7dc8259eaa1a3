//! A bearer token that every request must carry, and the metadata that says so (RFC 9728). One fixed token, without an
//! authorization server. Knows no message.

use std::fmt;

use hyper::header::{AUTHORIZATION, HOST, HeaderValue, WWW_AUTHENTICATE};
use hyper::{HeaderMap, Method, StatusCode};
use serde_json::json;
use subtle::ConstantTimeEq as _;

use super::response::{Response, not_allowed, status, text};
use super::{Options, Shared};

/// Where the metadata is, before the endpoint's path.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
/// The only scope there is: the token may do everything.
const SCOPE: &str = "mcp";
/// The document must name an authorization server. This reserved name cannot be a real one (RFC 2606).
const ISSUER: &str = "https://authorization.invalid";

/// The token that requests must carry. Its `Debug` shows nothing of it.
#[derive(Clone)]
pub struct Bearer(String);

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer")
    }
}

impl Bearer {
    /// `None` for what cannot stand after `Bearer ` in a header: nothing at all, or anything but visible ASCII.
    pub fn new(token: impl Into<String>) -> Option<Self> {
        let token = token.into();
        (!token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic())).then_some(Self(token))
    }

    /// Whether a request carries exactly this token, once. Compared in constant time.
    fn is_carried(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return false };
        let Some((scheme, token)) = value.as_bytes().split_at_checked("bearer ".len()) else { return false };
        scheme.eq_ignore_ascii_case(b"bearer ") && bool::from(token.ct_eq(self.0.as_bytes()))
    }
}

/// Whether the path is one of the metadata, which needs no token: below the endpoint's path, or at the root, where clients
/// look next (2025-11-25, basic/authorization#protected-resource-metadata-discovery-requirements).
pub(super) fn is_metadata(path: &str, options: &Options) -> bool {
    let below = path.strip_prefix(WELL_KNOWN);
    options.bearer.is_some()
        && below.is_some_and(|below| below.is_empty() || below == options.path.trim_end_matches('/'))
}

/// The metadata of the endpoint, named as the client named it.
pub(super) fn metadata(shared: &Shared, method: &Method, headers: &HeaderMap) -> Response {
    if *method != Method::GET {
        return not_allowed("GET");
    }
    let document = json!({
        "resource": format!("{}://{}{}", shared.options.scheme(), host(headers), shared.options.path),
        "authorization_servers": [ISSUER],
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
    });
    text(StatusCode::OK, document.to_string())
}

/// The refusal of a request that must carry a token and does not.
pub(super) fn refusal(shared: &Shared, headers: &HeaderMap) -> Option<Response> {
    let bearer = shared.options.bearer.as_ref()?;
    if bearer.is_carried(headers) {
        return None;
    }
    let (scheme, path) = (shared.options.scheme(), shared.options.path.trim_end_matches('/'));
    let at = format!("{scheme}://{}{WELL_KNOWN}{path}", host(headers));
    let error = if headers.contains_key(AUTHORIZATION) { ", error=\"invalid_token\"" } else { "" };
    let challenge = format!("Bearer resource_metadata=\"{at}\", scope=\"{SCOPE}\"{error}");
    let mut response = status(StatusCode::UNAUTHORIZED);
    let challenge = HeaderValue::from_str(&challenge).unwrap_or(HeaderValue::from_static("Bearer"));
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    Some(response)
}

/// The `Host` header, which was checked before.
fn host(headers: &HeaderMap) -> &str {
    headers.get(HOST).and_then(|value| value.to_str().ok()).unwrap_or("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carrying(values: &[&'static str]) -> HeaderMap {
        values.iter().map(|value| (AUTHORIZATION, HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn only_exactly_this_token_will_do() {
        let bearer = Bearer::new("s3cret-token").expect("a token");
        for good in ["Bearer s3cret-token", "bearer s3cret-token"] {
            assert!(bearer.is_carried(&carrying(&[good])), "{good}");
        }
        for bad in ["", "Bearer", "Bearer ", "Bearer s3cret-toke", "Bearer s3cret-tokens", "Bearer  s3cret-token"]
            .into_iter()
            .chain(["Basic s3cret-token", "s3cret-token", "Bearer S3cret-token", "Bearer s3cret-token "])
        {
            assert!(!bearer.is_carried(&carrying(&[bad])), "{bad}");
        }
        assert!(!bearer.is_carried(&carrying(&[])));
        assert!(!bearer.is_carried(&carrying(&["Bearer s3cret-token", "Bearer s3cret-token"])));
    }

    #[test]
    fn what_no_header_can_carry_is_no_token() {
        for bad in ["", "a b", "a\n", "ü", "\u{7f}"] {
            assert!(Bearer::new(bad).is_none(), "{bad:?}");
        }
        assert_eq!(format!("{:?}", Bearer::new("s3cret-token")), "Some(Bearer)");
    }
}
