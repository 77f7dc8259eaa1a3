//! JUnit's XML: a suite for each file and place, a case for each case.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use report::render::junit::{broken, case, document, skipped};
use suite::test::{CaseResult, FileResult, MatrixRun, Verdict};

use super::line;

pub(crate) fn render(played: &[FileResult]) -> String {
    let mut report = Report::new("proof test");
    for file in played {
        let path = file.path.to_string_lossy();
        report.add_test_suites(file.runs.iter().map(|place| suite(&path, place)));
    }
    document(&report)
}

fn suite(file: &str, place: &MatrixRun) -> TestSuite {
    let name = format!("{file} {}", super::place(place));
    let mut suite = TestSuite::new(report::render::junit::line(&name));
    suite.set_time(place.cases.iter().map(|case| case.elapsed).sum());
    suite.add_test_cases(place.cases.iter().map(|tried| of_case(file, &name, tried)));
    if let Some(why) = &place.not_run {
        let why = why.to_string();
        let status = broken(NonSuccessKind::Error, "not tried", &why, &why);
        suite.add_test_case(case(&name, "(server)", Duration::ZERO, status));
    }
    suite
}

fn of_case(file: &str, suite: &str, tried: &CaseResult) -> TestCase {
    let status = match &tried.verdict {
        Verdict::Passed => TestCaseStatus::success(),
        Verdict::Skipped(why) => skipped(why),
        Verdict::ExpectedFailure(why) => skipped(&format!("fails as expected: {why}")),
        Verdict::Failed(failures) => {
            let place = |line: usize, column: usize| format!("{file}:{line}:{column}");
            let lines: Vec<String> =
                failures.iter().map(|one| format!("{}: {}", place(one.at.line, one.at.column), line(one))).collect();
            let first = failures.first().map(line).unwrap_or_default();
            broken(NonSuccessKind::Failure, "unexpected", &first, &lines.join("\n"))
        }
    };
    case(suite, &tried.name, tried.elapsed, status)
}
