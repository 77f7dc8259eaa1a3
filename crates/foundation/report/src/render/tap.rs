//! TAP 14: a test point for each rule in each run. `not ok` without a directive is just what fails the check.

use std::fmt::Write as _;

use super::detail::event;
use super::escape::{plain, tap, yaml};
use super::groups::defects;
use super::phrases::{self, made, name, score};
use crate::{Disposition, Finding, ReasonKind, ReportView};

/// Test points under construction.
#[derive(Default)]
struct Points {
    text: String,
    count: usize,
}

/// The report as a TAP document.
pub fn render(view: &ReportView<'_>) -> String {
    let mut points = Points::default();
    for run in &view.report.runs {
        for finding in view.of_run(run) {
            points.rule(view, finding);
        }
        if let Some(why) = &run.cut_short {
            points.failed(&format!("{} {} ran to its end", run.transport, run.revision), why);
        }
    }
    let conclusion = view.conclusion();
    if let Some(why) = conclusion.reason(ReasonKind::NothingJudged) {
        points.failed("a rule was judged", why);
    }
    for entry in view.stale() {
        let place = format!("{} {} {} in the baseline", entry.transport, entry.revision, entry.rule);
        points.failed(&place, view.stale_advice(entry));
    }
    let subject = &view.report.subject;
    let name = format!("{} {}", name(subject), subject.version.as_deref().unwrap_or_default());
    let mut out = format!("TAP version 14\n1..{}\n# {}\n", points.count, plain(name.trim()));
    if !subject.target.is_empty() {
        let _ = writeln!(out, "# {}", plain(&subject.target));
    }
    if let Some(made) = made(view.report) {
        let _ = writeln!(out, "# {}", plain(&made));
    }
    for finding in &view.report.unconfirmed {
        let place = format!("{} {}", finding.transport, finding.revision);
        let _ = writeln!(out, "# seen once, not confirmed: {place} {}: {}", finding.rule, plain(&finding.message));
    }
    if let Some(served) = view.also_served() {
        let _ = writeln!(out, "# also supports, not checked: {served}");
    }
    if let Some(tools) = view.tools_unknown() {
        let _ = writeln!(out, "# warning: named {}", plain(&tools));
    }
    if let Some(tools) = view.tools_not_called() {
        let _ = writeln!(out, "# not called: {}", plain(&tools));
    }
    if let Some(tools) = view.tools_called_by_name() {
        let _ = writeln!(out, "# called: {}", plain(&tools));
    }
    let _ = writeln!(out, "{}# {}\n# {}.", points.text, score(view.report), conclusion.summary);
    out
}

impl Points {
    fn rule(&mut self, view: &ReportView<'_>, finding: &Finding) {
        let name = format!("{} {} {}", finding.transport, finding.revision, finding.rule);
        match view.disposition(finding) {
            Disposition::Passed => self.point(true, &name, None),
            Disposition::NotJudged(why) => {
                self.point(true, &name, Some(("SKIP", &format!("{why}: {}", finding.message))));
            }
            Disposition::Known(reason) => {
                self.point(false, &name, Some(("TODO", &phrases::known(view, finding, reason))));
                self.diagnosis(view, finding);
            }
            Disposition::Warning => {
                self.point(true, &name, None);
                self.diagnosis(view, finding);
            }
            Disposition::Failing => {
                self.point(false, &name, None);
                self.diagnosis(view, finding);
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

    fn diagnosis(&mut self, view: &ReportView<'_>, finding: &Finding) {
        self.text.push_str("  ---\n");
        let text = &mut self.text;
        let mut line = |key: &str, value: &str| _ = writeln!(text, "  {key}: {}", yaml(value));
        line("message", view.headline(finding));
        line("severity", finding.outcome.as_str());
        line("level", finding.level.as_str());
        if let Some(sentence) = view.sentence(finding) {
            line("rule", sentence);
        }
        if let Some(rule) = view.rule(finding).filter(|rule| !rule.fix.is_empty()) {
            line("fix", rule.fix);
        }
        line("see", &finding.url);
        let defects = defects(view, finding);
        if let Some(evidence) = defects.first().and_then(|first| first.evidence) {
            if let Some(sent) = &evidence.sent {
                line(if sent.answered { "sent" } else { "last_sent" }, &sent.text);
            }
            line("at", &event(evidence));
            line("excerpt", &evidence.excerpt);
        }
        for (at, defect) in defects.iter().enumerate() {
            let number = at + 1;
            if at > 0 {
                line(&format!("also_{number}"), &defect.text());
            }
            if let (true, Some(evidence)) = (at > 0, defect.evidence) {
                line(&format!("at_{number}"), &event(evidence));
            }
            if let Some(more) = defect.more() {
                line(&format!("more_{number}"), &more);
            }
        }
        if let Some(repro) = &finding.repro {
            line("reproduce", repro);
        }
        self.text.push_str("  ...\n");
    }
}
