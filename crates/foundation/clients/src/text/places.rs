//! Where values of a text begin, as editors count: one reading serves many questions. Knows nothing of clients.

use document::{Content, Position};
use toml_edit::{Item, Table};

use super::json::{Kind, Node};
use super::{BOM, Format, json, toml, yaml};

/// One step on the way to a value that may also be in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A member of an object.
    Key(String),
    /// An item of a list, counted from 0.
    Index(usize),
}

/// A text, read once.
pub struct Places<'t> {
    text: &'t str,
    /// Where each line begins.
    lines: Vec<usize>,
    tree: Tree<'t>,
}

enum Tree<'t> {
    Json(Node),
    Yaml(document::Node),
    Toml(toml_edit::Document<&'t str>),
}

impl<'t> Places<'t> {
    /// Reads a text; `None` of one that cannot be read or says nothing.
    pub fn of(text: &'t str, format: Format) -> Option<Self> {
        let text = text.strip_prefix(BOM).unwrap_or(text);
        let tree = match format {
            Format::Json => Tree::Json(json::tree(text).ok()??),
            Format::Yaml => Tree::Yaml(yaml::tree(text).ok()??),
            Format::Toml => Tree::Toml(toml::parsed(text).ok()?),
        };
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Some(Self { text, lines, tree })
    }

    /// Where `part` of the value at the end of the way begins, or else the value, if the part is written with escapes.
    pub fn find(&self, way: &[Segment], part: &str) -> Option<Position> {
        let start = match &self.tree {
            Tree::Json(root) => of_json(root, way)?,
            Tree::Yaml(root) => self.byte(of_yaml(root, way)?)?,
            Tree::Toml(document) => of_toml(document.as_table(), way)?,
        };
        let rest = self.text.get(start..)?;
        Some(self.position(rest.find(part).map_or(start, |at| start + at)))
    }

    fn position(&self, at: usize) -> Position {
        let line = self.lines.partition_point(|start| *start <= at).max(1);
        let column = self.text[self.lines[line - 1]..at].chars().count() + 1;
        Position { line, column }
    }

    fn byte(&self, at: Position) -> Option<usize> {
        let start = *self.lines.get(at.line.checked_sub(1)?)?;
        let before = self.text[start..].chars().take(at.column.checked_sub(1)?);
        Some(start + before.map(char::len_utf8).sum::<usize>())
    }
}

fn of_json(root: &Node, way: &[Segment]) -> Option<usize> {
    let end = way.iter().try_fold(root, |node, segment| match (segment, &node.kind) {
        // Of two members with one name, clients read the last.
        (Segment::Key(key), Kind::Object(members)) => {
            members.iter().rev().find(|member| member.key == *key).map(|member| &member.node)
        }
        (Segment::Index(index), Kind::List(items)) => items.get(*index),
        _ => None,
    });
    end.map(|node| node.span.start)
}

fn of_yaml(root: &document::Node, way: &[Segment]) -> Option<Position> {
    let end = way.iter().try_fold(root, |node, segment| match (segment, &node.content) {
        (Segment::Key(key), Content::Map(entries)) => {
            entries.iter().rev().find(|entry| entry.key == *key).map(|entry| &entry.node)
        }
        (Segment::Index(index), Content::List(items)) => items.get(*index),
        _ => None,
    });
    end.map(|node| node.at)
}

fn of_toml(root: &Table, way: &[Segment]) -> Option<usize> {
    let (first, rest) = way.split_first()?;
    let Segment::Key(key) = first else { return None };
    match root.get(key)? {
        Item::Table(table) if !rest.is_empty() => of_toml(table, rest),
        Item::ArrayOfTables(tables) => match rest.split_first()? {
            (Segment::Index(index), rest) => of_toml(tables.get(*index)?, rest),
            _ => None,
        },
        Item::Value(value) => of_value(value, rest),
        Item::Table(_) | Item::None => None,
    }
}

fn of_value(value: &toml_edit::Value, way: &[Segment]) -> Option<usize> {
    match (way.split_first(), value) {
        (None, value) => value.span().map(|span| span.start),
        (Some((Segment::Key(key), rest)), toml_edit::Value::InlineTable(table)) => of_value(table.get(key)?, rest),
        (Some((Segment::Index(index), rest)), toml_edit::Value::Array(items)) => of_value(items.get(*index)?, rest),
        _ => None,
    }
}
