//! JSON as RFC 8785 writes it: one text for one value, whatever the order of its members and the spelling of its
//! numbers. For digests; no message is written so.
//!
//! One thing differs: an integer that no double holds exactly keeps its digits. Rounded, two requests would become one.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::write_string;

/// The canonical text of `value`.
pub fn canonical(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(&mut out, value);
    out
}

/// Whether two JSON values are equal as values: `1` and `1.0` are, members may be in any order.
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || compare(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => one == other,
    }
}

/// How two numbers compare, integers by all of their digits; `None` where digits were lost in reading that might decide it.
pub fn order(one: &Number, other: &Number) -> Option<Ordering> {
    let is_exact = |number: &Number| whole(number).is_some() || number.as_f64().is_some_and(|n| n.abs() < EXACT as f64);
    compare(one, other).filter(|order| order.is_ne() || (is_exact(one) && is_exact(other)))
}

/// An integer that was read with all its digits.
fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        (Some(one), None) => compare_whole(one, other.as_f64()?),
        (None, Some(other)) => compare_whole(other, one.as_f64()?).map(Ordering::reverse),
        (None, None) => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

/// Every double within the range of `i128` has an integral part that it holds exactly.
fn compare_whole(whole: i128, double: f64) -> Option<Ordering> {
    if double.abs() >= i128::MAX as f64 {
        return 0.0.partial_cmp(&double);
    }
    let integral = whole.cmp(&(double.trunc() as i128));
    Some(integral.then(0.0.partial_cmp(&double.fract())?))
}

fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(flag) => out.extend_from_slice(if *flag { b"true" } else { b"false" }),
        Value::Number(number) => out.extend_from_slice(spelled(number).as_bytes()),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_value(out, item);
            }
            out.push(b']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
            out.push(b'{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(out, name);
                out.push(b':');
                write_value(out, value);
            }
            out.push(b'}');
        }
    }
}

/// Beyond it a double no longer tells which integer was meant.
const EXACT: u64 = 1 << 53;

/// A number as ECMAScript spells it (RFC 8785, 3.2.2.3).
fn spelled(number: &Number) -> String {
    if let Some(whole) = number.as_i64().filter(|whole| whole.unsigned_abs() > EXACT) {
        return whole.to_string();
    }
    if let Some(whole) = number.as_u64().filter(|whole| *whole > EXACT) {
        return whole.to_string();
    }
    number.as_f64().map_or_else(|| number.to_string(), double)
}

fn double(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // The shortest digits that read back as the same double, and where the point stands among them. Of two texts that are
    // equally near, `serde_json` takes the even one, as ECMAScript does; the standard library takes the larger one.
    let text = Value::from(value.abs()).to_string();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    let places = |text: &str| i32::try_from(text.len()).unwrap_or(i32::MAX);
    let point = places(whole) - (places(&all) - places(digits)) + exponent.parse::<i32>().unwrap_or_default();
    let digits = digits.trim_end_matches('0');
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", placed(digits, point))
}

/// `digits` with the decimal point after the first `point` of them.
fn placed(digits: &str, point: i32) -> String {
    let length = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    match point {
        _ if length <= point && point <= 21 => format!("{digits}{}", zeros(point - length)),
        1..=21 => {
            let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or_default());
            format!("{whole}.{fraction}")
        }
        -5..=0 => format!("0.{}{digits}", zeros(-point)),
        _ => {
            let (first, rest) = digits.split_at(1);
            let rest = if rest.is_empty() { String::new() } else { format!(".{rest}") };
            format!("{first}{rest}e{:+}", point - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{Equal, Greater, Less};

    use serde_json::Value;

    use super::{canonical, order, same};

    fn of(text: &str) -> String {
        String::from_utf8(canonical(&serde_json::from_str(text).unwrap())).unwrap()
    }

    #[test]
    fn numbers_are_spelled_as_ecmascript_does() {
        for (written, spelled) in [
            ("0", "0"),
            ("-0.0", "0"),
            ("1.0", "1"),
            ("1e0", "1"),
            ("4.50", "4.5"),
            ("2e-3", "0.002"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("1E30", "1e+30"),
            ("1e21", "1e+21"),
            ("1e20", "100000000000000000000"),
            ("333333333.33333329", "333333333.3333333"),
            ("1.5e300", "1.5e+300"),
            ("-12.5", "-12.5"),
            ("5e-324", "5e-324"),
            // Half way between two texts of that length.
            ("1424953923781206.25", "1424953923781206.2"),
            ("9007199254740992", "9007199254740992"),
            ("9007199254740993", "9007199254740993"),
        ] {
            assert_eq!(of(written), spelled, "{written}");
        }
    }

    #[test]
    fn integers_are_compared_by_all_of_their_digits() {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        for (one, other, expected) in [
            ("9007199254740992", "9007199254740993", Some(Less)),
            ("18446744073709551615", "18446744073709551614", Some(Greater)),
            ("-9007199254740993", "-9007199254740992", Some(Less)),
            ("9007199254740992.0", "9007199254740993", Some(Less)),
            ("1", "1.0", Some(Equal)),
            ("-1", "-1.5", Some(Greater)),
            ("1", "1.5", Some(Less)),
            ("1e300", "1", Some(Greater)),
            ("-1e300", "1", Some(Less)),
            ("18446744073709551616", "18446744073709551617", None),
        ] {
            let (a, b) = (read(one), read(other));
            let found = order(a.as_number().unwrap(), b.as_number().unwrap());
            assert_eq!(found, expected, "{one} and {other}");
            assert_eq!(same(&a, &b), matches!(expected, Some(Equal) | None), "{one} and {other}");
        }
    }

    #[test]
    fn members_are_sorted_by_utf16() {
        let text = r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#;
        let expected = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}";
        assert_eq!(of(text), expected);
    }

    #[test]
    fn spelling_and_order_do_not_count_and_values_do() {
        assert_eq!(
            of(r#"{"b":[1.0,{"d":null,"c":"\u0041"}],"a":true}"#),
            of(r#"{"a":true,"b":[1,{"c":"A","d":null}]}"#)
        );
        assert_ne!(of(r#"{"a":1}"#), of(r#"{"a":"1"}"#));
    }
}
