//! Known findings: written, read, outlived.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::{Ran, check};

fn written(folder: &Path) -> PathBuf {
    let path = folder.join("known.json");
    let ran = check("broken.jsonl", &["--write-baseline", &path.to_string_lossy()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    path
}

fn with(recording: &str, baseline: &Path, more: &[&str]) -> Ran {
    check(recording, &[&["--baseline", &baseline.to_string_lossy()], more].concat())
}

fn edited(path: &Path, edit: impl Fn(&mut Vec<Value>)) {
    let mut document: Value = serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON");
    edit(document["known"].as_array_mut().expect("entries"));
    fs::write(path, document.to_string()).expect("the file can be written");
}

#[test]
fn what_was_written_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    for fail_on in ["must", "should"] {
        let ran = with("broken.jsonl", &path, &["--fail-on", fail_on]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        let last = ran.stdout.lines().last().unwrap_or_default();
        assert!(last.starts_with("Clean: nothing new broken, ") && last.ends_with(" known."), "{last}");
        assert!(ran.stdout.contains("  (known)\n"), "{}", ran.stdout);
    }
}

#[test]
fn a_finding_that_is_not_there_is_new() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    edited(&path, |known| known.retain(|entry| entry["rule"] != "shape.results"));
    let ran = with("broken.jsonl", &path, &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.ends_with("1 rule broken: see FAIL above.\n"), "{}", ran.stdout);
}

#[test]
fn an_entry_that_no_longer_occurs_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    let ran = with("clean.jsonl", &path, &[]);
    assert_eq!(ran.code, Some(1));
    let stale = "stale: tools.names-unique at 2025-11-25 over stdio no longer occurs; take it out of the baseline\n";
    assert!(ran.stderr.contains(stale), "{}", ran.stderr);
    assert!(ran.stderr.lines().all(|line| line.starts_with("stale: ")), "{}", ran.stderr);
}

#[test]
fn an_entry_for_what_is_no_rule_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path());
    let stranger = json!({"rule": "no.such-rule", "revision": "2025-11-25", "transport": "stdio", "reason": "because"});
    edited(&path, |known| known.push(stranger.clone()));
    let ran = with("broken.jsonl", &path, &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("stale: no.such-rule at "), "{}", ran.stderr);
}

#[test]
fn an_entry_wants_a_reason() {
    for reason in [json!(""), json!("  "), Value::Null] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = written(folder.path());
        edited(&path, |known| known[0]["reason"] = reason.clone());
        let ran = with("broken.jsonl", &path, &[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
        assert!(ran.stderr.contains("is no baseline: ") && ran.stderr.contains("\n  try: "), "{}", ran.stderr);
    }
}
