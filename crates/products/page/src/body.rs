//! The JSON bodies and the queries of requests, and what is wrong with them.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The body of an action: an object, as values and as texts.
#[derive(Debug)]
pub struct Body {
    members: Map<String, Value>,
    texts: BTreeMap<String, Box<RawValue>>,
}

impl Body {
    /// Reads a body.
    pub fn read(bytes: &[u8]) -> Result<Self, Failure> {
        let wrong = |error| Failure::wrong(format!("the body is no JSON object: {error}"), "send a JSON object");
        let members = serde_json::from_slice(bytes).map_err(wrong)?;
        Ok(Self { members, texts: serde_json::from_slice(bytes).map_err(wrong)? })
    }

    /// A member that is there and is not null.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    /// The members of an object, each as it was typed, in order: numbers keep their digits.
    pub fn texts(&self, name: &str) -> Result<Vec<(String, String)>, Failure> {
        let object = self.object(name)?;
        let Some(text) = self.texts.get(name) else { return Ok(Vec::new()) };
        let texts: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text.get()).unwrap_or_default();
        let text = |name: String| texts.get(&name).map(|text| text.get().to_owned()).map(|text| (name, text));
        Ok(object.into_iter().filter_map(|(name, _)| text(name)).collect())
    }

    /// A text.
    pub fn text(&self, name: &str) -> Result<&str, Failure> {
        self.get(name).and_then(Value::as_str).ok_or_else(|| expected(name, "a text"))
    }

    /// A whole number.
    pub fn number(&self, name: &str) -> Result<u64, Failure> {
        self.get(name).and_then(Value::as_u64).ok_or_else(|| expected(name, "a whole number"))
    }

    /// True or false.
    pub fn flag(&self, name: &str) -> Result<bool, Failure> {
        self.get(name).and_then(Value::as_bool).ok_or_else(|| expected(name, "true or false"))
    }

    /// An object; an empty one where it is missing.
    pub fn object(&self, name: &str) -> Result<Map<String, Value>, Failure> {
        match self.get(name) {
            None => Ok(Map::new()),
            Some(Value::Object(members)) => Ok(members.clone()),
            Some(_) => Err(expected(name, "an object")),
        }
    }

    /// A list of numbers.
    pub fn numbers(&self, name: &str) -> Result<Vec<u64>, Failure> {
        let items = self.get(name).and_then(Value::as_array).ok_or_else(|| expected(name, "a list of numbers"))?;
        items.iter().map(|item| item.as_u64().ok_or_else(|| expected(name, "a list of numbers"))).collect()
    }
}

fn expected(name: &str, what: &str) -> Failure {
    Failure::wrong(format!("`{name}` is missing or is not {what}"), format!("\"{name}\": {what}"))
}

/// The query of an address.
#[derive(Debug)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Reads a query.
    pub fn of(query: Option<&str>) -> Self {
        Self(url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect())
    }

    /// A parameter; the first of its name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A parameter that is a number.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, Failure> {
        let number = |text: &str| text.parse().map_err(|_| expected(name, "a whole number"));
        self.text(name).map(number).transpose()
    }
}

/// The byte of a text at a place that a page gives in UTF-16 units, as browsers count; the end where the text is shorter.
pub fn byte_at(text: &str, at: usize) -> usize {
    let mut units = 0;
    for (index, c) in text.char_indices() {
        if units >= at {
            return index;
        }
        units += c.len_utf16();
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_a_query_are_resolved() {
        let parameters = Parameters::of(Some("filter=a%20b+c%C3%A4%zz%4&from=-20&x&y=1=2"));
        assert_eq!(parameters.text("filter"), Some("a b cä%zz%4"));
        assert_eq!(parameters.number("from"), Ok(Some(-20)));
        assert_eq!((parameters.text("x"), parameters.text("y"), parameters.text("z")), (Some(""), Some("1=2"), None));
        assert!(parameters.number::<u64>("from").is_err());
    }

    #[test]
    fn a_wrong_body_is_named() {
        assert!(Body::read(b"[]").is_err() && Body::read(b"{").is_err());
        let body = Body::read(br#"{"a":1,"b":null,"c":[1,"x"],"d":{}}"#).expect("an object");
        assert_eq!(body.number("a"), Ok(1));
        assert!(body.number("b").is_err() && body.text("a").is_err() && body.numbers("c").is_err());
        assert!(body.texts("b").is_ok_and(|texts| texts.is_empty()));
        assert!(body.object("b").is_ok_and(|members| members.is_empty()) && body.object("c").is_err());
    }

    #[test]
    fn numbers_keep_their_digits() {
        let body = Body::read(br#"{"p":{"b":{"x":1.10},"a":9007199254740993123}}"#).expect("an object");
        let texts = [("b", r#"{"x":1.10}"#), ("a", "9007199254740993123")];
        let texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(body.texts("p"), Ok(texts.to_vec()));
    }
}
