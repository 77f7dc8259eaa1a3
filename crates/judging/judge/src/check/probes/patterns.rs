//! Progress and cancellation.

use std::time::{Duration, Instant};

use net::client::{Exchange, Outgoing};
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use wire::{Era, Kind, Message, RequestId, Transport};

use super::base::harmless;
use super::learnt::{WANTED, larger};
use super::tools;
use crate::check::context::{Abort, ProbeContext, Reply, Setting};
use crate::check::hints::ToolCall;
use crate::check::learnt::LastingCall;
use crate::check::probe::{Probe, Script};
use crate::check::survey::Survey;

/// A call that takes less cannot be cancelled for certain.
const SLOW: Duration = Duration::from_millis(300);

/// How much longer than undisturbed a cancelled call may take to be answered all the same.
const LATER: Duration = Duration::from_millis(400);

/// How many times longer a call may take while the machine is busy.
const BUSY: u32 = 3;

/// Longer than any window.
const LONGEST: Duration = Duration::from_hours(1);

/// What follows a cancellation within this time may have crossed it; a little more than the rules grant.
const CROSSING: Duration = Duration::from_millis(550);

pub(super) const PROGRESS: Probe = Probe::shared("progress", progress).needs("tools");

/// The hinted call, a slow one, or one that was seen to report, with progress tokens of both legal types; then with such as
/// careless programs take for none.
fn progress(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let (hints, learnt) = (&case.setting().hints, &case.setting().learnt);
        let hint = hints.progress.clone().map(|hint| (hint.tool, hint.arguments));
        let slow = || slow(case).filter(|(name, _)| hints.slow.is_some() || seems_slow(name));
        let found = hint.or_else(slow).or_else(|| learnt.reporting());
        let (name, arguments) = found.ok_or(Abort::Lacks("a tool that may report progress"))?;
        let tokens = &case.setting().tokens;
        let call = async |token: Value| tools::call(case, &name, &arguments, json!({ "progressToken": token })).await;
        // At a time: each takes long.
        let (text, number, zero, empty) =
            tokio::join!(call(tokens.text("progress")), call(tokens.number()), call(json!(0)), call(json!("")));
        text.and(number).and(zero).and(empty).map(|_| ())
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
            after_nothing(case).await?;
        }
        case.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" }).to_string()).await?;
        after_nothing(case).await
    })
}

/// Waits a moment, so that an error without an id belongs to what was said before, and asks something.
async fn after_nothing(case: &ProbeContext) -> Result<(), Abort> {
    const MOMENT: Duration = Duration::from_millis(60);
    if case.transport() != Transport::StreamableHttp {
        let unasked = |m: &Message| m.kind() == Kind::Error && m.id().is_none();
        case.connection().wait_for(unasked, MOMENT).await;
    }
    case.request(harmless(case), json!({})).await.map(|_| ())
}

pub(super) const CANCEL: Probe = Probe::fresh("cancel", cancel)
    .long()
    .needs("tools")
    .when_learnt(|setting, survey| seems_to_last(setting, survey) || setting.learnt.lasting().is_some());

/// Whether a tool that may be called looks as if it took long, or could be asked to.
pub(super) fn seems_to_last(setting: &Setting, survey: &Survey) -> bool {
    let lasts = |tool: &Value| named(tool).is_some_and(seems_slow) || says_how_long(tool);
    setting.hints.slow.is_some() || survey.tools.iter().any(|tool| setting.calls.allow(tool) && lasts(tool))
}

/// How often it is tried to cancel a call before it is done, and how many calls are tried out to find a slow one.
const TRIES: usize = 2;
const CANDIDATES: usize = 3;

/// Cancels a slow call, as the transport has it, and listens for an answer that should not come. The same call is made
/// before and left alone: only so is it known how long to listen, and whether it can be seen to work.
fn cancel(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let cancelled = match case.setting().learnt.lasting() {
            Some(lasting) => match cancel_known(case, &lasting).await? {
                (true, _) => true,
                // It took longer when the machine was busy.
                (false, took) => match longer(case, &lasting, took) {
                    Some(longer) => {
                        let (cancelled, _) = cancel_known(case, &longer).await?;
                        case.setting().learnt.lasts(longer);
                        cancelled
                    }
                    None => false,
                },
            },
            None => false,
        };
        if !cancelled {
            cancel_slow(case).await?;
        }
        case.request(harmless(case), json!({})).await?;
        Ok(())
    })
}

/// Cancels a call that is known to last, and leaves the same call alone beside it: rules compare what becomes of the two.
/// Whether it was cancelled in time, and how long the other one took.
async fn cancel_known(case: &ProbeContext, lasting: &LastingCall) -> Result<(bool, Duration), Abort> {
    let slow = Slow::known(lasting);
    let token = case.setting().tokens.text("undisturbed");
    let (over, took) = watch::channel(None);
    let alone = left_alone(case, &slow.call, &token, over);
    let (alone, cancelled) = tokio::join!(alone, cancel_lasting(case, &slow, 1));
    alone?;
    Ok((cancelled?, took.borrow().unwrap_or_default()))
}

/// The same call with more to do, where a number says how much: so much more that it also lasts where the machine was busy
/// this time, and is not the next.
fn longer(case: &ProbeContext, lasting: &LastingCall, took: Duration) -> Option<LastingCall> {
    if case.setting().hints.arguments.contains_key(&lasting.tool) || took >= WANTED {
        return None;
    }
    let tool = case.survey().tools.iter().find(|tool| named(tool) == Some(&lasting.tool))?;
    let arguments = larger(tool.get("inputSchema")?, &lasting.arguments, took / BUSY)?;
    Some(LastingCall { arguments, span: WANTED, ..lasting.clone() })
}

/// A call that takes long.
struct Slow {
    call: Value,
    reports: bool,
    /// How long it takes when it is left alone, as soon as that is known.
    span: watch::Receiver<Option<Duration>>,
}

impl Slow {
    fn known(lasting: &LastingCall) -> Self {
        let call = json!({ "name": lasting.tool, "arguments": lasting.arguments });
        Self { call, reports: lasting.reports, span: watch::channel(Some(lasting.span)).1 }
    }

    async fn span(&self) -> Duration {
        let mut span = self.span.clone();
        span.wait_for(Option::is_some).await.ok().and_then(|span| *span).unwrap_or_default()
    }
}

/// Cancels this call until it is cancelled before it is done; while the first is listened to, three at a time. Whether one
/// was cancelled in time.
async fn cancel_lasting(case: &ProbeContext, slow: &Slow, tries: usize) -> Result<bool, Abort> {
    // By a share of a span that was long for once, the call may be over: one that can be seen to work is.
    // What is left of it must be longer than what may cross the cancellation.
    let patience = if slow.reports { case.patience() } else { slow.span().await / 4 };
    let by_notification = case.transport() != Transport::StreamableHttp || case.era() == Era::Legacy;
    for attempt in 0..tries {
        let Some(cancelled) = cancel_one(case, slow, patience).await? else { continue };
        let three = async {
            // Its answer shows that the cancellation has arrived.
            case.request(harmless(case), json!({})).await?;
            if by_notification && attempt == 0 { beside_cancelled(case, &slow.call, patience).await } else { Ok(()) }
        };
        let (is_conclusive, three) = tokio::join!(cancelled.listen(case, slow), three);
        three?;
        if is_conclusive {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Finds a call that takes long, and cancels it: while the one that is left alone still works, where that is seen to work.
async fn cancel_slow(case: &ProbeContext) -> Result<(), Abort> {
    for called in slow_ones(case).into_iter().take(CANDIDATES) {
        let hinted = case.setting().hints.slow.is_some();
        let longer = if hinted { None } else { lasting(case, &called, Span::Whole) };
        let (tool, arguments) = longer.unwrap_or(called);
        let (over, span) = watch::channel(None);
        let slow = Slow { call: json!({ "name": tool, "arguments": arguments }), reports: true, span };
        let token = case.setting().tokens.text("undisturbed");
        let meanwhile = async {
            match case.connection().wait_for(|m| reports_on(m, &token), SLOW).await {
                Some(_) => cancel_lasting(case, &slow, 1).await,
                None => Ok(false),
            }
        };
        let (undisturbed, is_cancelled) = tokio::join!(left_alone(case, &slow.call, &token, over), meanwhile);
        let (undisturbed, span) = (undisturbed?, slow.span().await);
        let is_cancelled = is_cancelled?;
        if undisturbed.result().is_none() || span < SLOW {
            continue;
        }
        let reports = case.connection().received().iter().any(|m| reports_on(m, &token));
        let lasting = LastingCall { tool, arguments, span, reports };
        if !is_cancelled {
            cancel_lasting(case, &Slow::known(&lasting), TRIES).await?;
        }
        case.setting().learnt.lasts(lasting);
        return Ok(());
    }
    Err(Abort::Lacks("a tool that is slow, and done in time"))
}

/// Makes a call and does nothing to it; says how long it took.
async fn left_alone(
    case: &ProbeContext,
    call: &Value,
    token: &Value,
    over: watch::Sender<Option<Duration>>,
) -> Result<Reply, Abort> {
    let (begun, id, mut call) = (Instant::now(), case.next_id(), call.clone());
    call["_meta"]["progressToken"] = token.clone();
    let text = case.request_text(&json!(id), "tools/call", call);
    // Given as long as any request: a peer that is busy with other cases may need it for a call of a second.
    let answer = case.ask(RequestId::from(id), Outgoing::message(text), case.patience()).await;
    over.send_replace(Some(begun.elapsed()));
    answer
}

/// How long the third of three calls is waited for at least.
const AT_LEAST: Duration = Duration::from_millis(500);

/// Three calls at a time: one, whose id is a text, is cancelled, of another the id is named as a text where it is a number. All but the cancelled
/// one are owed an answer.
async fn beside_cancelled(case: &ProbeContext, call: &Value, patience: Duration) -> Result<(), Abort> {
    let tokens = ["left-alone", "cancelled-of-three", "misnamed"].map(|purpose| case.setting().tokens.text(purpose));
    let put_at = Instant::now();
    let (left_alone, _) = put(case, call, &tokens[0]).await?;
    let cancelled = format!("cancelled-{left_alone}");
    let mut call_by_text = call.clone();
    call_by_text["_meta"]["progressToken"] = tokens[1].clone();
    case.say(&case.request_text(&json!(cancelled), "tools/call", call_by_text)).await?;
    let (misnamed, _) = put(case, call, &tokens[2]).await?;
    let begun = |m: &Message| reports_on(m, &tokens[1]);
    case.connection().wait_for(begun, patience.min(SLOW)).await;
    case.notify("notifications/cancelled", json!({ "requestId": misnamed.to_string(), "reason": "a text" })).await?;
    // A cancellation need not give a reason.
    case.notify("notifications/cancelled", json!({ "requestId": cancelled })).await?;
    from_another_session(case, left_alone).await;
    // Its answer shows that the cancellations have arrived.
    case.request(harmless(case), json!({})).await?;
    let answer = async |id: i64, patience| case.connection().response(&RequestId::from(id), patience).await;
    let left_alone = answer(left_alone, case.patience()).await;
    // A server that works on one call at a time needs twice as long for the last of three.
    let as_long = if left_alone.is_some() { put_at.elapsed() * 3 + AT_LEAST } else { case.short() };
    let misnamed = answer(misnamed, as_long.min(case.patience())).await;
    if left_alone.is_none() || misnamed.is_none() {
        // Only a call that is answered by itself shows that these should have been.
        let (alone, _) = put(case, call, &case.setting().tokens.text("afterwards")).await?;
        answer(alone, case.patience()).await;
    }
    Ok(())
}

/// Cancels a request by its id in a session that has made no such request. A server without sessions could not tell the two
/// apart. Whether the other session comes about is not what this is for.
async fn from_another_session(case: &ProbeContext, id: i64) {
    if case.era() == Era::Modern || case.connection().session_id().is_none() {
        return;
    }
    let cancel = async |other: &ProbeContext| {
        other.handshake().await?;
        let own = other.connection().session_id().filter(|own| Some(own) != case.connection().session_id().as_ref());
        if own.is_some() {
            other.notify("notifications/cancelled", json!({ "requestId": id, "reason": "not its session" })).await?;
        }
        Ok(())
    };
    let _ = case.on_another_connection(cancel).await;
}

/// Whether a message is a progress report under that token.
pub(super) fn reports_on(message: &Message, token: &Value) -> bool {
    message.params().and_then(|params| params.get("progressToken")) == Some(token)
}

/// A call that was cancelled before it was done.
struct CancelledCall {
    id: i64,
    put: Instant,
    cancelled: Instant,
}

/// Puts a call and cancels it once it is seen to work or `patience` is over; nothing where it was done before. Where closing
/// its stream cancels it, and it reports progress, the same call is then made under another token: what is still said of the
/// first could only come on another stream.
async fn cancel_one(case: &ProbeContext, slow: &Slow, patience: Duration) -> Result<Option<CancelledCall>, Abort> {
    let token = case.setting().tokens.text("cancelled");
    let begun = Instant::now();
    let (id, exchange) = put(case, &slow.call, &token).await?;
    let done = |m: &Message| answers(m, id);
    let seen = case.connection().wait_for(|m| reports_on(m, &token) || done(m), patience).await;
    if seen.is_some_and(|message| done(&message)) {
        return Ok(None);
    }
    let cancelled = CancelledCall { id, put: begun, cancelled: Instant::now() };
    if case.era() == Era::Modern && case.transport() == Transport::StreamableHttp {
        exchange.abort();
        // The window opens when the stream is known to be closed.
        exchange.finished(case.short()).await;
        if slow.reports {
            let beside = case.setting().tokens.text("beside");
            put(case, &slow.call, &beside).await?;
            case.connection().wait_for(|m| reports_on(m, &beside), case.patience()).await;
        }
    } else {
        case.notify("notifications/cancelled", json!({ "requestId": id, "reason": "probe" })).await?;
    }
    Ok(Some(cancelled))
}

impl CancelledCall {
    /// Listens for longer than the call would have taken. Whether what came shows how the cancellation was taken: a result
    /// that followed at once may have crossed it.
    async fn listen(&self, case: &ProbeContext, slow: &Slow) -> bool {
        let (over, mut is_over) = watch::channel(false);
        let quiet = async {
            let long_enough = async {
                let end = (self.put + slow.span().await + LATER).max(self.cancelled + CROSSING + LATER);
                tokio::time::sleep_until(end.into()).await;
            };
            case.quiet_during("after cancellation", long_enough).await;
            over.send_replace(true);
        };
        let answer = async {
            tokio::select! {
                biased;
                answer = case.connection().wait_for(|m| answers(m, self.id), LONGEST) => {
                    answer.map(|answer| (answer.kind(), self.cancelled.elapsed()))
                }
                _ = is_over.wait_for(|over| *over) => None,
            }
        };
        let ((), answer) = tokio::join!(quiet, answer);
        answer.is_none_or(|(kind, after)| kind == Kind::Error || after > CROSSING)
    }
}

fn answers(message: &Message, id: i64) -> bool {
    message.kind().is_response() && message.id() == Some(&RequestId::from(id))
}

/// Puts a call under a progress token and does not wait for its answer.
pub(super) async fn put(case: &ProbeContext, call: &Value, token: &Value) -> Result<(i64, Exchange), Abort> {
    let (id, mut call) = (case.next_id(), call.clone());
    call["_meta"]["progressToken"] = token.clone();
    let exchange = case.say(&case.request_text(&json!(id), "tools/call", call)).await?;
    Ok((id, exchange))
}

fn seems_slow(name: &str) -> bool {
    ["slow", "long", "sleep", "delay", "wait"].iter().any(|word| name.to_lowercase().contains(word))
}

/// A tool and the arguments to call it with.
pub(super) type Called = (String, Map<String, Value>);

/// A call that takes long: the likeliest.
pub(super) fn slow(case: &ProbeContext) -> Option<Called> {
    slow_ones(case).into_iter().next()
}

/// Calls that may take long, the likeliest first: hinted; seen to; of tools named as if they did; of tools whose arguments say how long
/// they take, asked for half a second.
fn slow_ones(case: &ProbeContext) -> Vec<Called> {
    if let Some(ToolCall { tool, arguments }) = case.setting().hints.slow.clone() {
        return vec![(tool, arguments)];
    }
    let known = case.setting().learnt.lasting().map(|lasting| (lasting.tool, lasting.arguments));
    let (by_name, others): (Vec<_>, Vec<_>) = tools::callable(case).into_iter().partition(|(name, _)| seems_slow(name));
    known
        .into_iter()
        .chain(by_name)
        .chain(others.into_iter().filter(|called| lasting(case, called, Span::Half).is_some()))
        .collect()
}

fn named(tool: &Value) -> Option<&str> {
    tool.get("name").and_then(Value::as_str)
}

fn properties(tool: &Value) -> impl Iterator<Item = (&String, &Value)> {
    tool.pointer("/inputSchema/properties").and_then(Value::as_object).into_iter().flatten()
}

/// Whether a tool has an argument that, by its name, says how long it takes.
fn says_how_long(tool: &Value) -> bool {
    properties(tool).any(|(key, schema)| seconds(Span::Half, key, schema, false).is_some())
}

/// How long a call is asked to take.
#[derive(Clone, Copy)]
pub(super) enum Span {
    /// Half a second: long enough to be listened to.
    Half,
    /// A second: long enough to be cancelled.
    Whole,
}

/// The call asked to take so long, where its arguments can say so.
pub(super) fn lasting(case: &ProbeContext, (name, arguments): &Called, span: Span) -> Option<Called> {
    let tool = case.survey().tools.iter().find(|tool| named(tool) == Some(name)).filter(|tool| says_how_long(tool))?;
    if case.setting().hints.arguments.contains_key(name) {
        return Some((name.clone(), arguments.clone()));
    }
    let in_steps = properties(tool).find_map(|(key, schema)| Some((key, steps(key, schema)?)));
    let mut arguments = arguments.clone();
    for (key, schema) in properties(tool) {
        if let Some(value) = seconds(span, key, schema, in_steps.is_some()) {
            arguments.insert(key.clone(), value);
        }
    }
    arguments.extend(in_steps.map(|(key, value)| (key.clone(), value)));
    Some((name.clone(), arguments))
}

/// The words of a key, in lower case: `delayMs` and `delay_ms` have two.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for c in key.chars() {
        if !c.is_alphanumeric() || (lower && c.is_uppercase()) {
            words.push(String::new());
        }
        lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words
}

/// Four steps, for an argument that, by its name, says in how many.
fn steps(key: &str, schema: &Value) -> Option<Value> {
    let steps = words(key).iter().any(|word| ["steps", "count", "iterations"].contains(&word.as_str()));
    Some(json!(4)).filter(|four| steps && schema::plain::admits(schema, four))
}

/// A number for an argument that, by its name, says how long: `span`, or a whole second where only that is admitted; less
/// where each of several steps waits as long.
fn seconds(span: Span, key: &str, schema: &Value, in_steps: bool) -> Option<Value> {
    let words = words(key);
    let has = |any: &[&str]| words.iter().any(|word| any.contains(&word.as_str()));
    let each = in_steps && has(&["delay", "interval", "pause", "wait"]);
    let millis = has(&["ms", "msec", "millis", "milliseconds"]);
    if !millis && !has(&["duration", "second", "seconds", "sec", "secs", "delay", "interval", "pause", "sleep", "wait"])
    {
        return None;
    }
    let numbers: &[Value] = match (span, millis, each) {
        (Span::Half, true, true) => &[json!(125)],
        (Span::Whole, true, true) => &[json!(250)],
        (Span::Half, true, false) => &[json!(500), json!(1000)],
        (Span::Whole, true, false) => &[json!(1000)],
        (Span::Half, false, true) => &[json!(0.125)],
        (Span::Whole, false, true) => &[json!(0.25)],
        (Span::Half, false, false) => &[json!(0.5), json!(1)],
        (Span::Whole, false, false) => &[json!(1)],
    };
    numbers.iter().find(|number| schema::plain::admits(schema, number)).cloned()
}
