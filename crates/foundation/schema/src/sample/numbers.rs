//! Values without members: texts, numbers, truth values; and whether one fits its schema. Knows nothing of what they stand in.

use serde_json::{Value, json};

use crate::dice::Dice;

/// How much longer than it must be a drawn text is at most, and how far from its lower bound a drawn number: large ones may
/// mean much work to a tool.
const LONGER: u64 = 12;
const FARTHER: f64 = 40.0;

/// Keywords that constrain nothing, so that they may stand beside alternatives.
pub(super) const REMARKS: &[&str] =
    &["title", "description", "default", "examples", "deprecated", "$schema", "$defs", "definitions"];

pub(super) fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => Some(one),
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).find(|t| *t != "null"),
        None if schema.get("properties").is_some() => Some("object"),
        None if schema.as_object().is_some_and(|all| all.keys().all(|key| REMARKS.contains(&key.as_str()))) => {
            Some("string")
        }
        _ => None,
    }
}

/// The first of some likely values that fits: with dice, drawn ones first.
pub(super) fn scalar(schema: &Value, dice: &mut Dice) -> Option<Value> {
    let mut examples: Vec<Value> =
        schema.get("examples").and_then(Value::as_array).into_iter().flatten().cloned().collect();
    dice.shuffle(&mut examples);
    let kind = type_of(schema)?;
    let mut likely = match kind {
        _ if !dice.strays() => Vec::new(),
        "string" => drawn_text(schema, dice).into_iter().collect(),
        "integer" | "number" => (0..4).map(|_| number(drawn_number(schema, kind, dice))).collect(),
        _ => vec![json!(dice.below(2) == 1)],
    };
    likely.extend(examples);
    match kind {
        "string" => likely.extend(texts(schema)),
        "integer" | "number" => likely.extend(numbers(schema)),
        "boolean" => likely.push(json!(false)),
        _ => {}
    }
    likely.into_iter().find(|value| is_scalar(value) && fits(value, schema))
}

pub(super) const fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Object(_) | Value::Array(_))
}

fn texts(schema: &Value) -> Vec<Value> {
    let (least, most) = lengths(schema);
    let (least, most) = (least as usize, most as usize);
    if let Some(text) = schema.get("format").and_then(Value::as_str).and_then(of_format) {
        return vec![json!(text)];
    }
    // Whatever else stands there is a remark.
    let text = if schema.get("contentEncoding").is_some() { "cHJvb2Y=" } else { "proof" };
    let cut = text.chars().cycle().take(most.min(least.max(text.len())));
    vec![json!(text), json!(cut.collect::<String>())]
}

/// A text of a `format` of JSON Schema, where it is one that we know.
pub(crate) fn of_format(name: &str) -> Option<&'static str> {
    Some(match name {
        "uri" | "uri-reference" | "url" | "iri" | "iri-reference" | "uri-template" => "https://example.com/",
        "email" | "idn-email" => "proof@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "127.0.0.1",
        "ipv6" => "::1",
        "date" => "2025-01-31",
        "date-time" => "2025-01-31T12:00:00Z",
        "time" => "12:00:00Z",
        "duration" => "PT1S",
        // Of version 4: some want no other.
        "uuid" => "7d444840-9dc0-41d1-b245-5ffdce74fad2",
        "json-pointer" => "/proof",
        "relative-json-pointer" => "0",
        _ => return None,
    })
}

fn numbers(schema: &Value) -> Vec<Value> {
    let (least, most) = bounds(schema);
    let step = schema.get("multipleOf").and_then(Value::as_f64).filter(|step| *step > 0.0);
    let mut likely = vec![1.0, 0.0];
    likely.extend(least.into_iter().flat_map(|least| [least, least.ceil(), least + 1.0, least.floor() + 1.0]));
    likely.extend(most.into_iter().flat_map(|most| [most, most.floor(), most - 1.0, most.ceil() - 1.0]));
    likely.extend(least.zip(most).map(|(least, most)| f64::midpoint(least, most)));
    likely.extend(step.map(|step| (least.unwrap_or(step) / step).ceil() * step));
    likely.extend(step.map(|step| ((least.unwrap_or(0.0) / step).floor() + 1.0) * step));
    likely.into_iter().map(number).collect()
}

fn number(n: f64) -> Value {
    if n.fract() == 0.0 && n.abs() < 9e15 { json!(n as i64) } else { json!(n) }
}

/// A number near the lower bound. Halves and quarters only: they have no digits to lose.
fn drawn_number(schema: &Value, kind: &str, dice: &mut Dice) -> f64 {
    let (least, most) = bounds(schema);
    let step = schema.get("multipleOf").and_then(Value::as_f64).filter(|step| *step > 0.0);
    let step = step.unwrap_or(if kind == "integer" { 1.0 } else { 0.25 });
    let low = least.unwrap_or_else(|| most.map_or(0.0, |most| most.min(FARTHER) - FARTHER));
    let span = most.map_or(FARTHER, |most| (most - low).clamp(0.0, FARTHER));
    let first = (low / step).ceil();
    let steps = (span / step).floor().clamp(0.0, 1e6) as u64;
    (first + dice.below(steps + 1) as f64) * step
}

/// Letters of a drawn length; where a format wants more than letters, they are part of it. `None` where there is nothing
/// to draw.
fn drawn_text(schema: &Value, dice: &mut Dice) -> Option<Value> {
    let (least, most) = lengths(schema);
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let text = match format {
        "uri" | "uri-reference" | "url" | "iri" | "iri-reference" => format!("https://example.com/{}", word(6, dice)),
        "email" | "idn-email" => format!("{}@example.com", word(6, dice)),
        "hostname" | "idn-hostname" => format!("{}.example.com", word(6, dice)),
        "ipv4" => format!("127.0.0.{}", 1 + dice.below(254)),
        "date" => format!("2025-01-{:02}", 1 + dice.below(28)),
        "date-time" => format!("2025-01-{:02}T12:00:{:02}Z", 1 + dice.below(28), dice.below(60)),
        "time" => format!("12:00:{:02}Z", dice.below(60)),
        "duration" => format!("PT{}S", 1 + dice.below(9)),
        "json-pointer" => format!("/{}", word(6, dice)),
        "ipv6" | "uuid" | "uri-template" | "relative-json-pointer" => return None,
        _ if schema.get("contentEncoding").is_some() => return None,
        _ => {
            let least = least.max(1).min(most);
            let length = least + dice.below(most.saturating_sub(least).min(LONGER) + 1);
            word(length, dice)
        }
    };
    Some(json!(text))
}

fn word(length: u64, dice: &mut Dice) -> String {
    (0..length).map(|_| char::from(b'a' + dice.below(26) as u8)).collect()
}

fn bounds(schema: &Value) -> (Option<f64>, Option<f64>) {
    let bound = |names: [&'static str; 2]| names.into_iter().filter_map(move |name| schema.get(name)?.as_f64());
    let least = bound(["minimum", "exclusiveMinimum"]).reduce(f64::max);
    let most = bound(["maximum", "exclusiveMaximum"]).reduce(f64::min);
    (least, most)
}

fn lengths(schema: &Value) -> (u64, u64) {
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(4096);
    let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(4096).min(4096);
    (least, most)
}

/// Whether a scalar is of the schema's type and within its bounds.
pub(super) fn fits(value: &Value, schema: &Value) -> bool {
    let of = |name: &str| schema.get(name).and_then(Value::as_f64);
    match value {
        Value::Null => {
            schema.get("type").is_none_or(|t| t == "null" || t.as_array().is_some_and(|t| t.contains(&json!("null"))))
        }
        Value::Bool(_) => matches!(type_of(schema), Some("boolean")),
        Value::String(text) => {
            let length = text.chars().count() as f64;
            let within = of("minLength").is_none_or(|b| length >= b) && of("maxLength").is_none_or(|b| length <= b);
            type_of(schema) == Some("string") && within && schema.get("pattern").is_none()
        }
        Value::Number(number) => number.as_f64().is_some_and(|n| {
            let whole = type_of(schema) == Some("number") || (type_of(schema) == Some("integer") && n.fract() == 0.0);
            whole
                && of("minimum").is_none_or(|b| n >= b)
                && of("maximum").is_none_or(|b| n <= b)
                && of("exclusiveMinimum").is_none_or(|b| n > b)
                && of("exclusiveMaximum").is_none_or(|b| n < b)
                && of("multipleOf").is_none_or(|step| (n / step).fract() == 0.0)
        }),
        _ => false,
    }
}
