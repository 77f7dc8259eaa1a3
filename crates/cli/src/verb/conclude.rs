//! Writes the report and returns the exit code, for every verb that judges.

use std::time::{SystemTime, UNIX_EPOCH};

use judge::check::Checked;
use report::render::text::Paint;
use report::render::{html, human, json, junit, markdown, sarif, tap};
use report::{CommandRedactor, Made, ReportView};
use wire::redact::Redactor;

use crate::args::line::quoted;
use crate::args::output::{Format, OutputArgs};
use crate::exit::{Exit, tell};
use crate::verb::baselines::{self, Baselines};
use crate::verb::manifest::rules;
use crate::verb::output;

/// Where a report without a file goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// Stdout.
    Stdout,
    /// Stderr, because stdout carries the protocol.
    Stderr,
}

/// Before the check: reads the baselines, and checks that the output files can be written.
pub(crate) fn prepared(args: &OutputArgs) -> Result<Baselines, Exit> {
    let also = args.also.iter().map(|(_, path)| path);
    for path in args.to.output.iter().chain(&args.write_baseline).chain(also) {
        output::writable(path)?;
    }
    if let Some(directory) = &args.save_trace {
        output::folder(directory)?;
    }
    Baselines::read(args)
}

/// When this report is made, and the command line as typed; placeholders stand for secrets.
pub(crate) fn made(redactor: &Redactor) -> Made {
    let redactor = CommandRedactor::of(redactor);
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let words = words.map(|word| quoted(&redactor.text(&redactor.word(&word))));
    let command = std::iter::once("proof".to_owned()).chain(words).collect::<Vec<_>>().join(" ");
    let now = wire::timestamp::rfc3339(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
    // To the second.
    let at = now.split_once('.').map_or_else(|| now.clone(), |(seconds, _)| format!("{seconds}Z"));
    Made { at, command }
}

/// Writes and prints the report; returns the exit code.
pub(crate) fn conclude(args: &OutputArgs, baselines: Baselines, checked: &Checked, page: Page) -> Result<Exit, Exit> {
    let report = &checked.report;
    let rules = rules::index();
    let baseline = baselines.settle(report, &rules)?;
    let view = ReportView::new(report, &rules, baseline.as_ref(), args.fail_on.into());
    for (format, path) in &args.also {
        output::write_private(path, &rendered(*format, &view, args, Paint { colour: false }))?;
    }
    print(args, &view, page)?;
    for entry in view.stale() {
        tell(format_args!("stale: {} is {}", baselines::describe(entry), view.stale_advice(entry)));
    }
    Ok(if view.conclusion().passed { Exit::Clean } else { Exit::Finding })
}

fn print(args: &OutputArgs, view: &ReportView<'_>, page: Page) -> Result<(), Exit> {
    if args.to.output.is_none() && page == Page::Stderr {
        tell(rendered(args.format, view, args, Paint { colour: false }).trim_end());
        return Ok(());
    }
    args.to.write(&rendered(args.format, view, args, args.to.paint()))
}

fn rendered(format: Format, view: &ReportView<'_>, args: &OutputArgs, paint: Paint) -> String {
    let style = human::Style { paint, verbose: args.verbose };
    match format {
        Format::Human => human::render(view, style),
        Format::Json => json::render(view),
        Format::Html => html::render(view),
        Format::Junit => junit::render(view),
        Format::Sarif => sarif::render(view),
        Format::Markdown => markdown::render(view),
        Format::Tap => tap::render(view),
    }
}
