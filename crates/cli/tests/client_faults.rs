//! Turns on each fault of the reference client and sees that the rule it breaks is found broken, that nothing else is but
//! what the fault names as a consequence, and that without it the same client keeps the rule for all to see.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::faults::client::{self as faults, Fault};
use serde_json::Value;
use wire::{Revision, Transport};

/// How many clients are judged at a time.
const AT_A_TIME: usize = 4;

/// One client, in one scenario, at one place.
#[derive(Clone, Copy)]
struct Run {
    fault: Option<&'static Fault>,
    place: Place,
}

type Place = (&'static str, Transport, Revision);

fn place(fault: &Fault) -> Place {
    let (transport, revision) = fault.surely_at();
    (fault.scenario, transport, revision)
}

/// What every rule came to: outcome and message.
type Findings = BTreeMap<String, (String, String)>;

fn judged(Run { fault, place: (scenario, transport, revision) }: Run) -> Findings {
    let proof = env!("CARGO_BIN_EXE_proof");
    let stdio = transport == Transport::Stdio;
    let mut command = Command::new(proof);
    command.args(["check-client", "--format", "json", "--timeout", "20", "--scenario", scenario]);
    command.args(["--revision", revision.as_str()]);
    if !stdio {
        command.args(["--transport", transport.as_str()]);
    }
    command.args(["--", proof, "client", "--timeout", "4"]);
    command.args(fault.iter().flat_map(|fault| ["--fault", fault.name]));
    command.args(if stdio { &["--conformance", "--", "{server}"][..] } else { &["--conformance", "{url}"] });
    let ran = command.output().expect("proof runs");
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
    let text = |finding: &Value, member: &str| finding[member].as_str().unwrap_or_default().to_owned();
    let results = report["results"].as_array().into_iter().flatten();
    results.map(|one| (text(one, "rule"), (text(one, "outcome"), text(one, "message")))).collect()
}

fn is_broken(outcome: &str) -> bool {
    outcome == "fail" || outcome == "warn"
}

/// What is to be complained of.
fn complaints(run: Run, provoked: &BTreeSet<&str>) -> Vec<String> {
    let findings = judged(run);
    let at = |rule: &str| findings.get(rule).map_or(("not judged", ""), |(outcome, why)| (outcome, why));
    let (who, mut complaints) = (label(run), Vec::new());
    let expected = |rule: &str| run.fault.is_some_and(|f| f.rule == rule || f.consequences.contains(&rule));
    for (rule, (_, why)) in findings.iter().filter(|(rule, (outcome, _))| is_broken(outcome) && !expected(rule)) {
        complaints.push(format!("{who}: breaks {rule}: {why}"));
    }
    if let Some(fault) = run.fault {
        let (outcome, why) = at(fault.rule);
        if !is_broken(outcome) {
            complaints.push(format!("{who}: {} is {outcome}: {why}", fault.rule));
        }
    } else {
        for rule in provoked {
            let (outcome, why) = at(rule);
            if outcome != "pass" {
                complaints.push(format!("{who}: {rule} is {outcome}: {why}"));
            }
        }
    }
    complaints
}

fn label(Run { fault, place: (scenario, transport, revision) }: Run) -> String {
    let name = fault.map_or("without fault", |fault| fault.name);
    format!("{name} ({scenario} over {transport} at {revision})")
}

/// Judges them side by side, `at_a_time` of them.
fn side_by_side(runs: &[(Run, BTreeSet<&'static str>)], at_a_time: usize) -> Vec<Vec<String>> {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(vec![Vec::new(); runs.len()]);
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((run, provoked)) = runs.get(number) else { return };
                    let found = complaints(*run, provoked);
                    all.lock().expect("nobody panics")[number] = found;
                }
            });
        }
    });
    all.into_inner().expect("nobody panics")
}

#[test]
fn every_fault_is_found_and_a_correct_client_is_clean() {
    let mut places: BTreeMap<Place, BTreeSet<&str>> = BTreeMap::new();
    for fault in faults::all() {
        places.entry(place(fault)).or_default().insert(fault.rule);
    }
    let faulty = faults::all().map(|fault| (Run { fault: Some(fault), place: place(fault) }, BTreeSet::new()));
    let faultless = places.into_iter().map(|(place, rules)| (Run { fault: None, place }, rules));
    let runs: Vec<_> = faulty.chain(faultless).collect();
    let found = side_by_side(&runs, AT_A_TIME);
    // On a busy machine a slow answer looks like none: what was not found is looked for once more, alone.
    let missed = runs.into_iter().zip(&found).filter(|(_, complaints)| !complaints.is_empty());
    let again: Vec<_> = missed.map(|(run, _)| run).collect();
    let left: Vec<String> = side_by_side(&again, 1).into_iter().flatten().collect();
    assert!(left.is_empty(), "{} complaints\n{}", left.len(), left.join("\n"));
}
