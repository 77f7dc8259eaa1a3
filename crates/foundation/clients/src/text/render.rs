//! Values as JSON in the manner of the file that they go into.

use serde_json::Value;

/// How long a list of plain values may be on one line.
const WIDEST: usize = 80;

/// The manner of a file.
pub(super) struct Manner<'t> {
    /// What one more level is indented by.
    pub(super) unit: &'t str,
    pub(super) line_break: &'static str,
}

/// A value on one line.
pub(super) fn compact(value: &Value) -> String {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let members: Vec<_> = members.iter().map(|(key, value)| member(key, &compact(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(compact).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}

/// A value on several lines; the first is not indented, the others by `indent` and more.
pub(super) fn pretty(value: &Value, indent: &str, manner: &Manner<'_>) -> String {
    let inner = format!("{indent}{}", manner.unit);
    let block = |open: char, parts: Vec<String>, close: char| {
        let between = format!(",{}{inner}", manner.line_break);
        let parts = parts.join(&between);
        format!("{open}{0}{inner}{parts}{0}{indent}{close}", manner.line_break)
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            let parts = members.iter().map(|(key, value)| member(key, &pretty(value, &inner, manner)));
            block('{', parts.collect(), '}')
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            block('[', items.iter().map(|item| pretty(item, &inner, manner)).collect(), ']')
        }
        Value::Array(items) if !items.is_empty() && compact(value).len() > WIDEST => {
            block('[', items.iter().map(compact).collect(), ']')
        }
        value => compact(value),
    }
}

/// A member of an object.
pub(super) fn member(key: &str, value: &str) -> String {
    format!("{}: {value}", Value::from(key))
}
