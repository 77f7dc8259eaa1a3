//! What comes out of a verb that judges, as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// What fails, what is known, and where the report goes.
#[derive(Args)]
#[group(skip)]
pub(crate) struct OutputArgs {
    /// Lowest level of a broken rule that fails the check
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "must", help_heading = "What comes out")]
    pub(crate) fail_on: FailOn,
    /// Known findings (docs/reports.md): new ones fail, stale entries too
    #[arg(long, value_name = "FILE", help_heading = "What comes out")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write today's findings as a baseline; reasons that are there stay
    #[arg(long, value_name = "FILE", help_heading = "What comes out")]
    pub(crate) write_baseline: Option<PathBuf>,
    /// The report's format
    #[arg(long, value_enum, default_value = "human", help_heading = "What comes out")]
    pub(crate) format: Format,
    /// Write the report to a file instead of stdout
    #[arg(long, value_name = "FILE", help_heading = "What comes out")]
    pub(crate) output: Option<PathBuf>,
    /// Write the same report in another format, too (again for more)
    #[arg(long, value_name = "FORMAT=FILE", value_parser = also, help_heading = "What comes out")]
    pub(crate) also: Vec<(Format, PathBuf)>,
    /// Keep every case's trace, secrets redacted
    #[arg(long, value_name = "DIR", help_heading = "What comes out")]
    pub(crate) save_trace: Option<PathBuf>,
    /// List every rule, kept and not exercised ones too (human format)
    #[arg(long, short, help_heading = "What comes out")]
    pub(crate) verbose: bool,
}

/// What fails a check.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A broken MUST
    Must,
    /// A broken MUST or SHOULD
    Should,
}

impl From<FailOn> for report::FailOn {
    fn from(level: FailOn) -> Self {
        match level {
            FailOn::Must => Self::Must,
            FailOn::Should => Self::Should,
        }
    }
}

/// The report's format.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Human,
    /// One JSON document: proof.report/1
    Json,
    /// JUnit XML: Jenkins, GitLab and most others show it
    Junit,
    /// SARIF 2.1.0: code scanning
    Sarif,
    /// Markdown for a comment on a pull request
    Markdown,
    /// TAP version 14
    Tap,
    /// One page to look at in a browser
    Html,
}

/// `sarif=proof.sarif`
fn also(text: &str) -> Result<(Format, PathBuf), String> {
    let (format, path) = text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or("not FORMAT=FILE")?;
    let names = || Format::value_variants().iter().filter_map(|format| format.to_possible_value());
    let format = Format::from_str(format, false).map_err(|_| {
        let names: Vec<_> = names().map(|name| name.get_name().to_owned()).collect();
        format!("no such format; there are {}", names.join(", "))
    })?;
    Ok((format, path.into()))
}
