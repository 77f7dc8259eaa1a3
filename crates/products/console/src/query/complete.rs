//! Completion of a filter: what may stand at a place, with values from the rows that are there.

use super::parse::NAMES;
use crate::rows::{Direction, RowKind, Status};

/// How many suggestions are made.
const MOST: usize = 20;

/// What may replace a part of a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Where the part begins, in bytes.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// The best first.
    pub items: Vec<Suggestion>,
}

/// One suggestion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// What is put in place of the part.
    pub text: String,
    /// What it is.
    pub what: String,
}

/// Completes the part of `text` that ends at `at`. `values` names what rows have in a column: `method`, `tool`, `name`,
/// `finding`, `rev`.
pub fn complete(text: &str, at: usize, values: impl Fn(&str) -> Vec<String>) -> Completion {
    let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let before = &text[..at];
    let from = before.rfind([' ', '(', '|']).map_or(0, |space| space + 1);
    let from = from + before[from..].len() - before[from..].trim_start_matches(['-', '!']).len();
    let part = &before[from..];
    let Some((name, typed)) = part.split_once(':') else {
        return Completion { from, to: at, items: names(part) };
    };
    let typed_from = from + name.len() + 1 + typed.rfind(',').map_or(0, |comma| comma + 1);
    let typed = &before[typed_from..];
    let known: Vec<String> = match name {
        "status" => Status::ALL.iter().map(|status| status.as_str().to_owned()).collect(),
        "dir" => Direction::ALL.iter().map(|direction| direction.as_str().to_owned()).collect(),
        "kind" => RowKind::ALL.iter().map(|kind| kind.as_str().to_owned()).collect(),
        "level" => ["must", "should", "may", "safety"].map(str::to_owned).to_vec(),
        "finding" => [vec!["*".to_owned()], values(name)].concat(),
        "method" | "tool" | "name" | "rev" => values(name),
        _ => Vec::new(),
    };
    let items =
        ranked(&known, typed).into_iter().map(|value| Suggestion { text: quoted(value), what: name.to_owned() });
    Completion { from: typed_from, to: at, items: items.collect() }
}

fn names(part: &str) -> Vec<Suggestion> {
    let known: Vec<String> = NAMES.iter().map(|(name, _)| (*name).to_owned()).collect();
    let what = |name: &str| NAMES.iter().find(|(known, _)| *known == name).map_or("", |(_, what)| what);
    let items = ranked(&known, part).into_iter();
    items.map(|name| Suggestion { text: name.to_owned(), what: what(name).to_owned() }).collect()
}

/// Those that begin with what was typed, then those that contain it.
fn ranked<'v>(values: &'v [String], typed: &str) -> Vec<&'v str> {
    let typed = typed.trim_start_matches('"').to_lowercase();
    let rank = |value: &&String| match value.to_lowercase() {
        lower if lower.starts_with(&typed) => 0,
        lower if lower.contains(&typed) => 1,
        _ => 2,
    };
    let mut found: Vec<(i32, &str)> = values.iter().map(|value| (rank(&value), value.as_str())).collect();
    found.retain(|(rank, _)| *rank < 2);
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, value)| value).take(MOST).collect()
}

/// A value as it may stand in a filter.
fn quoted(value: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !matches!(c, '"' | '(' | ')' | '|' | ',' | '\\');
    if value == "*" || (value.chars().all(plain) && !value.contains('*') && !value.is_empty()) {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}
