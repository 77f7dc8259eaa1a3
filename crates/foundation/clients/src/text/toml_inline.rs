//! One child into or out of `{ … }` or `[ … ]` of TOML: the other children and all comments stay as they are written.

use std::ops::Range;

use document::FileError;
use toml_edit::Value;

use super::brackets::{Brackets, before_close, leading};
use super::toml::strange;
use super::{Step, line_break, spliced};

/// The number of the child that a step leads to.
pub(super) fn index(value: &Value, step: &Step) -> Option<usize> {
    match (value, step) {
        (Value::InlineTable(table), Step::Key(key)) => table.iter().position(|(known, _)| known == key),
        (Value::Array(items), Step::Item(member, name)) => items.iter().position(|item| {
            let text = item.as_inline_table().and_then(|table| table.get(member)).and_then(Value::as_str);
            text == Some(name)
        }),
        _ => None,
    }
}

/// The child that a step leads to.
pub(super) fn child<'v>(value: &'v Value, step: &Step) -> Option<&'v Value> {
    let index = index(value, step)?;
    match value {
        Value::InlineTable(table) => table.iter().nth(index).map(|(_, value)| value),
        Value::Array(items) => items.get(index),
        _ => None,
    }
}

/// The text with a child more, as it is to be written.
pub(super) fn insert(text: &str, value: &Value, new: &str) -> Result<String, FileError> {
    let Brackets { inside, children, .. } = brackets(value)?;
    let Some((first, last)) = children.first().zip(children.last()) else {
        return Ok(spliced(text, inside.end..inside.end, new));
    };
    let comma = comma(text, last.end);
    let end = comma.map_or(last.end, |at| at + 1);
    if !text[inside.start..first.start].contains('\n') {
        let new = if comma.is_some() { format!(" {new},") } else { format!(", {new}") };
        return Ok(spliced(text, end..end, &new));
    }
    let indent = leading(text, first.start).unwrap_or("  ");
    let at = before_close(text, end, inside.end);
    let after = if comma.is_some() { "," } else { "" };
    let text = spliced(text, at..at, &format!("{}{indent}{new}{after}", line_break(text)));
    Ok(if comma.is_some() { text } else { spliced(&text, last.end..last.end, ",") })
}

/// The text without a child; `joins_lines` as in [`Brackets::without`].
pub(super) fn remove(text: &str, value: &Value, step: &Step, joins_lines: bool) -> Result<String, FileError> {
    let index = index(value, step).ok_or_else(strange)?;
    Ok(brackets(value)?.without(text, index, joins_lines))
}

fn brackets(value: &Value) -> Result<Brackets, FileError> {
    let span = value.span().ok_or_else(strange)?;
    let children: Option<Vec<Range<usize>>> = match value {
        Value::InlineTable(table) if !table.is_dotted() => {
            table.iter().map(|(key, value)| Some(table.key(key)?.span()?.start..value.span()?.end)).collect()
        }
        Value::Array(items) => items.iter().map(Value::span).collect(),
        _ => None,
    };
    let children = children.filter(|all| all.is_sorted_by(|one, next| one.end <= next.start)).ok_or_else(strange)?;
    Ok(Brackets { inside: span.start + 1..span.end - 1, children, comma, comment: "#" })
}

/// The comma after a value, behind comments.
fn comma(text: &str, mut at: usize) -> Option<usize> {
    loop {
        let rest = text.get(at..)?;
        match rest.as_bytes().first()? {
            b',' => return Some(at),
            b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            b'#' => at += rest.find('\n')?,
            _ => return None,
        }
    }
}
