//! Tool calls in, from anywhere: one reader for each format, all of them into [`Sample`]s.
//!
//! Streams are put together by an [`Assembler`], which gives the same calls whatever the chunks. Everything is bounded.

mod chat;
mod detect;
mod drafts;
mod lines;
mod messages;
mod responses;
mod spans;
mod stream;
mod trace;

use std::fmt::{self, Display, Formatter};

use crate::call::Sample;

pub use detect::Format;
pub use stream::Assembler;

/// How many answers a file may hold.
pub const MOST_SAMPLES: usize = 1_000_000;

/// Why calls cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// What happened.
    pub what: String,
    /// The line, counted from 1, where the format has lines.
    pub line: Option<usize>,
    /// What to try.
    pub remedy: String,
}

impl Unreadable {
    pub(crate) fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), line: None, remedy: remedy.into() }
    }

    pub(crate) fn at(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }
}

impl Display for Unreadable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Unreadable {}

/// Reads the calls in a file, whose format is found out unless it is given.
pub fn read(bytes: &[u8], format: Option<Format>) -> Result<Vec<Sample>, Unreadable> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Unreadable::new(format!("not UTF-8 at byte {}", error.valid_up_to()), "a file of JSON, JSON Lines or events")
    })?;
    let text = text.trim_start_matches('\u{feff}');
    let samples = detect::read(text, format)?;
    if samples.len() > MOST_SAMPLES {
        return Err(Unreadable::new("more than 1,000,000 answers", "several files"));
    }
    Ok(samples)
}

#[cfg(test)]
mod tests;
