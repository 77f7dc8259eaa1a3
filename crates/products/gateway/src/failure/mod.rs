//! Every failure that the gateway makes, in one table: what kind it is, whether another try helps, what to do. The members go
//! into the `data` of the error. Must not know where a failure comes up.

mod table;

use std::borrow::Cow;

use net::service::RpcError;
use serde_json::{Map, Value, json};
use wire::serf::Details;

pub(crate) use self::table::*;
pub use wire::serf::Category;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    /// Its name in `data.failure`.
    pub name: &'static str,
    /// The error code; none where the request is refused by an HTTP status.
    pub code: Option<i64>,
    /// The HTTP status, where there is no error code.
    pub status: Option<u16>,
    /// What kind of failure it is.
    pub category: Category,
    /// `not run` or `unknown`; none where nothing was to be run, or where the message says it.
    pub outcome: Option<&'static str>,
    /// Whether the same request can succeed later.
    pub retryable: bool,
    /// After which time it is worth another try, where nothing better is known.
    pub retry_after_ms: Option<u64>,
    /// What to do, where there is something better to say than for all of its category.
    pub action: Option<&'static str>,
    /// When it happens.
    pub when: &'static str,
}

/// All rows.
pub fn failures() -> &'static [Failure] {
    ALL
}

/// The error for a method that is not there.
pub(crate) fn method_unknown(method: &str) -> RpcError {
    METHOD_UNKNOWN.error(format!("Method not found: {}", wire::escape::line(method)))
}

impl Failure {
    const fn new(name: &'static str, code: i64, category: Category, when: &'static str) -> Self {
        let code = Some(code);
        let (status, outcome, action, retry_after_ms) = (None, None, None, None);
        Self { name, code, status, category, outcome, retryable: false, retry_after_ms, action, when }
    }

    const fn http(name: &'static str, status: u16, category: Category, when: &'static str) -> Self {
        Self { code: None, status: Some(status), ..Self::new(name, 0, category, when) }
    }

    /// The server did not get the request, or refused it.
    const fn not_run(self) -> Self {
        Self { outcome: Some("not run"), ..self }
    }

    /// The server may have run it.
    const fn unknown(self) -> Self {
        Self { outcome: Some("unknown"), ..self }
    }

    const fn retry(self, after_ms: u64) -> Self {
        Self { retryable: true, retry_after_ms: Some(after_ms), ..self }
    }

    const fn action(self, action: &'static str) -> Self {
        Self { action: Some(action), ..self }
    }

    /// What to do.
    pub fn suggested_action(&self) -> &'static str {
        self.action.unwrap_or(self.category.advice())
    }

    /// The members of `data`.
    pub(crate) fn data(&self) -> Map<String, Value> {
        let mut details = Details::new(self.category, self.suggested_action());
        (details.retryable, details.retry_after_ms) = (self.retryable, self.retry_after_ms);
        let mut data = Map::from_iter([("failure".to_owned(), json!(self.name))]);
        data.extend(details.members());
        data.extend(self.outcome.map(|outcome| ("outcome".to_owned(), json!(outcome))));
        data
    }

    /// The error that says so.
    pub(crate) fn error(&self, what: impl Into<Cow<'static, str>>) -> RpcError {
        self.error_with(what, Value::Null)
    }

    /// The body of a response whose status refuses the request: an invalid request, whatever the row.
    pub(crate) fn body(&self, what: impl Into<Cow<'static, str>>) -> RpcError {
        RpcError { code: net::service::code::INVALID_REQUEST, ..self.error(what) }
    }

    /// The same with more members in `data`, which count where a name stands in both.
    pub(crate) fn error_with(&self, what: impl Into<Cow<'static, str>>, more: Value) -> RpcError {
        let mut data = self.data();
        if let Value::Object(more) = more {
            data.extend(more);
        }
        RpcError::new(self.code.unwrap_or(net::service::code::INTERNAL_ERROR), what).with_data(Value::Object(data))
    }
}

#[cfg(test)]
mod tests;
