//! Verbs that read saved JSON reports: `proof badge` and `proof diff`.

use std::io::IsTerminal as _;
use std::path::Path;

use report::compare::compare;
use report::saved::Report;

use crate::args::saved_reports::{BadgeArgs, DiffArgs, DiffFormat};
use crate::exit::{Exit, usage};
use crate::verb::{given_file, output};
use report::render::text::Paint;
use report::render::{badge, diff};

/// The maximum size of a report in bytes, enough for hundreds of runs. Guards against devices without an end.
const LIMIT: u64 = 64 << 20;

/// Makes a badge.
pub(crate) fn badge(args: &BadgeArgs) -> Exit {
    let drawn = report(&args.report).map(|report| badge::render(&report)).and_then(|text| match &args.output {
        Some(path) => output::write(path, &text),
        None => output::print(&text),
    });
    drawn.map_or_else(|exit| exit, |()| Exit::Clean)
}

/// Compares two reports.
pub(crate) fn diff(args: &DiffArgs) -> Exit {
    compared(args).unwrap_or_else(|exit| exit)
}

fn compared(args: &DiffArgs) -> Result<Exit, Exit> {
    let (old, new) = (report(&args.old)?, report(&args.new)?);
    let comparison = compare(&old, &new);
    let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let text = match args.format {
        DiffFormat::Human => diff::human(&old, &new, &comparison, Paint { colour }),
        DiffFormat::Json => diff::json(&old, &new, &comparison),
    };
    output::print(&text)?;
    Ok(if comparison.is_worse() { Exit::Finding } else { Exit::Clean })
}

fn report(path: &Path) -> Result<Report, Exit> {
    let no_report = |why: &str| {
        let what = format!("{} is not a JSON report: {}", output::shown(path), wire::escape::line(why));
        usage(&what, "write one with `proof check --format json --output FILE`")
    };
    let text = given_file::text(path, LIMIT).map_err(|error| {
        let what = format!("cannot read {}: {error}", output::shown(path));
        usage(&what, "check the path and its permissions")
    })?;
    Report::parse(&text).map_err(|why| no_report(&why))
}
