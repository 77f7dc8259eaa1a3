//! `proof scan` in the formats that have cases, and the table of classes.

use std::path::Path;

use serde_json::{Value, json};

use crate::harness::proof;
use crate::scan::{list, written};

/// Every format that has a verdict of its own.
const CASES: [&str; 2] = ["junit", "tap"];

/// Scans a list that has a finding that fails, one that does not, and one that is suppressed.
fn mixed(format: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let tools = json!({ "tools": [
        { "name": "add", "description": "Adds <b>two</b> # numbers.\u{200b}", "inputSchema": { "type": "object" } },
        { "name": "sub", "description": "Subtracts.\u{200b}", "inputSchema": { "type": "object" } },
        { "name": "delete_all", "annotations": { "readOnlyHint": true }, "inputSchema": { "type": "object" } },
    ] });
    let file = written(folder.path(), "tools.json", &tools.to_string());
    let report: Value = serde_json::from_str(&proof(&["scan", "--format", "json", &file]).stdout).expect("JSON");
    let results = report["results"].as_array().expect("results");
    let sub = results.iter().find(|result| result["place"]["item"] == "sub").expect("a finding of sub");
    let entry =
        format!("[[suppress]]\nfingerprint = {}\nreason = \"ours <3 #1\"\nexpires = 2999-01-01\n", sub["fingerprint"]);
    let suppressions = written(folder.path(), "scan.toml", &entry);
    let ran = proof(&["scan", "--format", format, "--suppressions", &suppressions, &file]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    ran.stdout
}

#[test]
fn junit() {
    insta::assert_snapshot!(mixed("junit"));
}

#[test]
fn tap() {
    insta::assert_snapshot!(mixed("tap"));
}

#[test]
fn html() {
    let page = mixed("html");
    let body = page.split_once("<body>").and_then(|(_, rest)| rest.split_once("<footer>")).expect("a body").0;
    insta::assert_snapshot!(body);
    assert!(page.contains("default-src 'none'") && !page.contains("<script"), "it loads and runs nothing");
}

/// How many cases of a report fail.
fn failing(format: &str, text: &str) -> usize {
    if format == "tap" {
        let points = text.lines().filter(|line| line.starts_with("not ok"));
        return points.filter(|line| !line.contains(" # TODO ")).count();
    }
    let xml = roxmltree::Document::parse(text).expect("XML");
    xml.descendants().filter(|node| node.has_tag_name("failure") || node.has_tag_name("error")).count()
}

#[test]
fn cases_fail_only_where_the_scan_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let many: Vec<_> = (0..130)
        .map(|n| {
            json!({ "name": format!("t{n}"), "description": "\u{200b}x",
        "inputSchema": { "type": "object" } })
        })
        .collect();
    let hidden = "{\"trace\":\"proof.trace/1\",\"subject\":\"server\",\"transport\":\"stdio\",\"case\":\"x\"}\n\
        {\"at\":1,\"from\":\"server\",\"line\":{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}}\n{\"at\":";
    for (name, text, fail_on, code, number) in [
        ("clean.json", list("Adds two numbers.").to_string(), "info", 0, 0),
        ("hidden.json", list("Adds.\u{200b}").to_string(), "high", 1, 1),
        ("many.json", json!({ "tools": many }).to_string(), "high", 1, 101),
        ("cut.jsonl", hidden.to_owned(), "high", 1, 1),
        (
            "warned.json",
            json!({ "tools": [{ "name": "delete_all", "annotations": { "readOnlyHint": true },
            "inputSchema": { "type": "object" } }] })
            .to_string(),
            "high",
            0,
            0,
        ),
    ] {
        let file = written(folder.path(), name, &text);
        for format in CASES {
            let ran = proof(&["scan", "--fail-on", fail_on, "--format", format, &file]);
            assert_eq!(ran.code, Some(code), "{name}: {}{}", ran.stdout, ran.stderr);
            assert_eq!(failing(format, &ran.stdout), number, "{name} {format}: {}", ran.stdout);
        }
        let page = proof(&["scan", "--fail-on", fail_on, "--format", "html", &file]).stdout;
        assert_eq!(page.matches("<div class=\"case f\">").count(), number, "{name}");
        let verdict = if code == 0 { "<h1 class=\"p\">Passed" } else { "<h1 class=\"f\">Failed" };
        assert!(page.contains(verdict), "{name}");
    }
}

#[test]
fn the_page_on_scans_has_the_table_of_classes() {
    let table = proof(&["scan", "--classes", "--format", "markdown"]);
    assert_eq!(table.code, Some(0), "{}", table.stderr);
    assert_eq!(table.stdout.lines().count(), 2 + 8);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scan.md");
    let page = std::fs::read_to_string(page).expect("docs/scan.md");
    assert!(page.contains(&table.stdout), "paste this into docs/scan.md:\n{}", table.stdout);
    let text = proof(&["scan", "--classes"]).stdout;
    assert!(text.contains("context poisoning\n    Install: scan.hidden-characters"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(proof(&["scan", "--classes", "--format", "sarif"]).code, Some(2));
    assert_eq!(proof(&["scan", "--classes", "tools.json"]).code, Some(2));
}
