//! TAP 14: a test point for each rule in each run. `not ok` without a directive is just what fails the check.

use std::fmt::Write as _;

use workbench::report::Finding;

use super::detail::{event, sentence};
use super::escape::{plain, tap, yaml};
use super::sheet::{Sheet, Standing, name, score};

/// Test points under construction.
#[derive(Default)]
struct Points {
    text: String,
    count: usize,
}

/// The report as a TAP document.
pub(crate) fn render(sheet: &Sheet<'_>) -> String {
    let mut points = Points::default();
    for run in &sheet.report.runs {
        for finding in sheet.of_run(run) {
            points.rule(sheet, finding);
        }
        if let Some(why) = &run.cut_short {
            points.failed(&format!("{} {} ran to its end", run.transport, run.revision), why);
        }
    }
    if sheet.is_vacuous() {
        points.failed("something was judged", &sheet.vacuous());
    }
    for entry in &sheet.stale {
        let place = format!("{} {} {} in the baseline", entry.transport, entry.revision, entry.rule);
        points.failed(&place, "no longer occurs; take it out of the baseline");
    }
    let subject = &sheet.report.subject;
    let name = format!("{} {}", name(subject), subject.version.as_deref().unwrap_or_default());
    let mut out = format!("TAP version 14\n1..{}\n# {}\n", points.count, plain(name.trim()));
    if !subject.target.is_empty() {
        let _ = writeln!(out, "# {}", plain(&subject.target));
    }
    let _ = writeln!(out, "{}# {}\n# {}", points.text, score(&sheet.report.summary), sheet.verdict());
    out
}

impl Points {
    fn rule(&mut self, sheet: &Sheet<'_>, finding: &Finding) {
        let name = format!("{} {} {}", finding.transport, finding.revision, finding.rule);
        match sheet.standing(finding) {
            Standing::Kept => self.point(true, &name, None),
            Standing::Silent(why) => {
                self.point(true, &name, Some(("SKIP", &format!("{why}: {}", finding.message))));
            }
            Standing::Known(reason) => {
                let reason = format!("known: {}", reason.unwrap_or("no reason given"));
                self.point(false, &name, Some(("TODO", &reason)));
                self.diagnosis(finding);
            }
            Standing::Warns => {
                self.point(true, &name, None);
                self.diagnosis(finding);
            }
            Standing::Fails => {
                self.point(false, &name, None);
                self.diagnosis(finding);
            }
        }
    }

    fn failed(&mut self, name: &str, why: &str) {
        self.point(false, name, None);
        let _ = writeln!(self.text, "  ---\n  message: {}\n  ...", yaml(why));
    }

    fn point(&mut self, ok: bool, name: &str, directive: Option<(&str, &str)>) {
        self.count += 1;
        let word = if ok { "ok" } else { "not ok" };
        let _ = write!(self.text, "{word} {} - {}", self.count, tap(name));
        if let Some((directive, reason)) = directive {
            let _ = write!(self.text, " # {directive} {}", tap(reason));
        }
        self.text.push('\n');
    }

    fn diagnosis(&mut self, finding: &Finding) {
        self.text.push_str("  ---\n");
        let text = &mut self.text;
        let mut line = |key: &str, value: &str| _ = writeln!(text, "  {key}: {}", yaml(value));
        line("message", &finding.message);
        line("severity", finding.outcome.as_str());
        line("level", finding.level.as_str());
        if let Some(sentence) = sentence(finding) {
            line("rule", sentence);
        }
        line("see", &finding.url);
        if let Some(evidence) = finding.evidence.first() {
            line("at", &event(evidence));
            line("excerpt", &evidence.excerpt);
        }
        if let Some(repro) = &finding.repro {
            line("again", repro);
        }
        self.text.push_str("  ...\n");
    }
}
