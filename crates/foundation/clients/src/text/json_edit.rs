//! Changes of one value in JSON with comments.

use document::FileError;
use serde_json::Value;

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

/// Where a child goes that comes last: before the line break and the white space before the closing bracket.
fn before_close(text: &str, from: usize, close: usize) -> usize {
    let blank = text[from..close].trim_end_matches([' ', '\t']);
    let line = blank.strip_suffix('\n').map(|rest| rest.strip_suffix('\r').unwrap_or(rest));
    from + line.unwrap_or(blank).len()
}

fn removed(text: &str, node: &Node, index: usize, joins_lines: bool) -> String {
    let all = children(node);
    let (start, child) = all[index];
    let end = child.span.end;
    let after = comma(text, end);
    let open = node.span.start + 1;
    let head = if joins_lines { head(text, start, open) } else { start };
    if all.len() == 1 {
        let end = after.map_or(end, |at| at + 1);
        let before = &text[open..head];
        let rest = &text[end..node.span.end - 1];
        let is_blank = before.trim().is_empty() && rest.trim().is_empty();
        return if is_blank { spliced(text, open..node.span.end - 1, "") } else { spliced(text, head..end, "") };
    }
    if index + 1 < all.len() {
        let end = after.map_or(end, |at| at + 1);
        let rest = text[end..].trim_start_matches([' ', '\t']);
        let ends_line = rest.starts_with(['\n', '\r']) || rest.starts_with("//");
        let range = if ends_line && head < start { head..end } else { start..text.len() - rest.trim_start().len() };
        return spliced(text, range, "");
    }
    let text = spliced(text, head..after.map_or(end, |at| at + 1), "");
    // The comma before it now ends the list, which strict readers refuse; where one ended the list before, it stays.
    let previous = all[index - 1].1.span.end;
    match comma(&text, previous) {
        Some(at) if after.is_none() => spliced(&text, at..at + 1, ""),
        _ => text,
    }
}

/// Where a child begins together with the white space before it, up to the end of the line before.
fn head(text: &str, start: usize, open: usize) -> usize {
    let before = text[open..start].trim_end_matches([' ', '\t']);
    let line = before.strip_suffix('\n').map(|rest| rest.strip_suffix('\r').unwrap_or(rest));
    open + line.unwrap_or(before).len()
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

/// The white space that a line begins with.
fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn indent<'t>(text: &'t str, node: &Node) -> &'t str {
    line_indent(text, node.span.start)
}

/// The indentation of something that begins a line.
fn leading(text: &str, at: usize) -> Option<&str> {
    let indent = line_indent(text, at);
    let start = text[..at].rfind('\n')? + 1;
    (start + indent.len() == at).then_some(indent)
}

/// What one level is indented by in this file.
fn unit<'t>(text: &'t str, root: &Node) -> &'t str {
    let first = children(root).first().and_then(|(start, _)| leading(text, *start));
    first.filter(|indent| !indent.is_empty()).unwrap_or("  ")
}
