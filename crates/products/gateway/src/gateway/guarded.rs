//! A call of a tool that its client may make: denied after some other calls, and made only when the user agrees where that is
//! needed. All other requests pass.

use std::sync::Arc;
use std::time::{Duration, Instant};

use net::service::{Answer, Call, NoAnswer, RpcError};
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use wire::message::{Packet, parse, parse_owned};
use wire::translate::{input_request_params, result};
use wire::{Era, Revision};

use super::{Inner, identity};
use crate::access::{Kind, Target};
use crate::audit::Trail;
use crate::budget::chain_of;
use crate::failure::{self, Failure};
use crate::guards::confirmations::{Confirmations, Confirmed, Invalid};
use crate::guards::sequences::{Caller, Stopped};
use crate::guards::{Confirm, Guards, question};
use crate::parked::ParkedRequests;
use crate::relay::{Edits, with_params};
use crate::result_kind::ResultKind;
use crate::upstream::{Client, Upstream};

/// The key of our question among the input requests.
const KEY: &str = "confirm";

/// What becomes of a call that the user may have to agree to.
enum Agreed {
    /// It goes on. With what was confirmed, later rounds of it go on, too.
    Yes(Box<Call>, Option<Confirmed>),
    /// This is the answer.
    No(Answer),
}

impl Inner {
    /// Answers a request, unless rules stand between it and its server.
    pub(super) async fn guarded(
        self: Arc<Self>,
        upstream: Arc<Upstream>,
        (client, trail): (Client, &Trail),
        call: Call,
        edits: Edits,
    ) -> Answer {
        let guards = self.shaping.guards().filter(|_| call.message.method() == Some("tools/call"));
        // A request with a member twice is refused by what would carry it.
        let twice = || call.message.repeated_parameter().is_some();
        let Some(guards) = guards.filter(|_| !twice()).cloned() else {
            return self.answered(upstream, (client, trail), call, edits).await;
        };
        let name = call.message.string_member("name").unwrap_or_default().into_owned();
        let caller = match caller(&guards, &client, &call) {
            Ok(caller) => caller,
            Err(error) => return Answer::error(Some(call.id()), &error),
        };
        let sequences = &self.guard_state.sequences;
        if let Err(stopped) = sequences.look(&guards.sequences, (&name, &caller), Instant::now()) {
            return stop(trail, &call, &name, &stopped);
        }
        let (call, confirmed) = match &guards.confirm {
            Some(confirm) if self.needs_confirmation(confirm, &name, &call, &client).await => {
                match self.confirm(confirm, &upstream, (&client, trail), call).await {
                    Agreed::Yes(call, confirmed) => (*call, confirmed),
                    Agreed::No(answer) => return answer,
                }
            }
            _ => (call, None),
        };
        // Other calls may have been made while the user was asked.
        if let Err(stopped) = sequences.enter(&guards.sequences, (&name, &caller), Instant::now()) {
            return stop(trail, &call, &name, &stopped);
        }
        let Some(confirmed) = confirmed else {
            return self.answered(upstream, (client, trail), call, edits).await;
        };
        let (inner, principal, era) = (Arc::clone(&self), client.subject.clone(), call.context.era());
        let mut edits = edits;
        // What the client answered to our question is not for the server, which did not ask.
        if !["inputResponses", "requestState"].iter().any(|name| call.message.body_member(name).is_some()) {
            edits.text = edits.text.map(|text| with_params(&text, &["inputResponses", "requestState"], &[]));
        }
        let answer = self.answered(upstream, (client, trail), call, edits).await;
        if let Some(NextRound { state }) = next_round(&answer, era) {
            let until = (inner.limits.answer, Instant::now());
            let state = state.as_deref();
            inner.guard_state.confirmations.goes_on(confirmed, state, principal.as_ref(), until);
        }
        answer
    }

    async fn needs_confirmation(self: &Arc<Self>, confirm: &Confirm, name: &str, call: &Call, client: &Client) -> bool {
        let none = Value::Object(Map::new());
        let arguments = call.message.params().and_then(|params| params.get("arguments")).unwrap_or(&none);
        let tools = self.known_tools(client).await;
        let annotations = tools.item(name).and_then(|item| item.get("annotations"));
        // The rules deny: one that fits needs an answer, and so does one that cannot be decided.
        let (_, decider) = confirm.rules.decide(&Target {
            kind: Kind::Tool,
            name,
            annotations,
            arguments: Some(arguments),
            grant: client.grant.as_deref(),
            client: client.info(),
            server: self.view.name(),
        });
        matches!(decider, crate::access::Decider::Rule(_))
    }

    /// Lets a call go on that the user agrees to.
    async fn confirm(
        &self,
        confirm: &Confirm,
        upstream: &Upstream,
        (client, trail): (&Client, &Trail),
        call: Call,
    ) -> Agreed {
        if call.context.era() == Era::Legacy {
            let refused = self.ask_at_once(confirm, upstream, client, &call).await;
            trail.stage("confirmation", refused.map_or("accepted", verdict_of));
            return match refused {
                None => Agreed::Yes(Box::new(call), None),
                Some(failure) => Agreed::No(refused_call(&call, &failure)),
            };
        }
        let what = Confirmed::of(&call.message, client.subject.as_ref(), self.view.name(), &upstream.name);
        let state = call.message.string_member("requestState").map(std::borrow::Cow::into_owned);
        let waiting = &self.guard_state.confirmations;
        match state.as_deref() {
            Some(state) if Confirmations::is_ours(state) => match waiting.answer(state, what, Instant::now()) {
                Ok(()) => {}
                Err(invalid) => {
                    trail.stage("confirmation", "refused");
                    let is_foreign = invalid == Invalid::OtherCall;
                    let failure =
                        if is_foreign { &failure::CONFIRMATION_FOREIGN } else { &failure::CONFIRMATION_EXPIRED };
                    return Agreed::No(refused_call(&call, failure));
                }
            },
            // What waits at a server was confirmed when it was sent, and goes on with the same parameters only.
            Some(state) if ParkedRequests::is_ours(state) => return Agreed::Yes(Box::new(call), None),
            state => {
                let has_responses = call.message.body_member("inputResponses").is_some() || state.is_some();
                if has_responses && waiting.is_next(what, state, Instant::now()) {
                    trail.stage("confirmation", "accepted before");
                    return Agreed::Yes(Box::new(call), Some(what));
                }
                return Agreed::No(self.ask_in_a_round(confirm, upstream, (client, trail), (&call, what)));
            }
        }
        let responses = call.message.params().and_then(|params| params.get("inputResponses"));
        let action = responses.and_then(|all| all.get(KEY)?.get("action")?.as_str());
        match action {
            Some("accept") => {
                trail.stage("confirmation", "accepted");
                match without_answer(call) {
                    Ok(call) => Agreed::Yes(Box::new(call), Some(what)),
                    Err(answer) => Agreed::No(answer),
                }
            }
            Some("decline" | "cancel") => {
                trail.stage("confirmation", "declined");
                Agreed::No(refused_call(&call, &failure::CONFIRMATION_DECLINED))
            }
            // What cannot be an answer counts as missing: it is asked for again.
            _ => Agreed::No(self.ask_in_a_round(confirm, upstream, (client, trail), (&call, what))),
        }
    }

    /// Asks a legacy client; the reason where the user does not agree.
    async fn ask_at_once(
        &self,
        confirm: &Confirm,
        upstream: &Upstream,
        client: &Client,
        call: &Call,
    ) -> Option<Failure> {
        if !may_be_asked(client) {
            return Some(failure::CONFIRMATION_IMPOSSIBLE);
        }
        let params = asked(call, upstream, client.revision);
        match timeout(confirm.settings.wait, call.link.request("elicitation/create", params)).await {
            Err(_) => Some(failure::CONFIRMATION_EXPIRED),
            Ok(Err(NoAnswer::NotAllowed | NoAnswer::Gone)) => Some(failure::CONFIRMATION_IMPOSSIBLE),
            Ok(Ok(answer)) => match answer.result().and_then(|result| result.get("action")?.as_str()) {
                Some("accept") => None,
                _ => Some(failure::CONFIRMATION_DECLINED),
            },
        }
    }

    /// Asks a modern client, whose next request brings the answer.
    fn ask_in_a_round(
        &self,
        confirm: &Confirm,
        upstream: &Upstream,
        (client, trail): (&Client, &Trail),
        (call, what): (&Call, Confirmed),
    ) -> Answer {
        if !may_be_asked(client) {
            trail.stage("confirmation", "impossible");
            return refused_call(call, &failure::CONFIRMATION_IMPOSSIBLE);
        }
        let until = (confirm.settings.wait, Instant::now());
        let Some(state) = self.guard_state.confirmations.ask(what, client.subject.as_ref(), until) else {
            trail.stage("confirmation", "refused");
            return refused_call(call, &failure::TOO_MANY_WAIT);
        };
        trail.stage("confirmation", "asked");
        let params = asked(call, upstream, client.revision);
        let request = json!({ "method": "elicitation/create", "params": params });
        let body = json!({ "resultType": "input_required", "inputRequests": { KEY: request }, "requestState": state });
        Answer::result(call.id(), &result("tools/call", &body, client.revision, &identity()))
    }
}

/// The parameters of the question about a call.
fn asked(call: &Call, upstream: &Upstream, revision: Revision) -> Value {
    let name = call.message.string_member("name").unwrap_or_default();
    let arguments = call.message.params().and_then(|params| params.get("arguments"));
    let params = question(&name, &upstream.name, arguments);
    input_request_params("elicitation/create", &params, revision, KEY)
}

/// Whether the client declared that it shows forms to its user.
fn may_be_asked(client: &Client) -> bool {
    let declared = client.capabilities().get("elicitation").filter(|declared| declared.is_object());
    let shows_forms = |declared: &Value| declared.get("form").is_some() || declared.get("url").is_none();
    client.revision.at_least(Revision::R2025_06_18) && declared.is_some_and(shows_forms)
}

const fn verdict_of(failure: Failure) -> &'static str {
    match failure.name.as_bytes() {
        b"confirmation-impossible" => "impossible",
        b"confirmation-declined" => "declined",
        _ => "expired",
    }
}

/// Whose call it is, as far as rules want to know.
fn caller(guards: &Guards, client: &Client, call: &Call) -> Result<Caller, RpcError> {
    if guards.sequences.is_empty() {
        return Ok(Caller::default());
    }
    let (principal, session) = (client.subject.clone(), client.session.clone());
    Ok(Caller { principal, session, chain: chain_of(call)? })
}

fn refused_call(call: &Call, failure: &Failure) -> Answer {
    let mut data = json!({});
    if failure.name == failure::CONFIRMATION_IMPOSSIBLE.name {
        data = json!({ "requiredCapabilities": { "elicitation": {} } });
    }
    Answer::error(Some(call.id()), &failure.error_with(format!("The call is not run: {}", failure.when), data))
}

fn stop(trail: &Trail, call: &Call, tool: &str, stopped: &Stopped) -> Answer {
    trail.stage("sequence", "denied");
    let tool = wire::escape::line(tool).into_owned();
    let error = match stopped {
        Stopped::Denied { left } => {
            let left = left.max(&Duration::from_millis(1)).as_millis() as u64;
            let what = format!("The tool `{tool}` must not be called after a tool that was called before");
            failure::SEQUENCE_DENIED.error_with(what, json!({ "retry_after_ms": left }))
        }
        Stopped::Full => failure::SEQUENCE_FULL.error("No more calls can be remembered; this one is not made"),
    };
    Answer::error(Some(call.id()), &error)
}

/// The call without the answer to our question.
pub(super) fn without_answer(call: Call) -> Result<Call, Answer> {
    let text = with_params(call.message.text(), &["inputResponses", "requestState"], &[]);
    match parse_owned(text.into_bytes()) {
        Ok(Packet::Message(message)) => Ok(Call { message, ..call }),
        _ => Err(Answer::error(Some(call.id()), &failure::GATEWAY_FAILED.error("The call could not be read again"))),
    }
}

/// What the next round of a call must bring.
struct NextRound {
    state: Option<String>,
}

/// The next round, where the answer asks for one.
fn next_round(answer: &Answer, era: Era) -> Option<NextRound> {
    let Ok(Packet::Message(message)) = parse(answer.text()) else { return None };
    let state = || message.string_member("requestState").map(std::borrow::Cow::into_owned);
    (ResultKind::of(&message, era) == ResultKind::Question).then(|| NextRound { state: state() })
}
