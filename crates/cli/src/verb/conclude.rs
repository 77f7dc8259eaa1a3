//! From a report to files, stdout and the exit code: the same for every verb that judges.

use std::io::IsTerminal as _;

use workbench::check::Checked;

use crate::args::output::{Format, OutputArgs};
use crate::exit::{Exit, tell};
use crate::format::sheet::Sheet;
use crate::format::text::Paint;
use crate::format::{html, human, json, junit, markdown, sarif, tap};
use crate::verb::known::{self, Baselines};
use crate::verb::output;

/// Where a report goes that no file is named for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// Where it belongs.
    Stdout,
    /// Where it must, because stdout is somebody else's.
    Stderr,
}

/// What a verb needs from files, read before it begins, and whether its files can be written.
pub(crate) fn prepared(args: &OutputArgs) -> Result<Baselines, Exit> {
    let also = args.also.iter().map(|(_, path)| path);
    for path in args.output.iter().chain(&args.write_baseline).chain(also) {
        output::writable(path)?;
    }
    if let Some(directory) = &args.save_trace {
        output::folder(directory)?;
    }
    Baselines::read(args)
}

/// Writes and prints the report, and tells the exit code.
pub(crate) fn conclude(args: &OutputArgs, baselines: Baselines, checked: &Checked, page: Page) -> Result<Exit, Exit> {
    let report = &checked.report;
    let baseline = baselines.settle(report)?;
    let stale = baseline.iter().flat_map(|baseline| baseline.stale(report)).collect();
    let sheet = Sheet { report, baseline: baseline.as_ref(), stale, fail_on: args.fail_on };
    for (format, path) in &args.also {
        output::write(path, &rendered(*format, &sheet, args, false))?;
    }
    print(args, &sheet, page)?;
    for entry in &sheet.stale {
        tell(format_args!("stale: {} no longer occurs; take it out of the baseline", known::named(entry)));
    }
    Ok(if sheet.fails() { Exit::Finding } else { Exit::Clean })
}

fn print(args: &OutputArgs, sheet: &Sheet<'_>, page: Page) -> Result<(), Exit> {
    let colour = args.output.is_none()
        && page == Page::Stdout
        && std::io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none();
    let text = rendered(args.format, sheet, args, colour);
    match (&args.output, page) {
        (Some(path), _) => output::write(path, &text),
        (None, Page::Stdout) => output::print(&text),
        (None, Page::Stderr) => {
            tell(text.trim_end());
            Ok(())
        }
    }
}

fn rendered(format: Format, sheet: &Sheet<'_>, args: &OutputArgs, colour: bool) -> String {
    let style = human::Style { paint: Paint { colour }, verbose: args.verbose };
    match format {
        Format::Human => human::render(sheet, style),
        Format::Json => json::render(sheet),
        Format::Html => html::render(sheet.report, &|finding| sheet.is_known(finding)),
        Format::Junit => junit::render(sheet),
        Format::Sarif => sarif::render(sheet),
        Format::Markdown => markdown::render(sheet),
        Format::Tap => tap::render(sheet),
    }
}
