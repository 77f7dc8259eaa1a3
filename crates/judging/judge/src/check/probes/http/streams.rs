//! Streams: the one that GET opens, those that answers come on, and what a cut one is owed.

use std::time::{Duration, Instant};

use net::client::{Exchange, Outgoing};
use serde_json::json;
use wire::framing::sse::Block;
use wire::{Era, RequestId, Transport};

use super::{HTTP, harmless};
use crate::check::context::{Abort, ProbeContext};
use crate::check::probe::{Probe, Script};
use crate::check::probes::patterns::{Called, slow};
use crate::check::probes::tools;

/// How long the server's own stream is listened to after all is answered.
const LISTENED: Duration = Duration::from_millis(300);

/// How long a replay, and the end of a stream after its response, may take.
const PROMPT: Duration = Duration::from_millis(300);

pub(in super::super) const GET: Probe = Probe::fresh("http-get-stream", get).on(HTTP).era(Era::Legacy);

/// Opens an event stream by GET and waits until the server has begun to answer. One that sends no head before it has
/// something to say, or that is slow, is given the time of one more answer.
pub(in super::super) async fn open(case: &ProbeContext, last_event_id: Option<&str>) -> Result<Exchange, Abort> {
    let stream = case.connection().http()?.open_stream(last_event_id).await?;
    if stream.head(case.short()).await.is_none() {
        case.request(harmless(case), json!({})).await?;
        stream.head(case.short()).await;
    }
    Ok(stream)
}

/// Opens the server's own stream where there may be one, for as long as the connection lasts: what a server asks outside the
/// streams of requests it asks there.
pub(in super::super) async fn listen(case: &ProbeContext) -> Result<(), Abort> {
    if case.transport() == Transport::StreamableHttp && case.era() == Era::Legacy {
        open(case, None).await?;
    }
    Ok(())
}

/// Opens the server's own stream, has two calls report progress beside it at a time, and opens another.
fn get(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let stream = open(case, None).await?;
        case.request("ping", json!({})).await?;
        let mut under_way = Vec::new();
        for (token, call) in ["listening-1", "listening-2"].into_iter().zip(two_calls(case)) {
            under_way.push(start(case, &call, token).await?.0);
        }
        for id in under_way {
            case.connection().response(&id, case.tool_patience()).await;
        }
        case.quiet("on the GET stream", LISTENED).await;
        come_back(case, &stream).await?;
        open(case, None).await?.abort();
        stream.abort();
        let wrong = Outgoing::bare("GET").header("Accept", "application/json");
        let wrong = case.connection().send_with(wrong).await?;
        wrong.head(case.short()).await;
        wrong.abort();
        Ok(())
    })
}

pub(in super::super) const STRANGERS: Probe = Probe::shared("http-get-strangers", strangers).on(HTTP).era(Era::Legacy);

/// Asks for the server's own stream with what a server is to refuse: a foreign Origin, a version that does not exist. Each in
/// a session of its own, since a session may have but one such stream.
fn strangers(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        case.on_another_connection(async |other| {
            other.handshake().await?;
            let stream = open(other, None).await?;
            stream.abort();
            if stream.status().is_none_or(|status| status >= 300) {
                Err(Abort::Lacks("streams by GET"))
            } else {
                Ok(())
            }
        })
        .await?;
        let odd = [("Origin", "http://evil.example"), ("MCP-Protocol-Version", "1999-01-01")];
        for (name, value) in odd {
            case.on_another_connection(async |other| {
                other.handshake().await?;
                let asked = Outgoing::bare("GET").header("Accept", "text/event-stream").header(name, value);
                let stream = other.connection().send_with(asked).await?;
                stream.head(other.short()).await;
                stream.abort();
                Ok(())
            })
            .await?;
        }
        Ok(())
    })
}

/// Resumes a stream that the server itself has closed meanwhile, as its client would.
async fn come_back(case: &ProbeContext, stream: &Exchange) -> Result<(), Abort> {
    let last = stream.events().into_iter().rev().find_map(|block| block.id.filter(|id| !id.is_empty()));
    if let (Some(_), Some(last)) = (stream.closed(), last) {
        let rest = open(case, Some(&last)).await?;
        rest.finished(PROMPT).await;
        rest.abort();
    }
    Ok(())
}

pub(in super::super) const RESUME: Probe = Probe::fresh("http-resume", resume).on(HTTP).era(Era::Legacy);

/// Cuts the stream of an answer after its first message, has another stream answered meanwhile, and asks for what followed
/// the first event: as another session, then as its own, and once more after the next event.
fn resume(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        if case.setting().hints.slow.is_none() {
            // A call that was seen to last is worth waiting for: what is over at once leaves nothing to resume.
            let settled = async {
                case.setting().learnt.settled().await;
                Ok(())
            };
            case.in_time(settled).await?;
        }
        let [beside, slow] = two_calls(case).try_into().map_err(|_| Abort::Lacks("a tool that may be called"))?;
        let begun = Instant::now();
        let (id, exchange) = start(case, &slow, "resumed").await?;
        let says = |block: &Block| block.data.as_deref().is_some_and(|data| !data.is_empty());
        exchange.event(says, case.tool_patience()).await;
        let first = exchange.events().into_iter().find_map(|block| block.id.filter(|id| !id.is_empty()));
        let last = first.ok_or(Abort::Lacks("event ids"))?;
        exchange.abort();
        exchange.finished(case.short()).await;
        let (other, _) = start(case, &beside, "beside").await?;
        case.connection().response(&other, case.tool_patience()).await;
        trespass(case, &last).await?;
        let rest = open(case, Some(&last)).await?;
        let answered = case.connection().response(&id, case.tool_patience());
        // Where the stream ends without the answer, that comes no more.
        tokio::select! {
            _ = answered => { rest.finished(PROMPT).await; }
            _ = rest.finished(case.tool_patience()) => {}
            () = case.too_long(&slow.0, begun) => {
                // Some servers keep it for a client that connects again.
                let again = open(case, Some(&last)).await?;
                case.connection().response(&id, PROMPT).await;
                again.abort();
            }
        }
        rest.abort();
        again(case, &rest).await
    })
}

/// Resumes a stream once more, after the first message that its resumption brought.
async fn again(case: &ProbeContext, rest: &Exchange) -> Result<(), Abort> {
    let says = |block: &Block| block.data.as_deref().is_some_and(|data| !data.is_empty());
    let mut events = rest.events().into_iter().filter(says);
    let first = events.next().and_then(|block| block.id.filter(|id| !id.is_empty()));
    if let (Some(first), Some(_)) = (first, events.next()) {
        let again = open(case, Some(&first)).await?;
        again.finished(PROMPT).await;
        again.abort();
    }
    Ok(())
}

/// Another session asks for the events after `last`, which it was never given.
async fn trespass(case: &ProbeContext, last: &str) -> Result<(), Abort> {
    case.on_another_connection(async |other| {
        other.handshake().await?;
        open(other, Some(last)).await?.finished(PROMPT).await;
        Ok(())
    })
    .await
}

/// Two calls, the slower one last: hinted, seen to last or to report progress, or of tools that may be called. None, or two.
fn two_calls(case: &ProbeContext) -> Vec<Called> {
    let hints = &case.setting().hints;
    let hinted = [&hints.progress, &hints.slow].into_iter().flatten();
    let mut calls: Vec<Called> = hinted.map(|hint| (hint.tool.clone(), hint.arguments.clone())).collect();
    let lasting = || case.setting().learnt.lasting().map(|call| (call.tool, call.arguments));
    // One that reports progress has a stream to resume, however soon it is over.
    let reporting = case.setting().learnt.reporting();
    let slow = lasting()
        .or_else(|| slow(case))
        .or_else(|| reporting.clone())
        .filter(|_| hints.slow.is_none() && calls.len() < 2);
    if calls.len() < 2 {
        let mut safe = tools::callable(case);
        safe.retain(|(name, _)| slow.as_ref().is_none_or(|(slow, _)| slow != name));
        // An answer that comes as a stream, too, is what a resumed one may be confused with.
        safe.splice(0..0, reporting.filter(|_| slow.is_some()));
        safe.truncate(2 - calls.len() - usize::from(slow.is_some()));
        calls.splice(0..0, safe);
    }
    calls.extend(slow);
    if let [only] = calls.as_slice() {
        calls.push(only.clone());
    }
    calls
}

/// Calls a tool with a token for its progress and does not wait for the answer.
async fn start(case: &ProbeContext, (name, arguments): &Called, token: &str) -> Result<(RequestId, Exchange), Abort> {
    let id = case.next_id();
    let params = json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": case.setting().tokens.text(token) } });
    let exchange = case.say(&case.request_text(&json!(id), "tools/call", params)).await?;
    Ok((RequestId::from(id), exchange))
}

pub(in super::super) const CUT: Probe = Probe::fresh("http-cut", cut).on(HTTP);

/// Leaves in the middle of an answer; the server must go on.
fn cut(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        for _ in 0..3 {
            let id = case.next_id();
            let exchange = case.say(&case.request_text(&json!(id), harmless(case), json!({}))).await?;
            exchange.abort();
        }
        case.request(harmless(case), json!({})).await?;
        Ok(())
    })
}
