//! Every format on reports that no recording gives: runs cut short, nothing judged, more than a comment holds.

use rules::Level;
use wire::Transport;
use wire::revision::R2025_11_25;
use workbench::report::baseline::{Baseline, Known};
use workbench::report::{Evidence, FORMAT, Finding, Outcome, Report, Run, Subject, Summary};

use super::{Sheet, Standing};
use crate::args::output::FailOn;
use crate::format::{junit, markdown, sarif, tap};

fn finding(rule: &'static str, level: Level, outcome: Outcome, message: &str) -> Finding {
    let evidence = Evidence {
        case: "tour".to_owned(),
        event: 3,
        pointer: "/result".to_owned(),
        excerpt: "{\"result\":{}}".to_owned(),
        caret: Some(10..12),
    };
    Finding {
        rule,
        level,
        revision: R2025_11_25,
        transport: Transport::Stdio,
        outcome,
        message: message.to_owned(),
        url: "https://spec.example/#x".to_owned(),
        evidence: vec![evidence],
        repro: outcome.is_broken().then(|| "proof check".to_owned()),
    }
}

fn report(results: Vec<Finding>, cut_short: Option<&str>) -> Report {
    let cut_short = cut_short.map(str::to_owned);
    let (transport, revision, scenarios) = (Transport::Stdio, R2025_11_25, Vec::new());
    let run = Run { transport, revision, probes: 1, elapsed_ms: 1234, cut_short, scenarios };
    Report {
        schema: FORMAT,
        proof: "0.0.0",
        subject: Subject { kind: "server", target: "-- x".to_owned(), name: None, version: None },
        runs: vec![run],
        summary: Summary::of(&results),
        results,
    }
}

fn sheet<'r>(report: &'r Report, baseline: Option<&'r Baseline>) -> Sheet<'r> {
    let stale = baseline.into_iter().flat_map(|baseline| baseline.stale(report)).collect();
    Sheet { report, baseline, stale, fail_on: FailOn::Must }
}

/// Whether each format says that the check failed, in its own sense.
fn failing(sheet: &Sheet<'_>) -> [bool; 4] {
    let xml = junit::render(sheet);
    let xml = roxmltree::Document::parse(&xml).expect("XML");
    let count = |name: &str| xml.root_element().attribute(name).and_then(|n| n.parse::<usize>().ok()).expect("a count");
    let broken = |name: &str| xml.descendants().filter(|node| node.has_tag_name(name)).count();
    assert_eq!((count("failures"), count("errors")), (broken("failure"), broken("error")));
    assert_eq!(count("tests"), broken("testcase"));
    let sarif: serde_json::Value = serde_json::from_str(&sarif::render(sheet)).expect("JSON");
    let tap = tap::render(sheet);
    let points = tap.lines().filter(|line| line.starts_with("ok ") || line.starts_with("not ok ")).count();
    assert!(tap.contains(&format!("\n1..{points}\n")), "{tap}");
    [
        broken("failure") + broken("error") > 0,
        sarif["runs"][0]["invocations"][0]["exitCode"] != 0,
        tap.lines().any(|line| line.starts_with("not ok ") && !line.contains(" # TODO ")),
        !markdown::render(sheet).starts_with("**Clean"),
    ]
}

#[test]
fn formats_agree_with_the_exit_code() {
    let must = |outcome| finding("shape.results", Level::Must, outcome, "m");
    let should = |outcome| finding("tools.names-unique", Level::Should, outcome, "m");
    let cases = [
        (vec![must(Outcome::Pass), should(Outcome::Pass)], None, false),
        (vec![must(Outcome::Pass), should(Outcome::Warn)], None, false),
        (vec![must(Outcome::Fail), should(Outcome::Pass)], None, true),
        (vec![must(Outcome::Pass)], Some("it was gone"), true),
        (vec![must(Outcome::NotExercised)], None, true),
        (Vec::new(), None, true),
    ];
    for (results, cut_short, fails) in cases {
        let report = report(results, cut_short);
        let sheet = sheet(&report, None);
        assert_eq!(sheet.fails(), fails, "{report:?}");
        assert_eq!(failing(&sheet), [fails; 4], "{report:?}");
    }
}

#[test]
fn known_findings_fail_nowhere_and_stale_entries_everywhere() {
    let results = vec![
        finding("shape.results", Level::Must, Outcome::Fail, "m"),
        finding("ping.answered", Level::Must, Outcome::Pass, ""),
    ];
    let report = report(results, None);
    let entry = |rule: &str| Known {
        rule: rule.to_owned(),
        revision: "2025-11-25".to_owned(),
        transport: "stdio".to_owned(),
        finding: String::new(),
        reason: "because".to_owned(),
    };
    let baseline = |rules: &[&str]| Baseline {
        schema: workbench::report::baseline::FORMAT.to_owned(),
        known: rules.iter().map(|rule| entry(rule)).collect(),
    };
    let known = baseline(&["shape.results"]);
    let known = sheet(&report, Some(&known));
    assert_eq!(known.standing(&report.results[0]), Standing::Known(Some("because")));
    assert!(!known.fails());
    assert_eq!(failing(&known), [false; 4]);
    let stale = baseline(&["shape.results", "ping.answered"]);
    let stale = sheet(&report, Some(&stale));
    assert!(stale.fails());
    assert_eq!(failing(&stale), [true; 4]);
}

#[test]
fn a_broken_should_fails_where_it_is_told_to() {
    let report = report(vec![finding("tools.names-unique", Level::Should, Outcome::Warn, "m")], None);
    let mut sheet = sheet(&report, None);
    assert_eq!((sheet.standing(&report.results[0]), failing(&sheet)), (Standing::Warns, [false; 4]));
    sheet.fail_on = FailOn::Should;
    assert_eq!((sheet.standing(&report.results[0]), failing(&sheet)), (Standing::Fails, [true; 4]));
}

#[test]
fn a_comment_holds_no_more_than_it_may() {
    let long = |n: usize| format!("{n} {}", "`日本<".repeat(400));
    let many = |number: usize| (0..number).map(|n| finding("shape.results", Level::Must, Outcome::Fail, &long(n)));
    let report = report(many(500).collect(), Some(&long(0)));
    let text = markdown::render(&sheet(&report, None));
    assert!(text.len() <= 60_000 && text.len() > 50_000, "{}", text.len());
    let shown = text.matches("- **FAIL**").count();
    assert!(shown > 5 && text.ends_with("shows everything.\n"), "{text}");
    assert!(text.contains(&format!("\n{} entries are left out: ", 500 - shown)), "{text}");
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("``")).count(), 2 * shown, "a block left open");
}
