//! How a header carries a value of the body: plain where it can, else Base64 between two markers (2026-07-28,
//! basic/transports/streamable-http#value-encoding).

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Number, Value};

const OPENING: &str = "=?base64?";
const CLOSING: &str = "?=";

/// Between the markers is no Base64, or the Base64 is not UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSentinel;

impl fmt::Display for BadSentinel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("between `=?base64?` and `?=` stands no Base64 of a UTF-8 text")
    }
}

impl std::error::Error for BadSentinel {}

/// The text between the markers. They may not overlap: `=?base64?=` has none.
fn inner(value: &str) -> Option<&str> {
    value.strip_prefix(OPENING)?.strip_suffix(CLOSING)
}

/// Whether only visible ASCII, spaces and tabs are in `value`, and neither space nor tab at an end.
pub fn is_safe_value(value: &str) -> bool {
    value.bytes().all(|b| matches!(b, b'\t' | b' '..=b'~')) && value.trim_matches([' ', '\t']) == value
}

/// `text` as a header value. A text that merely looks encoded is encoded too, so that reading is never in doubt.
pub fn encode_value(text: &str) -> Cow<'_, str> {
    // The page speaks of the markers as a prefix and a suffix, so a text in which they overlap looks encoded as well.
    let looks_encoded = text.starts_with(OPENING) && text.ends_with(CLOSING);
    if is_safe_value(text) && !looks_encoded {
        return Cow::Borrowed(text);
    }
    Cow::Owned(encode_always(text))
}

/// `text` in the encoded form, needed or not.
pub fn encode_always(text: &str) -> String {
    format!("{OPENING}{}{CLOSING}", BASE64.encode(text))
}

/// The text that a header value stands for. The markers are case-sensitive; other values stand for themselves.
pub fn decode_value(value: &str) -> Result<Cow<'_, str>, BadSentinel> {
    let Some(inner) = inner(value) else { return Ok(Cow::Borrowed(value)) };
    let bytes = BASE64.decode(inner).map_err(|_| BadSentinel)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| BadSentinel)
}

/// The text of a value of the body before it is encoded: strings as they are, integers in decimal, booleans by name.
/// `None` for anything that no header mirrors.
pub(super) fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => integer(number),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn integer(number: &Number) -> Option<String> {
    if !number.is_f64() {
        return Some(number.to_string());
    }
    // Beyond 2^53 a float no longer tells which integer was meant.
    let float = number.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 9_007_199_254_740_992.0)?;
    Some((float as i64).to_string())
}

/// Whether a header value says what `value` in the body says: decoded first, numbers compared as numbers.
pub fn says(header: &str, value: &Value) -> bool {
    let Ok(decoded) = decode_value(header) else { return false };
    match value {
        Value::Number(number) => {
            let same_text = integer(number).is_some_and(|text| text == decoded);
            let written = serde_json::from_str::<Number>(&decoded).ok();
            same_text || written.is_some_and(|w| w.as_f64() == number.as_f64() && integer(&w) == integer(number))
        }
        _ => plain_text(value).is_some_and(|text| text == decoded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_encoded_only_where_they_must() {
        for (text, value) in [
            ("eu-north2", "eu-north2"),
            ("", ""),
            ("a\tb c~", "a\tb c~"),
            ("Grüße, 世界", "=?base64?R3LDvMOfZSwg5LiW55WM?="),
            (" edge ", "=?base64?IGVkZ2Ug?="),
            ("\tedge", "=?base64?CWVkZ2U=?="),
            ("one\r\ntwo", "=?base64?b25lDQp0d28=?="),
            ("del\u{7f}", "=?base64?ZGVsfw==?="),
            ("=?base64?plain?=", "=?base64?PT9iYXNlNjQ/cGxhaW4/PQ==?="),
            ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
            ("=?BASE64?plain?=", "=?BASE64?plain?="),
            ("=?base64?open", "=?base64?open"),
        ] {
            assert_eq!(encode_value(text), value, "{text:?}");
            assert_eq!(decode_value(value).as_deref(), Ok(text), "{value}");
        }
    }

    #[test]
    fn markers_around_no_base64_are_refused() {
        assert_eq!(decode_value("=?base64?a b?="), Err(BadSentinel));
        assert_eq!(decode_value("=?base64?YQ?="), Err(BadSentinel), "padding is part of Base64");
        assert_eq!(decode_value("=?base64?/w==?="), Err(BadSentinel), "not UTF-8");
        assert_eq!(decode_value("=?base64??=").as_deref(), Ok(""));
        assert_eq!(decode_value("=?base64?=").as_deref(), Ok("=?base64?="), "the markers overlap");
    }

    #[test]
    fn headers_say_what_the_body_says() {
        for (header, value) in [
            ("42", json!(42)),
            ("42.0", json!(42)),
            ("42", json!(42.0)),
            ("=?base64?NDI=?=", json!(42)),
            ("-7", json!(-7)),
            ("true", json!(true)),
            ("=?base64?SGkh?=", json!("Hi!")),
            ("9007199254740991", json!(9_007_199_254_740_991_i64)),
        ] {
            assert!(says(header, &value), "{header} and {value}");
        }
        for (header, value) in [
            ("43", json!(42)),
            ("42", json!("43")),
            ("True", json!(true)),
            ("null", json!(null)),
            ("hi", json!("Hi")),
            ("9007199254740993", json!(9_007_199_254_740_992_i64)),
            ("=?base64?!?=", json!("=?base64?!?=")),
        ] {
            assert!(!says(header, &value), "{header} and {value}");
        }
    }
}
