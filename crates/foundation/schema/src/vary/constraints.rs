//! Values at the edge of a constraint and beyond it, for each keyword that a place has.

use serde_json::{Value, json};

use super::walk::{Kind, Spot, Walker};
use super::wrong::named;
use crate::plain::is_a;
use crate::sample::{LONGEST, of_length, plain_number as plain};
use crate::views::View;

/// How many items a list has at most that is made here.
const ITEMS: u64 = 100;

impl Walker<'_> {
    /// Varies a value within and beyond what its view demands of it.
    pub(super) fn constraints(&mut self, view: &View<'_>, value: &Value, spot: &Spot) {
        self.choices(view, value, spot);
        match value {
            Value::Number(_) => self.numbers(view, value, spot),
            Value::String(text) => self.texts(view, text, spot),
            Value::Array(items) => self.lists(view, items, spot),
            Value::Bool(truth) if self.width.edges && !view.contains_key("const") => {
                self.fitting(spot, Kind::Choice, "type", &format!("is {}", !truth), json!(!truth));
            }
            _ => {}
        }
    }

    fn edge(&mut self, spot: &Spot, keyword: &str, what: &str, value: Value) {
        if self.width.edges {
            self.fitting(spot, Kind::Edge, keyword, what, value);
        }
    }

    fn choices(&mut self, view: &View<'_>, value: &Value, spot: &Spot) {
        let members = view.get("enum").and_then(Value::as_array);
        if let Some(members) = members.filter(|_| self.width.edges) {
            for member in members.iter().take(self.width.members) {
                self.fitting(spot, Kind::Choice, "enum", &format!("is {}", shown(member)), member.clone());
            }
        }
        let keyword = if members.is_some() { "enum" } else { "const" };
        if members.is_none() && !view.contains_key("const") {
            return;
        }
        let others = match value {
            Value::String(text) => vec![json!("proof-no-such-value"), json!(format!("{text}-proof"))],
            Value::Number(number) => {
                (1..200).map(|more| plain(number.as_f64().unwrap_or(0.0) + f64::from(more))).collect()
            }
            Value::Bool(truth) => vec![json!(!truth)],
            _ => Vec::new(),
        };
        for other in others {
            let what = format!("is {}, not a value of its {keyword}", shown(&other));
            if self.breaking(spot, keyword, &what, other, value) {
                break;
            }
        }
    }

    fn numbers(&mut self, view: &View<'_>, value: &Value, spot: &Spot) {
        let bound = |name: &str| view.get(name).and_then(Value::as_f64);
        let step = bound("multipleOf").filter(|step| *step > 0.0);
        let unit = step.unwrap_or(1.0);
        for (keyword, away) in [("minimum", -unit), ("maximum", unit)] {
            if let Some(limit) = bound(keyword) {
                let side = if away < 0.0 { "below" } else { "above" };
                self.edge(spot, keyword, &format!("is its {keyword}, {}", plain(limit)), plain(limit));
                let beyond = plain(limit + away);
                self.breaking(spot, keyword, &format!("is {beyond}, {side} its {keyword}"), beyond, value);
            }
        }
        for (keyword, away) in [("exclusiveMinimum", unit), ("exclusiveMaximum", -unit)] {
            if let Some(limit) = bound(keyword) {
                let inside = plain(limit + away);
                self.edge(spot, keyword, &format!("is {inside}, just within its {keyword}"), inside);
                self.breaking(spot, keyword, &format!("is {}, its {keyword}", plain(limit)), plain(limit), value);
            }
        }
        if let Some((step, present)) = step.zip(value.as_f64()) {
            for between in [present + step / 2.0, present + 1.0] {
                let between = plain(between);
                let what = format!("is {between}, not a multiple of {}", plain(step));
                if self.breaking(spot, "multipleOf", &what, between, value) {
                    break;
                }
            }
        }
    }

    fn texts(&mut self, view: &View<'_>, text: &str, spot: &Spot) {
        let length = |name: &str| Some(view.get(name)?.as_u64()? as usize).filter(|length| *length < LONGEST);
        let fits = json!(text);
        for (keyword, beyond) in [("minLength", -1), ("maxLength", 1)] {
            let Some(limit) = length(keyword) else { continue };
            let side = if beyond < 0 { "below" } else { "above" };
            self.edge(spot, keyword, &format!("has its {keyword}, {limit}"), json!(of_length(limit)));
            let Some(wrong) = limit.checked_add_signed(beyond) else { continue };
            let what = format!("has the length {wrong}, {side} its {keyword}");
            self.breaking(spot, keyword, &what, json!(of_length(wrong)), &fits);
        }
        if view.contains_key("pattern") {
            let long = format!("{text}\u{a7}");
            for other in ["\u{a7}", "not of that pattern", "-", "9", "", long.as_str()] {
                if self.breaking(
                    spot,
                    "pattern",
                    &format!("is {}, which does not match its pattern", shown(&json!(other))),
                    json!(other),
                    &fits,
                ) {
                    break;
                }
            }
        }
        if let Some(format) = view.get("format").and_then(Value::as_str) {
            for other in ["not of that format", "%", "-1"] {
                if self.breaking(
                    spot,
                    "format",
                    &format!("is {}, which is not a valid {format}", shown(&json!(other))),
                    json!(other),
                    &fits,
                ) {
                    break;
                }
            }
        }
    }

    fn lists(&mut self, view: &View<'_>, items: &[Value], spot: &Spot) {
        let bound = |name: &str| view.get(name).and_then(Value::as_u64).filter(|count| *count <= ITEMS);
        let fits: Value = items.into();
        let unique = view.get("uniqueItems") == Some(&json!(true));
        let many = |count: u64| -> Option<Value> {
            let mut all: Vec<Value> = items.iter().take(count as usize).cloned().collect();
            while (all.len() as u64) < count {
                all.push(if unique { next(all.last()?)? } else { items.first()?.clone() });
            }
            Some(all.into())
        };
        for (keyword, beyond) in [("minItems", -1), ("maxItems", 1)] {
            let Some(limit) = bound(keyword) else { continue };
            let side = if beyond < 0 { "below" } else { "above" };
            if let Some(list) = many(limit) {
                self.edge(spot, keyword, &format!("has its {keyword}, {limit}"), list);
            }
            if let Some((wrong, list)) = limit.checked_add_signed(beyond).and_then(|wrong| Some((wrong, many(wrong)?)))
            {
                self.breaking(spot, keyword, &format!("has {wrong} items, {side} its {keyword}"), list, &fits);
            }
        }
        if !view.contains_key("minItems") {
            self.edge(spot, "items", "is empty", json!([]));
        }
        if unique && let Some(first) = items.first() {
            let twice = [items, std::slice::from_ref(first)].concat();
            self.breaking(spot, "uniqueItems", "has a duplicate item", twice.into(), &fits);
        }
    }
}

/// Another item after this one.
fn next(item: &Value) -> Option<Value> {
    match item {
        Value::String(text) => Some(json!(format!("{text}x"))),
        Value::Number(_) if is_a(item, "integer") => item.as_i64()?.checked_add(1).map(Value::from),
        _ => None,
    }
}

/// A value in a sentence.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::String(text) if text.chars().count() <= 30 => text.clone(),
        Value::Array(_) | Value::Object(_) => named(value).to_owned(),
        Value::String(_) => "a long text".to_owned(),
        other => other.to_string(),
    }
}
