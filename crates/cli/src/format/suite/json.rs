//! One JSON document: `proof.test/1`.

use std::time::Duration;

use serde_json::{Value, json};
use suite::test::{CaseResult, Failure, FileResult, MatrixRun, Tally, Verdict};

use super::coverage;

pub(crate) fn render(played: &[FileResult], elapsed: Duration) -> String {
    let total = Tally::of(played);
    let files: Vec<Value> = played
        .iter()
        .map(|file| json!({ "file": file.path.display().to_string(), "places": file.runs.iter().map(place).collect::<Vec<_>>() }))
        .collect();
    let mut document = json!({
        "schema": "proof.test/1",
        "proof": env!("CARGO_PKG_VERSION"),
        "summary": {
            "passed": total.passed,
            "failed": total.failed,
            "xfailed": total.expected_failures,
            "skipped": total.skipped,
            "elapsed_ms": milliseconds(elapsed),
        },
        "files": files,
    });
    if played.iter().any(|file| file.coverage.is_some()) {
        document["coverage"] = coverage::value(played);
    }
    format!("{}\n", wire::escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default()))
}

fn place(place: &MatrixRun) -> Value {
    json!({
        "transport": place.transport.map(|transport| transport.to_string()),
        "revision": place.revision.map(|revision| revision.to_string()),
        "hindered": place.not_run.as_ref().map(ToString::to_string),
        "cases": place.cases.iter().map(case).collect::<Vec<_>>(),
    })
}

fn case(case: &CaseResult) -> Value {
    let (verdict, why, failures) = match &case.verdict {
        Verdict::Passed => ("passed", None, &[][..]),
        Verdict::Failed(failures) => ("failed", None, failures.as_slice()),
        Verdict::ExpectedFailure(why) => ("xfailed", Some(why), &[][..]),
        Verdict::Skipped(why) => ("skipped", Some(why), &[][..]),
    };
    json!({
        "name": case.name,
        "line": case.at.line,
        "column": case.at.column,
        "verdict": verdict,
        "why": why,
        "elapsed_ms": milliseconds(case.elapsed),
        "failures": failures.iter().map(failure).collect::<Vec<_>>(),
    })
}

fn failure(failure: &Failure) -> Value {
    json!({
        "line": failure.at.line,
        "column": failure.at.column,
        "path": failure.path,
        "expected": failure.expected,
        "found": failure.found,
    })
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000_000.0).round() / 1000.0
}
