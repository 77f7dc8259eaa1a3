//! JUnit's XML: one suite, a case for each finding and for each rule without any.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use report::render::junit::{broken, case, document, line, lines, skipped};

use super::ScanView;
use super::cases::{Case, Outcome, cases};

/// The report as one XML document.
pub(crate) fn junit(view: &ScanView) -> String {
    let mut report = Report::new("proof scan");
    let mut suite = TestSuite::new(line(&view.scope()));
    suite.set_time(Duration::ZERO);
    suite.add_test_cases(cases(view).iter().map(of));
    let notes = view.notes.join("\n");
    suite.set_system_out(lines(&format!("{}\n{notes}", view.summary())));
    report.add_test_suite(suite);
    document(&report)
}

fn of(one: &Case<'_>) -> TestCase {
    let severity = one.severity.unwrap_or(one.class);
    let text = || {
        let details: Vec<_> = one.details().map(|(name, text)| format!("{name}: {text}")).collect();
        format!("{severity}: {}\n{}", one.message, details.join("\n"))
    };
    let of = |status| case(one.class, &one.name, Duration::ZERO, status);
    match &one.outcome {
        Outcome::Passed => of(TestCaseStatus::success()),
        // Viewers have no word between passed and failed; those that show a case's output show this.
        Outcome::Warning => {
            let mut case = of(TestCaseStatus::success());
            case.set_system_out(lines(&text()));
            case
        }
        Outcome::Suppressed(why) => of(skipped(why)),
        Outcome::Failed => of(broken(NonSuccessKind::Failure, severity, &one.message, &text())),
        Outcome::Incomplete => of(broken(NonSuccessKind::Error, severity, &one.message, &one.message)),
    }
}
