//! What is wrong with a catalogue of tools, or with cases, before any model is asked: tools that are mistaken for each other or
//! not found, arguments that say nothing, keys that no answer can meet, and what the catalogue costs.

mod alike;
mod cases;
mod cost;
mod tools;

use crate::{CaseFile, Catalogue};

pub(crate) use alike::index;
pub(crate) use cost::cost_of;
pub use cost::{Cost, FAMILIES, estimate};

/// How many findings are kept.
const MOST_FINDINGS: usize = 5000;

/// What was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// No answer can meet what a case expects.
    Unsatisfiable,
    /// A case expects what the tools hardly allow.
    Doubtful,
    /// Two expectations accept the same call.
    Ambiguous,
    /// Two tools are told apart by little.
    Confusable,
    /// A search for what a tool says of itself does not find it.
    Unfindable,
    /// A tool does not say what it does.
    Description,
    /// An argument says only its name.
    Argument,
    /// An API does not take the name, or clients cut it.
    Name,
    /// The schema cannot be used.
    Schema,
}

impl Check {
    /// Its name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unsatisfiable => "unsatisfiable",
            Self::Doubtful => "doubtful",
            Self::Ambiguous => "ambiguous",
            Self::Confusable => "confusable",
            Self::Unfindable => "unfindable",
            Self::Description => "description",
            Self::Argument => "argument",
            Self::Name => "name",
            Self::Schema => "schema",
        }
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something to know.
    Note,
    /// Models are likely to be misled.
    Warning,
    /// Something cannot work.
    Error,
}

impl Severity {
    /// Its name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked for.
    pub check: Check,
    /// How bad it is.
    pub severity: Severity,
    /// The tool or the case.
    pub subject: String,
    /// The line of the case in its file.
    pub line: Option<usize>,
    /// Where in the arguments: a JSON pointer; empty for the whole.
    pub pointer: String,
    /// What was found.
    pub message: String,
    /// What to do.
    pub remedy: &'static str,
}

/// All that was found.
#[derive(Debug)]
pub struct Lint {
    /// The findings: of cases, then of tools, each in order.
    pub findings: Vec<Finding>,
    /// How many tools were looked at.
    pub tools: usize,
    /// How many cases were looked at.
    pub cases: usize,
    /// Whether all tools were compared with each other.
    pub is_compared: bool,
    /// What the catalogue costs, by family of clients.
    pub costs: Vec<Cost>,
}

/// Looks at the tools, and at cases where there are some.
pub fn lint(catalogue: &Catalogue, file: Option<&CaseFile>) -> Lint {
    let mut findings = Vec::new();
    if let Some(file) = file {
        cases::check(file, catalogue, &mut findings);
    }
    tools::check(catalogue, &mut findings);
    let is_compared = alike::check(catalogue, &mut findings);
    findings.truncate(MOST_FINDINGS);
    Lint {
        findings,
        tools: catalogue.tools().len(),
        cases: file.map_or(0, |file| file.cases.len()),
        is_compared,
        costs: cost::costs(catalogue),
    }
}

#[cfg(test)]
mod tests;
