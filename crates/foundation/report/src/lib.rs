//! What a check comes to: the model of a report, one conclusion (does the check fail, and why), and every format.
//!
//! Pure: no runtime, no files, no printing. It knows no rule: what formats say of rules is passed in as a [`RuleIndex`].

pub mod baseline;
mod commands;
pub mod compare;
mod conclusion;
mod defect_key;
mod evidence;
pub mod glob;
mod model;
pub mod render;
mod rule_index;
#[cfg(test)]
mod samples;
pub mod saved;
mod tally;
mod view;

pub use commands::{CommandRedactor, PLACEHOLDER, SESSION_ID};
pub use conclusion::{Conclusion, Counts, FailOn, Reason, ReasonKind};
pub use defect_key::DefectKey;
pub use evidence::{Excerpt, excerpt, sent};
pub use model::{
    Evidence, FORMAT, Finding, Made, Outcome, Report, Run, ScenarioRun, Sent, Served, Subject, Summary, UnknownTool,
};
pub use rule_index::{RuleIndex, RuleText, Sentence};
pub use tally::Tally;
pub use view::{Disposition, ReportView};
