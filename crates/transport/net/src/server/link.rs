//! What a service knows of a conversation: the [`Link`] of one request, and the legacy [`Session`]. Both send through a
//! [`MessageSink`] that the transport provides.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{oneshot, watch};
use wire::message::{Packet, parse};
use wire::revision::R2025_11_25;
use wire::{Message, RequestId, Revision};

/// The peer is gone, or reads too slowly to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the peer is gone")
    }
}

impl std::error::Error for Gone {}

/// Where messages are sent.
pub trait MessageSink: Send + Sync {
    /// Queues one message, a complete JSON text. Never waits: the queue is bounded, and a peer that does not read is dropped.
    fn send(&self, text: String) -> Result<(), Gone>;

    /// Learns the client's answer to a request that was sent here. Most sinks need not know.
    fn answered(&self, answer: &Message) {
        let _ = answer;
    }

    /// Ends the stream of a request that continues: the client resumes it. Sinks without such a stream ignore this.
    fn release(&self) {}

    /// Drops later messages: the request was cancelled. Shared sinks ignore this.
    fn close(&self) {}
}

/// Whether a message is left out where a peer reads too slowly, so that the answer still reaches it: nothing follows from progress
/// and log messages. Queues ask this from half of their limit on; the other half is for everything else.
pub(crate) fn may_be_left_out(text: &str) -> bool {
    let Ok(Packet::Message(message)) = parse(text.as_bytes()) else { return false };
    matches!(message.method(), Some("notifications/progress" | "notifications/message"))
}

#[derive(Serialize)]
struct Outgoing<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<P>,
}

fn render<P: Serialize>(id: Option<&RequestId>, method: &str, params: Option<P>) -> Result<String, Gone> {
    let id = id.map(|id| RawValue::from_string(id.to_json())).transpose().map_err(|_| Gone)?;
    let id = id.as_deref();
    serde_json::to_string(&Outgoing { jsonrpc: "2.0", id, method, params }).map_err(|_| Gone)
}

/// Signals that the server is about to end.
#[derive(Clone, Debug)]
pub struct Closing(watch::Receiver<bool>);

impl Closing {
    /// The signal and its sender.
    pub fn new() -> (watch::Sender<bool>, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    /// Waits for the signal, or until its sender is gone.
    pub async fn wait(&self) {
        let _ = self.0.clone().wait_for(|closing| *closing).await;
    }

    /// Whether the signal was given.
    pub fn has_begun(&self) -> bool {
        *self.0.borrow()
    }
}

/// Sends to the client while one request is being answered.
#[derive(Clone)]
pub struct Link {
    sink: Arc<dyn MessageSink>,
    session: Option<Arc<Session>>,
    closing: Closing,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("session", &self.session).finish_non_exhaustive()
    }
}

impl Link {
    /// A link that sends through `sink`.
    pub fn new(sink: Arc<dyn MessageSink>, session: Option<Arc<Session>>, closing: Closing) -> Self {
        Self { sink, session, closing }
    }

    /// A link for a request that no client sent: nothing arrives anywhere.
    pub fn nowhere() -> Self {
        struct Nowhere;
        impl MessageSink for Nowhere {
            fn send(&self, _: String) -> Result<(), Gone> {
                Err(Gone)
            }
        }
        Self::new(Arc::new(Nowhere), None, Closing::new().1)
    }

    /// The same link, sending to the sink that `route` returns.
    #[must_use]
    pub fn rerouted(&self, route: impl FnOnce(Arc<dyn MessageSink>) -> Arc<dyn MessageSink>) -> Self {
        Self { sink: route(Arc::clone(&self.sink)), ..self.clone() }
    }

    /// Sends a notification that belongs to the request.
    pub fn notify(&self, method: &str, params: impl Serialize) -> Result<(), Gone> {
        self.send(render(None, method, Some(params))?)
    }

    /// Sends any text as one message.
    pub fn send(&self, text: String) -> Result<(), Gone> {
        self.sink.send(text)
    }

    /// Ends the event stream of a request that continues; the client resumes it with the id of the last event. Without effect
    /// before 2025-11-25, where a client may have no such id, and on transports that resume nothing.
    pub fn release_stream(&self) {
        let revision = self.session.as_ref().and_then(|session| session.revision());
        if revision.is_some_and(|revision| revision.at_least(R2025_11_25)) {
            self.break_stream();
        }
    }

    /// The same at any legacy revision, as when a connection breaks: a client that has an event's id may resume the stream.
    pub fn break_stream(&self) {
        self.sink.release();
    }

    /// A link whose messages belong to no request: over Streamable HTTP they go to the stream that the client opened by GET.
    #[must_use]
    pub fn of_session(&self) -> Self {
        let sink = self.session.as_ref().map_or_else(|| Arc::clone(&self.sink), |session| Arc::clone(&session.sink));
        Self { sink, ..self.clone() }
    }

    /// Waits until the server is about to end: long-lived requests shall answer then.
    pub async fn closing(&self) {
        self.closing.wait().await;
    }

    /// Sends a request to the client and waits for the response. Only the legacy era has such requests, and only after
    /// `notifications/initialized`. Dropping the future cancels the request.
    pub async fn request(&self, method: &str, params: impl Serialize) -> Result<Message, NoAnswer> {
        let session = self.session.as_deref().filter(|session| session.is_ready()).ok_or(NoAnswer::NotAllowed)?;
        self.request_as(session.next_id(), method, Some(params)).await
    }

    /// The same under an id of the caller's choice, which no open request may have.
    pub async fn request_as(
        &self,
        id: RequestId,
        method: &str,
        params: Option<impl Serialize>,
    ) -> Result<Message, NoAnswer> {
        let session = self.session.as_deref().filter(|session| session.is_ready()).ok_or(NoAnswer::NotAllowed)?;
        let answer = session.expect_answer(&id);
        let text = render(Some(&id), method, params)?;
        let _pending = PendingRequest { session, id };
        self.send(text)?;
        let answer = answer.await.map_err(|_| NoAnswer::Gone)?;
        self.sink.answered(&answer);
        Ok(answer)
    }
}

/// A request to the client; dropped unanswered, it is cancelled.
struct PendingRequest<'a> {
    session: &'a Session,
    id: RequestId,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        if self.session.waiting().remove(&self.id).is_some() {
            // Not through the link: its sink is closed where the client cancelled.
            let reason = "The request that needed this has ended";
            let params = serde_json::json!({ "requestId": self.id.to_value(), "reason": reason });
            let _ = self.session.notify("notifications/cancelled", Some(params));
        }
    }
}

/// Why there is no response of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// There is no session, or the client has not sent `notifications/initialized`.
    NotAllowed,
    /// The client went away.
    Gone,
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAllowed => "the client may not be asked: it has not completed the handshake",
            Self::Gone => "the client went away without an answer",
        })
    }
}

impl std::error::Error for NoAnswer {}

impl From<Gone> for NoAnswer {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

/// What the handshake agreed on.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The negotiated revision.
    pub revision: Revision,
    /// `capabilities` of the client.
    pub capabilities: Value,
    /// `clientInfo`.
    pub client: Value,
}

/// How many sessions there have been.
static SESSIONS: AtomicU64 = AtomicU64::new(0);

/// A conversation of the legacy era: one stdio process, or one `Mcp-Session-Id`.
pub struct Session {
    id: Option<String>,
    number: u64,
    sink: Arc<dyn MessageSink>,
    opening: OnceLock<Opening>,
    ready: AtomicBool,
    next_id: AtomicI64,
    waiting: Mutex<HashMap<RequestId, oneshot::Sender<Message>>>,
    ending: watch::Sender<bool>,
    state: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("opening", &self.opening).finish_non_exhaustive()
    }
}

impl Session {
    /// A session that is not open yet. `sink` takes messages that belong to no request.
    pub fn new(id: Option<String>, sink: Arc<dyn MessageSink>) -> Self {
        Self {
            id,
            number: SESSIONS.fetch_add(1, Ordering::Relaxed),
            sink,
            opening: OnceLock::new(),
            ready: AtomicBool::new(false),
            next_id: AtomicI64::new(1),
            waiting: Mutex::default(),
            ending: watch::Sender::new(false),
            state: OnceLock::new(),
        }
    }

    /// The session id, where the transport has one.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// A number that no other session of this process has, with or without an id.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Opens the session with the result of `initialize`; `false` where it is open already and stays unchanged.
    #[must_use]
    pub fn open(&self, opening: Opening) -> bool {
        self.opening.set(opening).is_ok()
    }

    /// What `initialize` agreed on.
    pub fn opening(&self) -> Option<&Opening> {
        self.opening.get()
    }

    /// The negotiated revision.
    pub fn revision(&self) -> Option<Revision> {
        self.opening.get().map(|opening| opening.revision)
    }

    /// Whether the client has sent `notifications/initialized`.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    pub(crate) fn set_ready(&self) {
        if self.opening.get().is_some() {
            self.ready.store(true, Ordering::Release);
        }
    }

    /// Sends a notification that belongs to no request; nothing is sent before the client is ready.
    pub fn notify(&self, method: &str, params: Option<Value>) -> Result<(), Gone> {
        if !self.is_ready() {
            return Ok(());
        }
        self.sink.send(render(None, method, params)?)
    }

    /// The state that the service keeps for this session, of one type per service.
    ///
    /// # Panics
    /// Panics where two types are requested of one session.
    pub fn state<T: Any + Default + Send + Sync>(&self) -> &T {
        let state = self.state.get_or_init(|| Box::new(T::default()));
        state.downcast_ref().expect("a session keeps the state of one service")
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<RequestId, oneshot::Sender<Message>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_id(&self) -> RequestId {
        self.next_id.fetch_add(1, Ordering::Relaxed).into()
    }

    fn expect_answer(&self, id: &RequestId) -> oneshot::Receiver<Message> {
        let (sender, receiver) = oneshot::channel();
        self.waiting().insert(id.clone(), sender);
        receiver
    }

    /// Delivers a response of the client to the waiting request; drops an unexpected one.
    pub(crate) fn answer(&self, message: Message) {
        let asked = message.id().and_then(|id| self.waiting().remove(id));
        if let Some(asked) = asked {
            let _ = asked.send(message);
        }
    }

    /// Ends all requests to the client without a response, and signals the end of the session.
    pub(crate) fn abandon(&self) {
        self.ending.send_replace(true);
        self.waiting().clear();
    }

    /// Signals the end of the session, to work that outlives requests. It does not keep the session alive.
    pub fn ending(&self) -> Closing {
        Closing(self.ending.subscribe())
    }
}
