//! Strict reading of JSON that is digested or signed: two readers must not see two values in one text. Must not know what
//! the value means.

use std::fmt;

use serde_json::{Map, Number, Value};
use wire::json::{self, Token, Tokens, duplicate_name};

/// The longest text that is read, in bytes.
pub const LONGEST: usize = 32 << 20;

/// Beyond it, a double no longer holds every integer.
const EXACT: u64 = (1 << 53) - 1;

/// How large integers may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integers {
    /// Up to 64 bits, with all their digits: JSON Schemas of 64-bit types have such bounds.
    Digits,
    /// Up to 2^53 - 1, as I-JSON (RFC 7493, 2.2) demands of documents that are signed.
    Doubles,
}

/// Why a text is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Byte offset into the text.
    pub at: usize,
    /// What is wrong there.
    pub why: Why,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is not JSON, or nested too deep.
    Syntax(json::Why),
    /// A name is repeated in one object, or reserved by the reader.
    Repeated(String),
    /// Half of a surrogate pair, which is no character.
    Surrogate,
    /// A number that no double holds, even rounded.
    TooLarge,
    /// An integer with more digits than are kept.
    Integer,
    /// More than [`LONGEST`] bytes.
    TooLong,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            Why::Syntax(why) => write!(f, "{why}")?,
            Why::Repeated(name) => write!(f, "the name `{name}` is repeated in one object")?,
            Why::Surrogate => f.write_str("half of a surrogate pair in a string")?,
            Why::TooLarge => f.write_str("number out of range")?,
            Why::Integer => f.write_str("integer with more digits than a reader keeps")?,
            Why::TooLong => return write!(f, "more than {} MiB", LONGEST >> 20),
        }
        write!(f, " at byte {}", self.at)
    }
}

impl std::error::Error for Unreadable {}

/// An object or array that is not closed yet.
enum Open {
    Object(Map<String, Value>, String),
    Array(Vec<Value>),
}

/// The value of `text`.
pub fn read(text: &str, integers: Integers) -> Result<Value, Unreadable> {
    if text.len() > LONGEST {
        return Err(Unreadable { at: LONGEST, why: Why::TooLong });
    }
    let mut tokens = Tokens::new(text);
    let mut open: Vec<Open> = Vec::new();
    let mut whole = None;
    loop {
        let next = tokens.next_token().map_err(|fault| Unreadable { at: fault.at, why: Why::Syntax(fault.why) })?;
        let Some((token, span)) = next else { break };
        let fault = |why| Unreadable { at: span.start, why };
        let written = &text[span.clone()];
        let value = match token {
            Token::ObjectStart => {
                open.push(Open::Object(Map::new(), String::new()));
                continue;
            }
            Token::ArrayStart => {
                open.push(Open::Array(Vec::new()));
                continue;
            }
            Token::Name => {
                let read = serde_json::from_str(written).map_err(|_| fault(Why::Surrogate))?;
                if let Some(Open::Object(_, name)) = open.last_mut() {
                    *name = read;
                }
                continue;
            }
            Token::ObjectEnd | Token::ArrayEnd => match open.pop() {
                Some(Open::Object(members, _)) => Value::Object(members),
                Some(Open::Array(items)) => Value::Array(items),
                None => continue,
            },
            Token::String => Value::String(serde_json::from_str(written).map_err(|_| fault(Why::Surrogate))?),
            Token::Number => Value::Number(number(written, integers).map_err(fault)?),
            Token::Bool => Value::Bool(written == "true"),
            Token::Null => Value::Null,
        };
        match open.last_mut() {
            Some(Open::Object(members, name)) => {
                members.insert(std::mem::take(name), value);
            }
            Some(Open::Array(items)) => items.push(value),
            None => whole = Some(value),
        }
    }
    if let Some(repeated) = duplicate_name(text) {
        return Err(Unreadable { at: repeated.at, why: Why::Repeated(repeated.name) });
    }
    whole.ok_or(Unreadable { at: 0, why: Why::Syntax(json::Why::Ends) })
}

/// A number, correctly rounded, or an integer with its digits.
fn number(written: &str, integers: Integers) -> Result<Number, Why> {
    let double = || {
        let double: f64 = written.parse().map_err(|_| Why::TooLarge)?;
        Number::from_f64(double).ok_or(Why::TooLarge)
    };
    if written.contains(['.', 'e', 'E']) {
        return double();
    }
    let signed = || written.parse::<i64>().map(|whole| (Number::from(whole), whole.unsigned_abs()));
    let whole = written.parse::<u64>().map(|whole| (Number::from(whole), whole)).or_else(|_| signed());
    match (whole, integers) {
        (Ok((number, size)), _) if size <= EXACT => Ok(number),
        (_, Integers::Doubles) => Err(Why::Integer),
        (Ok((number, _)), Integers::Digits) => Ok(number),
        (Err(_), Integers::Digits) => {
            let number = double()?;
            // Written with all digits of the double, or as its canonical text has it: nothing that was written is lost.
            let exact = number.as_f64().map(|double| format!("{double:.0}"));
            let is_kept = exact.as_deref() == Some(written) || is_canonical(&number, written);
            if is_kept { Ok(number) } else { Err(Why::Integer) }
        }
    }
}

fn is_canonical(number: &Number, written: &str) -> bool {
    json::canonical(&Value::Number(number.clone())) == written.as_bytes()
}

#[cfg(test)]
mod tests {
    use wire::json::canonical;

    use super::{Integers, Why, read};

    fn why(text: &str, integers: Integers) -> Why {
        read(text, integers).expect_err(text).why
    }

    #[test]
    fn texts_that_readers_may_differ_over_are_refused() {
        for text in [r#"{"a":1,"a":2}"#, r#"[{"b":{"x":1,"\u0078":1}}]"#, r#"{"$serde_json::private::Number":"1"}"#] {
            assert!(matches!(why(text, Integers::Digits), Why::Repeated(_)), "{text}");
        }
        for text in [r#""\ud800""#, r#"{"\udc00":1}"#, r#"["\ud83d\u0041"]"#] {
            assert_eq!(why(text, Integers::Digits), Why::Surrogate, "{text}");
        }
        for text in ["", "{", "[1,]", "nul", "1 2", "'a'", "{\"a\":NaN}", "01", "\u{feff}{}", &"[".repeat(200)] {
            assert!(matches!(why(text, Integers::Digits), Why::Syntax(_)), "{text}");
        }
        assert_eq!(why("1e400", Integers::Digits), Why::TooLarge);
    }

    #[test]
    fn integers_keep_their_digits_or_are_refused() {
        for (text, kept) in [
            ("18446744073709551615", true),
            ("-9223372036854775808", true),
            // Exactly 2^64, which a double holds.
            ("18446744073709551616", true),
            ("18446744073709551617", false),
            ("-9223372036854775809", false),
        ] {
            assert_eq!(read(text, Integers::Digits).is_ok(), kept, "{text}");
            assert_eq!(why(text, Integers::Doubles), Why::Integer, "{text}");
        }
        assert!(read("9007199254740991", Integers::Doubles).is_ok());
        assert_eq!(why("9007199254740992", Integers::Doubles), Why::Integer);
        let texts = ["9223372036854775807", "9223372036854775806"].map(|text| {
            let value = read(text, Integers::Digits).expect("a number");
            String::from_utf8(canonical(&value)).expect("UTF-8")
        });
        assert_eq!(texts, ["9223372036854775807", "9223372036854775806"]);
    }
}
