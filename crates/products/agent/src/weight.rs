//! How much memory an answer may take: a short text can stand for very many values. It knows no API.

use eval::recording::Recording;
use serde_json::Value;

/// How many values an answer may have: at most about 130 MB of memory.
const MOST_VALUES: usize = 200_000;
/// How deep they may nest. The lines of a recording and requests add some levels, and parsers stop at 128.
const MOST_DEPTH: usize = 100;

/// Parses a JSON text, unless it stands for too many values. `invalid` is the error for what is not JSON.
pub(crate) fn parse(text: &str, invalid: &str) -> Result<Value, String> {
    if Recording::values_in(text, MOST_VALUES).is_none() {
        return Err(too_many());
    }
    serde_json::from_str(text).map_err(|_| invalid.to_owned())
}

/// Refuses values that nest too deep to be recorded and sent back.
pub(crate) fn check_depth<'v>(mut values: impl Iterator<Item = &'v Value>) -> Result<(), String> {
    if values.any(|value| is_deeper(value, MOST_DEPTH)) {
        return Err(format!("the answer nests deeper than {MOST_DEPTH} levels"));
    }
    Ok(())
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    let is_one = |value: &Value| levels == 0 || is_deeper(value, levels - 1);
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(is_one),
        Value::Object(members) => levels == 0 || members.values().any(is_one),
        _ => false,
    }
}

/// How many more values an answer may have.
#[derive(Debug)]
pub(crate) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(MOST_VALUES)
    }
}

impl Room {
    /// Counts values that are kept.
    pub(crate) fn take(&mut self, values: usize) -> Result<(), String> {
        self.0 = self.0.checked_sub(values).ok_or_else(too_many)?;
        Ok(())
    }

    /// Counts the values that texts may stand for: arguments are JSON in a text, and are parsed later.
    pub(crate) fn take_texts(&mut self, value: &Value) -> Result<(), String> {
        self.take(in_texts(value))
    }
}

fn in_texts(value: &Value) -> usize {
    match value {
        Value::String(text) => text.bytes().filter(|byte| b"[{,".contains(byte)).count(),
        Value::Array(items) => items.iter().map(in_texts).sum(),
        Value::Object(members) => members.values().map(in_texts).sum(),
        _ => 0,
    }
}

fn too_many() -> String {
    format!("the answer has more than {MOST_VALUES} values")
}
