//! JSON Lines of other tools: one value a line, with the line's number.

use serde_json::Value;

use crate::import::Unreadable;

/// How many lines a file may have.
const MOST: usize = 1_000_000;

/// All values of a text, and the lines on which they stand. Empty lines are left out.
pub(crate) fn values(text: &str) -> Result<Vec<(usize, Value)>, Unreadable> {
    let read =
        |(line, written)| serde_json::from_str(written).map(|value| (line, value)).map_err(|why| bad(&why, line));
    lines(text)?.into_iter().map(read).collect()
}

/// All lines that are not empty, with their numbers.
pub(crate) fn lines(text: &str) -> Result<Vec<(usize, &str)>, Unreadable> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let found: Vec<_> = numbered.filter(|(_, line)| !line.trim().is_empty()).take(MOST + 1).collect();
    match found.get(MOST) {
        Some((line, _)) => Err(Unreadable::new("more than 1,000,000 lines", "several files").at(*line)),
        None => Ok(found),
    }
}

/// What is said of a line that is not JSON.
pub(crate) fn bad(error: &serde_json::Error, line: usize) -> Unreadable {
    Unreadable::new(format!("not JSON: column {}", error.column()), "one JSON object a line").at(line)
}
