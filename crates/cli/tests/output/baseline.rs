//! Known findings: written, read, outlived.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::{check, proof, results};
use crate::printed::Printed;

fn written(folder: &Path) -> PathBuf {
    let path = folder.join("known.json");
    let ran = check("broken.jsonl", &["--write-baseline", &path.to_string_lossy()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("warning: ") && ran.stderr.contains(" without a reason in "), "{}", ran.stderr);
    edited(&path, |known| known.iter_mut().for_each(|entry| entry["reason"] = "because".into()));
    path
}

fn entries(path: &Path) -> Vec<Value> {
    let document: Value = serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON");
    document["known"].as_array().expect("entries").clone()
}

fn reason<'v>(entries: &'v [Value], rule: &str) -> Option<&'v str> {
    entries.iter().find(|entry| entry["rule"] == rule)?["reason"].as_str()
}

fn with(recording: &str, baseline: &Path, more: &[&str]) -> Printed {
    check(recording, &[&["--baseline", &baseline.to_string_lossy()], more].concat())
}

fn edited(path: &Path, edit: impl Fn(&mut Vec<Value>)) {
    let mut document: Value = serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON");
    edit(document["known"].as_array_mut().expect("entries"));
    fs::write(path, document.to_string()).expect("the file can be written");
}

#[test]
fn written_findings_are_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    for fail_on in ["must", "should"] {
        let ran = with("broken.jsonl", &path, &["--fail-on", fail_on]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        let last = ran.stdout.lines().last().unwrap_or_default();
        assert!(last.starts_with("Passed: ") && last.ends_with(" known."), "{last}");
        assert!(ran.stdout.contains("\nKNOWN  "), "{}", ran.stdout);
    }
}

#[test]
fn known_findings_have_their_reason_in_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    edited(&path, |known| {
        known.retain(|entry| entry["rule"] != "shape.results");
        known
            .iter_mut()
            .filter(|entry| entry["rule"] == "tools.names-unique")
            .for_each(|one| one["reason"] = "".into());
    });
    let ran = with("broken.jsonl", &path, &["--format", "json"]);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let mut marked = 0;
    for result in results(&report) {
        let broken = result["outcome"] == "fail" || result["outcome"] == "warn";
        let reason = match result["rule"].as_str() {
            Some("shape.results") => None,
            Some("tools.names-unique") => Some(""),
            _ => Some("because"),
        };
        assert_eq!(result.get("known").and_then(Value::as_str), reason.filter(|_| broken), "{result}");
        marked += usize::from(result.get("known").is_some());
    }
    assert!(marked > 3, "{marked} marked");
}

#[test]
fn a_finding_that_is_not_in_the_baseline_is_new() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    edited(&path, |known| known.retain(|entry| entry["rule"] != "shape.results"));
    let ran = with("broken.jsonl", &path, &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.ends_with("\nFailed: 1 MUST rule broken (4 known).\n"), "{}", ran.stdout);
}

#[test]
fn stale_entries_are_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    let ran = with("clean.jsonl", &path, &[]);
    assert_eq!(ran.code, Some(1));
    let stale = "stale: tools.names-unique at 2025-11-25 over stdio is no longer broken: remove it from the baseline\n";
    assert!(ran.stderr.contains(stale), "{}", ran.stderr);
    assert!(ran.stderr.lines().all(|line| line.starts_with("stale: ")), "{}", ran.stderr);
    let entry =
        "STALE  tools.names-unique\n      stdio 2025-11-25\n      no longer broken: remove it from the baseline\n";
    assert!(ran.stdout.contains(entry), "{}", ran.stdout);
    let last = ran.stdout.lines().last().unwrap_or_default();
    assert!(last.starts_with("Failed: ") && last.ends_with(" baseline entries are stale."), "{last}");
}

#[test]
fn stale_entries_are_listed_in_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    let stale = |recording: &str, more: &[&str]| -> Value {
        let ran = check(recording, &[&["--format", "json"], more].concat());
        let report: Value = serde_json::from_str(&ran.stdout).expect("a report");
        report.get("stale").cloned().unwrap_or_default()
    };
    let known = path.to_string_lossy();
    assert_eq!(stale("broken.jsonl", &["--baseline", &known]), json!([]));
    assert_eq!(stale("clean.jsonl", &[]), Value::Null);
    let listed = stale("clean.jsonl", &["--baseline", &known]);
    let listed = listed.as_array().expect("entries");
    assert!(!listed.is_empty() && listed.iter().all(|entry| entries(&path).contains(entry)), "{listed:?}");
    assert_eq!(reason(listed, "tools.names-unique"), Some("because"));
}

#[test]
fn entries_of_unknown_rules_are_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    let stranger = json!({"rule": "no.such-rule", "revision": "2025-11-25", "transport": "stdio", "reason": "because"});
    edited(&path, |known| known.push(stranger.clone()));
    let ran = with("broken.jsonl", &path, &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("stale: no.such-rule at "), "{}", ran.stderr);
}

#[test]
fn entries_that_were_not_judged_are_not_stale() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    for skipped in [&["--only", "shape.results"][..], &["--skip", "tools.*"]] {
        let ran = with("broken.jsonl", &path, skipped);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{skipped:?}");
    }
    edited(&path, |known| known.iter_mut().for_each(|entry| entry["transport"] = "ws".into()));
    let ran = with("clean.jsonl", &path, &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "judged over another transport");
    edited(&path, |known| {
        known.retain(|entry| entry["rule"] == "shape.results");
        known[0]["rule"] = "ping.answered".into();
        known[0]["transport"] = "stdio".into();
    });
    let ran = with("broken.jsonl", &path, &["--only", "ping.answered,tools.names-case-sensitive"]);
    assert!(!ran.stderr.contains("stale") && !ran.stdout.contains("KNOWN"), "{}{}", ran.stderr, ran.stdout);
}

#[test]
fn entries_without_a_reason_are_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    edited(&path, |known| {
        known[0]["reason"] = "".into();
        known[1]["reason"] = "  ".into();
    });
    let ran = with("broken.jsonl", &path, &[]);
    assert_eq!(ran.code, Some(0), "it is known all the same");
    assert!(ran.stderr.starts_with("warning: 2 without a reason in "), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("\n  try: explain each in its `reason`\n"), "{}", ran.stderr);
}

#[test]
fn an_entry_has_a_member_for_the_reason() {
    for reason in [None, Some(Value::Null), Some(json!(7))] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = written(folder.path());
        edited(&path, |known| match &reason {
            Some(reason) => known[0]["reason"] = reason.clone(),
            None => drop(known[0].as_object_mut().expect("an entry").remove("reason")),
        });
        let ran = with("broken.jsonl", &path, &[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
        assert!(ran.stderr.contains("is not a baseline: ") && ran.stderr.contains("\n  try: "), "{}", ran.stderr);
    }
}

#[test]
fn a_run_that_does_not_exist_is_no_entry() {
    for (member, part) in [("revision", "no revision: `2025-11-26`"), ("transport", "no transport: `2025-11-26`")] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = written(folder.path());
        edited(&path, |known| known[0][member] = "2025-11-26".into());
        let ran = with("broken.jsonl", &path, &[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
}

#[test]
fn rewriting_keeps_reasons() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    edited(&path, |known| {
        known.retain(|entry| entry["rule"] != "tools.names-unique");
        let elsewhere =
            json!({"rule": "tools.names-unique", "revision": "2025-11-25", "transport": "ws", "reason": "old"});
        let mended =
            json!({"rule": "jsonrpc.version-member", "revision": "2025-11-25", "transport": "stdio", "reason": "x"});
        known.extend([elsewhere, mended]);
    });
    let again = path.to_string_lossy();
    let before = fs::read_to_string(&path).expect("the file");
    for more in [&["--write-baseline", &*again][..], &["--write-baseline", &again, "--baseline", &again]] {
        fs::write(&path, &before).expect("the file can be written");
        let ran = check("broken.jsonl", more);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let gone = "removed from the baseline: jsonrpc.version-member at 2025-11-25 over stdio is no longer broken\n";
        assert!(ran.stderr.starts_with(gone), "{}", ran.stderr);
        assert!(ran.stderr.contains("warning: 1 without a reason in "), "{}", ran.stderr);
        let entries = entries(&path);
        assert_eq!(reason(&entries, "shape.results"), Some("because"));
        assert_eq!(reason(&entries, "tools.names-unique"), Some(""));
        assert_eq!(reason(&entries, "jsonrpc.version-member"), None);
        assert!(entries.iter().any(|entry| entry["transport"] == "ws" && entry["reason"] == "old"));
        let first = entries[0]["finding"].as_str();
        assert!(first.is_some_and(|finding| !finding.is_empty()), "{entries:?}");
    }
}

#[test]
fn a_file_that_is_not_a_baseline_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.json");
    fs::write(&path, "{\"schema\":\"proof.report/1\"}").expect("the file can be written");
    let ran = check("broken.jsonl", &["--write-baseline", &path.to_string_lossy()]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("would be overwritten"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&path).expect("the file"), "{\"schema\":\"proof.report/1\"}");
    fs::write(&path, "").expect("the file can be written");
    assert_eq!(check("broken.jsonl", &["--write-baseline", &path.to_string_lossy()]).code, Some(0));
}

#[test]
fn a_written_entry_names_its_defects_and_another_defect_is_new() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    let of = |rule: &str| entries(&path).into_iter().find(|entry| entry["rule"] == rule).expect("an entry");
    let defects = of("shape.results")["defects"].as_array().expect("defects").clone();
    assert!(defects.iter().all(|defect| defect.as_str().is_some_and(|text| text.contains(' '))), "{defects:?}");
    edited(&path, |known| {
        let entry = known.iter_mut().find(|entry| entry["rule"] == "shape.results").expect("an entry");
        entry["defects"][0] = "tools/list /result/elsewhere".into();
    });
    let ran = with("broken.jsonl", &path, &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(ran.stdout.contains("FAIL  shape.results"), "{}", ran.stdout);
    // Written again, it names the defect of today, and says that the reason was given for another.
    let again = check("broken.jsonl", &["--write-baseline", &path.to_string_lossy()]);
    assert!(again.stderr.contains("added to the baseline: shape.results at 2025-11-25"), "{}", again.stderr);
    assert_eq!(of("shape.results")["defects"].as_array(), Some(&defects));
}

#[test]
fn an_entry_of_an_older_file_covers_all_and_the_report_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    edited(&path, |known| {
        for entry in known {
            entry.as_object_mut().expect("an entry").remove("defects");
        }
    });
    let ran = with("broken.jsonl", &path, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    assert!(ran.stdout.contains("Each: also covers later defects of this rule"), "{}", ran.stdout);
}

#[test]
fn known_findings_are_not_printed_as_failures_while_the_check_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("known.json");
    let ran = |more: &[&str]| {
        let server = ["--", env!("CARGO_BIN_EXE_proof"), "serve", "--stdio", "--fault", "ping-pong"];
        proof(&[&["check", "--only", "ping.*", "--revision", "2025-11-25"], more, &server].concat())
    };
    let failing = |ran: &Printed| ran.stderr.lines().filter(|line| line.starts_with("FAIL ")).count();
    let first = ran(&[]);
    assert_eq!((first.code, failing(&first)), (Some(1), 1), "{}", first.stderr);
    let written = ran(&["--write-baseline", &path.to_string_lossy()]);
    assert_eq!((written.code, failing(&written)), (Some(0), 0), "{}", written.stderr);
    let known = ran(&["--baseline", &path.to_string_lossy()]);
    assert_eq!((known.code, failing(&known)), (Some(0), 0), "{}", known.stderr);
    edited(&path, |known| known[0]["defects"] = json!(["tools/list /result/elsewhere"]));
    let new = ran(&["--baseline", &path.to_string_lossy()]);
    assert_eq!((new.code, failing(&new)), (Some(1), 1), "{}", new.stderr);
}
