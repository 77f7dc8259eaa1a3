//! Made-up reports, throw-away folders and short-lived shell commands in place of installed peers.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Options;
use super::catalog::{OFFICIAL, PEERS, Peer};
use super::expected::Expectations;
use super::install::{Home, Pin, RUST_PEERS, once, pins, trees};
use super::judge::{end_within, executable, wait_until_listening};
use super::more::MORE;
use super::process_group::ProcessGroup;
use super::report::Report;

fn peer(id: &str) -> &'static Peer {
    PEERS.iter().find(|peer| peer.id() == id).expect("the peer is in the catalog")
}

/// What expected.json says, with one list replaced.
fn expectations(id: &str, entries: Value) -> Expectations {
    let mut document = json!({});
    for peer in PEERS {
        document[peer.name][peer.transport.name()] = if peer.id() == id { entries.clone() } else { json!([]) };
    }
    Expectations::parse(&document.to_string(), PEERS).expect("expectations parse")
}

fn result(rule: &str, revision: &str, outcome: &str) -> Value {
    json!({ "rule": rule, "level": "MUST", "revision": revision, "transport": "sse", "outcome": outcome,
            "message": "because", "url": "where", "evidence": [], "repro": "" })
}

fn report(revisions: &[&str], results: &[Value]) -> Report {
    let runs: Vec<Value> = revisions.iter().map(|one| json!({ "transport": "sse", "revision": one })).collect();
    let document = json!({ "schema": "proof.report/1", "runs": runs, "results": results });
    Report::parse(&document.to_string()).expect("the report parses")
}

const SSE: &str = "server-everything-sse";
const R: &str = "2024-11-05";

fn compare(entries: Value, report: &Report) -> Vec<String> {
    expectations(SSE, entries).compare(peer(SSE), peer(SSE).revisions, report)
}

#[test]
fn a_clean_report_has_no_complaints() {
    assert_eq!(compare(json!([]), &report(&[R], &[result("a", R, "pass")])), [""; 0]);
}

#[test]
fn an_unexpected_broken_must_is_a_complaint_with_rule_reason_and_link() {
    let complaints = compare(json!([]), &report(&[R], &[result("a.b", R, "fail")]));
    assert_eq!(complaints.len(), 1);
    for part in ["unexpected: a.b is broken at 2024-11-05", "because", "where"] {
        assert!(complaints[0].contains(part), "{complaints:?}");
    }
}

#[test]
fn a_broken_safety_rule_wants_an_entry_and_a_broken_should_none() {
    let at_level = |level: &str| {
        let mut broken = result("s", R, if level == "SHOULD" { "warn" } else { "fail" });
        broken["level"] = level.into();
        report(&[R], &[result("a", R, "pass"), broken])
    };
    let entries = json!([{ "rule": "s", "revisions": [R], "why": "it is so" }]);
    assert_eq!(compare(json!([]), &at_level("SAFETY")).len(), 1);
    assert_eq!(compare(entries, &at_level("SAFETY")), [""; 0]);
    assert_eq!(compare(json!([]), &at_level("SHOULD")), [""; 0]);
}

#[test]
fn every_hints_file_belongs_to_a_peer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/hints");
    for entry in fs::read_dir(folder).expect("there are hints") {
        let file = entry.expect("a file").path();
        let name = file.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let text = fs::read_to_string(&file).expect("text");
        assert!(serde_json::from_str::<Value>(&text).is_ok_and(|hints| hints.is_object()), "{name}");
        let of_it: Vec<_> = PEERS.iter().chain(&OFFICIAL).filter(|peer| peer.name == name).collect();
        assert!(!of_it.is_empty(), "no peer is called {name}");
        let home = Home::new(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        assert!(of_it.iter().all(|peer| home.hints(peer).len() == 2), "{name}");
    }
}

#[test]
fn an_expected_broken_must_is_none_and_counts_once() {
    let entries = json!([{ "rule": "a", "revisions": [R], "why": "it is so" }]);
    let seen_twice = report(&[R], &[result("a", R, "fail"), result("a", R, "fail")]);
    assert_eq!(compare(entries, &seen_twice), [""; 0]);
    assert_eq!(compare(json!([]), &seen_twice).len(), 1);
}

#[test]
fn an_expectation_that_does_not_come_true_is_stale() {
    let entries = || json!([{ "rule": "a", "revisions": [R], "why": "it is so" }]);
    for (outcome, named) in [("pass", "but is pass"), ("not-exercised", "but is not-exercised")] {
        let results = [result("a", R, outcome), result("b", R, "pass")];
        let complaints = compare(entries(), &report(&[R], &results));
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(complaints[0].starts_with("stale: a ") && complaints[0].contains(named), "{complaints:?}");
    }
    let complaints = compare(entries(), &report(&[R], &[result("b", R, "pass")]));
    assert!(complaints[0].contains("not in the report"), "{complaints:?}");
}

#[test]
fn what_shows_only_sometimes_is_not_missed() {
    let entry =
        |sometimes: bool| json!([{ "rule": "a.b", "revisions": ["2024-11-05"], "why": "x", "sometimes": sometimes }]);
    let clean = report(&["2024-11-05"], &[result("a.b", "2024-11-05", "pass")]);
    let stale = |entries| compare(entries, &clean).into_iter().filter(|one| one.starts_with("stale")).count();
    assert_eq!((stale(entry(true)), stale(entry(false))), (0, 1));
}

#[test]
fn an_expectation_holds_only_at_the_revisions_it_names() {
    let id = "server-everything-stdio";
    let entries = json!([{ "rule": "a", "revisions": ["2025-03-26"], "why": "it is so" }]);
    let revisions = peer(id).revisions;
    let fails_everywhere: Vec<Value> = revisions.iter().map(|one| result("a", one, "fail")).collect();
    let complaints = expectations(id, entries).compare(peer(id), revisions, &report(revisions, &fails_everywhere));
    assert_eq!(complaints.len(), revisions.len() - 1, "{complaints:?}");
    assert!(!complaints.iter().any(|one| one.contains("2025-03-26")), "{complaints:?}");
}

#[test]
fn a_broken_should_is_nothing_to_expect() {
    let mut should = result("a", R, "warn");
    should["level"] = "SHOULD".into();
    assert_eq!(compare(json!([]), &report(&[R], &[should, result("b", R, "pass")])), [""; 0]);
}

#[test]
fn a_run_that_judged_nothing_is_a_complaint() {
    let complaints = compare(json!([]), &report(&[R], &[result("a", R, "not-exercised")]));
    assert!(complaints.len() == 1 && complaints[0].contains("the run is empty"), "{complaints:?}");
}

#[test]
fn a_revision_too_few_or_too_many_is_a_complaint() {
    let none = compare(json!([]), &report(&[], &[]));
    assert!(none.len() == 1 && none[0].contains("not judged at 2024-11-05"), "{none:?}");
    let two = compare(json!([]), &report(&[R, "2025-03-26"], &[result("a", R, "pass")]));
    assert!(two.len() == 1 && two[0].contains("judged at 2025-03-26"), "{two:?}");
}

#[test]
fn expectations_refuse_what_nobody_could_rely_on() {
    let with = |entry: Value| {
        let mut document = json!({});
        for peer in PEERS {
            document[peer.name][peer.transport.name()] = json!([]);
        }
        document["rmcp"]["http"] = json!([entry]);
        Expectations::parse(&document.to_string(), PEERS).map(|_| ()).map_err(|error| format!("{error:#}"))
    };
    assert_eq!(with(json!({ "rule": "a", "revisions": [R], "why": "so" })), Ok(()));
    for (entry, says) in [
        (json!({ "rule": "a", "revisions": [R], "why": " " }), "`why` is missing"),
        (json!({ "rule": "a", "revisions": [R] }), "`why` is missing"),
        (json!({ "rule": "a", "revisions": [], "why": "so" }), "`revisions` is empty"),
        (json!({ "rule": "a", "revisions": [1], "why": "so" }), "not a text"),
        (json!({ "revisions": [R], "why": "so" }), "no text `rule`"),
    ] {
        let error = with(entry).expect_err(says);
        assert!(error.contains(says) && error.contains("rmcp-http"), "{error}");
    }
    let missing = Expectations::parse("{}", PEERS).expect_err("peers are missing");
    assert!(missing.to_string().contains("server-everything-stdio"), "{missing}");
    let unknown = Expectations::parse(r#"{"missing":{"stdio":[]}}"#, PEERS).expect_err("the peer is unknown");
    assert!(unknown.to_string().contains("no peer missing"), "{unknown}");
}

#[test]
fn a_report_that_is_not_one_is_refused() {
    let good = json!({ "schema": "proof.report/1", "runs": [{ "revision": R }], "results": [result("a", R, "pass")] });
    assert!(Report::parse(&good.to_string()).is_ok());
    for (pointer, bad) in [
        ("/schema", json!("proof.report/2")),
        ("/runs", json!({})),
        ("/runs/0/revision", json!(null)),
        ("/results", json!(null)),
        ("/results/0/outcome", json!("fine")),
        ("/results/0/rule", json!(7)),
    ] {
        let mut document = good.clone();
        *document.pointer_mut(pointer).expect("the pointer leads somewhere") = bad;
        assert!(Report::parse(&document.to_string()).is_err(), "{pointer}");
    }
    assert!(Report::parse("").is_err());
}

#[test]
fn a_row_counts_each_outcome_under_its_head() {
    let mut safety = result("s", R, "fail");
    safety["level"] = "SAFETY".into();
    let results = [result("a", R, "pass"), result("b", R, "fail"), result("c", R, "not-exercised"), safety];
    let row = report(&[R], &results).row(peer(SSE), Duration::from_millis(1250));
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[..7], [SSE, "1", "1", "1", "0", "0", "1"]);
    assert_eq!(cells[8], "24-11-05");
}

fn committed(file: &str) -> String {
    fs::read_to_string(crate::root().join("peers").join(file)).expect(file)
}

#[test]
fn the_committed_files_agree_with_each_other() {
    Expectations::parse(&committed("expected.json"), PEERS).expect("peers/expected.json");
    Expectations::parse(&committed("expected-more.json"), MORE).expect("peers/expected-more.json");
    let pins = pins(&committed("versions.txt")).expect("peers/versions.txt");
    let crates: Vec<_> = pins.iter().filter(|pin| pin.registry == "crate").collect();
    assert!(crates.iter().all(|pin| RUST_PEERS.iter().any(|(_, on)| *on == pin.package)), "an unused pin");
    for (server, on) in RUST_PEERS {
        let Pin { package, version, .. } = crates.iter().find(|pin| pin.package == on).expect(on);
        let line = format!("\n{package} = {{ version = \"={version}\"");
        assert!(committed(&format!("{server}/Cargo.toml")).contains(&line), "peers/{server}/Cargo.toml lacks {line}");
        let locked = format!("name = \"{package}\"\nversion = \"{version}\"");
        assert!(committed(&format!("{server}/Cargo.lock")).contains(&locked), "peers/{server}/Cargo.lock is stale");
    }
    let ids: BTreeSet<String> = PEERS.iter().chain(MORE).map(Peer::id).collect();
    assert_eq!(ids.len(), PEERS.len() + MORE.len(), "two peers share an id");
}

#[test]
fn every_place_in_a_command_is_filled() {
    let home = Home::new(Path::new("/somewhere"));
    for peer in PEERS.iter().chain(MORE) {
        let command = [home.command(peer), home.filled(peer.env)].concat().join(" ");
        // What is filled in once a client is run, or a server.
        let command =
            ["{url}", "{server}", "{era}", "{port}"].iter().fold(command, |command, place| command.replace(place, ""));
        assert!(!command.contains(['{', '}']), "{command}");
    }
}

#[test]
fn pins_say_which_line_is_wrong() {
    assert_eq!(pins("# a\n\nnpm x 1\n").expect("one pin").len(), 1);
    let several = pins("npm:more x 1\npypi:old x 2\npypi:old y 1\nnpm z 1\n").expect("four pins");
    assert_eq!(trees(&several), BTreeSet::from([("npm", "more"), ("pypi", "old")]));
    for bad in ["npm x", "npm x 1 2", "gem x 1", "gem:more x 1", "npm: x 1", "npm:../up x 1", "crate:more x 1"] {
        let error = pins(&format!("# a\n{bad}\n")).expect_err(bad).to_string();
        assert!(error.contains("versions.txt:2"), "{error}");
    }
}

/// An empty folder of this test's own.
fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("proofhouse-xtask-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a scratch folder");
    folder
}

#[test]
fn a_tree_is_made_once_per_set_of_pins_and_anew_when_it_was_left_half_made() {
    let tree = scratch("once").join("tree");
    let made = |pins: &str, succeeds: bool| {
        let mut ran = false;
        let outcome = once(&tree, pins, "nothing", || {
            ran = true;
            assert!(!tree.join("left").exists(), "the tree was not cleared");
            fs::write(tree.join("left"), "")?;
            anyhow::ensure!(succeeds, "no luck");
            Ok(())
        });
        (ran, outcome.is_ok())
    };
    assert_eq!(made("a 1", false), (true, false));
    assert_eq!(made("a 1", true), (true, true));
    assert_eq!(made("a 1", true), (false, true));
    assert_eq!(made("a 2", true), (true, true));
    let _ = fs::remove_dir_all(tree.parent().expect("a parent"));
}

fn words(command: &[&str]) -> Vec<String> {
    command.iter().map(|word| (*word).to_owned()).collect()
}

fn started_group(name: &str, command: &[&str]) -> (ProcessGroup, PathBuf) {
    let folder = scratch(name);
    let log = File::create(folder.join("log")).expect("a log");
    (ProcessGroup::start(&words(command), &[("PORT", "1")], &log).expect("sh starts"), folder)
}

/// Whether any process is left in the group.
fn alive(group: u32) -> bool {
    let probe = Command::new("kill").args(["-0", "--", &format!("-{group}")]).stderr(Stdio::null()).status();
    probe.expect("kill runs").success()
}

/// Whether the condition comes true within two seconds.
fn soon(condition: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(2) {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn dropping_the_handle_ends_the_whole_group_even_if_it_ignores_sigterm() {
    let stubborn = "trap '' TERM INT HUP; sleep 600 & echo up; wait; sleep 600";
    let (process, folder) = started_group("drop", &["sh", "-c", stubborn]);
    let group = process.process();
    assert!(soon(|| fs::read_to_string(folder.join("log")).is_ok_and(|log| log.contains("up"))));
    assert!(alive(group));
    let begun = Instant::now();
    drop(process);
    assert!(begun.elapsed() < Duration::from_secs(1), "the drop hung");
    assert!(soon(|| !alive(group)), "group {group} is still alive");
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn a_peer_that_ends_early_is_told_from_one_that_is_slow() {
    let (mut group, folder) = started_group("early", &["sh", "-c", "exit 7"]);
    let begun = Instant::now();
    let error = wait_until_listening(&mut group, 1).expect_err("nothing listens").to_string();
    assert!(error.contains("ended before it listened") && error.contains('7'), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn a_judge_that_hangs_is_stopped() {
    let child = Command::new("sleep").arg("600").spawn().expect("sleep starts");
    let begun = Instant::now();
    let error = end_within(child, Duration::from_millis(100)).expect_err("it hung").to_string();
    assert!(error.contains("did not end"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    let quick = Command::new("true").spawn().expect("true starts");
    assert!(end_within(quick, Duration::from_secs(5)).expect("it ends").success());
}

#[test]
fn cargo_says_where_proof_lies() {
    let messages = concat!(
        r#"{"reason":"compiler-artifact","target":{"name":"cli"},"executable":null}"#,
        "\nnot json\n",
        r#"{"reason":"compiler-artifact","target":{"name":"proof"},"executable":"/t/proof"}"#,
    );
    assert_eq!(executable(messages), Some(PathBuf::from("/t/proof")));
    assert_eq!(executable("{}"), None);
}

#[test]
fn options_are_understood_or_refused() {
    let parse = |args: &[&str]| Options::parse(&words(args));
    let options = parse(&["--only", "rmcp", "--proof", "p", "--install-only"]).expect("they parse");
    assert_eq!(options.chosen().expect("rmcp is known").len(), 2);
    assert_eq!((options.proof, options.install_only, options.list), (Some("p".into()), true, false));
    assert_eq!(parse(&["--only", "rmcp-http"]).expect("it parses").chosen().expect("known").len(), 1);
    assert_eq!(Options::default().chosen().expect("all").len(), PEERS.len());
    assert!(parse(&["--only", "missing"]).expect("it parses").chosen().is_err());
    assert!(parse(&["--only"]).is_err());
    assert!(parse(&["--fast"]).is_err());
}
