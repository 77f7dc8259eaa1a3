//! The program judges its own client over real connections, at every revision that each transport carries, and holds the
//! reports against a list of what no scenario exercises there and why. Fails on any finding, on a rule that is exercised
//! nowhere at a revision and not listed, on an entry that no longer holds, and on a scenario whose trace lacks what it promises.

#[path = "shared/marks.rs"]
mod marks;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use judge::check::options::matches;
use judge::check_client;
use serde_json::Value;
use wire::trace::{Trace, file};

/// Rules that no scenario exercises on our own client.
struct Gap {
    /// A glob of their ids.
    rules: &'static str,
    /// A glob of the revisions at which it is so.
    revisions: &'static str,
    why: &'static str,
}

const fn gap(rules: &'static str, revisions: &'static str, why: &'static str) -> Gap {
    Gap { rules, revisions, why }
}

const MODERN: &str = "2026-07-28";

const ANSWERS_NOTHING: &str = "clients of the modern era answer no requests: they send neither results nor errors";
const REPORTS_NOTHING: &str = "clients of the modern era report no progress";
const DRAWS_NOTHING: &str = "our client shows no icons, and fetches none";
const KEEPS_NO_TIME: &str = "our client keeps what it was told until asked for it again: it polls nothing";
const NEVER_OFFERED: &str = "no scenario has such a server yet";

const GAPS: &[Gap] = &[
    gap("jsonrpc.answered", MODERN, ANSWERS_NOTHING),
    gap("jsonrpc.one-answer", MODERN, ANSWERS_NOTHING),
    gap("jsonrpc.result-*", MODERN, ANSWERS_NOTHING),
    gap("jsonrpc.error-*", MODERN, ANSWERS_NOTHING),
    gap("shape.results", MODERN, ANSWERS_NOTHING),
    gap("shape.errors", MODERN, ANSWERS_NOTHING),
    gap("errors.legacy-range-unused", MODERN, ANSWERS_NOTHING),
    gap("errors.own-codes-outside", MODERN, ANSWERS_NOTHING),
    gap("errors.reserved-codes-defined", MODERN, ANSWERS_NOTHING),
    gap("errors.m*", MODERN, ANSWERS_NOTHING),
    gap("errors.invalid-params", MODERN, ANSWERS_NOTHING),
    gap("errors.invalid-request", "*", "our client answers only what it can read"),
    gap("errors.parse-error", "*", "our client answers only what it can read"),
    gap("shape.formats", "*", "our client sends no images, sounds or links of its own"),
    gap("meta.reserved-keys-not-assumed", MODERN, ANSWERS_NOTHING),
    gap("sampling.messages-checked", MODERN, "our client gives up where a result asks for nonsense, without a word"),
    gap("progress.increases", MODERN, REPORTS_NOTHING),
    gap("progress.known-tokens", MODERN, REPORTS_NOTHING),
    gap("progress.stops", MODERN, REPORTS_NOTHING),
    gap("icons.client-no-credentials", "*", DRAWS_NOTHING),
    gap("icons.client-re*", "*", DRAWS_NOTHING),
    gap("caching.not-polled", MODERN, KEEPS_NO_TIME),
    gap("caching.polls-jittered", MODERN, KEEPS_NO_TIME),
    gap("oauth.client-document-id", "*", "nobody fetches the document that our client names as its id"),
    gap("oauth.client-document-members", "*", "nobody fetches the document that our client names as its id"),
    gap("cancellation.client-late-answers-ignored", MODERN, NEVER_OFFERED),
    gap("cancellation.races-handled", MODERN, NEVER_OFFERED),
    gap("cancellation.malformed-ignored", "2025-11-25", "a cancellation without an id is one of a task there"),
    gap("http.reads-header-names-any-case", MODERN, "the library that serves HTTP writes header names in lower case"),
    gap("stdio.server-restarted", MODERN, NEVER_OFFERED),
    gap("stdio.stderr-is-no-error", "*", NEVER_OFFERED),
    gap("subscriptions.partial-acknowledgement-taken", MODERN, NEVER_OFFERED),
    gap("subscriptions.renewed", MODERN, NEVER_OFFERED),
    gap(
        "tasks.messages-on-any-stream",
        "2025-11-25",
        "the reference server asks for a task where its result is awaited",
    ),
    gap("versioning.client-era-cached", MODERN, "no scenario of this era has a server of the legacy one"),
];

/// Judges itself as a client with these words, and keeps the traces.
fn judged(place: &[&str], client: &[&str], traces: &Path) -> Value {
    let proof = env!("CARGO_BIN_EXE_proof");
    let mut command = Command::new(proof);
    command
        .args(["check-client", "--format", "json", "--jobs", "8", "--timeout", "10", "--save-trace"])
        .arg(traces)
        .args(place);
    let ran = command.args(["--", proof, "client"]).args(client).output().expect("proof runs");
    serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|error| panic!("{client:?}: {error}\n{}", String::from_utf8_lossy(&ran.stderr)))
}

fn text<'r>(finding: &'r Value, member: &str) -> &'r str {
    finding[member].as_str().unwrap_or_default()
}

fn results(report: &Value) -> impl Iterator<Item = &Value> {
    report["results"].as_array().expect("results").iter()
}

/// The rules that are broken, each with what is said of it.
fn broken(report: &Value) -> Vec<(&str, &str)> {
    let broken = results(report).filter(|finding| finding["outcome"] == "fail" || finding["outcome"] == "warn");
    broken.map(|finding| (text(finding, "rule"), text(finding, "message"))).collect()
}

/// What is not as the list has it, a line each.
fn complaints(reports: &[Value]) -> Vec<String> {
    // At each revision, whether a rule was exercised over some transport; nothing where it does not apply.
    let mut exercised: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    for finding in reports.iter().flat_map(results).filter(|finding| finding["outcome"] != "not-applicable") {
        let seen = exercised.entry((text(finding, "revision"), text(finding, "rule"))).or_default();
        *seen |= finding["outcome"] != "not-exercised";
    }
    let mut complaints = Vec::new();
    for ((revision, rule), seen) in &exercised {
        match (listed(revision, rule), seen) {
            (None, false) => complaints.push(format!("{revision}: {rule} is not exercised, and not listed")),
            (Some(gap), true) => complaints.push(format!("{revision}: {rule} is listed ({}), but exercised", gap.why)),
            _ => {}
        }
    }
    let open = |gap: &Gap| {
        exercised
            .iter()
            .any(|((revision, rule), seen)| !seen && matches(gap.rules, rule) && matches(gap.revisions, revision))
    };
    let stale = GAPS.iter().filter(|gap| !open(gap));
    complaints.extend(stale.map(|gap| format!("{} is listed ({}), but never open", gap.rules, gap.why)));
    complaints
}

fn listed(revision: &str, rule: &str) -> Option<&'static Gap> {
    GAPS.iter().find(|gap| matches(gap.rules, rule) && matches(gap.revisions, revision))
}

/// The traces in a directory.
fn kept(directory: &Path) -> Vec<Trace> {
    let files = std::fs::read_dir(directory).expect("traces").map(|entry| entry.expect("a trace").path());
    files.map(|path| file::read(&std::fs::read_to_string(path).expect("text")).expect("a trace")).collect()
}

/// What scenarios promise and their traces do not show, a line each.
fn unkept(traces: &[Trace]) -> Vec<String> {
    let mut unkept = Vec::new();
    for scenario in check_client::all() {
        let mut played = traces.iter().filter(|trace| trace.header.case == scenario.name).peekable();
        if played.peek().is_none() {
            unkept.push(format!("{} was played nowhere", scenario.name));
        }
        for trace in played {
            let revision = trace.header.revision.map_or("", |revision| revision.as_str());
            let missing = scenario.shows.iter().filter(|evidence| !evidence.is_in(trace));
            unkept.extend(missing.map(|evidence| {
                format!("{} over {} at {revision}: {evidence:?}", scenario.name, trace.header.transport)
            }));
        }
    }
    unkept
}

#[test]
fn our_own_client_breaks_no_rule_and_every_scenario_shows_its_evidence() {
    let directory = tempfile::tempdir().expect("a directory");
    let folders = [directory.path().join("http"), directory.path().join("stdio")];
    let everywhere = judged(&["--transport", "http,sse,ws"], &["--conformance", "{url}"], &folders[0]);
    assert_eq!(broken(&everywhere), []);
    assert_eq!(everywhere["runs"].as_array().map(Vec::len), Some(10));
    let piped = judged(&[], &["--conformance", "--", "{server}"], &folders[1]);
    assert_eq!(broken(&piped), []);
    let complaints = complaints(&[everywhere, piped]);
    assert!(complaints.is_empty(), "\n  {}\n", complaints.join("\n  "));
    let unkept = unkept(&[kept(&folders[0]), kept(&folders[1])].concat());
    assert!(unkept.is_empty(), "\n  {}\n", unkept.join("\n  "));
    let traces: Vec<_> = folders.iter().flat_map(|folder| marks::traces(folder)).collect();
    let unwritten = marks::missing(&traces, false);
    assert!(unwritten.is_empty(), "marks that are declared and that no scenario writes: {unwritten:?}");
}
