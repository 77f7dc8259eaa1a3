//! What a probe holds: a connection to the peer, what was learnt of it, and the tap that writes the trace.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use net::Tap;
use net::client::{Address, Connection, Exchange, Limits, OpenError, Outgoing, SendError};
use serde_json::{Map, Value, json};
use wire::trace::{Header, Stimulus, Trace};
use wire::{Era, Message, RequestId, Revision, Transport};

use super::answers::{Answering, Manner};
use super::hints::Hints;
use super::lock::{ChangeGuard, ChangeLock};
use super::options::CallPolicy;
use super::resume::Rest;
use super::silence::Silence;
use super::spawn_limit::{SpawnLimit, SpawnPermit};
use super::survey::Survey;

/// Why a script ended early. No judgement: what the peer did stands in the trace.
#[derive(Debug)]
pub enum Abort {
    /// The connection is gone or never came.
    Gone(String),
    /// The peer lacks something the script needs.
    Lacks(&'static str),
    /// The peer has stopped answering: see [`Silence`].
    Silent,
    /// It answers, but under ids that nobody asked with.
    Unfit,
    /// More came than the limits let in.
    Flooded,
}

impl Abort {
    /// Why nothing more is asked of a peer that is silent.
    pub fn of(silence: &Silence) -> Self {
        if silence.is_babble() { Self::Unfit } else { Self::Silent }
    }
}

impl std::fmt::Display for Abort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gone(why) => write!(f, "the connection is gone: {why}"),
            Self::Lacks(what) => write!(f, "the peer lacks {what}"),
            Self::Silent => f.write_str("the peer has stopped answering"),
            Self::Unfit => f.write_str("the peer answers under other ids than it is asked with"),
            Self::Flooded => f.write_str("the peer sends without end"),
        }
    }
}

impl From<SendError> for Abort {
    fn from(error: SendError) -> Self {
        Self::Gone(error.to_string())
    }
}

impl From<OpenError> for Abort {
    fn from(error: OpenError) -> Self {
        Self::Gone(error.to_string())
    }
}

/// How long a command may take to end after it has stopped answering, if it does.
const FAREWELL: Duration = Duration::from_millis(200);

/// How long a change may take to be announced.
pub const ANNOUNCEMENT: Duration = Duration::from_millis(600);

/// What all cases of one run have in common.
#[derive(Clone, Debug)]
pub struct Setting {
    /// How to reach the peer.
    pub address: Address,
    /// The transport.
    pub transport: Transport,
    /// The revision to speak.
    pub revision: Revision,
    /// Which tools may be called.
    pub calls: CallPolicy,
    /// What is known of the peer beforehand.
    pub hints: Hints,
    /// Whether the peer may be strained.
    pub may_strain: bool,
    /// The seed of what is drawn: arguments made from schemas, and the order of side-by-side cases. 0 draws nothing.
    pub seed: u64,
    /// Whose turn it is to change what all clients of the peer see.
    pub lock: ChangeLock,
    /// How many children may be starting at a time.
    pub spawns: SpawnLimit,
    /// Time and size limits.
    pub limits: Limits,
    /// Whether the peer still answers.
    pub silence: Arc<Silence>,
}

impl Setting {
    /// Whether the user gave what proves who asks.
    pub fn is_authorized(&self) -> bool {
        matches!(&self.address, Address::Http(http) if http.authorization().is_some())
    }

    /// A generator for one purpose: a tool's name, say.
    pub fn rng(&self, purpose: &str) -> schema::Rng {
        schema::Rng::new(self.seed, purpose)
    }
}

/// An answer, or its absence.
#[derive(Clone, Debug)]
pub struct Reply(pub Option<Message>);

impl Reply {
    /// The result, if it is one.
    pub fn result(&self) -> Option<&Value> {
        self.0.as_ref()?.result()
    }
}

/// What a probe holds. The connection can be replaced by none: a probe that wants several opens more.
pub struct ProbeContext {
    setting: Arc<Setting>,
    survey: Arc<Survey>,
    tap: Tap,
    ids: Arc<AtomicI64>,
    connection: Connection,
    answering: Answering,
    /// Held until the peer has answered once.
    start: SpawnPermit,
}

impl ProbeContext {
    /// Opens a connection for a case of that name and says nothing on it. A child counts as starting until it has
    /// answered once.
    pub async fn bare(setting: Arc<Setting>, survey: Arc<Survey>, name: &str) -> Result<Self, (Abort, Trace)> {
        let tap = Tap::new(Header::server(setting.transport, setting.revision, name));
        let ids = Arc::new(AtomicI64::new(1));
        Self::open(setting, survey, tap.clone(), ids).await.map_err(|error| (error.into(), tap.finish()))
    }

    async fn open(
        setting: Arc<Setting>,
        survey: Arc<Survey>,
        tap: Tap,
        ids: Arc<AtomicI64>,
    ) -> Result<Self, OpenError> {
        let start = setting.spawns.acquire(setting.transport).await;
        let connection = Connection::open(&setting.address, setting.revision, &tap, &setting.limits).await?;
        let answering = Answering::start(connection.clone());
        Ok(Self { setting, survey, tap, ids, connection, answering, start })
    }

    /// Plays `script` on another connection to the same peer, in the same trace, on which nothing has been said, and ends
    /// that in order whatever came of it.
    pub async fn on_another_connection<T>(
        &self,
        script: impl AsyncFnOnce(&Self) -> Result<T, Abort>,
    ) -> Result<T, Abort> {
        let (setting, survey, tap) = (self.setting.clone(), self.survey.clone(), self.tap.clone());
        let other = Self::open(setting, survey, tap, self.ids.clone()).await?;
        other.starts_within(self.survey.start);
        let outcome = script(&other).await;
        other.close().await;
        outcome
    }

    /// The child counts as started after `span`, though it may have answered nothing.
    pub fn starts_within(&self, span: Duration) {
        self.start.release_after(span);
    }

    /// The connection.
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Answers what it is asked in another manner from now on.
    pub fn answer(&self, manner: Manner) {
        self.answering.manner().set(manner);
    }

    /// The manner in which it answers.
    pub fn manner(&self) -> Manner {
        self.answering.manner().now()
    }

    /// What was learnt of the peer before.
    pub fn survey(&self) -> &Survey {
        &self.survey
    }

    /// Replaces what is known of the peer (by the probe that finds it out).
    pub fn learnt(&mut self, survey: Arc<Survey>) {
        self.survey = survey;
    }

    /// What all cases of the run have in common.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The revision spoken.
    pub fn revision(&self) -> Revision {
        self.setting.revision
    }

    /// Its era.
    pub fn era(&self) -> Era {
        self.setting.revision.era()
    }

    /// The transport.
    pub fn transport(&self) -> Transport {
        self.setting.transport
    }

    /// How long a request may take.
    pub fn patience(&self) -> Duration {
        self.setting.limits.request
    }

    /// How long a stranger's tool may take before the case goes on without its answer.
    pub fn tool_patience(&self) -> Duration {
        self.setting.limits.request.min(Duration::from_secs(4))
    }

    /// How long to wait for something that may well not come.
    pub fn short(&self) -> Duration {
        self.setting.limits.request.min(Duration::from_millis(1500))
    }

    /// The next id of a request.
    pub fn next_id(&self) -> i64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits for the turn to change what all clients of the peer see; over when the turn is dropped.
    pub async fn lock(&self) -> Result<ChangeGuard, Abort> {
        self.setting.lock.take().await.ok_or(Abort::Lacks("a moment in which nobody else changes it"))
    }

    /// Listens without sending.
    pub async fn quiet(&self, name: &str, span: Duration) {
        self.connection.quiet(name, span).await;
    }

    /// Writes into the trace that what follows is meant as `what`, where the traffic does not say so itself.
    pub fn stimulus(&self, what: Stimulus) {
        self.tap.mark(self.connection.number(), what);
    }

    /// Parameters as this era wants them: in the modern one with the request's metadata, which `params` may override.
    pub fn params(&self, params: Value) -> Value {
        if self.era() == Era::Legacy {
            return params;
        }
        let Value::Object(mut members) = params else { return params };
        let mut meta = self.meta();
        if let Some(Value::Object(given)) = members.remove("_meta") {
            meta.extend(given);
        }
        members.insert("_meta".to_owned(), Value::Object(meta));
        Value::Object(members)
    }

    /// The metadata that every modern request carries.
    pub fn meta(&self) -> Map<String, Value> {
        let mut meta = Map::new();
        meta.insert("io.modelcontextprotocol/protocolVersion".to_owned(), json!(self.revision().as_str()));
        meta.insert("io.modelcontextprotocol/clientInfo".to_owned(), client_info());
        meta.insert("io.modelcontextprotocol/clientCapabilities".to_owned(), client_capabilities(self.revision()));
        meta
    }

    /// The text of a request.
    pub fn request_text(&self, id: &Value, method: &str, params: Value) -> String {
        let params = self.params(params);
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
    }

    /// Puts a request and waits for its answer.
    pub async fn request(&self, method: &str, params: Value) -> Result<Reply, Abort> {
        let id = self.next_id();
        let text = self.request_text(&json!(id), method, params);
        let patience = if method == "tools/call" { self.tool_patience() } else { self.patience() };
        self.ask(RequestId::from(id), Outgoing::message(text), patience).await
    }

    /// Sends something that carries the request `id` and waits for its answer.
    pub async fn ask(&self, id: RequestId, outgoing: Outgoing, patience: Duration) -> Result<Reply, Abort> {
        if self.setting.silence.is_total() {
            return Err(Abort::of(&self.setting.silence));
        }
        let before = self.connection.received_count();
        let reply = self.put(id.clone(), outgoing, patience).await?;
        if reply.0.is_some() || self.has_started() {
            self.setting.silence.heard(reply.0.is_some());
        }
        let stray = |message: &Message| message.kind().is_response() && message.id() != Some(&id);
        if reply.0.is_none() && self.connection.received().iter().skip(before).any(stray) {
            self.setting.silence.misheard();
        }
        if reply.0.is_none() && self.connection.is_flooded() {
            self.setting.silence.fall();
            return Err(Abort::Flooded);
        }
        if reply.0.is_some() {
            return Ok(reply);
        }
        // Its streams may end a moment before it does.
        match self.connection.exited(FAREWELL).await {
            Some(status) => Err(Abort::Gone(format!("the command ended ({status})"))),
            None => Ok(reply),
        }
    }

    /// Whether silence means anything here: a child that never said a word may only be slow to start, and on a busy machine
    /// several at once are.
    fn has_started(&self) -> bool {
        self.transport() != Transport::Stdio || self.connection.received_count() > 0
    }

    async fn put(&self, id: RequestId, outgoing: Outgoing, patience: Duration) -> Result<Reply, Abort> {
        let exchange = self.connection.send_with(outgoing).await?;
        let patience = patience + self.still_starting();
        let mut rest = Rest::default();
        let reply = tokio::select! {
            biased;
            reply = self.connection.response(&id, patience) => Reply(reply),
            never = rest.follow(&self.connection, &exchange, patience) => match never {},
        };
        rest.over().await;
        if reply.0.is_some() {
            self.start.answered(self.survey.start);
        }
        self.start.release();
        Ok(reply)
    }

    /// How much longer than others the first answer on this connection may take: what a child is asked while it starts, it
    /// reads when it has started.
    fn still_starting(&self) -> Duration {
        if self.has_started() { Duration::ZERO } else { self.survey.start * 2 }
    }

    /// Sends a notification.
    pub async fn notify(&self, method: &str, params: Value) -> Result<Exchange, Abort> {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        Ok(self.connection.send(&message.to_string()).await?)
    }

    /// Sends a text as it is.
    pub async fn say(&self, text: &str) -> Result<Exchange, Abort> {
        Ok(self.connection.send(text).await?)
    }

    /// Begins as the era wants it: the `initialize` handshake, or `server/discover`. Gives the result.
    pub async fn handshake(&self) -> Result<Value, Abort> {
        let method = if self.era() == Era::Legacy { "initialize" } else { "server/discover" };
        let params = if self.era() == Era::Legacy { self.initialize_params() } else { json!({}) };
        let id = self.next_id();
        let text = self.request_text(&json!(id), method, params);
        let starts = self.transport() == Transport::Stdio;
        let patience = if starts { self.patience().max(self.setting.limits.start) } else { self.patience() };
        let reply = self.put(RequestId::from(id), Outgoing::message(text), patience).await?;
        let result = reply.result().cloned().ok_or(Abort::Lacks("a successful handshake"))?;
        if self.era() == Era::Legacy {
            self.notify("notifications/initialized", json!({})).await?;
        }
        Ok(result)
    }

    /// The parameters of `initialize`.
    pub fn initialize_params(&self) -> Value {
        json!({
            "protocolVersion": self.revision().as_str(),
            "capabilities": client_capabilities(self.revision()),
            "clientInfo": client_info(),
        })
    }

    /// Every page of a list, at most `pages` of them: the items under `key`.
    pub async fn list(&self, method: &str, key: &str, pages: usize) -> Result<Vec<Value>, Abort> {
        let mut items = Vec::new();
        let mut params = json!({});
        for _ in 0..pages {
            let reply = self.request(method, params).await?;
            let Some(result) = reply.result() else { break };
            items.extend(result.get(key).and_then(Value::as_array).into_iter().flatten().cloned());
            match result.get("nextCursor").and_then(Value::as_str) {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        Ok(items)
    }

    /// Ends the connection in order; the trace stays open for others.
    pub async fn close(&self) {
        self.answering.stop();
        self.start.release();
        self.connection.close().await;
    }

    /// Ends the case and gives its trace.
    pub async fn finish(self) -> Trace {
        self.close().await;
        self.tap.finish()
    }
}

/// Who we say we are.
pub fn client_info() -> Value {
    json!({ "name": "proofhouse", "version": env!("CARGO_PKG_VERSION") })
}

/// What we say we can do: everything a server may ask of a client, so that it asks.
pub fn client_capabilities(revision: Revision) -> Value {
    let mut capabilities = json!({ "roots": {}, "sampling": {} });
    if revision.era() == Era::Legacy {
        capabilities["roots"] = json!({ "listChanged": true });
    }
    if revision.at_least(Revision::R2025_06_18) {
        capabilities["elicitation"] = json!({});
    }
    if revision.at_least(Revision::R2025_11_25) {
        capabilities["elicitation"] = json!({ "form": {}, "url": {} });
        capabilities["sampling"] = json!({ "tools": {}, "context": {} });
    }
    capabilities
}

/// The least with which a server may ask us for everything: forms and plain sampling.
pub fn modest_capabilities() -> Value {
    json!({ "roots": {}, "sampling": {}, "elicitation": {} })
}
