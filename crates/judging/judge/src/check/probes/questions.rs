//! What a server asks of its client, answered in every manner there is: well, wrongly, not at all, too late, by somebody
//! else; by clients that can do much and by clients that can do little.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use wire::error_code::URL_ELICITATION_REQUIRED;
use wire::meta::CLIENT_CAPABILITIES;
use wire::{Era, Kind, Message, RequestId, Revision, Transport};

use super::base::{harmless, survived};
use super::http::streams;
use super::{rounds, tools};
use crate::check::answers::{self, Manner};
use crate::check::context::{Abort, ProbeContext, Setting, client_info, modest_capabilities};
use crate::check::learnt::variants;
use crate::check::probe::{Probe, Script};
use crate::check::survey::Survey;

/// How many calls are tried out to find those that ask, and how many that do are played.
const CANDIDATES: usize = 12;
const ASKING: usize = 8;

/// How many calls are tried out that nothing but their schema speaks for.
const UNLIKELY: usize = 6;

type Call = (String, Map<String, Value>);

/// What a server may ask a client for.
const METHODS: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];

fn is_question(message: &Message) -> bool {
    message.kind() == Kind::Request && message.method().is_some_and(|method| METHODS.contains(&method))
}

fn asked_for_roots(case: &ProbeContext) -> usize {
    case.connection().received().iter().filter(|m| is_question(m) && m.method() == Some("roots/list")).count()
}

/// How many questions of a connection belong to calls: many servers ask for the roots once, whatever is called meanwhile.
pub(super) fn questions(case: &ProbeContext) -> usize {
    let all = case.connection().received().iter().filter(|message| is_question(message)).count();
    all - asked_for_roots(case).min(1)
}

fn seems_to_ask(name: &str) -> bool {
    ["ask", "elicit", "sampl", "root", "confirm", "visit"].iter().any(|word| name.to_lowercase().contains(word))
}

/// Calls that may ask something: the hinted ones, those that were seen to, those that are named so, then the others.
pub(super) fn candidates(case: &ProbeContext) -> Vec<Call> {
    let asks = |(name, _): &Call| case.setting().learnt.asks(name);
    let (seen, unseen): (Vec<_>, Vec<_>) = tools::callable(case).into_iter().partition(asks);
    let (named, others): (Vec<_>, Vec<_>) = unseen.into_iter().partition(|(name, _)| seems_to_ask(name));
    let mut all: Vec<Call> = Vec::new();
    for call in tools::asking(case).chain(seen).chain(named).chain(others.into_iter().take(UNLIKELY)) {
        if !all.iter().any(|(name, _)| *name == call.0) {
            all.push(call);
        }
    }
    all.truncate(CANDIDATES);
    all
}

fn params((name, arguments): &Call) -> Value {
    json!({ "name": name, "arguments": arguments })
}

/// Whether a call asks something, found out by making it.
async fn asks(case: &ProbeContext, call: &Call) -> Result<bool, Abort> {
    if case.era() == Era::Modern {
        return Ok(rounds::ask(case, &params(call)).await?.is_some());
    }
    let before = (asked_for_roots(case), questions(case));
    let reply = case.request("tools/call", params(call)).await?;
    let sends_away = reply.0.is_some_and(|message| message.error_code() == Some(URL_ELICITATION_REQUIRED));
    if before.0 == 0 && asked_for_roots(case) == 1 && questions(case) == before.1 {
        case.request("tools/call", params(call)).await?;
    }
    Ok(sends_away || questions(case) > before.1)
}

/// Waits until the roots were asked for more than `before` times. Looks only: the reader that takes the question answers it.
async fn until_asked_for_roots(case: &ProbeContext, before: usize) {
    const LOOK: Duration = Duration::from_millis(10);
    const LEAST: Duration = Duration::from_millis(100);
    let (begun, patience) = (Instant::now(), if before == 0 { LEAST } else { case.glance(LEAST, case.short()) });
    while asked_for_roots(case) <= before && begun.elapsed() < patience {
        tokio::time::sleep(LOOK).await;
    }
}

pub(super) const ROOTS_CHANGED: Probe = Probe::shared("roots-changed", roots_changed).era(Era::Legacy);

/// Says that the roots have changed; whoever asks for them then finds none, is refused, and finds them again.
fn roots_changed(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        for manner in [Manner::Wrong, Manner::Unable, Manner::Usual] {
            case.answer(manner);
            let before = asked_for_roots(case);
            case.notify("notifications/roots/list_changed", json!({})).await?;
            until_asked_for_roots(case, before).await;
            case.request(harmless(case), json!({})).await?;
        }
        Ok(())
    })
}

fn is_hinted(setting: &Setting) -> bool {
    let hints = &setting.hints;
    [&hints.sampling, &hints.elicitation, &hints.roots].into_iter().any(Option::is_some)
}

/// Whether a call that asks is known.
fn anything_asks(setting: &Setting, _: &Survey) -> bool {
    is_hinted(setting) || setting.learnt.anything_asks()
}

/// Whether there is any call to try.
fn worth(setting: &Setting, survey: &Survey) -> bool {
    is_hinted(setting) || survey.tools.iter().any(|tool| setting.calls.allow(tool))
}

/// How each call that asks is answered, one after the other.
const UNLIKE: [Manner; 7] =
    [Manner::Willing, Manner::Willing, Manner::Wrong, Manner::Lacking, Manner::Beyond, Manner::Usual, Manner::Unable];

pub(super) const ANSWERS: Probe =
    Probe::fresh("answers", answers_in_turn).needs("tools").when(worth).when_learnt(anything_asks);

/// Each call that asks is answered as it wants, twice, and then in ways that a server must put up with.
fn answers_in_turn(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        case.answer(Manner::Willing);
        streams::listen(case).await?;
        let mut asking = Vec::new();
        for call in candidates(case) {
            if asking.len() < ASKING && asks(case, &call).await? {
                asking.push(call);
            }
        }
        let mut given = None;
        for call in &asking {
            for manner in UNLIKE {
                case.answer(manner);
                tools::call(case, &call.0, &call.1, json!({})).await?;
            }
            case.answer(Manner::Willing);
            if case.era() == Era::Modern {
                given = states(case, call, given).await?;
            }
        }
        case.request(harmless(case), json!({})).await?;
        if asking.is_empty() {
            return Err(Abort::Lacks("a tool that asks something"));
        }
        // Long enough for whoever takes back what was answered.
        case.quiet("after the answers", Duration::from_millis(600)).await;
        case.request(harmless(case), json!({})).await?;
        Ok(())
    })
}

/// Comes back with a state that is changed in its middle, or in its last part alone, with that of another call, with none, and not at all. Gives the state of this call.
async fn states(case: &ProbeContext, call: &Call, other: Option<Value>) -> Result<Option<Value>, Abort> {
    let mut own = None;
    for which in [Some("changed"), Some("changed at its end"), Some("other"), None] {
        let Some(asked) = rounds::ask(case, &params(call)).await? else { return Ok(None) };
        own = asked.get("requestState").cloned();
        let Some(state) = own.as_ref().and_then(Value::as_str) else { return Ok(None) };
        let state = match which {
            Some("changed") => Some(json!(changed(state))),
            Some("changed at its end") => changed_at_its_end(state).map(Value::String),
            Some(_) => other.clone(),
            None => None,
        };
        if which.is_some() && state.is_none() {
            continue;
        }
        let mut retry = params(call);
        retry["inputResponses"] = Value::Object(answers::inputs(&asked, Manner::Willing));
        if let Some(state) = state {
            retry["requestState"] = state;
        }
        case.request("tools/call", retry).await?;
    }
    with_other_arguments(case, call).await?;
    rounds::ask(case, &params(call)).await?;
    Ok(own)
}

/// Comes back, on a call of the same tool with other arguments that make it ask, too, with its own state, with none, and with
/// that of the first call.
async fn with_other_arguments(case: &ProbeContext, call: &Call) -> Result<(), Abort> {
    let tool = case.survey().tools.iter().find(|tool| tool.get("name") == Some(&json!(call.0)));
    let Some(schema) = tool.and_then(|tool| tool.get("inputSchema")) else { return Ok(()) };
    let made = variants(schema, &case.setting().learnt.values(), &case.setting().rng(&call.0));
    for arguments in made.into_iter().filter(|arguments| *arguments != call.1).take(UNLIKELY) {
        let other = (call.0.clone(), arguments);
        let Some(own) = rounds::ask(case, &params(&other)).await? else { continue };
        let Some(first) = rounds::ask(case, &params(call)).await? else { break };
        let state = |asked: &Value| asked.get("requestState").cloned();
        for state in [state(&own), None, state(&first)] {
            let mut retry = params(&other);
            retry["inputResponses"] = Value::Object(answers::inputs(&own, Manner::Willing));
            if let Some(state) = state {
                retry["requestState"] = state;
            }
            case.request("tools/call", retry).await?;
        }
        break;
    }
    Ok(())
}

/// A state with one letter or digit in its middle changed for another: where it is Base64, it stays that.
fn changed(state: &str) -> String {
    let places: Vec<usize> =
        state.char_indices().filter(|(_, c)| c.is_ascii_alphanumeric()).map(|(at, _)| at).collect();
    let Some(&at) = places.get(places.len() / 2) else { return format!("{state}0") };
    let better = match state.as_bytes()[at] {
        b'0'..=b'8' | b'a'..=b'y' | b'A'..=b'Y' => char::from(state.as_bytes()[at] + 1),
        b'9' => '0',
        b'z' => 'a',
        _ => 'A',
    };
    format!("{}{better}{}", &state[..at], &state[at + 1..])
}

pub(super) const WITHHELD: Probe =
    Probe::fresh("answer-withheld", withheld).era(Era::Legacy).needs("tools").when(worth).when_learnt(anything_asks);

/// A call that asks is taken back while the answer is owed, which then comes all the same; before, another client of the
/// same server tries to answer in our place.
fn withheld(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        // What a server takes back belongs to no request any more, and comes on its own stream.
        streams::listen(case).await?;
        let call = first_asking(case).await?.ok_or(Abort::Lacks("a tool that asks something"))?;
        case.answer(Manner::Silent);
        let id = case.next_id();
        case.say(&case.request_text(&json!(id), "tools/call", params(&call))).await?;
        let over = |message: &Message| message.kind().is_response() && message.id() == Some(&RequestId::from(id));
        let next = case.connection().wait_for(|m| is_question(m) || over(m), case.tool_patience()).await;
        let question = next.filter(is_question).ok_or(Abort::Lacks("a tool that asks something each time"))?;
        let answer = answers::answer(&question, Manner::Willing);
        let apart = case.transport() != Transport::Stdio && case.revision().at_least(Revision::R2025_11_25);
        if apart && question.method() != Some("roots/list") {
            let by_another = case.on_another_connection(async |other| answer_for(other, &answer).await).await;
            survived(by_another)?;
            case.quiet("after somebody else's answer", Duration::from_millis(400)).await;
        }
        case.notify("notifications/cancelled", json!({ "requestId": id, "reason": "probe" })).await?;
        case.quiet("after taking a call back", Duration::from_millis(700)).await;
        let _ = case.connection().wait_for(over, Duration::ZERO).await;
        case.say(&answer).await?;
        case.answer(Manner::Usual);
        case.request(harmless(case), json!({})).await?;
        Ok(())
    })
}

/// The first call that asks something: best one that puts it to the user.
async fn first_asking(case: &ProbeContext) -> Result<Option<Call>, Abort> {
    let hint = case.setting().hints.elicitation.as_ref().filter(|_| case.revision().at_least(Revision::R2025_06_18));
    let hinted = hint.map(|hint| (hint.tool.clone(), hint.arguments.clone()));
    for call in hinted.into_iter().chain(candidates(case)) {
        if asks(case, &call).await? {
            return Ok(Some(call));
        }
    }
    Ok(None)
}

/// Greets, and says what another client was asked for.
async fn answer_for(other: &ProbeContext, answer: &str) -> Result<(), Abort> {
    other.handshake().await?;
    other.say(answer).await?;
    other.request(harmless(other), json!({})).await?;
    Ok(())
}

pub(super) const MODEST: Probe = Probe::bare("client-of-few-modes", modest)
    .since(Revision::R2025_11_25)
    .era(Era::Legacy)
    .needs("tools")
    .when(worth)
    .when_learnt(anything_asks);

/// A client that declares elicitation and sampling without any of their parts, then one that can only visit addresses.
fn modest(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        calls_of_a_client(case, modest_capabilities()).await?;
        let visitor = json!({ "elicitation": { "url": {} } });
        case.on_another_connection(async |other| calls_of_a_client(other, visitor).await).await
    })
}

async fn calls_of_a_client(case: &ProbeContext, capabilities: Value) -> Result<(), Abort> {
    let version = case.revision().as_str();
    let greeting = json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client_info() });
    case.request("initialize", greeting).await?;
    case.notify("notifications/initialized", json!({})).await?;
    streams::listen(case).await?;
    for call in candidates(case) {
        case.request("tools/call", params(&call)).await?;
    }
    Ok(())
}

pub(super) const MODEST_BY_REQUEST: Probe =
    Probe::shared("calls-of-few-modes", modest_by_request).era(Era::Modern).needs("tools");

/// The same, where each request declares anew.
fn modest_by_request(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        for capabilities in [modest_capabilities(), json!({ "elicitation": { "url": {} } })] {
            for call in candidates(case) {
                let mut params = params(&call);
                params["_meta"] = json!({ CLIENT_CAPABILITIES: capabilities });
                case.request("tools/call", params).await?;
            }
        }
        Ok(())
    })
}

/// A state of several parts with its last part changed, as [`changed`] does: where it is signed, that is the signature.
fn changed_at_its_end(state: &str) -> Option<String> {
    let at = state.rfind(['.', ':', '|', '~'])?;
    let (before, last) = state.split_at(at + 1);
    (!last.is_empty()).then(|| format!("{before}{}", changed(last)))
}

#[cfg(test)]
mod tests {
    use super::{changed, changed_at_its_end};

    #[test]
    fn a_changed_state_is_another_of_the_same_make() {
        for state in ["c3RhdGU0", "42", "z", "{\"step\":9}", "ü-ü", ""] {
            let other = changed(state);
            assert_ne!(other, state);
            assert!(other.chars().count() <= state.chars().count().max(1) + 1, "{other}");
        }
    }

    #[test]
    fn the_last_part_of_a_state_is_changed_alone() {
        assert_eq!(changed_at_its_end("eyJzIjo5fQ.c2ln").as_deref(), Some("eyJzIjo5fQ.c2mn"));
        assert_eq!(changed_at_its_end("a:b|ccc").as_deref(), Some("a:b|cdc"));
        assert_eq!(changed_at_its_end("c3RhdGU0"), None);
        assert_eq!(changed_at_its_end("c3RhdGU0."), None);
    }
}
