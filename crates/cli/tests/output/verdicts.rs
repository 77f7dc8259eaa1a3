//! The exit code against every format, over the situations that a recording can be in.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::check;

const OTHERS: [&str; 6] = ["human", "junit", "sarif", "markdown", "html", "tap"];

/// Broken in `broken.jsonl`: a MUST and a SHOULD. Kept in `clean.jsonl`.
const MUST: &str = "shape.results";
const SHOULD: &str = "tools.names-unique";

/// A recording, options, the rules in the baseline, the exit code, and the last line of the human report.
type Situation = (&'static str, &'static [&'static str], &'static [&'static str], i32, &'static str);

const SITUATIONS: [Situation; 12] = [
    ("clean.jsonl", &[], &[], 0, "Passed: no rule is broken."),
    ("broken.jsonl", &["--only", MUST], &[], 1, "Failed: 1 MUST rule broken."),
    ("broken.jsonl", &["--only", MUST, "--fail-on", "should"], &[], 1, "Failed: 1 MUST rule broken."),
    ("broken.jsonl", &["--only", SHOULD], &[], 0, "Passed: 1 warning."),
    (
        "broken.jsonl",
        &["--only", SHOULD, "--fail-on", "should"],
        &[],
        1,
        "Failed: 1 SHOULD rule broken (this check fails on SHOULD).",
    ),
    ("broken.jsonl", &["--only", MUST], &[MUST], 0, "Passed: 1 known."),
    ("broken.jsonl", &["--only", SHOULD, "--fail-on", "should"], &[SHOULD], 0, "Passed: 1 known."),
    ("clean.jsonl", &["--only", MUST], &[MUST], 1, "Failed: 1 baseline entry is stale."),
    ("clean.jsonl", &["--only", MUST], &["no.such-rule"], 1, "Failed: 1 baseline entry is stale."),
    ("clean.jsonl", &["--only", MUST], &[SHOULD], 0, "Passed: no rule is broken."),
    (
        "broken.jsonl",
        &["--only", "shape.results,tools.names-unique,ping.answered"],
        &[SHOULD, "no.such-rule"],
        1,
        "Failed: 1 MUST rule broken; 1 baseline entry is stale (1 known).",
    ),
    (
        "clean.jsonl",
        &["--only", "http.accepted-202"],
        &[],
        1,
        "Failed: no rule was judged, so this says nothing about the server.",
    ),
];

/// Whether a format's file says that the check failed, in its own sense.
fn failed(format: &str, text: &str) -> bool {
    match format {
        "human" => text.lines().any(|line| line.starts_with("Failed: ")),
        "junit" => {
            let xml = roxmltree::Document::parse(text).expect("XML");
            xml.descendants().any(|node| node.has_tag_name("failure") || node.has_tag_name("error"))
        }
        "sarif" => {
            let document: Value = serde_json::from_str(text).expect("JSON");
            document["runs"][0]["invocations"][0]["exitCode"] != 0
        }
        "markdown" => text.starts_with("**Failed: "),
        "html" => text.contains("class=\"verdict f\">Failed: "),
        _ => text.lines().any(|line| line.starts_with("not ok ") && !line.contains(" # TODO ")),
    }
}

fn baseline(folder: &Path, rules: &[&str]) -> String {
    let entry =
        |rule: &&str| json!({"rule": rule, "revision": "2025-11-25", "transport": "stdio", "reason": "because"});
    let document = json!({"schema": "proof.baseline/1", "known": rules.iter().map(entry).collect::<Vec<_>>()});
    let path = folder.join("known.json");
    fs::write(&path, document.to_string()).expect("the file can be written");
    path.to_string_lossy().into_owned()
}

#[test]
fn every_format_agrees_with_the_exit_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let also = OTHERS.map(|format| format!("--also={format}={}", folder.join(format).display()));
    for (recording, options, known, code, last) in SITUATIONS {
        let baseline = (!known.is_empty()).then(|| baseline(folder, known));
        let mut arguments = vec!["--format", "json"];
        arguments.extend(options);
        arguments.extend(also.iter().map(String::as_str));
        arguments.extend(baseline.iter().flat_map(|path| ["--baseline", path]));
        let ran = check(recording, &arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}");
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let verdict = &report["verdict"];
        assert_eq!((&verdict["passed"], &verdict["exit_code"]), (&json!(code == 0), &json!(code)), "{arguments:?}");
        for format in OTHERS {
            let text = fs::read_to_string(folder.join(format)).expect("a report");
            assert_eq!(failed(format, &text), code != 0, "{format}: {arguments:?}\n{text}");
            if format == "human" {
                assert_eq!(text.lines().last(), Some(last), "{arguments:?}");
                assert_eq!(Some(last), verdict["summary"].as_str().map(|summary| format!("{summary}.")).as_deref());
            }
        }
    }
}

/// Safety rules are judged only where they are asked for; a broken one fails the check.
#[test]
fn a_broken_safety_rule_fails_if_it_is_judged() {
    for recording in ["clean.jsonl", "broken.jsonl", "http.jsonl"] {
        for safety in [&[][..], &["--safety"]] {
            let ran = check(recording, &[&["--format", "json"], safety].concat());
            let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
            let fail = |level: &str| report["summary"][level]["fail"].as_u64().expect("a count");
            assert!(!safety.is_empty() || fail("safety") == 0, "{recording}");
            assert_eq!(ran.code, Some(i32::from(fail("must") + fail("safety") > 0)), "{recording} {safety:?}");
        }
    }
}
