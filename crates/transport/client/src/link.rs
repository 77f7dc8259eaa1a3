//! One connection and its pending requests. A request is sent, its response awaited with a timeout, and cancelled as the
//! transport demands; other messages of the server go through [`super::pump`].

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::client::{Address, Connection, Exchange, OpenError, Outgoing, SendError, failure_of, redirect_target};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use wire::trace::Headers;
use wire::{Era, Kind, Message, RequestId, Transport};

use super::Options;
use super::abilities::Respondent;
use super::carrier::Carrier;
use super::tasks::Tasks;

/// Gets notifications, statuses and warnings.
pub type Observer = Arc<dyn Fn(ClientEvent) + Send + Sync>;

/// Events other than responses.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// A notification of the server.
    Notification {
        /// Its method.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// The status of the HTTP response to a request.
    Status(u16),
    /// The client noticed something and continues.
    Warning(String),
}

/// How many times the timeout without activity a request may take in total.
const LONGEST: u32 = 10;
/// How long the body of a refusal may take to arrive.
const BODY: Duration = Duration::from_millis(500);
/// How long a response may still take when its stream is over.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How many times a stream is resumed for one response.
const RESUMED: usize = 100;

/// The ids of requests: unique whole numbers.
#[derive(Debug, Default)]
pub(super) struct Ids(AtomicI64);

impl Ids {
    pub(super) fn next(&self) -> i64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// What came of a request.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Its answer.
    Answer(Message),
    /// HTTP refused it.
    Refused(Box<Rejection>),
    /// Nothing for too long; it is cancelled.
    TimedOut(Duration),
    /// The connection is of no more use.
    Gone(OpenError),
    /// There are no credentials that would do.
    Unauthorized(String),
}

/// A status that is no success.
#[derive(Debug)]
pub(super) struct Rejection {
    pub(super) status: u16,
    pub(super) headers: Headers,
    /// The JSON-RPC error in the body.
    pub(super) error: Option<Message>,
    /// Where a redirect leads.
    pub(super) location: Option<String>,
    /// The same for a person.
    pub(super) open_error: OpenError,
}

/// A request without a response yet.
#[derive(Debug)]
pub(super) struct Pending {
    method: String,
    /// The last response, progress or start.
    last_activity: Instant,
}

/// One connection. Clones are the same one.
#[derive(Clone)]
pub(super) struct Link(Arc<Inner>);

pub(super) struct Inner {
    carrier: Arc<dyn Carrier>,
    address: Address,
    pub(super) respondent: Arc<dyn Respondent>,
    pub(super) observer: Observer,
    pub(super) tasks: Tasks,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// The era, when it is known.
    pub(super) era: Option<Era>,
    pending: HashMap<RequestId, Pending>,
    /// The requests of the server that are being answered.
    pub(super) answering: HashMap<RequestId, AbortHandle>,
    /// The subscriptions, and what was acknowledged.
    pub(super) subscriptions: HashMap<RequestId, watch::Sender<Option<Value>>>,
}

impl Link {
    pub(super) fn new(carrier: Arc<dyn Carrier>, address: Address, options: &Options) -> Self {
        let (respondent, observer) = (options.respondent.clone(), options.observer.clone());
        Self(Arc::new(Inner {
            carrier,
            address,
            respondent,
            observer,
            tasks: Tasks::default(),
            state: Mutex::default(),
        }))
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.0
    }

    pub(super) fn connection(&self) -> &Connection {
        self.0.carrier.connection()
    }

    pub(super) fn transport(&self) -> Transport {
        self.connection().transport()
    }

    pub(super) fn settle(&self, era: Era) {
        self.state().era = Some(era);
    }

    pub(super) fn is_modern(&self) -> bool {
        self.state().era == Some(Era::Modern)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, note: ClientEvent) {
        (self.0.observer)(note);
    }

    /// Whether request `id` is pending.
    pub(super) fn awaits(&self, id: &RequestId) -> bool {
        self.state().pending.contains_key(id)
    }

    /// Resets the timeout of the request with this progress token, which is its id.
    pub(super) fn last_activity(&self, token: &Value) {
        if let Some(id) = RequestId::from_value(token)
            && let Some(pending) = self.state().pending.get_mut(&id)
        {
            pending.last_activity = Instant::now();
        }
    }

    /// Sends a notification.
    pub(super) async fn notify(&self, method: &str, params: Option<Value>) -> Result<(), SendError> {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if let Some(params) = params {
            message["params"] = params;
        }
        self.send_message(message.to_string()).await
    }

    /// Sends a notification or response. Over HTTP it waits for the head, so that the next message cannot overtake it.
    pub(super) async fn send_message(&self, text: String) -> Result<(), SendError> {
        let exchange = self.0.carrier.send(Outgoing::message(text)).await?;
        exchange.head(self.connection().limits().request).await;
        Ok(())
    }

    /// A received message, as the carrier returns it.
    pub(super) fn received(&self, message: Message) -> Message {
        self.0.carrier.received(message)
    }

    /// Opens a stream by GET, or resumes one.
    pub(super) async fn open_stream(&self, last_event_id: Option<&str>) -> Result<Exchange, SendError> {
        self.0.carrier.open_stream(last_event_id).await
    }

    /// Ends the connection as its transport demands.
    pub(super) async fn end(&self) {
        self.0.carrier.close().await;
    }

    /// Sends a request and waits for the outcome, as long as there is activity, and not forever.
    pub(super) async fn put(&self, id: &RequestId, method: &str, text: String, patience: Duration) -> Outcome {
        let begun = Instant::now();
        let _waiting = Waiting::new(self, id, method);
        let connection = self.connection();
        let exchange = match self.0.carrier.send(Outgoing::message(text)).await {
            Ok(exchange) => exchange,
            Err(SendError::Open(error)) => return Outcome::Gone(error),
            Err(_) => Exchange::none(),
        };
        let longest = patience * LONGEST;
        let answer = tokio::select! {
            biased;
            answer = connection.response(id, longest) => Some(answer),
            () = self.overdue(id, patience) => None,
            () = self.lost(&exchange, longest) => Some(connection.response(id, LAST_WORDS).await),
        };
        self.pass_on();
        if let Some(status) = exchange.status() {
            self.note(ClientEvent::Status(status));
        }
        match answer {
            Some(Some(answer)) => self.answered(self.received(answer), &exchange),
            Some(None) if begun.elapsed() < longest => self.unanswered(&exchange, begun).await,
            _ => {
                self.cancel(id, method, "no answer in time").await;
                Outcome::TimedOut(begun.elapsed())
            }
        }
    }

    /// Passes on the notifications that came before the response.
    fn pass_on(&self) {
        let notified = |message: &Message| message.kind() == Kind::Notification;
        while let Some(message) = self.connection().take(notified) {
            self.hear(&self.received(message));
        }
    }

    fn answered(&self, answer: Message, exchange: &Exchange) -> Outcome {
        // In a session, 404 says that it is over, whatever the body says.
        let in_session = self.connection().session_id().is_some();
        match exchange.status() {
            Some(status)
                if answer.kind() == Kind::Error && (matches!(status, 401 | 403) || status == 404 && in_session) =>
            {
                let open_error = OpenError::Http { at: self.at(), status, snippet: answer.text().to_owned() };
                let (headers, error) = (exchange.headers(), Some(answer));
                Outcome::Refused(Box::new(Rejection { status, headers, error, location: None, open_error }))
            }
            _ => Outcome::Answer(answer),
        }
    }

    async fn unanswered(&self, exchange: &Exchange, begun: Instant) -> Outcome {
        let status = exchange.status().filter(|status| !(200..300).contains(status));
        let open_error = failure_of(&self.0.address, self.connection(), exchange, begun.into()).await;
        let Some(status) = status else { return Outcome::Gone(open_error) };
        exchange.finished(BODY).await;
        let (headers, error) = (exchange.headers(), exchange.error_without_id());
        Outcome::Refused(Box::new(Rejection {
            status,
            headers,
            error,
            location: redirect_target(exchange).await,
            open_error,
        }))
    }

    /// The address, for messages.
    pub(super) fn at(&self) -> String {
        self.0.address.to_string()
    }

    /// Resolves when request `id` had no activity for too long.
    async fn overdue(&self, id: &RequestId, patience: Duration) {
        loop {
            let Some(last_activity) = self.state().pending.get(id).map(|pending| pending.last_activity) else { return };
            let left = patience.saturating_sub(last_activity.elapsed());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left).await;
        }
    }

    /// Resumes the stream of a response by GET as often as the server closes it early (legacy era). Resolves when the response
    /// cannot come any more.
    async fn lost(&self, exchange: &Exchange, patience: Duration) {
        let resumable =
            self.transport() == Transport::StreamableHttp && self.connection().revision().era() == Era::Legacy;
        if !resumable || !exchange.finished(patience).await || !exchange.is_stream() {
            let never: Infallible = std::future::pending().await;
            match never {}
        }
        self.resume(exchange.clone(), patience, RESUMED).await;
    }

    /// Resumes a stream that ended, at most `times`, as long as the server accepts it.
    pub(super) async fn resume(&self, mut current: Exchange, patience: Duration, times: usize) {
        let mut last = None;
        for _ in 0..times {
            last = current.last_event_id().or(last);
            let Some(last) = last.as_deref() else { return };
            tokio::time::sleep(self.0.carrier.resume_delay(&current)).await;
            let Ok(next) = self.open_stream(Some(last)).await else { return };
            if next.head(patience).await.is_none() || !next.is_stream() {
                return;
            }
            current = next;
            current.finished(patience).await;
        }
    }

    /// Cancels a request as the transport demands: by closing its stream, or by a notification.
    async fn cancel(&self, id: &RequestId, method: &str, reason: &str) {
        let exchange = self.connection().exchange_of(id);
        self.connection().forget_request(id);
        let by_closing = self.is_modern() && self.transport() == Transport::StreamableHttp;
        if !by_closing && method != "initialize" {
            let id: Value = serde_json::from_str(&id.to_json()).unwrap_or_default();
            // If it cannot be sent, the server is gone.
            let _ = self.notify("notifications/cancelled", Some(json!({ "requestId": id, "reason": reason }))).await;
        }
        if let Some(exchange) = exchange {
            exchange.abort();
            exchange.finished(LAST_WORDS).await;
        }
    }

    /// Cancels one request; `false` where it is not pending.
    pub(super) async fn cancel_one(&self, id: &RequestId, reason: &str) -> bool {
        let method = self.state().pending.remove(id).map(|pending| pending.method);
        match method {
            Some(method) => {
                self.cancel(id, &method, reason).await;
                true
            }
            None => false,
        }
    }

    /// Cancels every request.
    pub(super) async fn cancel_all(&self, reason: &str) {
        let pending: Vec<_> = self.state().pending.drain().collect();
        for (id, Pending { method, .. }) in pending {
            self.cancel(&id, &method, reason).await;
        }
    }
}

/// Keeps a request pending until it is dropped.
struct Waiting<'l> {
    link: &'l Link,
    id: RequestId,
}

impl<'l> Waiting<'l> {
    fn new(link: &'l Link, id: &RequestId, method: &str) -> Self {
        let pending = Pending { method: method.to_owned(), last_activity: Instant::now() };
        link.state().pending.insert(id.clone(), pending);
        Self { link, id: id.clone() }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.link.state().pending.remove(&self.id);
    }
}
