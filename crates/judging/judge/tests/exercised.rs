//! Judges the reference server at every revision, over every transport, and holds the report against a list of what is not
//! exercised there and why. Fails on any finding, on a rule that is not exercised and not listed, and on an entry that no
//! longer holds. Without the usual harness, since this program is also the child that serves over stdio.

mod seen;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use judge::check::hints::Hints;
use judge::check::options::matches;
use judge::check::{CallPolicy, Options, RevisionChoice, Selection, Watch, check};
use judge::{Advice, Reproduce};
use net::client::{Address, Command, HttpAddress, Limits};
use net::server::http::{self, Bearer, OtherTransports};
use net::{Children, new_redactor};
use reference::Folder;
use report::{Finding, Outcome};
use seen::Seen;
use tempfile::TempDir;
use wire::redact::Secrets;
use wire::{Revision, Transport};

/// A rule that is not exercised on the reference server.
struct Gap {
    rule: &'static str,
    /// Where: globs of a transport and a revision, as in `stdio 2024-11-05`.
    places: &'static [&'static str],
    why: &'static str,
}

const fn gap(rule: &'static str, places: &'static [&'static str], why: &'static str) -> Gap {
    Gap { rule, places, why }
}

const LEGACY: &[&str] = &["* 2024-*", "* 2025-*"];
const MODERN: &[&str] = &["* 2026-07-28"];
/// Where a server outlives its clients.
const MODERN_SHARED: &[&str] = &["http 2026-07-28", "ws 2026-07-28"];

const ASKS_IN_RESULTS: &str = "a modern server sends no requests";
const ENDS_FOR_ALL: &str = "it ends subscriptions when it ends, which no client can bring about here";
const NO_TOKENS: &str = "the reference server asks its client for no progress";
const NO_TRACES: &str = "the reference server traces nothing";
const DELEGATED: &str = "its token comes from elsewhere, as its metadata says: it is no authorization server";
const KNOWN_CLIENTS: &str = "the server that is judged here knows its clients by their token";

const GAPS: &[Gap] = &[
    gap("cancellation.only-for-subscriptions", MODERN_SHARED, ENDS_FOR_ALL),
    gap("cancellation.in-progress-only", MODERN_SHARED, ENDS_FOR_ALL),
    gap("subscriptions.graceful-close", MODERN_SHARED, ENDS_FOR_ALL),
    gap("cancellation.tasks-apart", &["* 2025-11-25"], "the reference server runs none of its own requests as a task"),
    gap("authorization.default-endpoints", &["http 2025-03-26"], DELEGATED),
    gap("authorization.endpoints-https", &["http 2025-03-26"], DELEGATED),
    gap("authorization.server-metadata*", &["http 2025-03-26"], DELEGATED),
    gap("authorization.insufficient-scope-*", &["http *"], "the one token may do everything"),
    gap("errors.method-not-declared", MODERN, "the reference server declares everything"),
    gap("subscriptions.only-supported-acknowledged", MODERN, "the reference server declares everything"),
    gap(
        "http.absent-version-header-served",
        &["http 2025-06-18", "http 2025-11-25"],
        "the reference server keeps sessions, and a session tells the version",
    ),
    gap(
        "http.retry-before-disconnect",
        &["http 2025-11-25"],
        "the reference server ends no stream before its response",
    ),
    gap("jsonrpc.request-id-*", MODERN, ASKS_IN_RESULTS),
    gap("shape.requests", MODERN, ASKS_IN_RESULTS),
    gap(
        "lifecycle.version-latest",
        &["sse *"],
        "no revision but 2024-11-05 has this transport: it can offer no older one",
    ),
    gap("lifecycle.version-error", LEGACY, "the reference server offers another version instead of refusing"),
    gap(
        "lifecycle.timeouts-cancelled",
        &["* 2025-*"],
        "the reference server waits for its client as long as that is there",
    ),
    gap("logging.no-credentials", &["stdio *"], "the client sends no credential there"),
    gap("meta.baggage", MODERN, NO_TRACES),
    gap("meta.traceparent", MODERN, NO_TRACES),
    gap("meta.tracestate", MODERN, NO_TRACES),
    gap("progress.tokens-*", LEGACY, NO_TOKENS),
    gap(
        "serf.retry-after-given",
        &["*"],
        "no call of the reference server fails for want of something that comes back",
    ),
    gap(
        "sampling.tool-results-conform",
        &["* 2025-11-25", "* 2026-07-28"],
        "the reference server gives its client's model no tools",
    ),
    gap(
        "sampling.bound-to-client",
        &["http 2025-*", "sse 2024-*", "ws 2024-*", "ws 2025-*"],
        "the question that another client answers here is one of elicitation",
    ),
    gap("tasks.ids-unguessable", &["http 2025-11-25"], KNOWN_CLIENTS),
    gap("tasks.list-not-shared", &["http 2025-11-25"], KNOWN_CLIENTS),
    gap("versioning.initialize-told-versions", MODERN, "the reference server serves the legacy era too"),
];

fn place(finding: &Finding) -> String {
    format!("{} {}", finding.transport, finding.revision)
}

impl Gap {
    fn is_for(&self, finding: &Finding) -> bool {
        let place = place(finding);
        matches(self.rule, finding.rule) && self.places.iter().any(|pattern| matches(pattern, &place))
    }
}

/// Everything about the findings that is not as it should be, a line each.
fn complaints(findings: &[Finding]) -> Vec<String> {
    let mut complaints = Vec::new();
    for finding in findings {
        let gap = GAPS.iter().find(|gap| gap.is_for(finding));
        let what = match finding.outcome {
            Outcome::Fail | Outcome::Warn => "broken",
            Outcome::NotExercised if gap.is_none() => "not exercised, and not listed",
            Outcome::Pass if gap.is_some() => "listed as not exercised, but kept",
            _ => continue,
        };
        complaints.push(format!("{}: {} is {what}: {}", place(finding), finding.rule, finding.message));
    }
    let open = |gap: &Gap| findings.iter().any(|f| f.outcome == Outcome::NotExercised && gap.is_for(f));
    let stale = GAPS.iter().filter(|gap| !open(gap));
    complaints.extend(stale.map(|gap| format!("{} is listed ({}), but never open", gap.rule, gap.why)));
    complaints
}

fn options(target: Address, revisions: RevisionChoice, seen: &Seen) -> Options {
    let hints = include_str!("../../../cli/src/args/reference-hints.json");
    Options {
        targets: vec![target],
        target: String::new(),
        reproduce: Reproduce::new(|facts| facts.rule.to_owned()),
        words: Advice::to_string,
        revisions,
        selection: Selection { safety: true, ..Selection::default() },
        calls: CallPolicy::default(),
        hints: Hints::parse(hints).expect("the hints are hints"),
        intrusive: false,
        jobs: 8,
        seed: 7,
        max_time: None,
        limits: Limits::default(),
        children: Children::new(),
        secrets: Secrets::default(),
        redactor: new_redactor(),
        keep: seen.keep(),
    }
}

async fn judged(target: Address, revisions: RevisionChoice, seen: &Seen) -> Vec<Finding> {
    let checked = check(options(target, revisions, seen), Watch::nobody()).await;
    checked.unwrap_or_else(|error| panic!("there is no report: {error}")).report.results
}

/// Everything the server has, the files of a directory included.
fn everything(folder: &Path) -> reference::Options {
    let folder = Folder::open(folder, |_| ()).expect("the directory is there");
    reference::Options { folder: Some(Arc::new(folder)), ..reference::Options::default() }
}

/// A server for each run: what changes lists for one must not disturb the others.
async fn over_http(transport: Transport, revision: Revision, folder: Arc<TempDir>, seen: Seen) -> Vec<Finding> {
    let other_transports = OtherTransports { sse: true, websocket: true };
    let http = http::Options { other_transports, bearer: Bearer::new(TOKEN), ..http::Options::default() };
    let options = reference::Options { http, ..everything(folder.path()) };
    let server = reference::serve_http(([127, 0, 0, 1], 0).into(), options).await.expect("a port is free");
    let at = |scheme: &str, path: &str| {
        let url = url::Url::parse(&format!("{scheme}://{}{path}", server.local_addr()));
        let headers = vec![("Authorization".to_owned(), format!("Bearer {TOKEN}"))];
        HttpAddress { headers, ..HttpAddress::new(url.expect("an address makes a URL")) }
    };
    let address = match transport {
        Transport::HttpSse => Address::Sse(at("http", http::SSE_PATH)),
        Transport::WebSocket => Address::WebSocket(at("ws", http::WEBSOCKET_PATH)),
        Transport::StreamableHttp | Transport::Stdio => Address::Http(at("http", "/mcp")),
    };
    let findings = judged(address, RevisionChoice::These(vec![revision]), &seen).await;
    server.shutdown().await;
    findings
}

async fn over_stdio(folder: &Path, seen: &Seen) -> Vec<Finding> {
    let itself = std::env::current_exe().expect("this program finds itself");
    let arguments = [SERVE.to_owned(), folder.to_string_lossy().into_owned()];
    judged(Address::Stdio(Command::new(itself.to_string_lossy(), arguments)), RevisionChoice::All, seen).await
}

/// A directory to serve.
fn files() -> TempDir {
    let folder = TempDir::new().expect("there is room");
    std::fs::create_dir(folder.path().join("folder")).expect("it is ours");
    for name in ["read me.md", "folder/data.json"] {
        std::fs::write(folder.path().join(name), "{}").expect("it is ours");
    }
    folder
}

/// The token that every request over HTTP must carry.
const TOKEN: &str = "the-token-of-this-test";

/// The argument that makes this program the server of the directory that follows.
const SERVE: &str = "--serve-the-reference-server";

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip_while(|argument| argument != SERVE);
    if let (Some(_), Some(folder)) = (arguments.next(), arguments.next()) {
        let served = reference::serve_stdio(everything(Path::new(&folder))).await;
        return if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    // One transport after the other: on a machine with too much to do at once, answers come too late to be laid to what
    // they answer.
    let folder = Arc::new(files());
    let seen = Seen::default();
    let mut findings = over_stdio(folder.path(), &seen).await;
    for transport in [Transport::StreamableHttp, Transport::HttpSse, Transport::WebSocket] {
        let mut runs = tokio::task::JoinSet::new();
        for revision in Revision::ALL.into_iter().filter(|revision| transport.carries(*revision)) {
            runs.spawn(over_http(transport, revision, Arc::clone(&folder), seen.clone()));
        }
        findings.extend(runs.join_all().await.concat());
    }
    assert!(findings.iter().any(|f| f.outcome == Outcome::Pass), "nothing was judged");
    let complaints = complaints(&findings);
    assert!(complaints.is_empty(), "\n  {}\n", complaints.join("\n  "));
    assert_eq!(seen.missing(false), Vec::<&str>::new(), "marks that are declared and that no check writes");
    ExitCode::SUCCESS
}
