//! Progress and cancellation.

use std::time::{Duration, Instant};

use net::client::{Exchange, Outgoing};
use serde_json::{Map, Value, json};
use wire::{Era, Kind, Message, RequestId, Transport};

use super::base::harmless;
use super::tools;
use crate::check::context::{Abort, ProbeContext};
use crate::check::hints::ToolCall;
use crate::check::probe::{Probe, Script};

/// A call that takes less cannot be cancelled for certain.
const SLOW: Duration = Duration::from_millis(300);

/// How much longer than undisturbed a cancelled call may take to be answered all the same.
const LATER: Duration = Duration::from_millis(400);

pub(super) const PROGRESS: Probe = Probe::shared("progress", progress).needs("tools");

/// The hinted call, or a slow one, with progress tokens of both legal types.
fn progress(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let hint = case.setting().hints.progress.clone().map(|hint| (hint.tool, hint.arguments));
        let (name, arguments) = hint.or_else(|| slow(case)).ok_or(Abort::Lacks("a tool that may report progress"))?;
        for token in [json!("progress-token"), json!(7100)] {
            tools::call(case, &name, &arguments, json!({ "progressToken": token })).await?;
        }
        Ok(())
    })
}

pub(super) const CANCEL_NOTHING: Probe = Probe::shared("cancel-nothing", cancel_nothing);

/// Cancellations that refer to nothing, or are none: to be ignored, over any transport. A request follows each.
fn cancel_nothing(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let answered = case.next_id();
        let text = case.request_text(&json!(answered), harmless(case), json!({}));
        case.ask(RequestId::from(answered), Outgoing::message(text), case.patience()).await?;
        let odd = [
            json!({ "requestId": "proof-never-asked", "reason": "probe" }),
            json!({ "requestId": answered, "reason": "already answered" }),
            json!({ "reason": "no id" }),
            json!({ "requestId": [1], "reason": "no id" }),
        ];
        for params in odd {
            case.notify("notifications/cancelled", params).await?;
            case.request(harmless(case), json!({})).await?;
        }
        Ok(())
    })
}

pub(super) const CANCEL: Probe = Probe::fresh("cancel", cancel).needs("tools").when(|setting, survey| {
    let name = |tool: &Value| tool.get("name").and_then(Value::as_str).is_some_and(seems_slow);
    setting.hints.slow.is_some() || survey.tools.iter().any(|tool| setting.calls.allow(tool) && name(tool))
});

/// How often it is tried to cancel a call before it is done.
const TRIES: usize = 2;

/// Cancels a slow call, as the transport has it, and listens for an answer that should not come. The same call is made
/// before and left alone: only so is it known how long to listen, and whether it can be seen to work.
fn cancel(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let (name, arguments) = slow(case).ok_or(Abort::Lacks("a slow tool"))?;
        let begun = Instant::now();
        let id = case.next_id();
        let token = json!({ "progressToken": "undisturbed" });
        let params = json!({ "name": name, "arguments": arguments, "_meta": token });
        let text = case.request_text(&json!(id), "tools/call", params);
        // Given as long as any request: a peer that is busy with other cases may need it for a call of a second.
        let undisturbed = case.ask(RequestId::from(id), Outgoing::message(text), case.patience()).await?;
        let span = begun.elapsed();
        if undisturbed.result().is_none() || span < SLOW {
            return Err(Abort::Lacks("a tool that is slow, and done in time"));
        }
        let reports = case.connection().received().iter().any(|m| reports_on(m, &json!("undisturbed")));
        // By a share of a span that was long for once, the call may be over: one that can be seen to work is.
        let patience = if reports { case.patience() } else { span / 2 };
        for number in 0..TRIES {
            let call = json!({ "name": name, "arguments": arguments });
            let tokens = [format!("cancelled-{number}"), format!("beside-{number}")];
            let beside = Some(&tokens[1]).filter(|_| reports);
            if cancel_one(case, call, (&tokens[0], beside), patience, span).await? {
                break;
            }
        }
        case.request(harmless(case), json!({})).await?;
        Ok(())
    })
}

/// Whether a message is a progress report under that token.
fn reports_on(message: &Message, token: &Value) -> bool {
    message.params().and_then(|params| params.get("progressToken")) == Some(token)
}

/// Puts a call and cancels it once it is seen to work or `patience` is over; then listens for longer than it would have
/// taken. Whether it was cancelled before it was done. Where closing its stream cancels it, the same call is then made
/// under the second token: what is still said of the first could only come on another stream.
async fn cancel_one(
    case: &ProbeContext,
    call: Value,
    (token, beside): (&str, Option<&String>),
    patience: Duration,
    span: Duration,
) -> Result<bool, Abort> {
    let token = json!(token);
    let (id, exchange) = put(case, &call, &token).await?;
    let done = |m: &Message| m.kind().is_response() && m.id() == Some(&RequestId::from(id));
    let seen = case.connection().wait_for(|m| reports_on(m, &token) || done(m), patience).await;
    if seen.is_some_and(|message| done(&message)) {
        return Ok(false);
    }
    if case.era() == Era::Modern && case.transport() == Transport::StreamableHttp {
        exchange.abort();
        // The window opens when the stream is known to be closed.
        exchange.finished(case.short()).await;
        if let Some(beside) = beside.map(|token| json!(token)) {
            put(case, &call, &beside).await?;
            case.connection().wait_for(|m| reports_on(m, &beside), case.patience()).await;
        }
    } else {
        case.notify("notifications/cancelled", json!({ "requestId": id, "reason": "probe" })).await?;
    }
    case.quiet("after cancellation", span + LATER).await;
    // A result may have crossed the cancellation; an error is an answer to it.
    Ok(case.connection().wait_for(done, Duration::ZERO).await.is_none_or(|answer| answer.kind() == Kind::Error))
}

/// Puts a call under a progress token and does not wait for its answer.
async fn put(case: &ProbeContext, call: &Value, token: &Value) -> Result<(i64, Exchange), Abort> {
    let (id, mut call) = (case.next_id(), call.clone());
    call["_meta"] = json!({ "progressToken": token });
    let exchange = case.say(&case.request_text(&json!(id), "tools/call", call)).await?;
    Ok((id, exchange))
}

fn seems_slow(name: &str) -> bool {
    ["slow", "long", "sleep", "delay", "wait"].iter().any(|word| name.to_lowercase().contains(word))
}

/// A call that takes long: hinted, or named as if it did, and then asked to take about a second.
fn slow(case: &ProbeContext) -> Option<(String, Map<String, Value>)> {
    if let Some(ToolCall { tool, arguments }) = case.setting().hints.slow.clone() {
        return Some((tool, arguments));
    }
    let (name, mut arguments) = tools::callable(case).into_iter().find(|(name, _)| seems_slow(name))?;
    let tool = case.survey().tools.iter().find(|t| t.get("name") == Some(&json!(name)))?;
    for (key, schema) in tool.pointer("/inputSchema/properties").and_then(Value::as_object).into_iter().flatten() {
        if let Some(value) = about_a_second(key, schema) {
            arguments.entry(key.clone()).or_insert(value);
        }
    }
    Some((name, arguments))
}

/// A number for an argument that, by its name, says how long or in how many steps.
fn about_a_second(key: &str, schema: &Value) -> Option<Value> {
    let key = key.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| key.contains(word));
    let number = if has(&["ms", "milli"]) {
        1000
    } else if has(&["duration", "second", "delay", "timeout"]) {
        1
    } else if has(&["steps"]) {
        4
    } else {
        return None;
    };
    schema::plain::admits(schema, &json!(number)).then(|| json!(number))
}
