//! Options that choose rules, the exit code, and where the report goes.

use std::collections::BTreeSet;

use crate::harness::{check, report, results, unmade};

/// The values of one member over all results.
fn all(recording: &str, arguments: &[&str], member: &str) -> BTreeSet<String> {
    let report = report(recording, arguments);
    results(&report).iter().map(|f| f[member].as_str().unwrap_or_default().to_owned()).collect()
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[test]
fn only_and_skip_take_ids_and_globs() {
    let names = all("broken.jsonl", &["--only", "tools.names-*", "--only", "ping.answered"], "rule");
    assert!(names.len() > 3 && names.contains("ping.answered"), "{names:?}");
    assert!(names.iter().all(|id| id.starts_with("tools.names-") || id == "ping.answered"), "{names:?}");
    let less = all("broken.jsonl", &["--only", "tools.names-*", "--skip", "*.names-unique"], "rule");
    assert!(!less.contains("tools.names-unique") && less.contains("tools.names-characters"), "{less:?}");
    assert_eq!(check("broken.jsonl", &["--only", "ping.answred"]).code, Some(2));
}

#[test]
fn the_level_option_selects_the_lowest_level() {
    assert_eq!(all("broken.jsonl", &["--level", "must"], "level"), set(&["MUST"]));
    assert_eq!(all("broken.jsonl", &["--level", "should"], "level"), set(&["MUST", "SHOULD"]));
    assert!(!all("broken.jsonl", &[], "level").contains("SAFETY"));
    assert!(all("broken.jsonl", &["--safety"], "level").contains("SAFETY"));
}

#[test]
fn what_fails_the_check() {
    let should = ["--only", "tools.names-unique"];
    assert_eq!(check("broken.jsonl", &should).code, Some(0));
    assert_eq!(check("broken.jsonl", &[&should[..], &["--fail-on", "should"]].concat()).code, Some(1));
    assert_eq!(check("clean.jsonl", &["--fail-on", "should"]).code, Some(0));
    assert_eq!(check("broken.jsonl", &[]).code, Some(1));
    assert_eq!(check("broken.jsonl", &["--fail-on", "must", "--only", "shape.results"]).code, Some(1));
}

#[test]
fn the_report_goes_to_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for format in ["human", "json"] {
        let path = folder.path().join(format);
        let to_file = ["--format", format, "--output", &path.to_string_lossy()];
        let direct = check("broken.jsonl", &to_file[..2]);
        let ran = check("broken.jsonl", &to_file);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (direct.code, "", ""));
        let written = std::fs::read_to_string(&path).expect("the file");
        let told = |text: &str, arguments: &[&str]| unmade(text, "broken.jsonl", arguments);
        assert_eq!(told(&written, &to_file), told(&direct.stdout, &to_file[..2]));
    }
}

#[test]
fn a_saved_recording_is_judged_alike() {
    let folder = tempfile::tempdir().expect("a folder");
    let ran = check("broken.jsonl", &["--save-trace", &folder.path().to_string_lossy()]);
    assert_eq!(ran.code, Some(1));
    let saved = folder.path().join("stdio-2025-11-25-000-recording.jsonl");
    let outcomes = |file: &str| -> Vec<String> {
        results(&report(file, &[])).iter().map(|f| format!("{} {}", f["rule"], f["outcome"])).collect()
    };
    assert_eq!(outcomes(&saved.to_string_lossy()), outcomes("broken.jsonl"));
}
