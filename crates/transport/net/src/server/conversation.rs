//! A conversation over one two-way channel of messages (stdio, HTTP+SSE, WebSocket): both eras, concurrent requests,
//! cancellation, batches. Knows messages, not how they are framed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::header::HeaderValue;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use wire::message::{Fault, Malformed, Packet, batch_length, parse};
use wire::revision::R2025_03_26;
use wire::{Era, Kind, Message, RequestId, Revision, Transport};

use super::InFlight;
use super::batch::{Batch, BatchBounds, RequestSink, too_long};
use super::era_check::EraCheck;
use super::http::{Grant, Limits};
use super::link::{Closing, Gone, Link, MessageSink, Session, may_be_left_out};
use crate::service::{Answer, Call, Context, Pending, Reply, RpcError, Service, code};

/// What waits to be written.
#[derive(Default)]
struct Queue {
    frames: Vec<Vec<u8>>,
    bytes: usize,
    dead: bool,
}

/// The messages to send, complete and in order.
pub(crate) struct Outgoing {
    queue: Mutex<Queue>,
    filled: Notify,
    overrun: Notify,
    limit: usize,
}

impl Outgoing {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues `frame` and wakes the writer.
    fn push(&self, frame: Vec<u8>) -> Result<(), Gone> {
        self.put(frame)?;
        self.filled.notify_one();
        Ok(())
    }

    /// Queues `frame` for a writer that runs anyway.
    fn put(&self, frame: Vec<u8>) -> Result<(), Gone> {
        let mut queue = self.queue();
        queue.dead |= queue.bytes > self.limit;
        if queue.dead {
            self.overrun.notify_one();
            return Err(Gone);
        }
        queue.bytes += frame.len();
        queue.frames.push(frame);
        Ok(())
    }

    /// Everything that waits; `Err` where the peer let the queue fill.
    pub(crate) fn take(&self) -> Result<Vec<Vec<u8>>, Gone> {
        let mut queue = self.queue();
        queue.bytes = 0;
        if queue.dead { Err(Gone) } else { Ok(std::mem::take(&mut queue.frames)) }
    }

    /// Waits until something may wait to be written.
    pub(crate) async fn filled(&self) {
        self.filled.notified().await;
    }

    /// Waits until the queue is full because the peer does not read: it wakes a writer that is stuck.
    pub(crate) async fn overrun(&self) {
        self.overrun.notified().await;
    }
}

impl MessageSink for Outgoing {
    fn send(&self, text: String) -> Result<(), Gone> {
        let half = self.queue().bytes > self.limit / 2;
        if half && may_be_left_out(&text) {
            return Ok(());
        }
        self.push(text.into_bytes())
    }
}

/// Bounds of a conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// About how many bytes may wait for a peer which does not read.
    pub(crate) queue: usize,
    /// How many requests may be answered at once.
    pub(crate) in_flight: usize,
    /// Bounds of a batch.
    pub(crate) batch: BatchBounds,
}

impl Bounds {
    /// The bounds of a conversation over HTTP.
    pub(crate) const fn of(limits: &Limits) -> Self {
        Self { queue: limits.event_bytes, in_flight: limits.in_flight, batch: limits.batch }
    }
}

/// One conversation.
pub(crate) struct Conversation {
    service: Arc<dyn Service>,
    transport: Transport,
    /// The revisions that are both served and carried.
    revisions: Vec<Revision>,
    most_in_flight: usize,
    batch_bounds: BatchBounds,
    session: Arc<Session>,
    /// Whose token opened it, where a guard demands tokens.
    subject: Option<HeaderValue>,
    /// What the token of the message in hand grants: the one that opened the conversation, or the message's own.
    grant: Mutex<Option<Arc<Grant>>>,
    /// Held while a message that has a token of its own is taken in.
    turn: Mutex<()>,
    outgoing: Arc<Outgoing>,
    in_flight: InFlight,
    completed: Arc<Notify>,
    batches: AtomicU64,
    ending: watch::Sender<bool>,
    closing: Closing,
}

impl Conversation {
    /// A conversation without messages.
    pub(crate) fn new(service: Arc<dyn Service>, transport: Transport, bounds: Bounds) -> Self {
        let (filled, overrun) = (Notify::new(), Notify::new());
        let outgoing = Arc::new(Outgoing { queue: Mutex::default(), filled, overrun, limit: bounds.queue });
        let revisions = service.revisions().iter().copied().filter(|revision| transport.carries(*revision)).collect();
        let session = Arc::new(Session::new(None, Arc::clone(&outgoing) as Arc<dyn MessageSink>));
        let (ending, closing) = Closing::new();
        Self {
            service,
            transport,
            revisions,
            most_in_flight: bounds.in_flight,
            batch_bounds: bounds.batch,
            session,
            subject: None,
            grant: Mutex::default(),
            turn: Mutex::default(),
            outgoing,
            in_flight: InFlight::default(),
            completed: Arc::default(),
            batches: AtomicU64::new(0),
            ending,
            closing,
        }
    }

    /// The same, opened with a token of `subject` that grants `grant`.
    pub(crate) fn of(mut self, subject: Option<HeaderValue>, grant: Option<Arc<Grant>>) -> Self {
        self.subject = subject;
        self.grant = Mutex::new(grant);
        self
    }

    /// Whose token opened it.
    pub(crate) const fn subject(&self) -> Option<&HeaderValue> {
        self.subject.as_ref()
    }

    fn context(&self, revision: Revision, session: Option<Arc<Session>>) -> Context {
        let grant = self.grant.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Context {
            revision,
            transport: self.transport,
            whole: false,
            session,
            headers: None,
            subject: self.subject.clone(),
            grant,
        }
    }

    pub(crate) fn outgoing(&self) -> Arc<Outgoing> {
        Arc::clone(&self.outgoing)
    }

    /// Whether no request is being answered.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Receives one frame and wakes the writer, which is another task.
    pub(crate) fn hear(&self, frame: &[u8]) {
        self.receive(frame);
        self.outgoing.filled.notify_one();
    }

    /// The same for a frame that came with a token of its own.
    pub(crate) fn hear_with(&self, frame: &[u8], grant: Option<Arc<Grant>>) {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        *self.grant.lock().unwrap_or_else(PoisonError::into_inner) = grant;
        self.receive(frame);
        drop(turn);
        self.outgoing.filled.notify_one();
    }

    /// Receives one frame. An immediate answer is queued without waking a writer: the caller writes the queue afterwards.
    pub(crate) fn receive(&self, frame: &[u8]) {
        if batch_length(frame) > self.batch_bounds.messages {
            return self.refuse(None, &too_long(self.batch_bounds.messages));
        }
        match parse(frame) {
            Ok(Packet::Message(message)) => self.message(message),
            Ok(Packet::Batch(parts)) if self.session.revision() == Some(R2025_03_26) => self.batch(parts),
            Ok(Packet::Batch(_)) => self.refuse(None, &RpcError::invalid_request("Invalid request: no batches here")),
            Err(malformed) => self.malformed(&malformed),
        }
    }

    /// Refuses an invalid message.
    pub(crate) fn refuse(&self, id: Option<&RequestId>, error: &RpcError) {
        // JSON-RPC demands a null id where none could be read; from 2025-11-25 on the schema demands none.
        let old = self.session.revision().is_some_and(|revision| !revision.at_least(Revision::NEWEST_LEGACY));
        self.put(if id.is_none() && old { Answer::error_with_null_id(error) } else { Answer::error(id, error) });
    }

    fn put(&self, answer: Answer) {
        let _ = self.outgoing.put(answer.into_text());
    }

    fn malformed(&self, malformed: &Malformed) {
        match &malformed.fault {
            Fault::Empty => {}
            // An invalid response: answering responses could go on forever.
            Fault::ResultAndError
            | Fault::ResultWithoutId
            | Fault::ErrorType
            | Fault::ErrorCode
            | Fault::ErrorMessage => {
                tracing::debug!(fault = %malformed.fault, "ignored a malformed response");
            }
            fault => {
                let kind = if fault.code() == code::PARSE_ERROR { "Parse error" } else { "Invalid request" };
                self.refuse(malformed.id.as_ref(), &RpcError::new(fault.code(), format!("{kind}: {fault}")));
            }
        }
    }

    fn message(&self, message: Message) {
        match message.kind() {
            Kind::Request => self.request(message),
            Kind::Notification => self.notification(&message),
            Kind::Result | Kind::Error => self.session.answer(message),
        }
    }

    fn request(&self, message: Message) {
        let Some(id) = message.id().cloned() else { return };
        if self.in_flight.has(&id) {
            return self.refuse(Some(&id), &RpcError::invalid_request("Invalid request: this id is in use"));
        }
        let sink = self.sink();
        match self.reply(message, &sink) {
            Reply::Now(answer) => self.put(answer),
            Reply::Later(_) if self.in_flight.count() >= self.most_in_flight => {
                self.refuse(Some(&id), &RpcError::internal("Too many requests are being answered; try again later"));
            }
            Reply::Later(pending) => self.start(id, sink, pending),
        }
    }

    fn sink(&self) -> Arc<RequestSink> {
        RequestSink::new(Arc::clone(&self.outgoing) as _)
    }

    fn start(&self, id: RequestId, sink: Arc<RequestSink>, pending: Pending) {
        let guard = CompletionGuard {
            id: id.clone(),
            in_flight: self.in_flight.clone(),
            outgoing: Arc::clone(&self.outgoing),
            completed: Arc::clone(&self.completed),
        };
        self.in_flight.start(&id, sink, || tokio::spawn(async move { guard.complete(pending.await) }).abort_handle());
    }

    /// The answer of the service, or the refusal of the era check before it.
    fn reply(&self, message: Message, sink: &Arc<RequestSink>) -> Reply {
        let era_check = EraCheck::new(&message, None);
        let admitted = match era_check.era_among(self.service.revisions()) {
            Era::Modern => era_check.admit(&self.revisions).map(|revision| (revision, None)),
            Era::Legacy => self.legacy(&message).map(|revision| (revision, Some(Arc::clone(&self.session)))),
        };
        match admitted {
            Ok((revision, session)) => {
                let link = Link::new(Arc::clone(sink) as _, session.clone(), self.closing.clone());
                let context = self.context(revision, session);
                self.service.call(Call { message, context, link })
            }
            Err(error) => Reply::Now(Answer::error(message.id(), &error)),
        }
    }

    /// The revision of the session; only `initialize` and `ping` may come before it is negotiated.
    fn legacy(&self, message: &Message) -> Result<Revision, RpcError> {
        match (self.session.revision(), message.method()) {
            (Some(revision), _) => Ok(revision),
            (None, Some("initialize" | "ping")) => Ok(Revision::NEWEST_LEGACY),
            (None, _) => self.service.without_handshake().ok_or_else(|| {
                RpcError::invalid_request(
                    "Invalid request: neither `initialize` came first nor does `_meta` name a protocol version",
                )
            }),
        }
    }

    fn notification(&self, message: &Message) {
        match message.method() {
            Some("notifications/cancelled") => {
                let id = message.params().and_then(|params| params.get("requestId")).and_then(request_id);
                if id.is_some_and(|id| self.in_flight.cancel(&id)) {
                    self.completed.notify_one();
                }
            }
            method => {
                if method == Some("notifications/initialized") {
                    self.session.set_ready();
                }
                let revision = self.session.revision().unwrap_or(Revision::NEWEST);
                let session = self.session.opening().map(|_| Arc::clone(&self.session));
                self.service.notice(message, &self.context(revision, session));
            }
        }
    }

    fn batch(&self, parts: Vec<Result<Message, Malformed>>) {
        let mut batch = Batch::new(self.batch_bounds);
        for part in parts {
            match part {
                Ok(message) if message.kind() != Kind::Request => self.message(message),
                Ok(message) => self.batched(&mut batch, message),
                Err(malformed) => batch.add_malformed(&malformed),
            }
        }
        if batch.is_empty() {
            return;
        }
        match batch.reply() {
            Reply::Now(answer) if answer.text().is_empty() => {}
            Reply::Now(answer) => self.put(answer),
            Reply::Later(pending) => {
                // An id that no client can name: the parts have ids of their own.
                let number = self.batches.fetch_add(1, Ordering::Relaxed);
                let id = RequestId::String(format!("\u{0}batch {number}"));
                self.start(id, self.sink(), pending);
            }
        }
    }

    /// Answers one request of a batch.
    fn batched(&self, batch: &mut Batch, message: Message) {
        let Some(id) = message.id().cloned() else { return };
        let refusal = if message.method() == Some("initialize") {
            Some(RpcError::invalid_request("Invalid request: `initialize` may not stand in a batch"))
        } else if self.in_flight.has(&id) {
            Some(RpcError::invalid_request("Invalid request: this id is in use"))
        } else {
            None
        };
        if let Some(error) = refusal {
            return batch.add(Some(&id), Answer::error(Some(&id), &error));
        }
        let sink = self.sink();
        match self.reply(message, &sink) {
            Reply::Now(answer) => batch.add(Some(&id), answer),
            // The batch itself takes one place, too.
            Reply::Later(_) if self.in_flight.count() + 1 >= self.most_in_flight => {
                let error = RpcError::internal("Too many requests are being answered; try again later");
                batch.add(Some(&id), Answer::error(Some(&id), &error));
            }
            Reply::Later(pending) => batch.start(id, sink, pending, &self.in_flight),
        }
    }

    /// Tells long-lived requests to answer, and waits until all requests are answered.
    pub(crate) async fn finish(&self) {
        let _ = self.ending.send(true);
        self.session.abandon();
        while !self.in_flight.is_empty() {
            self.completed.notified().await;
        }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.in_flight.cancel_all();
        self.session.abandon();
    }
}

/// Reads the id a cancellation names.
pub(crate) fn request_id(value: &Value) -> Option<RequestId> {
    RequestId::from_value(value)
}

/// Completes a request when its task ends, even by a panic.
struct CompletionGuard {
    id: RequestId,
    in_flight: InFlight,
    outgoing: Arc<Outgoing>,
    completed: Arc<Notify>,
}

impl CompletionGuard {
    fn complete(&self, answer: Answer) {
        if self.in_flight.finish(&self.id) && !answer.text().is_empty() {
            let _ = self.outgoing.push(answer.into_text());
        }
    }
}

impl Drop for CompletionGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.complete(Answer::error(Some(&self.id), &RpcError::internal("Internal error")));
        }
        self.completed.notify_one();
    }
}
