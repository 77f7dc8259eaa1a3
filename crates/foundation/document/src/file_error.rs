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
    /// Where in words, in place of the file: for what was not written by a person.
    pub place: Option<String>,
    /// What to try.
    pub remedy: String,
}

impl FileError {
    /// An error at a place, or of the file itself.
    pub fn new(at: impl Into<Option<Position>>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), at: at.into(), place: None, remedy: remedy.into() }
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
        for (index, FileError { what, at, place, remedy }) in self.list.iter().enumerate() {
            let begin = if index == 0 { "" } else { "\n" };
            let place = place.as_deref().map_or_else(|| file.clone(), escape::line);
            write!(f, "{begin}error: {} – {place}", escape::line(what))?;
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

/// How many names a suggestion has at most where none is near.
const NAMED: usize = 12;

/// The name among `known` that `name` is most likely a slip for: one that it shortens (`args`), or else the nearest.
pub fn slip<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|other| (shortens(name, other), likeness(name, other), other))
        .filter(|(shortens, likeness, _)| *shortens || *likeness > 0.75)
        .max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))
        .map(|(.., meant)| meant)
}

/// Whether a slip leaves no doubt, so that it can be taken for the other name.
pub(super) fn is_near(name: &str, other: &str) -> bool {
    shortens(name, other) || likeness(name, other) > 0.85
}

/// The name among `known` that `name` is a slip for, or those that there are, the nearest first.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    if let Some(meant) = slip(name, known.clone()) {
        return format!("`{meant}`");
    }
    let mut names: Vec<&str> = known.collect();
    let more = names.len().saturating_sub(NAMED);
    if more > 0 {
        names.sort_by(|one, other| likeness(name, other).total_cmp(&likeness(name, one)));
        names.truncate(NAMED);
    }
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "leave it out".to_owned(),
        [only] => only.clone(),
        names => format!("one of {}{rest}", names.join(", ")),
    }
}

fn likeness(name: &str, other: &str) -> f64 {
    strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase())
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
