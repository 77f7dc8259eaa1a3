//! The report for programs: `proof.report/1`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::harness::{RECORDINGS, check, report, results};

const OUTCOMES: [&str; 5] = ["pass", "fail", "warn", "not-exercised", "not-applicable"];
const LEVELS: [&str; 4] = ["MUST", "SHOULD", "MAY", "SAFETY"];
const COUNTS: [&str; 5] = ["pass", "fail", "warn", "not_exercised", "not_applicable"];

#[test]
fn reports() {
    let few = [
        "--format",
        "json",
        "--only",
        "tools.names-unique,jsonrpc.result-id,tools.list-answered,ping.answered,http.accepted-202",
    ];
    insta::assert_snapshot!(check("broken.jsonl", &few).stdout);
    insta::assert_snapshot!(check("http.jsonl", &few).stdout);
}

#[track_caller]
fn members<'v>(value: &'v Value, due: &[&str], may: &[&str]) -> &'v Map<String, Value> {
    let object = value.as_object().expect("an object");
    let names: BTreeSet<&str> = object.keys().map(String::as_str).collect();
    let missing: Vec<_> = due.iter().filter(|name| !names.contains(*name)).collect();
    let strange: Vec<_> = names.iter().filter(|name| !due.contains(name) && !may.contains(name)).collect();
    assert!(missing.is_empty() && strange.is_empty(), "missing {missing:?}, strange {strange:?}");
    object
}

#[track_caller]
fn text<'v>(value: &'v Value, of: &[&str]) -> &'v str {
    let text = value.as_str().expect("a string");
    assert!(!text.is_empty() && (of.is_empty() || of.contains(&text)), "{text:?}");
    text
}

#[test]
fn has_these_members_and_no_others() {
    for recording in RECORDINGS {
        let report = report(recording, &["--safety"]);
        members(&report, &["schema", "proof", "subject", "runs", "summary", "results", "verdict", "made"], &[]);
        let made = members(&report["made"], &["at", "command"], &[]);
        let command = text(&made["command"], &[]);
        assert!(command.starts_with("proof check --trace ") && command.contains("--safety"), "{command}");
        assert_eq!(report["schema"], "proof.report/1");
        text(&report["proof"], &[env!("CARGO_PKG_VERSION")]);
        members(&report["subject"], &["kind", "target", "name", "version"], &[]);
        text(&report["subject"]["kind"], &["server"]);
        text(&report["subject"]["name"], &[]);
        for run in report["runs"].as_array().expect("runs") {
            members(run, &["transport", "revision", "probes", "elapsed_ms"], &["cut_short"]);
        }
        let summary = members(&report["summary"], &["score", "must", "should", "may", "safety"], &["grade"]);
        assert_eq!(summary.contains_key("grade"), summary["score"] == 100.0, "{summary:?}");
        assert!(!results(&report).is_empty());
        for finding in results(&report) {
            result(finding);
        }
    }
}

fn result(finding: &Value) {
    let due = ["rule", "level", "revision", "transport", "outcome", "message", "url", "evidence"];
    let found = members(finding, &due, &["repro", "more_defects", "consequence_of"]);
    let outcome = text(&found["outcome"], &OUTCOMES);
    let level = text(&found["level"], &LEVELS);
    text(&found["revision"], &["2025-11-25"]);
    text(&found["transport"], &["stdio", "http"]);
    text(&found["message"], &[]);
    assert!(level == "SAFETY" || text(&found["url"], &[]).starts_with("https://"), "{finding}");
    let broken = matches!(outcome, "fail" | "warn");
    assert_eq!(outcome == "warn", broken && matches!(level, "SHOULD" | "MAY"), "{finding}");
    assert_eq!(found.contains_key("repro"), broken, "{finding}");
    let evidence = found["evidence"].as_array().expect("evidence");
    assert_eq!(!evidence.is_empty(), broken || outcome == "pass", "{finding}");
    for event in evidence {
        let more = ["trace", "from", "message", "method", "sent", "times", "consequence_of"];
        members(event, &["case", "event", "pointer", "excerpt"], &more);
        assert_eq!(event.get("message").is_some(), broken, "{finding}");
        text(&event["excerpt"], &[]);
        let event = event["event"].as_u64().expect("an event");
        assert!(event < 20, "{finding}");
    }
}

#[test]
fn counts_what_it_lists() {
    for recording in RECORDINGS {
        for more in [&["--safety"][..], &[], &["--level", "must"], &["--only", "tools.*"]] {
            let report = report(recording, more);
            for level in LEVELS {
                let counts = members(&report["summary"][level.to_lowercase()], &COUNTS, &[]);
                for outcome in OUTCOMES {
                    let those = |f: &&Value| f["level"] == level && f["outcome"] == outcome;
                    let listed = results(&report).iter().filter(those).count();
                    assert_eq!(counts[&outcome.replace('-', "_")], listed, "{recording} {more:?} {level} {outcome}");
                }
            }
            score(&report);
        }
    }
}

/// Passed of judged MUST rules, rounded down to one decimal; null where none was judged.
#[track_caller]
fn score(report: &Value) {
    let must = &report["summary"]["must"];
    let count = |name: &str| must[name].as_u64().expect("a count");
    let (pass, fail) = (count("pass"), count("fail"));
    let Some(judged) = std::num::NonZeroU64::new(pass + fail) else {
        assert_eq!(report["summary"]["score"], Value::Null);
        return;
    };
    let score = report["summary"]["score"].as_f64().expect("a score");
    let tenths = (score * 10.0).round() as u64;
    assert!((score * 10.0 - tenths as f64).abs() < 1e-9, "{score} has more than one decimal");
    assert_eq!(tenths, pass * 1000 / judged);
    assert_eq!(tenths == 1000, fail == 0, "{score} with {fail} broken");
}

#[test]
fn keeps_hostile_text_as_data() {
    let report = report("broken.jsonl", &[]);
    let raw = check("broken.jsonl", &["--format", "json"]).stdout;
    assert!(!raw.contains(|c: char| c != '\n' && (c.is_control() || c == '\u{202e}')), "{raw}");
    assert_eq!(report["subject"]["name"], "hostile \u{1b}[2J\u{202e} server");
    for finding in results(&report) {
        for event in finding["evidence"].as_array().expect("evidence") {
            let excerpt = event["excerpt"].as_str().expect("an excerpt");
            assert!(!excerpt.contains(|c: char| c.is_control() || c == '\u{202e}'), "{excerpt:?}");
            assert!(excerpt.chars().count() < 200, "{excerpt}");
        }
    }
}
