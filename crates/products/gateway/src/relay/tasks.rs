//! Tasks of a server of 2026-07-28 for older clients: to a client of 2025-11-25 that asks for one they are tasks of its
//! revision, and for all others the gateway waits for the end. Knows no task of an older server.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use net::service::{Answer, code};
use serde_json::{Map, Value, json};
use tokio::time::sleep;
use wire::message::{Packet, parse, parse_owned};
use wire::translate::message::response;
use wire::translate::table::losses;
use wire::translate::task::{is_over, offer, status, to_legacy, with_related_task};
use wire::{Era, Message, Revision, meta};

use super::asking::QUESTIONS;
use super::texts::{code_of, member_text};
use super::{Relay, modern_capabilities};
use crate::failure;
use crate::gateway::Inner;
use crate::metrics::Foreign;
use crate::upstream::{Client, Conversation, Profile, Trouble};

/// How often a task is looked at: where its server does not say, and at least and at most.
const INTERVAL: Duration = Duration::from_secs(1);
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(30);
/// How many looks in a row may fail.
const LOST: u32 = 3;

/// A task that the gateway waits for. Dropped before its end, it is cancelled.
struct AwaitedTask {
    gateway: Arc<Inner>,
    conversation: Arc<Conversation>,
    client: Client,
    id: String,
    is_over: bool,
}

impl Drop for AwaitedTask {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let (gateway, conversation) = (Arc::clone(&self.gateway), Arc::clone(&self.conversation));
        let (client, which) = (self.client.clone(), json!({ "taskId": self.id }));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime
                .spawn(async move { gateway.request(&conversation, &client, "tasks/cancel", which).await.map(drop) });
        }
    }
}

/// How the wait for a task ended.
enum Waited {
    /// With the task.
    Over(Answer),
    /// Before.
    GivenUp(Answer),
}

impl Relay {
    /// Whether the call may become a task at a server with this profile, and the client is of an older revision.
    pub(super) fn may_become_task(&self, profile: &Profile) -> bool {
        self.call.context.era() == Era::Legacy && self.method() == "tools/call" && profile.makes_tasks()
    }

    /// Whether the client asks for a task. With several servers it was not told that it can.
    pub(super) fn wants_task(&self) -> bool {
        let asked = self.call.message.body_member("task").is_some_and(|task| task.starts_with('{'));
        asked && self.to() == Revision::R2025_11_25 && self.gateway.upstream_alone().is_some()
    }

    /// Whether the server may make a task of the call. Where it need not, it does not: a task tells less on its way.
    pub(super) fn offers_tasks(&self) -> bool {
        self.wants_task() || self.needs_task.load(Ordering::Relaxed)
    }

    /// Whether the server did not run the call because it needs to make a task of it; the next time it may.
    pub(super) fn is_refused_without_tasks(&self, message: &Message) -> bool {
        let needs = || {
            let needed = message.error()?.get("data")?.get("requiredCapabilities")?.get("extensions")?;
            needed.get(meta::TASKS_EXTENSION)
        };
        let refused = message.error_code() == Some(code::MISSING_CLIENT_CAPABILITY) && needs().is_some();
        refused && !self.wants_task() && !self.needs_task.swap(true, Ordering::Relaxed)
    }

    fn owner(&self) -> (usize, Option<HeaderValue>) {
        (self.upstream.index, self.client.subject.clone())
    }

    /// The answer to a call that has become a task.
    pub(super) async fn task_began(&self, conversation: &Arc<Conversation>, message: &Message) -> Answer {
        let task = message.result().and_then(Value::as_object);
        let id = task.and_then(|task| task.get("taskId")?.as_str());
        let (Some(task), Some(id)) = (task, id) else {
            return self.refuse(&failure::ANSWER_INVALID.error("The server made a task without an id"));
        };
        if self.wants_task() {
            return Answer::result(self.call.id(), &json!({ "task": to_legacy(task) }));
        }
        let mut awaited = AwaitedTask {
            gateway: Arc::clone(&self.gateway),
            conversation: Arc::clone(conversation),
            client: self.client.kept(),
            id: id.to_owned(),
            is_over: false,
        };
        match self.outcome(conversation, id, None).await {
            Waited::Over(answer) => {
                awaited.is_over = true;
                answer
            }
            Waited::GivenUp(answer) => answer,
        }
    }

    /// Makes a task that is done of a call that was answered at once.
    pub(super) fn task_of_result(&self, text: String) -> Answer {
        let wish = self.call.message.params().and_then(|params| params.get("task")?.get("ttl")?.as_u64());
        let made = match parse(text.as_bytes()) {
            Ok(Packet::Message(message)) => {
                message.body_text().and_then(|result| self.gateway.kept_tasks.make(self.owner(), result, wish))
            }
            _ => None,
        };
        if let Some(task) = made {
            return Answer::result(self.call.id(), &json!({ "task": task }));
        }
        self.lose(losses::TASK);
        Answer::raw(text.into_bytes(), None)
    }

    /// The list of tools of a server whose calls may become tasks.
    pub(super) fn offering_tasks(&self, text: String, profile: &Profile) -> String {
        let offers = self.method() == "tools/list"
            && self.to() == Revision::R2025_11_25
            && profile.makes_tasks()
            && self.gateway.upstream_alone().is_some();
        if offers { offer(&text).unwrap_or(text) } else { text }
    }

    /// Whether it is a request of 2025-11-25 about a task.
    pub(super) fn is_of_task(&self) -> bool {
        matches!(self.method(), "tasks/get" | "tasks/result" | "tasks/cancel") && self.to() == Revision::R2025_11_25
    }

    /// The answer to a request about a task; `None` where the server has no tasks of the extension.
    pub(super) async fn answer_of_task(&self) -> Option<Answer> {
        let lease = match self.upstream.lease(&self.client, false).await {
            Ok(lease) => lease,
            Err(trouble) => return Some(self.failed(&trouble)),
        };
        let conversation = lease.conversation();
        if !conversation.profile.makes_tasks() {
            return None;
        }
        let Some(id) = self.call.message.string_member("taskId") else {
            return Some(self.refuse(&failure::PARAMS_INVALID.error("Invalid params: `taskId` is not a string")));
        };
        if self.gateway.kept_tasks.is_foreign(&self.owner(), &id) {
            self.gateway.stats.security.crossed(Foreign::Task);
        }
        self.trail.goes_to(&self.upstream.name);
        Some(match self.method() {
            "tasks/get" => self.task_state(conversation, &id).await,
            "tasks/cancel" => self.cancel_task(conversation, &id).await,
            _ => match self.outcome(conversation, &id, Some(&id)).await {
                Waited::Over(answer) | Waited::GivenUp(answer) => answer,
            },
        })
    }

    async fn task_state(&self, conversation: &Conversation, id: &str) -> Answer {
        if let Some(kept) = self.gateway.kept_tasks.find(self.owner(), id) {
            return Answer::result(self.call.id(), &kept.state);
        }
        match self.look_at(conversation, id).await {
            Ok((task, _)) => Answer::result(self.call.id(), &to_legacy(&task)),
            Err(answer) => answer,
        }
    }

    /// Cancels a task. At 2025-11-25 it stays cancelled, whatever its server goes on to do.
    async fn cancel_task(&self, conversation: &Conversation, id: &str) -> Answer {
        let over = |status: &str| {
            let status = wire::escape::line(status).into_owned();
            self.refuse(&failure::TASK_OVER.error(format!("Invalid params: the task is over: {status}")))
        };
        if let Some(kept) = self.gateway.kept_tasks.find(self.owner(), id) {
            return over(status(&kept.state));
        }
        let task = match self.look_at(conversation, id).await {
            Ok((task, _)) => task,
            Err(answer) => return answer,
        };
        if is_over(status(&task)) {
            return over(status(&to_legacy(&task)));
        }
        match self.ask_server(conversation, "tasks/cancel", json!({ "taskId": id })).await {
            Ok(_) => {
                let mut state = to_legacy(&task);
                // What the server calls it is not what it is kept under.
                state.insert("taskId".to_owned(), json!(id));
                Answer::result(self.call.id(), &self.gateway.kept_tasks.cancel(self.owner(), state))
            }
            Err(answer) => answer,
        }
    }

    /// How a task stands, and the message that says so.
    async fn look_at(&self, conversation: &Conversation, id: &str) -> Result<(Map<String, Value>, Message), Answer> {
        let message = self.ask_server(conversation, "tasks/get", json!({ "taskId": id })).await?;
        match message.result().and_then(Value::as_object).cloned() {
            Some(task) => Ok((task, message)),
            None => Err(self.refuse(&failure::ANSWER_INVALID.error("The server sent a task that is not an object"))),
        }
    }

    /// The result of a request of our own; without one, the answer for the client.
    async fn ask_server(&self, conversation: &Conversation, method: &str, params: Value) -> Result<Message, Answer> {
        match self.gateway.request(conversation, &self.client, method, params).await {
            Ok(message) if message.error().is_none() => Ok(message),
            Ok(message) => Err(Answer::raw(message.with_id(self.call.id()).into_bytes(), code_of(&message))),
            Err(trouble) => Err(self.failed(&trouble)),
        }
    }

    /// Waits for the end of a task. `asked_for`: its id, where the client knows the task.
    async fn outcome(&self, conversation: &Conversation, id: &str, asked_for: Option<&str>) -> Waited {
        let end = Instant::now() + self.gateway.limits.request_total;
        let (mut answered, mut lost) = (HashSet::new(), 0);
        while Instant::now() < end && !self.is_over() {
            if let Some(kept) = asked_for.and_then(|id| self.gateway.kept_tasks.find(self.owner(), id)) {
                return Waited::Over(self.kept_result(kept.result.as_deref(), id));
            }
            let which = json!({ "taskId": id });
            let looked = self.gateway.request(conversation, &self.client, "tasks/get", which).await;
            let message = match looked {
                Ok(message) => message,
                // To look does no harm: it may be done once more.
                Err(_) if lost + 1 < LOST => {
                    lost += 1;
                    sleep(INTERVAL).await;
                    continue;
                }
                Err(trouble) => return Waited::GivenUp(self.failed(&Trouble::Unknown(trouble.reason()))),
            };
            lost = 0;
            let Some(task) = message.result().and_then(Value::as_object) else {
                let text = message.with_id(self.call.id()).into_bytes();
                return Waited::GivenUp(Answer::raw(text, code_of(&message)));
            };
            if is_over(status(task)) {
                return Waited::Over(self.ended(conversation, &message, status(task), asked_for).await);
            }
            if status(task) == "input_required"
                && let Err(answer) = self.answer_task(conversation, task, id, (asked_for, &mut answered)).await
            {
                return Waited::GivenUp(answer);
            }
            let interval = task.get("pollIntervalMs").and_then(Value::as_u64).map(Duration::from_millis);
            sleep(interval.unwrap_or(INTERVAL).clamp(SHORTEST, LONGEST).min(self.time_left())).await;
        }
        if let Some(trouble) = self.over_as_task() {
            return Waited::GivenUp(self.failed(&trouble));
        }
        Waited::GivenUp(self.failed(&Trouble::Timeout(self.gateway.limits.request_total)))
    }

    /// Asks the client what a task needs and was not answered yet, and tells the task.
    async fn answer_task(
        &self,
        conversation: &Conversation,
        task: &Map<String, Value>,
        id: &str,
        (asked_for, answered): (Option<&str>, &mut HashSet<String>),
    ) -> Result<(), Answer> {
        let all = task.get("inputRequests").and_then(Value::as_object).cloned().unwrap_or_default();
        // Until the server has taken an answer in, it may still show the question.
        let open: Map<_, _> = all.into_iter().filter(|(key, _)| !answered.contains(key)).collect();
        if open.len() + answered.len() > QUESTIONS {
            return Err(self.refuse(&failure::ASKS_WITHOUT_END.error("The task asks again and again")));
        }
        if open.is_empty() {
            return Ok(());
        }
        answered.extend(open.keys().cloned());
        let responses = self.ask_all(open, conversation.profile.revision, asked_for).await?;
        let params = json!({ "taskId": id, "inputResponses": responses });
        self.ask_server(conversation, "tasks/update", params).await.map(drop)
    }

    /// The answer of a task that only the gateway knows.
    fn kept_result(&self, result: Option<&str>, id: &str) -> Answer {
        let Some(result) = result else { return self.cancelled() };
        let text = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, self.call.id().to_json());
        Answer::raw(with_related_task(&text, id).unwrap_or(text).into_bytes(), None)
    }

    fn cancelled(&self) -> Answer {
        self.refuse(&failure::TASK_CANCELLED.error("Invalid params: the task was cancelled and has no result"))
    }

    /// The answer of a task that is over, as the call would have had it.
    async fn ended(
        &self,
        conversation: &Conversation,
        message: &Message,
        status: &str,
        asked_for: Option<&str>,
    ) -> Answer {
        let (holder, code) = match status {
            "completed" => ("result", None),
            "failed" => {
                let code = message.result().and_then(|task| task.get("error")?.get("code")?.as_i64());
                ("error", code)
            }
            _ => return self.cancelled(),
        };
        let Some(body) = member_text(message, holder) else {
            return self
                .refuse(&failure::ANSWER_INVALID.error("The server sent a task that is over without its outcome"));
        };
        let text = format!(r#"{{"jsonrpc":"2.0","id":{},"{holder}":{body}}}"#, self.call.id().to_json());
        let profile = &conversation.profile;
        let Ok(Packet::Message(answer)) = parse_owned(text.into_bytes()) else {
            return self.refuse(&failure::ANSWER_INVALID.error("The outcome of the task is not valid"));
        };
        let flaw = match self.judged(&answer, profile.revision).await {
            Ok(flaw) => flaw,
            Err(refused) => return refused,
        };
        let translated = response(&answer, "tools/call", profile.revision, self.to(), self.call.id(), &profile.server);
        for loss in translated.losses {
            self.lose(loss);
        }
        let text = match flaw {
            Some(flaw) => flaw.mark(&translated.text),
            None => translated.text.into_owned(),
        };
        let related = asked_for.and_then(|id| with_related_task(&text, id));
        Answer::raw(related.unwrap_or(text).into_bytes(), code)
    }
}

/// What the gateway tells a modern server of a client of an older revision whose calls may become tasks.
pub(crate) fn task_capabilities(capabilities: &Value) -> Value {
    let mut capabilities = modern_capabilities(capabilities);
    if let Some(members) = capabilities.as_object_mut() {
        let extensions = members.entry("extensions").or_insert_with(|| json!({}));
        if !extensions.is_object() {
            *extensions = json!({});
        }
        extensions[meta::TASKS_EXTENSION] = json!({});
    }
    capabilities
}
