//! JSON Lines of other tools: one value a line, with the line's number.

use serde_json::Value;

use crate::import::Unreadable;

/// How many lines a file may have.
const MOST: usize = 1_000_000;

/// All values of a text, and the lines on which they stand. Empty lines are left out.
pub(crate) fn values(text: &str) -> Result<Vec<(usize, Value)>, Unreadable> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        if found.len() == MOST {
            return Err(Unreadable::new("more than 1,000,000 lines", "several files").at(index + 1));
        }
        let bad = |error: serde_json::Error| {
            Unreadable::new(format!("not JSON: column {}", error.column()), "one JSON object a line").at(index + 1)
        };
        found.push((index + 1, serde_json::from_str(line).map_err(bad)?));
    }
    Ok(found)
}
