//! What came of test files, as text.

mod coverage;
mod difference;
mod html;
mod human;
mod json;
mod junit;
mod markdown;
mod sarif;
mod tap;

pub(crate) use html::render as html;
pub(crate) use human::{Style, render as human};
pub(crate) use json::render as json;
pub(crate) use junit::render as junit;
pub(crate) use markdown::render as markdown;
pub(crate) use sarif::render as sarif;
pub(crate) use tap::render as tap;

use suite::test::{Failure, MatrixRun, Tally};

/// How many cases ended how, in words; how many passed stands first, and then how many failed, where any did.
fn sums(tally: Tally) -> Vec<String> {
    let Tally { passed, failed, expected_failures, skipped } = tally;
    let mut words = vec![format!("{passed} passed")];
    for (number, word) in [(failed, "failed"), (expected_failures, "failed as expected"), (skipped, "skipped")] {
        if number > 0 {
            words.push(format!("{number} {word}"));
        }
    }
    words
}

/// Where the cases were tried, in words.
fn place(place: &MatrixRun) -> String {
    let revision = place.revision.map(|revision| revision.to_string());
    let transport = place.transport.map(|transport| format!("over {transport}"));
    let words: Vec<String> = revision.into_iter().chain(transport).collect();
    if words.is_empty() { "nowhere".to_owned() } else { words.join(" ") }
}

/// A failure in one line.
fn line(failure: &Failure) -> String {
    let path = failure.path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
    format!("{path}expected {}, found {}", failure.expected, failure.found)
}
