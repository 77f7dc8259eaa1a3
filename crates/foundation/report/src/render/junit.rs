//! JUnit's XML, as CI servers show it: a suite for each run, a case for each rule. A case fails just where the finding
//! fails the check.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite, XmlString};

use super::detail::detail;
use super::escape::plain;
use super::phrases::{self, score};
use crate::{Disposition, Finding, ReasonKind, ReportView, Run};

/// The report as one XML document.
pub fn render(view: &ReportView<'_>) -> String {
    let mut report = Report::new("proof check");
    let sum = || view.report.runs.iter().map(|run| run.elapsed_ms).sum();
    report.set_time(Duration::from_millis(view.report.elapsed_ms.unwrap_or_else(sum)));
    report.add_test_suites(view.report.runs.iter().map(|run| of_run(view, run)));
    let rest = of_check(view);
    if rest.tests > 0 {
        report.add_test_suite(rest);
    }
    document(&report)
}

/// A document's text.
pub fn document(report: &Report) -> String {
    report.to_string().expect("writing to memory does not fail")
}

/// One line of text from a peer: nothing in it is dropped silently, as the XML library would do with control characters.
pub fn line(text: &str) -> XmlString {
    XmlString::new(plain(text))
}

/// Text from a peer that keeps its lines.
pub fn lines(text: &str) -> XmlString {
    XmlString::new(text.lines().map(plain).collect::<Vec<_>>().join("\n"))
}

/// A case that does not pass: its type, its message and, below it, its text.
pub fn broken(element: NonSuccessKind, kind: &str, message: &str, text: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(element);
    status.set_type(line(kind)).set_message(line(message)).set_description(lines(text));
    status
}

/// A case that was skipped, and why.
pub fn skipped(why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(line(why));
    status
}

/// A case that took `time`.
pub fn case(class: &str, name: &str, time: Duration, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(line(name), status);
    case.set_classname(line(class)).set_time(time);
    case
}

/// The rules of one run, and whether it ran to its end.
fn of_run(view: &ReportView<'_>, run: &Run) -> TestSuite {
    let mut suite = TestSuite::new(format!("{} {}", run.transport, run.revision));
    suite.set_time(Duration::from_millis(run.elapsed_ms));
    suite.add_properties(properties(view, run).map(|(name, value)| (XmlString::new(name), line(&value))));
    if let Some(made) = &view.report.made {
        suite.extra.insert(XmlString::new("timestamp"), line(made.at.trim_end_matches('Z')));
    }
    let class = format!("{}.{}", run.transport, run.revision);
    suite.add_test_cases(view.of_run(run).map(|finding| of_rule(view, &class, finding)));
    if let Some(why) = &run.cut_short {
        let message = format!("cut short: {why}");
        let status = broken(NonSuccessKind::Error, "cut short", &message, &message);
        suite.add_test_case(case(&class, "(run)", Duration::ZERO, status));
    }
    suite
}

/// Reasons to fail that belong to no run's rule.
fn of_check(view: &ReportView<'_>) -> TestSuite {
    let mut suite = TestSuite::new("check");
    if let Some(why) = view.conclusion().reason(ReasonKind::NothingJudged) {
        let status = broken(NonSuccessKind::Error, "nothing judged", why, why);
        suite.add_test_case(case("check", "(judged)", Duration::ZERO, status));
    }
    for entry in view.stale() {
        let status = broken(NonSuccessKind::Failure, "stale", view.stale_advice(entry), view.stale_advice(entry));
        suite.add_test_case(case("baseline", &phrases::entry(entry), Duration::ZERO, status));
    }
    suite.set_time(Duration::ZERO);
    suite
}

fn of_rule(view: &ReportView<'_>, class: &str, finding: &Finding) -> TestCase {
    let (level, detail) = (finding.level.as_str(), || detail(view, finding));
    let one = |status| case(class, finding.rule, Duration::ZERO, status);
    match view.disposition(finding) {
        Disposition::Passed => one(TestCaseStatus::success()),
        // Viewers have no word between passed and failed; those that show a case's output show this.
        Disposition::Warning => {
            let mut case = one(TestCaseStatus::success());
            case.set_system_out(lines(&format!("{} ({level}): {}", finding.outcome.as_str(), detail())));
            case
        }
        Disposition::Known(reason) => one(skipped(&phrases::known(view, finding, reason))),
        Disposition::NotJudged(why) => one(skipped(&format!("{why}: {}", finding.message))),
        Disposition::Failing => one(broken(NonSuccessKind::Failure, level, view.headline(finding), &detail())),
    }
}

fn properties(view: &ReportView<'_>, run: &Run) -> impl Iterator<Item = (&'static str, String)> {
    let subject = &view.report.subject;
    let named = |name: &Option<String>| name.clone().unwrap_or_default();
    [
        ("subject", named(&subject.name)),
        ("subject.version", named(&subject.version)),
        ("target", subject.target.clone()),
        ("transport", run.transport.to_string()),
        ("revision", run.revision.to_string()),
        ("score", score(view.report)),
        ("verdict", view.conclusion().summary.clone()),
        ("proof", view.report.proof.to_owned()),
        ("command", view.report.made.as_ref().map(|made| made.command.clone()).unwrap_or_default()),
    ]
    .into_iter()
    .filter(|(name, value)| *name != "command" || !value.is_empty())
}
