//! What a model should do: cases with the calls that are expected of it, read from YAML.

mod model;
mod read;
mod write;

use std::fmt::{self, Display, Formatter};

use document::Position;

use crate::matcher::Matcher;

pub use read::{parse, schema};
pub use write::{Draft, write};

/// A file of cases.
#[derive(Debug)]
pub struct CaseFile {
    /// The file with the tools that the model was offered, as the case file names it.
    pub tools: Option<String>,
    /// The cases, in order; names are unique.
    pub cases: Vec<Case>,
}

/// One question to a model, and what it should do.
#[derive(Debug)]
pub struct Case {
    /// What the case is called; answers name it.
    pub name: String,
    /// Where it stands.
    pub at: Position,
    /// What the model was asked.
    pub prompt: Option<String>,
    /// Words to select it by.
    pub tags: Vec<String>,
    /// Why it is not scored, if it is not.
    pub skip: Option<String>,
    /// The expected calls; none where the model should call nothing.
    pub expect: Vec<ExpectedCall>,
    /// How calls are compared.
    pub order: Order,
    /// Tools that must not be called.
    pub forbid: Vec<String>,
}

/// One expected call.
#[derive(Debug)]
pub struct ExpectedCall {
    /// The tool.
    pub tool: String,
    /// What its arguments should be.
    pub arguments: Vec<(String, Matcher)>,
    /// Whether the call may be left out.
    pub is_optional: bool,
    /// Whether arguments that are not listed may have any value that the schema allows.
    pub ignores_others: bool,
}

/// How the calls of an answer are compared with the expected ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// These calls in this order, and no others.
    Strict,
    /// These calls in this order; others may stand between.
    InOrder,
    /// These calls in any order, and no others.
    #[default]
    Unordered,
    /// No other calls than these; at least one of them.
    Subset,
    /// These calls in any order; there may be others.
    Superset,
}

impl Order {
    /// All ways.
    pub const ALL: [Self; 5] = [Self::Strict, Self::InOrder, Self::Unordered, Self::Subset, Self::Superset];

    /// The name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::InOrder => "in-order",
            Self::Unordered => "unordered",
            Self::Subset => "subset",
            Self::Superset => "superset",
        }
    }

    /// Whether calls that nobody expects fail the case.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Strict | Self::Unordered | Self::Subset)
    }
}

impl Display for Order {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;
