//! mcp-jest's language of expectations as what it says: conditions joined by `&&`. Quoted texts are told from the rest, which
//! mcp-jest itself does not do.

use serde_json::{Value, json};

/// How two values may compare. The longer are looked for first.
const OPERATORS: [(&str, Operator); 8] = [
    ("===", Operator::Same),
    ("!==", Operator::NotSame),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    (">", Operator::Above),
    ("<", Operator::Below),
];
/// What may be asked of a text.
const METHODS: [(&str, Method); 3] =
    [(".includes(", Method::Includes), (".startsWith(", Method::Begins), (".endsWith(", Method::Ends)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Same,
    NotSame,
    Equal,
    Unequal,
    AtLeast,
    AtMost,
    Above,
    Below,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Includes,
    Begins,
    Ends,
}

/// What a comparison compares with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Undefined,
    Value(Value),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    /// There is an answer.
    Exists,
    /// A text has this in it.
    Contains(String),
    /// What a path leads to compares so.
    Compares(String, Operator, Literal),
    /// The text at a path has this in it, begins or ends with it.
    Asks(String, Method, String),
    /// What a path leads to counts as true, or does not.
    Truth(String, bool),
    /// Nothing that we know.
    Unknown(&'static str),
}

/// A condition, and how it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Condition {
    pub(super) text: String,
    pub(super) said: Said,
}

/// Reads an expectation.
pub(super) fn read(text: &str) -> Vec<Condition> {
    split(text, "&&").into_iter().map(|text| Condition { text: text.to_owned(), said: said(text) }).collect()
}

fn said(text: &str) -> Said {
    if text.is_empty() {
        return Said::Unknown("it says nothing");
    }
    if text == "exists" {
        return Said::Exists;
    }
    if let Some(part) = text.strip_prefix("contains:") {
        return if part.is_empty() {
            Said::Unknown("every text contains nothing")
        } else {
            Said::Contains(part.to_owned())
        };
    }
    if split(text, "||").len() > 1 {
        return Said::Unknown("`||` has no counterpart");
    }
    let bare = unquoted(text);
    let first = OPERATORS.iter().filter_map(|(sign, operator)| Some((bare.find(sign)?, sign.len(), *operator)));
    if let Some((at, length, operator)) = first.min_by_key(|(at, length, _)| (*at, std::cmp::Reverse(*length))) {
        let (path, value) = (text[..at].trim(), text[at + length..].trim());
        return Said::Compares(path.to_owned(), operator, literal(value));
    }
    for (name, method) in METHODS {
        let Some((path, rest)) = text.split_once(name) else { continue };
        let argument = rest.strip_suffix(')').map(str::trim).and_then(quoted);
        return argument.map_or(Said::Unknown("it cannot be read"), |argument| {
            Said::Asks(path.trim().to_owned(), method, argument.to_owned())
        });
    }
    match text.strip_prefix('!') {
        Some(path) => Said::Truth(path.trim().to_owned(), false),
        None => Said::Truth(text.to_owned(), true),
    }
}

/// A text with what stands between quotes made blank, byte for byte. Quotes that do not match are none.
fn unquoted(text: &str) -> String {
    let mut bare = text.as_bytes().to_vec();
    let mut open: Option<(usize, u8)> = None;
    for (at, byte) in text.bytes().enumerate() {
        match open {
            None if matches!(byte, b'"' | b'\'') => open = Some((at, byte)),
            Some((from, quote)) if quote == byte => {
                bare[from..=at].fill(b' ');
                open = None;
            }
            _ => {}
        }
    }
    // What is replaced begins and ends at quotes: whole characters.
    String::from_utf8(bare).unwrap_or_else(|_| text.to_owned())
}

/// The parts between a mark that stands outside of quotes.
fn split<'t>(text: &'t str, mark: &str) -> Vec<&'t str> {
    let bare = unquoted(text);
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, _) in bare.match_indices(mark) {
        parts.push(text[from..at].trim());
        from = at + mark.len();
    }
    parts.push(text[from..].trim());
    parts
}

fn quoted(text: &str) -> Option<&str> {
    ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
}

fn literal(text: &str) -> Literal {
    if let Some(inner) = quoted(text) {
        return Literal::Value(json!(inner));
    }
    let number = text.starts_with(|c: char| c == '-' || c.is_ascii_digit()).then(|| text.parse::<serde_json::Number>());
    match (text, number) {
        ("undefined", _) => Literal::Undefined,
        ("null", _) => Literal::Value(Value::Null),
        ("true" | "false", _) => Literal::Value(json!(text == "true")),
        (_, Some(Ok(number))) => Literal::Value(Value::Number(number)),
        _ => Literal::Value(json!(text)),
    }
}
