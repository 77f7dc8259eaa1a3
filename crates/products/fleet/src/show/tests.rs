//! Tables fit a terminal, reports escape what servers say, and a difference is what changed for the better or the worse.

use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use super::badge::{Tone, svg};
use super::history::{Past, changes, diff, newest_until};
use super::page::{Page, Table};
use super::reports::{ReportKind, report};
use super::table::lines;
use crate::config::Fleet;
use crate::gate::{Finding, GateKind, Judged, Outcome};
use crate::state::{Kept, Record, ServerState};

#[test]
fn a_table_fits_a_terminal_whatever_is_in_it() {
    let texts = |row: [&str; 3]| row.map(str::to_owned).to_vec();
    let wide = "字".repeat(60);
    let rows = [texts(["a", &"x".repeat(200), &wide]), texts(["b\u{1b}[31m", "y", "z"])];
    let found = lines(&texts(["SERVER", "STAGE", "OWNER"]), &rows);
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|line| line.width() <= 80 && !line.contains('\u{1b}')), "{found:#?}");
    assert!(found[1].contains('…'), "{found:#?}");
}

#[test]
fn what_a_server_says_is_text_in_every_form() {
    let hostile = "<script>alert(1)</script> | [x](https://evil.example) `y`";
    let table = Table {
        title: "t".to_owned(),
        columns: vec!["a", "outcome"],
        rows: vec![vec![hostile.to_owned(), "fail".to_owned()]],
    };
    let page = Page { kind: "tests", title: hostile.to_owned(), lines: vec![hostile.to_owned()], tables: vec![table] };
    let html = page.html();
    assert!(!html.contains("anywhere") && html.contains("white-space:nowrap"), "short words are split: {html}");
    assert!(
        !html.contains("<script") && html.contains("class=\"fail\"") && html.contains("default-src 'none'"),
        "{html}"
    );
    let row = page.markdown().lines().last().map(str::to_owned).unwrap_or_default();
    assert!(row.starts_with("| `") && row.contains("\\|") && row.ends_with("| fail |"), "{row}");
    assert_eq!(page.json()["tables"][0]["rows"][0]["outcome"], json!("fail"));
    assert!(!svg("<b>", "x", Tone::Bad).contains("<b>"));
}

fn state(fleet: &Fleet) -> ServerState<'_> {
    let text = str::to_owned;
    let mut judged = Judged::new(Outcome::Fail, "two findings");
    judged.facts = json!({ "cases": 7, "files": 2 });
    judged.findings = vec![Finding {
        rule: text("case one"),
        level: text("failed"),
        place: text("a.mcp.yaml:3"),
        message: text("expected 1"),
        fix: text("proof test"),
        fails: true,
    }];
    let record = Record { gate: GateKind::Tested, judged, at: 1_800_000_000, ms: 1, version: 1, key: text("k") };
    let kept = Kept { records: vec![record], ..Kept::default() };
    ServerState::of(fleet, &fleet.servers[0], kept, 1_800_000_000)
}

#[test]
fn a_report_has_sums_rows_and_findings_of_its_kind_alone() {
    let fleet = Fleet::read("servers:\n  - { name: a, command: [x] }\n", ".".into()).expect("valid");
    let state = state(&fleet);
    let page = report(ReportKind::Tests, &fleet, &[&state], 1_800_000_000);
    let text = page.markdown();
    assert!(page.lines.iter().any(|line| line.contains("0 of 1 pass. 2 test files, 7 cases.")), "{text}");
    assert!(text.contains("case one") && text.contains("a.mcp.yaml:3"), "{text}");
    let security = report(ReportKind::Security, &fleet, &[&state], 1_800_000_000).markdown();
    assert!(!security.contains("case one"), "{security}");
}

#[test]
fn a_difference_is_what_changed_between_two_times() {
    let past = |gate, outcome, at| Past {
        server: "a".to_owned(),
        gate,
        outcome,
        summary: "s".to_owned(),
        score: None,
        at,
        run: None,
    };
    let all = [
        past(GateKind::Conforms, Outcome::Pass, 10),
        past(GateKind::Conforms, Outcome::Fail, 20),
        past(GateKind::Tested, Outcome::Fail, 10),
        past(GateKind::Tested, Outcome::Pass, 20),
        past(GateKind::Scanned, Outcome::Pass, 10),
        past(GateKind::Locked, Outcome::Pass, 30),
    ];
    let found = changes(&newest_until(&all, 15), &newest_until(&all, 25));
    let worse: Vec<_> = found.iter().map(|change| (change.of.1, change.is_worse())).collect();
    assert_eq!(worse, [(GateKind::Conforms, true), (GateKind::Tested, false)]);
    assert!(diff(&found).ends_with("2 changes, 1 for the worse\n"));
    assert!(diff(&found[..1]).ends_with("1 change, 1 for the worse\n"));
    let end = newest_until(&all, 25);
    assert!(changes(&end, &end).is_empty());
}

#[test]
fn an_address_without_a_scheme_is_no_link() {
    let rows = ["www.evil.example/login", "see WWW.evil.example", "12.5 ms"].map(|cell| vec![cell.to_owned()]).to_vec();
    let table = Table { title: "t".to_owned(), columns: vec!["a"], rows };
    let page = Page { kind: "tests", title: "t".to_owned(), lines: Vec::new(), tables: vec![table] };
    let text = page.markdown();
    for row in ["| ` www.evil.example/login ` |", "| ` see WWW.evil.example ` |", "| 12.5 ms |"] {
        assert!(text.contains(row), "{row}: {text}");
    }
}

#[test]
fn figures_of_a_worker_that_lies_are_brought_into_range() {
    let text = "servers:\n  - { name: a, command: [x] }\n  - { name: b, command: [x] }\n";
    let fleet = Fleet::read(text, ".".into()).expect("valid");
    let mut judged = Judged::new(Outcome::Fail, "x");
    judged.findings = vec![
        Finding {
            rule: "r".to_owned(),
            level: String::new(),
            place: String::new(),
            message: String::new(),
            fix: String::new(),
            fails: true,
        };
        9
    ];
    judged.more = usize::MAX;
    (judged.score, judged.coverage) = (Some(1e308), Some(-1e308));
    judged.facts = json!({ "files": u64::MAX, "cases": u64::MAX });
    let judged = judged.in_range();
    assert_eq!((judged.score, judged.coverage), (Some(100.0), Some(0.0)));
    let record = Record { gate: GateKind::Tested, judged, at: 1_800_000_000, ms: 1, version: 1, key: "k".to_owned() };
    let kept = || Kept { records: vec![record.clone()], ..Kept::default() };
    let states: Vec<_> =
        fleet.servers.iter().map(|server| ServerState::of(&fleet, server, kept(), 1_800_000_000)).collect();
    let states: Vec<&ServerState<'_>> = states.iter().collect();
    let most = u64::MAX.to_string();
    let lines = report(ReportKind::Tests, &fleet, &states, 1_800_000_000).lines.join(" ");
    assert!(lines.contains(&format!("{most} test files, {most} cases.")), "{lines}");
    assert_eq!(super::status::json(&fleet, &states, 0)["summary"]["cases"], json!(u64::MAX));
    assert!(super::playbook::playbook(&fleet, states[0], 1_800_000_000).contains(&format!("and {most} more")));
}

#[test]
fn a_sum_counts_servers_that_want_a_stage() {
    let sum = |text: &str| {
        let fleet = Fleet::read(text, ".".into()).expect("valid");
        let of = |server| ServerState::of(&fleet, server, Kept::default(), 1_800_000_000);
        let states: Vec<ServerState<'_>> = fleet.servers.iter().map(of).collect();
        super::status::sum(&states.iter().collect::<Vec<_>>())
    };
    assert!(sum("servers:\n  - { name: a, command: [x] }\n").starts_with("no stage is wanted"));
    let one = "servers:\n  - { name: a, command: [x], stage: starts }\n  - { name: b, command: [x] }\n";
    assert!(sum(one).starts_with("0 of 1 at the stage that is wanted, 1 server without one;"), "{}", sum(one));
    assert_eq!(super::status::sum(&[]), "no server fits");
}

#[test]
fn a_playbook_says_each_correction_once_and_what_the_entry_must_name() {
    let fleet =
        Fleet::read("servers:\n  - { name: a, owner: o, source: s, command: [x] }\n", ".".into()).expect("valid");
    let finding = |rule: &str, fix: &str| Finding {
        rule: rule.to_owned(),
        level: String::new(),
        place: String::new(),
        message: "m".to_owned(),
        fix: fix.to_owned(),
        fails: true,
    };
    let record = |gate, judged| Record { gate, judged, at: 1_800_000_000, ms: 1, version: 1, key: "k".to_owned() };
    let found = vec![finding("r1", "mend it"), finding("r2", "mend it"), finding("r3", "or this")];
    let records = vec![
        record(GateKind::Starts, Judged::new(Outcome::Pass, "")),
        record(GateKind::Conforms, Judged::by_findings(found, "")),
        record(GateKind::Tested, Judged::new(Outcome::Skipped, "no tests")),
        record(GateKind::Locked, Judged::new(Outcome::Skipped, "no lock")),
    ];
    let state = ServerState::of(&fleet, &fleet.servers[0], Kept { records, ..Kept::default() }, 1_800_000_000);
    let text = super::playbook::playbook(&fleet, &state, 1_800_000_000);
    assert_eq!(text.matches("mend it").count(), 1, "{text}");
    let order = ["- r1", "- r2", "fix: mend it", "- r3", "fix: or this"].map(|part| text.find(part));
    assert!(order.is_sorted() && order[0].is_some(), "{text}");
    assert_eq!(text.matches("proof fleet run --only a").count(), 1, "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "add `tests: [a.mcp.yaml]` to the entry of a",
        "add `lock: a.lock` to the entry of a",
        "not run: described, scanned",
    ] {
        assert!(flat.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_report_for_a_terminal_has_no_marks_and_fits() {
    let fleet = Fleet::read("servers:\n  - { name: a, command: [x] }\n", ".".into()).expect("valid");
    let state = state(&fleet);
    let text = report(ReportKind::Tests, &fleet, &[&state], 1_800_000_000).text();
    assert!(!text.contains('|') && !text.contains('#') && text.contains("case one"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}
