//! What counts as a complaint about an API, as a minimum missed, and as a table. Must not run anything.

use std::time::Duration;

use serde_json::{Value, json};

use super::table::{Row, shortfalls, written};

fn row(described: &str, score: f64, failed: u64, is_locked: bool) -> Row {
    let cases = json!([{ "name": "a" }, { "name": "b" }]);
    let tested = json!({
        "files": [{ "file": "x.mcp.yaml", "places": [{ "cases": cases }, { "cases": cases }] }],
        "summary": { "passed": 4 - failed, "failed": failed, "xfailed": 0, "skipped": 0 },
    });
    let checked = json!({ "summary": { "score": score }, "verdict": { "passed": true } });
    Row::new("x", described, (&checked, &tested), is_locked, Duration::ZERO).expect("whole reports")
}

#[test]
fn each_shortfall_of_an_api_is_a_complaint() {
    let good = "X (modelled): 3 tools\n\nThe API is at http://127.0.0.1:1/\n";
    assert_eq!(row(good, 100.0, 0, true).complaint(), None);
    for (bad, part) in [
        (row(good, 99.9, 0, true), "the score is 99.9/100"),
        (row(good, 100.0, 1, true), "3 cases passed, 1 did not"),
        (row(good, 100.0, 0, false), "lock"),
        (row("X: 0 tools\n", 100.0, 0, true), "cannot be called"),
        (row("X: 3 tools\n1 tool cannot be called: it needs credentials\n", 100.0, 0, true), "cannot be called"),
    ] {
        let complaint = bad.complaint().expect(part);
        assert!(complaint.contains(part), "{complaint}");
    }
}

#[test]
fn an_unfinished_check_is_not_clean() {
    let tested = json!({ "files": [], "summary": { "passed": 1, "failed": 0, "xfailed": 0, "skipped": 0 } });
    for verdict in [Value::Null, json!({ "passed": false })] {
        let checked = json!({ "summary": { "score": 100.0 }, "verdict": verdict });
        let row = Row::new("x", "X: 3 tools\n", (&checked, &tested), true, Duration::ZERO).expect("whole reports");
        assert!(row.complaint().is_some());
    }
    let checked = json!({ "summary": { "score": null } });
    assert!(Row::new("x", "X: 3 tools\n", (&checked, &tested), true, Duration::ZERO).is_err(), "nothing was judged");
}

#[test]
fn minimums_are_counted_over_all_and_cases_once() {
    let rows = [row("X: 3 tools\n", 100.0, 0, true)];
    let missed = shortfalls(&rows);
    assert_eq!(missed[0], "1 APIs, and 37 is the minimum");
    assert_eq!(missed[2], "2 cases, and 702 is the minimum", "a case at two places is one case");
    let page = "# A\n<!-- made by cargo xtask factory --write -->\nold\n<!-- end -->\nrest\n";
    let text = written(page, &rows).expect("a place");
    assert!(text.contains("| [x](x) | 3 | 1 | 2 | 100/100 |") && !text.contains("old"), "{text}");
    assert!(text.ends_with("<!-- end -->\nrest\n"));
    assert!(written("# A\n", &rows).is_err());
}
