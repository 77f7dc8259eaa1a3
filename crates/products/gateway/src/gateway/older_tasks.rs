//! Requests of clients of 2026-07-28 about tasks of servers of 2025-11-25: the state with its outcome, answers to what a task
//! asks, cancellation. Must not know how a call became a task.

mod course;

use std::sync::{Mutex, PoisonError};

use net::service::{Answer, Call, RpcError, code};
use serde_json::{Map, Value, json};
use tokio::sync::MutexGuard;
use tokio::time::timeout;
use wire::message::{Packet, parse_owned};
use wire::splice::{member, members};
use wire::translate::message::response;
use wire::translate::result;
use wire::translate::table::Loss;
use wire::translate::task::{is_over, status, without_related_task};
use wire::{Era, Kind, Message, Revision, meta};

use super::as_task::unknown;
use super::{Inner, noted};
use crate::audit::Trail;
use crate::failure;
use crate::metrics::Foreign;
use crate::older_tasks::{Course, Found, OlderTask, Owner, bounded, is_ours};
use crate::outputs::Flaw;
use crate::upstream::{Client, Conversation, Trouble, Upstream};

/// How often a task is looked at for one request, where it goes on meanwhile.
const LOOKS: usize = 3;
/// How many characters of an unknown status are quoted.
const QUOTED: usize = 64;

/// Whether it is a request of the extension about one task.
fn is_about_task(call: &Call) -> bool {
    let method = call.message.method();
    call.context.era() == Era::Modern && matches!(method, Some("tasks/get" | "tasks/update" | "tasks/cancel"))
}

/// Why a request about tasks is refused whose client does not declare the extension: before anybody looks for the task.
pub(super) fn knows_tasks(client: &Client) -> Result<(), RpcError> {
    let declared = client.capabilities().get("extensions").and_then(|all| all.get(meta::TASKS_EXTENSION));
    if declared.is_some_and(Value::is_object) {
        return Ok(());
    }
    let needs = json!({ "requiredCapabilities": { "extensions": { meta::TASKS_EXTENSION: {} } } });
    let what = "Requests about tasks need a client that declares the tasks extension";
    Err(failure::CAPABILITY_MISSING.error_with(what, needs))
}

impl Inner {
    /// Whose a task is that `client` begins at `upstream`.
    pub(crate) fn owner_of_task(&self, client: &Client, upstream: &Upstream) -> Owner {
        Owner::of(self.view.name(), client, upstream)
    }

    /// Whether calls of a tool take long, as far as `tasks` knows.
    pub(crate) fn expects_long(&self, tool: &str) -> bool {
        self.tasks.as_ref().is_some_and(|tasks| tasks.is_long(self.view.name(), tool))
    }

    /// The id of a task of an older server that a request is about.
    pub(super) fn older_task_of(call: &Call) -> Option<String> {
        let id = call.message.string_member("taskId").filter(|id| is_about_task(call) && is_ours(id))?;
        Some(id.into_owned())
    }

    /// The refusal of a request that names a task that does not exist, where some may. The caller has looked for those that do.
    pub(super) fn no_older_task(&self, call: &Call, client: &Client) -> Option<Answer> {
        let may_exist = is_about_task(call) && self.upstreams.iter().any(|upstream| upstream.makes_older_tasks());
        may_exist.then(|| match knows_tasks(client) {
            Ok(()) => unknown(call),
            Err(error) => Answer::error(Some(call.id()), &error),
        })
    }

    /// Answers a request about a task of an older server.
    pub(super) async fn about_older_task(&self, call: &Call, client: &Client, (id, trail): (&str, &Trail)) -> Answer {
        if call.message.repeated_parameter().is_some() {
            let what = "Invalid params: a member stands twice";
            return Answer::error(Some(call.id()), &failure::PARAMS_INVALID.error(what));
        }
        if let Err(error) = knows_tasks(client) {
            return Answer::error(Some(call.id()), &error);
        }
        let task = match self.older_tasks.find(self.view.name(), client, id) {
            Found::Known(task) => task,
            Found::Unknown => return unknown(call),
            Found::Foreign => {
                self.stats.security.crossed(Foreign::Task);
                return unknown(call);
            }
        };
        let upstream = &task.place.upstream;
        if !self.upstreams.iter().any(|one| one.index == upstream.index) {
            return unknown(call);
        }
        if self.withholds(upstream) {
            let what = format!("The server `{}` differs from its lock", upstream.name);
            return Answer::error(Some(call.id()), &failure::LOCK_CHANGED.error(what));
        }
        trail.goes_to(&upstream.name);
        let about = About { inner: self, call, id, task: &task, trail, lost: Mutex::default() };
        let answered = async {
            match call.message.method() {
                Some("tasks/update") => about.update().await,
                Some("tasks/cancel") => about.cancel().await,
                _ => about.state().await,
            }
        };
        // All that the server is asked for one request has the time of one.
        let limit = self.limits.request;
        let answer = timeout(limit, answered).await.unwrap_or_else(|_| about.failed(&Trouble::Timeout(limit)));
        let lost = std::mem::take(&mut *about.lost.lock().unwrap_or_else(PoisonError::into_inner));
        noted(answer, &lost)
    }
}

/// The error for a status that the extension does not have.
pub(crate) fn unknown_status(status: &str) -> RpcError {
    let status = wire::escape::snippet(status, QUOTED);
    failure::ANSWER_INVALID.error(format!("The server made a task of the unknown status `{status}`"))
}

/// The state of a task that goes on. It says that a question was refused, which its client never sees.
fn with_refused(mut state: Map<String, Value>, course: &Course) -> Map<String, Value> {
    if let Some(why) = course.refused {
        state.insert("statusMessage".to_owned(), json!(format!("A question was refused. {}", why.what())));
    }
    state
}

/// Why a server says nothing of a task.
enum Silence {
    /// The conversation with its server has ended, and the task with it.
    Gone,
    /// The server refuses.
    Refused(Message),
    /// Nothing came this time.
    Failed(RpcError),
}

/// A request about one task.
struct About<'a> {
    inner: &'a Inner,
    call: &'a Call,
    /// The id that the client knows.
    id: &'a str,
    task: &'a OlderTask,
    trail: &'a Trail,
    lost: Mutex<Vec<Loss>>,
}

impl About<'_> {
    fn conversation(&self) -> &Conversation {
        &self.task.place.conversation
    }

    fn upstream(&self) -> &str {
        &self.task.place.upstream.name
    }

    /// The revision of the client.
    const fn to(&self) -> Revision {
        self.call.context.revision
    }

    fn lose(&self, loss: Loss) {
        self.inner.losses.count(loss, self.upstream(), self.call.message.method().unwrap_or_default());
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if !lost.contains(&loss) {
            lost.push(loss);
        }
    }

    fn refuse(&self, error: &RpcError) -> Answer {
        Answer::error(Some(self.call.id()), error)
    }

    fn failed(&self, trouble: &Trouble) -> Answer {
        self.refuse(&trouble.error(self.upstream()))
    }

    /// What became of a task whose server is gone.
    async fn gone(&self) -> RpcError {
        let cause = self.conversation().core.cause().await;
        Trouble::Unknown(format!("the task ended with the connection: {cause}")).error(self.upstream())
    }

    /// A request in which the server did not say what was asked.
    async fn silent(&self, silence: Silence) -> Answer {
        match silence {
            Silence::Gone => self.refuse(&self.gone().await),
            Silence::Refused(message) => {
                let code = message.error_code().unwrap_or(code::INTERNAL_ERROR);
                Answer::raw(message.with_id(self.call.id()).into_bytes(), Some(code))
            }
            Silence::Failed(error) => self.refuse(&error),
        }
    }

    /// What the task has asked; one request at a time changes it.
    async fn course(&self) -> Result<MutexGuard<'_, Course>, Answer> {
        let limit = self.inner.limits.request;
        timeout(limit, self.task.course.lock()).await.map_err(|_| self.failed(&Trouble::Timeout(limit)))
    }

    /// `tasks/get`
    async fn state(&self) -> Answer {
        let mut course = match self.course().await {
            Ok(course) => course,
            Err(answer) => return answer,
        };
        let mut ended = None;
        for _ in 0..LOOKS {
            let state = match self.look(&mut course).await {
                Ok(state) => state,
                Err(silence) => return self.unseen(silence).await,
            };
            match status(&state) {
                "cancelled" => {
                    course.end();
                    return self.shown(state, None);
                }
                over if is_over(over) => return self.outcome(state, &mut course, ended).await,
                "working" => return self.shown(with_refused(state, &course), None),
                "input_required" => match self.listen(&mut course).await {
                    Ok(None) => return self.asking(state, &course),
                    // It has ended in the meantime: how, the next look says.
                    Ok(message) => ended = message,
                    Err(trouble) => return self.failed(&trouble),
                },
                other => {
                    return self.refuse(&unknown_status(other));
                }
            }
        }
        let what = "The server gave the result of a task and says that it goes on";
        self.refuse(&failure::ANSWER_INVALID.error(what))
    }

    /// How the task stands at its server.
    async fn look(&self, course: &mut Course) -> Result<Map<String, Value>, Silence> {
        let message = self.ask("tasks/get", Some(course)).await?;
        let task = message.result().and_then(Value::as_object).filter(|task| task.contains_key("status"));
        task.map(bounded).ok_or_else(|| {
            Silence::Failed(failure::ANSWER_INVALID.error("The server sent a task that is not an object with a status"))
        })
    }

    /// The state of a task of which its server says none.
    async fn unseen(&self, silence: Silence) -> Answer {
        match &silence {
            Silence::Gone => {
                let state = json!({ "status": "failed", "statusMessage": "The server of the task is gone" });
                let error = json!(self.gone().await).to_string();
                self.shown(state.as_object().cloned().unwrap_or_default(), Some(("error", &error)))
            }
            Silence::Refused(message) if message.error_code() == Some(code::INVALID_PARAMS) => {
                self.inner.older_tasks.forget(self.id);
                self.silent(silence).await
            }
            _ => self.silent(silence).await,
        }
    }

    /// A task that waits for its client.
    fn asking(&self, mut state: Map<String, Value>, course: &Course) -> Answer {
        if course.open.is_empty() {
            // All is answered, or the server has not asked yet.
            state.insert("status".to_owned(), json!("working"));
            state.insert("statusMessage".to_owned(), json!("The server has not asked for its input yet"));
        } else {
            let all = course.open.iter().map(|open| (open.key().to_owned(), open.as_input_request()));
            state.insert("inputRequests".to_owned(), Value::Object(all.collect()));
        }
        self.shown(with_refused(state, course), None)
    }

    /// A task that is over, with its outcome.
    async fn outcome(&self, mut state: Map<String, Value>, course: &mut Course, ended: Option<Message>) -> Answer {
        let message = match ended {
            Some(message) => message,
            None => match self.fetch(course).await {
                Ok(message) => message,
                Err(trouble) => return self.failed(&trouble),
            },
        };
        let is_result = message.kind() == Kind::Result;
        // That a tool failed is a result of the extension; only an error of JSON-RPC is a failure.
        state.insert("status".to_owned(), json!(if is_result { "completed" } else { "failed" }));
        let body = match self.translated(&message).await {
            Ok(body) => body,
            Err(error) => return self.refuse(&error),
        };
        self.shown(state, Some((if is_result { "result" } else { "error" }, &body)))
    }

    /// The text of a result or an error as the client's revision has it.
    async fn translated(&self, message: &Message) -> Result<String, RpcError> {
        let invalid = || failure::ANSWER_INVALID.error("The outcome of the task is not valid");
        if message.kind() == Kind::Error {
            return Ok(message.body_text().ok_or_else(invalid)?.to_owned());
        }
        if message.result().is_none_or(|result| !result.is_object()) {
            return Err(invalid());
        }
        let profile = &self.conversation().profile;
        let flaw = self.judged(message, profile.revision).await?;
        let translated = response(message, "tools/call", profile.revision, self.to(), self.call.id(), &profile.server);
        for loss in translated.losses {
            self.lose(loss);
        }
        let text = without_related_task(&translated.text).unwrap_or_else(|| translated.text.into_owned());
        let text = match flaw {
            Some(flaw) => flaw.mark(&text),
            None => text,
        };
        let all = members(&text).ok_or_else(invalid)?;
        let result = member(&text, &all, "result").ok_or_else(invalid)?;
        Ok(text[result.value.clone()].to_owned())
    }

    /// How a result does not conform to the schema of its tool, where that is only marked; the refusal where it must conform.
    async fn judged(&self, message: &Message, from: Revision) -> Result<Option<Flaw>, RpcError> {
        let Some(check) = &self.task.output else { return Ok(None) };
        let Some(flaw) = check.flaw(message, from, false).await else {
            self.trail.stage("output_schema", "conforms");
            return Ok(None);
        };
        tracing::warn!(upstream = self.upstream(), "the result of a task breaks its schema: {}", flaw.what);
        if !check.is_enforced() {
            self.trail.stage("output_schema", "marked");
            return Ok(Some(flaw));
        }
        self.trail.stage("output_schema", "withheld");
        let what = format!("The result does not conform to the output schema of the tool: {}", flaw.what);
        Err(failure::OUTPUT_INVALID.error_with(what, json!({ "upstream": self.upstream() })))
    }

    /// The task as the client gets it, with its outcome as text.
    fn shown(&self, state: Map<String, Value>, outcome: Option<(&str, &str)>) -> Answer {
        let state = Value::Object(self.task.shown(self.id, state));
        let body = result("tasks/get", &state, self.to(), &self.conversation().profile.server).to_string();
        let body = match outcome {
            Some((name, text)) => format!(r#"{},"{name}":{text}}}"#, &body[..body.len() - 1]),
            None => body,
        };
        let text = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{body}}}"#, self.call.id().to_json());
        match parse_owned(text.into_bytes()) {
            Ok(Packet::Message(message)) => Answer::raw(message.into_text().into_bytes(), None),
            _ => self.refuse(&failure::ANSWER_INVALID.error("The server sent a task that is not valid")),
        }
    }

    /// What says that the server got something.
    fn acknowledged(&self) -> Answer {
        let method = self.call.message.method().unwrap_or_default();
        let server = &self.conversation().profile.server;
        Answer::result(self.call.id(), &result(method, &json!({}), self.to(), server))
    }

    /// `tasks/update`
    async fn update(&self) -> Answer {
        let given = self.call.message.params().and_then(|params| params.get("inputResponses")?.as_object());
        let Some(given) = given else {
            let what = "Invalid params: `inputResponses` is not an object";
            return self.refuse(&failure::PARAMS_INVALID.error(what));
        };
        let mut course = match self.course().await {
            Ok(course) => course,
            Err(answer) => return answer,
        };
        if self.conversation().core.is_ended() {
            return self.silent(Silence::Gone).await;
        }
        match self.answer_all(&mut course, given).await {
            Ok(()) => self.acknowledged(),
            Err(trouble) => self.failed(&trouble),
        }
    }

    /// `tasks/cancel`
    async fn cancel(&self) -> Answer {
        // A server need not follow a cancellation (the tasks extension); one that declares none gets none.
        if !self.conversation().profile.declares(&["tasks", "cancel"]) {
            return self.acknowledged();
        }
        match self.ask("tasks/cancel", None).await {
            Ok(_) => self.acknowledged(),
            // The task is over.
            Err(Silence::Refused(message)) if message.error_code() == Some(code::INVALID_PARAMS) => self.acknowledged(),
            Err(silence) => self.silent(silence).await,
        }
    }
}
