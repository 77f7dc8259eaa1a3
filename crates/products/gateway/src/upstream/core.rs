//! One connection to an upstream and the requests that are open on it. Finds the request that a message belongs to; knows
//! no method's meaning but of those few that say where they belong.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use net::upstream::{Child, Ended, Output, Passed, Queue, QueueSender, Sse, WebSocket, queue};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;
use wire::message::{Malformed, Packet, parse};
use wire::redact::Redactor;
use wire::{Era, Kind, Message, Party, RequestId, Revision, meta};

use super::http::HttpLink;
use super::old_sse;
use super::trouble::Trouble;
use crate::answers::cache::OpenWrite;
use crate::context::Injected;
use crate::live::{Exchange, Open, Side};
use crate::question_room::NoRoom;

/// How many messages may wait for one request, and how many bytes the large ones of them have.
const WAITING: usize = 1024;
const WAITING_BYTES: u32 = 4 << 20;
/// How long it may take to find out why a connection has ended.
const CAUSE: Duration = Duration::from_secs(1);
/// How many answers are still looked out for that nobody waits for.
const MOST_LEFT: usize = 1024;
/// The methods in whose course a server may ask its client something.
const ASKING: [&str; 4] = ["tools/call", "prompts/get", "resources/read", "tasks/result"];

/// A message that belongs to an open request.
#[derive(Debug)]
pub(crate) enum Event {
    /// Its response.
    Response(Message),
    /// A notification.
    Notification(Message),
    /// A request of the server.
    Question(Message),
    /// Its response: a JSON text that is a result, and that passes as it comes where [`super::Sending::passes`] allows it.
    Passed(Passed),
    /// The same as the one event of a stream.
    PassedStream(Passed),
}

/// Takes messages that belong to no open request.
pub(crate) type Unlinked = Arc<dyn Fn(&Arc<Core>, Message) + Send + Sync>;

/// What an upstream gives to each of its connections.
pub(crate) struct Parts {
    pub(crate) unlinked: Unlinked,
    /// What every request says of its principal.
    pub(crate) context: Option<Arc<Injected>>,
    /// Shows messages to those who watch.
    pub(crate) side: Side,
}

/// How messages get to the server.
pub(crate) enum Carrier {
    /// A child process.
    Child(Child),
    /// An HTTP endpoint.
    Http(HttpLink),
    /// The event stream of HTTP+SSE, and its endpoint.
    Sse(Sse),
    /// A WebSocket.
    WebSocket(WebSocket),
}

/// Whose messages these are, for the log, and what no text about it shows.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) name: String,
    pub(crate) redactor: Redactor,
}

/// What comes for an open request: a message, or why none can be read. Boxed: a channel allocates room for many at once.
pub(super) type Incoming = Box<Result<Event, Trouble>>;

/// What a question of a server belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asker {
    Request,
    /// The result of a task, which the gateway follows.
    Task,
}

struct Entry {
    sender: QueueSender<Incoming>,
    /// A question of the server may belong to it.
    asks: bool,
    /// The task whose result it waits for, where that is followed by the gateway alone.
    task: Option<String>,
    /// No log message is caused by it.
    is_quiet: bool,
}

/// A connection to an upstream.
pub(crate) struct Core {
    pub(crate) carrier: Carrier,
    /// The revision spoken, once it is known.
    pub(crate) revision: OnceLock<Revision>,
    entries: Mutex<HashMap<i64, Entry>>,
    /// The ids of open requests that have no entry.
    alone: Mutex<HashSet<RequestId>>,
    /// Requests that nobody waits for any more, and what their answers settle.
    left: Mutex<BTreeMap<i64, Arc<OpenWrite>>>,
    next: AtomicI64,
    unlinked: Unlinked,
    /// What every request says of its principal.
    pub(super) context: Option<Arc<Injected>>,
    /// Shows messages to those who watch.
    pub(super) side: Side,
    ended: AtomicBool,
    /// Why it has ended by itself.
    cause: watch::Sender<Option<String>>,
    begun: Instant,
    /// When the last message came.
    heard: Mutex<Instant>,
    /// When the first request began since then that ran out of its own time.
    unheard: Mutex<Option<Instant>>,
    /// Whether it is being found out if the server still does anything.
    doubt: watch::Sender<bool>,
}

impl Core {
    /// A connection whose messages all come out of one receiver, which a task reads.
    pub(crate) fn of_pipe(carrier: Carrier, output: Queue<Output>, origin: Origin, parts: Parts) -> Arc<Self> {
        let core = Self::new(carrier, parts);
        tokio::spawn(read(Arc::downgrade(&core), output, origin));
        core
    }

    /// A connection over HTTP.
    pub(crate) fn of_http(http: HttpLink, parts: Parts) -> Arc<Self> {
        Self::new(Carrier::Http(http), parts)
    }

    fn new(carrier: Carrier, parts: Parts) -> Arc<Self> {
        let Parts { unlinked, context, side } = parts;
        let side = side.with_connection();
        Arc::new(Self {
            carrier,
            revision: OnceLock::new(),
            entries: Mutex::default(),
            alone: Mutex::default(),
            left: Mutex::default(),
            next: AtomicI64::new(1),
            unlinked,
            context,
            side,
            ended: AtomicBool::new(false),
            cause: watch::Sender::new(None),
            begun: Instant::now(),
            heard: Mutex::new(Instant::now()),
            unheard: Mutex::default(),
            doubt: watch::Sender::new(false),
        })
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<i64, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What every request says of its principal.
    pub(crate) const fn context(&self) -> Option<&Arc<Injected>> {
        self.context.as_ref()
    }

    /// Whether it can carry no more requests.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Why it has ended. Known a moment after the end.
    pub(crate) async fn cause(&self) -> String {
        let mut cause = self.cause.subscribe();
        let found = timeout(CAUSE, cause.wait_for(Option::is_some)).await;
        found.ok().and_then(|cause| cause.ok()?.clone()).unwrap_or_else(|| "it has ended".to_owned())
    }

    /// A request that was sent at `since` got no answer in its time. Where nothing at all has come for half of that time, the
    /// server does nothing any more: later requests begin another conversation. Otherwise it is asked whether it does.
    pub(crate) fn gave_up(self: &Arc<Self>, since: Instant) -> Trouble {
        let trouble = Trouble::Timeout(since.elapsed());
        if matches!(self.carrier, Carrier::Http(_)) {
            return trouble;
        }
        if self.heard() < since + since.elapsed() / 2 {
            tracing::warn!("a connection on which nothing comes is given up");
            self.abandon();
        } else if let Some(revision) = self.revision.get()
            && !self.doubt.send_replace(true)
        {
            tokio::spawn(prove(Arc::clone(self), *revision, since.elapsed() / 4));
        }
        trouble
    }

    /// A request that was sent at `since` ran out of its own time, which may be short: that alone says nothing of the server.
    /// Where requests go on doing so and nothing has come for `patience`, later ones begin another conversation.
    pub(crate) fn ran_out(self: &Arc<Self>, since: Instant, patience: Duration) {
        if matches!(self.carrier, Carrier::Http(_)) {
            return;
        }
        let heard = self.heard();
        let mut unheard = self.unheard.lock().unwrap_or_else(PoisonError::into_inner);
        let first = unheard.filter(|first| *first > heard).map_or(since, |first| first.min(since));
        *unheard = Some(first).filter(|first| *first > heard);
        if unheard.is_some_and(|first| first.elapsed() > patience) {
            tracing::warn!("a connection on which nothing comes is given up");
            self.abandon();
        }
    }

    fn heard(&self) -> Instant {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while it is in doubt whether the server does anything; says whether it was. Until then it gets no more requests:
    /// one that was stopped would leave their outcome unknown, too.
    pub(crate) async fn was_in_doubt(&self) -> bool {
        let mut doubt = self.doubt.subscribe();
        let in_doubt = *doubt.borrow_and_update();
        if in_doubt {
            let _ = doubt.wait_for(|doubt| !*doubt).await;
        }
        in_doubt
    }

    /// How long it lasted, where it has ended by itself; and why.
    pub(crate) fn own_end(&self) -> Option<(Duration, String)> {
        Some((self.begun.elapsed(), self.cause.borrow().clone()?))
    }

    /// How many requests are open.
    pub(crate) fn open_requests(&self) -> usize {
        self.entries().len() + self.alone().len()
    }

    fn alone(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.alone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request whose messages come on a stream of its own: it needs no entry. Its id there: `id`, unless another
    /// client's open request has it, which no second one may have (2026-07-28, basic#requests).
    pub(super) fn begin_alone(&self, id: RequestId) -> RequestId {
        let mut open = self.alone();
        if open.insert(id.clone()) {
            return id;
        }
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let id = RequestId::String(format!("proof-gateway-{number}"));
            if open.insert(id.clone()) {
                return id;
            }
        }
    }

    /// It has ended.
    pub(super) fn end_alone(&self, id: &RequestId) {
        self.alone().remove(id);
    }

    /// An id for a request, and where its messages come out.
    pub(super) fn register(&self, method: &str, task: Option<&str>) -> (i64, Queue<Incoming>) {
        let (sender, receiver) = queue(WAITING, WAITING_BYTES);
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        // What a task logs is caused by its call, which has ended.
        let is_quiet = matches!(method, "subscriptions/listen" | "ping") || task.is_some();
        let entry = Entry { sender, asks: ASKING.contains(&method), task: task.map(str::to_owned), is_quiet };
        self.entries().insert(id, entry);
        (id, receiver)
    }

    /// A request was given up. Nothing but its response is taken for it any more.
    pub(super) fn asks_no_more(&self, id: i64) {
        if let Some(entry) = self.entries().get_mut(&id) {
            entry.asks = false;
            entry.is_quiet = true;
        }
    }

    fn left(&self) -> MutexGuard<'_, BTreeMap<i64, Arc<OpenWrite>>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody waits for the response of a request any more; if it comes, `write` learns it.
    pub(super) fn awaits(&self, id: i64, write: Arc<OpenWrite>) {
        let mut left = self.left();
        left.insert(id, write);
        if left.len() > MOST_LEFT {
            left.pop_first();
        }
    }

    pub(super) fn forget(&self, id: i64) {
        self.entries().remove(&id);
    }

    /// The server has ended its session: later requests begin another one.
    pub(crate) fn abandon(&self) {
        self.ended.store(true, Ordering::Release);
    }

    /// No message comes any more: every open request learns it.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        self.entries().clear();
    }

    async fn find_cause(&self, too_long: bool) -> String {
        if too_long {
            if let Carrier::Child(child) = &self.carrier {
                child.kill();
            }
            return "a message is larger than the limit".to_owned();
        }
        match &self.carrier {
            Carrier::Child(child) => {
                let cause = child.cause().await;
                // Without its stdout it is of no use.
                child.kill();
                cause
            }
            Carrier::Sse(_) => "its event stream ended".to_owned(),
            Carrier::WebSocket(_) => "the WebSocket was closed".to_owned(),
            Carrier::Http(_) => "it has ended".to_owned(),
        }
    }

    /// Sends a message that has no response.
    pub(crate) async fn post(&self, text: &str) -> Result<(), Trouble> {
        self.post_in(None, text).await
    }

    /// The same in the course of an exchange.
    pub(super) async fn post_in(&self, exchange: Option<&Exchange>, text: &str) -> Result<(), Trouble> {
        let text = &*self.context.as_ref().map_or(Cow::Borrowed(text), |context| context.cleaned(text));
        match exchange {
            Some(exchange) => exchange.shows(Party::Client, text),
            None => self.side.shows(Party::Client, text),
        }
        match &self.carrier {
            Carrier::Child(child) => self.write(child, text).await,
            Carrier::Sse(sse) => old_sse::post(sse, text).await,
            Carrier::WebSocket(socket) => Ok(socket.send(text).await?),
            Carrier::Http(http) => http.post(text, self.revision.get().copied()).await,
        }
    }

    /// Writes a message to the child process.
    pub(super) async fn write(&self, child: &Child, text: &str) -> Result<(), Trouble> {
        match child.send(text.as_bytes()).await {
            Ok(()) => Ok(()),
            Err(Ended::NotSent) => Err(Trouble::NotSent(self.cause().await)),
            Err(Ended::Unknown) => Err(Trouble::Unknown(self.cause().await)),
        }
    }

    /// Takes a message that did not come in the response to a request.
    pub(super) async fn receive(self: &Arc<Self>, bytes: &[u8]) {
        match parse(bytes) {
            Ok(Packet::Message(message)) => self.route(message).await,
            Ok(Packet::Batch(parts)) => {
                for message in parts.into_iter().flatten() {
                    self.route(message).await;
                }
            }
            Err(malformed) => {
                let id = malformed.answered().and_then(number);
                let entry = id.and_then(|id| self.entries().remove(&id));
                if let Some(entry) = entry {
                    let _ = entry.sender.send(Box::new(Err(invalid(&malformed))), 0).await;
                } else {
                    tracing::debug!(fault = %malformed.fault, "ignored an invalid message of an upstream");
                }
            }
        }
    }

    pub(super) async fn route(self: &Arc<Self>, message: Message) {
        let target = match message.kind() {
            Kind::Result | Kind::Error => {
                let Some(id) = message.id().and_then(number) else { return };
                if let Some(write) = self.left().remove(&id) {
                    write.answered();
                }
                // Later messages of this id are for nobody.
                let entry = self.entries().remove(&id);
                entry.map(|entry| (entry.sender, Event::Response as fn(Message) -> Event))
            }
            Kind::Notification => self.target_of(&message).map(|sender| (sender, Event::Notification as _)),
            Kind::Request if !self.may_ask() => return,
            Kind::Request => match self.asker(&message) {
                Some((sender, Asker::Task)) => return self.ask_of_task(&sender, message).await,
                asker => asker.map(|(sender, _)| (sender, Event::Question as _)),
            },
        };
        match target {
            Some((sender, event)) => {
                // There is one response, which must not wait for what is not read.
                let bytes = if message.kind().is_response() { 0 } else { message.text().len() };
                let _ = sender.send(Box::new(Ok(event(message))), bytes).await;
            }
            None if message.kind().is_response() => {}
            None => {
                self.side.shows(Party::Server, message.text());
                (self.unlinked)(self, message);
            }
        }
    }

    /// Keeps what a task asks until its client looks at it. Where there is no room, the server learns it: to wait for some would
    /// hold up the answers to other requests.
    async fn ask_of_task(&self, sender: &QueueSender<Incoming>, question: Message) {
        let (bytes, id) = (question.text().len(), question.id().cloned());
        if sender.try_send(Box::new(Ok(Event::Question(question))), bytes).is_err() {
            tracing::debug!("a task asks more than there is room for");
            let _ = self.post(&NoRoom::Call.answer(id.as_ref())).await;
        }
    }

    /// Whether the server may send requests. Since 2026-07-28 none does, and no client answers one.
    pub(super) fn may_ask(&self) -> bool {
        let may = self.revision.get().is_none_or(|revision| revision.era() == Era::Legacy);
        if !may {
            tracing::debug!("ignored a request of a server: in its revision only clients send requests");
        }
        may
    }

    /// The request that a notification belongs to.
    fn target_of(&self, message: &Message) -> Option<QueueSender<Incoming>> {
        let entries = self.entries();
        let by_id = |value: Option<&Value>| {
            let id = RequestId::from_value(value?).as_ref().and_then(number)?;
            // What a task says between two looks at it is not read.
            entries.get(&id).filter(|entry| entry.task.is_none()).map(|entry| entry.sender.clone())
        };
        match message.method() {
            Some("notifications/progress") => by_id(message.params().and_then(|params| params.get("progressToken"))),
            // Without a link, a log message belongs to the only request that can have caused it.
            Some("notifications/message") => {
                let mut calls = entries.values().filter(|entry| !entry.is_quiet);
                calls.next().filter(|_| calls.next().is_none()).map(|entry| entry.sender.clone())
            }
            Some("notifications/cancelled") => None,
            _ => by_id(message.meta().and_then(|meta| meta.get(meta::SUBSCRIPTION_ID))),
        }
    }

    /// The only open request that a question can belong to: that for the result of the task that it names (2025-11-25,
    /// basic/utilities/tasks), or else one that waits for no task.
    fn asker(&self, question: &Message) -> Option<(QueueSender<Incoming>, Asker)> {
        let entries = self.entries();
        let named = question.meta().and_then(|meta| meta.get(meta::RELATED_TASK)?.get("taskId")?.as_str());
        let only = |may: &dyn Fn(&&Entry) -> bool| {
            let mut asking = entries.values().filter(|entry| entry.asks).filter(may);
            let only = asking.next().filter(|_| asking.next().is_none())?;
            Some((only.sender.clone(), if only.task.is_some() { Asker::Task } else { Asker::Request }))
        };
        let of_task = named.and_then(|named| only(&|entry| entry.task.as_deref() == Some(named)));
        let calls = entries.values().any(|entry| entry.asks && entry.task.is_none());
        of_task.or_else(|| only(&|entry| entry.task.is_none() || !calls))
    }
}

/// Finds out whether a server answers what every server answers, within `patience`; gives the connection up otherwise. That
/// something comes is not enough: it may be a flood.
async fn prove(core: Arc<Core>, revision: Revision, patience: Duration) {
    let (method, params) = match revision.era() {
        Era::Legacy => ("ping", json!({})),
        Era::Modern => {
            let meta = json!({
                meta::PROTOCOL_VERSION: revision.as_str(),
                meta::CLIENT_INFO: crate::gateway::identity(),
                meta::CLIENT_CAPABILITIES: {},
            });
            ("server/discover", json!({ "_meta": meta }))
        }
    };
    let (id, mut answer) = core.register(method, None);
    let text = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
    let text = core.context.as_ref().map_or(Cow::Borrowed(&*text), |context| context.request(&text));
    let seen = core.side.begin(&RequestId::from(id)).map(Open);
    let asked = async {
        if core.post_in(seen.as_ref().map(|open| &open.0), &text).await.is_err() {
            return false;
        }
        let answer = answer.recv().await;
        if let (Some(open), Some(Ok(Event::Response(message)))) = (&seen, answer.as_deref()) {
            open.0.answers(message.text().as_bytes());
        }
        answer.is_some()
    };
    if !timeout(patience, asked).await.unwrap_or(false) {
        tracing::warn!("a connection on which no answer comes any more is given up");
        core.abandon();
    }
    core.forget(id);
    core.doubt.send_replace(false);
}

/// What an invalid response means for its request: no second one can be expected.
pub(super) fn invalid(malformed: &Malformed) -> Trouble {
    Trouble::Unknown(format!("its response is invalid: {}", malformed.fault))
}

fn number(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Number(text) => text.parse().ok(),
        RequestId::String(_) => None,
    }
}

async fn read(core: Weak<Core>, mut output: Queue<Output>, origin: Origin) {
    let mut too_long = false;
    while let Some(output) = output.recv().await {
        let Some(core) = core.upgrade() else { return };
        *core.heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        match output {
            Output::Message(bytes) => core.receive(&bytes).await,
            Output::Log(line) => tracing::debug!(upstream = origin.name, "{}", wire::escape::line(&line)),
            Output::TooLong => {
                too_long = true;
                break;
            }
        }
    }
    if let Some(core) = core.upgrade() {
        // Later requests begin another conversation.
        core.abandon();
        let cause = core.find_cause(too_long).await;
        let cause = origin.redactor.redact_text(&cause).into_owned();
        tracing::warn!(upstream = origin.name, "the connection has ended: {cause}");
        core.cause.send_replace(Some(cause));
        core.end();
    }
}
