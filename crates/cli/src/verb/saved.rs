//! Verbs about reports that were saved as JSON: `proof badge` and `proof diff`.

use std::io::IsTerminal as _;
use std::path::Path;

use workbench::report::compare::compare;
use workbench::report::saved::Report;

use crate::args::check::read;
use crate::args::reports::{BadgeArgs, DiffArgs, DiffFormat};
use crate::exit::{Exit, usage};
use crate::format::text::Paint;
use crate::format::{badge, diff};
use crate::verb::output;

/// Draws a badge.
pub(crate) fn badge(args: &BadgeArgs) -> Exit {
    let drawn = report(&args.report).map(|report| badge::render(&report)).and_then(|text| match &args.output {
        Some(path) => output::write(path, &text),
        None => output::print(&text),
    });
    drawn.map_or_else(|exit| exit, |()| Exit::Clean)
}

/// Tells what changed between two reports.
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
    Report::parse(&read(path)?).map_err(|why| {
        let what = format!("{} is no JSON report: {why}", output::shown(path));
        usage(&what, "`proof check --format json --output FILE` writes one")
    })
}
