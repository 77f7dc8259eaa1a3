//! What a plain scalar stands for: the core schema of YAML 1.2 (10.3.2), as far as JSON has it.

use serde_json::Number;

use super::tree::Content;

/// A scalar without quotes. `Err` says what it would be that JSON has not.
pub fn plain(text: &str) -> Result<Content, &'static str> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Content::Null,
        "true" | "True" | "TRUE" => Content::Bool(true),
        "false" | "False" | "FALSE" => Content::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Err("no number"),
        _ if matches!(text.trim_start_matches(['+', '-']), ".inf" | ".Inf" | ".INF") => {
            return Err("an endless number");
        }
        _ => match number(text) {
            Some(Ok(number)) => Content::Number(number),
            Some(Err(TooLarge)) => return Err("a number too large"),
            None => Content::Text(text.to_owned()),
        },
    })
}

/// A number, but none that readers of JSON can hold.
struct TooLarge;

/// A number, where the text is one.
fn number(text: &str) -> Option<Result<Number, TooLarge>> {
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if !is_decimal(text) {
        return None;
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    if let Ok(number) = text.parse::<i64>() {
        return Some(Ok(number.into()));
    }
    if let Ok(number) = text.parse::<u64>() {
        return Some(Ok(number.into()));
    }
    Some(text.parse::<f64>().ok().and_then(Number::from_f64).ok_or(TooLarge))
}

fn radix(digits: &str, radix: u32) -> Option<Result<Number, TooLarge>> {
    let all = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    all.then(|| u64::from_str_radix(digits, radix).map(Number::from).map_err(|_| TooLarge))
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_decimal(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(m, e)| (m, Some(e)));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = mantissa.split_once('.').map_or((mantissa, None), |(w, p)| (w, Some(p)));
    let mantissa = digits(whole) && part.is_none_or(digits) && !(whole.is_empty() && part.is_none_or(str::is_empty));
    mantissa
        && exponent.is_none_or(|exponent| {
            let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            !exponent.is_empty() && digits(exponent)
        })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tree::Node;
    use super::plain;

    #[test]
    fn scalars_are_what_the_core_schema_says() {
        let value = |text| Node::bare(plain(text).unwrap()).to_value();
        for (text, expected) in [
            ("", Value::Null),
            ("~", Value::Null),
            ("true", json!(true)),
            ("yes", json!("yes")),
            ("No", json!("No")),
            ("12", json!(12)),
            ("-3", json!(-3)),
            ("+3", json!(3)),
            ("0o17", json!(15)),
            ("017", json!(17)),
            ("0xfF", json!(255)),
            ("1.5e2", json!(150.0)),
            (".5", json!(0.5)),
            ("1.", json!(1.0)),
            (".", json!(".")),
            ("1e", json!("1e")),
            ("-", json!("-")),
            ("1.2.3", json!("1.2.3")),
            ("0x", json!("0x")),
            ("18446744073709551615", json!(u64::MAX)),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
        for text in [".inf", "-.INF", ".nan", "1e999", "0xfffffffffffffffff"] {
            assert!(plain(text).is_err(), "{text}");
        }
    }
}
