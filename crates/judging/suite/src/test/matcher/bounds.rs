//! Inclusive bounds of numbers, lengths and counts.

use std::fmt;

use serde_json::Value;

use super::Report;
use super::read::wrong;

/// Inclusive bounds of a number.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::test) struct Bounds {
    least: Option<f64>,
    most: Option<f64>,
}

impl Bounds {
    /// Whether a number is within the bounds.
    pub(in crate::test) fn hold(self, number: f64) -> bool {
        self.least.is_none_or(|least| number >= least) && self.most.is_none_or(|most| number <= most)
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (Some(least), Some(most)) if least.total_cmp(&most).is_eq() => write!(f, "{least}"),
            (Some(least), Some(most)) => write!(f, "from {least} to {most}"),
            (Some(least), None) => write!(f, "{least} or more"),
            (None, Some(most)) => write!(f, "{most} or less"),
            (None, None) => f.write_str("any size"),
        }
    }
}

pub(super) fn bounds(value: &Value, word: &str, report: Report<'_>) -> Option<Bounds> {
    bounds_at(value, word, &format!("/{word}"), report)
}

/// A number, `[least, most]`, or a mapping of `min` and `max`.
pub(super) fn bounds_at(value: &Value, word: &str, pointer: &str, report: Report<'_>) -> Option<Bounds> {
    let bounds = match value {
        Value::Number(number) if word != "range" => number.as_f64().map(|n| Bounds { least: Some(n), most: Some(n) }),
        Value::Array(pair) => match pair.as_slice() {
            [least, most] if least.is_number() && most.is_number() => {
                Some(Bounds { least: least.as_f64(), most: most.as_f64() })
            }
            _ => None,
        },
        Value::Object(members)
            if members.iter().all(|(name, n)| matches!(name.as_str(), "min" | "max") && n.is_number()) =>
        {
            let bound = |name: &str| members.get(name).and_then(Value::as_f64);
            Some(Bounds { least: bound("min"), most: bound("max") }).filter(|_| !members.is_empty())
        }
        _ => None,
    };
    if bounds.is_none() {
        let example =
            if word == "range" { "[1, 10], {min: 1} or {max: 10}" } else { "3, [1, 10], {min: 1} or {max: 10}" };
        report(pointer, wrong(format!("invalid `{word}`"), example));
    }
    if let Some(Bounds { least: Some(least), most: Some(most) }) = bounds
        && least > most
    {
        report(pointer, wrong(format!("invalid `{word}`: {least} is more than {most}"), "the smaller number first"));
    }
    bounds
}
