//! Parameters of queries and forms: each may stand there once (OAuth 2.1, 3.1 and 3.2).

use std::collections::HashMap;

use url::form_urlencoded;

/// Parameters by name.
#[derive(Debug, Default)]
pub(super) struct Form(HashMap<String, String>);

impl Form {
    /// Reads them; `None` where one stands there twice.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let mut found = HashMap::new();
        for (name, value) in form_urlencoded::parse(text) {
            if found.insert(name.into_owned(), value.into_owned()).is_some() {
                return None;
            }
        }
        Some(Self(found))
    }

    /// A parameter that is there and not empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// The one word, read as a form's is. What separates parameters there separates nothing here.
pub(super) fn decoded(text: &str) -> String {
    let whole = text.replace('=', "%3D").replace('&', "%26");
    let parsed = form_urlencoded::parse(whole.as_bytes()).next();
    parsed.map_or_else(String::new, |(name, _)| name.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_stands_once_or_the_form_is_none() {
        let form = Form::read(b"a=1&b=&c=x+y%21").expect("a form");
        assert_eq!((form.text("a"), form.text("b"), form.text("c")), (Some("1"), None, Some("x y!")));
        assert!(Form::read(b"a=1&a=1").is_none());
        assert_eq!(decoded("a%3Ab+c=&d"), "a:b c=&d");
    }
}
