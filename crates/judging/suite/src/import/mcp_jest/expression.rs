//! Parses the expectation language of mcp-jest: conditions joined by `&&`. Unlike mcp-jest, it respects quoted texts.

use serde_json::{Value, json};

/// Comparison operators; longer ones come first.
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
/// Methods of texts.
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

/// The right side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Undefined,
    Value(Value),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Predicate {
    /// The answer exists.
    Exists,
    /// A text contains this.
    Contains(String),
    /// A comparison of the value at a path.
    Compares(String, Operator, Literal),
    /// A method of the text at a path.
    TextMatches(String, Method, String),
    /// The value at a path is truthy, or is not.
    Truth(String, bool),
    /// Unsupported, with the reason.
    Unknown(&'static str),
}

/// A condition and its source text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Condition {
    pub(super) text: String,
    pub(super) predicate: Predicate,
}

/// Reads an expectation.
pub(super) fn read(text: &str) -> Vec<Condition> {
    split(text, "&&")
        .into_iter()
        .map(|text| Condition { text: text.to_owned(), predicate: parse_predicate(text) })
        .collect()
}

fn parse_predicate(text: &str) -> Predicate {
    if text.is_empty() {
        return Predicate::Unknown("empty condition");
    }
    if text == "exists" {
        return Predicate::Exists;
    }
    if let Some(part) = text.strip_prefix("contains:") {
        return if part.is_empty() {
            Predicate::Unknown("every text contains the empty text")
        } else {
            Predicate::Contains(part.to_owned())
        };
    }
    if split(text, "||").len() > 1 {
        return Predicate::Unknown("`||` has no counterpart");
    }
    let bare = blank_quoted(text);
    let first = OPERATORS.iter().filter_map(|(sign, operator)| Some((bare.find(sign)?, sign.len(), *operator)));
    if let Some((at, length, operator)) = first.min_by_key(|(at, length, _)| (*at, std::cmp::Reverse(*length))) {
        let (path, value) = (text[..at].trim(), text[at + length..].trim());
        return Predicate::Compares(path.to_owned(), operator, literal(value));
    }
    for (name, method) in METHODS {
        let Some((path, rest)) = text.split_once(name) else { continue };
        let argument = rest.strip_suffix(')').map(str::trim).and_then(quoted);
        return argument.map_or(Predicate::Unknown("invalid expression"), |argument| {
            Predicate::TextMatches(path.trim().to_owned(), method, argument.to_owned())
        });
    }
    match text.strip_prefix('!') {
        Some(path) => Predicate::Truth(path.trim().to_owned(), false),
        None => Predicate::Truth(text.to_owned(), true),
    }
}

/// The text with quoted parts replaced by blanks of the same length. Unmatched quotes are ignored.
fn blank_quoted(text: &str) -> String {
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
    // The replaced parts start and end at quotes, so characters stay whole.
    String::from_utf8(bare).unwrap_or_else(|_| text.to_owned())
}

/// The parts between occurrences of a mark outside of quotes.
fn split<'t>(text: &'t str, mark: &str) -> Vec<&'t str> {
    let bare = blank_quoted(text);
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
