//! What is made of saved reports and of the rules: `proof badge`, `proof diff`, `proof rules`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{check, proof, report};
use crate::printed::Printed;

/// Rules that the clean recording keeps and the hostile one breaks, and one that neither exercises.
const FEW: &str = "tools.names-unique,shape.results,jsonrpc.result-id,ping.answered";

fn saved(folder: &Path, name: &str, report: &Value) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, report.to_string()).expect("the file can be written");
    path
}

fn diff(old: &Value, new: &Value, more: &[&str]) -> Printed {
    let folder = tempfile::tempdir().expect("a folder");
    let (old, new) = (saved(folder.path(), "old.json", old), saved(folder.path(), "new.json", new));
    proof(&[&["diff", &*old.to_string_lossy(), &*new.to_string_lossy()], more].concat())
}

fn changed(recording: &str, edit: impl Fn(&mut Value)) -> Value {
    let mut report = report(recording, &["--only", FEW]);
    edit(&mut report);
    report
}

#[test]
fn comparisons_show_new_and_fixed_findings() {
    let (clean, broken) = (report("clean.jsonl", &["--only", FEW]), report("broken.jsonl", &["--only", FEW]));
    let ran = diff(&clean, &broken, &[]);
    assert_eq!(ran.code, Some(1));
    let told = ran.stderr.replace("\n       ", " ");
    assert!(told.contains("the reports are about two subjects: server `tidy`"), "{told}");
    assert!(told.contains("\n  try: compare reports of one server: "), "{told}");
    insta::assert_snapshot!(ran.stdout);
    let ran = diff(&broken, &clean, &[]);
    assert_eq!(ran.code, Some(0));
    insta::assert_snapshot!(ran.stdout);
    insta::assert_snapshot!(diff(&clean, &broken, &["--format", "json"]).stdout);
    let ran = diff(&broken, &broken, &[]);
    assert_eq!(ran.code, Some(0), "nothing is new");
    assert!(
        ran.stdout.ends_with("Not worse: 0 new findings (0 at MUST level), 0 fixed, 3 remaining.\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_rule_that_is_no_longer_judged_is_not_fixed() {
    let broken = report("broken.jsonl", &["--only", FEW]);
    let silent = changed("broken.jsonl", |report| {
        for finding in report["results"].as_array_mut().expect("results") {
            if finding["rule"] == "shape.results" {
                finding["outcome"] = "not-exercised".into();
            }
        }
    });
    let ran = diff(&broken, &silent, &[]);
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.stdout.contains("No longer judged: 1\n  shape.results stdio 2025-11-25: was fail, is not-exercised\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.ends_with("0 fixed, 2 remaining.\n"), "{}", ran.stdout);
    let ran = diff(&silent, &broken, &[]);
    assert_eq!(ran.code, Some(1), "a finding where nothing was judged before is new");
    assert!(ran.stdout.contains("Newly judged: 1\n"), "{}", ran.stdout);
}

#[test]
fn a_report_that_says_nothing_is_worse() {
    let clean = report("clean.jsonl", &["--only", FEW]);
    let nothing = report("clean.jsonl", &["--only", "http.accepted-202"]);
    let ran = diff(&clean, &nothing, &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.ends_with("Worse: the newer report judged no rule.\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Rules that are gone: 4\n"), "{}", ran.stdout);
    let cut = changed("clean.jsonl", |report| report["runs"][0]["cut_short"] = "it was gone".into());
    assert_eq!(diff(&clean, &cut, &[]).code, Some(1));
    assert_eq!(diff(&cut, &cut, &[]).code, Some(0));
}

#[test]
fn runs_and_levels_are_distinguished() {
    let clean = report("clean.jsonl", &["--only", FEW]);
    let moved = changed("clean.jsonl", |report| {
        report["runs"][0]["transport"] = "ws".into();
        for finding in report["results"].as_array_mut().expect("results") {
            finding["transport"] = "ws".into();
        }
    });
    let ran = diff(&clean, &moved, &[]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("Runs that are gone: 1\n  stdio 2025-11-25\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("New runs: 1\n  ws 2025-11-25\n"), "{}", ran.stdout);
    let should = ["--only", "tools.names-unique"];
    let ran = diff(&report("clean.jsonl", &should), &report("broken.jsonl", &should), &[]);
    assert_eq!(ran.code, Some(0), "a SHOULD is no MUST: {}", ran.stdout);
    assert!(ran.stdout.contains("1 new finding (0 at MUST level)"), "{}", ran.stdout);
}

fn badge(report: &Value) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = saved(folder.path(), "report.json", report);
    let ran = proof(&["badge", &path.to_string_lossy()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let target = folder.path().join("badge.svg");
    let written = proof(&["badge", &path.to_string_lossy(), "--output", &target.to_string_lossy()]);
    assert_eq!((written.code, written.stdout.as_str()), (Some(0), ""));
    assert_eq!(fs::read_to_string(target).expect("the badge"), ran.stdout);
    ran.stdout
}

#[test]
fn badges() {
    insta::assert_snapshot!(badge(&report("clean.jsonl", &["--only", FEW])));
    let label = |report: &Value| {
        let svg = badge(report);
        let document = roxmltree::Document::parse(&svg).expect("XML");
        let loads = |node: roxmltree::Node<'_, '_>| node.attributes().any(|a| matches!(a.name(), "href" | "src"));
        assert!(!document.descendants().any(loads), "{svg}");
        let label = document.root_element().attribute("aria-label").expect("a label").to_owned();
        let green = svg.contains("#1a7f37");
        (label, green)
    };
    let label_of = |recording: &str| label(&report(recording, &["--only", FEW]));
    assert_eq!(
        label_of("clean.jsonl"),
        ("MCP 2025-11-25: passed · 100/100 · all MUST were exercised".to_owned(), true)
    );
    assert_eq!(label_of("broken.jsonl"), ("MCP 2025-11-25: 2 MUST broken".to_owned(), false));
    let nothing = label(&report("clean.jsonl", &["--only", "http.accepted-202"]));
    assert_eq!(nothing, ("MCP: nothing judged".to_owned(), false));
    let cut = changed("clean.jsonl", |report| report["runs"][0]["cut_short"] = "it was gone".into());
    assert!(label(&cut).0.starts_with("MCP 2025-11-25: cut short") && !label(&cut).1);
    let hostile = changed("clean.jsonl", |report| {
        for finding in report["results"].as_array_mut().expect("results") {
            finding["revision"] = "<a href='x'>\u{202e}&".into();
        }
    });
    assert!(label(&hostile).0.starts_with("MCP <a href='x'>"), "read back as text");
}

#[test]
fn invalid_reports_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = changed("clean.jsonl", |report| report["schema"] = "proof.report/2".into());
    let score = changed("clean.jsonl", |report| report["summary"]["score"] = 1e300.into());
    let outcome = changed("clean.jsonl", |report| report["results"][0]["outcome"] = "fine".into());
    let cases = [
        ("not json".to_owned(), "line 1"),
        (String::new(), "line 1"),
        ("{}".to_owned(), "missing field `schema`"),
        ("[]".to_owned(), "line 1"),
        (r#"{"schema":"proof.report/1"}"#.to_owned(), "missing field"),
        (other.to_string(), "`schema` is `proof.report/2`, not `proof.report/1`"),
        (score.to_string(), "is no percentage"),
        (outcome.to_string(), "unknown variant `fine`"),
    ];
    let good = saved(folder.path(), "good.json", &report("clean.jsonl", &["--only", FEW]));
    let good = good.to_string_lossy();
    for (text, part) in cases {
        let path = folder.path().join("bad.json");
        fs::write(&path, text).expect("the file can be written");
        let path = path.to_string_lossy();
        for arguments in [&["badge", &path][..], &["diff", &path, &good], &["diff", &good, &path]] {
            let ran = proof(arguments);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}");
            let said = ["is not a JSON report: ", part, "bad.json", "\n  try: "];
            assert!(said.iter().all(|part| ran.stderr.contains(part)), "{part}: {}", ran.stderr);
        }
    }
    let endless = folder.path().join("endless.json");
    fs::File::create(&endless).and_then(|file| file.set_len(100 << 20)).expect("a large file");
    let ran = proof(&["badge", &endless.to_string_lossy()]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("too large: more than 64 MiB\n  try: "), "{}", ran.stderr);
    let ran = proof(&["badge", "/no/such/report.json"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot read") && ran.stderr.contains("\n  try: "), "{}", ran.stderr);
}

fn rules(more: &[&str]) -> (String, Vec<Value>) {
    let ran = proof(&[&["rules"], more].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let json = proof(&[&["rules", "--json"], more].concat());
    let document: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(document["schema"], "proof.rules/1");
    let rules = document["rules"].as_array().expect("rules").clone();
    let lines = ran.stdout.lines().skip(1).take_while(|line| !line.is_empty());
    // A long id stands on a line of its own, before its rule's.
    assert_eq!(lines.filter(|line| line.contains(' ')).count(), rules.len(), "a line each");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    (ran.stdout, rules)
}

#[test]
fn the_book() {
    insta::assert_snapshot!(rules(&["--only", "tools.names-*,http.accepted-*,ping.*,completion.inputs-validated"]).0);
    let (_, all) = rules(&[]);
    let count = |key: &str, value: &str| all.iter().filter(|rule| rule[key] == value).count();
    assert!(all.len() > 200 && count("judged", "judged") > 100 && count("binds", "both") > 3);
    for rule in &all {
        let sentences = rule["sentences"].as_array().expect("sentences");
        assert!(
            !sentences.is_empty()
                && sentences.iter().all(|s| s["url"].as_str().is_some_and(|u| u.starts_with("https://"))),
            "{rule}"
        );
    }
    let binds = |role: &str| -> BTreeSet<String> {
        rules(&["--role", role]).1.iter().map(|rule| rule["binds"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(binds("server"), ["both", "server"].map(str::to_owned).into());
    assert_eq!(binds("both"), ["both"].map(str::to_owned).into());
    let (_, old) = rules(&["--revision", "2024-11-05"]);
    assert!(old.len() < all.len());
    assert!(
        old.iter()
            .all(|rule| rule["sentences"].as_array().is_some_and(|s| s.len() == 1 && s[0]["revision"] == "2024-11-05"))
    );
    for (arguments, part) in [
        (&["rules", "--only", "tools.name-unique"][..], "unknown rule"),
        (&["rules", "--revision", "2025-11-26"], "2025-11-26"),
        (&["rules", "--only", "http.get-405", "--role", "client"], "no rule matches"),
    ] {
        let ran = proof(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
}

#[test]
fn text_of_a_peer_is_escaped_in_a_comparison() {
    let hostile = check("broken.jsonl", &["--format", "json"]);
    let report: Value = serde_json::from_str(&hostile.stdout).expect("JSON");
    for more in [&[][..], &["--format", "json"]] {
        let ran = diff(&report, &report, more);
        assert!(!ran.stdout.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{}", ran.stdout);
    }
}

#[test]
fn servers_are_not_compared() {
    for server in ["http://127.0.0.1:1/mcp", "127.0.0.1:1"] {
        let ran = proof(&["diff", server, server]);
        let told = ran.stderr.replace("\n       ", " ");
        let line = format!("try: save one first: proof check --format json -o report.json {server}\n");
        assert!(ran.code == Some(2) && told.contains(&line), "{told}");
    }
}
