//! Values in JavaScript's syntax. What cannot be read stays a text.

use std::sync::LazyLock;

use regex::Regex;

use super::check::Fault;
use super::numbers::{after_decimal, float, is_end, leading_digits, number, whole};
use crate::python;

/// Sources are converted: texts are owned.
type Py = python::Py<'static>;

/// How deep dicts are read.
const DEEPEST: usize = 32;

static NESTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let list = r"\[\s*\[.*?\]\s*(?:,\s*\[.*?\]\s*)*\]";
    let new = r"\bnew\s+Array\(\s*\[.*?\]\s*(?:,\s*\[.*?\]\s*)*\)";
    Regex::new(&format!("^(?:{list}|{new})")).ok()
});
static INNER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[(.*?)\]").ok());
static FLAT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^(?:\[(.*?)\]|\bnew\s+Array\((.*?)\))").ok());
static DICT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\{(.*?)\}").ok());

/// A value of the type that a question names.
pub(super) fn convert(text: &str, kind: &str, items: Option<&str>) -> Result<Py, Fault> {
    let source = || Py::Str(text.to_owned().into());
    Ok(match kind {
        "String" => unquoted(text).unwrap_or_else(source),
        "integer" => {
            let (digits, rest) = leading_digits(text);
            let is_number = !digits.is_empty() && is_end(rest);
            is_number.then(|| whole(digits).map(Py::Int)).flatten().unwrap_or_else(source)
        }
        "float" => match after_decimal(text, false) {
            Some(rest) if is_end(rest) => float(text).map_or_else(source, Py::Float),
            _ => source(),
        },
        "Bigint" => {
            let (digits, rest) = leading_digits(text);
            let is_big = !digits.is_empty() && rest.strip_prefix('n').is_some_and(is_end);
            is_big.then(|| whole(digits).map(Py::Int)).flatten().unwrap_or_else(source)
        }
        "Boolean" => match text {
            "true" => Py::Bool(true),
            "false" => Py::Bool(false),
            _ => source(),
        },
        "any" => source(),
        "dict" => dict(text.trim(), DEEPEST),
        "array" => array(text.trim(), items, DEEPEST),
        _ => return Err(Fault::Raises),
    })
}

/// A text in quotes of one kind, without them; a lone quote is both its own beginning and end.
fn unquoted(text: &str) -> Option<Py> {
    let is_quoted = ['"', '\''].iter().any(|quote| text.starts_with(*quote) && text.ends_with(*quote));
    is_quoted.then(|| Py::Str(text.get(1..text.len() - 1).unwrap_or_default().to_owned().into()))
}

fn array(code: &str, items: Option<&str>, room: usize) -> Py {
    let source = || Py::Str(code.to_owned().into());
    if let (Some(whole), Some(inner)) = (NESTED.as_ref().and_then(|nested| nested.find(code)), INNER.as_ref()) {
        let lists = inner.captures_iter(whole.as_str()).enumerate().filter_map(|(at, found)| Some((at, found.get(1)?)));
        let read = |(at, list): (usize, regex::Match<'_>)| {
            let list = list.as_str().trim();
            let list = if at == 0 { list.strip_prefix('[').unwrap_or(list) } else { list };
            Py::List(list.split(',').map(|one| value(one.trim())).collect())
        };
        return Py::List(lists.map(read).collect());
    }
    let Some(found) = FLAT.as_ref().and_then(|flat| flat.captures(code)) else { return source() };
    let list = found.get(1).or_else(|| found.get(2)).map_or("", |list| list.as_str().trim());
    let parts = list.split(',').map(str::trim).filter(|_| !list.is_empty());
    let read = |part: &str| match items {
        None => Some(value(part)),
        Some("dict") => Some(dict(part, room.saturating_sub(1))),
        Some("array") => Some(array(part, None, room.saturating_sub(1))),
        Some(kind) => convert(part, kind, None).ok(),
    };
    parts.map(read).collect::<Option<_>>().map_or_else(source, Py::List)
}

fn dict(code: &str, room: usize) -> Py {
    if code == "{}" {
        return Py::Dict(Vec::new());
    }
    let content = DICT.as_ref().and_then(|dict| dict.captures(code)).and_then(|found| found.get(1));
    let Some(content) = content.filter(|_| room > 0) else { return Py::Str(code.to_owned().into()) };
    let mut members: Vec<(Py, Py)> = Vec::new();
    for (key, text) in pairs(content.as_str()) {
        let quotes = ['\'', '"'];
        let (key, text) = (Py::Str(key.trim().trim_matches(quotes).to_owned().into()), text.trim());
        let read = if text.starts_with('[') && text.ends_with(']') {
            array(text, None, room - 1)
        } else if text.starts_with('{') && text.ends_with('}') {
            dict(text, room - 1)
        } else {
            value(text.trim_matches(quotes))
        };
        match members.iter_mut().find(|(known, _)| *known == key) {
            Some(member) => member.1 = read,
            None => members.push((key, read)),
        }
    }
    Py::Dict(members)
}

/// `key: value` by `key: value`: a value reaches to the first comma that another key follows, or to the end of the text.
fn pairs(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let Some(colon) = text[at..].find(':').map(|colon| at + colon) else { break };
        if colon == at {
            at += 1;
            continue;
        }
        let key = &text[at..colon];
        let start = colon + 1 + (text[colon + 1..].len() - text[colon + 1..].trim_start().len());
        match end_of_value(text, start) {
            Some((end, next)) => {
                found.push((key, &text[start..end]));
                at = next;
            }
            None => at += text[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    found
}

/// Where the value that begins at `start` ends, and where the next pair begins; `None` where a line ends before.
fn end_of_value(text: &str, start: usize) -> Option<(usize, usize)> {
    for (offset, c) in text[start..].char_indices() {
        let end = start + offset;
        if c == ',' {
            let rest = &text[end + 1..];
            let spaces = rest.len() - rest.trim_start().len();
            let starts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]).take_while(|at| *at <= spaces);
            if let Some(skipped) = starts.collect::<Vec<_>>().into_iter().rev().find(|at| key_follows(&rest[*at..])) {
                return Some((end, end + 1 + skipped));
            }
        }
        if c == '\n' {
            return (end + 1 == text.len()).then_some((end, end));
        }
    }
    Some((text.len(), text.len()))
}

/// Whether a colon stands before the next comma, and not first.
fn key_follows(text: &str) -> bool {
    let part = text.split(',').next().unwrap_or_default();
    part.rfind(':').is_some_and(|colon| colon > 0)
}

/// A value of unknown type.
fn value(text: &str) -> Py {
    let text = text.trim();
    match text {
        "true" => return Py::Bool(true),
        "false" => return Py::Bool(false),
        _ => {}
    }
    unquoted(text).or_else(|| number(text)).unwrap_or_else(|| Py::Str(text.to_owned().into()))
}
