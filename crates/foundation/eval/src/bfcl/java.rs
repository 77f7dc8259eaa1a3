//! Values in Java's syntax. What cannot be read stays a text.

use std::sync::LazyLock;

use regex::Regex;

use super::check::Fault;
use super::numbers::{after_decimal, float, is_end, leading_digits, number, whole};
use crate::python;

/// Sources are converted: texts are owned.
type Py = python::Py<'static>;

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

static AS_LIST: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)"));
static ADDED: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?s)new\s+ArrayList<\w*>\(\)\s*\{\{\s*(.+?)\s*\}\}"));
static ADD: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"add\((.+?)\)"));
static EMPTY_LIST: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"new\s+ArrayList<\w*>\(\)"));
static ARRAY: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"new\s+\w+\[\]\s*\{(.*?)\}"));
static MAP: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?s)new\s+HashMap<.*?>\s*\(\)\s*\{\s*\{?\s*(.*?)\s*\}?\s*\}"));
static PUT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r#"put\("(.*?)",\s*(.*?)\)"#));
static EMPTY_MAP: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"new\s+HashMap<.*?>\s*\(\)"));

/// The first match's first group.
fn first<'t>(pattern: &LazyLock<Option<Regex>>, text: &'t str) -> Option<&'t str> {
    pattern.as_ref()?.captures(text)?.get(1).map(|group| group.as_str())
}

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// A value of the type that a question names.
pub(super) fn convert(text: &str, kind: &str, items: Option<&str>) -> Result<Py, Fault> {
    let source = || Py::Str(text.to_owned().into());
    Ok(match kind {
        "byte" | "short" | "integer" => {
            let (digits, rest) = leading_digits(text);
            let is_number = !digits.is_empty() && is_end(rest);
            is_number.then(|| whole(digits).map(Py::Int)).flatten().unwrap_or_else(source)
        }
        "long" => {
            let (digits, rest) = leading_digits(text);
            let is_long = !digits.is_empty() && rest.strip_prefix(['l', 'L']).is_some_and(is_end);
            is_long.then(|| whole(digits).map(Py::Int)).flatten().unwrap_or_else(source)
        }
        "float" => as_float(text).unwrap_or_else(source),
        "double" => match after_decimal(text, true) {
            Some(rest) if is_end(rest) => float(text).map_or_else(source, Py::Float),
            _ => source(),
        },
        "boolean" => match text {
            "true" => Py::Bool(true),
            "false" => Py::Bool(false),
            _ => source(),
        },
        "char" | "String" | "any" => source(),
        "Array" => array(text, items)?,
        "ArrayList" => array_list(text, items)?,
        "HashMap" => map(text),
        // Set, Hashtable, Queue and Stack are not implemented there.
        _ => return Err(Fault::Raises),
    })
}

/// A number that ends with an F.
fn as_float(text: &str) -> Option<Py> {
    let rest = after_decimal(text, true)?;
    rest.strip_prefix(['f', 'F']).filter(|rest| is_end(rest))?;
    float(text.trim_end().trim_end_matches(['f', 'F'])).map(Py::Float)
}

fn item(text: &str, kind: Option<&str>) -> Result<Py, Fault> {
    match kind {
        // The quotes, or what stands in their place.
        Some("char" | "String") => {
            let mut inner = text.chars();
            inner.next();
            inner.next_back();
            Ok(Py::Str(inner.as_str().to_owned().into()))
        }
        Some(kind) => convert(text, kind, None),
        None => Ok(value(text)),
    }
}

fn array_list(text: &str, items: Option<&str>) -> Result<Py, Fault> {
    if let Some(list) = first(&AS_LIST, text) {
        return list.split(',').map(|one| item(one.trim(), items)).collect::<Result<_, _>>().map(Py::List);
    }
    if let (Some(list), Some(add)) = (first(&ADDED, text), ADD.as_ref()) {
        let added = add.captures_iter(list).filter_map(|found| found.get(1));
        return added.map(|one| item(one.as_str().trim(), items)).collect::<Result<_, _>>().map(Py::List);
    }
    Ok(if matches(&EMPTY_LIST, text) { Py::List(Vec::new()) } else { Py::Str(text.to_owned().into()) })
}

fn array(text: &str, items: Option<&str>) -> Result<Py, Fault> {
    let Some(list) = first(&ARRAY, text) else { return Ok(Py::Str(text.to_owned().into())) };
    let parts = list.split(',').map(str::trim).filter(|part| !part.is_empty());
    let read = |part: &str| items.map_or_else(|| Ok(value(part)), |kind| convert(part, kind, None));
    parts.map(read).collect::<Result<_, _>>().map(Py::List)
}

fn map(text: &str) -> Py {
    let Some(puts) = first(&MAP, text) else {
        return if matches(&EMPTY_MAP, text) { Py::Dict(Vec::new()) } else { Py::Str(text.to_owned().into()) };
    };
    let mut members: Vec<(Py, Py)> = Vec::new();
    for found in PUT.as_ref().into_iter().flat_map(|put| put.captures_iter(puts)) {
        let (name, read) = (Py::Str(found[1].to_owned().into()), value(found[2].trim()));
        match members.iter_mut().find(|(known, _)| *known == name) {
            Some(member) => member.1 = read,
            None => members.push((name, read)),
        }
    }
    Py::Dict(members)
}

/// A value of unknown type.
fn value(text: &str) -> Py {
    match text {
        "true" => return Py::Bool(true),
        "false" => return Py::Bool(false),
        _ => {}
    }
    if text.starts_with('"') && text.ends_with('"') {
        return Py::Str(text.get(1..text.len() - 1).unwrap_or_default().to_owned().into());
    }
    let (digits, rest) = leading_digits(text);
    if !digits.is_empty() && rest.strip_prefix(['l', 'L']).is_some_and(is_end) {
        return whole(digits).map_or_else(|| Py::Str(text.to_owned().into()), Py::Int);
    }
    as_float(text).or_else(|| number(text)).unwrap_or_else(|| Py::Str(text.to_owned().into()))
}
