//! Different defects of one rule, and findings of one cause: every format shows all of them, and no count changes.

use wire::Level::{Must, Safety};
use wire::revision::R2025_06_18;

use crate::baseline::{Baseline, FORMAT, Known};
use crate::render::text::Paint;
use crate::render::{html, human, json, junit, markdown, sarif, tap};
use crate::samples::{finding, index, report};
use crate::{Disposition, Evidence, FailOn, Finding, Outcome, Report, ReportView, Sent};

const OTHER: &str = "`inputSchema` should say object";

/// A rule that is broken in two ways, the second three times.
fn twofold() -> Finding {
    let mut one = finding("shape.results", Must, Outcome::Fail, "`version` is missing");
    let sent = Sent { event: 4, answered: true, text: "tools/list (id 2)".to_owned(), curl: None };
    one.evidence.push(Evidence {
        case: "shared-session".to_owned(),
        event: 5,
        from: "server",
        pointer: "/result/tools/0/inputSchema".to_owned(),
        excerpt: "{\"tools\":[]}".to_owned(),
        message: Some(OTHER.to_owned()),
        method: Some("tools/list".to_owned()),
        sent: Some(sent),
        times: 3,
        ..Evidence::default()
    });
    one
}

fn crashed() -> Report {
    let mut garbage = finding("ping.answered", Safety, Outcome::Fail, "it ended after garbage");
    garbage.consequence_of = Some("safety.limits");
    report(vec![finding("safety.limits", Safety, Outcome::Fail, "it ended"), garbage], None)
}

fn viewed<T>(report: &Report, baseline: Option<&Baseline>, see: impl Fn(&ReportView<'_>) -> T) -> T {
    see(&ReportView::new(report, &index(), baseline, FailOn::Must))
}

fn people(view: &ReportView<'_>) -> String {
    human::render(view, human::Style { paint: Paint { colour: false }, verbose: false })
}

#[test]
fn every_format_shows_every_defect() {
    let report = report(vec![twofold()], None);
    viewed(&report, None, |view| {
        for (format, text) in [
            ("human", people(view)),
            ("json", json::render(view)),
            ("junit", junit::render(view)),
            ("sarif", sarif::render(view)),
            ("markdown", markdown::render(view)),
            ("tap", tap::render(view)),
            ("html", html::render(view).replace("<code>", "`").replace("</code>", "`")),
        ] {
            assert!(text.contains("`version` is missing") && text.contains(OTHER), "{format}: {text}");
            let more = if format == "json" { "\"times\": 3" } else { "+2 more like it" };
            assert_eq!(text.matches(more).count(), 1, "{format}: {text}");
        }
    });
}

#[test]
fn the_request_stands_before_the_response() {
    let report = report(vec![twofold()], None);
    let text = viewed(&report, None, people);
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part}: {text}"));
    assert!(at("sent:      tools/list (id 2)") < at("returned:  {\"tools\":[]}"), "{text}");
    assert!(text.contains("1 of 2: ") && text.contains("fix:       Rename one of the tools"), "{text}");
}

#[test]
fn defects_change_no_count() {
    let (one, two) = (finding("shape.results", Must, Outcome::Fail, "`version` is missing"), twofold());
    let counted = |finding| {
        let report = report(vec![finding], None);
        viewed(&report, None, |view| (view.conclusion().clone(), report.summary.must))
    };
    assert_eq!(counted(one), counted(two));
}

#[test]
fn defects_of_two_runs_are_shown_once_with_their_places() {
    let mut single = finding("shape.results", Must, Outcome::Fail, "`version` is missing");
    single.revision = R2025_06_18;
    let report = report(vec![single, twofold()], None);
    let text = viewed(&report, None, people);
    assert_eq!(text.matches("FAIL  shape.results").count(), 1, "{text}");
    assert_eq!(text.matches("`version` is missing").count(), 1, "{text}");
    assert!(text.contains("in:        stdio 2025-11-25\n"), "the second is of one run: {text}");
}

#[test]
fn what_a_finding_explains_is_shown_under_it_and_counts() {
    let report = crashed();
    viewed(&report, None, |view| {
        let text = people(view);
        assert_eq!(text.matches("FAIL  ").count(), 1, "{text}");
        assert!(text.contains("Also breaks ping.answered (SAFETY): it ended after garbage"), "{text}");
        assert_eq!(view.conclusion().counts.failing, 2);
    });
}

#[test]
fn a_new_finding_is_not_hidden_under_a_known_one() {
    let report = crashed();
    let baseline = baseline(vec![entry("safety.limits", "2025-11-25", "stdio", &[])]);
    let text = viewed(&report, Some(&baseline), people);
    assert!(text.contains("FAIL  ping.answered") && !text.contains("FAIL  safety.limits"), "{text}");
}

fn entry(rule: &str, revision: &str, transport: &str, places: &[&str]) -> Known {
    Known {
        rule: rule.to_owned(),
        revision: revision.to_owned(),
        transport: transport.to_owned(),
        places: places.iter().map(|place| (*place).to_owned()).collect(),
        finding: String::new(),
        reason: "because".to_owned(),
    }
}

fn baseline(known: Vec<Known>) -> Baseline {
    Baseline { schema: FORMAT.to_owned(), known }
}

#[test]
fn a_pattern_stands_for_several_findings() {
    let report = report(vec![twofold()], None);
    let is_known = |known: Known| {
        let baseline = baseline(vec![known]);
        viewed(&report, Some(&baseline), |view| {
            assert!(view.stale().is_empty());
            view.disposition(&report.results[0]) == Disposition::Known(Some("because"))
        })
    };
    assert!(is_known(entry("shape.*", "*", "*", &[])));
    assert!(is_known(entry("shape.results", "2025-11-25", "*", &[])));
    assert!(!is_known(entry("tools.*", "*", "*", &[])));
    assert!(!is_known(entry("shape.*", "2025-06-18", "*", &[])));
}

#[test]
fn an_entry_with_places_covers_only_those() {
    let mut report = report(vec![twofold()], None);
    let is_known = |report: &Report, places: &[&str]| {
        let baseline = baseline(vec![entry("shape.results", "*", "*", places)]);
        viewed(report, Some(&baseline), |view| view.is_known(&report.results[0]))
    };
    assert!(is_known(&report, &["ping *", "tools/list /result/tools/*"]));
    assert!(!is_known(&report, &["ping *"]), "the other defect is new");
    report.results[0].more_defects = true;
    assert!(!is_known(&report, &["*"]), "what is not shown may be elsewhere");
}

#[test]
fn a_pattern_is_stale_when_nothing_it_names_is_broken() {
    let kept = || finding("shape.results", Must, Outcome::Pass, "m");
    let stale = |results, rule| {
        let report = report(results, None);
        let baseline = baseline(vec![entry(rule, "*", "*", &[])]);
        viewed(&report, Some(&baseline), |view| view.stale().len())
    };
    assert_eq!(stale(vec![kept()], "shape.*"), 1);
    assert_eq!(stale(vec![kept(), finding("tools.titles", Must, Outcome::Fail, "m")], "*"), 0);
    assert_eq!(stale(vec![kept()], "no-such.*"), 1, "no rule");
    let untested = finding("shape.results", Must, Outcome::NotExercised, "m");
    assert_eq!(stale(vec![untested], "shape.*"), 0, "what was not judged may still be broken");
}

#[test]
fn a_written_baseline_keeps_patterns_and_adds_what_is_new() {
    let report = report(vec![twofold(), finding("tools.titles", Must, Outcome::Fail, "m")], None);
    let previous = baseline(vec![entry("shape.*", "*", "*", &[])]);
    let written = Baseline::of(&report, Some(&previous), &|_| true);
    let rules: Vec<_> = written.known.iter().map(|known| known.rule.as_str()).collect();
    assert_eq!(rules, ["tools.titles", "shape.*"]);
    assert_eq!(Baseline::parse(&written.text()), Ok(written), "it reads back");
}
