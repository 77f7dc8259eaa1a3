//! The report for people: plain words, 80 columns, readable without colour, ending with the one line a person needs.

mod coverage;
mod findings;
mod quiet;

use std::fmt::Write as _;

use wire::Level;

use super::detail::{SESSION_NOTE, curl_session};
use super::groups::{broken, grouped, places};
use super::phrases::{made, name, score};
use super::text::{Paint, count, wrap};
use crate::{Disposition, Finding, Report, ReportView};

/// What to show besides the findings.
#[derive(Clone, Copy)]
pub struct Style {
    /// With or without colour.
    pub paint: Paint,
    /// List every rule, not the broken ones only.
    pub verbose: bool,
}

/// How many scenarios and baseline entries are named.
const NAMED: usize = 12;

/// The report as text.
pub fn render(view: &ReportView<'_>, style: Style) -> String {
    let mut out = String::new();
    subject(&mut out, view.report, style.paint);
    if style.verbose {
        BROKEN.iter().rev().for_each(|kind| broken_rules(&mut out, view, *kind, style.paint));
    } else {
        findings::known(&mut out, view, style.paint);
        BROKEN.iter().skip(1).for_each(|kind| broken_rules(&mut out, view, *kind, style.paint));
    }
    unconfirmed(&mut out, view.report, style.paint);
    if style.verbose {
        quiet::rules(&mut out, view.report, style.paint);
    }
    table(&mut out, view.report, style.paint);
    also_served(&mut out, view);
    coverage::advice(&mut out, view, style.verbose);
    scenarios(&mut out, view);
    stale(&mut out, view);
    sessions(&mut out, view);
    traces(&mut out, view.report);
    conclusion(&mut out, view, style.paint);
    out
}

fn subject(out: &mut String, report: &Report, paint: Paint) {
    let subject = &report.subject;
    let name = name(subject);
    let version = subject.version.as_deref().unwrap_or_default();
    let title = wire::escape::line(&format!("{name} {version}")).trim().to_owned();
    let _ = writeln!(out, "{}", paint.bold(&title));
    if !subject.target.is_empty() {
        wrap(out, 0, &wire::escape::line(&subject.target));
    }
    out.push('\n');
}

/// Broken rules as they are shown, the worst last: it stands next to the prompt. A verbose report is read from its beginning,
/// and has the worst first.
const BROKEN: [Kind; 3] = [Kind::Known, Kind::Warning, Kind::Failing];

/// What a broken rule means for the check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Known,
    Warning,
    Failing,
}

impl Kind {
    const fn is(self, disposition: Disposition<'_>) -> bool {
        matches!(
            (self, disposition),
            (Self::Known, Disposition::Known(_))
                | (Self::Warning, Disposition::Warning)
                | (Self::Failing, Disposition::Failing)
        )
    }

    fn word(self, paint: Paint) -> String {
        match self {
            Self::Known => paint.dim("KNOWN"),
            Self::Warning => paint.yellow("WARN"),
            Self::Failing => paint.red("FAIL"),
        }
    }
}

/// The broken rules of one kind in full.
fn broken_rules(out: &mut String, view: &ReportView<'_>, kind: Kind, paint: Paint) {
    let shown = |finding: &&Finding| kind.is(view.disposition(finding)) && !view.is_explained(finding);
    for rule in broken(view, view.report.results.iter().filter(shown)) {
        findings::rule(out, view, &rule, &kind.word(paint), paint);
    }
}

/// One line per run: how many rules of each level came out how.
fn table(out: &mut String, report: &Report, paint: Paint) {
    let _ = writeln!(out, "Rules, by run       MUST                 SHOULD               SAFETY");
    let _ = writeln!(out, "                    pass  fail  not ex.  pass  warn  not ex.  pass  fail   time");
    for run in &report.runs {
        let [must, should, safety] = [Level::Must, Level::Should, Level::Safety].map(|level| report.tally(run, level));
        let _ = writeln!(
            out,
            "  {:<6}{:<10}  {:>4}  {:>4}  {:>7}  {:>4}  {:>4}  {:>7}  {:>4}  {:>4}  {:>4.1}s",
            run.transport,
            run.revision,
            must.pass,
            must.fail,
            must.not_exercised,
            should.pass,
            should.warn,
            should.not_exercised,
            safety.pass,
            safety.fail,
            run.elapsed_ms as f64 / 1000.0
        );
    }
    total(out, report);
    let note = "  not ex. = not exercised: the rule applies, but was not tested";
    let _ = writeln!(out, "{}\n", paint.dim(&format!("{note} (--verbose)")));
}

/// How long all runs took together, where there are several: they overlap.
fn total(out: &mut String, report: &Report) {
    if let Some(elapsed) = report.elapsed_ms.filter(|_| report.runs.len() > 1) {
        let words = "all runs, side by side";
        let _ = writeln!(out, "  {words:<72}{:>4.1}s", elapsed as f64 / 1000.0);
    }
}

/// What was broken once, and not in a second play.
fn unconfirmed(out: &mut String, report: &Report, paint: Paint) {
    for group in grouped(report.unconfirmed.iter()) {
        let first = group.first;
        let _ = writeln!(out, "{}  {}  {}", paint.dim("SEEN ONCE"), first.rule, first.level.as_str());
        wrap(out, 6, &places(&group.all));
        wrap(
            out,
            6,
            &wire::escape::line(&format!("not confirmed by a second play, so not counted: {}", first.message)),
        );
        if let Some(evidence) = first.evidence.first() {
            findings::quote(out, "seen:", evidence, paint);
        }
        out.push('\n');
    }
}

/// The revisions that were left out.
fn also_served(out: &mut String, view: &ReportView<'_>) {
    if let Some(served) = view.also_served() {
        wrap(out, 0, &format!("Also supports, not checked: {served} (--revision all)."));
    }
}

/// The commands that open a session for the `curl` commands which name one, once for each run.
fn sessions(out: &mut String, view: &ReportView<'_>) {
    let is_shown = |finding: &&Finding| finding.outcome.is_broken() && !view.is_explained(finding);
    let mut shown = Vec::new();
    for finding in view.report.results.iter().filter(is_shown) {
        let (run, commands) = ((finding.transport, finding.revision), curl_session(finding));
        if commands.is_empty() || shown.contains(&run) {
            continue;
        }
        shown.push(run);
        let (transport, revision) = run;
        wrap(out, 0, &format!("First, for a curl command of {transport} {revision} with SESSION-ID:"));
        for command in commands {
            let _ = writeln!(out, "  {}", wire::escape::line(command));
        }
        wrap(out, 0, SESSION_NOTE);
        out.push('\n');
    }
}

/// Where the traces are that the findings name.
fn traces(out: &mut String, report: &Report) {
    if let Some(folder) = &report.traces {
        let folder = wire::escape::line(folder);
        let _ = writeln!(out, "Traces: {folder}");
        let _ = writeln!(out, "(proof check --trace FILE judges one again)\n");
    }
}

/// Scenarios that a client did not end well in: shown, not scored.
fn scenarios(out: &mut String, view: &ReportView<'_>) {
    let played: usize = view.report.runs.iter().map(|run| run.scenarios.len()).sum();
    if played == 0 {
        return;
    }
    let mut ends: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for (run, scenario) in view.unhappy() {
        let place = format!("{} {}", run.transport, run.revision);
        match ends.iter_mut().find(|(name, ended, _)| (*name, *ended) == (scenario.name, &scenario.ended)) {
            Some((.., places)) => places.push(place),
            None => ends.push((scenario.name, &scenario.ended, vec![place])),
        }
    }
    let ended = match view.unhappy().count() {
        0 => "all ended as expected".to_owned(),
        unhappy => format!("{unhappy} did not end as expected"),
    };
    wrap(out, 0, &format!("{} played, {ended}.", count(played, "scenario")));
    for (name, ended, places) in ends.iter().take(NAMED) {
        wrap(out, 2, &wire::escape::line(&format!("{name}: {ended} ({})", places.join(", "))));
    }
    more(out, ends.len());
    out.push('\n');
}

/// The baseline's stale entries, by name.
fn stale(out: &mut String, view: &ReportView<'_>) {
    if view.stale().is_empty() {
        return;
    }
    for entry in view.stale().iter().take(NAMED) {
        let _ = writeln!(out, "STALE  {}", wire::escape::line(&entry.rule));
        wrap(out, 6, &wire::escape::line(&format!("{} {}", entry.transport, entry.revision)));
        wrap(out, 6, view.stale_advice(entry));
    }
    more(out, view.stale().len());
    out.push('\n');
}

fn more(out: &mut String, all: usize) {
    if all > NAMED {
        let _ = writeln!(out, "  and {} more: --format json lists all", all - NAMED);
    }
}

/// The score, and whether the check failed, and why.
fn conclusion(out: &mut String, view: &ReportView<'_>, paint: Paint) {
    if let Some(made) = made(view.report) {
        let mut lines = String::new();
        wrap(&mut lines, 0, &wire::escape::line(&made));
        lines.lines().for_each(|line| _ = writeln!(out, "{}", paint.dim(line)));
    }
    wrap(out, 0, &score(view.report));
    for (run, why) in view.cut_short() {
        wrap(out, 0, &wire::escape::line(&format!("Cut short at {} {}: {why}.", run.transport, run.revision)));
    }
    let conclusion = view.conclusion();
    let mut lines = String::new();
    wrap(&mut lines, 0, &format!("{}.", conclusion.summary));
    for line in lines.lines() {
        let painted = match (conclusion.passed, conclusion.counts.warnings) {
            (false, _) => paint.red(line),
            (true, 0) => paint.green(line),
            (true, _) => paint.yellow(line),
        };
        let _ = writeln!(out, "{painted}");
    }
}
