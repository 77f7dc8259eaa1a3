//! JSON with comments and trailing commas, read into values that remember their places.

use std::ops::Range;

use document::{FileError, Position};
use serde_json::{Map, Value};

/// How deep values may nest.
const DEEPEST: usize = 128;

/// A value and its place.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum Kind {
    Object(Vec<Member>),
    List(Vec<Node>),
    Scalar(Value),
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where the key begins.
    pub(super) start: usize,
    pub(super) node: Node,
}

impl Node {
    /// The value without places; of two members with one name, the last, as clients read it.
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::List(items) => items.iter().map(Self::value).collect(),
            Kind::Object(members) => {
                Value::Object(members.iter().map(|one| (one.key.clone(), one.node.value())).collect::<Map<_, _>>())
            }
        }
    }
}

/// The value of a text.
pub(super) fn read(text: &str) -> Result<Value, FileError> {
    Ok(tree(text)?.map_or_else(|| Value::Object(Map::new()), |node| node.value()))
}

/// The tree of a text; `None` where nothing but white space and comments stands in it.
pub(super) fn tree(text: &str) -> Result<Option<Node>, FileError> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    parser.skip()?;
    if parser.at == text.len() {
        return Ok(None);
    }
    let node = parser.value()?;
    parser.skip()?;
    if parser.at < text.len() {
        return Err(parser.error("something stands after the end of the value", "remove what follows it"));
    }
    Ok(Some(node))
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn error(&self, what: impl Into<String>, remedy: &str) -> FileError {
        FileError::new(position(self.text, self.at), what, remedy)
    }

    fn expected(&self, what: &str) -> FileError {
        let found = self.text[self.at..].chars().next();
        let found = found.map_or_else(|| "the end of the file".to_owned(), |c| format!("`{}`", c.escape_debug()));
        self.error(
            format!("expected {what}, found {found}"),
            "look for a missing quote, comma or bracket here and above",
        )
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Result<(), FileError> {
        loop {
            let rest = &self.text[self.at..];
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/").ok_or_else(|| self.error("a comment is not closed", "add `*/`"))?;
                self.at += end + 4;
            } else if rest.starts_with([' ', '\t', '\r', '\n']) {
                self.at += 1;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self) -> Result<Node, FileError> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{' | b'[') => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(self.error(format!("values nest deeper than {DEEPEST}"), "use a flatter shape"));
                }
                let kind = if self.peek() == Some(b'{') { self.object()? } else { self.list()? };
                self.depth -= 1;
                kind
            }
            Some(b'"') => Kind::Scalar(Value::String(self.string()?)),
            _ => Kind::Scalar(self.word()?),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn object(&mut self) -> Result<Kind, FileError> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.skip()?;
            if self.peek() == Some(b'}') {
                break;
            }
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.expected("a name in quotes, or `}`"));
            }
            let key = self.string()?;
            self.skip()?;
            if self.peek() != Some(b':') {
                return Err(self.expected("`:`"));
            }
            self.at += 1;
            self.skip()?;
            members.push(Member { key, start, node: self.value()? });
            if !self.comma(b'}')? {
                break;
            }
        }
        self.at += 1;
        Ok(Kind::Object(members))
    }

    fn list(&mut self) -> Result<Kind, FileError> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.skip()?;
            if self.peek() == Some(b']') {
                break;
            }
            items.push(self.value()?);
            if !self.comma(b']')? {
                break;
            }
        }
        self.at += 1;
        Ok(Kind::List(items))
    }

    /// Whether a comma follows; if not, what closes must.
    fn comma(&mut self, close: u8) -> Result<bool, FileError> {
        self.skip()?;
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == close => Ok(false),
            _ => Err(self.expected(&format!("`,` or `{}`", char::from(close)))),
        }
    }

    fn string(&mut self) -> Result<String, FileError> {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        while bytes.get(end).is_some_and(|byte| *byte != b'"') {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let text = self.text.get(self.at..=end).ok_or_else(|| self.error("a text is not closed", "add a quote"))?;
        let read = serde_json::from_str(text).map_err(|_| {
            self.error("a text has an invalid escape or a line break in it", "write \\n for a line break")
        })?;
        self.at = end + 1;
        Ok(read)
    }

    fn word(&mut self) -> Result<Value, FileError> {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(rest.len());
        let value = serde_json::from_str(&rest[..length]).map_err(|_| self.expected("a value"))?;
        self.at += length;
        Ok(value)
    }
}

/// The place of a byte, as editors count.
pub(super) fn position(text: &str, at: usize) -> Position {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    Position { line: before.matches('\n').count() + 1, column: before[line..].chars().count() + 1 }
}
