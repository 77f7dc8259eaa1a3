//! Reads a file to import, with positions, and detects its format by content.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use document::{self, FileError, FileErrors, Node, Position};
use serde_json::{Map, Value};

use super::Format;

/// The maximum size of a file, in bytes.
const MAX_BYTES: usize = 8 << 20;
/// How deep values may nest, so that they still fit into a test file.
const MAX_DEPTH: usize = 48;
/// The longest key, in bytes, as in test files.
const MAX_KEY: usize = 256;

/// A file that was read.
#[derive(Debug)]
pub struct Source {
    pub(super) path: PathBuf,
    /// Its format.
    pub format: Format,
    pub(super) root: Map<String, Value>,
    /// The positions of its values.
    tree: Option<Node>,
}

/// Reads a file; `None` if it has neither format.
pub fn load(path: &Path) -> Result<Option<Source>, FileErrors> {
    let refuse = |error: FileError| FileErrors::new(&path.display().to_string(), vec![error]);
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)).map_err(|error| {
        refuse(FileError::new(None, format!("cannot read the file: {error}"), "check the path and its permissions"))
    })?;
    if bytes.len() > MAX_BYTES {
        return Err(refuse(FileError::new(None, "the file is larger than 8 MiB", "split it into several files")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| refuse(FileError::new(None, "the file is not UTF-8 text", "convert it to UTF-8")))?;
    parse(&text, path).map_err(|errors| FileErrors::new(&path.display().to_string(), errors))
}

/// Reads a file's text.
pub(super) fn parse(text: &str, path: &Path) -> Result<Option<Source>, Vec<FileError>> {
    let text = text.trim_start_matches('\u{feff}');
    let (value, tree) = read(text)?;
    let Value::Object(root) = value else { return Ok(None) };
    let Some(format) = format(&root) else { return Ok(None) };
    bounded(&root).map_err(|what| vec![FileError::new(None, what, "use a smaller file")])?;
    Ok(Some(Source { path: path.to_owned(), format, root, tree }))
}

/// Reads JSON, or else YAML. Most JSON is also YAML with the same meaning, but not all.
fn read(text: &str) -> Result<(Value, Option<Node>), Vec<FileError>> {
    if text.trim().is_empty() {
        return Err(vec![FileError::new(None, "the file is empty", "use a file with tests")]);
    }
    let tree = document::read(text);
    let json = text.trim_start().starts_with('{').then(|| serde_json::from_str::<Value>(text));
    match (json, tree) {
        (_, Ok((_, errors))) if !errors.is_empty() => Err(errors),
        (Some(Ok(value)), tree) => Ok((value, tree.ok().map(|(tree, _)| tree))),
        (_, Ok((tree, _))) => Ok((tree.to_value(), Some(tree))),
        (Some(Err(error)), Err(_)) => {
            let why = error.to_string();
            let why = why.split(" at line ").next().unwrap_or_default().to_owned();
            let at = Position { line: error.line(), column: error.column().max(1) };
            Err(vec![FileError::new(at, format!("invalid JSON: {why}"), "a comma, quote or bracket here or above")])
        }
        (None, Err(error)) => Err(vec![error]),
    }
}

fn format(root: &Map<String, Value>) -> Option<Format> {
    let asserts = |name: &String| name == "assert" || name.starts_with("assert_") || name == "trajectory";
    if root.keys().any(asserts) {
        return Some(Format::McpAssert);
    }
    (root.contains_key("server") && root.get("tests").is_some_and(Value::is_object)).then_some(Format::McpJest)
}

fn bounded(root: &Map<String, Value>) -> Result<(), String> {
    fn below(members: &Map<String, Value>, room: usize) -> Result<(), String> {
        if members.keys().any(|key| key.len() > MAX_KEY) {
            return Err(format!("a key is longer than {MAX_KEY} bytes"));
        }
        members.values().try_for_each(|value| deep(value, room))
    }
    fn deep(value: &Value, room: usize) -> Result<(), String> {
        let Some(room) = room.checked_sub(1) else { return Err(format!("values nest deeper than {MAX_DEPTH}")) };
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| deep(item, room)),
            Value::Object(members) => below(members, room),
            _ => Ok(()),
        }
    }
    below(root, MAX_DEPTH)
}

impl Source {
    /// The source with another content of the same shape.
    pub(super) fn with(&self, root: Map<String, Value>) -> Self {
        Self { path: self.path.clone(), format: self.format, root, tree: self.tree.clone() }
    }

    /// An error at a JSON pointer.
    pub(super) fn error(&self, pointer: &str, what: impl Into<String>, remedy: impl Into<String>) -> FileError {
        FileError::new(self.tree.as_ref().map(|tree| tree.place(pointer)), what, remedy)
    }
}
