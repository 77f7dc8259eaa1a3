//! Options that the verbs of `proof eval` share: which cases count, and what is reported.

use clap::{Args, ValueEnum};

use super::percent;
use crate::args::output::Destination;

/// The cases that count.
#[derive(Args, Clone)]
pub(crate) struct SelectArgs {
    /// Only cases with TEXT in their name
    #[arg(long, value_name = "TEXT", help_heading = "Selection")]
    filter: Option<String>,
    /// Only cases with this tag (repeatable)
    #[arg(long, value_name = "TAG", help_heading = "Selection")]
    tag: Vec<String>,
}

impl SelectArgs {
    /// Whether a case counts.
    pub(crate) fn selects(&self, name: &str, tags: &[String]) -> bool {
        self.filter.as_ref().is_none_or(|text| name.contains(text.as_str()))
            && (self.tag.is_empty() || self.tag.iter().any(|tag| tags.contains(tag)))
    }
}

/// What is enough.
#[derive(Args, Clone, Copy)]
pub(crate) struct GateArgs {
    /// Share that must pass, in percent [default: 100]
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "Output")]
    pub(crate) min_score: Option<f64>,
}

/// The report.
#[derive(Args, Clone)]
pub(crate) struct ReportArgs<F: ValueEnum + Clone + Send + Sync + 'static> {
    /// List everything, not only what does not pass
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,
    /// Report format
    #[arg(long, value_enum, default_value = "human", help_heading = "Output")]
    pub(crate) format: F,
    #[command(flatten)]
    pub(crate) to: Destination,
}
