//! One request that is open at an upstream. Dropped before its response, it is cancelled there.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, TryFutureExt as _};
use net::server::http::{HeaderMap, HeaderName, HeaderValue};
use net::upstream::{Lost, NextEvent, Queue, Response};
use serde_json::{Value, json};
use tokio::time::{sleep, sleep_until};
use wire::framing::sse::{Block, open_data};
use wire::http::{JSON, named_by};
use wire::message::{Packet, begins_result, parse, parse_owned};
use wire::translate::message::{RequestEdits, request};
use wire::{Era, Kind, Message, Party, RequestId};

use super::core::{Carrier, Core, Event, Incoming, invalid};
use super::http::{self, Mirrored, RequestText};
use super::old_sse;
use super::trouble::Trouble;
use crate::answers::cache::OpenWrite;
use crate::live::{Exchange, Open};

/// How long a server's `retry` may make us wait.
const LONGEST_RETRY: Duration = Duration::from_secs(10);
/// How often a response stream is resumed without a new event.
const RESUMES: u32 = 3;
/// Up to this size, a result is awaited whole even where it needs no edit: whether it came is then known before the client
/// is answered.
const HELD: usize = 64 << 10;

/// A POST under way. Over HTTP+SSE, no response comes by it.
type Posting = BoxFuture<'static, Result<Option<Response>, Trouble>>;

/// What a request needs besides its text.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sending<'a> {
    /// How the request differs at the upstream; id and progress token are set here.
    pub(crate) edits: RequestEdits<'a>,
    /// The headers of a modern client, where they hold for the request as it is sent.
    pub(crate) headers: Option<&'a HeaderMap>,
    /// The input schema of the tool that is called, where it is known.
    pub(crate) schema: Option<&'a Value>,
    /// Headers in addition, where the request goes over Streamable HTTP.
    pub(crate) added: &'a [(HeaderName, HeaderValue)],
    /// The message that the text is, where it was read.
    pub(crate) message: Option<&'a Message>,
    /// How long a large result may pause that needs no edit and passes as it comes; none where it must be read whole.
    pub(crate) passes: Option<Duration>,
    /// When the time of the request is over: until then, the answer to its POST is awaited before it counts as sent.
    pub(crate) until: Option<Instant>,
    /// The task whose result it asks for, where the gateway follows it.
    pub(crate) task: Option<&'a str>,
    /// Learns what becomes of the request, where that changes what is kept of others.
    pub(crate) write: Option<&'a Arc<OpenWrite>>,
}

/// A request that is open at an upstream.
pub(crate) struct Flight {
    core: Arc<Core>,
    /// The number that it has there; none where all its messages come on a stream of its own.
    number: Option<i64>,
    /// Its id there.
    id: RequestId,
    /// That is not the id that its text has.
    renamed: bool,
    /// Messages that come otherwise than on its stream.
    events: Option<Queue<Incoming>>,
    stream: Option<Stream>,
    /// The POST, where the server sent something on another stream before it answered it: it may wait for us first.
    posting: Option<Posting>,
    /// Messages that came together.
    waiting: VecDeque<Event>,
    passes: Option<Duration>,
    /// It opens a session.
    opens: bool,
    done: bool,
    write: Option<Arc<OpenWrite>>,
    /// Shows it to those who watch.
    seen: Option<Open>,
}

struct Stream {
    response: Response,
    last: Option<String>,
    retry: Duration,
    resumes: u32,
    /// How many bytes of an event are held before it may pass as it comes.
    held: usize,
}

impl Flight {
    /// Sends `text`, a request of `method`. `limit` bounds its response in bytes.
    pub(crate) async fn start(
        core: &Arc<Core>,
        method: &str,
        text: &str,
        sending: Sending<'_>,
        limit: usize,
    ) -> Result<Self, Trouble> {
        if core.is_ended() {
            return Err(Trouble::NotSent(core.cause().await));
        }
        let mut flight = Self::new(core, method, text, &sending);
        flight.write.iter().for_each(|write| write.sent());
        let sent = flight.send(text, sending, limit).await;
        // What was not sent is not cancelled either.
        flight.done |= sent.is_err();
        sent.map(|()| flight)
    }

    fn new(core: &Arc<Core>, method: &str, text: &str, sending: &Sending<'_>) -> Self {
        let revision = core.revision.get();
        // A modern request over HTTP has a stream of its own: nothing needs to be told apart, and its id stays.
        let alone = matches!(core.carrier, Carrier::Http(_)) && revision.is_some_and(|r| r.era() == Era::Modern);
        let own_id =
            if alone { sending.message.and_then(Message::id).cloned().or_else(|| parse_id(text)) } else { None };
        let (number, id, events, renamed) = if let Some(own) = own_id {
            let id = core.begin_alone(own.clone());
            let renamed = id != own;
            (None, id, None, renamed)
        } else {
            let (number, events) = core.register(method, sending.task);
            (Some(number), RequestId::from(number), Some(events), true)
        };
        let (core, passes) = (Arc::clone(core), sending.passes.filter(|_| !renamed));
        let waiting = VecDeque::new();
        let opens = method == "initialize";
        let (stream, posting, done, write) = (None, None, false, sending.write.cloned());
        // What passes unread cannot be shown.
        let seen = if passes.is_none() { core.side.begin(&id).map(Open) } else { None };
        Self { core, number, id, renamed, events, stream, posting, waiting, passes, opens, done, write, seen }
    }

    async fn send(&mut self, text: &str, sending: Sending<'_>, limit: usize) -> Result<(), Trouble> {
        let revision = self.core.revision.get().copied();
        let mut edits = sending.edits;
        edits.id = Some(&self.id).filter(|_| self.renamed);
        edits.progress_token = self.number.or(edits.progress_token);
        let body = match sending.message {
            Some(message) if edits.is_empty() => RequestText::Shared(message.shared_text()),
            Some(message) => RequestText::Own(edits.apply(message).into_owned()),
            None => RequestText::Own(request(text, &edits).into_owned()),
        };
        let body = match &self.core.context {
            Some(context) => body.told(context),
            None => body,
        };
        self.shows(Party::Client, body.as_str());
        match &self.core.carrier {
            Carrier::Child(child) => self.core.write(child, body.as_str()).await,
            Carrier::WebSocket(socket) => Ok(socket.send(body.as_str()).await?),
            Carrier::Sse(sse) => {
                let posting = old_sse::post(sse, body.as_str()).map_ok(|()| None).boxed();
                self.post(posting, sending.until, limit).await
            }
            Carrier::Http(http) => {
                let mirrored = match (sending.headers, sending.message, edits.envelope) {
                    (Some(headers), ..) => Mirrored::By(headers),
                    (None, Some(message), Some(envelope)) => {
                        let source = message.method().and_then(named_by);
                        let name = edits.name.filter(|(member, _)| source == Some(*member)).map(|(_, name)| name);
                        Mirrored::In(envelope.revision, message, name)
                    }
                    _ => Mirrored::Unread,
                };
                let posting = http.request(body, revision, mirrored, (sending.schema, sending.added));
                // A request whose messages all come on its own stream needs to wait for nothing else.
                if self.events.is_none() {
                    return self.take(posting.await?, limit).await;
                }
                self.post(posting.map_ok(Some).boxed(), sending.until, limit).await
            }
        }
    }

    /// Waits for the answer to a POST, or for a message of the server that comes first.
    async fn post(&mut self, mut posting: Posting, until: Option<Instant>, limit: usize) -> Result<(), Trouble> {
        tokio::select! {
            answered = &mut posting => self.take_answer(answered, limit).await,
            Some(event) = Self::next_linked(&mut self.events) => {
                self.waiting.push_back((*event)?);
                self.posting = Some(posting);
                Ok(())
            }
            // After the request is given up, its answer may still be awaited, to be counted.
            () = Self::end_of(until) => {
                self.posting = Some(posting);
                Ok(())
            }
        }
    }

    /// Waits for ever where there is no end.
    async fn end_of(until: Option<Instant>) {
        match until {
            Some(until) => sleep_until(until.into()).await,
            None => pending().await,
        }
    }

    async fn take_answer(&mut self, answered: Result<Option<Response>, Trouble>, limit: usize) -> Result<(), Trouble> {
        match answered? {
            Some(response) => self.take(response, limit).await,
            None => Ok(()),
        }
    }

    /// Takes the response to the POST: a message, a stream of them, or a refusal.
    async fn take(&mut self, mut response: Response, limit: usize) -> Result<(), Trouble> {
        // Servers of 2026-07-28 have no sessions, whatever their responses to other requests name.
        if let (Carrier::Http(http), true) = (&self.core.carrier, self.opens) {
            http.keep_session(&response);
        }
        if response.status.is_success() && response.is_event_stream() {
            let retry = Duration::from_secs(1);
            let held = if self.passes.is_some() { HELD } else { usize::MAX };
            self.stream = Some(Stream { response, last: None, retry, resumes: 0, held });
            return Ok(());
        }
        let status = response.status.as_u16();
        let retry_after = response.header("retry-after").map(str::to_owned);
        let mut body = Vec::new();
        if let Some(patience) = self.passes.filter(|_| status == 200 && response.is_of(JSON)) {
            // A length that is announced need not be awaited: the beginning tells, and passes without a copy.
            if response.length().is_some_and(|length| length > HELD as u64) {
                let first = response.next_piece(limit).await?;
                if begins_result(&first, &self.id) {
                    self.waiting.push_back(Event::Passed(response.into_body(first, patience)));
                    return Ok(());
                }
                body = first.into();
            }
            if !response.read(&mut body, HELD, limit).await? && begins_result(&body, &self.id) {
                self.waiting.push_back(Event::Passed(response.into_body(body.into(), patience)));
                return Ok(());
            }
        }
        response.read(&mut body, usize::MAX, limit).await?;
        match http::message(body) {
            Some(message) if message.kind().is_response() => {
                self.waiting.push_back(Event::Response(message));
                Ok(())
            }
            _ => Err(Trouble::Status { status, retry_after }),
        }
    }

    /// Whether a message has come that [`Self::next`] gives at once.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The next message that belongs to the request. The response is the last one.
    pub(crate) async fn next(&mut self, limit: usize) -> Result<Event, Trouble> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.shows_event(&event);
                if matches!(event, Event::Response(_) | Event::Passed(_) | Event::PassedStream(_)) {
                    self.done = true;
                    self.write.take().iter().for_each(|write| write.answered());
                }
                return Ok(event);
            }
            let over_http = matches!(self.core.carrier, Carrier::Http(_));
            tokio::select! {
                biased;
                event = Self::next_linked(&mut self.events) => match event {
                    Some(event) => match *event {
                        Ok(event) => self.waiting.push_back(event),
                        Err(trouble) => return self.fail(trouble),
                    },
                    None if over_http && self.stream.is_some() => self.read(limit).await?,
                    None => {
                        self.done = true;
                        return Err(Trouble::Unknown(self.core.cause().await));
                    }
                },
                answered = Self::posted(&mut self.posting) => {
                    self.posting = None;
                    self.take_answer(answered, limit).await?;
                }
                next = Self::next_block(&mut self.stream, limit) => self.take_next(next).await?,
            }
        }
    }

    async fn read(&mut self, limit: usize) -> Result<(), Trouble> {
        let next = Self::next_block(&mut self.stream, limit).await;
        self.take_next(next).await
    }

    /// Waits for ever where nothing is being posted.
    async fn posted(posting: &mut Option<Posting>) -> Result<Option<Response>, Trouble> {
        match posting {
            Some(posting) => posting.await,
            None => pending().await,
        }
    }

    /// Waits for ever where nothing can come.
    async fn next_linked(events: &mut Option<Queue<Incoming>>) -> Option<Incoming> {
        match events {
            Some(events) => events.recv().await,
            None => pending().await,
        }
    }

    /// Waits for ever where there is no stream.
    async fn next_block(stream: &mut Option<Stream>, limit: usize) -> Result<NextEvent, Lost> {
        match stream {
            Some(stream) => stream.response.next_event_within(stream.held, limit).await,
            None => pending().await,
        }
    }

    async fn take_next(&mut self, next: Result<NextEvent, Lost>) -> Result<(), Trouble> {
        match next {
            Ok(NextEvent::Event(block)) => self.take_block(block).await,
            Ok(NextEvent::Open) => {
                self.pass_event();
                Ok(())
            }
            Err(Lost::TooLarge) => Err(Lost::TooLarge.into()),
            Ok(NextEvent::End) | Err(Lost::Broken) => Box::pin(self.resume()).await,
        }
    }

    /// A large event has begun. A result passes as it comes; anything else is awaited.
    fn pass_event(&mut self) {
        let Some(stream) = &mut self.stream else { return };
        stream.held = usize::MAX;
        let is_result = open_data(stream.response.open_event()).is_some_and(|data| begins_result(data, &self.id));
        if let Some(patience) = self.passes.filter(|_| is_result) {
            let stream = self.stream.take();
            self.waiting.extend(stream.map(|stream| Event::PassedStream(stream.response.into_event(patience))));
        }
    }

    async fn take_block(&mut self, block: Block) -> Result<(), Trouble> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        if self.passes.is_some() {
            stream.held = HELD;
        }
        if let Some(retry) = block.retry_ms() {
            stream.retry = Duration::from_millis(retry).min(LONGEST_RETRY);
        }
        if let Some(id) = &block.id {
            stream.last = Some(id.clone());
            stream.resumes = 0;
        }
        let is_message = block.is_message();
        let Some(data) = block.data.filter(|data| is_message && !data.is_empty()) else { return Ok(()) };
        match parse_owned(data.into_bytes()) {
            Ok(Packet::Message(message)) => self.sort(message).await,
            Ok(Packet::Batch(parts)) => {
                for message in parts.into_iter().flatten() {
                    self.sort(message).await;
                }
            }
            Err(malformed) if malformed.answered() == Some(&self.id) => return self.fail(invalid(&malformed)),
            Err(malformed) => tracing::debug!(fault = %malformed.fault, "ignored an invalid message of an upstream"),
        }
        Ok(())
    }

    /// The request has ended, without a response that can be passed on.
    fn fail<T>(&mut self, trouble: Trouble) -> Result<T, Trouble> {
        self.done = true;
        Err(trouble)
    }

    /// Everything on the stream of a request belongs to it, except responses to other requests.
    async fn sort(&mut self, message: Message) {
        let event = match message.kind() {
            Kind::Result | Kind::Error if message.id() == Some(&self.id) || message.id().is_none() => {
                Event::Response(message)
            }
            Kind::Result | Kind::Error => return Box::pin(self.core.route(message)).await,
            Kind::Notification => Event::Notification(message),
            Kind::Request if self.core.may_ask() => Event::Question(message),
            Kind::Request => return,
        };
        self.waiting.push_back(event);
    }

    /// Goes on with a response stream that ended too early.
    async fn resume(&mut self) -> Result<(), Trouble> {
        let broken = || Trouble::Unknown("its response stream ended without a response".to_owned());
        let (Carrier::Http(http), Some(stream)) = (&self.core.carrier, &mut self.stream) else { return Err(broken()) };
        let revision = self.core.revision.get().copied();
        let legacy = revision.is_none_or(|revision| revision.era() == Era::Legacy);
        // A request that was cancelled is not gone on with.
        let Some(last) = stream.last.clone().filter(|_| legacy && stream.resumes < RESUMES && !self.done) else {
            return Err(broken());
        };
        stream.resumes += 1;
        sleep(stream.retry).await;
        stream.response = http.resume(&last, revision).await.map_err(Trouble::after_request)?;
        Ok(())
    }

    /// Answers a question of the server. What goes wrong leaves open what became of the request.
    pub(crate) fn answer<'t>(&self, text: &'t str) -> impl Future<Output = Result<(), Trouble>> + Send + use<'t> {
        let (core, seen) = (Arc::clone(&self.core), self.exchange());
        async move { core.post_in(seen.as_ref(), text).await.map_err(Trouble::after_request) }
    }

    /// The same without the client. A server that does not take it may still respond: the request goes on.
    pub(crate) fn answer_lightly<'t>(&self, text: &'t str) -> impl Future<Output = ()> + Send + use<'t> {
        let answered = self.answer(text);
        async move {
            if answered.await.is_err() {
                tracing::debug!("the server did not take the answer to its question");
            }
        }
    }
}

impl Flight {
    /// Cancels the request, whose time is over. What comes of it all the same can still be read, if anything can come: where
    /// the connection is closed to cancel it, nothing does.
    pub(crate) fn give_up(mut self) -> Option<Self> {
        let number = self.number.filter(|_| self.is_cancelled_by_message())?;
        // Later requests of the same connection must not share its questions and log messages.
        self.core.asks_no_more(number);
        self.cancel(number, "The time limit of the call is over");
        self.done = true;
        Some(self)
    }

    /// Whether a cancellation is sent to the server when nobody waits for the response any more.
    fn is_cancelled_by_message(&self) -> bool {
        let alone = matches!(self.core.carrier, Carrier::Http(_))
            && self.core.revision.get().is_some_and(|revision| revision.era() == Era::Modern);
        // `initialize` must not be cancelled (2025-11-25, basic/utilities/cancellation).
        !(self.done || alone || self.opens || self.core.is_ended())
    }

    fn exchange(&self) -> Option<Exchange> {
        self.seen.as_ref().map(|open| open.0.clone())
    }

    /// Shows one of its messages to those who watch.
    fn shows(&self, from: Party, text: &str) {
        if let Some(Open(exchange)) = &self.seen {
            exchange.shows(from, text);
        }
    }

    fn shows_event(&self, event: &Event) {
        match event {
            Event::Response(message) => self.seen.iter().for_each(|seen| seen.0.answers(message.text().as_bytes())),
            Event::Notification(message) | Event::Question(message) => self.shows(Party::Server, message.text()),
            // Nothing that is watched passes unread.
            Event::Passed(_) | Event::PassedStream(_) => {}
        }
    }

    fn cancel(&self, number: i64, reason: &str) {
        let core = Arc::clone(&self.core);
        let params = json!({ "requestId": number, "reason": reason });
        let text = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let seen = self.exchange();
            runtime.spawn(async move {
                let _ = core.post_in(seen.as_ref(), &text).await;
            });
        }
    }
}

fn parse_id(text: &str) -> Option<RequestId> {
    match parse(text.as_bytes()) {
        Ok(Packet::Message(message)) => message.id().cloned(),
        _ => None,
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let Some(number) = self.number else {
            // Over HTTP, a modern server learns it from the closed connection.
            return self.core.end_alone(&self.id);
        };
        // Its answer may still come.
        if let Some(write) = self.write.take() {
            self.core.awaits(number, write);
        }
        self.core.forget(number);
        if self.is_cancelled_by_message() {
            self.cancel(number, "The client no longer waits for the response");
        }
    }
}
