//! SARIF 2.1.0, as code scanning reads it: a result for everything that is not as expected, at its line of the test file.

use serde_json::{Value, json};
use suite::test::{CaseResult, Failure, FileResult, MatrixRun, Verdict};

use super::{line, place};
use crate::format::sarif::document;
use report::render::escape::plain;
use report::render::sarif::braces;

pub(crate) fn render(played: &[FileResult]) -> String {
    let results: Vec<Value> = played.iter().flat_map(results).collect();
    let rules = [
        json!({ "id": "unexpected", "shortDescription": { "text": "A case did not end as expected." } }),
        json!({ "id": "not-tried", "shortDescription": { "text": "No case of a file could be tried." } }),
    ];
    document("proof test", &rules, None, &results)
}

fn results(file: &FileResult) -> Vec<Value> {
    let mut results = Vec::new();
    for at in &file.runs {
        if let Some(why) = &at.not_run {
            let text = format!("Not tried {}: {why}", place(at));
            results.push(result("not-tried", file, (1, 1), &text, &format!("not-tried/{}", place(at))));
        }
        for case in &at.cases {
            if let Verdict::Failed(failures) = &case.verdict {
                results.extend(failures.iter().enumerate().map(|(number, one)| failed(file, at, case, number, one)));
            }
        }
    }
    results
}

fn failed(file: &FileResult, at: &MatrixRun, case: &CaseResult, number: usize, failure: &Failure) -> Value {
    let text = format!("{}: {} ({})", case.name, line(failure), place(at));
    // The case's name outlives the lines above it.
    let identity = format!("{}/{}/{number}", case.name, place(at));
    result("unexpected", file, (failure.at.line, failure.at.column), &text, &identity)
}

fn result(rule: &str, file: &FileResult, (line, column): (usize, usize), text: &str, identity: &str) -> Value {
    let uri = file.path.to_string_lossy().replace('\\', "/");
    json!({
        "ruleId": rule,
        "kind": "fail",
        "level": "error",
        "message": { "text": braces(&plain(text).replace("](", "] (")) },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": plain(&uri) },
            "region": { "startLine": line, "startColumn": column },
        } }],
        "partialFingerprints": { "proofTest/v1": plain(identity) },
    })
}
