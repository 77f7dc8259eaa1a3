//! Parameters of requests, each of which may stand once (RFC 6749, 3.1). Must not know what they mean.

use std::collections::BTreeMap;

use net::server::http::{GuardRequest, HeaderMap};
use wire::http::has_media_type;

/// The most parameters.
const MOST: usize = 64;

/// Parameters by name.
#[derive(Debug, Default)]
pub(super) struct Form(BTreeMap<String, String>);

impl Form {
    /// Reads them; `None` where one stands twice, or there are too many.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let mut found = BTreeMap::new();
        for (name, value) in url::form_urlencoded::parse(text).into_owned() {
            if found.len() >= MOST || found.insert(name, value).is_some() {
                return None;
            }
        }
        Some(Self(found))
    }

    /// Those in the query of a request.
    pub(super) fn of_query(request: &GuardRequest) -> Option<Self> {
        Self::read(request.uri.query().unwrap_or_default().as_bytes())
    }

    /// Those in the body of a request, which must be a form.
    pub(super) fn of_body(request: &GuardRequest) -> Option<Self> {
        let kind = request.headers.get("content-type").and_then(|kind| kind.to_str().ok());
        let is_form = kind.is_some_and(|kind| has_media_type(kind, "application/x-www-form-urlencoded"));
        if is_form { Self::read(&request.body) } else { None }
    }

    /// A parameter that is not empty: an empty one counts as missing (RFC 6749, 3.1).
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }
}

/// The value of a cookie; `None` where there are several: somebody else set one.
pub(super) fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all("cookie").iter().filter_map(|value| value.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut own = pairs.filter(|(key, _)| *key == name).map(|(_, value)| value);
    own.next().filter(|_| own.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_stands_once() {
        let form = Form::read(b"a=1&b=&c=%20x").expect("a form");
        assert_eq!(
            (form.text("a"), form.text("b"), form.text("c"), form.text("d")),
            (Some("1"), None, Some(" x"), None)
        );
        assert!(Form::read(b"a=1&a=1").is_none() && Form::read(b"a=1&%61=2").is_none());
        let many: String = (0..=MOST).map(|number| number.to_string() + "=1&").collect::<Vec<_>>().concat();
        assert!(Form::read(many.as_bytes()).is_none());
    }

    #[test]
    fn of_two_cookies_none_counts() {
        let mut headers = HeaderMap::new();
        headers.append("cookie", "a=1; b=2".parse().expect("a value"));
        assert_eq!((cookie(&headers, "a"), cookie(&headers, "b"), cookie(&headers, "c")), (Some("1"), Some("2"), None));
        headers.append("cookie", "b=3".parse().expect("a value"));
        assert_eq!((cookie(&headers, "a"), cookie(&headers, "b")), (Some("1"), None));
    }
}
