//! Values of a type that a place does not take.

use serde_json::{Value, json};

use super::walk::{Spot, Walker};
use crate::views::View;

/// A value of each type, those first that no reading of texts makes one of another type; with the names of the types that
/// it is of.
fn samples() -> [(Value, &'static [&'static str]); 8] {
    [
        (json!("not a number"), &["string"]),
        (json!({ "proof": true }), &["object"]),
        (json!(["proof"]), &["array"]),
        (json!(7), &["number", "integer"]),
        (json!(true), &["boolean"]),
        (Value::Null, &["null"]),
        (json!(1.5), &["number"]),
        (json!("7"), &["string"]),
    ]
}

/// What a value is, in words.
pub(super) fn named(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Number(_) => "a number",
        Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => "a text of digits",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

impl Walker<'_> {
    /// Gives the place values of types that none of its views takes.
    pub(super) fn wrong_types(&mut self, views: &[View<'_>], fits: &Value, spot: &Spot) {
        let taken: Option<Vec<&str>> = views.iter().map(View::kind).collect();
        // A view without a type takes them all.
        let Some(taken) = taken else { return };
        let keyword = if views.len() > 1 { "anyOf" } else { "type" };
        let mut room = self.width.types;
        for (value, types) in samples() {
            if room == 0 {
                break;
            }
            if types.iter().any(|kind| taken.contains(kind)) {
                continue;
            }
            let what = format!("is {}", named(&value));
            room -= usize::from(self.breaking(spot, keyword, &what, value, fits));
        }
    }
}
