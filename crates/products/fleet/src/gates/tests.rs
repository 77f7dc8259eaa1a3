//! Gates on reports as `proof` writes them, and on output that is not a report.

use serde_json::{Value, json};

use super::{Ended, Material, Surface, judge};
use crate::config::{Fleet, Server, Thresholds};
use crate::gate::{GateKind, Judged, Outcome};

fn server(members: &str) -> Server {
    let text = format!("servers:\n  - {{ name: a, owner: o, source: s, command: [x]{members} }}\n");
    Fleet::read(&text, ".".into()).expect("valid").servers.remove(0)
}

fn surface() -> Surface {
    Surface { name: "weather".to_owned(), version: "1.0".to_owned(), tools: 3, ..Surface::default() }
}

fn ended(code: i32, document: Value) -> Ended {
    Ended { code: Some(code), document: Some(document), ms: 40, ..Ended::default() }
}

fn judged(kind: GateKind, server: &Server, ended: &[Ended]) -> Judged {
    let negatives = ["b".to_owned()];
    let (thresholds, surface) = (Thresholds::default(), surface());
    judge(kind, &Material { server, thresholds: &thresholds, surface: &surface, ended, negatives: &negatives })
}

fn outcome(kind: GateKind, ended: &[Ended]) -> Outcome {
    judged(kind, &server(""), ended).outcome
}

/// A report of `proof check` with so many MUST rules that passed, failed and were not exercised.
fn check(pass: u64, fail: u64, unseen: u64) -> Value {
    let results: Vec<Value> = (0..fail)
        .map(|_| json!({ "rule": "tools.names-unique", "level": "MUST", "outcome": "fail", "message": "two `a`", "transport": "stdio", "revision": "2026-07-28" }))
        .collect();
    json!({
        "schema": "proof.report/1", "runs": [{ "transport": "stdio", "revision": "2026-07-28" }],
        "summary": { "score": 100.0, "must": { "pass": pass, "fail": fail, "warn": 0, "not_exercised": unseen } },
        "results": results, "verdict": { "passed": fail == 0, "exit_code": i32::from(fail > 0), "summary": "x" },
    })
}

#[test]
fn a_check_is_green_only_with_enough_evidence() {
    let green = judged(GateKind::Conforms, &server(""), &[ended(0, check(60, 0, 40))]);
    assert_eq!((green.outcome, green.coverage), (Outcome::Pass, Some(60.0)));
    let red = judged(GateKind::Conforms, &server(""), &[ended(1, check(60, 1, 40))]);
    assert_eq!(red.outcome, Outcome::Fail);
    assert_eq!(red.findings[0].fix, "proof explain tools.names-unique");
    let little = judged(GateKind::Conforms, &server(""), &[ended(0, check(30, 0, 70))]);
    assert!(little.outcome == Outcome::Fail && little.summary.contains("30 %"), "{}", little.summary);
    for (name, code, change) in [
        ("nothing judged", 0, json!({ "summary": { "must": { "pass": 0, "not_exercised": 9 } } })),
        ("cut short", 0, json!({ "runs": [{ "revision": "2026-07-28", "cut_short": "time" }] })),
        ("no run", 0, json!({ "runs": [] })),
        ("no verdict", 0, json!({ "verdict": null })),
        ("exit code and report disagree", 1, json!({})),
        ("another document", 0, json!({ "schema": "proof.test/1" })),
    ] {
        let mut report = check(60, 0, 40);
        for (member, value) in change.as_object().expect("members") {
            report[member] = value.clone();
        }
        assert_eq!(outcome(GateKind::Conforms, &[ended(code, report)]), Outcome::Incomplete, "{name}");
    }
    let claims = server(", revisions: ['2025-06-18']");
    assert_eq!(judged(GateKind::Conforms, &claims, &[ended(0, check(60, 0, 40))]).outcome, Outcome::Incomplete);
}

#[test]
fn what_no_rule_shows_still_fails_a_check() {
    let mut report = check(60, 0, 40);
    report["verdict"] = json!({ "passed": false, "summary": "Failed: 1 baseline entry is stale" });
    let red = judged(GateKind::Conforms, &server(""), &[ended(1, report)]);
    assert!(red.outcome == Outcome::Fail && red.summary.contains("stale"), "{}", red.summary);
}

fn case(name: &str, verdict: &str) -> Value {
    json!({ "name": name, "line": 1, "verdict": verdict, "elapsed_ms": 2.0,
        "failures": if verdict == "failed" { json!([{ "path": "$.x", "expected": "1", "found": "2" }]) } else { json!([]) } })
}

/// A report of `proof test` with these cases.
fn tests(cases: &[Value], touched: u64) -> Value {
    let count = |verdict: &str| cases.iter().filter(|case| case["verdict"] == verdict).count();
    json!({
        "schema": "proof.test/1",
        "summary": { "passed": count("passed"), "failed": count("failed"), "xfailed": 0, "skipped": count("skipped") },
        "files": [{ "file": "a.mcp.yaml", "places": [{ "revision": "2026-07-28", "hindered": null, "cases": cases }] }],
        "coverage": [{
            "server": "weather 1.0", "unlisted": [],
            "tools": { "touched": touched, "all": 3, "untouched": [] }, "arguments": { "touched": 2, "all": 2, "untouched": [] },
        }],
    })
}

#[test]
fn tests_must_pass_twice_and_touch_the_server_of_the_entry() {
    let good = tests(&[case("a", "passed"), case("b", "passed")], 3);
    let run = |first: (i32, &Value), second: (i32, &Value)| {
        judged(GateKind::Tested, &server(""), &[ended(first.0, first.1.clone()), ended(second.0, second.1.clone())])
    };
    let green = run((0, &good), (0, &good));
    assert_eq!((green.outcome, &green.facts["cases"]), (Outcome::Pass, &json!(2)), "{}", green.summary);
    let flaky = tests(&[case("a", "failed"), case("b", "passed")], 3);
    assert_eq!(run((0, &good), (1, &flaky)).outcome, Outcome::Fail);
    assert_eq!(run((0, &good), (0, &flaky)).outcome, Outcome::Incomplete, "the exit code says something else");
    let positive = tests(&[case("a", "passed"), case("c", "passed")], 3);
    assert!(run((0, &positive), (0, &positive)).summary.contains("negatives"));
    let untouched = tests(&[case("a", "passed"), case("b", "passed")], 1);
    assert!(run((0, &untouched), (0, &untouched)).summary.contains("touched"));
    let mut other = good.clone();
    other["coverage"][0]["server"] = json!("clock 1.0");
    assert_eq!(run((0, &other), (0, &other)).outcome, Outcome::Incomplete, "another server was tested");
    let mut hindered = good.clone();
    hindered["files"][0]["places"][0]["hindered"] = json!("no connection");
    assert_eq!(run((0, &hindered), (0, &hindered)).outcome, Outcome::Incomplete);
    let none = tests(&[case("a", "skipped")], 3);
    assert_eq!(run((0, &none), (0, &none)).outcome, Outcome::Incomplete);
    assert_eq!(outcome(GateKind::Tested, &[ended(0, good)]), Outcome::Incomplete, "one run is not enough");
}

fn scan(severity: &str, rule: &str, passed: bool) -> Value {
    json!({
        "schema": "proof.report/1", "subject": { "kind": "scan" }, "summary": { "items": { "tool": 3 }, "strings": 9, "findings": {} },
        "results": [{ "rule": rule, "severity": severity, "message": "m", "place": { "kind": "tool", "item": "a", "pointer": "" }, "fix": "f" }],
        "incomplete": [], "verdict": { "passed": passed, "summary": "x" },
    })
}

#[test]
fn a_scan_is_red_by_its_threshold_and_by_an_unpinned_launch() {
    let of = |code, report| outcome(GateKind::Scanned, &[ended(code, report)]);
    assert_eq!(of(1, scan("high", "scan.injection", false)), Outcome::Fail);
    assert_eq!(of(0, scan("medium", "scan.injection", true)), Outcome::Pass);
    assert_eq!(of(0, scan("medium", "scan.unpinned-launch", true)), Outcome::Fail);
    let with = |member: &str, value: Value| {
        let mut report = scan("low", "scan.injection", true);
        report[member] = value;
        report
    };
    assert_eq!(of(0, with("incomplete", json!(["a list was not read"]))), Outcome::Incomplete);
    assert_eq!(
        of(0, with("summary", json!({ "items": { "tool": 1 } }))),
        Outcome::Incomplete,
        "fewer tools than listed"
    );
    let mut accepted = scan("high", "scan.injection", true);
    accepted["results"][0]["suppressed"] = json!({ "reason": "ours" });
    assert_eq!(of(0, accepted), Outcome::Pass);
}

#[test]
fn locks_lints_and_signatures() {
    let lock = |status: &str, changes: Value| json!({ "schema": "proof.lock-drift/1", "status": status, "changes": changes, "notCompared": [] });
    let change = json!([{ "of": "tool a", "what": "changed", "class": "description", "severity": "high" }]);
    assert_eq!(outcome(GateKind::Locked, &[ended(0, lock("in-sync", json!([])))]), Outcome::Pass);
    assert_eq!(outcome(GateKind::Locked, &[ended(1, lock("drift", change))]), Outcome::Fail);
    assert_eq!(outcome(GateKind::Locked, &[ended(1, lock("drift", json!([])))]), Outcome::Incomplete);
    let lint = |check: &str, severity: &str| {
        json!({ "schema": "proof.eval-lint/1", "tools": 3, "compared": true, "estimatedTokens": [],
            "findings": [{ "check": check, "severity": severity, "subject": "a", "pointer": "", "message": "m", "remedy": "r" }] })
    };
    assert_eq!(outcome(GateKind::Described, &[ended(0, lint("description", "warning"))]), Outcome::Fail);
    assert_eq!(outcome(GateKind::Described, &[ended(0, lint("confusable", "warning"))]), Outcome::Pass);
    assert_eq!(outcome(GateKind::Described, &[ended(0, lint("name", "note"))]), Outcome::Pass);
    let verified = |state: &str| json!({ "schema": "proof.verification/1", "state": state, "reason": "r", "signedBy": ["k"], "refused": [] });
    assert_eq!(outcome(GateKind::Signed, &[ended(0, verified("verified"))]), Outcome::Pass);
    assert_eq!(outcome(GateKind::Signed, &[ended(1, verified("tampered"))]), Outcome::Fail);
    assert_eq!(outcome(GateKind::Signed, &[ended(0, verified("unsigned"))]), Outcome::Incomplete);
}

#[test]
fn a_checklist_needs_evidence_for_each_box() {
    let boxes = |last: &str| {
        let answer = |at: usize| if at == 10 { last } else { "yes" };
        let boxes: Vec<Value> = (0..11)
            .map(|at| json!({ "area": "Contract", "box": format!("box {at}"), "answer": answer(at), "evidence": "e" }))
            .collect();
        json!({ "ready": last == "yes", "boxes": boxes })
    };
    assert_eq!(outcome(GateKind::Ready, &[ended(0, boxes("yes"))]), Outcome::Pass);
    let unknown = judged(GateKind::Ready, &server(""), &[ended(1, boxes("unknown"))]);
    assert_eq!((unknown.outcome, unknown.findings[0].rule.as_str()), (Outcome::Fail, "box 10"));
    assert_eq!(outcome(GateKind::Ready, &[ended(0, json!({ "boxes": [] }))]), Outcome::Incomplete);
}

#[test]
fn evaluations_and_times() {
    let score = |passed: bool, correct: u64| {
        json!({ "schema": "proof.eval/1", "passed": passed, "summary": { "answers": 10, "correct": correct },
            "answers": [{ "case": "c", "outcome": "wrong-tool" }], "unanswered": [] })
    };
    assert_eq!(outcome(GateKind::Evaluated, &[ended(0, score(true, 9))]), Outcome::Pass);
    assert_eq!(outcome(GateKind::Evaluated, &[ended(1, score(false, 5))]), Outcome::Fail);
    let snapshot = json!({ "schema": "proof.snapshot/1" });
    let fast = |ms: f64| {
        let mut slow = case("a", "passed");
        slow["elapsed_ms"] = json!(ms);
        let report = tests(&[slow], 3);
        outcome(GateKind::Fast, &[ended(0, snapshot.clone()), ended(0, report.clone()), ended(0, report)])
    };
    assert_eq!([fast(5.0), fast(5000.0), fast(0.0)], [Outcome::Pass, Outcome::Fail, Outcome::Incomplete]);
}

#[test]
fn a_server_that_does_not_answer_is_red_and_one_that_lists_another_number_too() {
    let snapshot = json!({ "schema": "proof.snapshot/1", "revision": "2026-07-28", "tools": [{ "name": "a" }] });
    assert_eq!(outcome(GateKind::Starts, &[ended(0, snapshot.clone())]), Outcome::Pass);
    assert_eq!(judged(GateKind::Starts, &server(", tools: 2"), &[ended(0, snapshot)]).outcome, Outcome::Fail);
    let silent = Ended { code: Some(3), stderr: "error: the command ended\n".to_owned(), ..Ended::default() };
    let red = judged(GateKind::Starts, &server(""), &[silent]);
    assert!(red.outcome == Outcome::Fail && red.summary.contains("the command ended"), "{}", red.summary);
    assert_eq!(outcome(GateKind::Starts, &[ended(0, json!({ "schema": "proof.snapshot/1" }))]), Outcome::Fail, "empty");
    let broken =
        "error: the command ended before it\n       answered\n  at sh serve.sh\n  try: another\n       command\n";
    let broken = Ended { code: Some(3), stderr: broken.to_owned(), ..Ended::default() };
    let red = judged(GateKind::Starts, &server(""), &[broken]);
    assert_eq!(
        red.findings[0].message, "the command ended before it answered",
        "a message that was broken is one text"
    );
    let stderr = "error: the command ended with code 1 before it answered\n  at sh serve.sh\n  its last lines on stderr:\n    \
                  Traceback\n    KeyError: SHOP_TOKEN\n  try: run the command by itself\n";
    let silent = Ended { code: Some(3), stderr: stderr.to_owned(), ..Ended::default() };
    let red = judged(GateKind::Starts, &server(""), &[silent]);
    assert_eq!(red.summary, "the server gave no MCP answer: KeyError: SHOP_TOKEN");
    let message = "the command ended with code 1 before it answered; stderr: Traceback | KeyError: SHOP_TOKEN";
    assert_eq!(red.findings[0].message, message);
}

#[test]
fn what_an_entry_lacks_is_missing() {
    let text = "servers:\n  - { name: a, command: [x] }\n";
    let bare = Fleet::read(text, ".".into()).expect("valid").servers.remove(0);
    assert_eq!(judged(GateKind::Listed, &bare, &[]).summary, "2 findings, first owner: missing");
}

#[test]
fn without_a_report_no_gate_is_green_or_red() {
    let stopped = Ended { stopped: Some("it took more than 300 s".to_owned()), ..Ended::default() };
    let usage = Ended { code: Some(2), stderr: "error: no such file".to_owned(), ..Ended::default() };
    let bug = Ended { code: Some(4), ..Ended::default() };
    let silent = Ended { code: Some(0), ..Ended::default() };
    for kind in GateKind::ALL.into_iter().filter(|kind| *kind != GateKind::Listed) {
        for ended in [&stopped, &usage, &bug, &silent] {
            let three = [ended.clone(), ended.clone(), ended.clone()];
            let count = match kind {
                GateKind::Tested => 2,
                GateKind::Fast => 3,
                _ => 1,
            };
            assert_eq!(outcome(kind, &three[..count]), Outcome::Incomplete, "{kind} {ended:?}");
        }
        assert_eq!(outcome(kind, &[]), Outcome::Incomplete, "{kind}");
    }
}

/// The words that a shell makes of a command line, without running it.
fn shell_words(line: &str) -> Vec<String> {
    let script = format!("for word in {line}; do printf '%s\\0' \"$word\"; done");
    let output = std::process::Command::new("sh").args(["-c", &script]).env_clear().output().expect("sh");
    assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
    String::from_utf8_lossy(&output.stdout).split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn what_a_server_is_called_is_one_word_of_a_printed_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let touched = folder.path().join("touched");
    let hostile = format!("y'; touch {0}; $(touch {0}) `touch {0}` '", touched.display());
    let drift = json!({ "schema": "proof.lock-drift/1", "status": "drift", "changes": [
        { "class": "c", "severity": "high", "of": hostile, "what": "w" }], "notCompared": [] });
    let locked = judged(GateKind::Locked, &server(", lock: '-a b.lock'"), &[ended(1, drift)]);
    let mut report = tests(&[case(&hostile, "failed")], 3);
    report["files"][0]["file"] = json!("$(touch x).mcp.yaml");
    let tested = judged(GateKind::Tested, &server(""), &[ended(1, report.clone()), ended(1, report)]);
    let words = |judged: &Judged| shell_words(judged.findings[0].fix.split_once("proof ").expect("a command").1);
    assert_eq!(words(&locked)[..5], ["lock", "-o", "./-a b.lock", "--approve", &hostile]);
    assert_eq!(words(&tested), ["test", "$(touch x).mcp.yaml", "--filter", &hostile]);
    assert!(!touched.exists());
}

#[test]
fn what_an_entry_names_is_one_word_of_a_printed_command() {
    use crate::state::{Kept, ServerState};
    let text = "servers:\n  - { name: a, url: 'https://h/$(touch x)?a=1&b;c', tests: ['$(touch x)'], lock: '-`x` y', ready: 'a;b', \
                evaluation: { cases: 'a b', calls: '$c' }, manifest: { file: 'a|b', keys: 'c&d' } }\n";
    let fleet = Fleet::read(text, ".".into()).expect("valid");
    let state = ServerState::of(&fleet, &fleet.servers[0], Kept::default(), 0);
    let url = "https://h/$(touch x)?a=1&b;c";
    for (gate, expected) in [
        (GateKind::Starts, &["client", "tools", url][..]),
        (GateKind::Described, &["eval", "lint", url]),
        (GateKind::Conforms, &["check", url]),
        (GateKind::Tested, &["test", "$(touch x)"]),
        (GateKind::Scanned, &["scan", url]),
        (GateKind::Locked, &["lock", "--check", "-o", "./-`x` y", url]),
        (GateKind::Ready, &["ready", "a;b"]),
        (GateKind::Evaluated, &["eval", "score", "a b", "--calls", "$c"]),
        (GateKind::Signed, &["verify", "a|b", "--keys", "c&d", url]),
    ] {
        let command = crate::next::start(gate, &state);
        assert_eq!(shell_words(command.strip_prefix("proof ").expect("a command")), expected, "{command}");
    }
}
