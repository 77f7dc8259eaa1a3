//! Keywords for types, lengths and numbers.

use serde_json::{Map, Value};
use wire::json::order;

use super::{Fit, Reader, Reading};

/// Beyond it (2^53) a double no longer tells which integer was meant.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Reader<'_> {
    pub(super) fn of_type(&self, rule: &Value, value: &Value, at: &str) -> Fit {
        let names: Vec<&Value> = match rule {
            Value::Array(names) => names.iter().collect(),
            name => vec![name],
        };
        let is = |name: &&Value| name.as_str().and_then(|name| is_type(name, value));
        if names.iter().any(|name| is(name) == Some(true)) {
            return Fit::Yes;
        }
        // A lenient reader takes unknown names for types that the value does not have.
        let readable = rule.is_array() || rule.is_string();
        let known = names.iter().all(|name| is(name).is_some());
        match self.reading {
            Reading::Lenient if !readable => Fit::Yes,
            Reading::Strict if !known => Fit::Unsure,
            _ => Fit::of(false, at, || format!("its type is not {rule}")),
        }
    }

    pub(super) fn counted(&self, name: &str, rule: &Value, found: usize, at: &str) -> Fit {
        let well_formed = |limit: &f64| self.reading == Reading::Lenient || (limit.fract() == 0.0 && *limit >= 0.0);
        let Some(limit) = rule.as_f64().filter(well_formed) else { return self.unread() };
        let fits = if name.starts_with("min") { found as f64 >= limit } else { found as f64 <= limit };
        Fit::of(fits, at, || format!("`{name}` is {rule}, there are {found}"))
    }

    pub(super) fn bounded(
        &self,
        name: &str,
        rule: &Value,
        siblings: &Map<String, Value>,
        value: &Value,
        at: &str,
    ) -> Fit {
        // Draft 4 says with a flag that a bound is excluded.
        let limit = match (name, rule) {
            ("exclusiveMinimum", Value::Bool(true)) if self.reading == Reading::Lenient => siblings.get("minimum"),
            ("exclusiveMaximum", Value::Bool(true)) if self.reading == Reading::Lenient => siblings.get("maximum"),
            _ => Some(rule),
        };
        let (Some(limit), Some(number)) = (limit.and_then(Value::as_number), value.as_number()) else {
            return self.unread();
        };
        let Some(order) = order(number, limit) else { return Fit::Unsure };
        let fits = match name {
            "minimum" => order.is_ge(),
            "maximum" => order.is_le(),
            "exclusiveMinimum" => order.is_gt(),
            _ => order.is_lt(),
        };
        Fit::of(fits, at, || format!("`{name}` is {rule}, the value is {value}"))
    }

    /// Fractions and large integers lose digits: that one is not a multiple is never sure.
    pub(super) fn multiple(&self, rule: &Value, value: &Value, at: &str) -> Fit {
        if let (Some(step), Some(number)) = (rule.as_i64().filter(|step| *step > 0), value.as_i64()) {
            let why = || format!("`multipleOf` is {rule}, the value is {value}");
            return Fit::of(number % step == 0, at, why);
        }
        let (Some(step), Some(number)) = (rule.as_f64().filter(|step| *step > 0.0), value.as_f64()) else {
            return self.unread();
        };
        if (number / step).fract() == 0.0 {
            Fit::Yes
        } else if step.fract() == 0.0 && number.fract() == 0.0 && number.abs() < EXACT {
            Fit::of(false, at, || format!("`multipleOf` is {rule}, the value is {value}"))
        } else {
            Fit::Unsure
        }
    }
}

/// Whether `value` is of the type that `name` names; `None` where there is no such type.
pub(crate) fn is_type(name: &str, value: &Value) -> Option<bool> {
    Some(match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => return None,
    })
}
