//! A server that requires a token, if none or an insufficient one was given. Its refusals can be judged; which revisions it
//! speaks is unknown.

use std::sync::Arc;
use std::time::Instant;

use net::client::Address;
use wire::http::challenges;
use wire::trace::{Content, Trace, header};
use wire::{Party, Revision};

use super::confirm::NOT_AGAIN;
use super::context::{ProbeContext, Setting};
use super::probes::UNAUTHENTICATED;
use super::run::Ran;
use crate::judging::{Judged, RedactedSink, Selection};
use crate::{Advice, Words};

/// How it is to be judged.
pub enum By {
    /// The revision that the user named.
    Revision,
    /// Any of these, as far as they agree.
    Any(Vec<Revision>),
}

/// Plays the one probe that needs no token. `None` where nothing shows that a bearer token is what is missing.
pub async fn run(setting: Setting, by: By, selection: &Selection, shelf: &RedactedSink, words: Words) -> Option<Ran> {
    let begun = Instant::now();
    let setting = Arc::new(setting);
    let trace = played(&setting).await;
    let metadata = metadata(&setting, &trace);
    if metadata.is_none() && !is_challenged(&trace) {
        return None;
    }
    let judge = |trace: &Trace| {
        Judged::new(UNAUTHENTICATED.name, vec![UNAUTHENTICATED.name], trace, setting.revision, selection)
    };
    let mut judged = judge(&trace);
    if !judged.suspicions().is_empty() {
        let again = judge(&played(&setting).await);
        judged.take_back(&again.broken().map(|(rule, _)| rule).collect(), NOT_AGAIN);
    }
    let mut cut_short = reason(&setting, metadata.as_deref(), words);
    if let By::Any(revisions) = by {
        cut_short.push_str("; which revisions it speaks is not known");
        // Before 2025-06-18 there was no such metadata.
        let known = |revision: &Revision| metadata.is_none() || revision.at_least(Revision::R2025_06_18);
        let others: Vec<_> = revisions.into_iter().filter(|r| *r != setting.revision && known(r)).collect();
        judged.doubt(&trace, &others, words);
    }
    judged.keep(shelf, setting.as_ref().into(), &trace);
    Some(Ran {
        setting,
        survey: None,
        cases: vec![judged],
        probes: 1,
        elapsed: begun.elapsed(),
        cut_short: Some(cut_short),
    })
}

/// What crosses when the probe is played.
async fn played(setting: &Arc<Setting>) -> Trace {
    match ProbeContext::bare(setting.clone(), Arc::default(), UNAUTHENTICATED.name).await {
        Err((_, trace)) => trace,
        Ok(case) => {
            if let Err(abort) = (UNAUTHENTICATED.script)(&case).await {
                tracing::debug!(case = UNAUTHENTICATED.name, %abort, "the case ended early");
            }
            case.finish().await
        }
    }
}

/// How much of an address is shown.
const ADDRESS: usize = 200;

fn reason(setting: &Setting, metadata: Option<&str>, words: Words) -> String {
    let place = match metadata {
        Some(url) => format!("its metadata, at {}, says who issues one", wire::escape::snippet(url, ADDRESS)),
        None => "it does not say who issues one".to_owned(),
    };
    let (why, advice) = if setting.is_authorized() {
        ("the server refuses the token that was given", Advice::ReplaceToken)
    } else {
        ("the server demands a bearer token, and none was given", Advice::GiveToken)
    };
    format!("{why}; {place}; {}", words(&advice))
}

/// Whether any answer asks for a bearer token, or for one bound to a key.
fn is_challenged(trace: &Trace) -> bool {
    trace.frames.iter().any(|frame| match &frame.content {
        Content::Response { status: 401, headers } => {
            challenges(headers).iter().any(|challenge| challenge.is("bearer") || challenge.is("dpop"))
        }
        _ => false,
    })
}

/// Where the server's metadata is: where its challenge says, or where a document was found.
fn metadata(setting: &Setting, trace: &Trace) -> Option<String> {
    let named = trace.frames.iter().find_map(|frame| match &frame.content {
        Content::Response { status: 401, headers } => {
            challenges(headers).iter().find_map(|challenge| challenge.parameter("resource_metadata").map(str::to_owned))
        }
        _ => None,
    });
    named.or_else(|| found(setting, trace))
}

/// The address of a document of the kind that was fetched unasked.
fn found(setting: &Setting, trace: &Trace) -> Option<String> {
    let Address::Http(home) = &setting.address else { return None };
    let fetched = trace.frames.iter().filter_map(|frame| match &frame.content {
        Content::Request { method, target, .. } if method == "GET" && target.contains("oauth-protected-resource") => {
            Some((frame.exchange, target))
        }
        _ => None,
    });
    let is_json = |exchange: u32| {
        trace.frames.iter().any(|frame| match &frame.content {
            Content::Response { status: 200, headers } if frame.exchange == exchange && frame.from == Party::Server => {
                header(headers, "content-type").is_some_and(|kind| kind.contains("json"))
            }
            _ => false,
        })
    };
    let (_, target) = fetched.into_iter().find(|(exchange, _)| is_json(*exchange))?;
    Some(home.url.join(target).map_or_else(|_| target.clone(), |url| url.to_string()))
}
