//! The parameters of a request. Values that must go back to the server byte for byte (cursors, states) are kept as text and
//! never parsed.

use serde_json::{Map, Value};
use wire::Message;

/// The members of `params`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params {
    members: Map<String, Value>,
    meta: Map<String, Value>,
    /// Name and JSON text.
    raw: Vec<(String, String)>,
}

impl Params {
    /// No parameters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a member.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a member whose value is JSON text.
    #[must_use]
    pub fn with_raw(mut self, name: &str, json: &str) -> Self {
        self.raw.push((name.to_owned(), json.to_owned()));
        self
    }

    /// Adds or replaces a member of `_meta`.
    #[must_use]
    pub fn with_meta(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(name.to_owned(), value.into());
        self
    }

    /// The value of a member that is not raw text.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.members.get(name)
    }

    /// As JSON text.
    pub fn to_json(&self) -> String {
        let meta = (!self.meta.is_empty()).then(|| ("_meta", Value::Object(self.meta.clone()).to_string()));
        let plain = self.members.iter().map(|(name, value)| (name.as_str(), value.to_string()));
        let raw = self.raw.iter().map(|(name, text)| (name.as_str(), text.clone()));
        let member = |(name, text): (&str, String)| format!("{}:{text}", Value::from(name));
        let members: Vec<String> = plain.chain(raw).chain(meta).map(member).collect();
        format!("{{{}}}", members.join(","))
    }

    /// Whether there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.raw.is_empty() && self.meta.is_empty()
    }
}

impl From<Map<String, Value>> for Params {
    fn from(mut members: Map<String, Value>) -> Self {
        let meta = match members.remove("_meta") {
            Some(Value::Object(meta)) => meta,
            _ => Map::new(),
        };
        Self { members, meta, raw: Vec::new() }
    }
}

/// The text of a member of a result as it crossed.
pub(super) fn raw_member(answer: &Message, name: &str) -> Option<String> {
    answer.body_members().find(|(member, _)| member == name).map(|(_, text)| text.to_owned())
}
