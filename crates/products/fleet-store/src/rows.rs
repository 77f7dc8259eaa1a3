//! Rows of an answer as values, the same for both databases.

use serde::de::DeserializeOwned;

use crate::Id;
use crate::sql::{Failure, Value};

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    fn value(&self, at: usize) -> Result<&Value, Failure> {
        self.0.get(at).ok_or_else(|| Failure::garbled(at))
    }

    /// A number.
    pub(crate) fn integer(&self, at: usize) -> Result<i64, Failure> {
        self.optional_integer(at)?.ok_or_else(|| Failure::garbled(at))
    }

    /// A number that may be missing.
    pub(crate) fn optional_integer(&self, at: usize) -> Result<Option<i64>, Failure> {
        match self.value(at)? {
            Value::Null => Ok(None),
            Value::Integer(number) => Ok(Some(*number)),
            _ => Err(Failure::garbled(at)),
        }
    }

    /// A fraction that may be missing.
    pub(crate) fn optional_real(&self, at: usize) -> Result<Option<f64>, Failure> {
        match self.value(at)? {
            Value::Null => Ok(None),
            Value::Real(number) => Ok(Some(*number)),
            Value::Integer(number) => Ok(Some(*number as f64)),
            Value::Text(_) => Err(Failure::garbled(at)),
        }
    }

    /// A text.
    pub(crate) fn text(&self, at: usize) -> Result<String, Failure> {
        self.optional_text(at)?.ok_or_else(|| Failure::garbled(at))
    }

    /// A text that may be missing.
    pub(crate) fn optional_text(&self, at: usize) -> Result<Option<String>, Failure> {
        match self.value(at)? {
            Value::Null => Ok(None),
            Value::Text(text) => Ok(Some(text.clone())),
            _ => Err(Failure::garbled(at)),
        }
    }

    /// A text that is JSON.
    pub(crate) fn json<T: DeserializeOwned>(&self, at: usize) -> Result<T, Failure> {
        serde_json::from_str(&self.text(at)?).map_err(|_| Failure::garbled(at))
    }

    /// A text that is one of few words.
    pub(crate) fn word<T: DeserializeOwned>(&self, at: usize) -> Result<T, Failure> {
        serde_json::from_value(self.text(at)?.into()).map_err(|_| Failure::garbled(at))
    }
}

/// Every row as a value.
pub(crate) fn all<T>(rows: Vec<Row>, read: fn(&Row) -> Result<T, Failure>) -> Result<Vec<T>, Failure> {
    rows.iter().map(read).collect()
}

/// The first row as a value, if there is one.
pub(crate) fn one<T>(rows: Vec<Row>, read: fn(&Row) -> Result<T, Failure>) -> Result<Option<T>, Failure> {
    rows.first().map(read).transpose()
}

/// The id that the only row holds.
pub(crate) fn id(rows: &[Row]) -> Result<Id, Failure> {
    rows.first().ok_or_else(|| Failure::garbled(0))?.integer(0)
}

/// The value of a member that may be missing.
pub(crate) fn optional<T: Into<Value>>(value: Option<T>) -> Value {
    value.map_or(Value::Null, Into::into)
}
