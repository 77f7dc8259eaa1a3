//! A server that clients see: which method is answered here, and which upstream answers the others.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::FutureExt as _;
use net::service::{Answer, Call, Reply, RpcError};
use serde_json::{Value, json};
use tokio::time::timeout;
use wire::translate::table::{Loss, with_losses};
use wire::{Era, Message, RequestId, Revision, meta, method};

use self::known_lists::Lists;
use self::locked::{LookKey, Looked};
use self::looks::Looks;
use crate::access::{Access, Action, DecisionPoint};
use crate::answers::Answers;
use crate::audit::{AuditLog, Trail};
use crate::budget::Budgets;
use crate::catalogue::List;
use crate::changes::Changes;
use crate::failure;
use crate::guards::GuardState;
use crate::hub::Hub;
use crate::interceptors::Interceptors;
use crate::kept_tasks::KeptTasks;
use crate::locks::Locks;
use crate::long_calls::Tasks;
use crate::losses::Losses;
use crate::older_tasks::OlderTasks;
use crate::parked::ParkedRequests;
use crate::relay::{Edits, error_text, result_text, task_capabilities};
use crate::session::LogLevel;
use crate::settings::{AnswerSettings, ErrorForm, Limits, ServerSettings};
use crate::shaping::{ClientShape, Shaping};
use crate::slo::Slo;
use crate::stats::Stats;
use crate::telemetry::Telemetry;
use crate::traffic::Traffic;
use crate::upstream::{Client, Conversation, Event, Flight, Introduction, Sending, Trouble, Upstream};
use crate::view::View;

/// How long a list may be used again where its server does not announce changes.
const FRESH: Duration = Duration::from_secs(2);
/// The same where it does, and the announcement might be lost.
const WATCHED: Duration = Duration::from_mins(5);
/// How long a list is used again at most, whatever the configuration says.
const LONGEST: Duration = Duration::from_hours(24);
/// The most pages of one list.
const PAGES: usize = 1000;

/// A server that clients see.
pub(crate) struct Inner {
    pub(crate) limits: Limits,
    pub(crate) parked: Arc<ParkedRequests>,
    pub(crate) kept_tasks: Arc<KeptTasks>,
    pub(crate) older_tasks: Arc<OlderTasks>,
    guard_state: Arc<GuardState>,
    pub(crate) losses: Arc<Losses>,
    hub: Weak<Hub>,
    upstreams: Vec<Arc<Upstream>>,
    view: View,
    access: Option<Arc<Access>>,
    pub(crate) shaping: Shaping,
    /// Where requests are recorded.
    pub(crate) audit: Option<Arc<AuditLog>>,
    telemetry: Option<Arc<Telemetry>>,
    answers: Answers,
    budgets: Option<Budgets>,
    /// How fast calls shall be.
    slo: Option<Slo>,
    /// What makes tasks of calls.
    tasks: Option<Tasks>,
    traffic: Option<Arc<Traffic>>,
    /// Who looks at calls on their way.
    interceptors: Option<Arc<Interceptors>>,
    /// What servers may say.
    locks: Option<Arc<Locks>>,
    changes: Arc<Changes>,
    pub(crate) stats: Arc<Stats>,
    lists: Mutex<Lists>,
    /// Looks at lists before calls.
    looks: Looks<LookKey, Looked>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    pub(crate) fn new(
        hub: &Arc<Hub>,
        limits: Limits,
        upstreams: Vec<Arc<Upstream>>,
        (view, access, shaping): (View, Option<Arc<Access>>, Shaping),
        (budgets, slo, tasks): (Option<Budgets>, Option<Slo>, Option<Tasks>),
        changes: Arc<Changes>,
    ) -> Self {
        let (parked, kept_tasks) = (Arc::clone(&hub.parked), Arc::clone(&hub.kept_tasks));
        let older_tasks = Arc::clone(&hub.older_tasks);
        let guard_state = Arc::clone(&hub.guarded);
        let (losses, stats) = (Arc::clone(&hub.losses), Arc::clone(&hub.stats));
        let (audit, telemetry, answers) = (hub.audit.clone(), hub.telemetry.clone(), hub.answers());
        let (traffic, interceptors, locks) = (hub.traffic(), hub.interceptors(), hub.locks());
        let hub = Arc::downgrade(hub);
        Self {
            limits,
            parked,
            kept_tasks,
            older_tasks,
            guard_state,
            losses,
            hub,
            upstreams,
            view,
            access,
            shaping,
            audit,
            telemetry,
            answers,
            budgets,
            slo,
            tasks,
            traffic,
            interceptors,
            locks,
            changes,
            stats,
            lists: Mutex::default(),
            looks: Looks::default(),
        }
    }

    /// Whether it already is what these settings say.
    pub(crate) fn is(
        &self,
        server: &ServerSettings,
        upstreams: &[Arc<Upstream>],
        answers: &AnswerSettings,
        locks: Option<&Arc<Locks>>,
    ) -> bool {
        let same = |(a, b): (&Arc<Upstream>, &Arc<Upstream>)| Arc::ptr_eq(a, b);
        self.view.is(server)
            && *self.answers.settings == *answers
            && self.locks.as_ref().map(Arc::as_ptr) == locks.map(Arc::as_ptr)
            && self.upstreams.len() == upstreams.len()
            && self.upstreams.iter().zip(upstreams).all(same)
    }

    /// The name of the server that clients see.
    pub(crate) fn name(&self) -> &str {
        self.view.name()
    }

    /// The policy decision point that it asks.
    pub(crate) fn decision_point(&self) -> Option<&Arc<DecisionPoint>> {
        self.access.as_ref().and_then(|access| access.point())
    }

    /// The upstream with this number, if it is one of this server's.
    pub(crate) fn upstream(&self, index: usize) -> Option<&Arc<Upstream>> {
        self.upstreams.iter().find(|upstream| upstream.index == index)
    }

    /// Answers one request.
    pub(crate) fn call(self: Arc<Self>, call: Call) -> Reply {
        let call = self.meant(call);
        match (call.context.era(), call.message.method().unwrap_or_default()) {
            (Era::Legacy, "ping") => Answer::result(call.id(), &json!({})).into(),
            (Era::Modern, "subscriptions/listen") => self.listen(call),
            (_, "tools/call") if let Some(tasks) = self.tasks.clone() => {
                Reply::later(surviving(call.id().clone(), self.perhaps_as_task(tasks, call)))
            }
            (_, "tools/list")
                if let Some(tasks) = self.tasks.clone().filter(|_| call.context.revision == Revision::R2025_11_25) =>
            {
                Reply::later(surviving(call.id().clone(), self.listing_tasks(tasks, call)))
            }
            (_, "tools/call") if self.answers.settings.errors == ErrorForm::Result => {
                Reply::later(surviving(call.id().clone(), self.failing_by_result(call)))
            }
            _ => self.reply(call),
        }
    }

    /// Answers a request, and records it where requests are.
    fn replied(self: Arc<Self>, call: Call, trail: Trail) -> Reply {
        match self.audit.clone() {
            None => Reply::later(surviving(call.id().clone(), self.answer(call, trail))),
            Some(audit) => Reply::later(self.audited(audit, call, trail)),
        }
    }

    /// The only upstream, where everything of it is shown as it is.
    pub(crate) fn upstream_alone(&self) -> Option<&Arc<Upstream>> {
        // A rule is about names that a list has: a server may answer to others, too.
        let shows_all = self.view.is_plain() && self.access.is_none() && !self.shaping.needs_names();
        self.upstreams.first().filter(|one| self.upstreams.len() == 1 && shows_all && !self.judges(one))
    }

    async fn answer(self: Arc<Self>, call: Call, trail: Trail) -> Answer {
        // On the heap: who asks for no consent does not pay for it.
        if self.asks_for_consent() {
            return Box::pin(self.answered_or_asked(call, trail)).await;
        }
        self.answer_to(call, trail).await
    }

    async fn answer_to(self: Arc<Self>, call: Call, trail: Trail) -> Answer {
        let (id, method) = (call.id().clone(), call.message.method().unwrap_or_default().to_owned());
        let mut client = match self.client(&call, &trail) {
            Ok(client) => client,
            Err(error) => return Answer::error(Some(&id), &error),
        };
        if let Some(error) = client.expired() {
            self.stats.security.expired();
            return Answer::error(Some(&id), &error);
        }
        if let Some(traffic) = &self.traffic
            && let Some(refused) = traffic.too_many(&call, &client, self.view.name()).await
        {
            return refused;
        }
        let task = self.long_call_of(&call);
        let watches = self.budgets.as_ref().filter(|_| task.is_none());
        if let Some(refused) = watches.and_then(|budgets| budgets.too_early(&call)) {
            return refused;
        }
        if let Some(task) = task {
            return Box::pin(self.about_long_call(&call, &client, &task)).await;
        }
        client.shape.is_edited = self.is_unwrapped(&call);
        let shape = client.shape.clone();
        if let Some(task) = Self::older_task_of(&call) {
            let answer = Box::pin(self.about_older_task(&call, &client, (&task, &trail))).await;
            return shape.answer(&id, &method, answer, &trail);
        }
        // What is seldom asked for is on the heap: every request would have to hold the space for it.
        let outcome = match (call.context.era(), method.as_str()) {
            (Era::Legacy, "initialize") => Box::pin(self.initialize(&call, client)).await,
            (Era::Modern, "server/discover") => Box::pin(self.discover(&call, client)).await,
            (Era::Legacy, "logging/setLevel") => Box::pin(self.set_client_level(&call, &client)).await,
            (Era::Legacy, "resources/subscribe") => Box::pin(self.subscribe(&call, (&client, &trail))).await,
            (Era::Legacy, "resources/unsubscribe") => Self::unsubscribe(&call, &client),
            _ => {
                let answer = if self.shaping.search().is_some()
                    && let Some(own) = Box::pin(self.own_tool(&call, (&client, &trail))).await
                {
                    // It shows what a list shows.
                    return shape.answer(&id, "tools/list", own, &trail);
                } else {
                    match self.interceptors {
                        Some(_) => Box::pin(self.intercepted(call, client, &trail)).await,
                        None => Box::pin(self.route(call, client, &trail)).await,
                    }
                };
                return shape.answer(&id, &method, answer, &trail);
            }
        };
        match outcome {
            Ok(body) => shape.answer(&id, &method, Answer::result(&id, &body), &trail),
            Err(error) => Answer::error(Some(&id), &error),
        }
    }

    /// The upstream that answers, and the name of the target there.
    async fn route(self: Arc<Self>, call: Call, mut client: Client, trail: &Trail) -> Answer {
        let id = call.id().clone();
        // What interceptors changed is looked at once more: they must not add what was taken out.
        let call = match self.shaping.inputs().filter(|_| !client.shape.is_minimised()) {
            None => call,
            Some(inputs) => match Box::pin(self.minimised(inputs, call, &mut client, trail)).await {
                Ok(call) => call,
                Err(error) => return Answer::error(Some(&id), &error),
            },
        };
        let asked = call.message.method().unwrap_or_default();
        // What the client's era does not have is not there, even if the server's era has it.
        let same_era = self.upstream_alone().is_some_and(|upstream| upstream.era() == Some(call.context.era()));
        if let Some(refused) = self.no_older_task(&call, &client).filter(|_| !same_era) {
            return refused;
        }
        if !same_era && method::known_ever(asked) && method::find(asked, call.context.revision).is_none() {
            return Answer::error(Some(&id), &failure::method_unknown(asked));
        }
        if let Some(upstream) = self.upstream_alone() {
            let upstream = Arc::clone(upstream);
            return self.answered(upstream, (client, trail), call, Edits::default()).await;
        }
        let method = call.message.method().unwrap_or_default().to_owned();
        if let Some(list) = List::of(&method) {
            return self.list(&call, (&client, trail), list).await;
        }
        let text = |name: &str| call.message.string_member(name).map(std::borrow::Cow::into_owned);
        // A call without arguments has none, which a condition may look at.
        let none = Value::Object(serde_json::Map::new());
        let arguments = || Some(call.message.params().and_then(|params| params.get("arguments")).unwrap_or(&none));
        let found = match method.as_str() {
            "tools/call" => self.find(Action::ToolsCall, text("name"), arguments(), (&client, trail)).await,
            "prompts/get" => self.find(Action::PromptsGet, text("name"), arguments(), (&client, trail)).await,
            "resources/read" => self.find_resource(Action::ResourcesRead, text("uri"), (&client, trail)).await,
            "completion/complete" => match finding::reference(&call) {
                Ok(finding::Reference::Prompt(name)) => {
                    let known = finding::known_arguments(&call);
                    self.find(Action::CompletePrompt, Some(name), Some(&known), (&client, trail)).await
                }
                Ok(finding::Reference::Resource(uri)) => {
                    self.find_resource(Action::CompleteResource, Some(uri), (&client, trail)).await
                }
                Err(error) => Err(error),
            },
            method => Err(failure::method_unknown(method)),
        };
        let (upstream, route) = match found {
            Ok(found) => found,
            Err(error) => return Answer::error(Some(&id), &locked::of_round(error, &call)),
        };
        match finding::edits(&call, &method, &route) {
            Ok(edits) => self.guarded(upstream, (client, trail), call, edits).await,
            Err(error) => Answer::error(Some(&id), &error),
        }
    }

    /// Sends a request of our own.
    pub(crate) async fn request(
        &self,
        conversation: &Conversation,
        client: &Client,
        method: &str,
        mut params: Value,
    ) -> Result<Message, Trouble> {
        if conversation.profile.revision.era() == Era::Modern {
            // A task asks its client, and is of no use to who does not know tasks; all else asks nothing.
            let is_of_task = method.starts_with("tasks/");
            let capabilities = if is_of_task { task_capabilities(client.capabilities()) } else { json!({}) };
            params["_meta"] = json!({
                meta::PROTOCOL_VERSION: conversation.profile.revision.as_str(),
                meta::CLIENT_INFO: client.info(),
                meta::CLIENT_CAPABILITIES: capabilities,
            });
        }
        let text = json!({ "jsonrpc": "2.0", "id": 0, "method": method, "params": params }).to_string();
        let limit = self.limits.message_bytes;
        let answered = async {
            let mut flight = Flight::start(&conversation.core, method, &text, Sending::default(), limit).await?;
            loop {
                match flight.next(limit).await? {
                    Event::Response(message) => return Ok(message),
                    Event::Question(message) => flight.answer_lightly(&unasked(&message)).await,
                    // Nothing passes unread that the gateway asked for itself.
                    Event::Notification(_) | Event::Passed(_) | Event::PassedStream(_) => {}
                }
            }
        };
        timeout(self.limits.request, answered).await.unwrap_or(Err(Trouble::Timeout(self.limits.request)))
    }

    /// Sets the level of log messages of a legacy upstream, where the client wants more than it sends.
    pub(crate) async fn set_level(&self, conversation: &Conversation, level: Option<LogLevel>) {
        let Some(level) = level else { return };
        if !conversation.lower_level(level) {
            return;
        }
        let nobody = json!({ "name": "proof-gateway", "version": env!("CARGO_PKG_VERSION") });
        let text = json!({ "jsonrpc": "2.0", "id": 0, "method": "logging/setLevel",
            "params": { "level": level.as_str() } });
        let limit = self.limits.message_bytes;
        let sent = async {
            let text = text.to_string();
            let mut flight =
                Flight::start(&conversation.core, "logging/setLevel", &text, Sending::default(), limit).await?;
            while !matches!(flight.next(limit).await?, Event::Response(_)) {}
            Ok::<_, Trouble>(())
        };
        if !matches!(timeout(self.limits.start, sent).await, Ok(Ok(()))) {
            tracing::warn!(client = %nobody, "the level of log messages could not be set");
        }
    }
}

/// An answer even where making it panics: one request must not end the others.
///
/// No `async fn`: that would hold `answer` twice, once as its argument.
fn surviving(id: RequestId, answer: impl Future<Output = Answer> + Send) -> impl Future<Output = Answer> + Send {
    AssertUnwindSafe(answer).catch_unwind().map(move |ended| {
        ended.unwrap_or_else(|_| {
            tracing::error!("a request made the gateway panic");
            Answer::error(Some(&id), &failure::GATEWAY_FAILED.error("The gateway failed; the outcome is unknown"))
        })
    })
}

/// An answer that says what it lost.
pub(crate) fn noted(answer: Answer, losses: &[Loss]) -> Answer {
    if losses.is_empty() {
        return answer;
    }
    match std::str::from_utf8(answer.text()).map(|text| with_losses(text, losses)) {
        Ok(std::borrow::Cow::Owned(text)) => answer.with_text(text.into_bytes()),
        _ => answer,
    }
}

/// A question outside the requests of a client: answered by what never harms.
pub(crate) fn unasked(message: &Message) -> String {
    match message.method() {
        Some("ping") => result_text(message.id(), &json!({})),
        Some("roots/list") => result_text(message.id(), &json!({ "roots": [] })),
        Some("elicitation/create") => result_text(message.id(), &json!({ "action": "cancel" })),
        Some("sampling/createMessage") => error_text(message.id(), &RpcError::new(-1, "No client can be asked now")),
        method => error_text(message.id(), &RpcError::method_not_found(method.unwrap_or_default())),
    }
}

/// The gateway's own name and version.
pub(crate) fn identity() -> Value {
    json!({ "name": "proof-gateway", "version": env!("CARGO_PKG_VERSION") })
}

/// Who sends a request.
fn client_of(call: &Call) -> Result<Client, RpcError> {
    let context = &call.context;
    let introduction = match context.era() {
        Era::Modern => Introduction::Request(call.message.clone()),
        Era::Legacy if call.message.method() == Some("initialize") => {
            let params = call.message.params();
            let get = |name: &str| params.and_then(|params| params.get(name)).cloned();
            let bad = |what: &str| failure::PARAMS_INVALID.error(format!("Invalid params: `{what}`"));
            let capabilities = get("capabilities").filter(Value::is_object).ok_or_else(|| bad("capabilities"))?;
            let info = get("clientInfo")
                .filter(|info| ["name", "version"].iter().all(|name| info.get(name).is_some_and(Value::is_string)));
            Introduction::Given(Arc::new((info.ok_or_else(|| bad("clientInfo"))?, capabilities)))
        }
        Era::Legacy => context.session.clone().map_or(Introduction::Nothing, Introduction::Session),
    };
    Ok(Client {
        revision: context.revision,
        introduction,
        subject: context.subject.clone(),
        grant: context.grant.clone(),
        session: context.session.clone(),
        link: call.link.of_session(),
        shape: ClientShape::default(),
    })
}

#[cfg(test)]
mod tests {
    use net::service::Answer;
    use wire::RequestId;

    use super::surviving;

    #[tokio::test]
    async fn a_panic_is_an_answer_whose_outcome_is_unknown() {
        let answer = surviving(RequestId::from(7), async {
            tokio::task::yield_now().await;
            assert!(std::hint::black_box(false), "a bug");
            Answer::raw(Vec::new(), None)
        });
        let text = String::from_utf8(answer.await.into_text()).expect("a text");
        assert!(text.contains(r#""id":7"#) && text.contains(r#""outcome":"unknown""#), "{text}");
    }
}

mod answering;
mod as_task;
mod carrying;
mod changing;
mod consenting;
mod failing;
mod finding;
mod following;
mod following_tasks;
mod guarded;
mod intercepting;
mod known_lists;
mod known_tools;
mod listing;
mod locked;
mod looks;
mod measured;
mod minimised;
mod missing;
mod older_tasks;
mod opening;
mod outputs;
mod recorded;
pub(crate) mod rejected;
mod searching;
mod shaped;
mod traced;

pub(crate) use self::changing::outside;
pub(crate) use self::missing::Missing;
pub(crate) use self::older_tasks::unknown_status;
