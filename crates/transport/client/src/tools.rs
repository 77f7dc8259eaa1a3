//! Checks before a tool is called: whether it may be called, and whether the arguments fit.

use schema::Validator;
use serde_json::{Map, Value};
use wire::http::annotations;

use super::form::wants;

/// How many errors are listed at a time.
const TOLD: usize = 8;
/// The largest integer that is exact in every reader of a header.
const SAFE: u64 = 9_007_199_254_740_991;

/// A tool of the server's list.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its description as it came.
    pub described: Value,
}

impl Tool {
    /// A tool, if it is described with a name.
    pub fn new(described: &Value) -> Option<Self> {
        described.get("name")?.as_str()?;
        Some(Self { described: described.clone() })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.described["name"].as_str().unwrap_or_default()
    }

    /// Its input schema.
    pub fn input(&self) -> &Value {
        &self.described["inputSchema"]
    }

    /// Whether it must be called as a task where the server has any (2025-11-25).
    pub fn needs_a_task(&self) -> bool {
        self.described.pointer("/execution/taskSupport").and_then(Value::as_str) == Some("required")
    }

    /// What is wrong with the annotations of its parameters: over HTTP, at 2026-07-28, such a tool must not be used.
    pub fn annotation_error(&self) -> Option<String> {
        let (pointer, why) = annotations(self.input()).faults.into_iter().next()?;
        Some(format!("{pointer}: {why}"))
    }

    /// An argument that is mirrored into a header and cannot be: the integer is too large.
    pub(super) fn unsafe_argument(&self, arguments: &Map<String, Value>) -> Option<String> {
        annotations(self.input()).valid.into_iter().find_map(|annotation| {
            let mut path = annotation.path.iter();
            let first = arguments.get(path.next()?)?;
            let value = path.try_fold(first, |value, name| value.as_object()?.get(name))?;
            let large = value.as_i64().map_or_else(
                || value.as_u64().is_some_and(|n| n > SAFE) || value.as_f64().is_some_and(|f| f.abs() > SAFE as f64),
                |n| n.unsigned_abs() > SAFE,
            );
            (value.is_number() && large).then(|| annotation.path.join("."))
        })
    }
}

/// What is wrong with the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    /// Which: its name, or a JSON pointer; empty where it is the whole.
    pub argument: String,
    /// What about it, and what the schema wants.
    pub what: String,
}

/// What is wrong with the arguments, by the tool's input schema; nothing where they fit.
pub fn argument_errors(schema: &Value, arguments: &Map<String, Value>) -> Vec<ArgumentError> {
    let missing = missing(schema, arguments);
    if !missing.is_empty() {
        return missing;
    }
    let error = |argument: String, what: String| ArgumentError { argument, what };
    let whole = Value::Object(arguments.clone());
    match Validator::new(schema) {
        Err(why) => vec![error(String::new(), format!("the input schema cannot be read: {why}"))],
        Ok(validator) if validator.is_valid(&whole) => Vec::new(),
        Ok(validator) => validator
            .mismatches(&whole, TOLD)
            .into_iter()
            .map(|one| error(one.pointer.trim_start_matches('/').to_owned(), one.message))
            .collect(),
    }
}

fn missing(schema: &Value, arguments: &Map<String, Value>) -> Vec<ArgumentError> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    required
        .filter(|name| !arguments.contains_key(*name))
        .take(TOLD)
        .map(|name| {
            let property = schema.get("properties").and_then(|properties| properties.get(name));
            let wanted = property.map_or_else(|| "any value".to_owned(), |property| wants(property, schema));
            ArgumentError { argument: name.to_owned(), what: format!("is missing: {wanted}") }
        })
        .collect()
}
