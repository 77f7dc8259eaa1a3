//! The old HTTP+SSE transport (2024-11-05 basic/transports#http-with-sse): a stream whose first event names the endpoint for
//! POSTs, and that carries every message of the server. One session is one stream. Knows no message.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hyper::StatusCode;
use hyper::http::request::Parts;
use tokio::sync::{Notify, OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;
use wire::Transport;
use wire::framing::sse::Block;
use wire::http::EVENT_STREAM;

use super::accept::accepts;
use super::buffered_body::BufferedBody;
use super::request_body::{not_json, read};
use super::response::{Response, events, refuse, status};
use super::response_body::{Body, Relay, Silence};
use super::sessions::{key, unguessable};
use super::{Limits, MESSAGES_PATH, Peer, Shared, guard};
use crate::server::conversation::{Bounds, Conversation, Outgoing};
use crate::server::recorder::ConnectionName;
use crate::service::RpcError;

/// How many rendered events wait for hyper; the queue before them is bounded by the conversation.
const HANDED_OVER: usize = 4;

/// One session.
struct SseSession {
    conversation: Conversation,
    posted: Notify,
}

/// All sessions of this transport, by id.
#[derive(Default)]
pub(super) struct SseSessions(Mutex<HashMap<u128, Arc<SseSession>>>);

impl SseSessions {
    fn table(&self) -> MutexGuard<'_, HashMap<u128, Arc<SseSession>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, key: u128) -> Option<Arc<SseSession>> {
        self.table().get(&key).cloned()
    }
}

/// A session's entry among [`SseSessions`] and its permit; both are dropped with the stream.
struct Entry {
    shared: Arc<Shared>,
    key: u128,
    _room: OwnedSemaphorePermit,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.shared.sse_sessions.table().remove(&self.key);
    }
}

/// Opens a session and its stream.
pub(super) fn open(shared: &Arc<Shared>, peer: &Peer, parts: &Parts) -> Response {
    let headers = &parts.headers;
    if !accepts(headers, EVENT_STREAM) {
        let error = RpcError::invalid_request("Not acceptable: `Accept` must list text/event-stream");
        return refuse(StatusCode::NOT_ACCEPTABLE, None, &error);
    }
    let full = RpcError::internal("This server has as many sessions as it can take; try again later");
    let Ok(room) = Arc::clone(&shared.room).try_acquire_owned() else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, None, &full);
    };
    let Some((key, id)) = unguessable(shared.options.router.as_ref()).and_then(|id| Some((key(&id)?, id))) else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, None, &full);
    };
    let limits = &shared.options.limits;
    let conversation = Conversation::new(Arc::clone(&shared.service), Transport::HttpSse, Bounds::of(limits))
        .of(guard::subject(shared, headers).cloned(), guard::grant(&parts.extensions));
    let session = Arc::new(SseSession { conversation, posted: Notify::new() });
    let entry = Entry { shared: Arc::clone(shared), key, _room: room };
    shared.sse_sessions.table().insert(key, Arc::clone(&session));
    let (sender, receiver) = mpsc::channel(HANDED_OVER);
    // The first of the channel's few places: it cannot be full.
    let endpoint = format!("{}{MESSAGES_PATH}?session={id}", shared.options.prefix);
    let _ = sender.try_send(event("endpoint", endpoint.clone()));
    tokio::spawn(run(entry, session, sender, Arc::clone(&peer.cut)));
    let mut response = events(Body::boxed(Relay { events: receiver, silence: Silence::new(limits.keep_alive) }));
    if shared.options.recorder.is_some() {
        response.extensions_mut().insert(ConnectionName(endpoint));
    }
    response
}

fn event(name: &str, data: String) -> Bytes {
    Block { event: Some(name.to_owned()), data: Some(data), ..Block::default() }.render().into()
}

/// Why a stream ends.
enum End {
    /// The client left, or has been idle for too long.
    Over,
    /// The client does not read.
    Slow,
    /// The server is about to end.
    Closing,
}

/// Sends the messages of the conversation on the stream, until either ends.
async fn run(entry: Entry, session: Arc<SseSession>, sender: mpsc::Sender<Bytes>, cut: Arc<Notify>) {
    let limits = &entry.shared.options.limits;
    let outgoing = session.conversation.outgoing();
    let end = tokio::select! {
        end = relay(&outgoing, &sender, limits) => end,
        () = sender.closed() => End::Over,
        () = idle(&session, limits) => End::Over,
        () = outgoing.overrun() => End::Slow,
        () = entry.shared.closing.wait() => End::Closing,
    };
    match end {
        End::Over => {}
        End::Slow => cut.notify_one(),
        End::Closing => {
            let farewell = async {
                session.conversation.finish().await;
                hand_over(&outgoing, &sender).await
            };
            let _ = timeout(limits.grace / 2, farewell).await;
        }
    }
}

async fn relay(outgoing: &Outgoing, sender: &mpsc::Sender<Bytes>, limits: &Limits) -> End {
    loop {
        outgoing.filled().await;
        match timeout(limits.write_time, hand_over(outgoing, sender)).await {
            Ok(Ok(())) => {}
            Ok(Err(())) => return End::Over,
            Err(_) => return End::Slow,
        }
    }
}

/// Sends the queue; `Err` where the stream is gone.
async fn hand_over(outgoing: &Outgoing, sender: &mpsc::Sender<Bytes>) -> Result<(), ()> {
    for frame in outgoing.take().map_err(|_| ())? {
        let text = String::from_utf8(frame).unwrap_or_default();
        sender.send(event("message", text)).await.map_err(|_| ())?;
    }
    Ok(())
}

/// Waits until the client has posted nothing for the idle time, and no request is being answered.
async fn idle(session: &SseSession, limits: &Limits) {
    loop {
        let quiet = timeout(limits.idle, session.posted.notified()).await.is_err();
        if quiet && session.conversation.is_at_rest() {
            return;
        }
    }
}

/// Receives a message of the client, which is answered on the stream.
pub(super) async fn post(shared: &Arc<Shared>, parts: &Parts, body: BufferedBody) -> Response {
    let named = parts.uri.query().and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("session=")));
    let Some(id) = named else {
        let error = RpcError::invalid_request("Invalid request: no session is named; the `endpoint` event does");
        return refuse(StatusCode::BAD_REQUEST, None, &error);
    };
    // For another subject there is no such session.
    let own = |session: &Arc<SseSession>| guard::is_own(shared, &parts.headers, session.conversation.subject());
    let find = || key(id).and_then(|key| shared.sse_sessions.find(key)).filter(own);
    if find().is_none() {
        return ended();
    }
    if let Some(response) = not_json(&parts.headers) {
        return response;
    }
    let text = match read(&shared.options.limits, body).await {
        Ok(text) => text,
        Err(response) => return response,
    };
    if let Some(denial) = guard::text_denial(shared, parts, &text) {
        return denial;
    }
    // Looked up again: it may have ended while the body arrived.
    let Some(session) = find() else { return ended() };
    session.posted.notify_one();
    session.conversation.hear_with(&text, guard::grant(&parts.extensions));
    status(StatusCode::ACCEPTED)
}

fn ended() -> Response {
    refuse(StatusCode::NOT_FOUND, None, &RpcError::invalid_request("No such session: it may have ended"))
}
