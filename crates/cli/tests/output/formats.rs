//! The report for machines that show it: JUnit, SARIF, Markdown, TAP.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::{RECORDINGS, check, proof, report, results, unmade};

/// Rules that the hostile recording breaks, keeps, does not exercise, and that do not apply to it.
const FEW: &str = "tools.names-unique,tools.names-characters,shape.results,jsonrpc.result-id,jsonrpc.version-member,\
    stdio.only-messages-on-stdout,tools.list-answered,ping.answered,http.accepted-202";

const FORMATS: [&str; 4] = ["junit", "sarif", "markdown", "tap"];

fn few(format: &str) -> String {
    let ran = check("broken.jsonl", &["--format", format, "--only", FEW, "--baseline", "known.json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    ran.stdout
}

#[test]
fn junit() {
    insta::assert_snapshot!(few("junit"));
}

#[test]
fn sarif() {
    let mut document: Value = serde_json::from_str(&few("sarif")).expect("JSON");
    // The rules' help is the book's, and changes with it.
    let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array_mut().expect("rules");
    rules.truncate(1);
    insta::assert_snapshot!(serde_json::to_string_pretty(&document).expect("JSON"));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(few("markdown"));
}

#[test]
fn tap() {
    insta::assert_snapshot!(few("tap"));
}

#[test]
fn every_format_escapes_hostile_text() {
    for recording in RECORDINGS {
        for format in FORMATS {
            let ran = check(recording, &["--format", format, "--safety"]);
            let harmful = |c: char| {
                (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{fffe}' | '\u{ffff}')
            };
            assert!(!ran.stdout.contains(harmful), "{recording} {format}");
            assert_eq!(ran.stderr, "");
        }
    }
}

/// The rules that each format shows as what they are, against the JSON report.
#[test]
fn says_the_same_as_the_json_report() {
    for recording in RECORDINGS {
        let json = report(recording, &[]);
        let ids = |outcomes: &[&str]| -> BTreeSet<String> {
            let those = results(&json).iter().filter(|f| outcomes.iter().any(|outcome| f["outcome"] == *outcome));
            those.map(|f| f["rule"].as_str().unwrap_or_default().to_owned()).collect()
        };
        let text = check(recording, &["--format", "junit"]).stdout;
        let xml = roxmltree::Document::parse(&text).expect("XML");
        let cases = |child: &str| -> BTreeSet<String> {
            let parents = xml.descendants().filter(|node| node.has_tag_name(child)).filter_map(|node| node.parent());
            parents.filter_map(|case| case.attribute("name").map(str::to_owned)).collect()
        };
        assert_eq!(cases("failure"), ids(&["fail"]));
        assert_eq!(cases("skipped"), ids(&["not-exercised", "not-applicable"]));
        assert_eq!(cases("system-out"), ids(&["warn"]));
        let sarif: Value = serde_json::from_str(&check(recording, &["--format", "sarif"]).stdout).expect("JSON");
        let found = sarif["runs"][0]["results"].as_array().expect("results");
        let of = |level: &str| -> BTreeSet<String> {
            let those = found.iter().filter(|result| result["level"] == level);
            those.map(|result| result["ruleId"].as_str().unwrap_or_default().to_owned()).collect()
        };
        assert_eq!((of("error"), of("warning")), (ids(&["fail"]), ids(&["warn"])));
        let text = check(recording, &["--format", "tap"]).stdout;
        let not_ok = text.lines().filter_map(|line| line.strip_prefix("not ok ")?.rsplit(' ').next());
        assert_eq!(not_ok.map(str::to_owned).collect::<BTreeSet<_>>(), ids(&["fail"]));
    }
}

/// What the schema and GitHub's code scanning demand of every result.
#[test]
fn sarif_has_its_required_members() {
    for more in [&[][..], &["--baseline", "known.json"]] {
        let ran = check("broken.jsonl", &[&["--format", "sarif"], more].concat());
        let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(document["version"], "2.1.0");
        let run = &document["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
        for rule in rules {
            for text in ["shortDescription", "fullDescription", "help"] {
                assert!(rule[text]["text"].as_str().is_some_and(|text| !text.is_empty()), "{rule}");
            }
            assert!(rule["helpUri"].as_str().is_some_and(|uri| uri.starts_with("https://")), "{rule}");
        }
        let found = run["results"].as_array().expect("results");
        let mut prints = BTreeSet::new();
        for result in found {
            let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("a small one");
            assert_eq!(rules[index]["id"], result["ruleId"]);
            let place = &result["locations"][0]["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uri"], "proof/stdio/2025-11-25");
            assert_eq!(place["region"]["startLine"], 1);
            let print = result["partialFingerprints"]["primaryLocationLineHash"].as_str().expect("a fingerprint");
            assert!(prints.insert(print.to_owned()), "{print} twice");
            let known = result["baselineState"] == "unchanged";
            assert_eq!(result["baselineState"].is_null(), more.is_empty());
            assert_eq!((result["suppressions"].is_array(), result["level"] == "note"), (known, known), "{result}");
        }
        assert!(found.len() > 4, "{found:?}");
    }
}

#[test]
fn additional_formats_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |format: &str| folder.path().join(format).to_string_lossy().into_owned();
    let also: Vec<_> = FORMATS.iter().map(|format| format!("--also={format}={}", path(format))).collect();
    let also: Vec<_> = also.iter().map(String::as_str).collect();
    let ran = check("broken.jsonl", &also);
    let told = |text: &str, arguments: &[&str]| unmade(text, "broken.jsonl", arguments);
    assert_eq!(told(&ran.stdout, &also), told(&check("broken.jsonl", &[]).stdout, &[]));
    for format in FORMATS {
        let arguments = ["--format", format];
        let direct = check("broken.jsonl", &arguments);
        let written = std::fs::read_to_string(path(format)).expect("a report");
        assert_eq!(told(&written, &also), told(&direct.stdout, &arguments));
        assert_eq!(direct.code, ran.code);
    }
}

#[test]
fn additional_formats_need_valid_names() {
    for (value, part) in [
        ("xml=a", "expected one of human, json, junit"),
        ("junit", "expected FORMAT=FILE"),
        ("junit=", "expected FORMAT=FILE"),
    ] {
        let ran = proof(&["check", "--also", value]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    let ran = proof(&["check", "--also", "junit=/no/such/folder/a.xml"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot write") && ran.stderr.contains("\n  try: "), "{}", ran.stderr);
}
