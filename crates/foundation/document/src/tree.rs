//! A YAML text as a tree that remembers where everything stood. Bounded in size, depth and in what aliases may repeat;
//! knows nothing of what the text is for.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput, Tag};
use serde_json::{Map, Number, Value};

use super::file_error::{FileError, Position, quoted};
use super::scalar;
use wire::pointer;

/// What a value weighs beside its text.
const WEIGHT: usize = 32;

/// How large a file may be.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How deep lists and mappings may nest, aliases resolved.
    pub depth: usize,
    /// How much the file may come to, aliases resolved: bytes of text, and 32 for each value.
    pub weight: usize,
    /// How long a key may be, in bytes.
    pub key: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { depth: 64, weight: 8 << 20, key: 256 }
    }
}

/// A value and where it stood.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it began.
    pub at: Position,
    /// What it is.
    pub content: Content,
}

/// What a value is.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "JSON's own kinds")]
pub enum Content {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A member of a mapping.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its key.
    pub key: String,
    /// Where the key stood.
    pub at: Position,
    /// Its value.
    pub node: Node,
}

impl Node {
    #[cfg(test)]
    pub(super) fn bare(content: Content) -> Self {
        Self { at: Position::default(), content }
    }

    /// The same without places.
    pub fn to_value(&self) -> Value {
        match &self.content {
            Content::Null => Value::Null,
            Content::Bool(value) => Value::Bool(*value),
            Content::Number(number) => Value::Number(number.clone()),
            Content::Text(text) => Value::String(text.clone()),
            Content::List(items) => items.iter().map(Self::to_value).collect(),
            Content::Map(entries) => Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.node.to_value())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// Where the value stands that a JSON pointer names, or what is nearest above it: a member stands where its key does.
    pub fn place(&self, pointer: &str) -> Position {
        let mut node = self;
        let mut at = self.at;
        for step in pointer.split('/').skip(1) {
            let step = pointer::unescape(step);
            match &node.content {
                Content::Map(entries) => match entries.iter().find(|entry| entry.key == step) {
                    Some(entry) => (node, at) = (&entry.node, entry.at),
                    None => return at,
                },
                Content::List(items) => match step.parse().ok().and_then(|index: usize| items.get(index)) {
                    Some(item) => (node, at) = (item, item.at),
                    None => return at,
                },
                _ => return at,
            }
        }
        at
    }

    fn weight(&self) -> usize {
        WEIGHT
            + match &self.content {
                Content::Text(text) => text.len(),
                Content::List(items) => items.iter().map(Self::weight).sum(),
                Content::Map(entries) => entries.iter().map(|entry| entry.key.len() + entry.node.weight()).sum(),
                _ => 0,
            }
    }

    fn depth(&self) -> usize {
        match &self.content {
            Content::List(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            Content::Map(entries) => 1 + entries.iter().map(|entry| entry.node.depth()).max().unwrap_or(0),
            _ => 0,
        }
    }
}

/// Reads the one document of `text`. Duplicate keys come as errors next to the tree, which keeps the first of them.
pub fn read(text: &str) -> Result<(Node, Vec<FileError>), FileError> {
    read_within(text, Bounds::default())
}

/// Reads as [`read`] does, within other bounds.
pub fn read_within(text: &str, bounds: Bounds) -> Result<(Node, Vec<FileError>), FileError> {
    let mut builder = Builder { bounds, ..Builder::default() };
    // A scanner that went round in circles would be noticed by its tokens: no text has more events than this.
    let most = 16 * text.len() + 64;
    let mut parser = Parser::new_from_str(text);
    for _ in 0..most {
        let Some(event) = next(&mut parser) else { break };
        builder.take(event?)?;
    }
    match builder.root {
        Some(root) => Ok((root, builder.errors)),
        None => Err(FileError::new(None, "the file is empty", "a mapping: `key: value`")),
    }
}

type Placed<'a> = (Event<'a>, Position);

fn next<'a>(parser: &mut Parser<'a, StrInput<'a>>) -> Option<Result<Placed<'a>, FileError>> {
    Some(match parser.next_event()? {
        Ok((event, span)) => Ok((event, position(&span.start))),
        Err(error) => {
            let what = format!("this is no YAML: {}", error.info());
            let remedy = if error.info().contains("flow") {
                "within { } and [ ], texts with such brackets or a comma in them stand in quotes"
            } else {
                "look at the indentation and the quotes here and above"
            };
            Err(FileError::new(position(error.marker()), what, remedy))
        }
    })
}

fn position(mark: &Marker) -> Position {
    Position { line: mark.line(), column: mark.col() + 1 }
}

#[derive(Default)]
struct Builder {
    bounds: Bounds,
    open: Vec<Open>,
    root: Option<Node>,
    anchors: HashMap<usize, Node>,
    weight: usize,
    errors: Vec<FileError>,
}

/// A list or mapping whose end has not come.
struct Open {
    at: Position,
    anchor: usize,
    inside: Inside,
}

enum Inside {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: HashMap<String, Position>, key: Option<(String, Position)> },
}

impl Builder {
    fn take(&mut self, (event, at): Placed<'_>) -> Result<(), FileError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => self.scalar(&text, style, anchor, tag.as_deref(), at),
            Event::Alias(anchor) => self.alias(anchor, at),
            Event::SequenceStart(anchor, tag) => self.open(at, anchor, tag.as_deref(), Inside::List(Vec::new())),
            Event::MappingStart(anchor, tag) => {
                let inside = Inside::Map { entries: Vec::new(), seen: HashMap::new(), key: None };
                self.open(at, anchor, tag.as_deref(), inside)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(FileError::new(at, "a second document begins", "one document in a file"))
            }
            _ => Ok(()),
        }
    }

    /// Whether what comes next is the key of a mapping.
    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { inside: Inside::Map { key: None, .. }, .. }))
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        at: Position,
    ) -> Result<(), FileError> {
        if self.wants_key() {
            return self.key(text, style, at);
        }
        let node = Node { at, content: content(text, style, tag, at)? };
        self.weigh(&node, at)?;
        self.add(node, anchor, at)
    }

    fn key(&mut self, text: &str, style: ScalarStyle, at: Position) -> Result<(), FileError> {
        let plain = style == ScalarStyle::Plain;
        if plain && text == "<<" {
            return Err(FileError::new(
                at,
                "YAML 1.2 does not merge with `<<`",
                "write the keys out, or alias a whole value",
            ));
        }
        if plain && matches!(text, "" | "~") {
            return Err(FileError::new(at, "a key is missing", "a key before the colon"));
        }
        if text.len() > self.bounds.key {
            return Err(FileError::new(
                at,
                format!("a key is longer than {} bytes", self.bounds.key),
                "look for a missing quote",
            ));
        }
        if let Some(Open { inside: Inside::Map { key, .. }, .. }) = self.open.last_mut() {
            *key = Some((text.to_owned(), at));
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, at: Position) -> Result<(), FileError> {
        if self.wants_key() {
            return Err(FileError::new(at, "an alias stands for a key", "write the key out"));
        }
        let Some(node) = self.anchors.get(&anchor).cloned() else {
            return Err(FileError::new(
                at,
                "an alias stands within what it names",
                "move it out, or write the value out",
            ));
        };
        if self.open.len() + node.depth() > self.bounds.depth {
            return Err(self.too_deep(at));
        }
        self.weigh(&node, at)?;
        self.add(node, 0, at)
    }

    fn open(&mut self, at: Position, anchor: usize, tag: Option<&Tag>, inside: Inside) -> Result<(), FileError> {
        if self.wants_key() {
            return Err(FileError::new(
                at,
                "a key is a list or a mapping",
                "a text; quote what begins with `{` or `[`",
            ));
        }
        if let Some(tag) =
            tag.filter(|tag| !(tag.is_yaml_core_schema() && matches!(tag.suffix.as_str(), "seq" | "map")))
        {
            return Err(unknown_tag(tag, at));
        }
        if self.open.len() >= self.bounds.depth {
            return Err(self.too_deep(at));
        }
        self.open.push(Open { at, anchor, inside });
        Ok(())
    }

    fn close(&mut self) -> Result<(), FileError> {
        let Some(Open { at, anchor, inside }) = self.open.pop() else { return Ok(()) };
        let content = match inside {
            Inside::List(items) => Content::List(items),
            Inside::Map { entries, .. } => Content::Map(entries),
        };
        self.weight += WEIGHT;
        self.add(Node { at, content }, anchor, at)
    }

    fn weigh(&mut self, node: &Node, at: Position) -> Result<(), FileError> {
        self.weight += node.weight();
        if self.weight > self.bounds.weight {
            let most = self.bounds.weight >> 20;
            let what = format!("aliases repeat too much: the file would come to more than {most} MiB");
            return Err(FileError::new(at, what, "fewer aliases of aliases"));
        }
        Ok(())
    }

    fn too_deep(&self, at: Position) -> FileError {
        FileError::new(at, format!("lists and mappings nest deeper than {}", self.bounds.depth), "a flatter shape")
    }

    fn add(&mut self, node: Node, anchor: usize, at: Position) -> Result<(), FileError> {
        if anchor != 0 {
            self.weigh(&node, at)?;
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.inside) {
            None => self.root = Some(node),
            Some(Inside::List(items)) => items.push(node),
            Some(Inside::Map { entries, seen, key }) => {
                let Some((key, at)) = key.take() else { return Ok(()) };
                if let Some(first) = seen.get(&key) {
                    let what = format!("the key {} stands twice", quoted(&key));
                    self.errors.push(FileError::new(
                        at,
                        what,
                        format!("one of them; the first is in line {}", first.line),
                    ));
                } else {
                    seen.insert(key.clone(), at);
                    entries.push(Entry { key, at, node });
                }
            }
        }
        Ok(())
    }
}

fn content(text: &str, style: ScalarStyle, tag: Option<&Tag>, at: Position) -> Result<Content, FileError> {
    let no_json =
        |what| FileError::new(at, format!("{} is {what}, which JSON has not", quoted(text)), "quotes around it");
    match tag {
        None if style == ScalarStyle::Plain => scalar::plain(text).map_err(no_json),
        None => Ok(Content::Text(text.to_owned())),
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => Ok(Content::Text(text.to_owned())),
        // `!` alone: never resolved.
        Some(tag) if tag.handle.is_empty() && tag.suffix == "!" => Ok(Content::Text(text.to_owned())),
        Some(tag) if tag.is_yaml_core_schema() && matches!(tag.suffix.as_str(), "int" | "float" | "bool" | "null") => {
            scalar::plain(text).map_err(no_json)
        }
        Some(tag) => Err(unknown_tag(tag, at)),
    }
}

fn unknown_tag(tag: &Tag, at: Position) -> FileError {
    let what = format!("the tag {} means nothing here", quoted(&tag.to_string()));
    FileError::new(at, what, "leave it out; quote a text that begins with `!`")
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
