//! What strains a server without being wrong: messages that are large, and JSON that is nested absurdly deep. Memory is
//! sampled around them where the server is our child. What a good server makes of either is not said here.

use net::client::Outgoing;
use serde_json::json;
use wire::{RequestId, Transport};

use super::base::{LONG_BYTES, harmless};
use crate::check::context::{Abort, ProbeContext};
use crate::check::probe::{Probe, Script};

/// Beyond what line readers with a default limit take, and well within what bodies may usually have.
const LARGE_BYTES: [usize; 2] = [80 << 10, 1 << 20];

/// Beyond what recursive readers survive without a limit of their own.
const DEPTHS: [usize; 2] = [10_000, 100_000];

/// What stands for nested arrays until they are written: no JSON library would write them.
const PAYLOAD: &str = "proof-payload";

pub(super) const LARGE: Probe = Probe::disruptive("large-messages", large).intrusive();

/// Requests with much text in their metadata: one that is to be answered, and larger ones, each followed by a small one.
fn large(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        answers_small(case).await?;
        sample_memory(case);
        case.request(harmless(case), json!({ "_meta": { "proofhouse/payload": "x".repeat(LONG_BYTES) } })).await?;
        for bytes in LARGE_BYTES {
            burden(case, bytes).await?;
            case.request(harmless(case), json!({})).await?;
            sample_memory(case);
        }
        Ok(())
    })
}

/// Whether it is worth it: what does not answer a small request has no answer to a large one. Asked here: what other cases left
/// unanswered by then depends on when they were played.
async fn answers_small(case: &ProbeContext) -> Result<(), Abort> {
    match case.request(harmless(case), json!({})).await?.0 {
        Some(_) => Ok(()),
        None => Err(Abort::Lacks("answers to small requests")),
    }
}

/// Notes how much memory the server has, where it is our child.
fn sample_memory(case: &ProbeContext) {
    if let Ok(child) = case.connection().child() {
        child.sample_memory();
    }
}

pub(super) const DEEP: Probe = Probe::disruptive("deep-nesting", deep).intrusive();

/// Notifications with thousands of nested arrays in their metadata, each followed by a request. Notifications, since our own
/// reader has a limit as well: of a request so deep it could not tell which answer is its own.
fn deep(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        answers_small(case).await?;
        sample_memory(case);
        for depth in DEPTHS {
            let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            // In order but for its depth: some servers take the first message without modern metadata for a legacy client's.
            let params = case.params(json!({ "_meta": { "proofhouse/payload": PAYLOAD } }));
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/proofhouse/deep", "params": params });
            case.say(&fill(&note.to_string(), &nested)).await?.finished(case.short()).await;
            case.request(harmless(case), json!({})).await?;
            sample_memory(case);
        }
        Ok(())
    })
}

/// How many requests lie between two samples of memory: at first, and where they leave much behind.
const STRETCH: usize = 250;
const LONG_STRETCH: usize = 500;

/// How many stretches there are of either.
const STRETCHES: usize = 4;

/// From how many bytes on for each request memory is worth another look.
const MUCH: u64 = 32 << 10;

/// How many requests are under way at once.
const ABREAST: usize = 25;

pub(super) const REPEATED: Probe =
    Probe::fresh("thousand-requests", repeated).on(&[Transport::Stdio]).safety().intrusive();

/// A thousand small requests, and memory sampled between them; two thousand more where each stretch left much behind.
fn repeated(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        // What is only made on first use is no leak.
        requests(case, ABREAST * 2).await?;
        let mut before =
            case.connection().child()?.sample_memory().ok_or(Abort::Lacks("a system that tells memory"))?;
        for stretch in 0..STRETCHES * 2 {
            let count = if stretch < STRETCHES { STRETCH } else { LONG_STRETCH };
            requests(case, count).await?;
            let now = case.connection().child()?.sample_memory().ok_or(Abort::Lacks("a system that tells memory"))?;
            let grew = now.saturating_sub(before) >= MUCH * count as u64;
            if stretch + 1 >= STRETCHES && !grew {
                break;
            }
            before = now;
        }
        Ok(())
    })
}

/// Puts that many harmless requests, some at a time.
async fn requests(case: &ProbeContext, count: usize) -> Result<(), Abort> {
    for _ in 0..count / ABREAST {
        let ids: Vec<i64> = (0..ABREAST).map(|_| case.next_id()).collect();
        for id in &ids {
            case.say(&case.request_text(&json!(id), harmless(case), json!({}))).await?;
        }
        for id in ids {
            let answer = case.connection().response(&RequestId::from(id), case.patience()).await;
            answer.ok_or(Abort::Lacks("answers to many requests"))?;
        }
    }
    Ok(())
}

/// A text with `payload`, which is JSON, in the place that was left for it.
fn fill(text: &str, payload: &str) -> String {
    text.replace(&format!("\"{PAYLOAD}\""), payload)
}

/// Sends a harmless request with much text in its metadata and waits for whatever is made of it: over stdio for an answer,
/// which may be a refusal in words of any kind; over HTTP a short while, since a status may be all that comes.
async fn burden(case: &ProbeContext, bytes: usize) -> Result<(), Abort> {
    let params = json!({ "_meta": { "proofhouse/payload": "x".repeat(bytes) } });
    if case.transport() == Transport::Stdio {
        case.request(harmless(case), params).await?;
        return Ok(());
    }
    let text = case.request_text(&json!(case.next_id()), harmless(case), params);
    let exchange = case.connection().send_with(Outgoing::message(text)).await?;
    if exchange.number() != 0 && exchange.head(case.short()).await.is_none_or(|(status, _)| status >= 300) {
        exchange.finished(case.short()).await;
        return Ok(());
    }
    case.connection().wait_for(|message| message.kind().is_response(), case.short()).await;
    Ok(())
}
