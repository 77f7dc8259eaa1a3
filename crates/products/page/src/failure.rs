//! Why a request of the page is not done: what happened, where, and what helps, with an HTTP status.

use net::server::http::StatusCode;
use serde_json::{Map, Value, json};
use wire::redact::Redactor;

/// A request that is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The HTTP status.
    pub status: StatusCode,
    /// What happened.
    pub what: String,
    /// Where; empty for nowhere in particular.
    pub at: String,
    /// What helps; empty for nothing.
    pub remedy: String,
    /// The place in a filter, in UTF-16 units.
    pub position: Option<usize>,
}

impl Failure {
    /// A failure of this status.
    pub fn new(status: StatusCode, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { status, what: what.into(), at: String::new(), remedy: remedy.into(), position: None }
    }

    /// A body or query that is wrong.
    pub fn wrong(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, what, remedy)
    }

    /// Something that is not there.
    pub fn missing(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, what, "reload the list")
    }

    /// Something that cannot be done now.
    pub fn not_now(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, what, remedy)
    }

    /// As the page gets it. Every text may quote what somebody sent, so that secrets are replaced here, for all failures.
    pub fn to_json(&self, redactor: &Redactor) -> Value {
        let shown = |text: &str| json!(redactor.redact_text(text));
        let mut members = Map::from_iter([("what".to_owned(), shown(&self.what))]);
        for (name, text) in [("at", &self.at), ("try", &self.remedy)] {
            if !text.is_empty() {
                members.insert(name.to_owned(), shown(text));
            }
        }
        if let Some(position) = self.position {
            members.insert("position".to_owned(), json!(position));
        }
        Value::Object(members)
    }
}
