//! Changes of one value in YAML, by lines: what stands on other lines stays as it is.

use std::ops::Range;

use document::{Content, FileError, Node, Position};
use serde_json::{Map, Value};

use super::{Step, line_break, spliced, unsupported, wrapped};

/// The value of a text.
pub(super) fn read(text: &str) -> Result<Value, FileError> {
    Ok(tree(text)?.map_or_else(|| Value::Object(Map::new()), |node| node.to_value()))
}

/// The tree; `None` of a text that says nothing.
pub(super) fn tree(text: &str) -> Result<Option<Node>, FileError> {
    if text.lines().all(|line| is_blank(line) || line.trim_end() == "---") {
        return Ok(None);
    }
    let (node, errors) = document::read(text)?;
    match errors.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(Some(node)),
    }
}

fn is_blank(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

/// A value on the way, and the lines that it and its key are on.
struct Place<'n> {
    node: &'n Node,
    /// Where its key or its dash begins; the start of the text for the root.
    at: Position,
    /// The place of its parent's key, in which nothing else may stand on the same line.
    is_block: bool,
}

/// Puts a value at a place.
pub(super) fn set(text: &str, path: &[Step], value: &Value) -> Result<String, FileError> {
    let manner = Manner { line_break: line_break(text) };
    let Some(root) = tree(text)? else { return Ok(append(text, &manner.block(&wrapped(path, value), 0)?, &manner)) };
    let (place, rest) = descend(text, &root, path)?;
    let Some((step, inner)) = rest.split_first() else {
        return replace(text, &place, path, value, &manner);
    };
    if let Some(null) = written_null(text, &place) {
        return set(&spliced(text, null, ""), path, value);
    }
    insert(text, &place, path.len() == rest.len(), step, &wrapped(inner, value), &manner)
}

/// The word that stands for no value, and the white space before it.
fn written_null(text: &str, place: &Place<'_>) -> Option<Range<usize>> {
    if !matches!(place.node.content, Content::Null) || place.node.at.line != place.at.line {
        return None;
    }
    let line = Lines::new(text).range(place.node.at.line);
    let at = line.start + text[line.clone()].chars().take(place.node.at.column - 1).map(char::len_utf8).sum::<usize>();
    let word = text[at..line.end].split([' ', '\t', '#']).next().unwrap_or_default();
    let start = line.start + text[line.start..at].trim_end().len();
    matches!(word, "~" | "null" | "Null" | "NULL").then_some(start..at + word.len())
}

/// Removes the value at a place.
pub(super) fn remove(text: &str, path: &[Step]) -> Result<String, FileError> {
    let Some(root) = tree(text)? else { return Ok(text.to_owned()) };
    let Some((_, way)) = path.split_last() else { return Ok(text.to_owned()) };
    let (parent, missing) = descend(text, &root, way)?;
    let (place, rest) = descend(text, &root, path)?;
    if !missing.is_empty() || !rest.is_empty() {
        return Ok(text.to_owned());
    }
    if !place.is_block {
        return Err(in_flow(&place));
    }
    let lines = Lines::new(text);
    let range = lines.of(&place, text);
    let (children, empty) = match &parent.node.content {
        Content::Map(entries) => (entries.len(), "{}"),
        Content::List(items) => (items.len(), "[]"),
        _ => (0, ""),
    };
    let without = whole_lines(text, range);
    if children > 1 || way.is_empty() {
        return Ok(without);
    }
    // A key with nothing after it would be null.
    let line = lines.range(parent.at.line);
    let key = &text[line.clone()];
    let at = line.start + comment(key).unwrap_or(key.trim_end().len());
    let at = line.start + text[line.start..at].trim_end().len();
    Ok(spliced(&without, at..at, &format!(" {empty}")))
}

fn in_flow(place: &Place<'_>) -> FileError {
    let error = unsupported("the entry stands in braces on one line, which proof does not change");
    FileError { at: Some(place.at), ..error }
}

/// Goes as far as the path leads; also gives the steps that are left.
fn descend<'n, 'p>(text: &str, root: &'n Node, path: &'p [Step]) -> Result<(Place<'n>, &'p [Step]), FileError> {
    let mut place = Place { node: root, at: root.at, is_block: true };
    for (index, step) in path.iter().enumerate() {
        let is_flow = is_flow(text, place.node);
        let next = match (step, &place.node.content) {
            (Step::Key(key), Content::Map(entries)) => {
                entries.iter().find(|entry| entry.key == *key).map(|entry| (&entry.node, entry.at))
            }
            (Step::Item(member, name), Content::List(items)) => items
                .iter()
                .find(|item| item.to_value()[*member] == *name.as_str())
                .map(|item| (item, dash(text, item.at))),
            (_, Content::Null) => None,
            _ => {
                let error = unsupported("the place for the entry holds a value of another kind");
                return Err(FileError { at: Some(place.at), ..error });
            }
        };
        match next {
            Some((node, at)) => place = Place { node, at, is_block: place.is_block && !is_flow },
            None => return Ok((place, &path[index..])),
        }
    }
    Ok((place, &[]))
}

/// Where the dash before an item is.
fn dash(text: &str, item: Position) -> Position {
    let line = text.lines().nth(item.line.saturating_sub(1)).unwrap_or_default();
    let before: String = line.chars().take(item.column.saturating_sub(1)).collect();
    let column = before.rfind('-').map_or(item.column, |at| before[..at].chars().count() + 1);
    Position { column, ..item }
}

fn is_flow(text: &str, node: &Node) -> bool {
    let line = text.lines().nth(node.at.line.saturating_sub(1)).unwrap_or_default();
    let first = line.chars().nth(node.at.column.saturating_sub(1));
    matches!((&node.content, first), (Content::Map(_), Some('{')) | (Content::List(_), Some('[')))
}

/// Puts another value in the place of one.
fn replace(text: &str, place: &Place<'_>, path: &[Step], value: &Value, manner: &Manner) -> Result<String, FileError> {
    let Some(last) = path.last() else { return manner.block(value, 0) };
    if !place.is_block {
        return Err(in_flow(place));
    }
    let lines = Lines::new(text);
    let range = lines.of(place, text);
    let old = &text[range.clone()];
    let column = place.at.column - 1;
    let mut new = match last {
        Step::Key(key) => manner.entry(key, value, column)?,
        Step::Item(..) => manner.item(value, column)?,
    };
    // The beginning of the line may hold a dash; a comment after a value on one line stays.
    let start = lines.range(place.at.line).start;
    let before = text[start..].chars().take(column).map(char::len_utf8).sum::<usize>();
    new = new[column.min(new.len())..].to_owned();
    let first = old.split(['\r', '\n']).next().unwrap_or_default();
    if let Some(at) = comment(first).filter(|_| !new.contains('\n')) {
        let spaces = first[..at].len() - first[..at].trim_end().len();
        new = format!("{new}{}", &first[at - spaces..]);
    }
    Ok(spliced(text, start + before..range.end, &new))
}

/// Adds something to a mapping or a list.
fn insert(
    text: &str,
    place: &Place<'_>,
    is_root: bool,
    step: &Step,
    value: &Value,
    manner: &Manner,
) -> Result<String, FileError> {
    let lines = Lines::new(text);
    let new = |column: usize| match step {
        Step::Key(key) => manner.entry(key, value, column),
        Step::Item(..) => manner.item(value, column),
    };
    if is_flow(text, place.node) {
        return insert_in_flow(text, place, &lines, step, value, &new);
    }
    let last = match &place.node.content {
        Content::Map(entries) => entries.last().map(|entry| (entry.at, &entry.node)),
        Content::List(items) => items.last().map(|item| (dash(text, item.at), item)),
        _ => None,
    };
    if let Some((at, node)) = last {
        let end = lines.of(&Place { node, at, is_block: true }, text).end;
        return Ok(insert_line(text, end, &new(at.column - 1)?, manner));
    }
    if is_root {
        return Ok(append(text, &new(0)?, manner));
    }
    let end = lines.range(place.at.line).end;
    Ok(insert_line(text, end, &new(place.at.column + 1)?, manner))
}

/// Adds something to `{ … }` or `[ … ]`; where nothing is in it, it becomes a block.
fn insert_in_flow(
    text: &str,
    place: &Place<'_>,
    lines: &Lines,
    step: &Step,
    value: &Value,
    new: &impl Fn(usize) -> Result<String, FileError>,
) -> Result<String, FileError> {
    let line = lines.range(place.node.at.line);
    let open =
        line.start + text[line.start..].chars().take(place.node.at.column - 1).map(char::len_utf8).sum::<usize>();
    let is_empty = match &place.node.content {
        Content::Map(entries) => entries.is_empty(),
        Content::List(items) => items.is_empty(),
        _ => false,
    };
    if !is_empty {
        let flow = match step {
            Step::Key(key) => format!("{}: {}", document::scalar(key), document::flow(value)),
            Step::Item(..) => document::flow(value),
        };
        return Ok(spliced(text, open + 1..open + 1, &format!("{flow}, ")));
    }
    let close = text[open..line.end].find(['}', ']']).map(|at| open + at + 1).ok_or_else(|| in_flow(place))?;
    if !place.is_block || place.at.line != place.node.at.line {
        return Err(in_flow(place));
    }
    let key = text[line.start..open].trim_end();
    let rest = text[close..line.end].trim_end();
    let block = new(place.at.column + 1)?;
    Ok(spliced(text, line.clone(), &format!("{key}{rest}{}{block}", line_break(text))))
}

/// Adds a line after the line that ends at `end`.
fn insert_line(text: &str, end: usize, new: &str, manner: &Manner) -> String {
    spliced(text, end..end, &format!("{}{new}", manner.line_break))
}

/// Adds lines at the end of the text.
fn append(text: &str, new: &str, manner: &Manner) -> String {
    match text {
        "" => format!("{new}{}", manner.line_break),
        text if text.ends_with('\n') => format!("{text}{new}{}", manner.line_break),
        text => format!("{text}{}{new}", manner.line_break),
    }
}

/// The text without whole lines, their line break included.
fn whole_lines(text: &str, range: Range<usize>) -> String {
    let rest = &text[range.end..];
    if let Some(length) = ["\r\n", "\n"].iter().find(|end| rest.starts_with(**end)).map(|end| end.len()) {
        return spliced(text, range.start..range.end + length, "");
    }
    let before = text[..range.start].strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text));
    spliced(text, before.map_or(range.start, str::len)..range.end, "")
}

/// Where the comment of a line begins.
fn comment(line: &str) -> Option<usize> {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') if before.is_whitespace() => return Some(at),
            (None, '"' | '\'') if " [{,:-".contains(before) => quote = Some(c),
            (Some(open), c) if open == c && !(c == '"' && before == '\\') => quote = None,
            _ => {}
        }
        before = c;
    }
    None
}

/// Where lines begin and end; line breaks are not part of them.
struct Lines(Vec<Range<usize>>);

impl Lines {
    fn new(text: &str) -> Self {
        let mut start = 0;
        let lines = text.split_inclusive('\n').map(|line| {
            let range = start..start + line.trim_end_matches(['\n', '\r']).len();
            start += line.len();
            range
        });
        Self(lines.collect())
    }

    /// A line, counted from 1.
    fn range(&self, line: usize) -> Range<usize> {
        self.0.get(line.saturating_sub(1)).cloned().unwrap_or_default()
    }

    /// The lines of a key or an item and all that belongs to it.
    fn of(&self, place: &Place<'_>, text: &str) -> Range<usize> {
        let is_list = matches!(place.node.content, Content::List(_));
        let column = place.at.column - 1;
        let mut last = place.at.line.max(deepest(place.node));
        for line in place.at.line + 1..=self.0.len() {
            let words = &text[self.range(line)];
            let indent = words.len() - words.trim_start_matches(' ').len();
            let in_list = is_list && indent == column && words[indent..].starts_with('-') && !in_dash(text, place);
            if words.trim().is_empty() || (indent <= column && words[indent..].starts_with('#')) {
                continue;
            }
            if indent <= column && !in_list && line > last {
                break;
            }
            last = last.max(line);
        }
        self.range(place.at.line).start..self.range(last).end
    }
}

/// Whether the place is an item, which other dashes in its column do not belong to.
fn in_dash(text: &str, place: &Place<'_>) -> bool {
    let line = text.lines().nth(place.at.line - 1).unwrap_or_default();
    line.chars().nth(place.at.column - 1) == Some('-')
}

/// The last line that something in a value begins on.
fn deepest(node: &Node) -> usize {
    match &node.content {
        Content::Map(entries) => entries.iter().map(|entry| deepest(&entry.node)).max().unwrap_or(node.at.line),
        Content::List(items) => items.iter().map(deepest).max().unwrap_or(node.at.line),
        // The place of an absent value is that of what comes next.
        Content::Null => 0,
        _ => node.at.line,
    }
}

/// The manner of a file.
struct Manner {
    line_break: &'static str,
}

impl Manner {
    /// A mapping as lines, without the last line break.
    fn block(&self, value: &Value, indent: usize) -> Result<String, FileError> {
        let members = value.as_object().ok_or_else(|| unsupported("a YAML file must hold a mapping"))?;
        let lines: Result<Vec<_>, _> = members.iter().map(|(key, value)| self.entry(key, value, indent)).collect();
        Ok(lines?.join(self.line_break))
    }

    fn entry(&self, key: &str, value: &Value, indent: usize) -> Result<String, FileError> {
        let head = format!("{}{}:", " ".repeat(indent), document::scalar(key));
        Ok(match value {
            Value::Object(members) if !members.is_empty() => {
                format!("{head}{}{}", self.line_break, self.block(value, indent + 2)?)
            }
            Value::Array(items) if !items.is_empty() => {
                let items: Result<Vec<_>, _> = items.iter().map(|item| self.item(item, indent + 2)).collect();
                format!("{head}{}{}", self.line_break, items?.join(self.line_break))
            }
            value => format!("{head} {}", document::flow(value)),
        })
    }

    fn item(&self, value: &Value, indent: usize) -> Result<String, FileError> {
        let dash = format!("{}- ", " ".repeat(indent));
        Ok(match value {
            Value::Object(members) if !members.is_empty() => {
                format!("{dash}{}", &self.block(value, indent + 2)?[indent + 2..])
            }
            value => format!("{dash}{}", document::flow(value)),
        })
    }
}
