//! Clients that we kill, that leave questions open, or that bring more than is kept: what is written down of them.

use std::io::{BufRead as _, BufReader, Read as _};
use std::time::Duration;

use judge::check::{Selection, TraceSink, Watch};
use judge::check_client::{Ending, Options, check_client};
use wire::trace::{Content, Mark, Signal};
use wire::{Party, Revision, Transport};

use crate::harness::{GREETING, PROOF, command, outcomes, report};
use crate::marks::{IN_TROUBLE, missing, traces};
use crate::signal;

/// A client in shell that greets its server, and then sits there.
fn hanging(server: &str) -> Vec<String> {
    let said: Vec<_> = GREETING.iter().map(|line| format!("printf '%s\\n' '{line}'; sleep 0.1; ")).collect();
    let script = format!("{{ {} sleep 60; }} | \"$@\" > /dev/null", said.concat());
    ["sh", "-c", &script, "sh", server].map(str::to_owned).to_vec()
}

#[test]
fn a_killed_client_is_not_blamed_for_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().to_string_lossy().into_owned();
    let client = hanging("{server}");
    let words: Vec<_> = client.iter().map(String::as_str).collect();
    let place = ["--scenario", "initialize", "--revision", "2025-06-18", "--timeout", "2", "--save-trace", &kept];
    let (_, report) = report(&[&place[..], &["--"][..], words.as_slice()].concat());
    for rule in ["lifecycle.client-shutdown-in-order", "lifecycle.client-timeouts-cancelled", "jsonrpc.answered"] {
        let outcomes = outcomes(&report, rule);
        assert!(!outcomes.iter().any(|outcome| ["fail", "warn"].contains(outcome)), "{rule}: {outcomes:?}");
    }
    for trace in traces(folder.path()) {
        let last = trace.frames.last().unwrap();
        assert_eq!((last.connection, &last.content), (0, &Content::Mark(Mark::Signal(Signal::Kill))));
        let exits = |frame: &&wire::trace::Frame| matches!(frame.content, Content::Exit { .. });
        assert!(!trace.frames.iter().any(|frame| exits(&frame) && frame.from == Party::Client));
    }
}

/// What is kept of a scenario where little is.
const LITTLE: usize = 20 << 10;

fn options(words: &[&str]) -> Options {
    Options {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        target: String::new(),
        reproduce: judge::Reproduce::new(|facts| facts.rule.to_owned()),
        env: Vec::new(),
        cwd: None,
        bridge: Vec::new(),
        revisions: vec![Revision::R2025_11_25],
        transports: vec![Transport::StreamableHttp],
        scenarios: Vec::new(),
        quick: false,
        max_time: None,
        ending: Ending::default(),
        selection: Selection::default(),
        timeout: Duration::from_secs(20),
        jobs: 1,
        trace_bytes: 24 << 20,
        children: net::Children::new(),
        secrets: wire::redact::Secrets::default(),
        redactor: net::new_redactor(),
        keep: TraceSink::default(),
    }
}

async fn with_little_room(keep: TraceSink) {
    let scenarios = vec!["initialize".to_owned()];
    let usual = options(&[PROOF, "client", "--url", "{url}", "tools"]);
    let options = Options { scenarios, trace_bytes: LITTLE, keep, ..usual };
    // Too little to be judged by, perhaps even to see that the client speaks: what counts is what is written down.
    drop(check_client(options, Watch::nobody()).await);
}

/// How long the check of a client that never ends may take.
const SHORT: Duration = Duration::from_secs(12);

#[test]
fn a_client_that_never_ends_does_not_make_a_quick_check_last() {
    let script = format!("'{PROOF}' client --url \"$1\" tools; exec sleep 60");
    let usual = options(&["sh", "-c", &script, "sh", "{url}"]);
    let options = Options { quick: true, max_time: Some(SHORT), timeout: Duration::from_secs(2), ..usual };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let begun = std::time::Instant::now();
    let checked = runtime.block_on(check_client(options, Watch::nobody())).unwrap();
    // All of it would take two minutes.
    assert!(begun.elapsed() < SHORT * 2, "{:?}", begun.elapsed());
    let run = checked.report.runs.first().unwrap();
    let cut = run.cut_short.as_deref().unwrap_or_default();
    assert!(cut.starts_with("the time limit of 12 s left no time for "), "{cut}");
    let names: Vec<_> = run.scenarios.iter().map(|scenario| scenario.name).collect();
    assert!(names.contains(&"odd-names"), "the most valuable comes first: {names:?}");
}

#[test]
fn every_mark_of_a_client_in_trouble_is_written() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [hung, silent] = folders.each_ref().map(|folder| folder.path().to_string_lossy().into_owned());
    let client = hanging("{server}");
    let words: Vec<_> = client.iter().map(String::as_str).collect();
    let place = ["--scenario", "initialize", "--revision", "2025-06-18", "--timeout", "2", "--save-trace", &hung];
    report(&[&place[..], &["--"][..], words.as_slice()].concat());
    let place = ["--scenario", "pinged", "--revision", "2025-11-25", "--transport", "http", "--save-trace", &silent];
    let client = ["--", PROOF, "client", "--fault", "ping-unanswered", "--conformance", "{url}"];
    report(&[&place[..], client.as_slice()].concat());
    let mut found: Vec<_> = folders.iter().flat_map(|folder| traces(folder.path())).collect();
    let (send, kept) = std::sync::mpsc::channel();
    let keep = TraceSink::new(move |case| drop(send.send(case.trace.clone())));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(with_little_room(keep));
    found.extend(kept.try_iter());
    let unwritten = missing(&found, true);
    assert!(unwritten.is_empty(), "of {IN_TROUBLE:?}, nothing writes {unwritten:?}");
}

/// Who has waited for minutes does not lose what was judged until then.
#[test]
fn an_interrupted_check_reports_what_was_done() {
    let mut command =
        command(&["check-client", "--jobs", "1", "--revision", "2025-11-25", "--", PROOF, "client", "tools", "{url}"]);
    let mut child = command.spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(line.starts_with("the client: ") && line.contains(" runs, at least "), "{line}");
    std::thread::sleep(Duration::from_secs(1));
    let begun = std::time::Instant::now();
    signal::send("INT", &child);
    let (mut report, mut rest) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut report).unwrap();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{report}{rest}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(rest.contains("interrupted; this is what was done until then"), "{rest}");
    assert!(report.contains("it was interrupted before ") && report.contains("2025-11-25"), "{report}");
}

#[test]
fn a_check_that_is_interrupted_before_the_client_speaks_has_no_report() {
    let mut child = command(&["check-client", "--", "sh", "-c", "sleep 20"]).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    signal::send("TERM", &child);
    let mut report = String::new();
    child.stdout.take().unwrap().read_to_string(&mut report).unwrap();
    assert_eq!((child.wait().unwrap().code(), report.as_str()), (Some(143), ""));
}
