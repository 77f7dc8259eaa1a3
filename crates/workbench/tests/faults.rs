//! Turns on each fault of the reference server and sees that the rule it breaks is found broken, and kept by the same
//! server without it. Faults run side by side, each against a server of its own. Without the usual harness, since this
//! program is also the child that serves over stdio: `faults NAME…` plays only those, `--all-rules` judges by all
//! rules with each of them, not with a sample alone.

#![expect(clippy::print_stdout, reason = "a test without harness says itself what it found")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use net::client::{Address, Command, HttpAddress, Limits};
use net::server::http::{self, Bearer};
use reference::faults::{self, Fault};
use rules::Level;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use wire::redact::Secrets;
use wire::{Revision, Transport};
use workbench::check::hints::Hints;
use workbench::check::{Calls, Keep, Options, Selection, Watch, check};
use workbench::report::{Finding, Outcome};

/// The argument that makes this program the server; a fault's name may follow.
const SERVE: &str = "--serve-the-reference-server";

/// How many faults are played at a time: HTTP servers cost little, children much.
const SERVERS: usize = 48;
const CHILDREN: usize = 8;

/// Where, and whether the server demands a token.
type Place = (Transport, Revision, bool);

/// The token, where it does.
const TOKEN: &str = "the-token-of-this-test";

/// Where a fault is played.
fn place(fault: &Fault) -> Place {
    (fault.transport.unwrap_or(Transport::StreamableHttp), fault.until, fault.token)
}

async fn findings(target: Address, revision: Revision, selection: Selection) -> Vec<Finding> {
    let hints = include_str!("../../cli/src/args/reference-hints.json");
    let options = Options {
        targets: vec![target],
        target: String::new(),
        revisions: vec![revision],
        selection,
        calls: Calls::default(),
        hints: Hints::parse(hints).expect("the hints are hints"),
        intrusive: false,
        jobs: 8,
        seed: 0,
        limits: Limits { request: Duration::from_secs(8), ..Limits::default() },
        keep: Keep::default(),
        secrets: Secrets::default(),
    };
    match check(options, Watch::nobody()).await {
        Ok(checked) => checked.report.results,
        Err(error) => {
            println!("  no report: {error}");
            Vec::new()
        }
    }
}

/// Judges the reference server with the faults given.
async fn judged(
    faults: Vec<&'static Fault>,
    (transport, revision, token): Place,
    selection: Selection,
) -> Vec<Finding> {
    if transport == Transport::Stdio {
        let itself = std::env::current_exe().expect("this program finds itself");
        let names = faults.iter().map(|fault| fault.name);
        let command = Command::new(itself.to_string_lossy(), std::iter::once(SERVE).chain(names));
        return findings(Address::Stdio(command), revision, selection).await;
    }
    let bearer = if token { Bearer::new(TOKEN) } else { None };
    let http = http::Options { bearer, ..http::Options::default() };
    let options = reference::Options { faults, http, ..reference::Options::default() };
    let server = reference::serve_http(([127, 0, 0, 1], 0).into(), options).await.expect("a port is free");
    let url = url::Url::parse(&format!("http://{}/mcp", server.local_addr())).expect("an address makes a URL");
    let mut address = HttpAddress::new(url);
    if token {
        address.headers.push(("Authorization".to_owned(), format!("Bearer {TOKEN}")));
    }
    findings(Address::Http(address), revision, selection).await
}

fn by_rules<'r>(rules: impl Iterator<Item = &'r str>) -> Selection {
    Selection { only: rules.map(str::to_owned).collect(), safety: true, ..Selection::default() }
}

fn is_broken(finding: &Finding) -> bool {
    matches!(finding.outcome, Outcome::Fail | Outcome::Warn)
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|argument| argument == SERVE) {
        let faults = arguments[1..].iter().filter_map(|name| faults::find(name)).collect();
        let served = reference::serve_stdio(reference::Options { faults, ..reference::Options::default() }).await;
        return if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let all_rules = arguments.iter().any(|argument| argument == "--all-rules");
    arguments.retain(|argument| !argument.starts_with("--"));
    let faults: Vec<_> =
        faults::all().filter(|fault| arguments.is_empty() || arguments.iter().any(|name| name == fault.name)).collect();
    let complaints = play(&faults, all_rules).await;
    for complaint in &complaints {
        println!("  {complaint}");
    }
    println!("{} faults, {} complaints", faults.len(), complaints.len());
    if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Faults with which all other MUST rules are judged as well.
const SAMPLE: [&str; 10] = [
    "wrong-id",
    "no-jsonrpc",
    "tool-name-twice",
    "not-structured",
    "completion-of-101",
    "any-version-served",
    "capabilities-not-told",
    "origin-ignored",
    "session-ended-400",
    "stdout-banner",
];

/// Other MUST rules that a fault of the sample cannot but break.
const COLLATERAL: [(&str, &str, &str); 6] = [
    ("no-jsonrpc", "http.json-is-one-message", "what lacks `jsonrpc` is no message"),
    ("completion-of-101", "shape.results", "the schema has the bound too"),
    ("any-version-served", "http.unsupported-version-400", "the same demand, as HTTP has it"),
    ("any-version-served", "discover.own-version-listed", "what is served is not listed"),
    ("origin-ignored", "http.origin-forbidden", "the same demand, with the status"),
    ("capabilities-not-told", "shape.results", "the schema demands the member too"),
];

/// Rules that the faultless server cannot keep visibly, since it never does what they are about.
const UNSEEN_WITHOUT: [(&str, &str); 4] = [
    ("authorization.insufficient-scope-403", "its one token may do everything"),
    ("meta.traceparent", "the reference server traces nothing"),
    ("meta.tracestate", "the reference server traces nothing"),
    ("meta.baggage", "the reference server traces nothing"),
];

async fn play(faults: &[&'static Fault], all_rules: bool) -> Vec<String> {
    let (servers, children) = (Arc::new(Semaphore::new(SERVERS)), Arc::new(Semaphore::new(CHILDREN)));
    let permits = move |(transport, ..): Place| {
        Arc::clone(if transport == Transport::Stdio { &children } else { &servers }).acquire_owned()
    };
    let mut faultless = JoinSet::new();
    for (place, rules) in by_place(faults) {
        let permit = permits(place);
        faultless.spawn(async move {
            let _permit = permit.await;
            judged(Vec::new(), place, by_rules(rules.into_iter())).await
        });
    }
    let mut playing = JoinSet::new();
    for &fault in faults {
        let permit = permits(place(fault));
        playing.spawn(async move {
            let _permit = permit.await;
            unnoticed(fault, all_rules).await.map(|why| (fault, why))
        });
    }
    let mut complaints = Vec::new();
    for (fault, why) in playing.join_all().await.into_iter().flatten() {
        // On a busy machine a slow answer looks like none: alone, once more.
        println!("  once more, alone: {why}");
        complaints.extend(unnoticed(fault, all_rules).await);
    }
    complaints.extend(faultless.join_all().await.iter().flatten().filter_map(disturbed));
    complaints
}

/// The rules that faults break, by where they are played.
fn by_place(faults: &[&'static Fault]) -> BTreeMap<Place, BTreeSet<&'static str>> {
    let mut rules: BTreeMap<Place, BTreeSet<_>> = BTreeMap::new();
    for fault in faults {
        rules.entry(place(fault)).or_default().insert(fault.rule);
    }
    rules
}

/// Plays a fault; what is to be complained of, where its rule is not found broken.
async fn unnoticed(fault: &'static Fault, all_rules: bool) -> Option<String> {
    let wide = all_rules || SAMPLE.contains(&fault.name);
    let only = if wide { None } else { Some(fault.rule) };
    let findings = judged(vec![fault], place(fault), by_rules(only.into_iter())).await;
    let expected =
        |other: &Finding| COLLATERAL.iter().any(|(name, rule, _)| *name == fault.name && *rule == other.rule);
    let unrelated = |other: &&Finding| {
        is_broken(other) && other.rule != fault.rule && other.level == Level::Must && !expected(other)
    };
    if let Some(other) = findings.iter().find(unrelated) {
        return Some(format!("{}: breaks {} as well: {}", fault.name, other.rule, other.message));
    }
    match findings.iter().find(|finding| finding.rule == fault.rule) {
        Some(finding) if is_broken(finding) => None,
        Some(finding) => {
            let outcome = finding.outcome.as_str();
            Some(format!("{}: {} is {outcome}: {}", fault.name, fault.rule, finding.message))
        }
        None => Some(format!("{}: {} was not judged", fault.name, fault.rule)),
    }
}

/// What is to be complained of where the faultless server does not keep a rule.
fn disturbed(finding: &Finding) -> Option<String> {
    let excused = UNSEEN_WITHOUT.iter().any(|(rule, _)| *rule == finding.rule);
    let wanted = if excused { Outcome::NotExercised } else { Outcome::Pass };
    let Finding { transport, revision, rule, message, .. } = finding;
    let outcome = finding.outcome.as_str();
    (finding.outcome != wanted).then(|| format!("without fault: {transport} {revision} {rule} is {outcome}: {message}"))
}
