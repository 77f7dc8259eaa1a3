//! Clients that we kill, that leave questions open, or that bring more than is kept: what is written down of them.

use std::time::Duration;

use judge::check::{Selection, TraceSink, Watch};
use judge::check_client::{Options, check_client};
use wire::trace::{Content, Mark, Signal};
use wire::{Party, Revision, Transport};

use crate::harness::{GREETING, PROOF, outcomes, report};
use crate::marks::{IN_TROUBLE, missing, traces};

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

async fn with_little_room(keep: TraceSink) {
    let words = [PROOF, "client", "--url", "{url}", "tools"].map(str::to_owned).to_vec();
    let options = Options {
        words,
        target: String::new(),
        reproduce: judge::Reproduce::new(|facts| facts.rule.to_owned()),
        env: Vec::new(),
        cwd: None,
        bridge: Vec::new(),
        revisions: vec![Revision::R2025_11_25],
        transports: vec![Transport::StreamableHttp],
        scenarios: vec!["initialize".to_owned()],
        quick: false,
        selection: Selection::default(),
        timeout: Duration::from_secs(20),
        jobs: 1,
        trace_bytes: LITTLE,
        children: net::Children::new(),
        secrets: wire::redact::Secrets::default(),
        redactor: net::new_redactor(),
        keep,
    };
    // Too little to be judged by, perhaps even to see that the client speaks: what counts is what is written down.
    drop(check_client(options, Watch::nobody()).await);
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
