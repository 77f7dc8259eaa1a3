//! Inclusive bounds of numbers, lengths and counts.

use std::fmt;

use serde_json::Value;

/// Inclusive bounds of a number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    least: Option<f64>,
    most: Option<f64>,
}

impl Bounds {
    /// Whether a number is within the bounds.
    pub(super) fn hold(self, number: f64) -> bool {
        self.least.is_none_or(|least| number >= least) && self.most.is_none_or(|most| number <= most)
    }

    /// Reads a number (unless `is_range`), `[least, most]`, or a mapping of `min` and `max`. `Err` says what is wrong.
    pub(super) fn read(value: &Value, is_range: bool) -> Result<Self, String> {
        let number = |value: Option<&Value>| value.and_then(Value::as_f64);
        let bounds = match value {
            Value::Number(one) if !is_range => Some(Self { least: one.as_f64(), most: one.as_f64() }),
            Value::Array(pair) if pair.len() == 2 && pair.iter().all(Value::is_number) => {
                Some(Self { least: number(pair.first()), most: number(pair.last()) })
            }
            Value::Object(members)
                if !members.is_empty()
                    && members.iter().all(|(name, n)| matches!(name.as_str(), "min" | "max") && n.is_number()) =>
            {
                Some(Self { least: number(members.get("min")), most: number(members.get("max")) })
            }
            _ => None,
        };
        match bounds {
            None => Err("neither two numbers nor `min` and `max`".to_owned()),
            Some(Self { least: Some(least), most: Some(most) }) if least > most => {
                Err(format!("{least} is more than {most}"))
            }
            Some(bounds) => Ok(bounds),
        }
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
