//! Verbs that read saved JSON reports: `proof badge` and `proof diff`.

use std::path::Path;

use report::CommandRedactor;
use report::compare::compare;
use report::saved::{Report, Subject};

use crate::args::address;
use crate::args::line::quoted;
use crate::args::saved_reports::{BadgeArgs, DiffArgs, DiffFormat};
use crate::exit::{Exit, tell, usage};
use crate::verb::{given_file, output};
use report::render::{badge, diff};
use wire::redact::Secrets;

/// The maximum size of a report in bytes, enough for hundreds of runs. Guards against devices without an end.
const LIMIT: u64 = 64 << 20;

/// Makes a badge.
pub(crate) fn badge(args: &BadgeArgs) -> Exit {
    drawn(args).map_or_else(|exit| exit, |()| Exit::Clean)
}

fn drawn(args: &BadgeArgs) -> Result<(), Exit> {
    args.to.check(&[&args.report])?;
    args.to.publish(&badge::render(&report(&args.report)?))
}

/// Compares two reports.
pub(crate) fn diff(args: &DiffArgs) -> Exit {
    compared(args).unwrap_or_else(|exit| exit)
}

fn compared(args: &DiffArgs) -> Result<Exit, Exit> {
    args.to.check(&[&args.old, &args.new])?;
    let (old, new) = (report(&args.old)?, report(&args.new)?);
    warn_about_other_subject(&old, &new);
    let comparison = compare(&old, &new);
    let text = match args.format {
        DiffFormat::Human => diff::human(&old, &new, &comparison, args.to.paint()),
        DiffFormat::Json => diff::json(&old, &new, &comparison),
    };
    args.to.write(&text)?;
    Ok(if comparison.is_worse() { Exit::Finding } else { Exit::Clean })
}

/// Warns where the reports are about two subjects: then every difference may come from that.
fn warn_about_other_subject(old: &Report, new: &Report) {
    let (old, new) = (&old.subject, &new.subject);
    let differs = match (&old.name, &new.name) {
        (Some(old), Some(new)) => old != new,
        _ => old.target != new.target,
    };
    if !differs && old.kind == new.kind {
        return;
    }
    let shown = |subject: &Subject| {
        let name = subject.name.as_deref().unwrap_or(&subject.target);
        format!("{} `{}`", wire::escape::snippet(&subject.kind, 20), wire::escape::snippet(name, 60))
    };
    tell(format_args!(
        "warning: the reports are about two subjects: {}, then {}; a difference may come from that\n  \
         try: compare reports of one server: check the older one's target again with its options, \
         `proof check --format json -o new.json …`",
        shown(old),
        shown(new)
    ));
}

/// Reports a server where a saved report is expected.
fn no_report_yet(server: &str) -> Exit {
    let mut secrets = Secrets::default();
    secrets.address(&address::server(server).unwrap_or_else(|| server.to_owned()));
    let url = quoted(&CommandRedactor::of(&net::new_redactor().knowing(&secrets)).word(server));
    let what = format!("`{url}` is a server: only saved reports are read");
    usage(&what, &format!("save one first: proof check --format json -o report.json {url}"))
}

fn report(path: &Path) -> Result<Report, Exit> {
    let no_report = |why: &str| {
        let what = format!("{} is not a JSON report: {}", output::shown(path), wire::escape::line(why));
        usage(&what, "write one with `proof check --format json --output FILE`")
    };
    let name = path.to_string_lossy();
    if name.contains("://") && !path.exists() || address::server(&name).is_some() {
        return Err(no_report_yet(&name));
    }
    let text = given_file::text(path, LIMIT).map_err(|error| {
        let what = format!("cannot read {}: {error}", output::shown(path));
        usage(&what, "check the path and its permissions")
    })?;
    Report::parse(&text).map_err(|why| no_report(&why))
}
