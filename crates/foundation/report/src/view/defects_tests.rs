//! Different defects of one rule, and findings of one cause: every format shows all of them, and no count changes.

use wire::Level::{Must, Safety, Should};
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
    let sent =
        Sent { event: 4, answered: true, text: "tools/list (id 2)".to_owned(), curl: None, curl_session: Vec::new() };
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
        defects: Vec::new(),
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
    let written = Baseline::of(&report, Some(&previous), &index());
    let rules: Vec<_> = written.known.iter().map(|known| known.rule.as_str()).collect();
    assert_eq!(rules, ["tools.titles", "shape.*"]);
    assert_eq!(Baseline::parse(&written.text()), Ok(written), "it reads back");
}

/// A baseline as `--write-baseline` makes it of a report, and what it makes of another.
fn after(first: &Report, second: &Report) -> (bool, String) {
    let written = Baseline::of(first, None, &index());
    let read = Baseline::parse(&written.text()).expect("it reads back");
    viewed(second, Some(&read), |view| (view.is_known(&second.results[0]), people(view)))
}

#[test]
fn a_new_defect_under_a_known_rule_is_new() {
    let single = || report(vec![finding("shape.results", Must, Outcome::Fail, "`version` is missing")], None);
    let both = || report(vec![twofold()], None);
    assert!(after(&single(), &single()).0);
    assert!(after(&both(), &both()).0);
    assert!(after(&both(), &single()).0, "a defect less is no news");
    let (known, text) = after(&single(), &both());
    assert!(!known && text.contains("FAIL  shape.results") && text.contains(OTHER), "{text}");
    let note = "The baseline knows another defect under this rule, at ping /result.";
    assert!(text.contains(note) && !text.contains("`version` is missing"), "{text}");
}

#[test]
fn the_same_defect_elsewhere_in_a_list_is_known() {
    let moved = || {
        let mut report = report(vec![twofold()], None);
        report.results[0].evidence[1].pointer = "/result/tools/7/inputSchema".to_owned();
        report.results[0].evidence[1].message = Some("worded differently".to_owned());
        report
    };
    assert!(after(&report(vec![twofold()], None), &moved()).0);
    let mut other = moved();
    other.results[0].evidence[1].pointer = "/result/tools/0/outputSchema".to_owned();
    assert!(!after(&report(vec![twofold()], None), &other).0);
}

#[test]
fn entries_stay_whole_where_the_defects_seen_are_not_all() {
    let mut cut = twofold();
    cut.more_defects = true;
    for step in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] {
        let pointer = format!("/result/{step}");
        cut.evidence.push(Evidence { pointer, ..cut.evidence[1].clone() });
    }
    // Timing decides which defects of `safety.limits` are seen.
    let timed = finding("safety.limits", Safety, Outcome::Fail, "it ended");
    let written = Baseline::of(&report(vec![cut.clone(), timed.clone()], None), None, &index());
    assert!(written.known.iter().all(Known::covers_all), "{written:?}");
    let mut elsewhere = timed;
    elsewhere.evidence[0].method = Some("tools/call".to_owned());
    let second = report(vec![cut, elsewhere], None);
    viewed(&second, Some(&written), |view| {
        assert!(second.results.iter().all(|one| view.is_known(one) && view.is_known_whole(one)));
    });
}

/// A check looks at so many breaches; how many there are must not decide.
#[test]
fn a_listed_defect_stays_known_however_often_it_is_seen() {
    let often = || {
        let mut report = report(vec![twofold()], None);
        report.results[0].more_defects = true;
        report
    };
    let once = || report(vec![twofold()], None);
    assert!(after(&often(), &often()).0 && after(&once(), &often()).0 && after(&often(), &once()).0);
    let single = report(vec![finding("shape.results", Must, Outcome::Fail, "`version` is missing")], None);
    assert!(!after(&single, &often()).0);
}

#[test]
fn an_entry_of_an_old_file_covers_all_and_every_report_says_so() {
    let old = r#"{"schema":"proof.baseline/1","known":[{"rule":"shape.results","revision":"2025-11-25",
        "transport":"stdio","finding":"x","reason":"because"}]}"#;
    let baseline = Baseline::parse(old).expect("an old file");
    let report = report(vec![twofold()], None);
    viewed(&report, Some(&baseline), |view| {
        assert!(view.is_known(&report.results[0]));
        for (format, text, said) in [
            ("human", people(view), "Each: also covers later defects of this rule"),
            ("markdown", markdown::render(view), "also covers later defects of this rule"),
            ("junit", junit::render(view), "also covers later defects of this rule"),
            ("tap", tap::render(view), "also covers later defects of this rule"),
            ("html", html::render(view), "also covers later defects of this rule"),
            ("json", json::render(view), "\"known_whole\": true"),
        ] {
            assert!(text.contains(said), "{format}: {text}");
        }
    });
    // Written again, it names its defects and keeps its reason.
    let narrowed = Baseline::of(&report, Some(&baseline), &index());
    let [entry] = narrowed.known.as_slice() else { panic!("{narrowed:?}") };
    assert_eq!(entry.defects, ["ping /result", "tools/list /result/tools/*/inputSchema"]);
    assert_eq!(entry.reason, "because");
}

#[test]
fn an_entry_by_hand_and_a_written_one_cover_a_finding_together() {
    let report = report(vec![twofold()], None);
    let by_hand = baseline(vec![entry("shape.results", "*", "*", &["ping *"])]);
    let written = Baseline::of(&report, Some(&by_hand), &index());
    let defects: Vec<_> = written.known.iter().map(|known| known.defects.as_slice()).collect();
    assert_eq!(defects, [&["tools/list /result/tools/*/inputSchema".to_owned()][..], &[]]);
    viewed(&report, Some(&written), |view| assert!(view.is_known(&report.results[0])));
}

#[test]
fn each_defect_is_one_sarif_result_with_a_fingerprint_that_stays() {
    let results = |report: &Report, baseline: Option<&Baseline>| -> Vec<serde_json::Value> {
        let document = viewed(report, baseline, sarif::render);
        let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
        document["runs"][0]["results"].as_array().expect("results").clone()
    };
    let prints = |report: &Report| -> Vec<String> {
        let print = |result: &serde_json::Value| result["partialFingerprints"]["primaryLocationLineHash"].to_string();
        results(report, None).iter().map(print).collect()
    };
    let first = report(vec![twofold()], None);
    let mut second = report(vec![twofold()], None);
    let moved = &mut second.results[0].evidence[1];
    (moved.event, moved.pointer) = (99, "/result/tools/7/inputSchema".to_owned());
    let (before, after) = (prints(&first), prints(&second));
    assert!(before.len() == 2 && before[0] != before[1], "{before:?}");
    assert_eq!(before, after);
    // With one of them known, the other alone is new.
    let known = Baseline::of(
        &report(vec![finding("shape.results", Must, Outcome::Fail, "`version` is missing")], None),
        None,
        &index(),
    );
    let states: Vec<_> = results(&first, Some(&known))
        .iter()
        .map(|result| (result["baselineState"].to_string(), result.get("suppressions").is_some()))
        .collect();
    assert_eq!(states, [("\"new\"".to_owned(), false), ("\"unchanged\"".to_owned(), true)]);
}

#[test]
fn a_replaced_secret_is_a_placeholder_with_a_note_in_every_format_for_people() {
    let mut one = finding("shape.results", Must, Outcome::Fail, "m");
    one.repro = Some("proof check -- x --token YOUR-SECRET-HERE".to_owned());
    let report = report(vec![one], None);
    viewed(&report, None, |view| {
        for text in [people(view), junit::render(view), sarif::render(view), markdown::render(view), html::render(view)]
        {
            let note = "Put in the secret that was replaced by YOUR-SECRET-HERE.";
            assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" ").matches(note).count(), 1, "{text}");
        }
    });
}

/// A server that can no longer be reached: what is seen is no message, and what was sent last stands before it.
#[test]
fn the_end_of_a_connection_is_nothing_that_was_sent() {
    let mut end = finding("safety.limits", Safety, Outcome::Fail, "it can no longer be reached");
    let sent = Sent { event: 2, text: "42".to_owned(), ..Sent::default() };
    let excerpt = "closed: failed".to_owned();
    end.evidence = vec![Evidence { from: "client", excerpt, caret: None, sent: Some(sent), ..end.evidence[0].clone() }];
    viewed(&report(vec![end], None), None, |view| {
        let text = people(view);
        assert!(text.contains("      last sent: 42\n      seen:      closed: failed\n"), "{text}");
    });
}

/// A verbose report is read from its beginning, and tells what matters most first.
#[test]
fn a_verbose_report_begins_with_what_matters_most() {
    let findings = vec![
        finding("http.accepted-202", Must, Outcome::NotApplicable, "not over stdio"),
        finding("ping.answered", Must, Outcome::Pass, "it is kept"),
        finding("tools.titles", Must, Outcome::NotExercised, "no tool was listed"),
        finding("tools.names-unique", Should, Outcome::Warn, "named twice"),
        finding("shape.results", Must, Outcome::Fail, "`version` is missing"),
    ];
    viewed(&report(findings, None), None, |view| {
        let text = human::render(view, human::Style { paint: Paint { colour: false }, verbose: true });
        let order = [
            "FAIL  shape.results",
            "WARN  tools.names-unique",
            "Not exercised: 1 rule, by reason\n  no tool was listed\n    MUST    tools.titles\n",
            "Passed: 1 rule\n    MUST    ping.answered\n",
            "Not applicable: 1 rule, by reason\n   1  not over stdio\n",
            "Rules, by run",
            "1 rule not exercised in any run: tools 1.",
        ];
        let places: Vec<_> =
            order.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"))).collect();
        assert!(places.is_sorted(), "{places:?} {text}");
    });
}

/// The commands that open a session stand once, however many findings need it.
#[test]
fn the_session_of_curl_commands_is_opened_once() {
    let needs = |rule| {
        let mut one = finding(rule, Must, Outcome::Fail, "it is wrong");
        let sent = one.evidence[0].sent.as_mut().expect("what was sent");
        sent.curl = Some(format!("curl -i x -H 'Mcp-Session-Id: SESSION-ID' -d '{rule}'"));
        sent.curl_session = vec!["curl -i x -d 'open'".to_owned()];
        one
    };
    viewed(&report(vec![needs("shape.results"), needs("ping.answered")], None), None, |view| {
        let text = people(view);
        assert_eq!(
            (text.matches("-d 'open'").count(), text.matches("      curl:      curl -i x").count()),
            (1, 2),
            "{text}"
        );
        assert_eq!(html::render(view).matches("Open the session for curl first").count(), 2);
        assert_eq!(junit::render(view).matches("before it: curl -i x").count(), 2);
        assert_eq!(json::render(view).matches("\"curl_session\"").count(), 2);
    });
}
