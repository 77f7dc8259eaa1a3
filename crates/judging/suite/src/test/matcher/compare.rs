//! How values are compared: equality, containment, order, type and length.

use serde_json::Value;
use wire::json::same;

use super::{Matcher, Mismatch, mismatch};

/// Whether `whole` contains `part`.
pub(super) fn contains(whole: &Value, part: &Value) -> bool {
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

/// Whether items and matchers can be paired: a bipartite matching by augmenting paths, because the first item that fits a
/// matcher may be the only one that fits another.
pub(super) fn unordered(expected: &[Matcher], value: &Value, vars: &Value) -> Result<(), Mismatch> {
    let Value::Array(items) = value else { return Err(mismatch(format!("a list of {}", expected.len()))) };
    if items.len() != expected.len() {
        return Err(mismatch(format!("a list of {} in any order (it has {})", expected.len(), items.len())));
    }
    let fits: Vec<Vec<usize>> = expected
        .iter()
        .map(|one| (0..items.len()).filter(|&at| one.judge(&items[at], vars).is_ok()).collect())
        .collect();
    let mut taken = vec![None; items.len()];
    for (number, one) in expected.iter().enumerate() {
        if !assign(number, &fits, &mut taken, &mut vec![false; items.len()]) {
            return Err(mismatch(format!("in any order, with {one}")));
        }
    }
    Ok(())
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

pub(super) fn is_a(value: &Value, kind: &str) -> bool {
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
pub(super) fn length(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(members) => Some(members.len()),
        _ => None,
    }
}
