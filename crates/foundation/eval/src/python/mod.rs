//! Calls written in Python's syntax, as models without tool calling write them: `[f(a=1), g.h(b=[True, 'x'])]`.
//!
//! It reads what a value may be and evaluates nothing but signs and sums of numbers. Depth and size are bounded.

mod read;
mod tokens;

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

/// A value of Python, as far as arguments have them. Texts may be borrowed from what was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Py<'t> {
    /// `None`
    None,
    /// `True` or `False`
    Bool(bool),
    /// A whole number; one beyond 128 bits is refused.
    Int(i128),
    /// A number with a point or an exponent.
    Float(f64),
    /// A text; also the name of a variable, and the source of an expression.
    Str(Cow<'t, str>),
    /// `[…]`
    List(Vec<Self>),
    /// `(…, …)`
    Tuple(Vec<Self>),
    /// `{…: …}`, in order, the last of equal keys.
    Dict(Vec<(Self, Self)>),
}

/// One call with the arguments that it names. Arguments without a name are left out, as bfcl-eval does.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function, with dots.
    pub name: String,
    /// The arguments by name, in order, the last of equal names.
    pub arguments: Vec<(String, Py<'static>)>,
}

impl Call {
    /// The arguments as JSON.
    pub fn to_arguments(&self) -> Value {
        Value::Object(self.arguments.iter().map(|(name, value)| (name.clone(), value.to_json())).collect::<Map<_, _>>())
    }
}

impl Py<'_> {
    /// The value as JSON: a tuple is a list, a key that is no text is its text.
    pub fn to_json(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Int(whole) => i64::try_from(*whole)
                .map(Value::from)
                .or_else(|_| u64::try_from(*whole).map(Value::from))
                .unwrap_or_else(|_| Number::from_f64(*whole as f64).map_or(Value::Null, Value::Number)),
            Self::Float(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
            Self::Str(text) => Value::String(text.to_string()),
            Self::List(items) | Self::Tuple(items) => items.iter().map(Self::to_json).collect(),
            Self::Dict(members) => {
                let key = |key: &Self| match key {
                    Self::Str(text) => text.to_string(),
                    other => other.to_json().to_string(),
                };
                Value::Object(members.iter().map(|(name, value)| (key(name), value.to_json())).collect::<Map<_, _>>())
            }
        }
    }
}

/// Reads one call, or a list or tuple of calls; white space and single quotes around them do not count.
pub fn calls(text: &str) -> Result<Vec<Call>, String> {
    read::calls(text.trim().trim_matches('\''))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one(text: &str) -> Value {
        let calls = calls(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        json!(calls.iter().map(|call| json!([call.name, call.to_arguments()])).collect::<Vec<_>>())
    }

    #[test]
    fn lists_of_calls_are_read() {
        assert_eq!(
            one("[f(a=1), g.h(b='x', c=[True, None, -2.5e3])]"),
            json!([["f", {"a": 1}], ["g.h", {"b": "x", "c": [true, null, -2500.0]}]])
        );
        assert_eq!(one("f()"), json!([["f", {}]]));
        assert_eq!(one("[]"), json!([]));
        assert_eq!(
            one(" '[f(a=(1, 2), b={\"k\": {'z': 0x1f}},)]' "),
            json!([["f", {"a": [1, 2], "b": {"k": {"z": 31}}}]])
        );
        assert_eq!(
            one("f(a='it''s', b=r'\\n', c='\\n\\x41\\u00fc', d=\"\"\"x\ny\"\"\")"),
            json!([["f", {"a": "its", "b": "\\n", "c": "\nAü", "d": "x\ny"}]])
        );
        assert_eq!(
            one("f(a=x, b=y.z, c=g(1), d=g(k=2), e=1_000)"),
            json!([["f", {"a": "x", "b": "y.z", "c": "g(1)", "d": {"g": {"k": 2}}, "e": 1000}]])
        );
        assert_eq!(
            one("f(a=2 * 3 + 1, b=(7), c=2 ** 10, d=1 / 4)"),
            json!([["f", {"a": 7, "b": 7, "c": 1024, "d": 0.25}]])
        );
    }

    #[test]
    fn what_is_no_call_is_refused() {
        for text in [
            "",
            "I cannot help.",
            "[1, 2]",
            "f(a=)",
            "f(a=1",
            "[f(a=1), 'x']",
            "f(a=1) g(b=2)",
            "f(a='x)",
            "f(a=1, a=2",
        ] {
            assert!(calls(text).is_err(), "{text}: {:?}", calls(text));
        }
        assert!(calls(&format!("f(a={})", "[".repeat(5000))).is_err());
        assert!(calls(&format!("f(a={}1)", "-".repeat(5000))).is_err());
    }

    #[test]
    fn tuples_and_lists_are_told_apart() {
        let calls = calls("f(a=(1,), b=[1])").unwrap();
        assert_eq!(calls[0].arguments[0].1, Py::Tuple(vec![Py::Int(1)]));
        assert_eq!(calls[0].arguments[1].1, Py::List(vec![Py::Int(1)]));
    }
}
