//! A call that takes long, as a task of the gateway: the client gets its id at once, the call runs by itself. Which of the two
//! kinds of tasks it is, the client's revision says. Must not know how a task is kept.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use net::server::link::Link;
use net::service::{Answer, Call, Reply};
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use wire::json::Member;
use wire::message::{Packet, parse, parse_owned};
use wire::splice::{Splice, member, members, members_at};
use wire::translate::task::{legacy_capability, to_legacy, with_related_task};
use wire::{Era, Message, Revision, meta};

use super::{Inner, surviving};
use crate::access::Action;
use crate::audit::Trail;
use crate::failure;
use crate::live::in_course;
use crate::long_calls::{Found, Standing, Tasks, is_ours};
use crate::metrics::{Foreign, is_failed};
use crate::result_kind::ResultKind;
use crate::settings::ErrorForm;
use crate::upstream::{Client, Profile};

/// How long it may take to learn whether the called tool can become a task. After that, its call is answered as any other.
const PATIENCE: Duration = Duration::from_secs(2);
/// When a client without room for a task may try again.
const AGAIN: Duration = Duration::from_secs(5);
/// The members of `params` that ask for a task; the second is another name for the first.
const ASKS: [&str; 2] = ["task", "task_augment"];

/// Whether a client takes a task in place of a result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// It asked for one.
    Asks,
    /// It takes either.
    Accepts,
    No,
}

fn wish_of(call: &Call) -> Wish {
    let asks = |name: &str, begin: &str| call.message.body_member(name).is_some_and(|text| text.starts_with(begin));
    let alias = asks("task_augment", "true");
    match (call.context.era(), call.context.revision) {
        (Era::Legacy, Revision::R2025_11_25) if alias || asks("task", "{") => Wish::Asks,
        (Era::Modern, _) if alias => Wish::Asks,
        (Era::Modern, _) => {
            let declared = call.client_capabilities().and_then(|all| all.get("extensions")?.get(meta::TASKS_EXTENSION));
            if declared.is_some() { Wish::Accepts } else { Wish::No }
        }
        _ => Wish::No,
    }
}

/// Whether a server makes tasks itself, of either kind.
pub(super) fn makes_own_tasks(profile: &Profile) -> bool {
    profile.makes_tasks() || profile.declares(&["tasks"])
}

/// The call without what asks for a task, and without what says that the client takes one: the gateway's own task has a result.
fn plain(message: &Message) -> Option<Message> {
    let text = message.text();
    let all = members(text)?;
    let params = member(text, &all, "params")?;
    let mut splice = Splice::new(text);
    splice.object(&params.value, &params.members, |name| !ASKS.contains(&name), &[]);
    if let Some(extensions) = extensions_of(text, &params.members) {
        let inner = members_at(text, &extensions)?;
        splice.object(&extensions, &inner, |name| name != meta::TASKS_EXTENSION, &[]);
    }
    match parse_owned(splice.finish().into_bytes()) {
        Ok(Packet::Message(message)) => Some(message),
        _ => None,
    }
}

/// Where the extensions stand that a modern client declares.
fn extensions_of(text: &str, params: &[Member]) -> Option<Range<usize>> {
    let mut at = member(text, params, "_meta")?.value.clone();
    for name in [meta::CLIENT_CAPABILITIES, "extensions"] {
        let inner = members_at(text, &at)?;
        at = member(text, &inner, name)?.value.clone();
    }
    text[at.clone()].starts_with('{').then_some(at)
}

/// The members of a task, as a client of this revision knows them.
fn state(standing: &Standing, revision: Revision) -> Map<String, Value> {
    let mut task = standing.task.clone();
    let answer = standing.answer.as_ref().and_then(|(text, _)| match parse(text.as_bytes()) {
        Ok(Packet::Message(message)) => Some(message),
        _ => None,
    });
    if let Some(error) = answer.as_ref().and_then(Message::error) {
        task.insert("error".to_owned(), error.clone());
    } else if let Some(result) = answer.as_ref().and_then(Message::result) {
        task.insert("result".to_owned(), result.clone());
    }
    if revision.era() == Era::Legacy { to_legacy(&task) } else { task }
}

impl Inner {
    /// Answers a call of a tool: by a task, where it takes long and the client takes tasks.
    pub(super) async fn perhaps_as_task(self: Arc<Self>, tasks: Tasks, call: Call) -> Answer {
        let tool = call.message.string_member("name").map(Cow::into_owned).unwrap_or_default();
        let wish = wish_of(&call);
        if wish != Wish::No && tasks.is_long(self.view.name(), &tool) {
            let client = timeout(PATIENCE, self.may_become_task(&call, &tool)).await;
            if let Some(client) = client.ok().flatten() {
                return self.begin_task(tasks, (call, tool), &client, wish).await;
            }
        }
        self.timed(&tasks, &tool, call).await
    }

    /// Answers a call, and learns how long it took.
    async fn timed(self: Arc<Self>, tasks: &Tasks, tool: &str, call: Call) -> Answer {
        let (inner, began, era) = (Arc::clone(&self), Instant::now(), call.context.era());
        let reply = if self.answers.settings.errors == ErrorForm::Result {
            Reply::later(inner.failing_by_result(call))
        } else {
            inner.reply(call)
        };
        let answer = match reply {
            Reply::Now(answer) => answer,
            Reply::Later(answer) => answer.await,
        };
        let took = began.elapsed();
        // A call that fails at once says nothing, and names that clients make up fail.
        // A task of a server says nothing of how long it takes.
        if ResultKind::of_answer(&answer, era) == ResultKind::Task {
            return answer;
        }
        if !is_failed(&answer) || took > tasks.settings.over {
            tasks.times.record(self.view.name(), tool, took);
        }
        answer
    }

    /// Who calls, where the call may become a task: the tool is one that the client may use, nothing in the course of the call
    /// needs the client, no server makes the task itself, and what answers the call needs no record in the audit log.
    async fn may_become_task(self: &Arc<Self>, call: &Call, tool: &str) -> Option<Client> {
        let goes_on = ["inputResponses", "requestState"].iter().any(|name| call.message.body_member(name).is_some());
        let is_ambiguous = call.message.repeated_parameter().is_some();
        let needs_client = goes_on || self.shaping.guards().is_some() || self.asks_for_consent();
        if is_ambiguous || needs_client || self.audit.as_ref().is_some_and(|audit| audit.is_required()) {
            return None;
        }
        let client = self.client(call, &Trail::default()).ok().filter(|client| client.expired().is_none())?;
        if !self.keeps_tasks(&client).await {
            return None;
        }
        let tools = self.known_tools(&client).await;
        let none = Value::Object(Map::new());
        let arguments = call.message.params().and_then(|params| params.get("arguments")).unwrap_or(&none);
        tools.item(tool)?;
        // Without a decision it is no task: its call is answered as any other, and says why.
        let whose = (&client, &Trail::default());
        let may = self.may(Action::ToolsCall, tool, (&tools, Some(arguments)), whose).await;
        may.is_ok_and(|may| may).then_some(client)
    }

    /// Whether tasks of this server are the gateway's: a single server that makes tasks itself keeps them itself.
    async fn keeps_tasks(&self, client: &Client) -> bool {
        let Some(upstream) = self.upstream_alone() else { return true };
        let lease = upstream.lease(client, false).await;
        lease.is_ok_and(|lease| !makes_own_tasks(&lease.conversation().profile))
    }

    async fn begin_task(
        self: Arc<Self>,
        tasks: Tasks,
        (call, tool): (Call, String),
        client: &Client,
        wish: Wish,
    ) -> Answer {
        let (id, revision) = (call.id().clone(), call.context.revision);
        let owner = (self.view.name().to_owned(), client.subject.clone());
        let ttl = call.message.params().and_then(|params| params.get("task")?.get("ttl")?.as_u64());
        let (Some(message), Some((task, standing))) =
            (plain(&call.message), tasks.calls.begin(&owner, &tasks.settings, ttl, Instant::now()))
        else {
            if wish == Wish::Accepts {
                return self.timed(&tasks, &tool, call).await;
            }
            let data = json!({ "retry_after_ms": AGAIN.as_millis() as u64 });
            let error = failure::TOO_MANY_TASKS.error_with("As many tasks are kept as may be", data);
            return Answer::error(Some(&id), &error).with_retry_after(AGAIN);
        };
        let modern = revision.era() == Era::Modern;
        let mut context = call.context.clone();
        // A result that passes piece by piece cannot be kept.
        context.whole = true;
        let link = if modern { Link::nowhere() } else { call.link.of_session() };
        let run = Call { message, context, link };
        let running = tokio::spawn(in_course(self.run_task(tasks.clone(), (task.clone(), tool), run)));
        tasks.calls.runs(&task, running.abort_handle());
        let mut state = state(&standing, revision);
        if !modern {
            return Answer::result(&id, &json!({ "task": state }));
        }
        state.insert("resultType".to_owned(), json!("task"));
        Answer::result(&id, &state)
    }

    async fn run_task(self: Arc<Self>, tasks: Tasks, (task, tool): (String, String), call: Call) {
        let (id, era) = (call.id().clone(), call.context.era());
        let calls = Arc::clone(&tasks.calls);
        let answer = surviving(id.clone(), async move { self.timed(&tasks, &tool, call).await }).await;
        let refuse = |failure: failure::Failure, what: &'static str| Answer::error(Some(&id), &failure.error(what));
        let answer = match ResultKind::of_answer(&answer, era) {
            ResultKind::Complete => answer,
            ResultKind::Question | ResultKind::Task => {
                refuse(failure::TASK_UNFINISHED, "The call needs its client, which a task of the gateway does not have")
            }
            ResultKind::Unknown => refuse(failure::ANSWER_INVALID, "The server sent a result of an unknown type"),
        };
        let code = answer.code();
        if !calls.end(&task, text_of(answer), code) {
            let large = refuse(failure::TASK_TOO_LARGE, "The call has run, and there is no room for its result");
            let code = large.code();
            calls.end(&task, text_of(large), code);
        }
    }

    /// The id of a task of the gateway that a request is about.
    pub(super) fn long_call_of(&self, call: &Call) -> Option<String> {
        let about = matches!(
            (call.context.era(), call.message.method()),
            (_, Some("tasks/get" | "tasks/cancel"))
                | (Era::Legacy, Some("tasks/result"))
                | (Era::Modern, Some("tasks/update"))
        );
        let id = call.message.string_member("taskId").filter(|id| about && self.tasks.is_some() && is_ours(id))?;
        Some(id.into_owned())
    }

    /// Answers a request about a task of the gateway.
    pub(super) async fn about_long_call(&self, call: &Call, client: &Client, task: &str) -> Answer {
        let Some(tasks) = &self.tasks else { return unknown(call) };
        let owner = (self.view.name().to_owned(), client.subject.clone());
        let found = match call.message.method() {
            Some("tasks/get") => tasks.calls.look(&owner, task, tasks.settings.poll, Instant::now()),
            Some("tasks/result") => tasks.calls.ended(&owner, task).await,
            Some("tasks/cancel") => match tasks.calls.cancel(&owner, task) {
                Ok((standing, was_over)) => return cancelled(call, &standing, was_over),
                Err(other) => other,
            },
            _ => {
                let what = "Invalid params: the task asks nothing";
                return Answer::error(Some(call.id()), &failure::PARAMS_INVALID.error(what));
            }
        };
        match found {
            Found::Unknown => unknown(call),
            Found::Foreign => {
                self.stats.security.crossed(Foreign::Task);
                unknown(call)
            }
            Found::TooEarly(early) => {
                let data = json!({ "retry_after_ms": (early.as_millis() as u64).max(1) });
                let error = failure::POLLED_TOO_OFTEN.error_with("This task was polled a moment ago", data);
                Answer::error(Some(call.id()), &error).with_retry_after(early)
            }
            Found::Known(standing) if call.message.method() == Some("tasks/result") => outcome(call, task, &standing),
            Found::Known(standing) => {
                let mut state = state(&standing, call.context.revision);
                if call.context.era() == Era::Modern {
                    state.insert("resultType".to_owned(), json!("complete"));
                }
                Answer::result(call.id(), &state)
            }
        }
    }

    /// What of the gateway's own tasks is declared to a client.
    pub(super) fn declare_tasks(
        &self,
        capabilities: &mut Value,
        profiles: &[(String, Arc<Profile>)],
        revision: Revision,
    ) {
        let makes_own = |(_, profile): &(String, Arc<Profile>)| makes_own_tasks(profile);
        if self.tasks.is_none() || (self.upstream_alone().is_some() && profiles.iter().any(makes_own)) {
            return;
        }
        if revision == Revision::R2025_11_25 {
            capabilities["tasks"] = legacy_capability();
        } else if revision.era() == Era::Modern {
            capabilities["extensions"][meta::TASKS_EXTENSION] = json!({});
        }
    }

    /// A list of tools of 2025-11-25, which says of those that take long that they may be tasks.
    pub(super) async fn listing_tasks(self: Arc<Self>, tasks: Tasks, call: Call) -> Answer {
        let client = self.client(&call, &Trail::default()).ok();
        let answer = match Arc::clone(&self).reply(call) {
            Reply::Now(answer) => answer,
            Reply::Later(answer) => answer.await,
        };
        let (Some(client), None) = (client, answer.code()) else { return answer };
        if self.shaping.guards().is_some() || !self.keeps_tasks(&client).await {
            return answer;
        }
        let offered = std::str::from_utf8(answer.text()).ok().and_then(|text| {
            let all = members(text)?;
            let result = member(text, &all, "result")?;
            let at = member(text, &result.members, "tools")?;
            let mut list: Value = serde_json::from_str(&text[at.value.clone()]).ok()?;
            let mut any = false;
            for tool in list.as_array_mut()?.iter_mut().filter_map(Value::as_object_mut) {
                let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
                if tasks.is_long(self.view.name(), name) {
                    tool.insert("execution".to_owned(), json!({ "taskSupport": "optional" }));
                    any = true;
                }
            }
            let mut splice = Splice::new(text);
            splice.replace(at.value.clone(), list.to_string());
            any.then(|| splice.finish())
        });
        match offered {
            Some(text) => answer.with_text(text.into_bytes()),
            None => answer,
        }
    }
}

fn text_of(answer: Answer) -> Arc<str> {
    String::from_utf8_lossy(&answer.into_text()).into()
}

pub(super) fn unknown(call: &Call) -> Answer {
    Answer::error(Some(call.id()), &failure::TASK_UNKNOWN.error("Invalid params: there is no such task"))
}

fn cancelled(call: &Call, standing: &Standing, was_over: bool) -> Answer {
    if call.context.era() == Era::Modern {
        // A wish, which one that is over does not hear (the tasks extension).
        return Answer::result(call.id(), &json!({ "resultType": "complete" }));
    }
    let state = state(standing, call.context.revision);
    if was_over {
        let status = state.get("status").and_then(Value::as_str).unwrap_or_default();
        let what = format!("Invalid params: the task is over: {status}");
        return Answer::error(Some(call.id()), &failure::TASK_OVER.error(what));
    }
    Answer::result(call.id(), &state)
}

/// The answer of a call that is over, as 2025-11-25 asks for it.
fn outcome(call: &Call, task: &str, standing: &Standing) -> Answer {
    let Some((text, code)) = &standing.answer else {
        let what = "Invalid params: the task was cancelled and has no result";
        return Answer::error(Some(call.id()), &failure::TASK_CANCELLED.error(what));
    };
    let Ok(Packet::Message(message)) = parse(text.as_bytes()) else { return unknown(call) };
    let text = message.with_id(call.id());
    let related = with_related_task(&text, task).unwrap_or(text);
    Answer::raw(related.into_bytes(), *code)
}
