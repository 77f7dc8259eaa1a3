//! What came of test files, as text.

mod human;
mod json;
mod junit;
mod tap;

pub(crate) use human::{Style, render as human};
pub(crate) use json::render as json;
pub(crate) use junit::render as junit;
pub(crate) use tap::render as tap;

use workbench::test::{Failure, Place};

/// Where the cases were tried, in words.
fn place(place: &Place) -> String {
    let revision = place.revision.map(|revision| revision.to_string());
    let transport = place.transport.map(|transport| format!("over {transport}"));
    let words: Vec<String> = revision.into_iter().chain(transport).collect();
    if words.is_empty() { "nowhere".to_owned() } else { words.join(" ") }
}

/// A failure in one line.
fn line(failure: &Failure) -> String {
    let path = failure.path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
    format!("{path}expected {}, found {}", failure.wanted, failure.found)
}
