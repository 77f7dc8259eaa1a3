//! One request of a client, carried to one upstream and back: translated both ways, its notifications passed on, its
//! questions answered. Every way out is an answer.

mod asking;
mod finishing;
mod limited;
mod older_tasks;
mod retrying;
mod tasks;
mod texts;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use net::server::http::{Body, HeaderMap};
use net::service::{Answer, Call, RpcError};
use serde_json::{Value, json};
use tokio::time::timeout;
use wire::http::{Annotation, PARAM_PREFIX, annotations, check_headers};
use wire::translate::message::{Envelope, RequestEdits, Translated, notification};
use wire::translate::table::{Loss, losses, with_losses};
use wire::{Era, Message, Revision, meta, method};

use self::asking::Handling;
pub(crate) use self::asking::{QUESTIONS, may_ask, unable};
use self::retrying::Round;
pub(crate) use self::tasks::task_capabilities;
pub(crate) use self::texts::{error_text, result_text, with_params};
use self::texts::{with_round, with_trace};
use crate::answers::Watch;
use crate::answers::cache::OpenWrite;
use crate::audit::Trail;
use crate::budget::Allowance;
use crate::failure;
use crate::gateway::{Inner, noted, rejected};
use crate::outputs::OutputCheck;
use crate::parked::{ParkedRequests, Question};
use crate::session::LogLevel;
use crate::telemetry::Outgoing;
use crate::traffic::Passage;
use crate::upstream::{Carrier, Client, Conversation, Event, Flight, Lease, Sending, Trouble, Upstream};

/// How many rounds of questions one request may take.
const ROUNDS: u32 = 16;
/// How much later than its end a request is given up that was not sent by then.
const SLACK: Duration = Duration::from_millis(20);
/// How long questions that come one after the other may be gathered for one round.
const GATHER: Duration = Duration::from_millis(5);

/// A request on its way.
pub(crate) struct Relay {
    pub(crate) gateway: Arc<Inner>,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) client: Client,
    pub(crate) call: Call,
    /// How it differs at the upstream.
    edits: Edits,
    /// The number of the request in the log.
    request: u64,
    /// The time that it has, where calls of tools have budgets.
    allowance: Option<Arc<Allowance>>,
    /// What let it in, where traffic has limits.
    passage: Option<Passage>,
    /// The call was sent as a task, which the client did not ask for.
    is_task: AtomicBool,
    /// The client gets that task.
    shows_task: AtomicBool,
    /// The server needs to know that the call may become a task.
    needs_task: AtomicBool,
    /// How many bytes of questions are with a legacy client.
    asking: AtomicUsize,
    /// What was lost so far.
    lost: Mutex<Vec<Loss>>,
    /// Says which upstream got it.
    trail: Trail,
}

/// How a request differs at its upstream, apart from the revision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edits {
    /// A member of `params` that has another value.
    pub(crate) name: Option<(&'static str, String)>,
    /// The request in place of the client's.
    pub(crate) text: Option<String>,
    /// What notes the course of a request whose answer may be kept: it is read whole.
    pub(crate) watch: Option<Arc<Watch>>,
    /// What the request says of its trace, in place of what the client said.
    pub(crate) trace: Option<Outgoing>,
    /// It changes what the cache keeps.
    pub(crate) write: Option<Arc<OpenWrite>>,
    /// How the result is held against the schema of its tool.
    pub(crate) output: Option<OutputCheck>,
    /// When the request came, where it may have waited since.
    pub(crate) arrived: Option<Instant>,
    /// Says that the client was asked something in the course of it.
    pub(crate) asked: Option<Arc<AtomicBool>>,
}

impl Edits {
    /// Whether the answer is looked at, so that it is read whole.
    const fn need_the_answer(&self) -> bool {
        self.watch.is_some() || self.output.is_some()
    }
}

/// What a step leads to.
enum Step {
    Done(Answer),
    /// Another round with these texts for `inputResponses` and `requestState`.
    Again(Option<Value>, Option<String>),
}

impl Relay {
    pub(crate) fn new(
        gateway: Arc<Inner>,
        upstream: Arc<Upstream>,
        client: Client,
        call: Call,
        edits: Edits,
        (request, trail): (u64, Trail),
        (allowance, passage): (Option<Arc<Allowance>>, Option<Passage>),
    ) -> Self {
        let [is_task, shows_task, needs_task] = [(); 3].map(|()| AtomicBool::new(false));
        let lost = Mutex::new(Vec::new());
        Self {
            gateway,
            upstream,
            client,
            call,
            edits,
            request,
            allowance,
            passage,
            is_task,
            shows_task,
            needs_task,
            asking: AtomicUsize::new(0),
            lost,
            trail,
        }
    }

    /// The request, as the upstream gets it but for its revision.
    fn text(&self) -> &str {
        self.edits.text.as_deref().unwrap_or(self.call.message.text())
    }

    fn method(&self) -> &str {
        self.call.message.method().unwrap_or_default()
    }

    fn to(&self) -> Revision {
        self.call.context.revision
    }

    fn refuse(&self, error: &RpcError) -> Answer {
        Answer::error(self.call.message.id(), error)
    }

    fn failed(&self, trouble: &Trouble) -> Answer {
        if let Trouble::Refused(error) = trouble {
            return self.refuse(error);
        }
        tracing::warn!(
            request = self.request,
            upstream = self.upstream.name,
            method = self.method(),
            "no answer: {trouble:?}"
        );
        self.refuse(&trouble.error(&self.upstream.name))
    }

    /// Counts what was lost; the answer says it.
    fn lose(&self, loss: Loss) {
        self.gateway.losses.count(loss, &self.upstream.name, self.method());
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if !lost.contains(&loss) {
            lost.push(loss);
        }
    }

    /// Carries the request.
    ///
    /// No `async fn`: that would hold `self` twice, once as its argument.
    pub(crate) fn run(self) -> impl Future<Output = Answer> + Send {
        let relay = self;
        async move {
            let answer = relay.carry().await;
            let lost = std::mem::take(&mut *relay.lost.lock().unwrap_or_else(PoisonError::into_inner));
            noted(answer, &lost)
        }
    }

    async fn carry(&self) -> Answer {
        // Who reads the first and who reads the last of two members would act on different requests.
        if let Some(twice) = self.call.message.repeated_parameter() {
            let name = wire::escape::line(twice).into_owned();
            return self.refuse(&failure::PARAMS_INVALID.error(format!("Invalid params: `{name}` stands twice")));
        }
        if self.has_malformed_responses() {
            return self.refuse(
                &failure::PARAMS_INVALID.error("Invalid params: `inputResponses` does not answer what was asked"),
            );
        }
        if let Some(state) = self.state().filter(|state| ParkedRequests::is_ours(state)) {
            return Box::pin(self.retry(&state)).await;
        }
        if self.is_of_task()
            && let Some(answer) = Box::pin(self.answer_of_task()).await
        {
            return answer;
        }
        let asks = self.may_have_rounds();
        let mut round: Option<Round> = None;
        for attempt in 0..=ROUNDS {
            // Between two rounds, its client may have taken its time.
            if round.is_some()
                && let Err(trouble) = Box::pin(self.look_again()).await
            {
                return self.failed(&trouble.of_round());
            }
            match self.step(asks, round.take(), attempt).await {
                Ok(Step::Done(answer)) => return answer,
                Ok(Step::Again(responses, state)) => round = Some((responses, state)),
                Err(trouble) => return self.failed(&trouble),
            }
        }
        let what = format!("The server `{}` asks again and again", self.upstream.name);
        self.refuse(&failure::ASKS_WITHOUT_END.error(what))
    }

    /// Whether a modern client may be asked in the course of the request.
    fn may_have_rounds(&self) -> bool {
        matches!(self.method(), "tools/call" | "prompts/get" | "resources/read")
    }

    /// A legacy server never sees `inputResponses`: they are looked at here.
    fn has_malformed_responses(&self) -> bool {
        let legacy = self.upstream.era() == Some(Era::Legacy) && self.call.context.era() == Era::Modern;
        let given = self.call.message.body_member("inputResponses").filter(|_| legacy);
        given.is_some_and(|given| !given.starts_with('{'))
    }

    /// The state that a retried request carries, where it can be one of ours.
    fn state(&self) -> Option<String> {
        let modern = self.call.context.era() == Era::Modern;
        self.call.message.string_member("requestState").filter(|_| modern).map(Cow::into_owned)
    }

    /// Sends the request; once more in a new session where the server says that it did not run it.
    async fn start(&self, asks: bool, round: Option<Round>) -> Result<(Lease, Flight), Trouble> {
        let text = match &round {
            None => Cow::Borrowed(self.text()),
            Some((responses, state)) => Cow::Owned(with_round(self.text(), responses.as_ref(), state.as_deref())),
        };
        let mut again = true;
        loop {
            let lease = self.in_time(self.upstream.lease(&self.client, asks)).await?;
            match self.send(lease.conversation(), &text, round.is_some()).await {
                Ok(flight) => return Ok((lease, flight)),
                Err(Trouble::SessionGone) if again => {
                    again = false;
                    lease.conversation().core.abandon();
                    drop(lease);
                    Box::pin(self.look_again()).await?;
                }
                Err(trouble) => return Err(trouble),
            }
        }
    }

    async fn send(&self, conversation: &Conversation, text: &str, is_round: bool) -> Result<Flight, Trouble> {
        let profile = &conversation.profile;
        let (from, to) = (self.call.context.era(), profile.revision.era());
        // What the server's era does not have is not there: it may mean something else by the name.
        let unknown = method::known_ever(self.method()) && method::find(self.method(), profile.revision).is_none();
        if from != to && unknown {
            return Err(Trouble::Refused(failure::method_unknown(self.method())));
        }
        let (level, to_modern) = (self.log_level_at(to), from == Era::Legacy && to == Era::Modern);
        let declared: fn(&Value) -> Value =
            if self.may_become_task(profile) && self.offers_tasks() { task_capabilities } else { modern_capabilities };
        let capabilities = to_modern.then(|| declared(self.client.capabilities()));
        let envelope = capabilities.as_ref().map(|capabilities| Envelope {
            revision: profile.revision,
            client: self.client.info(),
            capabilities,
            log_level: level.as_ref().map(|level| level.as_str()),
        });
        let name = self.edits.name.as_ref().map(|(member, value)| (*member, value.as_str()));
        let to_legacy = from == Era::Modern && to == Era::Legacy;
        let edits = RequestEdits { name, envelope, to_legacy, ..RequestEdits::default() };
        let edited = name.is_some() || self.edits.text.is_some() || is_round || self.client.shape.is_rewritten();
        let unchanged = from == Era::Modern && to == Era::Modern && !edited;
        let over_http = matches!(conversation.core.carrier, Carrier::Http(_));
        let headers = self.call.context.headers.as_ref().filter(|_| unchanged && over_http);
        // Only a modern client has such headers, and only a modern server wants them.
        let mirrors = headers.is_none() && (from == Era::Modern || (to == Era::Modern && over_http));
        let schema = if mirrors { self.mirrored_schema().await? } else { None };
        if let Some(error) = self.header_mismatch(schema.as_deref()) {
            return Err(Trouble::Refused(error));
        }
        if to == Era::Legacy && profile.declares(&["logging"]) {
            Box::pin(self.gateway.set_level(conversation, level)).await;
        }
        let text = self.as_task(profile, text).await;
        let text: &str = &with_trace(text, self.edits.trace.as_ref());
        // Between two parties of one revision, a result needs no edit. Tools may have to be left out, and a record says what
        // the result was.
        let passes = unchanged
            && self.gateway.audit.is_none()
            && self.client.shape.passes()
            && !self.needs_the_answer()
            && self.allowance.is_none()
            && over_http
            && profile.revision == self.to()
            && self.method() != "tools/list"
            && self.call.takes_body();
        let sending = Sending {
            edits,
            headers,
            schema: schema.as_deref(),
            added: self.client.shape.added_headers(),
            message: Some(&self.call.message).filter(|message| std::ptr::eq(message.text(), text)),
            passes: passes.then_some(self.gateway.limits.request),
            until: self.allowance.as_ref().map(|allowance| Instant::now() + allowance.left()),
            task: None,
            write: self.edits.write.as_ref(),
        };
        let (limit, begun) = (self.gateway.limits.message_bytes, Instant::now());
        self.trail.goes_to(&self.upstream.name);
        let started = Flight::start(&conversation.core, self.method(), text, sending, limit);
        // What is over when its POST is answered is given up by who follows it.
        let patience = self.time_left().saturating_add(SLACK).min(self.gateway.limits.request);
        timeout(patience, started).await.unwrap_or_else(|_| Err(self.gave_up(conversation, None, begun)))
    }

    /// Whether the answer is read here, so that it cannot pass as it comes.
    fn needs_the_answer(&self) -> bool {
        self.edits.need_the_answer() || self.upstream.is_watched()
    }

    /// The name of the called tool at the upstream.
    fn tool(&self) -> Option<String> {
        match &self.edits.name {
            Some((_, name)) => Some(name.clone()),
            None => self.call.message.string_member("name").map(Cow::into_owned),
        }
    }

    /// The input schema of the tool, where it says that arguments stand in headers, too. Headers that cannot be compared,
    /// because the tools of the server are not known yet, are refused.
    async fn mirrored_schema(&self) -> Result<Option<Arc<Value>>, Trouble> {
        let Some(tool) = self.tool().filter(|_| self.method() == "tools/call") else { return Ok(None) };
        let schema = self.gateway.mirrored_schema(&self.upstream, &self.client, &tool).await;
        let headers = self.call.context.headers.as_ref().filter(|_| self.call.context.era() == Era::Modern);
        let mirrored = headers.is_some_and(|all| all.keys().any(|name| name.as_str().starts_with("mcp-param-")));
        if schema.is_none() && mirrored && !self.gateway.knows_tools_of(&self.upstream, &self.client).await {
            let what =
                "The headers of this call cannot be compared with its arguments: the tools of the server are not known";
            let data = json!({ "upstream": self.upstream.name });
            return Err(Trouble::Refused(failure::TOOLS_NOT_KNOWN.error_with(what, data)));
        }
        Ok(schema)
    }

    /// Why the headers of a modern client are refused. Its other headers were compared when the request came in.
    fn header_mismatch(&self, schema: Option<&Value>) -> Option<RpcError> {
        let headers = self.call.context.headers.as_ref().filter(|_| self.call.context.era() == Era::Modern)?;
        let schema = schema.filter(|_| !self.client.shape.is_rewritten())?;
        header_fault(headers, &self.call.message, schema)
    }

    /// The log level to set at a server of this era. Between two modern parties, the request carries it.
    fn log_level_at(&self, to: Era) -> Option<LogLevel> {
        let says = self.call.context.era() == Era::Modern && to == Era::Modern;
        if says { None } else { self.log_level() }
    }

    /// The level of log messages that the client wants; none where it wants none.
    fn log_level(&self) -> Option<LogLevel> {
        match &self.client.session {
            Some(session) => crate::session::ClientState::of(session).level(),
            None => self.call.message.meta_member(meta::LOG_LEVEL).and_then(|level| level.as_str()?.parse().ok()),
        }
    }

    /// Takes the messages of the request, to its answer.
    async fn follow(
        &self,
        lease: Lease,
        mut flight: Flight,
        questions: Vec<Question>,
        attempt: u32,
    ) -> Result<Step, Trouble> {
        let conversation = Arc::clone(lease.conversation());
        let limits = &self.gateway.limits;
        let mut asked: FuturesUnordered<BoxFuture<'_, String>> = FuturesUnordered::new();
        let mut parked = questions;
        let begun = Instant::now();
        let end = begun + limits.request_total;
        loop {
            // While the client is asked, the time of the call does not count.
            let left = if asked.is_empty() { self.time_left() } else { Duration::MAX };
            let next = async {
                if flight.has_waiting() {
                    return Ok(flight.next(limits.message_bytes).await);
                }
                // Questions that come together are one round.
                let patience = if parked.is_empty() { limits.request } else { GATHER };
                // Messages without end keep no request open.
                let patience = patience.min(left).min(end.saturating_duration_since(Instant::now()));
                timeout(patience, flight.next(limits.message_bytes)).await
            };
            let event = tokio::select! {
                biased;
                Some(text) = asked.next(), if !asked.is_empty() => {
                    flight.answer(&text).await?;
                    continue;
                }
                event = next => match event {
                    Ok(event) => event?,
                    Err(_) if !parked.is_empty() => return Ok(Step::Done(self.park(lease, flight, parked))),
                    // A question is with the user: that may take long.
                    Err(_) if !asked.is_empty() && Instant::now() < end => continue,
                    Err(_) => return Err(self.gave_up(&conversation, Some(flight), begun)),
                },
            };
            self.note_event(&event);
            match event {
                Event::Notification(message) => self.pass_on(&message),
                Event::Question(message) => match self.question(message, conversation.profile.revision, &parked) {
                    Handling::Answer(text) => flight.answer_lightly(&text).await,
                    Handling::Ask(asking) => asked.push(asking),
                    Handling::Park(question) => parked.push(*question),
                    Handling::GiveUp(text, why) => {
                        flight.answer_lightly(&text).await;
                        return Ok(Step::Done(self.give_up(why)));
                    }
                },
                Event::Response(message) => {
                    let Some(task) = self.task_of(&message) else {
                        let message = rejected::without_rejected(&self.upstream.name, &conversation, message);
                        return self.finish(&conversation, message, attempt).await;
                    };
                    if let Some(answer) = self.show_task(&conversation, &message, &task) {
                        return Ok(Step::Done(answer));
                    }
                    flight = Box::pin(self.result_of_task(&conversation, &task)).await?;
                }
                Event::Passed(body) => return Ok(Step::Done(Answer::passed(Body::boxed(body)))),
                Event::PassedStream(body) => return Ok(Step::Done(Answer::passed_event(Body::boxed(body)))),
            }
        }
    }

    /// Whether a notification is one that the client's revision has, or that none has.
    fn knows(&self, method: &str) -> bool {
        !method::known_ever(method) || method::find(method, self.to()).is_some()
    }

    /// A notification as the client gets it, with what it lost.
    fn noted_notification(&self, translated: Translated<'_>) -> String {
        let count = |loss: &Loss| self.gateway.losses.count(*loss, &self.upstream.name, self.method());
        translated.losses.iter().for_each(count);
        match with_losses(&translated.text, &translated.losses) {
            Cow::Owned(text) => text,
            Cow::Borrowed(_) => translated.text.into_owned(),
        }
    }

    /// Passes a notification of the server on.
    fn pass_on(&self, message: &Message) {
        if self.gateway.withholds(&self.upstream) {
            return;
        }
        let text = match message.method() {
            Some("notifications/progress") => {
                let token = self.call.message.meta().and_then(|meta| meta.get("progressToken"));
                // A client that wants no progress gets none.
                let Some(token) = token.map(ToString::to_string) else { return };
                notification(message.text(), Some(&token), self.to())
            }
            Some("notifications/message") => {
                let level = message.params().and_then(|params| params.get("level")?.as_str()?.parse::<LogLevel>().ok());
                let wanted = match (&self.client.session, self.log_level()) {
                    (_, Some(wanted)) => level.is_none_or(|level| level >= wanted),
                    // Before it sets a level, a legacy client gets what the server chooses.
                    (session, None) => session.is_some(),
                };
                if !wanted {
                    return;
                }
                notification(message.text(), None, self.to())
            }
            Some("notifications/cancelled") => return,
            Some("notifications/elicitation/complete") if !self.knows("notifications/elicitation/complete") => {
                return self.lose(losses::ELICITATION_COMPLETE);
            }
            Some("notifications/tasks/status") if !self.knows("notifications/tasks/status") => {
                return self.lose(losses::TASK_STATUS);
            }
            Some(method) if method.ends_with("list_changed") || method == "notifications/resources/updated" => {
                return self.gateway.changed_at(self.upstream.index, message);
            }
            _ => notification(message.text(), None, self.to()),
        };
        let text = self.noted_notification(text);
        if let Some(text) = self.client.shape.notification(&text) {
            let _ = self.call.link.send(text.into_owned());
        }
    }
}

/// The capabilities that the gateway declares to a modern server for a legacy client.
fn modern_capabilities(capabilities: &Value) -> Value {
    let mut capabilities = capabilities.clone();
    if let Some(members) = capabilities.as_object_mut() {
        members.remove("tasks");
        if let Some(roots) = members.get_mut("roots").and_then(Value::as_object_mut) {
            roots.remove("listChanged");
        }
    }
    capabilities
}
/// Why the headers of a call of a tool are refused: they contradict it, or mirror an argument that it does not have.
pub(crate) fn header_fault(headers: &HeaderMap, message: &Message, schema: &Value) -> Option<RpcError> {
    let faults = check_headers(&net::client::header_list(headers), message, Some(schema));
    let fault = match faults.first() {
        Some(fault) => fault.to_string(),
        None => {
            format!("header {} mirrors an argument that is not there", header_of_nothing(headers, message, schema)?)
        }
    };
    let what = wire::escape::line(&format!("Header mismatch: {fault}")).into_owned();
    Some(failure::HEADERS_DIFFER.error(what))
}

/// A header that mirrors an argument which the call does not have.
fn header_of_nothing(headers: &HeaderMap, message: &Message, schema: &Value) -> Option<String> {
    let arguments = message.params().and_then(|params| params.get("arguments"));
    let is_there = |path: &[String]| {
        let found = path.iter().try_fold(arguments?, |value, name| value.get(name))?;
        (!found.is_null()).then_some(())
    };
    let unbacked = |one: Annotation| {
        let header = format!("{PARAM_PREFIX}{}", one.name);
        (headers.contains_key(&*header) && is_there(&one.path).is_none()).then_some(header)
    };
    annotations(schema).valid.into_iter().find_map(unbacked)
}
