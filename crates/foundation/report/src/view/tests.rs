//! Situations × formats: every format and the exit code say the same, and every format says why.

use wire::Level::{self, May, Must, Safety, Should};
use wire::revision::{R2025_06_18, R2025_11_25};

use crate::Outcome::{self, Fail, NotApplicable, NotExercised, Pass, Warn};
use crate::baseline::{Baseline, FORMAT, Known};
use crate::render::text::Paint;
use crate::render::{badge, html, human, json, junit, markdown, sarif, tap};
use crate::samples::{finding, index, report};
use crate::{Disposition, FailOn, Finding, ReportView, saved};

type Broken = (&'static str, Level, Outcome);

const KEPT: Broken = ("ping.answered", Must, Pass);
const MUST: Broken = ("shape.results", Must, Fail);
const SHOULD: Broken = ("tools.names-unique", Should, Warn);
const MAY: Broken = ("tools.titles", May, Warn);
const SAFETY: Broken = ("safety.limits", Safety, Fail);
const SAFE: Broken = ("safety.limits", Safety, Pass);
const UNTESTED: Broken = ("http.accepted-202", Must, NotExercised);
const ELSEWHERE: Broken = ("http.accepted-202", Must, NotApplicable);

/// One situation, and what must be said of it.
struct Situation {
    name: &'static str,
    findings: &'static [Broken],
    /// The rules that the baseline has; `None` without a baseline.
    baseline: Option<&'static [&'static str]>,
    fail_on: FailOn,
    cut_short: bool,
    /// The reasons to fail, in words; none where the check passes.
    reasons: &'static [&'static str],
    summary: &'static str,
}

const PLAIN: Situation = Situation {
    name: "",
    findings: &[],
    baseline: None,
    fail_on: FailOn::Must,
    cut_short: false,
    reasons: &[],
    summary: "",
};

const BROKEN_MUST: &str = "1 MUST rule broken";
const BROKEN_SHOULD: &str = "1 SHOULD rule broken (this check fails on SHOULD)";
const BROKEN_SAFETY: &str = "1 safety rule broken";
const STALE: &str = "1 baseline entry is stale";
const NOTHING: &str = "no rule was judged, so this says nothing about the server";
const CUT: &str = "1 run ended early, so some rules were not tested";

const SITUATIONS: &[Situation] = &[
    Situation { name: "clean", findings: &[KEPT], summary: "Passed: no rule is broken", ..PLAIN },
    Situation {
        name: "clean with rules that were not judged",
        findings: &[KEPT, UNTESTED],
        summary: "Passed: no rule is broken",
        ..PLAIN
    },
    Situation {
        name: "a broken MUST",
        findings: &[KEPT, MUST],
        reasons: &[BROKEN_MUST],
        summary: "Failed: 1 MUST rule broken",
        ..PLAIN
    },
    Situation { name: "a broken SHOULD", findings: &[KEPT, SHOULD], summary: "Passed: 1 warning", ..PLAIN },
    Situation {
        name: "a broken SHOULD that fails",
        findings: &[KEPT, SHOULD],
        fail_on: FailOn::Should,
        reasons: &[BROKEN_SHOULD],
        summary: "Failed: 1 SHOULD rule broken (this check fails on SHOULD)",
        ..PLAIN
    },
    Situation {
        name: "only a broken MAY: advice",
        findings: &[KEPT, MAY],
        fail_on: FailOn::Should,
        summary: "Passed: 1 warning",
        ..PLAIN
    },
    Situation {
        name: "a broken MUST that is known",
        findings: &[KEPT, MUST],
        baseline: Some(&["shape.results"]),
        summary: "Passed: 1 known",
        ..PLAIN
    },
    Situation {
        name: "a broken SHOULD that is known",
        findings: &[KEPT, SHOULD],
        baseline: Some(&["tools.names-unique"]),
        fail_on: FailOn::Should,
        summary: "Passed: 1 known",
        ..PLAIN
    },
    Situation {
        name: "a baseline entry that is no longer broken",
        findings: &[KEPT],
        baseline: Some(&["ping.answered"]),
        reasons: &[STALE],
        summary: "Failed: 1 baseline entry is stale",
        ..PLAIN
    },
    Situation {
        name: "a baseline entry of a rule that does not exist",
        findings: &[KEPT],
        baseline: Some(&["no.such-rule"]),
        reasons: &[STALE],
        summary: "Failed: 1 baseline entry is stale",
        ..PLAIN
    },
    Situation {
        name: "a baseline entry that was not judged",
        findings: &[KEPT, UNTESTED],
        baseline: Some(&["http.accepted-202"]),
        summary: "Passed: no rule is broken",
        ..PLAIN
    },
    Situation { name: "safety rules kept", findings: &[KEPT, SAFE], summary: "Passed: no rule is broken", ..PLAIN },
    Situation {
        name: "a broken safety rule",
        findings: &[KEPT, SAFETY],
        reasons: &[BROKEN_SAFETY],
        summary: "Failed: 1 safety rule broken",
        ..PLAIN
    },
    Situation {
        name: "a broken safety rule that is known",
        findings: &[KEPT, SAFETY],
        baseline: Some(&["safety.limits"]),
        summary: "Passed: 1 known",
        ..PLAIN
    },
    Situation {
        name: "nothing selected",
        reasons: &[NOTHING],
        summary: "Failed: no rule was judged, so this says nothing about the server",
        ..PLAIN
    },
    Situation {
        name: "nothing judged",
        findings: &[UNTESTED, ELSEWHERE],
        reasons: &[NOTHING],
        summary: "Failed: no rule was judged, so this says nothing about the server",
        ..PLAIN
    },
    Situation {
        name: "cut short",
        findings: &[KEPT],
        cut_short: true,
        reasons: &[CUT],
        summary: "Failed: 1 run ended early, so some rules were not tested",
        ..PLAIN
    },
    Situation {
        name: "cut short, with all that is broken known",
        findings: &[KEPT, MUST],
        baseline: Some(&["shape.results"]),
        cut_short: true,
        reasons: &[CUT],
        summary: "Failed: 1 run ended early, so some rules were not tested (1 known)",
        ..PLAIN
    },
    Situation {
        name: "everything at once",
        findings: &[KEPT, MUST, SHOULD, MAY, SAFETY],
        baseline: Some(&["ping.answered", "shape.results"]),
        fail_on: FailOn::Should,
        cut_short: true,
        reasons: &[CUT, BROKEN_SAFETY, BROKEN_SHOULD, STALE],
        summary: "Failed: 1 run ended early, so some rules were not tested; 1 safety rule broken; 1 SHOULD rule broken \
                  (this check fails on SHOULD); 1 baseline entry is stale (1 warning, 1 known)",
    },
];

fn known(rule: &str) -> Known {
    Known {
        rule: rule.to_owned(),
        revision: "2025-11-25".to_owned(),
        transport: "stdio".to_owned(),
        defects: Vec::new(),
        places: Vec::new(),
        finding: String::new(),
        reason: "because".to_owned(),
    }
}

fn baseline(rules: &[&str]) -> Baseline {
    Baseline { schema: FORMAT.to_owned(), known: rules.iter().map(|rule| known(rule)).collect() }
}

/// What one format says: whether the check failed, and the text in which its reasons must stand.
struct Rendered {
    format: &'static str,
    failed: bool,
    text: String,
}

/// Every format's own sense of failing, read from its output.
fn rendered(view: &ReportView<'_>) -> Vec<Rendered> {
    vec![human(view), json(view), junit(view), sarif(view), markdown(view), html(view), tap(view), badge(view)]
}

fn human(view: &ReportView<'_>) -> Rendered {
    let text = human::render(view, human::Style { paint: Paint { colour: false }, verbose: false });
    // A long conclusion is folded.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let failed = text.contains(" Failed: ");
    assert_ne!(failed, text.contains(" Passed: "), "{text}");
    Rendered { format: "human", failed, text }
}

fn json(view: &ReportView<'_>) -> Rendered {
    let text = json::render(view);
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let verdict = &document["verdict"];
    let failed = verdict["passed"] == false;
    assert_eq!((verdict["exit_code"] == 1, verdict["reasons"] != serde_json::json!([])), (failed, failed), "{verdict}");
    Rendered { format: "json", failed, text: verdict.to_string() }
}

fn junit(view: &ReportView<'_>) -> Rendered {
    let text = junit::render(view);
    let xml = roxmltree::Document::parse(&text).expect("XML");
    let count = |name: &str| xml.root_element().attribute(name).and_then(|n| n.parse::<usize>().ok()).expect("a count");
    let nodes = |name: &str| xml.descendants().filter(|node| node.has_tag_name(name)).count();
    assert_eq!((count("failures"), count("errors")), (nodes("failure"), nodes("error")));
    assert_eq!(count("tests"), nodes("testcase"));
    Rendered { format: "junit", failed: nodes("failure") + nodes("error") > 0, text }
}

fn sarif(view: &ReportView<'_>) -> Rendered {
    let text = sarif::render(view);
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let invocation = &document["runs"][0]["invocations"][0];
    Rendered { format: "sarif", failed: invocation["exitCode"] != 0, text: invocation.to_string() }
}

fn markdown(view: &ReportView<'_>) -> Rendered {
    let text = markdown::render(view);
    let failed = text.starts_with("**Failed: ");
    assert_ne!(failed, text.starts_with("**Passed: "), "{text}");
    Rendered { format: "markdown", failed, text }
}

fn html(view: &ReportView<'_>) -> Rendered {
    let text = html::render(view);
    let line = text.lines().find(|line| line.starts_with("<h2 id=\"verdict\"")).expect("a conclusion").to_owned();
    let failed = line.contains("\"verdict f\">Failed: ");
    assert_ne!(failed, line.contains(">Passed: "), "{line}");
    Rendered { format: "html", failed, text: line }
}

fn tap(view: &ReportView<'_>) -> Rendered {
    let text = tap::render(view);
    let points = text.lines().filter(|line| line.starts_with("ok ") || line.starts_with("not ok ")).count();
    assert!(text.contains(&format!("\n1..{points}\n")), "{text}");
    let failed = text.lines().any(|line| line.starts_with("not ok ") && !line.contains(" # TODO "));
    Rendered { format: "tap", failed, text }
}

/// Drawn from the JSON report, as `proof badge` does.
fn badge(view: &ReportView<'_>) -> Rendered {
    let saved = saved::Report::parse(&json::render(view)).expect("a report");
    assert_eq!(saved.conclusion(), *view.conclusion());
    let text = badge::render(&saved);
    Rendered { format: "badge", failed: !text.contains(": passed · "), text }
}

/// The words in which a format says why: fewer on a badge, which has little room.
fn in_short(format: &str, reason: &'static str) -> &'static str {
    match (format, reason) {
        ("badge", BROKEN_MUST) => "1 MUST broken",
        ("badge", BROKEN_SHOULD) => "1 SHOULD broken",
        ("badge", BROKEN_SAFETY) => "1 safety broken",
        ("badge", STALE) => "stale baseline",
        ("badge", NOTHING) => "nothing judged",
        ("badge", CUT) => "cut short",
        _ => reason,
    }
}

#[test]
fn every_format_and_the_exit_code_say_the_same() {
    let rules = index();
    for one in SITUATIONS {
        let findings = one.findings.iter().map(|&(rule, level, outcome)| finding(rule, level, outcome, "m"));
        let report = report(findings.collect(), one.cut_short.then_some("it was gone"));
        let baseline = one.baseline.map(baseline);
        let view = ReportView::new(&report, &rules, baseline.as_ref(), one.fail_on);
        let conclusion = view.conclusion();
        let fails = !one.reasons.is_empty();
        assert_eq!((conclusion.fails(), conclusion.exit_code), (fails, u8::from(fails)), "{}", one.name);
        assert_eq!(conclusion.summary, one.summary, "{}", one.name);
        let messages: Vec<_> = conclusion.reasons.iter().map(|reason| reason.message.as_str()).collect();
        assert_eq!(messages, one.reasons, "{}", one.name);
        for Rendered { format, failed, text } in rendered(&view) {
            assert_eq!(failed, fails, "{format}: {}\n{text}", one.name);
            for reason in one.reasons {
                assert!(text.contains(in_short(format, reason)), "{format}: {}: no `{reason}`\n{text}", one.name);
            }
        }
    }
}

#[test]
fn a_rule_counts_once_by_the_worst_of_it() {
    let rules = index();
    let at = |level, outcome, revision| Finding { revision, ..finding("shape.results", level, outcome, "m") };
    let report = report(vec![at(Should, Warn, R2025_06_18), at(Must, Fail, R2025_11_25)], None);
    let summary = |baseline: Option<&Baseline>, fail_on| {
        ReportView::new(&report, &rules, baseline, fail_on).conclusion().summary.clone()
    };
    assert_eq!(summary(None, FailOn::Should), "Failed: 1 MUST rule broken");
    let known = baseline(&["shape.results"]);
    assert_eq!(summary(Some(&known), FailOn::Must), "Passed: 1 warning");
    assert_eq!(summary(Some(&known), FailOn::Should), format!("Failed: {BROKEN_SHOULD}"));
}

#[test]
fn a_known_finding_carries_its_reason() {
    let rules = index();
    let report = report(vec![finding("shape.results", Must, Fail, "m")], None);
    let mut baseline = baseline(&["shape.results"]);
    let view = ReportView::new(&report, &rules, Some(&baseline), FailOn::Must);
    assert_eq!(view.disposition(&report.results[0]), Disposition::Known(Some("because")));
    baseline.known[0].reason = " ".to_owned();
    let view = ReportView::new(&report, &rules, Some(&baseline), FailOn::Must);
    assert_eq!(view.disposition(&report.results[0]), Disposition::Known(None));
}

#[test]
fn a_report_of_an_older_version_has_a_conclusion_too() {
    let rules = index();
    let report = report(vec![finding("shape.results", Must, Fail, "m"), finding("tools.titles", May, Warn, "m")], None);
    let view = ReportView::new(&report, &rules, None, FailOn::Must);
    let mut document: serde_json::Value = serde_json::from_str(&json::render(&view)).expect("JSON");
    document.as_object_mut().expect("an object").remove("verdict");
    let saved = saved::Report::parse(&document.to_string()).expect("a report");
    assert_eq!(saved.conclusion(), *view.conclusion());
}

#[test]
fn a_comment_holds_no_more_than_it_may() {
    let long = |n: usize| format!("{n} {}", "`日本<".repeat(400));
    let many = |number: usize| (0..number).map(|n| finding(format!("area.rule-{n}").leak(), Must, Fail, &long(n)));
    let report = report(many(500).collect(), Some(&long(0)));
    let text = markdown::render(&ReportView::new(&report, &index(), None, FailOn::Must));
    assert!(text.len() <= 60_000 && text.len() > 50_000, "{}", text.len());
    let shown = text.matches("- **FAIL**").count();
    assert!(shown > 5 && text.ends_with("shows everything.\n"), "{text}");
    assert!(text.contains(&format!("\n{} entries are left out: ", 500 - shown)), "{text}");
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("``")).count(), 2 * shown, "a block left open");
}
