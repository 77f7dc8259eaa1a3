//! What a seed decides: the arguments that tools are called with, and the order in which cases begin. The same seed decides
//! the same.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use judge::check::hints::Hints;
use judge::check::{CallPolicy, Options, Progress, RevisionChoice, Selection, TraceSink, Watch, check};
use judge::{Advice, Reproduce};
use net::client::{Address, HttpAddress, Limits};
use net::{Children, new_redactor};
use serde_json::Value;
use wire::redact::Secrets;
use wire::trace::{Content, Trace};
use wire::{Party, Revision};

/// What one check did.
#[derive(Debug, PartialEq)]
struct Done {
    /// The arguments of the calls in each case, in their order.
    arguments: BTreeMap<&'static str, Vec<Value>>,
    /// The cases that run side by side, as they began.
    order: Vec<&'static str>,
}

fn arguments(trace: &Trace) -> Vec<Value> {
    let said =
        trace.frames.iter().filter(|frame| frame.from == Party::Client).filter_map(|frame| match &frame.content {
            Content::Body { bytes, .. } => serde_json::from_slice::<Value>(bytes).ok(),
            _ => None,
        });
    let calls = said.filter(|message| message["method"] == "tools/call");
    calls.map(|message| message["params"]["arguments"].clone()).collect()
}

fn options(url: &str, seed: u64, keep: TraceSink) -> Options {
    Options {
        targets: vec![Address::Http(HttpAddress::new(url.parse().expect("a URL")))],
        target: url.to_owned(),
        reproduce: Reproduce::new(|facts| facts.rule.to_owned()),
        words: Advice::to_string,
        revisions: RevisionChoice::These(vec![Revision::R2025_11_25]),
        selection: Selection { only: vec!["tools.*".to_owned()], ..Selection::default() },
        calls: CallPolicy::default(),
        hints: Hints::default(),
        intrusive: false,
        jobs: 16,
        seed,
        max_time: None,
        limits: Limits::default(),
        keep,
        children: Children::new(),
        secrets: Secrets::default(),
        redactor: new_redactor(),
    }
}

/// A check of a server of its own.
async fn done(seed: u64) -> Done {
    let server = reference::serve_http(([127, 0, 0, 1], 0).into(), reference::Options::default()).await;
    let server = server.expect("a port is free");
    let begun = Arc::new(Mutex::new(Vec::new()));
    let watched = begun.clone();
    let watch = Watch::new(move |progress| {
        if let Progress::Probe { probe, .. } = progress {
            watched.lock().unwrap_or_else(PoisonError::into_inner).push(probe);
        }
    });
    let made = Arc::new(Mutex::new(BTreeMap::new()));
    let kept = made.clone();
    let keep = TraceSink::new(move |case| {
        kept.lock().unwrap_or_else(PoisonError::into_inner).insert(case.case, arguments(case.trace));
    });
    let checked = check(options(&format!("http://{}/mcp", server.local_addr()), seed, keep), watch).await;
    checked.unwrap_or_else(|error| panic!("there is no report: {error}"));
    server.shutdown().await;
    let arguments = made.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let order = begun.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let order = order.into_iter().filter(|probe| arguments.contains_key(probe)).collect();
    Done { arguments, order }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_seed_decides() {
    let (one, again, other, plain) = tokio::join!(done(3), done(3), done(4), done(0));
    assert!(one.arguments.values().map(Vec::len).sum::<usize>() > 10, "hardly a tool was called");
    assert!(one.order.len() > 5, "hardly a case ran apart: {:?}", one.order);
    assert_eq!(one, again);
    assert_ne!(one.arguments, other.arguments);
    assert_ne!(one.order, other.order);
    assert_ne!(one.arguments, plain.arguments);
    assert!(
        plain.arguments["shared-session"].iter().any(|made| made["message"] == "proof"),
        "{:?}",
        plain.arguments["shared-session"]
    );
}
