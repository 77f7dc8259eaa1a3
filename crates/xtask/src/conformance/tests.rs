//! Made-up lists and results, shaped as the suite writes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::Options;
use super::expected::Expectations;
use super::leg::Leg;
use super::requirements::{Required, parse};
use super::results::{NOT_RUN, Results, VACUOUS, scenario};

const R: &str = "2026-07-28";

fn check(id: &str, status: &str) -> Value {
    json!({ "id": id, "name": "X", "description": "what it is about", "status": status, "specReferences": [] })
}

fn required(names: &[(&str, bool)]) -> Vec<Required> {
    names.iter().map(|(name, scored)| Required { name: (*name).to_owned(), scored: *scored }).collect()
}

fn read(text: &str) -> anyhow::Result<Results> {
    let texts = BTreeMap::from([("tools-list".to_owned(), text.to_owned())]);
    Results::of(R, &required(&[("tools-list", true)]), &texts)
}

fn results(checks: &[Value]) -> Results {
    read(&json!(checks).to_string()).expect("the results can be read")
}

/// Check and status of everything that is wrong.
fn wrong(checks: &[Value]) -> Vec<(String, &'static str)> {
    results(checks).deviations().map(|one| (one.check.clone(), one.status)).collect()
}

fn one(check: &str, status: &'static str) -> Vec<(String, &'static str)> {
    vec![(check.to_owned(), status)]
}

#[test]
fn a_scenario_passes_where_something_of_its_own_was_seen_to_be_right() {
    let good = [check("a", "SUCCESS"), check("b", "INFO"), check("wire-schema-valid", "SUCCESS")];
    assert_eq!(wrong(&good), []);
    assert_eq!(results(&good).passed(true), (1, 1));
    assert_eq!(results(&good).passed(false), (0, 0));
}

#[test]
fn every_other_status_is_a_deviation_with_its_message() {
    for status in ["FAILURE", "WARNING", "SKIPPED"] {
        let mut bad = check("b", status);
        bad["errorMessage"] = "it was like this".into();
        let results = results(&[check("a", "SUCCESS"), bad]);
        assert_eq!(results.passed(true), (0, 1), "{status}");
        assert_eq!(results.row(), "2026-07-28  0 of 1 scored, 0 of 0 unscored   (checks passed: 1)");
        let texts: Vec<String> = results.deviations().map(ToString::to_string).collect();
        assert_eq!(texts, [format!("tools-list: {status} b – it was like this")]);
    }
    // Without a message of its own the description says what it is about.
    let results = results(&[check("b", "FAILURE")]);
    assert!(results.deviations().all(|one| one.message == "what it is about"));
}

#[test]
fn what_checked_nothing_did_not_pass() {
    assert_eq!(wrong(&[]), one("*", VACUOUS));
    assert_eq!(wrong(&[check("a", "INFO")]), one("*", VACUOUS));
    assert_eq!(wrong(&[check("wire-schema-valid", "SUCCESS")]), one("*", VACUOUS));
    assert_eq!(wrong(&[check("a", "SKIPPED")]), one("a", "SKIPPED"));
    let with = |id: &str, details: Value| {
        let mut check = check(id, "SUCCESS");
        check["details"] = details;
        check
    };
    let idle = [check("a", "SUCCESS"), with("b", json!({ "untestable": true }))];
    assert_eq!(wrong(&idle), one("b", VACUOUS));
    let silent =
        [check("a", "SUCCESS"), with("wire-schema-valid", json!({ "messagesValidated": 0, "violations": [] }))];
    assert_eq!(wrong(&silent), one("wire-schema-valid", VACUOUS));
}

#[test]
fn a_scenario_without_result_is_missed() {
    let results = Results::of(R, &required(&[("ping", false)]), &BTreeMap::new()).expect("no results");
    assert_eq!(results.deviations().map(|one| one.status).collect::<Vec<_>>(), [NOT_RUN]);
    assert_eq!(results.passed(false), (0, 1));
}

#[test]
fn results_that_are_not_understood_are_an_error() {
    let odd = [
        "",
        "{}",
        r#"[{"status":"SUCCESS"}]"#,
        r#"[{"id":"a"}]"#,
        r#"[{"id":"a","status":"MAYBE"}]"#,
        r#"[{"id":"a","status":"success"}]"#,
    ];
    for text in odd {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn folders_are_named_for_their_scenarios() {
    assert_eq!(scenario("server-tools-list-2026-11-21T14-49-18-578Z", Leg::Server), Some("tools-list"));
    assert_eq!(scenario("server-server-stateless-2026-01-02T03-04-05-678Z", Leg::Server), Some("server-stateless"));
    for odd in [
        "",
        "server-",
        "tools-list-2026-11-21T14-49-18-578Z",
        "server-tools-list",
        "server--2026-11-21T14-49-18-57Z",
        "server-2026-11-21T14-49-18-578Z",
        "server-tools-list-2026-11-21T14:49:18:578Z",
        "server-ää-2026-11-21T14-49-18-57äZ",
    ] {
        assert_eq!(scenario(odd, Leg::Server), None, "{odd}");
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("xtask-conformance-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

#[test]
fn a_run_is_read_from_its_folders_and_nothing_uncounted_is_left() {
    let folder = folder("run");
    let write = |name: &str| {
        let of_it = folder.join(name);
        fs::create_dir_all(&of_it).expect("a folder");
        fs::write(of_it.join("checks.json"), json!([check("a", "SUCCESS")]).to_string()).expect("a file");
    };
    write("server-ping-2026-11-21T14-49-18-578Z");
    let required = required(&[("ping", true), ("tools-list", false)]);
    let results = Results::read(&folder, Leg::Server, R, &required).expect("a run");
    assert_eq!((results.passed(true), results.passed(false)), ((1, 1), (0, 1)));
    write("server-ping-2026-11-21T14-49-19-578Z");
    let twice = Results::read(&folder, Leg::Server, R, &required).expect_err("twice").to_string();
    assert!(twice.contains("ping was run twice"), "{twice}");
    write("server-other-2026-11-21T14-49-18-578Z");
    assert!(Results::read(&folder, Leg::Server, R, &required[..0]).is_err());
    fs::remove_dir_all(&folder).expect("it can go");
}

const LIST: &str = "\
# The requirements.

server:
  - ping
  - sep-1-tools-list

client:
  - auth/basic
  - tools_call

not_scored:
  - scenario: auth/odd
    leg: client
    reason: extension
  - scenario: preserved
    leg: client
    reason: extension
  - scenario: polling
    leg: server
    reason: pending
    note: >-
      some words: and some more
";

#[test]
fn the_list_names_what_is_wanted_of_servers() {
    let list = parse(LIST, Leg::Server).expect("a list");
    assert_eq!(list, required(&[("ping", true), ("sep-1-tools-list", true), ("polling", false)]));
}

#[test]
fn the_list_names_what_is_wanted_of_clients() {
    let list = parse(LIST, Leg::Client).expect("a list");
    assert_eq!(
        list,
        required(&[("auth/basic", true), ("tools_call", true), ("auth/odd", false), ("preserved", false)])
    );
}

#[test]
fn folders_of_clients_have_no_prefix_and_may_have_folders() {
    let folder = folder("client");
    for name in ["tools_call-2026-11-21T14-49-18-578Z", "auth/odd-2026-11-21T14-49-18-578Z"] {
        let of_it = folder.join(name);
        fs::create_dir_all(&of_it).expect("a folder");
        fs::write(of_it.join("checks.json"), json!([check("a", "SUCCESS")]).to_string()).expect("a file");
    }
    assert_eq!(scenario("auth/odd-2026-11-21T14-49-18-578Z", Leg::Client), Some("auth/odd"));
    let results =
        Results::read(&folder, Leg::Client, R, &required(&[("tools_call", true), ("auth/odd", true)])).expect("a run");
    assert_eq!((&*results.revision, results.passed(true)), ("client 2026-07-28", (2, 2)));
    fs::remove_dir_all(&folder).expect("it can go");
}

#[test]
fn a_list_of_another_shape_is_refused() {
    let odd = [
        ("  - ping\n", "  - scenario: ping\n"),
        ("  - ping\n", "  ping\n"),
        ("leg: server", "leg: both"),
        ("    leg: server\n", ""),
        ("- scenario: polling", "- name: polling"),
        ("server:", "server: all"),
    ];
    assert!(parse("", Leg::Server).is_err());
    for (was, is) in odd {
        assert!(parse(&LIST.replacen(was, is, 1), Leg::Server).is_err(), "{is}");
    }
}

fn expectations(entries: Value) -> anyhow::Result<Expectations> {
    Expectations::parse(
        &json!({ "2025-11-25": [], "2026-07-28": entries, "client 2025-11-25": [], "client 2026-07-28": [] })
            .to_string(),
    )
}

fn entry() -> Value {
    json!({ "scenario": "tools-list", "check": "b", "status": "WARNING", "sentence": "server/tools#tool-names",
            "why": "the page says so" })
}

#[test]
fn what_is_explained_is_no_complaint_and_what_is_not_is_one() {
    let checks = [check("a", "SUCCESS"), check("b", "WARNING"), check("b", "WARNING")];
    let explained = expectations(json!([entry()])).expect("expectations");
    assert_eq!(explained.compare(&results(&checks)), [""; 0]);
    let complaints = expectations(json!([])).expect("expectations").compare(&results(&checks));
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(complaints[0].contains("tools-list: WARNING b – what it is about"), "{complaints:?}");
}

#[test]
fn an_explanation_covers_its_status_alone_and_must_still_be_needed() {
    let explained = expectations(json!([entry()])).expect("expectations");
    let failed = explained.compare(&results(&[check("a", "SUCCESS"), check("b", "FAILURE")]));
    assert_eq!(failed.len(), 2, "{failed:?}");
    let fine = explained.compare(&results(&[check("a", "SUCCESS"), check("b", "SUCCESS")]));
    assert_eq!(fine.len(), 1, "{fine:?}");
    assert!(fine[0].contains("stale – WARNING b"), "{fine:?}");
}

#[test]
fn an_explanation_is_complete_and_names_a_place_in_the_specification() {
    for member in ["scenario", "check", "status", "sentence", "why"] {
        let mut odd = entry();
        odd[member] = " ".into();
        assert!(expectations(json!([odd])).is_err(), "{member}");
    }
    for (member, value) in [("sentence", "the tools page"), ("sentence", "server/tools#"), ("status", "INFO")] {
        let mut odd = entry();
        odd[member] = value.into();
        assert!(expectations(json!([odd])).is_err(), "{value}");
    }
    assert!(expectations(json!([entry(), entry()])).is_err(), "said twice");
    assert!(Expectations::parse(r#"{ "2026-07-28": [] }"#).is_err(), "a revision is missing");
}

#[test]
fn the_committed_explanations_can_be_read() {
    Expectations::load(&crate::root().join("peers/conformance.json")).expect("peers/conformance.json");
}

#[test]
fn options_are_read() {
    let parse = |args: &[&str]| Options::parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
    let required = Options { install_only: true, proof: Some("p".into()) };
    assert_eq!(parse(&["--install-only", "--proof", "p"]).expect("options"), required);
    assert!(parse(&["--proof"]).is_err() && parse(&["--else"]).is_err());
}
