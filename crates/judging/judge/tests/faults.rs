//! Turns on each fault of the reference server and sees that the rule it breaks is found broken, that nothing else is but
//! what the fault names as a consequence, and that the same server without it breaks nothing. Faults run side by side, each
//! against a server of its own. Without the usual harness, since this program is also the child that serves over stdio:
//! `faults NAME…` plays only those; `--everywhere` plays each wherever it shows and prints a table (`cargo xtask mutants`);
//! of the places, `--over TRANSPORT` and `--at REVISION` leave those.

#![expect(clippy::print_stdout, reason = "a test without harness says itself what it found")]

mod seen;

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use faults::server::{self, Fault, FaultyServer};
use judge::check::hints::Hints;
use judge::check::{CallPolicy, Options, RevisionChoice, Selection, Watch, check};
use judge::{Advice, Reproduce};
use net::client::{Address, Command, HttpAddress, Limits};
use net::server::http::{self, Bearer};
use net::{Children, new_redactor};
use reference::Server;
use report::{Finding, Outcome};
use rules::Rule;
use seen::Seen;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use wire::redact::Secrets;
use wire::{Revision, Transport};

/// The argument that makes this program the server; a fault's name may follow.
const SERVE: &str = "--serve-the-reference-server";

/// How many faults are played at a time: HTTP servers cost little, children much.
const SERVERS: usize = 48;
const CHILDREN: usize = 8;
/// What is kept of a trace where little is, in bytes: the greeting and some answers.
const LITTLE: usize = 48 << 10;

/// Rules that the faultless server cannot keep visibly, since it never does what they are about.
const UNSEEN_WITHOUT: [(&str, &str); 13] = [
    ("authorization.insufficient-scope-403", "its one token may do everything"),
    ("authorization.default-endpoints", "the reference server names its authorization server in other metadata"),
    ("authorization.server-metadata-at-root", "the reference server names its authorization server in other metadata"),
    ("cancellation.only-for-subscriptions", "the reference server cancels nothing"),
    ("cancellation.tasks-apart", "the reference server runs none of its requests as a task"),
    ("progress.tokens-plain", "the reference server asks for progress on none of its requests"),
    ("progress.tokens-unique", "the reference server asks for progress on none of its requests"),
    ("resources.traversal-refused", "the reference server serves no directory here"),
    ("serf.retry-after-given", "no call of the reference server fails for want of something that comes back"),
    ("errors.method-not-declared", "the reference server has every capability here"),
    ("meta.traceparent", "the reference server traces nothing"),
    ("meta.tracestate", "the reference server traces nothing"),
    ("meta.baggage", "the reference server traces nothing"),
];

type Place = (Transport, Revision);

/// The token, where the server demands one.
const TOKEN: &str = "the-token-of-this-test";

/// A fault to be played, and where.
#[derive(Clone, Copy)]
struct Mutant {
    fault: &'static Fault,
    place: Place,
}

/// What came of it.
enum Caught {
    /// The rule was found broken, and nothing else that the fault does not name.
    Yes,
    /// The rule does not apply there.
    NotThere,
    /// It was not, or something else was.
    No(String),
}

fn rule_of(fault: &Fault) -> &'static Rule {
    rules::find(fault.rule).expect("a fault names a rule")
}

/// Whether a fault is worth playing at a place: it shows there, and its rule says something there.
fn shows(fault: &Fault, (transport, revision): Place) -> bool {
    let rule = rule_of(fault);
    transport.carries(revision)
        && fault.applies.covers(revision, transport)
        && rule.runs_on(transport)
        && rule.sentence_at(revision).is_some()
}

fn everywhere(fault: &'static Fault) -> impl Iterator<Item = Mutant> {
    let places = Transport::ALL.into_iter().flat_map(|t| Revision::ALL.map(|r| (t, r)));
    places.filter(|place| shows(fault, *place)).map(move |place| Mutant { fault, place })
}

/// Where a fault shows at its latest.
fn once(fault: &'static Fault) -> Mutant {
    Mutant { fault, place: (fault.applies.only_transport().unwrap_or(Transport::StreamableHttp), fault.applies.last()) }
}

/// Which faults are to be played, and where.
#[derive(Default)]
struct Wish {
    /// All where empty.
    names: Vec<String>,
    /// Wherever they show, or at one place each.
    everywhere: bool,
    over: Option<Transport>,
    at: Option<Revision>,
}

impl Wish {
    fn of(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut wish = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} of what?"));
            match argument.as_str() {
                "--everywhere" => wish.everywhere = true,
                "--over" => wish.over = Some(value()?.parse()?),
                "--at" => wish.at = Some(value()?.parse::<Revision>().map_err(|error| error.to_string())?),
                name if server::find(name).is_some() => wish.names.push(argument),
                // What cargo says to every test.
                option if option.starts_with("--") => {}
                other => return Err(format!("there is no fault `{other}`")),
            }
        }
        wish.everywhere |= wish.over.is_some() || wish.at.is_some();
        if wish.mutants().is_empty() {
            return Err("none of these faults shows there".to_owned());
        }
        Ok(wish)
    }

    fn mutants(&self) -> Vec<Mutant> {
        let named = |fault: &&Fault| self.names.is_empty() || self.names.iter().any(|name| name == fault.name);
        let faults = server::all().filter(named);
        let here = |mutant: &Mutant| {
            let (transport, revision) = mutant.place;
            self.over.is_none_or(|only| only == transport) && self.at.is_none_or(|only| only == revision)
        };
        if self.everywhere { faults.flat_map(everywhere).filter(here).collect() } else { faults.map(once).collect() }
    }
}

fn options(target: Address, revision: Revision, safety: bool, seen: &Seen) -> Options {
    let hints = include_str!("../../../cli/src/args/reference-hints.json");
    Options {
        targets: vec![target],
        target: String::new(),
        reproduce: Reproduce::new(|facts| facts.rule.to_owned()),
        words: Advice::to_string,
        revisions: RevisionChoice::These(vec![revision]),
        selection: Selection { safety, ..Selection::default() },
        // At the oldest revision no tool can say that it only reads.
        calls: if revision == Revision::R2024_11_05 { CallPolicy::All } else { CallPolicy::default() },
        hints: Hints::parse(hints).expect("the hints are hints"),
        intrusive: false,
        jobs: 8,
        seed: 0,
        max_time: None,
        limits: Limits { request: Duration::from_secs(8), ..Limits::default() },
        keep: seen.keep(),
        children: Children::new(),
        secrets: Secrets::default(),
        redactor: new_redactor(),
    }
}

async fn findings(options: Options) -> Vec<Finding> {
    match check(options, Watch::nobody()).await {
        Ok(checked) => checked.report.results,
        Err(error) => {
            println!("  no report: {error}");
            Vec::new()
        }
    }
}

/// Judges the reference server with the faults given, all of which want it to demand a token, or none.
async fn judged(faults: Vec<&'static Fault>, demands: bool, place: Place, safety: bool, seen: &Seen) -> Vec<Finding> {
    let (transport, revision) = place;
    if transport == Transport::Stdio {
        let itself = std::env::current_exe().expect("this program finds itself");
        let names = faults.iter().map(|fault| fault.name);
        let command = Command::new(itself.to_string_lossy(), std::iter::once(SERVE).chain(names));
        return findings(options(Address::Stdio(command), revision, safety, seen)).await;
    }
    let other_transports =
        http::OtherTransports { sse: transport == Transport::HttpSse, websocket: transport == Transport::WebSocket };
    let bearer = if demands { Bearer::new(TOKEN) } else { None };
    let http = http::Options { other_transports, bearer, ..http::Options::default() };
    let server = Server::new(reference::Options { http, ..reference::Options::default() });
    let server = FaultyServer::new(server, faults).with_token(demands.then(|| TOKEN.to_owned()));
    let server = server.http(([127, 0, 0, 1], 0).into()).await.expect("a port is free");
    let at = |scheme: &str, path: &str| {
        let url = url::Url::parse(&format!("{scheme}://{}{path}", server.local_addr()));
        let mut address = HttpAddress::new(url.expect("an address makes a URL"));
        if demands {
            address.headers.push(("Authorization".to_owned(), format!("Bearer {TOKEN}")));
        }
        address
    };
    let target = match transport {
        Transport::HttpSse => Address::Sse(at("http", http::SSE_PATH)),
        Transport::WebSocket => Address::WebSocket(at("ws", http::WEBSOCKET_PATH)),
        Transport::StreamableHttp | Transport::Stdio => Address::Http(at("http", "/mcp")),
    };
    findings(options(target, revision, safety, seen)).await
}

/// Judges the reference server with so little room for a trace that not all of it is kept.
async fn with_little_room(seen: &Seen) {
    let server = Server::new(reference::Options::default()).http(([127, 0, 0, 1], 0).into()).await;
    let server = server.expect("a port is free");
    let url = format!("http://{}/mcp", server.local_addr()).parse().expect("an address makes a URL");
    let options = options(Address::Http(HttpAddress::new(url)), Revision::R2025_11_25, false, seen);
    findings(Options { limits: Limits { trace_bytes: LITTLE, ..options.limits.clone() }, ..options }).await;
}

fn is_broken(finding: &Finding) -> bool {
    matches!(finding.outcome, Outcome::Fail | Outcome::Warn)
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|argument| argument == SERVE) {
        let faults = arguments[1..].iter().filter_map(|name| server::find(name)).collect();
        let server = FaultyServer::new(Server::new(reference::Options::default()), faults);
        let served = server.stdio(std::future::pending()).await;
        return if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let wish = match Wish::of(arguments.into_iter()) {
        Ok(wish) => wish,
        Err(complaint) => {
            println!("{complaint}");
            return ExitCode::FAILURE;
        }
    };
    let mutants = wish.mutants();
    let seen = Seen::default();
    let played = play(&mutants, &seen).await;
    if wish.everywhere {
        table(&played);
    }
    let mut complaints = Vec::new();
    for (mutant, caught) in &played {
        if let Caught::No(why) = caught {
            complaints.push(format!("{}: {why}", label(mutant)));
        }
    }
    complaints.extend(faultless(&mutants, &seen).await);
    if wish.names.is_empty() && !wish.everywhere {
        with_little_room(&seen).await;
        let unwritten = seen.missing(true).into_iter();
        complaints.extend(unwritten.map(|name| format!("the mark `{name}` is declared, and no check writes it")));
    }
    for complaint in &complaints {
        println!("  {complaint}");
    }
    println!("{} faults played, {} complaints", mutants.len(), complaints.len());
    if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn label(Mutant { fault, place: (transport, revision) }: &Mutant) -> String {
    format!("{} over {transport} at {revision}", fault.name)
}

/// Leave to play at a place.
struct Permits {
    servers: Arc<Semaphore>,
    children: Arc<Semaphore>,
}

impl Permits {
    fn new(servers: usize, children: usize) -> Self {
        Self { servers: Arc::new(Semaphore::new(servers)), children: Arc::new(Semaphore::new(children)) }
    }

    async fn at(&self, (transport, _): Place) -> Option<tokio::sync::OwnedSemaphorePermit> {
        let which = if transport == Transport::Stdio { &self.children } else { &self.servers };
        Arc::clone(which).acquire_owned().await.ok()
    }
}

/// Plays them side by side; what was not caught as it should be once more with little beside it: on a busy machine a slow
/// answer looks like none.
async fn play(mutants: &[Mutant], seen: &Seen) -> Vec<(Mutant, Caught)> {
    let mut played = side_by_side(mutants, Permits::new(SERVERS, CHILDREN), seen).await;
    let missed = |(mutant, caught): &(Mutant, Caught)| match caught {
        Caught::No(why) => {
            println!("  once more: {}: {why}", label(mutant));
            Some(*mutant)
        }
        _ => None,
    };
    let again: Vec<_> = played.iter().filter_map(missed).collect();
    let mut again = side_by_side(&again, Permits::new(1, 1), seen).await.into_iter();
    for (_, caught) in played.iter_mut().filter(|(_, caught)| matches!(caught, Caught::No(_))) {
        if let Some((_, second)) = again.next() {
            *caught = second;
        }
    }
    played
}

async fn side_by_side(mutants: &[Mutant], permits: Permits, seen: &Seen) -> Vec<(Mutant, Caught)> {
    let permits = Arc::new(permits);
    let mut playing = JoinSet::new();
    for (number, &mutant) in mutants.iter().enumerate() {
        let (permits, seen) = (Arc::clone(&permits), seen.clone());
        playing.spawn(async move {
            let _permit = permits.at(mutant.place).await;
            (number, mutant, caught(mutant, &seen).await)
        });
    }
    let mut played = playing.join_all().await;
    played.sort_by_key(|(number, ..)| *number);
    played.into_iter().map(|(_, mutant, caught)| (mutant, caught)).collect()
}

/// Plays a fault and looks what was found broken.
async fn caught(Mutant { fault, place }: Mutant, seen: &Seen) -> Caught {
    let findings = judged(vec![fault], fault.token, place, rule_of(fault).is_safety(), seen).await;
    let named = |finding: &Finding| finding.rule == fault.rule || fault.consequences.contains(&finding.rule);
    let others: Vec<_> = findings.iter().filter(|finding| is_broken(finding) && !named(finding)).collect();
    if let [first, ..] = others[..] {
        let rules: Vec<_> = others.iter().map(|other| other.rule).collect();
        return Caught::No(format!("breaks {} as well: {}", rules.join(", "), first.message));
    }
    match findings.iter().find(|finding| finding.rule == fault.rule) {
        Some(finding) if is_broken(finding) => Caught::Yes,
        Some(finding) if finding.outcome == Outcome::NotApplicable => Caught::NotThere,
        Some(finding) => Caught::No(format!("{} is {}: {}", fault.rule, finding.outcome.as_str(), finding.message)),
        None => Caught::No(format!("{} was not judged", fault.rule)),
    }
}

/// What is to be complained of where the server without faults is played at the same places.
async fn faultless(mutants: &[Mutant], seen: &Seen) -> Vec<String> {
    let mut rules: BTreeMap<(bool, Place), BTreeSet<_>> = BTreeMap::new();
    for Mutant { fault, place } in mutants {
        rules.entry((fault.token, *place)).or_default().insert(fault.rule);
    }
    let mut complaints = Vec::new();
    for ((demands, place), rules) in rules {
        for finding in judged(Vec::new(), demands, place, true, seen).await {
            complaints.extend(disturbed(&finding, rules.contains(finding.rule)));
        }
    }
    complaints
}

/// What is to be complained of where the server without faults does not keep a rule, or, where a fault breaks it, keeps it
/// out of sight.
fn disturbed(finding: &Finding, is_provoked: bool) -> Option<String> {
    let Finding { transport, revision, rule, message, .. } = finding;
    let excused = UNSEEN_WITHOUT.iter().any(|(unseen, _)| unseen == rule);
    let unseen = finding.outcome == Outcome::NotExercised && is_provoked && !excused;
    let outcome = finding.outcome.as_str();
    (is_broken(finding) || unseen)
        .then(|| format!("without fault: {transport} {revision} {rule} is {outcome}: {message}"))
}

/// One line for each fault: at how many places it was caught, and what else it breaks.
fn table(played: &[(Mutant, Caught)]) {
    println!("{:<34}{:<38}{:>7}  breaks as well", "fault", "rule", "caught");
    let mut at = 0;
    while let Some((Mutant { fault, .. }, _)) = played.get(at) {
        let here = played[at..].iter().take_while(|(mutant, _)| mutant.fault.name == fault.name);
        let (mut tried, mut yes) = (0, 0);
        for (_, caught) in here {
            at += 1;
            tried += usize::from(!matches!(caught, Caught::NotThere));
            yes += usize::from(matches!(caught, Caught::Yes));
        }
        println!(
            "{:<34}{:<38}{:>7}  {}",
            fault.name,
            fault.rule,
            format!("{yes}/{tried}"),
            fault.consequences.join(", ")
        );
    }
}
