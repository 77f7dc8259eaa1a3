//! A command that takes long to start is started less often than one that does not: sessions share its processes, and those
//! of the detection are judged. What is found must be the same. Without the usual harness, since this program is also the
//! child that serves over stdio.

#![expect(clippy::print_stdout, reason = "a test without harness says itself what it found")]

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use faults::server::{self, FaultyServer};
use judge::check::hints::Hints;
use judge::check::{CallPolicy, Options, RevisionChoice, Selection, TraceSink, Watch, check};
use judge::{Advice, Reproduce};
use net::client::{Address, Command, Limits};
use net::{Children, new_redactor};
use reference::Server;
use report::{Outcome, Report};
use wire::Revision;
use wire::redact::Secrets;

/// The argument that makes this program the server; what follows are a file, milliseconds and names of faults.
const SERVE: &str = "--serve-the-reference-server";

/// How long the slow command takes to start.
const SLOW: Duration = Duration::from_millis(400);

/// How often the slow command is started at most where nothing is broken.
const STARTS: usize = 30;

/// Faults of each session that shares its connection, and of each probe that opens one. None: nothing may be found.
const FAULTS: [Option<&str>; 4] =
    [None, Some("first-request-refused"), Some("cancellation-ignored"), Some("tools-by-process")];

/// Serves, and counts that in a file.
async fn serve(file: &Path, wait: Duration, names: &[String]) -> ExitCode {
    let counted = OpenOptions::new().create(true).append(true).open(file).and_then(|mut file| file.write_all(b"x"));
    tokio::time::sleep(wait).await;
    let faults = names.iter().filter_map(|name| server::find(name)).collect();
    let server = FaultyServer::new(Server::new(reference::Options::default()), faults);
    let served = server.stdio(std::future::pending()).await;
    if counted.is_ok() && served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options(command: Command) -> Options {
    let hints = include_str!("../../../cli/src/args/reference-hints.json");
    Options {
        targets: vec![Address::Stdio(command)],
        target: String::new(),
        reproduce: Reproduce::new(|facts| facts.rule.to_owned()),
        words: Advice::to_string,
        revisions: RevisionChoice::NewestOfEachEra,
        selection: Selection::default(),
        calls: CallPolicy::default(),
        hints: Hints::parse(hints).expect("the hints are hints"),
        intrusive: false,
        jobs: 72,
        seed: 0,
        max_time: None,
        limits: Limits { request: Duration::from_secs(8), ..Limits::default() },
        keep: TraceSink::default(),
        children: Children::new(),
        secrets: Secrets::default(),
        redactor: new_redactor(),
    }
}

/// A report, and how often the server was started for it.
async fn checked(fault: Option<&str>, wait: Duration) -> (Report, usize) {
    let itself = std::env::current_exe().expect("this program finds itself");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("starts");
    let words = [SERVE.to_owned(), file.display().to_string(), wait.as_millis().to_string()];
    let command = Command::new(itself.to_string_lossy(), words.into_iter().chain(fault.map(str::to_owned)));
    let checked = check(options(command), Watch::nobody()).await.unwrap_or_else(|error| panic!("no report: {error}"));
    (checked.report, std::fs::read(file).map_or(0, |bytes| bytes.len()))
}

/// What became of each rule at each revision.
fn outcomes(report: &Report) -> BTreeMap<(&'static str, Revision), Outcome> {
    report.results.iter().map(|finding| ((finding.rule, finding.revision), finding.outcome)).collect()
}

fn is_broken(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Fail | Outcome::Warn)
}

/// What is to be complained of where a slow command is judged otherwise than a quick one.
async fn complaints(fault: Option<&'static str>) -> Vec<String> {
    let ((quick, many), (slow, few)) = tokio::join!(checked(fault, Duration::ZERO), checked(fault, SLOW));
    let (expected, found) = (outcomes(&quick), outcomes(&slow));
    let name = fault.unwrap_or("without fault");
    println!("{name}: {many} starts of a quick command, {few} of a slow one");
    let mut complaints = Vec::new();
    for ((rule, revision), outcome) in &expected {
        let other = found.get(&(*rule, *revision)).copied().unwrap_or(Outcome::NotApplicable);
        let is_better = *outcome == Outcome::NotExercised && other == Outcome::Pass;
        if other != *outcome && !is_better {
            let (expected, found) = (outcome.as_str(), other.as_str());
            complaints.push(format!("{name}: {rule} at {revision} is {found} and not {expected}"));
        }
    }
    if found.values().copied().any(is_broken) != fault.is_some() {
        complaints.push(format!("{name}: it does not show"));
    }
    let older = [Revision::R2024_11_05, Revision::R2025_03_26, Revision::R2025_06_18];
    for report in [&quick, &slow] {
        let served: Vec<_> = report.also_served.iter().flat_map(|served| &served.revisions).copied().collect();
        if served != older {
            complaints.push(format!("{name}: it also serves {served:?}"));
        }
    }
    if fault.is_none() && (few > STARTS || few >= many) {
        complaints.push(format!("{name}: {few} starts of a slow command, {many} of a quick one"));
    }
    complaints
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [serve_it, file, wait, names @ ..] = arguments.as_slice()
        && serve_it == SERVE
    {
        return serve(Path::new(file), Duration::from_millis(wait.parse().unwrap_or_default()), names).await;
    }
    let mut all = Vec::new();
    for fault in FAULTS {
        let mut complained = complaints(fault).await;
        if !complained.is_empty() {
            // On a busy machine a slow answer looks like none.
            println!("  once more: {}", complained.join("; "));
            complained = complaints(fault).await;
        }
        all.extend(complained);
    }
    for complaint in &all {
        println!("  {complaint}");
    }
    println!("{} faults played, {} complaints", FAULTS.len(), all.len());
    if all.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
