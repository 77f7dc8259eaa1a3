//! A request whose upstream is known, and whose client may use what it asks for: run once by its idempotency key, answered
//! from the cache, or carried to its upstream.

use std::sync::Arc;
use std::time::{Duration, Instant};

use net::service::{Answer, Call, RpcError};
use serde_json::Value;
use tokio::time::timeout;
use wire::Era;
use wire::message::{Packet, parse, parse_owned};
use wire::translate::is_untranslatable_task;
use wire::translate::message::response;

use super::{FRESH, Inner, WATCHED, surviving};
use crate::answers::cache::{EntryKey, Found, LONGEST_NAME, Plan, Scope, SessionOf, Subject, ended_by, rule_for};
use crate::answers::idempotency::{
    Begun, CallKey, Claimed, GivenKey, KeptAnswer, Round, RunningCall, awaited, claimed, key_of,
};
use crate::answers::request::{cache_digest, call_digest, without_key};
use crate::answers::{Hints, Watch};
use crate::audit::Trail;
use crate::catalogue::List;
use crate::failure::{self, Failure};
use crate::hub::ToldWrite;
use crate::live::in_course;
use crate::relay::Edits;
use crate::settings::Writes;
use crate::upstream::{Client, Upstream};

/// What a server says of a tool.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ToolFacts {
    is_read_only: bool,
    is_idempotent: bool,
    takes_key: bool,
}

impl Inner {
    /// Answers a request: by what is kept, or by its upstream.
    pub(super) async fn answered(
        self: Arc<Self>,
        upstream: Arc<Upstream>,
        (client, trail): (Client, &Trail),
        call: Call,
        mut edits: Edits,
    ) -> Answer {
        let arrived = client.shape.intercepted.as_ref().map(|intercepted| intercepted.arrived);
        edits.arrived = Some(arrived.unwrap_or_else(Instant::now));
        if let Some(traffic) = &self.traffic
            && let Some(refused) = traffic.too_many_there(&call, &client, (self.view.name(), &upstream)).await
        {
            return refused;
        }
        // A request with a member twice is refused by who would carry it.
        if self.answers.settings.is_plain() || call.message.repeated_parameter().is_some() {
            return self.measured(upstream, (client, trail), call, edits).await;
        }
        let is_call = call.message.method() == Some("tools/call");
        if is_call && self.answers.settings.idempotency.is_some() {
            match self.key(&call, &client).await {
                Ok(Some(key)) => return Box::pin(self.run_once(key, upstream, (client, trail), call, edits)).await,
                Ok(None) => {}
                Err(error) => return Answer::error(Some(call.id()), &error),
            }
        }
        Box::pin(self.cached(upstream, (client, trail), call, edits)).await
    }

    /// Carries a request to its upstream; what it changes is not answered from the cache any more.
    async fn run(
        self: Arc<Self>,
        upstream: Arc<Upstream>,
        (client, trail): (Client, &Trail),
        call: Call,
        mut edits: Edits,
    ) -> Answer {
        let shown = call.message.string_member("name").unwrap_or_default();
        let ended = |cache| ended_by(cache, &shown, name_there(&edits, &shown));
        let is_call = call.message.method() == Some("tools/call");
        let rules = self.answers.settings.cache.as_ref().filter(|_| is_call).map(ended).unwrap_or_default();
        let shared = self.answers.kept.shared.as_ref().filter(|_| !rules.is_empty());
        let told = ToldWrite::new(shared, &shown, name_there(&edits, &shown));
        drop(shown);
        if rules.is_empty() {
            return self.measured(upstream, (client, trail), call, edits).await;
        }
        let patience = self.limits.request_total;
        let writing = self.answers.kept.cache.begin_write(rules, self.answers.generation, patience);
        edits.write = Some(Arc::clone(writing.write()));
        told.begins().await;
        let answer = self.measured(upstream, (client, trail), call, edits).await;
        match outcome(&answer) {
            Some("not run") => {
                writing.write().answered();
                told.changed_nothing();
            }
            Some(_) => drop(told),
            None => told.ended().await,
        }
        answer
    }

    /// The idempotency key of a call; the error for a call that must not run with what it has.
    async fn key(self: &Arc<Self>, call: &Call, client: &Client) -> Result<Option<GivenKey>, RpcError> {
        let invalid = |what: String| failure::IDEMPOTENCY_KEY_INVALID.error(format!("Invalid params: {what}"));
        let key = key_of(call).map_err(invalid)?;
        let settings = self.answers.settings.idempotency.as_ref();
        if key.is_some() || settings.is_none_or(|settings| settings.writes == Writes::Optional) {
            return Ok(key);
        }
        // What no server lists may write.
        if self.tool(call, client).await.is_some_and(|tool| tool.is_read_only) {
            return Ok(None);
        }
        let what = "Invalid params: calls of tools that may write need an `idempotency_key`";
        Err(failure::IDEMPOTENCY_KEY_MISSING.error(what))
    }

    /// What the called tool is; nothing where no server lists it.
    pub(super) async fn tool(self: &Arc<Self>, call: &Call, client: &Client) -> Option<ToolFacts> {
        let name = call.message.string_member("name")?;
        let tools = self.known_tools(client).await;
        let tool = tools.item(&name)?;
        let key = format!("/inputSchema/properties/{}", crate::answers::request::KEY_ARGUMENT);
        let has = |hint: &str| tool.pointer(hint).is_some_and(|hint| *hint == Value::Bool(true));
        Some(ToolFacts {
            is_read_only: has("/annotations/readOnlyHint"),
            is_idempotent: has("/annotations/idempotentHint"),
            takes_key: tool.pointer(&key).is_some(),
        })
    }

    /// Whether the called tool may run twice for one call, as its server says.
    pub(crate) async fn may_run_twice(self: &Arc<Self>, call: &Call, client: &Client) -> bool {
        self.tool(call, client).await.is_some_and(|tool| tool.is_read_only || tool.is_idempotent)
    }

    /// Runs a call with a key, unless one with the same key has run or runs.
    async fn run_once(
        self: Arc<Self>,
        given: GivenKey,
        upstream: Arc<Upstream>,
        (client, trail): (Client, &Trail),
        call: Call,
        edits: Edits,
    ) -> Answer {
        let inner = Arc::clone(&self);
        let Some(settings) = &inner.answers.settings.idempotency else {
            return self.run(upstream, (client, trail), call, edits).await;
        };
        let shown = call.message.string_member("name").unwrap_or_default();
        let key = CallKey {
            principal: client.subject.clone(),
            server: self.view.name().to_owned(),
            upstream: upstream.name.clone(),
            tool: name_there(&edits, &shown).to_owned(),
            key: given.text.clone(),
        };
        let asked_for = (call_digest(&call.message), Round::of(&call.message));
        let calls = &inner.answers.kept.calls;
        let begun = loop {
            match calls.begin(key.clone(), asked_for, settings, Instant::now()) {
                Begun::Claiming(other) => {
                    if let Err(error) = self.in_budget((&call, &client, &edits), claimed(other)).await {
                        return Answer::error(Some(call.id()), &error);
                    }
                }
                begun => break begun,
            }
        };
        let answer = match begun {
            Begun::Claiming(_) => Err(failure::IDEMPOTENCY_UNKNOWN),
            Begun::Run(running) => {
                let (id, trail) = (call.id().clone(), trail.clone());
                drop(shown);
                // Noted before it runs: the call goes on when its client leaves, who is all that is recorded then.
                if !calls.is_shared() {
                    trail.goes_to(&upstream.name);
                }
                // A client that leaves does not end it: its next call with the key wants the result.
                let run = in_course(self.run_to_the_end((running, given), upstream, (client, trail), call, edits));
                return tokio::spawn(run).await.unwrap_or_else(|_| refused(&failure::IDEMPOTENCY_UNKNOWN, &id));
            }
            Begun::Refused(failure) => Err(failure),
            Begun::Answered(answer) => Ok(answer),
            Begun::Wait(running) => match self.in_budget((&call, &client, &edits), awaited(running)).await {
                Ok(kept) => kept.ok_or(failure::IDEMPOTENCY_UNKNOWN),
                Err(error) => return Answer::error(Some(call.id()), &error),
            },
        };
        let answer = answer.and_then(|kept| self.replayed((&kept, &call), &upstream, trail));
        answer.unwrap_or_else(|failure| refused(&failure, call.id()))
    }

    /// A kept answer for another request.
    fn replayed(
        &self,
        (kept, call): (&KeptAnswer, &Call),
        upstream: &Upstream,
        trail: &Trail,
    ) -> Result<Answer, Failure> {
        let answer = replayed(kept, call, upstream)?;
        trail.trace.stage("idempotency", "replayed");
        self.answers.kept.calls.note_replayed();
        Ok(answer)
    }

    async fn run_to_the_end(
        self: Arc<Self>,
        (mut running, given): (RunningCall, GivenKey),
        upstream: Arc<Upstream>,
        (client, trail): (Client, Trail),
        call: Call,
        mut edits: Edits,
    ) -> Answer {
        let (id, revision) = (call.id().clone(), call.context.revision);
        // What waits for another gateway has no more time than what runs.
        let claimed = if self.answers.kept.calls.is_shared() {
            let claim = running.claim(self.limits.request_total);
            self.in_budget((&call, &client, &edits), claim).await
        } else {
            Ok(running.claim(Duration::ZERO).await)
        };
        match claimed {
            Ok(Claimed::Run) => trail.goes_to(&upstream.name),
            Ok(Claimed::Answered(kept)) => {
                return self.replayed((&kept, &call), &upstream, &trail).unwrap_or_else(|why| refused(&why, &id));
            }
            Ok(Claimed::Refused(failure, again)) => {
                let answer = refused_for(&failure, again, &id);
                running.refuse(&answer, revision);
                return answer;
            }
            Err(error) => return Answer::error(Some(&id), &error),
        }
        let run = async move {
            // A server gets the argument only where its tool has it.
            if given.is_argument && self.tool(&call, &client).await.is_some_and(|tool| !tool.takes_key) {
                let shown = call.message.string_member("name").unwrap_or_default();
                edits.name = Some(("name", name_there(&edits, &shown).to_owned()));
                edits.text = without_key(edits.text.as_deref().unwrap_or(call.message.text())).or(edits.text);
            }
            // Its answer is needed in one piece.
            edits.watch = Some(Arc::default());
            self.run(upstream, (client, &trail), call, edits).await
        };
        let answer = surviving(id, run).await;
        // Where the result cannot be written, a gateway that starts again finds that the call ran, and keeps its key blocked.
        let _ = running.end(&answer, revision, Instant::now()).outlives_crash().await;
        answer
    }

    /// Answers a request from the cache, or by its upstream; then the answer may be kept.
    async fn cached(
        self: Arc<Self>,
        upstream: Arc<Upstream>,
        (client, trail): (Client, &Trail),
        call: Call,
        mut edits: Edits,
    ) -> Answer {
        let inner = Arc::clone(&self);
        let Some(settings) = &inner.answers.settings.cache else {
            return self.run(upstream, (client, trail), call, edits).await;
        };
        let mark = inner.answers.kept.cache.mark(Instant::now());
        let Some(plan) = self.plan(&upstream, &client, &call, &edits).await else {
            return self.run(upstream, (client, trail), call, edits).await;
        };
        let cache = &inner.answers.kept.cache;
        let lead = match cache.find(&plan, call.id(), Instant::now()) {
            Found::Hit(answer) => {
                trail.trace.stage("cache", "hit");
                return answer;
            }
            Found::Lead(lead) => Some(lead),
            Found::Alone => None,
            Found::Wait(mut over) => {
                let waiting = timeout(self.limits.request, over.changed());
                if let Err(error) = self.in_budget((&call, &client, &edits), waiting).await {
                    return Answer::error(Some(call.id()), &error);
                }
                if let Some(answer) = cache.hit(&plan, call.id(), Instant::now()) {
                    return answer;
                }
                None
            }
        };
        if matches!(plan.subject, Subject::List(_))
            && let Ok(lease) = upstream.lease(&client, false).await
        {
            self.follow_changes(&upstream, lease.conversation(), &client);
        }
        let watch = Arc::new(Watch::default());
        watch.lead(lead);
        edits.watch = Some(Arc::clone(&watch));
        let answer = self.run(upstream, (client, trail), call, edits).await;
        cache.keep(&plan, (&answer, &watch), mark, settings, Instant::now());
        watch.lead(None);
        answer
    }

    /// How the answer to a request may be kept; `None` where it may not.
    async fn plan(self: &Arc<Self>, upstream: &Upstream, client: &Client, call: &Call, edits: &Edits) -> Option<Plan> {
        let settings = self.answers.settings.cache.as_ref()?;
        let message = &call.message;
        let method = message.method()?;
        let name = message.string_member(if method == "resources/read" { "uri" } else { "name" }).unwrap_or_default();
        if name.len() > LONGEST_NAME {
            return None;
        }
        let subject = match method {
            "tools/call" => Subject::Tool,
            "resources/read" => Subject::Resource(name.clone().into_owned()),
            list => Subject::List(List::of(list)?),
        };
        // Answers to questions are no part of what is compared, nor are headers that reach the server in addition.
        let is_special =
            ["inputResponses", "requestState", "task"].iter().any(|name| message.body_member(name).is_some());
        let mut headers = call.context.headers.iter().flat_map(|headers| headers.keys());
        // A key says that the request is one of its own; a server may repeat it.
        let has_key = !matches!(key_of(call), Ok(None));
        let has_added = !client.shape.added_headers().is_empty();
        if is_special || has_key || has_added || headers.any(|header| reaches_server(header.as_str())) {
            return None;
        }
        let rule = rule_for(settings, &subject, &name);
        if subject == Subject::Tool && (rule.is_none() || !self.tool(call, client).await?.is_read_only) {
            return None;
        }
        // An older server says nothing of how long its results stay valid.
        if rule.is_none() && upstream.era() == Some(Era::Legacy) {
            return None;
        }
        let sent = edits.text.as_ref().and_then(|text| match parse_owned(text.clone().into_bytes()) {
            Ok(Packet::Message(message)) => Some(message),
            _ => None,
        });
        let name_there = edits.name.as_ref().map(|(_, name)| name.as_str());
        // What is shared by principals is not shared by those of whom servers learn different things.
        let context = client.shape.context.as_ref().map_or(Value::Null, |context| context.key());
        let key = EntryKey {
            scope: Scope::Private(
                upstream.owner(client),
                upstream.own_session(client).map(|session| SessionOf(Arc::downgrade(session))),
            ),
            server: self.view.name().to_owned(),
            upstream: upstream.index,
            revision: call.context.revision,
            request: cache_digest(
                sent.as_ref().unwrap_or(message),
                name_there,
                [client.info(), client.capabilities(), &context],
            ),
        };
        let plan = Plan::new(key, subject, rule, (settings, self.answers.generation));
        plan.map(|plan| if upstream.is_per_user() { plan.for_one() } else { plan })
    }

    /// How long a list that is merged with others may be used again.
    pub(super) fn fresh_for(&self, list: List, watched: bool, pages: &[Option<Hints>]) -> Duration {
        let least = if watched { WATCHED } else { FRESH };
        let Some(settings) = &self.answers.settings.cache else { return least };
        let rule = rule_for(settings, &Subject::List(list), "").and_then(|rule| settings.rules.get(rule));
        let said = || pages.iter().map(|hints| hints.map_or(Duration::ZERO, |hints| hints.ttl)).min();
        let by_upstream = || said().filter(|_| settings.upstream_ttl).map(|ttl| ttl.min(settings.max_ttl));
        rule.map(|rule| rule.ttl).or_else(by_upstream).map_or(least, |ttl| ttl.max(least))
    }
}

/// What an error says of whether its request ran; nothing for other answers.
fn outcome(answer: &Answer) -> Option<&'static str> {
    answer.code()?;
    let Ok(Packet::Message(message)) = parse(answer.text()) else { return None };
    match message.error()?.get("data")?.get("outcome")?.as_str()? {
        "not run" => Some("not run"),
        _ => Some("unknown"),
    }
}

/// Whether a header of a client may reach a server, and says something that the body does not.
fn reaches_server(header: &str) -> bool {
    let repeats_body = ["mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id"];
    header.starts_with("mcp-") && !repeats_body.contains(&header)
}

/// The name of the item at its upstream.
pub(super) fn name_there<'n>(edits: &'n Edits, shown: &'n str) -> &'n str {
    edits.name.as_ref().map_or(shown, |(_, name)| name)
}

fn refused(failure: &Failure, id: &wire::RequestId) -> Answer {
    Answer::error(Some(id), &failure.error(format!("The call is not run: {}", failure.when)))
}

/// The same; over HTTP with the time from which it is worth another try.
fn refused_for(failure: &Failure, again: Option<Duration>, id: &wire::RequestId) -> Answer {
    let Some(again) = again else { return refused(failure, id) };
    let millis = u64::try_from(again.as_millis()).unwrap_or(u64::MAX).max(1);
    let what = format!("The call is not run: {}", failure.when);
    let error = failure.error_with(what, serde_json::json!({ "retry_after_ms": millis }));
    Answer::error(Some(id), &error).with_retry_after(again)
}

/// A kept answer for another request, in the form of its client's revision.
fn replayed(kept: &KeptAnswer, call: &Call, upstream: &Upstream) -> Result<Answer, Failure> {
    let Ok(Packet::Message(message)) = parse(kept.text.as_bytes()) else { return Err(failure::IDEMPOTENCY_UNKNOWN) };
    let (from, to) = (kept.revision, call.context.revision);
    if from == to {
        return Ok(Answer::raw(message.with_id(call.id()).into_bytes(), kept.code));
    }
    let has_other_form = message.string_member("resultType").is_some_and(|kind| kind != "complete")
        || message.result().is_some_and(|result| is_untranslatable_task("tools/call", result, to));
    if has_other_form {
        return Err(failure::IDEMPOTENCY_OTHER_FORM);
    }
    let text = response(&message, "tools/call", from, to, call.id(), &upstream.server()).text.into_owned();
    Ok(Answer::raw(text.into_bytes(), kept.code))
}
