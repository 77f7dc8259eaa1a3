//! Changes of one value in JSON with comments.

use document::FileError;
use serde_json::Value;

use super::brackets::{Brackets, before_close, leading, line_indent};
use super::json::{self, Kind, Node, position};
use super::render::{Manner, compact, member, pretty};
use super::{Step, line_break, spliced, unsupported, wrapped};

/// Puts a value at a place.
pub(super) fn set(text: &str, path: &[Step], value: &Value) -> Result<String, FileError> {
    let Some(root) = json::tree(text)? else {
        let manner = Manner { unit: "  ", line_break: line_break(text) };
        let new = pretty(&wrapped(path, value), "", &manner);
        let between = if text.is_empty() || text.ends_with('\n') { "" } else { manner.line_break };
        return Ok(format!("{text}{between}{new}{}", manner.line_break));
    };
    let (found, rest) = descend(text, &root, path)?;
    let Some((step, inner)) = rest.split_first() else {
        let manner = Manner { unit: unit(text, &root), line_break: line_break(text) };
        let new = if is_inline(text, found) { compact(value) } else { pretty(value, indent(text, found), &manner) };
        return Ok(spliced(text, found.span.clone(), &new));
    };
    if matches!(found.kind, Kind::Scalar(Value::Null)) {
        let manner = Manner { unit: unit(text, &root), line_break: line_break(text) };
        return Ok(spliced(text, found.span.clone(), &pretty(&wrapped(rest, value), indent(text, found), &manner)));
    }
    let key = match (step, &found.kind) {
        (Step::Key(key), Kind::Object(_)) => Some(key.as_str()),
        (Step::Item(..), Kind::List(_)) => None,
        _ => return Err(misfit(text, found)),
    };
    Ok(insert(text, &root, found, key, &wrapped(inner, value)))
}

/// Removes the value at a place; one that is missing is no error.
pub(super) fn remove(text: &str, path: &[Step]) -> Result<String, FileError> {
    let Some(root) = json::tree(text)? else { return Ok(text.to_owned()) };
    let Some((last, way)) = path.split_last() else { return Ok(text.to_owned()) };
    let (parent, rest) = descend(text, &root, way)?;
    if !rest.is_empty() {
        return Ok(text.to_owned());
    }
    let Some(index) = child(text, parent, last)? else { return Ok(text.to_owned()) };
    let without = removed(text, parent, index, true);
    let mut expected = root.value();
    super::remove_value(&mut expected, path);
    // Where the line before ends in a comment, what follows must not get into it.
    let is_whole = json::read(&without).is_ok_and(|value| value == expected);
    Ok(if is_whole { without } else { removed(text, parent, index, false) })
}

/// Goes as far as the path leads; also gives the steps that are left.
fn descend<'n, 'p>(text: &str, root: &'n Node, path: &'p [Step]) -> Result<(&'n Node, &'p [Step]), FileError> {
    let mut node = root;
    for (index, step) in path.iter().enumerate() {
        match child(text, node, step)? {
            Some(child) => node = children(node)[child].1,
            None => return Ok((node, &path[index..])),
        }
    }
    Ok((node, &[]))
}

/// The number of the child that a step leads to. Two members with one name are an error: it is unknown which is meant.
fn child(text: &str, node: &Node, step: &Step) -> Result<Option<usize>, FileError> {
    match (step, &node.kind) {
        (Step::Key(key), Kind::Object(members)) => {
            let mut found = members.iter().enumerate().filter(|(_, member)| member.key == *key);
            let first = found.next().map(|(index, _)| index);
            match found.next() {
                Some((_, second)) => {
                    let what = format!("the name {} stands twice", document::quoted(key));
                    Err(FileError::new(position(text, second.start), what, "remove one of them"))
                }
                None => Ok(first),
            }
        }
        (Step::Item(member, name), Kind::List(items)) => {
            Ok(items.iter().position(|item| item.value()[*member] == *name.as_str()))
        }
        (_, Kind::Scalar(Value::Null)) => Ok(None),
        _ => Err(misfit(text, node)),
    }
}

fn misfit(text: &str, node: &Node) -> FileError {
    let error = unsupported("the place for the entry holds a value of another kind");
    FileError { at: Some(position(text, node.span.start)), ..error }
}

/// Where each child begins, and its value.
fn children(node: &Node) -> Vec<(usize, &Node)> {
    match &node.kind {
        Kind::Object(members) => members.iter().map(|member| (member.start, &member.node)).collect(),
        Kind::List(items) => items.iter().map(|item| (item.span.start, item)).collect(),
        Kind::Scalar(_) => Vec::new(),
    }
}

/// Adds a child at the end.
fn insert(text: &str, root: &Node, node: &Node, key: Option<&str>, value: &Value) -> String {
    let manner = Manner { unit: unit(text, root), line_break: line_break(text) };
    let named = |text: String| key.map_or_else(|| text.clone(), |key| member(key, &text));
    let all = children(node);
    let close = node.span.end - 1;
    let Some((first, last)) = all.first().zip(all.last()) else {
        return insert_first(text, node, &manner, key, value);
    };
    let last_end = last.1.span.end;
    let comma = comma(text, last_end);
    if is_inline(text, node) {
        let new = named(compact(value));
        let end = comma.map_or(last_end, |at| at + 1);
        let before = if comma.is_some() { " " } else { ", " };
        let after = if comma.is_some() { "," } else { "" };
        return spliced(text, end..end, &format!("{before}{new}{after}"));
    }
    let inside = leading(text, first.0).map_or_else(|| format!("{}{}", indent(text, node), manner.unit), str::to_owned);
    let new = named(pretty(value, &inside, &manner));
    let after = if comma.is_some() { "," } else { "" };
    let at = before_close(text, comma.map_or(last_end, |at| at + 1), close);
    let text = spliced(text, at..at, &format!("{}{inside}{new}{after}", manner.line_break));
    if comma.is_some() { text } else { spliced(&text, last_end..last_end, ",") }
}

/// Adds the first child; what stands in the brackets stays before it.
fn insert_first(text: &str, node: &Node, manner: &Manner<'_>, key: Option<&str>, value: &Value) -> String {
    let named = |text: String| key.map_or_else(|| text.clone(), |key| member(key, &text));
    let (open, close) = (node.span.start + 1, node.span.end - 1);
    if !text.contains('\n') && text.trim() != "{}" {
        return spliced(text, close..close, &named(compact(value)));
    }
    let outside = indent(text, node);
    let inside = format!("{outside}{}", manner.unit);
    let new = named(pretty(value, &inside, manner));
    let at = before_close(text, open, close);
    let end = if text[at..close].contains('\n') { String::new() } else { format!("{}{outside}", manner.line_break) };
    spliced(text, at..at, &format!("{}{inside}{new}{end}", manner.line_break))
}

fn removed(text: &str, node: &Node, index: usize, joins_lines: bool) -> String {
    let children = children(node).iter().map(|(start, child)| *start..child.span.end).collect();
    let brackets = Brackets { inside: node.span.start + 1..node.span.end - 1, children, comma, comment: "//" };
    brackets.without(text, index, joins_lines)
}

/// The comma after a value, behind comments.
fn comma(text: &str, mut at: usize) -> Option<usize> {
    loop {
        let rest = text.get(at..)?;
        match rest.as_bytes().first()? {
            b',' => return Some(at),
            b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            b'/' if rest.starts_with("//") => at += rest.find('\n')?,
            b'/' if rest.starts_with("/*") => at += rest.find("*/")? + 2,
            _ => return None,
        }
    }
}

/// Whether a value with children stands on one line.
fn is_inline(text: &str, node: &Node) -> bool {
    let first = children(node).first().map(|(start, _)| *start);
    first.is_some_and(|first| !text[node.span.start..first].contains('\n'))
}

fn indent<'t>(text: &'t str, node: &Node) -> &'t str {
    line_indent(text, node.span.start)
}

/// What one level is indented by in this file.
fn unit<'t>(text: &'t str, root: &Node) -> &'t str {
    let first = children(root).first().and_then(|(start, _)| leading(text, *start));
    first.filter(|indent| !indent.is_empty()).unwrap_or("  ")
}
