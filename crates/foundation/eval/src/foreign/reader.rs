//! Files of other tools with their places, what was left out of them, and the limits of both.

use std::collections::HashSet;
use std::rc::Rc;

use document::{Bounds, Content, FileError, Node, Position};
use serde_json::Value;

/// How many files one import may read, how many bytes, and how deep references may nest.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: usize = 8 << 20;
const DEEPEST: usize = 8;
const OUTSIDE: &str = "outside of the folder of the imported file";

/// The files beside the one that is imported, by their paths relative to its folder.
pub trait Folder {
    /// The text of a file within the folder; `Err` says why it cannot be read.
    fn text(&self, path: &str) -> Result<String, String>;
    /// The paths of files at most so many steps below one of its folders (an empty path: itself); `Err` says why not.
    fn list(&self, below: &str, depth: usize) -> Result<Vec<String>, String>;
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file, as messages call it.
    pub file: Rc<str>,
    /// The line, from 1.
    pub line: usize,
}

/// What a remark says of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It is not in the cases.
    LeftOut,
    /// The case demands more than it did.
    Stricter,
}

/// One thing that has no counterpart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Remark {
    /// What became of it.
    pub kind: Kind,
    /// Where it stands.
    pub place: Place,
    /// What it is, and why.
    pub what: String,
}

/// A value in one of the files.
#[derive(Clone, Debug)]
pub(super) struct Part {
    file: Rc<str>,
    at: Position,
    node: Node,
}

impl Part {
    pub(super) fn parse(text: &str, name: &str) -> Result<Self, Vec<FileError>> {
        // A value has two bytes or more and weighs 32: aliases may add little, for the sum over all files counts.
        let weight = (40 * text.len() + 4096).min(Bounds::default().weight);
        let bounds = Bounds { weight, ..Bounds::default() };
        let (node, errors) = document::read_within(text, bounds).map_err(|error| vec![error])?;
        if errors.is_empty() { Ok(Self { file: name.into(), at: node.at, node }) } else { Err(errors) }
    }

    pub(super) fn place(&self) -> Place {
        Place { file: Rc::clone(&self.file), line: self.at.line }
    }

    fn below(&self, at: Position, node: &Node) -> Self {
        Self { file: Rc::clone(&self.file), at, node: node.clone() }
    }

    pub(super) fn get(&self, key: &str) -> Option<Self> {
        self.find(&[key])
    }

    /// What stands at the end of a path of keys.
    pub(super) fn find(&self, path: &[&str]) -> Option<Self> {
        let (mut at, mut node) = (self.at, &self.node);
        for key in path {
            let Content::Map(entries) = &node.content else { return None };
            let entry = entries.iter().find(|entry| entry.key == *key)?;
            (at, node) = (entry.at, &entry.node);
        }
        Some(self.below(at, node))
    }

    /// The members of a mapping; none of anything else.
    pub(super) fn members(&self) -> Vec<(String, Self)> {
        let Content::Map(entries) = &self.node.content else { return Vec::new() };
        entries.iter().map(|entry| (entry.key.clone(), self.below(entry.at, &entry.node))).collect()
    }

    /// The items of a list, or the value itself as the only one.
    pub(super) fn items(&self) -> Vec<Self> {
        match &self.node.content {
            Content::List(items) => items.iter().map(|item| self.below(item.at, item)).collect(),
            Content::Null => Vec::new(),
            _ => vec![self.clone()],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Content::Text(text) = &self.node.content { Some(text) } else { None }
    }

    pub(super) fn is_map(&self) -> bool {
        matches!(self.node.content, Content::Map(_))
    }

    pub(super) fn value(&self) -> Value {
        self.node.to_value()
    }
}

/// Reads the files of one import.
pub(super) struct Reader<'f> {
    folder: &'f dyn Folder,
    /// What stands before a relative path in messages.
    prefix: String,
    remarks: Vec<Remark>,
    known: HashSet<Remark>,
    files: usize,
    bytes: usize,
    depth: usize,
}

impl<'f> Reader<'f> {
    pub(super) fn new(name: &str, folder: &'f dyn Folder) -> Self {
        let prefix = name.rfind('/').map_or("", |slash| &name[..=slash]).to_owned();
        Self { folder, prefix, remarks: Vec::new(), known: HashSet::new(), files: 0, bytes: 0, depth: 0 }
    }

    pub(super) fn into_remarks(self) -> Vec<Remark> {
        self.remarks
    }

    pub(super) fn remark(&mut self, kind: Kind, place: &Place, what: impl Into<String>) {
        let remark = Remark { kind, place: place.clone(), what: what.into() };
        if self.known.insert(remark.clone()) {
            self.remarks.push(remark);
        }
    }

    pub(super) fn left_out(&mut self, place: &Place, what: impl Into<String>) {
        self.remark(Kind::LeftOut, place, what);
    }

    /// Paths of files at most so many steps below a folder; a remark where they cannot be listed.
    pub(super) fn list(&mut self, place: &Place, below: &str, depth: usize) -> Vec<String> {
        let below = if below.is_empty() { Some(String::new()) } else { normal("", below) };
        let listed = below.ok_or_else(|| OUTSIDE.to_owned()).and_then(|below| self.folder.list(&below, depth));
        listed.unwrap_or_else(|why| {
            self.left_out(place, why);
            Vec::new()
        })
    }

    /// The text of a file, by its path relative to `base`, a folder. A remark where it cannot be read.
    pub(super) fn text_of(&mut self, place: &Place, base: &str, path: &str) -> Option<(String, String)> {
        let read = self.within_limits(base, path);
        read.map_err(|why| self.left_out(place, format!("{}: {why}", document::quoted(path)))).ok()
    }

    fn within_limits(&mut self, base: &str, path: &str) -> Result<(String, String), String> {
        let inside = normal(base, path).ok_or(OUTSIDE)?;
        if self.files >= MOST_FILES {
            return Err(format!("more than {MOST_FILES} files"));
        }
        self.files += 1;
        let text = self.folder.text(&inside)?;
        self.charge(text.len())?;
        Ok((inside, text))
    }

    /// Counts what was read, or what a reference repeats.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), String> {
        self.bytes += bytes;
        let most = format!("what is referred to has more than {} MiB", MOST_BYTES >> 20);
        if self.bytes > MOST_BYTES { Err(most) } else { Ok(()) }
    }

    /// A file of YAML or JSON; a remark where it cannot be read. Gives its path within the folder, too.
    pub(super) fn load(&mut self, place: &Place, base: &str, path: &str) -> Option<(String, Part)> {
        if self.depth >= DEEPEST {
            self.left_out(place, format!("{}: files refer to files too deep", document::quoted(path)));
            return None;
        }
        let (inside, text) = self.text_of(place, base, path)?;
        let name = format!("{}{inside}", self.prefix);
        match Part::parse(&text, &name) {
            Ok(part) => Some((inside, part)),
            Err(errors) => {
                for error in errors {
                    let line = error.at.map_or(1, |at| at.line);
                    self.left_out(&Place { file: name.as_str().into(), line }, error.what);
                }
                None
            }
        }
    }

    /// Does something with a file that was loaded, one reference deeper.
    pub(super) fn deeper<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.depth += 1;
        let done = run(self);
        self.depth -= 1;
        done
    }
}

/// A path within the folder without `.` and `..`; nothing for one that leaves it.
fn normal(base: &str, path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains('\\') {
        return None;
    }
    let mut steps: Vec<&str> = Vec::new();
    for step in base.split('/').chain(path.split('/')) {
        match step {
            "" | "." => {}
            ".." => drop(steps.pop()?),
            step => steps.push(step),
        }
    }
    (!steps.is_empty()).then(|| steps.join("/"))
}
