//! Made-up reports in place of servers.

use serde_json::{Value, json};

use super::table::{Row, page, shortfalls, totals};
use super::way::{OTHERS, STDIO, Way};

fn tested(cases: usize, failed: usize) -> Value {
    let cases: Vec<Value> = (0..cases).map(|number| json!({ "name": format!("case {number}") })).collect();
    let summary = json!({ "passed": cases.len() - failed, "failed": failed, "xfailed": 0, "skipped": 0 });
    json!({ "summary": summary, "files": [{ "places": [{ "cases": cases }] }] })
}

fn checked(score: f64) -> Value {
    json!({ "summary": { "score": score, "must": { "pass": 40, "fail": 0, "not_exercised": 7 } } })
}

fn row(server: &str, way: &Way, cases: usize) -> Row {
    Row::new(server, way, &tested(cases, 0), &checked(100.0)).expect("whole reports")
}

#[test]
fn a_failed_case_and_a_lower_score_are_told() {
    assert_eq!(row("a", &STDIO, 3).complaint(), None);
    let failed = Row::new("a", &STDIO, &tested(3, 1), &checked(100.0)).expect("whole reports");
    assert_eq!(failed.complaint().as_deref(), Some("a.stdio: 2 cases passed, 1 did not"));
    let empty = Row::new("a", &STDIO, &tested(0, 0), &checked(100.0)).expect("whole reports");
    assert!(empty.complaint().is_some(), "no case passed");
    let lower = Row::new("a", &OTHERS[0], &tested(3, 0), &checked(99.9)).expect("whole reports");
    assert_eq!(lower.complaint().as_deref(), Some("a.http: the score is 99.9/100"));
    assert!(Row::new("a", &STDIO, &tested(3, 0), &json!({ "summary": { "score": null } })).is_err());
}

#[test]
fn a_case_counts_once_for_a_server() {
    let rows: Vec<Row> =
        ["a", "b"].iter().flat_map(|name| [row(name, &STDIO, 10), row(name, &OTHERS[1], 12)]).collect();
    let text = totals(&rows);
    assert!(text.contains("2 servers, 4 configurations: 24 cases, played 44 times, 44 passed"), "{text}");
    assert!(text.contains("100/100: 4 of 4"), "{text}");
    assert_eq!(shortfalls(&rows).len(), 3, "servers, configurations and cases");
    assert!(page(&rows).contains("| a | ws | 2025-03-26 | 12 | 12 | 100/100 | 40 | 7 |"));
}

#[test]
fn a_generated_file_starts_its_server_itself() {
    let generated = "# proof generate 00\n# About.\nserver:\n  url: http://127.0.0.1:1/mcp\nmatrix: { revisions: [x] }\ncases: []\n";
    let stdio = STDIO.rewritten(generated, "clock").expect("a file");
    assert!(
        stdio.contains("\n  command: [\"proof\",\"serve\",\"--stdio\",\"--catalog\",\"servers/clock.yaml\"]\nmatrix: "),
        "{stdio}"
    );
    let sse = OTHERS[2].rewritten(generated, "clock").expect("a file");
    assert!(
        sse.contains("\n  url: \"http://127.0.0.1:{port}/sse\"\n  transport: sse\nmatrix: ")
            && !sse.contains("127.0.0.1:1/"),
        "{sse}"
    );
    assert!(STDIO.rewritten("cases: []\n", "clock").is_err());
}

#[test]
fn the_kept_files_belong_to_servers() {
    let folder = crate::root().join("examples/corpus");
    let servers = std::fs::read_dir(folder.join("servers")).expect("servers").count();
    let files = std::fs::read_dir(&folder).expect("the corpus").filter_map(Result::ok);
    let names: Vec<_> = files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let tests: Vec<_> = names.iter().filter_map(|name| name.strip_suffix(".mcp.yaml")).collect();
    assert_eq!(tests.len(), servers * 2, "two ways each");
    for test in tests {
        let (server, _) = test.rsplit_once('.').expect("a way");
        assert!(folder.join("servers").join(format!("{server}.yaml")).is_file(), "{test}");
    }
}
