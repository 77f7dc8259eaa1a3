//! Changes of one value in TOML, by the places that its parser gives.

use std::ops::Range;

use document::FileError;
use serde_json::{Map, Value};
use toml_edit::{Document, Item, Table};

use super::json::position;
use super::{Step, line_break, spliced, toml_inline, unsupported, wrapped};

/// The value of a text.
pub(super) fn read(text: &str) -> Result<Value, FileError> {
    Ok(table_value(parsed(text)?.as_table(), &plain))
}

/// The same, to compare: a time or a number that JSON does not have is no text.
pub(super) fn read_exact(text: &str) -> Result<Value, FileError> {
    Ok(table_value(parsed(text)?.as_table(), &exact))
}

pub(super) fn parsed(text: &str) -> Result<Document<&str>, FileError> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map(|span| position(text, span.start));
        FileError::new(
            at,
            format!("this is no TOML: {}", error.message()),
            "look for a missing quote or bracket here and above",
        )
    })
}

type Plain<'p> = &'p dyn Fn(&toml_edit::Value) -> Value;

fn table_value(table: &Table, plain: Plain<'_>) -> Value {
    table.iter().map(|(key, item)| (key.to_owned(), item_value(item, plain))).collect::<Map<_, _>>().into()
}

fn item_value(item: &Item, plain: Plain<'_>) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Table(table) => table_value(table, plain),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| table_value(table, plain)).collect(),
        Item::Value(value) => value_of(value, plain),
    }
}

fn value_of(value: &toml_edit::Value, plain: Plain<'_>) -> Value {
    match value {
        toml_edit::Value::Array(items) => items.iter().map(|item| value_of(item, plain)).collect(),
        toml_edit::Value::InlineTable(table) => {
            table.iter().map(|(key, value)| (key.to_owned(), value_of(value, plain))).collect::<Map<_, _>>().into()
        }
        value => plain(value),
    }
}

fn plain(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(is) => Value::from(*is.value()),
        // JSON has no times.
        toml_edit::Value::Datetime(time) => Value::from(time.value().to_string()),
        toml_edit::Value::Array(_) | toml_edit::Value::InlineTable(_) => Value::Null,
    }
}

fn exact(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::Datetime(time) => serde_json::json!({ "time": time.value().to_string() }),
        toml_edit::Value::Float(number) if !number.value().is_finite() => {
            serde_json::json!({ "number": number.value().to_string() })
        }
        value => plain(value),
    }
}

/// How many steps lead to a server, which has a header: `[parent.NAME]`.
const SERVER: usize = 2;

/// What a path leads to.
enum Found<'d> {
    /// A table with a header, or one that only its children make.
    Table(&'d Table),
    /// A value after `=`.
    Value(&'d toml_edit::Value),
    /// The tables of a list.
    Tables(&'d toml_edit::ArrayOfTables),
}

/// Puts a value at a place.
pub(super) fn set(text: &str, path: &[Step], value: &Value) -> Result<String, FileError> {
    let document = parsed(text)?;
    let (found, rest) = descend(document.as_table(), path);
    match (found, rest) {
        (Found::Value(old), rest) => {
            let Some((step, inner)) = rest.split_first() else {
                return Ok(spliced(text, old.span().ok_or_else(strange)?, &inline(value)?));
            };
            let new = inline(&wrapped(inner, value))?;
            match (step, old) {
                (Step::Key(key), toml_edit::Value::InlineTable(_)) => {
                    toml_inline::insert(text, old, &format!("{} = {new}", written_key(key)))
                }
                (Step::Item(..), toml_edit::Value::Array(_)) => toml_inline::insert(text, old, &new),
                _ => Err(unsupported("the place for the entry holds a value of another kind")),
            }
        }
        (Found::Table(table), []) => {
            let without = without(text, table);
            set(&without, path, value)
        }
        (found, rest) if path.len() - rest.len() >= SERVER => match (found, rest.split_first()) {
            (Found::Table(table), Some((Step::Key(key), inner))) if !table.is_implicit() && !table.is_dotted() => {
                insert_key(text, table, key, &wrapped(inner, value))
            }
            _ => Err(strange()),
        },
        _ => {
            let (head, inner) = path.split_at(path.len().min(SERVER));
            append(text, document.as_table(), head, &wrapped(inner, value))
        }
    }
}

/// Removes the value at a place.
pub(super) fn remove(text: &str, path: &[Step]) -> Result<String, FileError> {
    let document = parsed(text)?;
    let (found, rest) = descend(document.as_table(), path);
    if !rest.is_empty() {
        return Ok(text.to_owned());
    }
    match found {
        Found::Table(table) => Ok(without(text, table)),
        Found::Tables(_) => Err(strange()),
        Found::Value(value) => {
            let Some((last, way)) = path.split_last() else { return Err(strange()) };
            match (descend(document.as_table(), way).0, last) {
                (Found::Table(table), Step::Key(key)) => {
                    let start = table.key(key).and_then(|key| key.span()).ok_or_else(strange)?.start;
                    let end = value.span().ok_or_else(strange)?.end;
                    Ok(lines_removed(text, start..end, false))
                }
                (Found::Value(parent), step) => {
                    let without = toml_inline::remove(text, parent, step, true)?;
                    let mut expected = table_value(document.as_table(), &exact);
                    super::remove_value(&mut expected, path);
                    // Where the line before ends in a comment, what follows must not get into it.
                    let is_whole = read_exact(&without).is_ok_and(|value| value == expected);
                    if is_whole { Ok(without) } else { toml_inline::remove(text, parent, step, false) }
                }
                _ => Err(strange()),
            }
        }
    }
}

pub(super) fn strange() -> FileError {
    unsupported("the entry is written in a way that proof cannot change")
}

/// Goes as far as the path leads; also gives the steps that are left.
fn descend<'d, 'p>(root: &'d Table, path: &'p [Step]) -> (Found<'d>, &'p [Step]) {
    let mut found = Found::Table(root);
    for (index, step) in path.iter().enumerate() {
        let next = match (&found, step) {
            (Found::Table(table), Step::Key(key)) => table.get(key).and_then(|item| match item {
                Item::Table(table) => Some(Found::Table(table)),
                Item::ArrayOfTables(tables) => Some(Found::Tables(tables)),
                Item::Value(value) => Some(Found::Value(value)),
                Item::None => None,
            }),
            (Found::Value(value), step) => toml_inline::child(value, step).map(Found::Value),
            (Found::Tables(tables), Step::Item(member, name)) => {
                tables.iter().find(|table| table.get(member).and_then(Item::as_str) == Some(name)).map(Found::Table)
            }
            _ => None,
        };
        match next {
            Some(next) => found = next,
            None => return (found, &path[index..]),
        }
    }
    (found, &[])
}

/// The sections of a table and of those in it: each from its header to the end of its last value.
fn sections(table: &Table) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if let Some(header) = table.span().filter(|_| !table.is_implicit() && !table.is_dotted()) {
        found.push(header.start..own_end(table, header.end));
    } else if table.is_dotted() {
        found.extend(table.iter().filter_map(|(key, item)| {
            let start = table.key(key)?.span()?.start;
            Some(start..item.span()?.end)
        }));
    }
    for (_, item) in table {
        match item {
            Item::Table(inner) if !inner.is_dotted() => found.extend(sections(inner)),
            Item::ArrayOfTables(tables) => found.extend(tables.iter().flat_map(sections)),
            _ => {}
        }
    }
    found.sort_by_key(|section| section.start);
    found
}

/// The end of the last value under a table's own header.
fn own_end(table: &Table, header: usize) -> usize {
    let ends = table.iter().filter_map(|(_, item)| match item {
        Item::Value(value) => value.span().map(|span| span.end),
        Item::Table(inner) if inner.is_dotted() => Some(own_end(inner, 0)),
        _ => None,
    });
    ends.max().unwrap_or(header).max(header)
}

/// The text without a table.
fn without(text: &str, table: &Table) -> String {
    let is_dotted = table.is_dotted();
    sections(table).into_iter().rev().fold(text.to_owned(), |text, one| lines_removed(&text, one, !is_dotted))
}

/// The text without whole lines; on request, without the empty line before them.
fn lines_removed(text: &str, range: Range<usize>, with_blank: bool) -> String {
    let mut start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = line_end(text, range.end);
    if with_blank && let Some(before) = one_less(&text[..start]) {
        let is_blank = before.is_empty() || before.ends_with('\n');
        start = if is_blank { before.len() } else { start };
    }
    let next = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    if text[end..next].ends_with('\n') {
        return spliced(text, start..next, "");
    }
    // The last line has no line break: the line before it gives up its own.
    let start = one_less(&text[..start]).map_or(start, str::len);
    spliced(text, start..next, "")
}

fn one_less(text: &str) -> Option<&str> {
    text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text))
}

/// The end of the line, its comment included, without its line break.
fn line_end(text: &str, at: usize) -> usize {
    let line = text[at..].split('\n').next().unwrap_or_default();
    at + line.strip_suffix('\r').unwrap_or(line).len()
}

/// Adds a key under a table's header, after its last own one.
fn insert_key(text: &str, table: &Table, key: &str, value: &Value) -> Result<String, FileError> {
    let header = table.span().ok_or_else(strange)?;
    let at = line_end(text, own_end(table, header.end));
    Ok(spliced(text, at..at, &format!("{}{} = {}", line_break(text), written_key(key), inline(value)?)))
}

/// Adds a section after the last of its family, or at the end.
fn append(text: &str, root: &Table, path: &[Step], value: &Value) -> Result<String, FileError> {
    let end = line_break(text);
    let mut keys = Vec::new();
    let mut is_item = false;
    for step in path {
        match step {
            Step::Key(key) => keys.push(written_key(key)),
            Step::Item(..) => is_item = true,
        }
    }
    let members = value.as_object();
    let lines = match (members, keys.split_last()) {
        (Some(members), _) => {
            let name = keys.join(".");
            let header = if is_item { format!("[[{name}]]") } else { format!("[{name}]") };
            let lines = members.iter().map(|(key, value)| Ok(format!("{} = {}", written_key(key), inline(value)?)));
            std::iter::once(Ok(header)).chain(lines).collect::<Result<Vec<_>, FileError>>()?
        }
        (None, Some((key, []))) => {
            // A plain value of the root stands before all headers.
            return Ok(format!("{key} = {}{end}{text}", inline(value)?));
        }
        _ => return Err(strange()),
    };
    let new = lines.join(end);
    let family = match path.first() {
        Some(Step::Key(key)) => root.get(key),
        _ => None,
    };
    let last = match family {
        Some(Item::Table(table)) => sections(table).last().map(|section| section.end),
        Some(Item::ArrayOfTables(tables)) => {
            tables.iter().flat_map(sections).max_by_key(|section| section.start).map(|section| section.end)
        }
        _ => None,
    };
    Ok(match last.map(|at| line_end(text, at)) {
        Some(at) => spliced(text, at..at, &format!("{end}{end}{new}")),
        None if text.is_empty() => format!("{new}{end}"),
        None if text.ends_with('\n') => format!("{text}{end}{new}{end}"),
        None => format!("{text}{end}{end}{new}"),
    })
}

fn written_key(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { key.to_owned() } else { quoted(key) }
}

/// A text in quotes: JSON's escapes are TOML's, but for two.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

/// A value on one line.
fn inline(value: &Value) -> Result<String, FileError> {
    Ok(match value {
        Value::Null => return Err(strange()),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Result<Vec<_>, _> = items.iter().map(inline).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let members: Result<Vec<_>, FileError> =
                members.iter().map(|(key, value)| Ok(format!("{} = {}", written_key(key), inline(value)?))).collect();
            format!("{{ {} }}", members?.join(", "))
        }
        value => value.to_string(),
    })
}
