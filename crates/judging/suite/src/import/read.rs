//! From a file to what stands in it, with places, and whose format that is. The format shows in what is said, not in the name.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use document::{self, Fault, Faults, Node, Position};
use serde_json::{Map, Value};

use super::Format;

/// How long a file may be, in bytes.
const LONGEST: usize = 8 << 20;
/// How deep values may nest: they must have room where they are written.
const DEEPEST: usize = 48;
/// How long a key may be, in bytes: as in test files.
const LONGEST_KEY: usize = 256;

/// A file that was read.
#[derive(Debug)]
pub struct Source {
    pub(super) path: PathBuf,
    /// Whose format it is in.
    pub format: Format,
    pub(super) root: Map<String, Value>,
    /// The places.
    tree: Option<Node>,
}

/// Reads a file; `None` where it is in neither format.
pub fn load(path: &Path) -> Result<Option<Source>, Faults> {
    let refuse = |fault: Fault| Faults::new(&path.display().to_string(), vec![fault]);
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| refuse(Fault::new(None, format!("the file cannot be read: {error}"), "another path")))?;
    if bytes.len() > LONGEST {
        return Err(refuse(Fault::new(None, "the file is longer than 8 MiB", "several files")));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| refuse(Fault::new(None, "the file is no text", "a file in UTF-8")))?;
    parse(&text, path).map_err(|faults| Faults::new(&path.display().to_string(), faults))
}

/// Reads a file's text.
pub(super) fn parse(text: &str, path: &Path) -> Result<Option<Source>, Vec<Fault>> {
    let text = text.trim_start_matches('\u{feff}');
    let (value, tree) = read(text)?;
    let Value::Object(root) = value else { return Ok(None) };
    let Some(format) = format(&root) else { return Ok(None) };
    bounded(&root).map_err(|what| vec![Fault::new(None, what, "a smaller one")])?;
    Ok(Some(Source { path: path.to_owned(), format, root, tree }))
}

/// JSON, or else YAML: most JSON is YAML too, with the same meaning, but not all.
fn read(text: &str) -> Result<(Value, Option<Node>), Vec<Fault>> {
    if text.trim().is_empty() {
        return Err(vec![Fault::new(None, "the file is empty", "a file with tests")]);
    }
    let tree = document::read(text);
    let json = text.trim_start().starts_with('{').then(|| serde_json::from_str::<Value>(text));
    match (json, tree) {
        (_, Ok((_, faults))) if !faults.is_empty() => Err(faults),
        (Some(Ok(value)), tree) => Ok((value, tree.ok().map(|(tree, _)| tree))),
        (_, Ok((tree, _))) => Ok((tree.to_value(), Some(tree))),
        (Some(Err(error)), Err(_)) => {
            let why = error.to_string();
            let why = why.split(" at line ").next().unwrap_or_default().to_owned();
            let at = Position { line: error.line(), column: error.column().max(1) };
            Err(vec![Fault::new(at, format!("this is no JSON: {why}"), "a comma, quote or bracket here or above")])
        }
        (None, Err(fault)) => Err(vec![fault]),
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
        if members.keys().any(|key| key.len() > LONGEST_KEY) {
            return Err(format!("a key is longer than {LONGEST_KEY} bytes"));
        }
        members.values().try_for_each(|value| deep(value, room))
    }
    fn deep(value: &Value, room: usize) -> Result<(), String> {
        let Some(room) = room.checked_sub(1) else { return Err(format!("values nest deeper than {DEEPEST}")) };
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| deep(item, room)),
            Value::Object(members) => below(members, room),
            _ => Ok(()),
        }
    }
    below(root, DEEPEST)
}

impl Source {
    /// The same with another content, of the same shape.
    pub(super) fn with(&self, root: Map<String, Value>) -> Self {
        Self { path: self.path.clone(), format: self.format, root, tree: self.tree.clone() }
    }

    /// A mistake at what a pointer names.
    pub(super) fn fault(&self, pointer: &str, what: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault::new(self.tree.as_ref().map(|tree| tree.place(pointer)), what, remedy)
    }
}
