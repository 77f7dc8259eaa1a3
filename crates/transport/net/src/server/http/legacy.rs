//! Streamable HTTP from 2025-03-26 to 2025-11-25: sessions, GET streams, resumption, DELETE. A lost connection does not cancel
//! a request: slow requests run in tasks of their own, and their messages are kept for a while.

use std::future::poll_fn;
use std::sync::Arc;

use hyper::header::HeaderValue;
use hyper::{HeaderMap, StatusCode};
use wire::http::{EVENT_STREAM, LAST_EVENT_ID, PROTOCOL_VERSION, SESSION_ID};
use wire::message::Malformed;
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25};
use wire::{Era, Kind, Message, RequestId, Revision, Transport};

use super::accept::accepts;
use super::entry::Sender;
use super::events::{EventId, EventStream};
use super::response::{Response, events, json, refuse, status};
use super::response_body::{Body, Events};
use super::sessions::{HttpSession, Owner};
use super::{Grant, Peer, Shared, guard};
use crate::server::batch::{Batch, RequestSink};
use crate::server::conversation::request_id;
use crate::server::link::{Link, MessageSink};
use crate::service::{Answer, Call, Context, Pending, Reply, RpcError, code};

/// Answers a request.
pub(super) async fn request(shared: &Arc<Shared>, peer: &Peer, sender: Sender, message: Message) -> Response {
    if message.method() == Some("initialize") && !sender.headers.contains_key(SESSION_ID) {
        return initialize(shared, peer, sender, message).await;
    }
    let session = match find(shared, &sender.headers, message.id()) {
        Ok(session) => session,
        Err(response) => return *response,
    };
    let Some(id) = message.id().cloned() else { return status(StatusCode::BAD_REQUEST) };
    if session.in_flight.has(&id) {
        let error = RpcError::invalid_request("Invalid request: this id is in use");
        return refuse(StatusCode::BAD_REQUEST, Some(&id), &error);
    }
    let stream = session.streams.open();
    let reply = call(shared, &session, Arc::clone(&stream) as _, Caller::of(sender), message);
    answer(shared, session, stream, id, reply).await
}

fn call(shared: &Shared, session: &HttpSession, sink: Arc<dyn MessageSink>, caller: Caller, message: Message) -> Reply {
    let link = Link::new(sink, Some(Arc::clone(&session.session)), shared.closing.clone());
    shared.service.call(Call { message, context: context(session, caller), link })
}

/// Who sends a message. One of a batch has no headers of its own.
struct Caller {
    headers: Option<HeaderMap>,
    grant: Option<Arc<Grant>>,
}

impl Caller {
    fn of(sender: Sender) -> Self {
        Self { headers: Some(sender.headers), grant: sender.grant }
    }

    fn in_batch(sender: &Sender) -> Self {
        Self { headers: None, grant: sender.grant.clone() }
    }
}

fn context(session: &HttpSession, caller: Caller) -> Context {
    Context {
        subject: session.subject.clone(),
        revision: session.session.revision().unwrap_or(Revision::NEWEST_LEGACY),
        transport: Transport::StreamableHttp,
        whole: false,
        session: Some(Arc::clone(&session.session)),
        headers: caller.headers,
        grant: caller.grant,
    }
}

/// Opens a session where the service agrees.
async fn initialize(shared: &Arc<Shared>, peer: &Peer, sender: Sender, message: Message) -> Response {
    if let Err(response) = check_version(shared, &sender.headers, message.id()) {
        return *response;
    }
    let full = RpcError::internal("This server has as many sessions as it can take; try again later");
    let id = message.id().cloned();
    let subject = guard::subject(shared, &sender.headers);
    let owner = Owner::new(subject, peer.remote);
    let room = shared.sessions.has_room(&owner);
    let Some(mut session) = shared.sessions.begin(owner).filter(|_| room) else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, id.as_ref(), &full);
    };
    session.subject = subject.cloned();
    let stream = session.streams.open();
    let answer = match call(shared, &session, Arc::clone(&stream) as _, Caller::of(sender), message) {
        Reply::Now(answer) => answer,
        Reply::Later(pending) => pending.await,
    };
    let refused = answer.code() == Some(code::UNSUPPORTED_VERSION);
    let mut response = json(if refused { StatusCode::BAD_REQUEST } else { status_of(shared, &answer) }, answer);
    let name = session.session.id().and_then(|id| HeaderValue::from_str(id).ok());
    if let (Some(_), Some(name)) = (session.session.opening(), name) {
        response.headers_mut().insert(SESSION_ID, name);
        shared.sessions.add(session);
    }
    response
}

/// Turns a reply into a response: plain JSON where nothing precedes the answer, else an event stream.
async fn answer(
    shared: &Shared,
    session: Arc<HttpSession>,
    stream: Arc<EventStream>,
    id: RequestId,
    reply: Reply,
) -> Response {
    match reply {
        Reply::Now(answer) if answer.text().is_empty() => return status(StatusCode::ACCEPTED),
        Reply::Now(answer) if stream.is_silent() => return json(status_of(shared, &answer), answer),
        Reply::Now(answer) => {
            session.streams.keep(&stream);
            stream.finish(answer);
        }
        Reply::Later(pending) => {
            if session.in_flight.count() >= shared.options.limits.in_flight {
                let error = RpcError::internal("Too many requests of this session are being answered");
                return refuse(StatusCode::TOO_MANY_REQUESTS, Some(&id), &error);
            }
            session.streams.keep(&stream);
            start(&session, &stream, &id, pending);
            if let Some(answer) = poll_fn(|context| stream.poll_alone(context)).await {
                session.streams.forget(&stream);
                return json(status_of(shared, &answer), answer);
            }
        }
    }
    read_events(shared, &session, stream, 1, true)
}

/// The status of an answer that is the whole response.
fn status_of(shared: &Shared, answer: &Answer) -> StatusCode {
    match answer.code().filter(|_| shared.options.error_status) {
        Some(code::INTERNAL_ERROR) => StatusCode::INTERNAL_SERVER_ERROR,
        Some(_) => StatusCode::BAD_REQUEST,
        None => StatusCode::OK,
    }
}

fn start(session: &Arc<HttpSession>, stream: &Arc<EventStream>, id: &RequestId, pending: Pending) {
    let guard = CompletionGuard { id: id.clone(), session: Arc::clone(session), stream: Arc::clone(stream) };
    let outlet = Arc::clone(stream) as _;
    session.in_flight.start(id, outlet, || tokio::spawn(async move { guard.complete(pending.await) }).abort_handle());
}

/// Completes a request when its task ends, even by a panic.
struct CompletionGuard {
    id: RequestId,
    session: Arc<HttpSession>,
    stream: Arc<EventStream>,
}

impl CompletionGuard {
    fn complete(&self, answer: Answer) {
        if self.session.in_flight.finish(&self.id) {
            if answer.text().is_empty() {
                // A batch whose requests were all cancelled.
                return self.stream.end();
            }
            self.stream.finish(answer);
        }
    }
}

impl Drop for CompletionGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.complete(Answer::error(Some(&self.id), &RpcError::internal("Internal error")));
        }
        self.stream.end();
    }
}

fn read_events(shared: &Shared, session: &HttpSession, stream: Arc<EventStream>, from: u64, primed: bool) -> Response {
    let limits = &shared.options.limits;
    let primes = primed && session.session.revision().is_some_and(|revision| revision.at_least(R2025_11_25));
    let priming = primes.then(|| stream.priming(limits.retry));
    events(Body::boxed(Events::new(stream, from, priming, limits.keep_alive)))
}

/// Receives a notification or a response.
pub(super) fn other(shared: &Shared, sender: Sender, message: Message) -> Response {
    let session = match find(shared, &sender.headers, None) {
        Ok(session) => session,
        Err(response) => return *response,
    };
    take(shared, &session, Caller::of(sender), message);
    status(StatusCode::ACCEPTED)
}

fn take(shared: &Shared, session: &HttpSession, caller: Caller, message: Message) {
    match (message.kind(), message.method()) {
        (Kind::Result | Kind::Error, _) => session.session.answer(message),
        (_, Some("notifications/cancelled")) => {
            let id = message.params().and_then(|params| params.get("requestId")).and_then(request_id);
            if let Some(id) = id {
                session.in_flight.cancel(&id);
            }
        }
        (_, method) => {
            if method == Some("notifications/initialized") {
                session.session.set_ready();
            }
            shared.service.notice(&message, &context(session, caller));
        }
    }
}

/// Receives a batch, which only 2025-03-26 has.
pub(super) async fn batch(shared: &Arc<Shared>, sender: Sender, parts: Vec<Result<Message, Malformed>>) -> Response {
    let unsupported = RpcError::invalid_request("Invalid request: batches exist only in sessions at 2025-03-26");
    if !sender.headers.contains_key(SESSION_ID) {
        return refuse(StatusCode::BAD_REQUEST, None, &unsupported);
    }
    let session = match find(shared, &sender.headers, None) {
        Ok(session) if session.session.revision() == Some(R2025_03_26) => session,
        Ok(_) => return refuse(StatusCode::BAD_REQUEST, None, &unsupported),
        Err(response) => return *response,
    };
    let stream = session.streams.open();
    let mut batch = Batch::new(shared.options.limits.batch);
    for part in parts {
        match part {
            Ok(message) if message.kind() != Kind::Request => {
                take(shared, &session, Caller::in_batch(&sender), message);
            }
            Ok(message) => {
                let caller = Caller::in_batch(&sender);
                batched(shared, (&session, caller), &stream, &mut batch, message);
            }
            Err(malformed) => batch.add_malformed(&malformed),
        }
    }
    if batch.is_empty() {
        return status(StatusCode::ACCEPTED);
    }
    let id = session.next_batch_id();
    answer(shared, session, stream, id, batch.reply()).await
}

/// Answers one request of a batch.
fn batched(
    shared: &Shared,
    (session, caller): (&HttpSession, Caller),
    stream: &Arc<EventStream>,
    batch: &mut Batch,
    message: Message,
) {
    let Some(id) = message.id().cloned() else { return };
    if session.in_flight.has(&id) {
        let error = RpcError::invalid_request("Invalid request: this id is in use");
        return batch.add(Some(&id), Answer::error(Some(&id), &error));
    }
    let sink = RequestSink::new(Arc::clone(stream) as _);
    match call(shared, session, Arc::clone(&sink) as _, caller, message) {
        Reply::Now(answer) => batch.add(Some(&id), answer),
        // The batch itself takes one place, too.
        Reply::Later(_) if session.in_flight.count() + 1 >= shared.options.limits.in_flight => {
            let error = RpcError::internal("Too many requests of this session are being answered");
            batch.add(Some(&id), Answer::error(Some(&id), &error));
        }
        Reply::Later(pending) => batch.start(id, sink, pending, &session.in_flight),
    }
}

/// Opens a stream for messages without a request, or resumes a stream.
pub(super) fn get(shared: &Shared, headers: &HeaderMap) -> Response {
    if !accepts(headers, EVENT_STREAM) {
        let error = RpcError::invalid_request("Not acceptable: `Accept` must list text/event-stream");
        return refuse(StatusCode::NOT_ACCEPTABLE, None, &error);
    }
    let session = match find(shared, headers, None) {
        Ok(session) => session,
        Err(response) => return *response,
    };
    let Some(last) = headers.get(LAST_EVENT_ID) else {
        let stream = session.streams.listen();
        return read_events(shared, &session, stream, 1, true);
    };
    let last = last.to_str().ok().and_then(EventId::parse);
    let Some((last, stream)) = last.and_then(|last| Some((last, session.streams.find(last.stream)?))) else {
        let error = RpcError::invalid_request("Invalid request: `Last-Event-ID` names no event that is kept");
        return refuse(StatusCode::BAD_REQUEST, None, &error);
    };
    read_events(shared, &session, stream.clone(), stream.resume_at(last.event), false)
}

/// Ends a session.
pub(super) fn delete(shared: &Shared, headers: &HeaderMap) -> Response {
    if let Err(response) = find(shared, headers, None) {
        return *response;
    }
    let id = headers.get(SESSION_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
    status(if shared.sessions.remove(id) { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND })
}

/// The session a request names: 400 where it names none, 404 where there is none of that id.
fn find(shared: &Shared, headers: &HeaderMap, id: Option<&RequestId>) -> Result<Arc<HttpSession>, Box<Response>> {
    check_version(shared, headers, id)?;
    let missing = || {
        let error = RpcError::invalid_request("Invalid request: `Mcp-Session-Id` is missing; `initialize` gives one");
        Box::new(refuse(StatusCode::BAD_REQUEST, id, &error))
    };
    let name = headers.get(SESSION_ID).ok_or_else(missing)?;
    let session = name.to_str().ok().and_then(|name| shared.sessions.find(name));
    // For another subject there is no such session.
    let own = |session: &Arc<HttpSession>| guard::is_own(shared, headers, session.subject.as_ref());
    let session = session.filter(own).ok_or_else(|| {
        Box::new(refuse(StatusCode::NOT_FOUND, id, &RpcError::invalid_request("No such session: it may have ended")))
    })?;
    let needs_version = session.session.revision().is_some_and(|revision| revision.at_least(R2025_06_18));
    if shared.options.strict && needs_version && !headers.contains_key(PROTOCOL_VERSION) {
        let error = RpcError::invalid_request("Invalid request: `MCP-Protocol-Version` is missing");
        return Err(Box::new(refuse(StatusCode::BAD_REQUEST, id, &error)));
    }
    Ok(session)
}

/// An invalid or unsupported `MCP-Protocol-Version` is 400, whatever was negotiated.
fn check_version(shared: &Shared, headers: &HeaderMap, id: Option<&RequestId>) -> Result<(), Box<Response>> {
    let Some(value) = headers.get(PROTOCOL_VERSION) else { return Ok(()) };
    let named = value.to_str().ok().and_then(|text| text.parse::<Revision>().ok());
    let served = shared.service.revisions();
    if named.is_some_and(|revision| revision.era() == Era::Legacy && served.contains(&revision)) {
        return Ok(());
    }
    let error = RpcError::invalid_request("Invalid request: `MCP-Protocol-Version` is not one this session can have");
    Err(Box::new(refuse(StatusCode::BAD_REQUEST, id, &error)))
}
