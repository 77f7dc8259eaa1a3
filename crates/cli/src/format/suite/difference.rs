//! The difference between the expected and the actual value, in lines that are escaped for output.

use std::time::Duration;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use suite::test::Failure;
use wire::escape;

/// How many lines of a difference are shown.
const LINES: usize = 60;
/// How long two texts are compared; then, the rest counts as changed.
const LONGEST: Duration = Duration::from_secs(1);
/// How many characters of a line are shown.
const MAX_WIDTH: usize = 200;

/// A line of a difference.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    /// In both.
    Same(String),
    /// Only in the expected value.
    Expected(String),
    /// Only in the actual value.
    Found(String),
    /// A label (`expected`, `found`, or empty for a further line) and its text.
    Labelled(&'static str, String),
    /// The difference has more lines.
    More,
}

/// The difference of two texts of several lines, or both values in words.
pub(super) fn of(failure: &Failure) -> Vec<Line> {
    if let (Some(wanted), Some(found)) = (&failure.expected_value, &failure.value) {
        let (wanted, found) = (lines(wanted), lines(found));
        if wanted.lines().count() > 1 || found.lines().count() > 1 {
            return difference(&wanted, &found);
        }
    }
    let labelled = |word, text: &str| -> Vec<Line> {
        let words = std::iter::once(word).chain(std::iter::repeat(""));
        text.lines().zip(words).map(|(line, word)| Line::Labelled(word, escape::line(line).into_owned())).collect()
    };
    [labelled("expected", &failure.expected), labelled("found", &failure.found)].concat()
}

/// A value in lines: a text as it is, anything else as JSON.
fn lines(value: &Value) -> String {
    let text = match value {
        Value::String(text) if text.contains('\n') => text.clone(),
        value => serde_json::to_string_pretty(value).unwrap_or_default(),
    };
    let shown = |line: &str| {
        let cut: String = line.chars().take(MAX_WIDTH).collect();
        escape::line(&cut).into_owned() + if cut.len() < line.len() { "…" } else { "" }
    };
    text.lines().map(shown).collect::<Vec<_>>().join("\n")
}

fn difference(wanted: &str, found: &str) -> Vec<Line> {
    let diff = TextDiff::configure().timeout(LONGEST).diff_lines(wanted, found);
    let mut out = Vec::new();
    for change in diff.grouped_ops(2).iter().flatten().flat_map(|op| diff.iter_changes(op)) {
        if out.len() == LINES {
            out.push(Line::More);
            break;
        }
        let line = change.value().trim_end_matches('\n').to_owned();
        out.push(match change.tag() {
            ChangeTag::Equal => Line::Same(line),
            ChangeTag::Delete => Line::Expected(line),
            ChangeTag::Insert => Line::Found(line),
        });
    }
    out
}
