//! Where results go, the output options of the verbs that judge, and the formats of every report.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// What fails the check, the baseline, and the report.
#[derive(Args)]
#[group(skip)]
pub(crate) struct OutputArgs {
    /// Lowest level that fails the check
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "must", help_heading = "Output")]
    pub(crate) fail_on: FailOn,
    /// Accept the findings in FILE; new and stale ones fail the check
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the findings to FILE as a baseline; keep existing reasons
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) write_baseline: Option<PathBuf>,
    /// Report format
    #[arg(long, value_enum, default_value = "human", help_heading = "Output")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) to: Destination,
    /// Also write the report in another format (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", value_parser = also::<Format>, help_heading = "Output")]
    pub(crate) also: Vec<(Format, PathBuf)>,
    /// Save the trace of every case to DIR, with secrets redacted
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) save_trace: Option<PathBuf>,
    /// List every rule, also those that hold or were not exercised
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,
}

/// Where the result of a verb goes: every verb with a result has this option.
#[derive(Args, Clone, Debug, Default)]
#[group(skip)]
pub(crate) struct Destination {
    /// Write to FILE instead of stdout
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
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
    /// Text
    Human,
    /// One JSON document: proof.report/1
    Json,
    /// JUnit XML, for most CI systems
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Markdown, for a pull request comment
    Markdown,
    /// TAP version 14
    Tap,
    /// A self-contained HTML page
    Html,
}

/// `sarif=proof.sarif`
pub(crate) fn also<F: ValueEnum>(text: &str) -> Result<(F, PathBuf), String> {
    let (format, path) = text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or("expected FORMAT=FILE")?;
    let names = || F::value_variants().iter().filter_map(|format| format.to_possible_value());
    let format = F::from_str(format, false).map_err(|_| {
        let names: Vec<_> = names().map(|name| name.get_name().to_owned()).collect();
        format!("unknown format; expected one of {}", names.join(", "))
    })?;
    Ok((format, path.into()))
}
