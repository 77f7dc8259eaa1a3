//! Whether a value is what was expected.

use serde_json::Value;
use wire::json::same;
use wire::pointer;

use super::{Matcher, Mismatch, shown};
use crate::date::Moment;

impl Matcher {
    /// Whether `value` is what was expected.
    pub fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        let is_met = match self {
            Self::Equals(expected) => same(value, expected),
            Self::Contains(part) => contains(value, part),
            Self::Matches(regex) => value.as_str().is_some_and(|text| regex.is_match(text)),
            Self::Type(kind) => is_a(value, kind),
            Self::Length(bounds) => length(value).is_some_and(|length| bounds.hold(length as f64)),
            Self::Range(bounds) => value.as_f64().is_some_and(|number| bounds.hold(number)),
            Self::Near { of, by, is_relative } => {
                let room = if *is_relative { by * of.abs() } else { *by };
                // 0.4 is not farther from 0.3 than 0.1, though their difference as doubles is.
                let slack =
                    |number: f64| if room > 0.0 { 4.0 * f64::EPSILON * number.abs().max(of.abs()) } else { 0.0 };
                value.as_f64().is_some_and(|number| (number - of).abs() <= room + slack(number))
            }
            Self::Date(_, moment) => {
                value.as_str().and_then(Moment::read).is_some_and(|given| moment.is_meant_by(&given))
            }
            Self::Schema(validator, _) => match validator.mismatches(value, 1).into_iter().next() {
                None => true,
                Some(first) => {
                    let actual = value.pointer(&first.pointer).map_or_else(|| shown(value), shown);
                    let expected = format!("{self} ({})", first.message);
                    return Err(Mismatch { pointer: first.pointer, expected, actual });
                }
            },
            Self::Unordered(expected) => value.as_array().is_some_and(|items| pairs_up(expected, items)),
            Self::Subset(values) => {
                value.as_array().is_some_and(|items| items.iter().all(|item| values.iter().any(|v| same(item, v))))
            }
            Self::Items(expected) => return self.items(expected, value),
            Self::Members(expected) => return self.members(expected, value),
            Self::Text(expected) => value.as_str().is_some_and(|text| folded(text) == folded(expected)),
            Self::AnyOf(all) => all.iter().any(|one| one.judge(value).is_ok()),
            Self::Not(one) => one.judge(value).is_err(),
            Self::All(all) => return all.iter().try_for_each(|one| one.judge(value)),
            Self::Optional(one) => return one.judge(value),
            Self::Absent => false,
            Self::Ignore => true,
        };
        if is_met { Ok(()) } else { Err(self.mismatch(value)) }
    }

    fn mismatch(&self, value: &Value) -> Mismatch {
        Mismatch { pointer: String::new(), expected: self.to_string(), actual: shown(value) }
    }

    fn items(&self, expected: &[Self], value: &Value) -> Result<(), Mismatch> {
        let items = value.as_array().filter(|items| items.len() == expected.len());
        let items = items.ok_or_else(|| self.mismatch(value))?;
        expected.iter().zip(items).enumerate().try_for_each(|(at, (one, item))| below(one.judge(item), &at.to_string()))
    }

    fn members(&self, expected: &[(String, Self)], value: &Value) -> Result<(), Mismatch> {
        let members = value.as_object().ok_or_else(|| self.mismatch(value))?;
        for (name, one) in expected {
            match members.get(name) {
                Some(member) => below(one.judge(member), name)?,
                None if one.allows_absence() => {}
                None => {
                    let missing = Mismatch { actual: crate::NOTHING.to_owned(), ..one.mismatch(&Value::Null) };
                    return below(Err(missing), name);
                }
            }
        }
        match members.iter().find(|(name, _)| !expected.iter().any(|(known, _)| known == *name)) {
            None => Ok(()),
            Some((name, member)) => below(Err(Self::Absent.mismatch(member)), name),
        }
    }
}

/// A mismatch of a part, seen from the whole.
fn below(judged: Result<(), Mismatch>, step: &str) -> Result<(), Mismatch> {
    judged.map_err(|inner| Mismatch { pointer: format!("/{}{}", pointer::escape(step), inner.pointer), ..inner })
}

/// Whether `whole` contains `part`.
fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::String(whole), Value::String(part)) => whole.contains(part.as_str()),
        (Value::Array(items), part) => items.iter().any(|item| same(item, part) || is_within(item, part)),
        (Value::Object(_), Value::Object(_)) => is_within(whole, part),
        _ => false,
    }
}

/// Whether a mapping has every member of `part`.
fn is_within(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part
            .iter()
            .all(|(name, part)| whole.get(name).is_some_and(|value| same(value, part) || is_within(value, part))),
        _ => false,
    }
}

/// Whether items and matchers can be paired, by augmenting paths: the first item that fits a matcher may be the only one that
/// fits another.
fn pairs_up(expected: &[Matcher], items: &[Value]) -> bool {
    if items.len() != expected.len() {
        return false;
    }
    let fits = |one: &Matcher| (0..items.len()).filter(|at| one.judge(&items[*at]).is_ok()).collect::<Vec<_>>();
    let fits: Vec<Vec<usize>> = expected.iter().map(fits).collect();
    let mut taken = vec![None; items.len()];
    (0..expected.len()).all(|one| assign(one, &fits, &mut taken, &mut vec![false; items.len()]))
}

fn assign(one: usize, fits: &[Vec<usize>], taken: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    for &item in &fits[one] {
        if std::mem::replace(&mut seen[item], true) {
            continue;
        }
        if taken[item].is_none_or(|other| assign(other, fits, taken, seen)) {
            taken[item] = Some(one);
            return true;
        }
    }
    false
}

fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        _ => value.is_null(),
    }
}

/// The number of characters, items or members.
fn length(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(members) => Some(members.len()),
        _ => None,
    }
}

/// A text without differences of case and white space.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
