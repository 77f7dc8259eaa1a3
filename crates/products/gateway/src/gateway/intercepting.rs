//! A call on its way through the interceptors that see it: to its upstream in their order, and back in the other. What they
//! change of the arguments is decided on again; what they do not change stays byte for byte.

use std::sync::Arc;
use std::time::{Duration, Instant};

use net::server::http::{HeaderName, HeaderValue};
use net::service::{Answer, Call, RpcError};
use serde_json::{Value, json};
use wire::json::duplicate_name;
use wire::message::{Packet, parse, parse_owned};
use wire::splice::{Splice, member, members, members_at};
use wire::translate::result;
use wire::{Era, Kind, Message, RequestId};

use super::{Inner, identity};
use crate::access::Action;
use crate::answers::idempotency::key_of;
use crate::audit::Trail;
use crate::failure::{self, Failure};
use crate::interceptors::{Change, Fault, Intercepted, Interceptor, Interceptors, Phase, Verdict};
use crate::relay::header_fault;
use crate::result_kind::ResultKind;
use crate::upstream::Client;

/// The methods whose requests may be seen.
const METHODS: [&str; 3] = ["tools/call", "resources/read", "prompts/get"];

/// The interceptors that see a request, with its method and name. A request with a duplicate member, which two readers may read
/// differently, is refused where it would be carried.
fn seen_by(interceptors: &Interceptors, call: &Call) -> Option<(&'static str, String, Vec<Arc<Interceptor>>)> {
    let asked = call.message.method()?;
    let method = METHODS.into_iter().find(|method| *method == asked)?;
    let name = call.message.string_member(if method == "resources/read" { "uri" } else { "name" });
    let name = name.unwrap_or_default().into_owned();
    let seen = interceptors.of(method, &name);
    let is_seen = !seen.is_empty() && call.message.repeated_parameter().is_none();
    is_seen.then_some((method, name, seen))
}

/// Changes the request; what is answered where that is not possible.
fn modify(
    call: &mut Call,
    changed: &mut Intercepted,
    (change, headers): (&Change, Vec<(String, String)>),
) -> Option<Answer> {
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            changed.headers.retain(|(known, _)| *known != name);
            changed.headers.push((name, value));
        }
    }
    if change.is_empty() {
        return None;
    }
    let Some(message) = with_arguments(call.message.text(), change).and_then(message) else {
        let what = "Invalid params: `arguments` is not an object that an interceptor could change";
        return Some(refused(call, &failure::PARAMS_INVALID, what));
    };
    call.message = message;
    changed.rewritten = true;
    None
}

/// One request on its way.
struct Interception<'t> {
    inner: Arc<Inner>,
    client: Client,
    trail: &'t Trail,
    method: &'static str,
    name: String,
    upstream: String,
    arrived: Instant,
    /// The number of the request.
    request: u64,
    id: RequestId,
    interceptors: Arc<Interceptors>,
}

/// What the way to the server led to.
struct Before {
    /// The request for the server, or what is answered without it.
    call: Result<Call, Answer>,
    changed: Intercepted,
    /// Those who see what came of it, in the order of the way there.
    after: Vec<Arc<Interceptor>>,
}

impl Inner {
    /// Answers a request by way of the interceptors that see it.
    pub(super) async fn intercepted(self: Arc<Self>, mut call: Call, mut client: Client, trail: &Trail) -> Answer {
        let found = self.interceptors.as_ref().and_then(|all| Some((Arc::clone(all), seen_by(all, &call)?)));
        let Some((interceptors, (method, name, seen))) = found else {
            return Box::pin(self.route(call, client, trail)).await;
        };
        let (id, arrived) = (call.id().clone(), Instant::now());
        // Interceptors are others, too: they see no more of the arguments than the server.
        if let Some(inputs) = self.shaping.inputs() {
            call = match self.minimised(inputs, call, &mut client, trail).await {
                Ok(call) => call,
                Err(error) => return Answer::error(Some(&id), &error),
            };
        }
        // What the client may not use is refused, and no interceptor hears of it.
        let upstream = match self.upstream_of(&call, (method, &name), (&client, trail)).await {
            Ok(upstream) => upstream,
            Err(error) => return Answer::error(Some(&id), &error),
        };
        let request = trail.request().unwrap_or_else(|| self.stats.number());
        let inner = self;
        let interception =
            Interception { inner, client, trail, method, name, upstream, arrived, request, id, interceptors };
        let asks_for_task = call.message.body_member("task").is_some();
        if asks_for_task && seen.iter().any(|one| one.settings.after) {
            let what = "The result of this call has to be seen by an interceptor: it cannot be a task";
            return Answer::error(Some(&interception.id), &failure::TASK_UNSEEN.error(what));
        }
        let before = interception.before(call, seen).await;
        interception.after(before).await
    }

    /// The upstream that the request goes to, where the client may use what it asks for and its headers agree with it.
    async fn upstream_of(
        self: &Arc<Self>,
        call: &Call,
        (method, name): (&str, &str),
        (client, trail): (&Client, &Trail),
    ) -> Result<String, RpcError> {
        let none = json!({});
        let arguments = call.message.params().and_then(|params| params.get("arguments")).unwrap_or(&none);
        let (upstream, there) = match (self.upstream_alone(), method) {
            (Some(upstream), _) => (Arc::clone(upstream), name.to_owned()),
            (None, "resources/read") => {
                let (upstream, route) =
                    self.find_resource(Action::ResourcesRead, Some(name.to_owned()), (client, trail)).await?;
                (upstream, route.name)
            }
            (None, method) => {
                let action = if method == "tools/call" { Action::ToolsCall } else { Action::PromptsGet };
                let found = self.find(action, Some(name.to_owned()), Some(arguments), (client, trail)).await;
                let (upstream, route) = found?;
                (upstream, route.name)
            }
        };
        // The headers of a call that was rewritten here are made again, from what is sent.
        let has_own = call.context.era() == Era::Modern && !client.shape.is_rewritten();
        let headers = call.context.headers.as_ref().filter(|_| has_own);
        if let Some(headers) = headers.filter(|_| method == "tools/call") {
            let schema = self.mirrored_schema(&upstream, client, &there).await;
            if let Some(error) = header_fault(headers, &call.message, schema.as_deref().unwrap_or(&none)) {
                return Err(error);
            }
        }
        Ok(upstream.name.clone())
    }

    /// Whether a request may be sent again because an interceptor says so.
    async fn may_be_sent_again(self: &Arc<Self>, call: &Call, method: &str, client: &Client) -> bool {
        let is_special =
            ["inputResponses", "requestState", "task"].iter().any(|name| call.message.body_member(name).is_some());
        !is_special
            && matches!(key_of(call), Ok(None))
            && (method != "tools/call" || self.may_run_twice(call, client).await)
    }
}

impl Interception<'_> {
    /// Asks each interceptor about the request.
    async fn before(&self, mut call: Call, seen: Vec<Arc<Interceptor>>) -> Before {
        let reads_answer = seen.iter().any(|one| one.settings.after);
        let (request, arrived) = (self.request, self.arrived);
        let mut changed = Intercepted { request, headers: Vec::new(), rewritten: false, reads_answer, arrived };
        let mut after = Vec::new();
        for one in seen {
            if !one.settings.before {
                after.push(one);
                continue;
            }
            let arguments = call.message.params().and_then(|params| params.get("arguments"));
            let mut question = self.question(&one);
            if let Some(arguments) = arguments {
                question["arguments"] = self.interceptors.shown(&one, arguments);
            }
            let verdict = one.ask((Phase::Before, self.method), question, self.left(&call)).await;
            let noted = self.note(&one, Phase::Before, verdict);
            let ended = match noted {
                Ok(Verdict::Continue | Verdict::Retry) => None,
                Ok(Verdict::Modify(change, headers)) => modify(&mut call, &mut changed, (&change, headers)),
                Ok(Verdict::Stop) => break,
                Ok(Verdict::Answer(body)) => {
                    let body = result(self.method, &body, call.context.revision, &identity());
                    let answer = Answer::result(call.id(), &body);
                    return Before { call: Err(answer), changed, after };
                }
                Ok(Verdict::Refuse(why)) => {
                    let what = format!("The interceptor `{}` does not allow the call: {why}", one.settings.name);
                    Some(refused(&call, &failure::INTERCEPTOR_REFUSED, &what))
                }
                Err(_) if one.settings.fails_open => None,
                Err(fault) => {
                    let what = format!("The interceptor `{}` did not let the call pass: {fault}", one.settings.name);
                    Some(refused(&call, &failure::INTERCEPTOR_FAILED, &what))
                }
            };
            if let Some(answer) = ended {
                return Before { call: Err(answer), changed, after: Vec::new() };
            }
            after.push(one);
        }
        Before { call: Ok(call), changed, after }
    }

    /// Has the request answered, and asks each interceptor about what came of it.
    async fn after(self, before: Before) -> Answer {
        let Before { call, changed, after } = before;
        let mut client = self.client.clone();
        client.shape.intercepted = Some(Arc::new(changed));
        let call = match call {
            Ok(call) => call,
            Err(answer) => return self.seen_after(answer, None, &after, 0).await.unwrap_or_else(|answer| answer),
        };
        if after.iter().all(|one| !one.settings.after) {
            return Box::pin(Arc::clone(&self.inner).route(call, client, self.trail)).await;
        }
        let mut attempt = 0;
        loop {
            let again =
                || Call { message: call.message.clone(), context: call.context.clone(), link: call.link.clone() };
            let answer = Box::pin(Arc::clone(&self.inner).route(again(), client.clone(), self.trail)).await;
            match self.seen_after(answer, Some(&call), &after, attempt).await {
                Ok(answer) => return answer,
                // It is sent again.
                Err(_) => attempt += 1,
            }
        }
    }

    /// What becomes of an answer; `Err` with it where the request is to be sent again.
    async fn seen_after(
        &self,
        mut answer: Answer,
        call: Option<&Call>,
        after: &[Arc<Interceptor>],
        attempt: u32,
    ) -> Result<Answer, Answer> {
        for one in after.iter().rev().filter(|one| one.settings.after) {
            let unseen = |what: &'static str| Answer::error(Some(&self.id), &failure::RESULT_UNSEEN.error(what));
            let Some(message) = read(&answer) else {
                return Ok(unseen("The result cannot be shown to an interceptor that has to see it"));
            };
            // Who reads the first of two members and who reads the last would see different results.
            if message.body_text().and_then(duplicate_name).is_some() {
                return Ok(unseen("The result has a member twice, and an interceptor has to see it"));
            }
            let question = match self.question_after(one, &message, attempt) {
                Ok(Some(question)) => question,
                Ok(None) => return Ok(answer),
                Err(refused) => return Ok(refused),
            };
            let left = call.map_or(Duration::MAX, |call| self.left(call));
            let verdict = one.ask((Phase::After, self.method), question, left).await;
            let failed = |failure: &Failure, what: String| {
                let what = wire::escape::line(&what).into_owned();
                Ok(Answer::error(message.id(), &failure.error(what)))
            };
            let name = &one.settings.name;
            match self.note(one, Phase::After, verdict) {
                Ok(Verdict::Continue | Verdict::Answer(_)) => {}
                Ok(Verdict::Stop) => return Ok(answer),
                Ok(Verdict::Modify(change, _)) if change.is_empty() => {}
                Ok(Verdict::Modify(change, _)) => match with_result(message.text(), &change) {
                    Some(text) if message.kind() == Kind::Result => answer = answer.with_text(text.into_bytes()),
                    _ => return failed(&failure::RESULT_UNSEEN, format!("The interceptor `{name}` changed an error")),
                },
                Ok(Verdict::Refuse(why)) => {
                    let what = format!("The interceptor `{name}` does not allow the result: {why}");
                    return failed(&failure::RESULT_REFUSED, what);
                }
                Ok(Verdict::Retry) => {
                    let Some(call) = call.filter(|_| attempt < one.settings.retries) else { continue };
                    if self.inner.may_be_sent_again(call, self.method, &self.client).await {
                        return Err(answer);
                    }
                }
                Err(_) if one.settings.fails_open => {}
                Err(fault) => {
                    let what = format!("The interceptor `{name}` did not see the result: {fault}");
                    return failed(&failure::RESULT_UNSEEN, what);
                }
            }
        }
        Ok(answer)
    }

    /// The question about what came of a call; `None` where that is not the end of it.
    fn question_after(&self, one: &Interceptor, message: &Message, attempt: u32) -> Result<Option<Value>, Answer> {
        let mut question = self.question(one);
        question["attempt"] = json!(attempt + 1);
        let null = Value::Null;
        match (message.kind(), ResultKind::of(message, self.client.revision.era())) {
            (Kind::Error, _) => {
                question["error"] = self.interceptors.shown(one, message.error().unwrap_or(&null));
            }
            (_, ResultKind::Question) => return Ok(None),
            (_, ResultKind::Task) => {
                let what = "The server made a task, whose result an interceptor has to see";
                return Err(Answer::error(message.id(), &failure::TASK_UNSEEN.error(what)));
            }
            (_, ResultKind::Unknown) => {
                // It may be fetched later, past the interceptors.
                let what = "The server sent a result of an unknown type";
                return Err(Answer::error(message.id(), &failure::ANSWER_INVALID.error(what)));
            }
            (_, ResultKind::Complete) => {
                question["result"] = self.interceptors.shown(one, message.result().unwrap_or(&null));
            }
        }
        Ok(Some(question))
    }

    /// What every question says.
    fn question(&self, one: &Interceptor) -> Value {
        json!({
            "request_id": self.request,
            "server": self.inner.view.name(),
            "upstream": self.upstream,
            "name": self.name,
            "principal": one.principal(self.client.grant.as_ref().map(|grant| &grant.claims)),
        })
    }

    /// How much time the call has.
    fn left(&self, call: &Call) -> Duration {
        let budgets = self.inner.budgets.as_ref().filter(|_| self.method == "tools/call");
        let request = budgets.and_then(|it| it.request(call, &self.client, &self.name, self.arrived).ok());
        let budget = request.map_or(Duration::MAX, |request| request.patience().0);
        budget.min(self.inner.limits.request_total.saturating_sub(self.arrived.elapsed()))
    }

    fn note(&self, one: &Interceptor, phase: Phase, verdict: Result<Verdict, Fault>) -> Result<Verdict, Fault> {
        let said = match &verdict {
            Ok(verdict) => verdict.as_str(),
            Err(fault) => fault.as_str(),
        };
        self.trail.intercepted(&one.settings.name, phase.as_str(), said);
        verdict
    }
}

fn refused(call: &Call, failure: &Failure, what: &str) -> Answer {
    Answer::error(Some(call.id()), &failure.error(wire::escape::line(what).into_owned()))
}

fn read(answer: &Answer) -> Option<Message> {
    match parse(answer.text()) {
        Ok(Packet::Message(message)) => Some(message),
        _ => None,
    }
}

fn message(text: String) -> Option<Message> {
    match parse_owned(text.into_bytes()) {
        Ok(Packet::Message(message)) => Some(message),
        _ => None,
    }
}

/// A request whose arguments differ.
fn with_arguments(text: &str, change: &Change) -> Option<String> {
    let all = members(text)?;
    let params = member(text, &all, "params")?;
    match member(text, &params.members, "arguments") {
        Some(arguments) => with_change(text, &arguments.value, change),
        None if !text.get(params.value.clone())?.starts_with('{') => None,
        None => {
            let mut splice = Splice::new(text);
            let arguments = Value::Object(change.set.clone()).to_string();
            splice.object(&params.value, &params.members, |_| true, &[("arguments", arguments)]);
            Some(splice.finish())
        }
    }
}

/// A response whose result differs.
fn with_result(text: &str, change: &Change) -> Option<String> {
    let all = members(text)?;
    with_change(text, &member(text, &all, "result")?.value, change)
}

fn with_change(text: &str, at: &std::ops::Range<usize>, change: &Change) -> Option<String> {
    let inner = members_at(text, at).filter(|_| text.get(at.clone()).is_some_and(|text| text.starts_with('{')))?;
    let set: Vec<_> = change.set.iter().map(|(name, value)| (name.as_str(), value.to_string())).collect();
    let stays = |name: &str| !change.set.contains_key(name) && !change.remove.iter().any(|removed| removed == name);
    let mut splice = Splice::new(text);
    splice.object(at, &inner, stays, &set);
    Some(splice.finish())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(set: Value, remove: &[&str]) -> Change {
        let Value::Object(set) = set else { panic!("an object") };
        Change { set, remove: remove.iter().map(|name| (*name).to_owned()).collect() }
    }

    #[test]
    fn what_is_not_changed_stays_byte_for_byte() {
        let text = r#"{"id":1,"params": {"name":"t","arguments": {"big":1.00e2 , "a":"\u0062","c":[ ]}, "_meta":{}}}"#;
        let changed = with_arguments(text, &change(json!({ "a": 2 }), &["c"])).expect("an object");
        let expected = r#"{"id":1,"params": {"name":"t","arguments": {"a":2,"big":1.00e2}, "_meta":{}}}"#;
        assert_eq!(changed, expected);
        let escaped = r#"{"params":{"arguments":{"\u0061":1}}}"#;
        let changed = with_arguments(escaped, &change(json!({ "a": 2 }), &[])).expect("an object");
        assert_eq!(changed, r#"{"params":{"arguments":{"a":2}}}"#);
    }

    #[test]
    fn arguments_that_are_missing_are_added_and_what_is_no_object_is_not_changed() {
        let add = change(json!({ "a": 1 }), &[]);
        let added = with_arguments(r#"{"params":{"name":"t"}}"#, &add).expect("params");
        assert_eq!(added, r#"{"params":{"arguments":{"a":1},"name":"t"}}"#);
        for text in [r#"{"params":{"arguments":[1]}}"#, r#"{"params":{"arguments":null}}"#, r#"{"params":7}"#, "{}"] {
            assert_eq!(with_arguments(text, &add), None, "{text}");
        }
    }
}
