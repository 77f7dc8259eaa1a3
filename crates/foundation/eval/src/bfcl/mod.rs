//! Scores as `bfcl-eval` 2026.3.23 gives them for its single-turn categories: the same verdict and the same type of error,
//! its oddities included. Written from what it does; where it raises an exception, that is said.
//!
//! Multi-turn and agentic categories execute Python classes, and are not here.

mod check;
mod decode;
mod java;
mod javascript;
mod json;
mod keys;
mod kinds;
mod members;
mod numbers;
mod read;
mod values;

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

pub use decode::{Made, Mode, Output, mode};
pub use keys::{Keys, keys};
pub use read::{Entry, Results, Suite, entries, results};

use crate::python::Py;

/// A decoded call: the function and its arguments.
pub(crate) type Decoded<'t> = (Cow<'t, str>, Vec<(Py<'t>, Py<'t>)>);

/// The language of a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Values as they are.
    Python,
    /// Values are texts of Java's syntax.
    Java,
    /// Values are texts of JavaScript's syntax.
    JavaScript,
}

/// What a category asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One call of the only function.
    Simple,
    /// One call of one of several functions.
    Multiple,
    /// Several calls.
    Parallel,
    /// No call.
    Irrelevance,
    /// Any call.
    Relevance,
}

/// Categories that are not scored, and what bfcl-eval does for their verdicts.
const OUT: [(&str, &str); 4] = [
    ("multi_turn", "executes the calls of several turns in Python classes"),
    ("memory", "executes calls on a store in Python, and searches the last answer"),
    ("web_search", "asks the web, and searches the last answer"),
    ("format_sensitivity", "changes the prompt, and compares runs of a model"),
];

/// Why an entry cannot be scored: its category and the reason; `None` where it can, or has no category.
pub fn why_out(id: &str) -> Option<(&str, &'static str)> {
    let name = id.split(':').next()?.rsplit_once('_')?.0;
    let (_, why) = OUT.into_iter().find(|(part, _)| name.contains(part))?;
    Some((name, why))
}

/// What an identifier says of its category; `None` for categories that are not scored.
pub fn category(id: &str) -> Option<(&str, Kind, Language)> {
    let id = id.split(':').next().unwrap_or_default();
    let name = id.rsplit_once('_')?.0;
    if OUT.iter().any(|(other, _)| name.contains(other)) {
        return None;
    }
    let language = if name.contains("javascript") {
        Language::JavaScript
    } else if name.contains("java") {
        Language::Java
    } else {
        Language::Python
    };
    let kind = if name.contains("irrelevance") {
        Kind::Irrelevance
    } else if name.contains("relevance") {
        Kind::Relevance
    } else if name.contains("parallel") {
        Kind::Parallel
    } else if name.contains("multiple") {
        Kind::Multiple
    } else {
        Kind::Simple
    };
    Some((name, kind, language))
}

/// What became of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It is valid.
    Valid,
    /// It is not, with bfcl-eval's own name of the error.
    Invalid(&'static str),
    /// bfcl-eval raises an exception here, and gives no score at all.
    Raises,
    /// Calls in Java's or JavaScript's syntax are not read here.
    Unsupported,
}

impl Verdict {
    /// Whether the entry is valid.
    pub const fn is_valid(self) -> bool {
        matches!(self, Self::Valid)
    }

    /// The name of the error, if there is one.
    pub const fn error_type(self) -> Option<&'static str> {
        match self {
            Self::Valid => None,
            Self::Invalid(name) => Some(name),
            Self::Raises => Some("raises an exception"),
            Self::Unsupported => Some("not supported"),
        }
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.error_type().unwrap_or("valid"))
    }
}

/// Judges what a model put out for one entry.
pub fn judge(entry: &Entry, output: &Output<'_>, mode: Mode) -> Verdict {
    let is_source = entry.language != Language::Python;
    if mode == Mode::Prompt && is_source && matches!(output, Output::Text(_)) {
        return Verdict::Unsupported;
    }
    let decoded = decode::decode(output, mode);
    match entry.kind {
        Kind::Irrelevance if has_call(&decoded) => Verdict::Invalid("irrelevance_error:decoder_success"),
        Kind::Relevance if !has_call(&decoded) => Verdict::Invalid("relevance_error:decoder_failed"),
        Kind::Irrelevance | Kind::Relevance => Verdict::Valid,
        Kind::Simple | Kind::Multiple | Kind::Parallel => match decoded {
            Ok(Some(calls)) => check::calls(entry, &calls, mode),
            Ok(None) => Verdict::Invalid("ast_decoder:decoder_wrong_output_format"),
            Err(decode::Failed) => Verdict::Invalid("ast_decoder:decoder_failed"),
        },
    }
}

fn has_call(decoded: &Result<Option<Vec<Decoded<'_>>>, decode::Failed>) -> bool {
    matches!(decoded, Ok(Some(calls)) if !calls.is_empty())
}

#[cfg(test)]
mod tests;
