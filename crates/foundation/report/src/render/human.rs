//! The report for people: plain words, 80 columns, readable without colour, ending with the one line a person needs.

use std::fmt::Write as _;

use rules::Level;
use workbench::report::{Evidence, Finding, Outcome, Report, Tally};

use super::groups::{Group, groups, places};
use super::sheet::{Sheet, name, score};
use super::text::{Paint, WIDTH, count, marked, wrap};

/// What to show beside the findings.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    pub(crate) paint: Paint,
    /// List every rule, not the broken ones only.
    pub(crate) verbose: bool,
}

/// The report as text.
pub(crate) fn render(sheet: &Sheet<'_>, style: Style) -> String {
    let (report, known) = (sheet.report, &|finding: &Finding| sheet.is_known(finding));
    let mut out = String::new();
    subject(&mut out, report, style.paint);
    if style.verbose {
        quiet_rules(&mut out, report, style.paint);
    }
    for outcome in [Outcome::Warn, Outcome::Fail] {
        for group in groups(report, outcome) {
            finding(&mut out, &group, known, style.paint);
        }
    }
    table(&mut out, report, style.paint);
    scenarios(&mut out, sheet);
    verdict(&mut out, sheet, style.paint);
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

fn finding(out: &mut String, group: &Group<'_>, known: &dyn Fn(&Finding) -> bool, paint: Paint) {
    let first = group.first;
    let word = match first.outcome {
        Outcome::Fail => paint.red("FAIL"),
        _ => paint.yellow("WARN"),
    };
    let all_known = if group.all.iter().all(|f| known(f)) { "  (known)" } else { "" };
    let _ = writeln!(out, "{word}  {}  {}{all_known}", paint.bold(first.rule), first.level.as_str());
    wrap(out, 6, &places(&group.all));
    wrap(out, 6, &wire::escape::line(&first.message));
    if let Some(evidence) = first.evidence.first() {
        quote(out, evidence, paint);
    }
    let _ = writeln!(out, "      {}", paint.dim(&first.url));
    if let Some(repro) = &first.repro {
        let _ = writeln!(out, "      again: {}", wire::escape::line(repro));
    }
    out.push('\n');
}

/// The excerpt with a caret line under its offending part, folded to the width of the page.
fn quote(out: &mut String, evidence: &Evidence, paint: Paint) {
    const INDENT: usize = 8;
    for (line, marks) in marked(&evidence.excerpt, evidence.caret.clone(), WIDTH - INDENT) {
        let _ = writeln!(out, "      {} {line}", paint.dim(">"));
        if !marks.is_empty() {
            let _ = writeln!(out, "        {}", paint.red(&marks));
        }
    }
    let _ = writeln!(out, "      {}", paint.dim(&format!("event {} of case {}", evidence.event, evidence.case)));
}

/// Rules that were kept, not exercised or do not apply, one line each.
fn quiet_rules(out: &mut String, report: &Report, paint: Paint) {
    let before = out.len();
    for outcome in [Outcome::NotApplicable, Outcome::NotExercised, Outcome::Pass] {
        for group in groups(report, outcome) {
            let word = match outcome {
                Outcome::Pass => paint.green("pass"),
                Outcome::NotExercised => "n/e ".to_owned(),
                _ => paint.dim("n/a "),
            };
            let _ = writeln!(out, "{word}  {}  {}", group.first.rule, group.first.level.as_str());
            wrap(out, 6, &places(&group.all));
            wrap(out, 6, &wire::escape::line(&group.first.message));
        }
    }
    if out.len() > before {
        out.push('\n');
    }
}

/// One line per run: how many rules of each level came out how.
fn table(out: &mut String, report: &Report, paint: Paint) {
    let _ = writeln!(out, "                    MUST                 SHOULD               SAFETY");
    let _ = writeln!(out, "                    pass  fail  not ex.  pass  warn  not ex.  pass  fail   time");
    for run in &report.runs {
        let tally = |level: Level| {
            let mut tally = Tally::default();
            let here = |f: &&Finding| f.transport == run.transport && f.revision == run.revision && f.level == level;
            report.results.iter().filter(here).for_each(|f| tally.count(f.outcome));
            tally
        };
        let (must, should, safety) = (tally(Level::Must), tally(Level::Should), tally(Level::Safety));
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
    let _ = writeln!(
        out,
        "{}",
        paint.dim(&format!(
            "  not ex. = binds this {}, but nothing exercised it; --verbose says why",
            report.subject.kind
        ))
    );
    out.push('\n');
}

/// How many scenarios the names of runs are told for.
const TOLD: usize = 12;

/// What a client made of the scenarios that it was asked to play, where it did not come to a good end: said, not scored.
fn scenarios(out: &mut String, sheet: &Sheet<'_>) {
    let played: usize = sheet.report.runs.iter().map(|run| run.scenarios.len()).sum();
    if played == 0 {
        return;
    }
    let mut ends: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for (run, scenario) in sheet.unhappy() {
        let place = format!("{} {}", run.transport, run.revision);
        match ends.iter_mut().find(|(name, ended, _)| (*name, *ended) == (scenario.name, &scenario.ended)) {
            Some((.., places)) => places.push(place),
            None => ends.push((scenario.name, &scenario.ended, vec![place])),
        }
    }
    let ended = match sheet.unhappy().count() {
        0 => "to a good end".to_owned(),
        unhappy => format!("{unhappy} of them without a good end"),
    };
    wrap(out, 0, &format!("{} played, {ended}.", count(played, "scenario")));
    for (name, ended, places) in ends.iter().take(TOLD) {
        wrap(out, 2, &wire::escape::line(&format!("{name}: {ended} ({})", places.join(", "))));
    }
    if ends.len() > TOLD {
        let _ = writeln!(out, "  and {} more: --format json names them all", ends.len() - TOLD);
    }
    out.push('\n');
}

fn verdict(out: &mut String, sheet: &Sheet<'_>, paint: Paint) {
    let report = sheet.report;
    wrap(out, 0, &score(&report.summary));
    let broken =
        |outcome| groups(report, outcome).into_iter().filter(|g| !g.all.iter().all(|f| sheet.is_known(f))).count();
    let (fail, warn) = (broken(Outcome::Fail), broken(Outcome::Warn));
    for (run, why) in sheet.cut_short() {
        wrap(out, 0, &wire::escape::line(&format!("Cut short at {} {}: {why}.", run.transport, run.revision)));
    }
    let stale = sheet.stale.len();
    if stale > 0 {
        wrap(out, 0, &format!("Stale in the baseline: {stale}."));
    }
    let all = groups(report, Outcome::Fail).len() + groups(report, Outcome::Warn).len();
    let old = all - fail - warn;
    let line = match (fail, warn) {
        (0, 0) if sheet.is_vacuous() => paint.red(&format!("{}.", sheet.vacuous())),
        (0, 0) if sheet.cut_short().next().is_some() => paint.red("Not clean: much was not tried."),
        (0, 0) if stale > 0 => paint.red("Not clean: the baseline knows what no longer occurs."),
        (0, 0) if old > 0 => paint.green(&format!("Clean: nothing new broken, {old} known.")),
        (0, 0) => paint.green("Clean: nothing broken."),
        (0, warn) => paint.yellow(&format!("No MUST broken; {} to mend: see WARN above.", count(warn, "SHOULD"))),
        (fail, 0) => paint.red(&format!("{} broken: see FAIL above.", count(fail, "rule"))),
        (fail, warn) => {
            paint.red(&format!("{} broken (FAIL above), {} to mend (WARN above).", count(fail, "rule"), warn))
        }
    };
    let _ = writeln!(out, "{line}");
}
