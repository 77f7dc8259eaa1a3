//! What is wrong with a file: what happened, where, what to try. Knows nothing of YAML.

use std::fmt;

use wire::escape;

/// How many errors are listed; a file with more has one cause for most.
const MOST: usize = 50;

/// A place in a file, as editors count: from 1, columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// What happened.
    pub what: String,
    /// Where in the file; `None` where it is about the file itself.
    pub at: Option<Position>,
    /// What to try.
    pub remedy: String,
}

impl FileError {
    /// An error at a place, or of the file itself.
    pub fn new(at: impl Into<Option<Position>>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), at: at.into(), remedy: remedy.into() }
    }
}

/// Everything that is wrong with a file, in the order of places; never nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileErrors {
    /// The file, as it was named.
    pub file: String,
    /// What is wrong with it.
    pub list: Vec<FileError>,
    /// How many more there are.
    pub more: usize,
}

impl FileErrors {
    /// What is wrong with `file`.
    pub fn new(file: &str, mut list: Vec<FileError>) -> Self {
        list.sort_by_key(|error| error.at);
        // One slip may be found by two checks.
        list.dedup();
        let more = list.len().saturating_sub(MOST);
        list.truncate(MOST);
        Self { file: file.to_owned(), list, more }
    }
}

impl fmt::Display for FileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = escape::line(&self.file);
        for (index, FileError { what, at, remedy }) in self.list.iter().enumerate() {
            let begin = if index == 0 { "" } else { "\n" };
            write!(f, "{begin}error: {} – {file}", escape::line(what))?;
            if let Some(Position { line, column }) = at {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, "\n  try: {}", escape::line(remedy))?;
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for FileErrors {}

/// The names among `known` that `name` may be a slip for: the one that it shortens (`args`) or else the nearest, or
/// all where none is near.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let likeness = |other: &str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let meant = known
        .clone()
        .map(|other| (shortens(name, other), likeness(other), other))
        .filter(|(shortens, likeness, _)| *shortens || *likeness > 0.75)
        .max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    if let Some((.., meant)) = meant {
        return format!("`{meant}`");
    }
    let names: Vec<String> = known.map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "leave it out".to_owned(),
        [only] => only.clone(),
        names => format!("one of {}", names.join(", ")),
    }
}

/// Whether `name` is `other` with letters left out, though not the first, and three or more of them kept.
fn shortens(name: &str, other: &str) -> bool {
    let mut letters = other.chars();
    name.len() > 2
        && name.chars().next() == other.chars().next()
        && name.chars().all(|kept| letters.any(|one| one == kept))
}

/// The beginning of a text that an error quotes.
pub fn quoted(text: &str) -> String {
    format!("`{}`", escape::snippet(text, 60))
}
