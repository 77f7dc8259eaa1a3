//! Streamable HTTP towards an upstream: headers, its session, its stream of messages that belong to no request.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use bytes::Bytes;
use net::server::http::{HeaderMap, HeaderName, HeaderValue, Method};
use net::upstream::{HttpUpstream, Response};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use wire::http::{EVENT_STREAM, JSON, LAST_EVENT_ID, PROTOCOL_VERSION, SESSION_ID, modern_headers, modern_headers_at};
use wire::message::{Malformed, Packet, parse_owned, parse_shared};
use wire::{Era, Message, Revision, meta};

use super::authorized::{Authority, send};
use super::core::{Carrier, Core};
use super::trouble::Trouble;
use crate::context::Injected;

/// The largest event on the stream outside requests.
const EVENT: usize = 16 << 20;
/// How often a stream that cannot be opened is tried again.
const TRIES: u32 = 5;
/// How long a new connection waits for that stream. Some servers send the head with the first event only.
const OPENING: Duration = Duration::from_millis(500);

/// For how many headers a request has room at once.
const ROOM: usize = 16;

/// The text of a request.
pub(crate) enum RequestText {
    /// As its client sent it: no copy is made.
    Shared(Arc<String>),
    /// Edited, or the gateway's own.
    Own(String),
}

impl RequestText {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Shared(text) => text,
            Self::Own(text) => text,
        }
    }

    /// The same with what the server learns of its principal.
    pub(super) fn told(self, context: &Injected) -> Self {
        match context.request(self.as_str()) {
            Cow::Owned(text) => Self::Own(text),
            Cow::Borrowed(_) => self,
        }
    }

    /// The message that it is, which shares the text.
    fn share(&mut self) -> Result<Packet, Malformed> {
        let text = match self {
            Self::Shared(text) => Arc::clone(text),
            Self::Own(text) => Arc::new(std::mem::take(text)),
        };
        let packet = parse_shared(&text);
        *self = Self::Shared(text);
        packet
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::Shared(_) => Bytes::from_owner(self),
            Self::Own(text) => text.into(),
        }
    }
}

impl AsRef<[u8]> for RequestText {
    fn as_ref(&self) -> &[u8] {
        self.as_str().as_bytes()
    }
}

/// Where the headers are found that mirror a request.
#[derive(Clone, Copy)]
pub(super) enum Mirrored<'a> {
    /// The headers of a modern client hold for it, too.
    By(&'a HeaderMap),
    /// In the message that it was made of; it has this revision and, where one is given, this name.
    In(Revision, &'a Message, Option<&'a str>),
    /// In its text, which is read for it where its server is a modern one.
    Unread,
}

fn append(headers: &mut HeaderMap, mirrored: Vec<(String, String)>) {
    for (name, value) in mirrored {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&value)) {
            headers.append(name, value);
        }
    }
}

/// An HTTP endpoint as one client of it sees it.
pub(crate) struct HttpLink {
    pub(super) http: Arc<HttpUpstream>,
    session: OnceLock<String>,
    /// The endpoint has no stream outside requests; all sessions know it.
    no_stream: Arc<AtomicBool>,
    /// What every request of the conversation has, made once: from the first request on whose revision is known.
    headers: OnceLock<HeaderMap>,
    /// The token and the assertion of each request, where the server gets some.
    authority: Authority,
}

impl HttpLink {
    pub(super) const fn new(http: Arc<HttpUpstream>, no_stream: Arc<AtomicBool>, authority: Authority) -> Self {
        Self { http, session: OnceLock::new(), no_stream, headers: OnceLock::new(), authority }
    }

    /// Keeps the session that the answer to `initialize` names.
    pub(super) fn keep_session(&self, response: &Response) {
        if let Some(session) = response.header(SESSION_ID) {
            let _ = self.session.set(session.to_owned());
        }
    }

    /// Whether the server gave a session.
    pub(super) fn has_session(&self) -> bool {
        self.session.get().is_some()
    }

    /// The headers of a request at `revision`; none is known before `initialize` is answered.
    fn headers(&self, revision: Option<Revision>) -> HeaderMap {
        match revision {
            Some(_) => {
                let known = self.headers.get_or_init(|| self.make_headers(revision));
                // A clone would have no room for what the request adds.
                let mut headers = HeaderMap::with_capacity(ROOM);
                headers.extend(known.iter().map(|(name, value)| (name.clone(), value.clone())));
                headers
            }
            None => self.make_headers(None),
        }
    }

    fn make_headers(&self, revision: Option<Revision>) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(ROOM);
        if let Some(session) = self.session.get().and_then(|session| HeaderValue::from_str(session).ok()) {
            headers.insert(SESSION_ID, session);
        }
        // 2025-03-26 has no such header.
        let named = revision.filter(|r| r.era() == Era::Legacy && r.at_least(Revision::R2025_06_18));
        if let Some(revision) = named {
            headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(revision.as_str()));
        }
        headers.insert("accept", HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert("content-type", HeaderValue::from_static(JSON));
        headers
    }

    /// Posts a request. Arguments are mirrored by the tool's `schema`; `added` headers stand in addition.
    pub(super) fn request(
        &self,
        text: RequestText,
        revision: Option<Revision>,
        mirrored: Mirrored<'_>,
        (schema, added): (Option<&Value>, &[(HeaderName, HeaderValue)]),
    ) -> impl Future<Output = Result<Response, Trouble>> + Send + use<> {
        let (mut headers, mut text) = (self.headers(revision), text);
        match mirrored {
            Mirrored::By(mirrored) => {
                for (name, value) in mirrored {
                    if name.as_str().starts_with("mcp-") && !name.as_str().eq_ignore_ascii_case(SESSION_ID) {
                        headers.append(name, value.clone());
                    }
                }
            }
            Mirrored::In(revision, message, name) => {
                append(&mut headers, modern_headers_at(revision, message, name, schema));
            }
            Mirrored::Unread if is_modern(revision, text.as_str()) => {
                if let Ok(Packet::Message(message)) = text.share() {
                    append(&mut headers, modern_headers(&message, schema));
                }
            }
            Mirrored::Unread => {}
        }
        for (name, value) in added {
            headers.insert(name.clone(), value.clone());
        }
        let (http, authority, has_session) = (Arc::clone(&self.http), self.authority.clone(), self.has_session());
        async move {
            let response = send(&http, &authority, Method::POST, headers, text.into_bytes()).await?;
            if response.status.as_u16() == 404 && has_session {
                return Err(Trouble::SessionGone);
            }
            Ok(response)
        }
    }

    /// Posts a message that has no response.
    pub(super) async fn post(&self, text: &str, revision: Option<Revision>) -> Result<(), Trouble> {
        let mut response =
            self.request(RequestText::Own(text.to_owned()), revision, Mirrored::Unread, (None, &[])).await?;
        let status = response.status.as_u16();
        let _ = response.whole(64 << 10).await;
        if (200..300).contains(&status) { Ok(()) } else { Err(Trouble::Status { status, retry_after: None }) }
    }

    /// Resumes a response stream after the event `last`.
    pub(super) async fn resume(&self, last: &str, revision: Option<Revision>) -> Result<Response, Trouble> {
        let response = self.open_stream(Some(last), revision).await?;
        if response.status.is_success() && response.is_event_stream() {
            Ok(response)
        } else {
            Err(Trouble::Unknown("its event stream ended and could not be resumed".to_owned()))
        }
    }

    async fn open_stream(&self, last: Option<&str>, revision: Option<Revision>) -> Result<Response, Trouble> {
        let mut headers = self.headers(revision);
        headers.remove("content-type");
        headers.insert("accept", HeaderValue::from_static(EVENT_STREAM));
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
            headers.insert(HeaderName::from_static("last-event-id"), last);
        }
        debug_assert!(LAST_EVENT_ID.eq_ignore_ascii_case("last-event-id"));
        send(&self.http, &self.authority, Method::GET, headers, Bytes::new()).await
    }

    /// Ends the session.
    pub(super) async fn delete(&self, revision: Option<Revision>) {
        if self.has_session() {
            let mut headers = self.headers(revision);
            headers.remove("content-type");
            let sent = send(&self.http, &self.authority, Method::DELETE, headers, Bytes::new());
            if let Ok(mut response) = sent.await {
                let _ = response.whole(64 << 10).await;
            }
        }
    }
}

/// Opens the stream for what the server sends outside requests, and reads it in the background. Resolves when the server
/// has answered: what it sends before then, on account of a call that came first, may be lost.
pub(super) async fn open_listening(core: &Arc<Core>) {
    let (unanswered, answered) = oneshot::channel();
    tokio::spawn(listen(Arc::downgrade(core), unanswered));
    // The other end is dropped at the first answer.
    let _ = timeout(OPENING, answered).await;
}

/// Reads what the server sends outside requests, for as long as `core` lives. A server that has no such stream is asked once.
async fn listen(core: Weak<Core>, unanswered: oneshot::Sender<()>) {
    let (mut failures, mut last, mut unanswered) = (0, None::<String>, Some(unanswered));
    while failures < TRIES {
        let response = {
            let Some(core) = core.upgrade().filter(|core| !core.is_ended()) else { return };
            let Carrier::Http(http) = &core.carrier else { return };
            if http.no_stream.load(Ordering::Relaxed) {
                return;
            }
            // On the heap, because a stream waits much longer than it is opened.
            Box::pin(http.open_stream(last.as_deref(), core.revision.get().copied())).await
        };
        // Whatever the answer is, it is the server's: nobody waits for a second one.
        drop(unanswered.take());
        match response {
            Ok(response) if response.status.is_success() && response.is_event_stream() => {
                failures = 0;
                if let Some(id) = read(&core, response).await {
                    last = Some(id);
                }
            }
            Ok(response) if response.status.is_client_error() => {
                if let Some(core) = core.upgrade()
                    && let Carrier::Http(http) = &core.carrier
                {
                    http.no_stream.store(response.status.as_u16() == 405, Ordering::Relaxed);
                }
                return;
            }
            _ => failures += 1,
        }
        sleep(Duration::from_secs(1 << failures)).await;
    }
}

/// Reads one stream to its end and returns the id of its last event.
async fn read(core: &Weak<Core>, mut response: Response) -> Option<String> {
    // They lie in the buffer into which the head was read, and would keep it for as long as the stream is open.
    response.headers = HeaderMap::new();
    let mut last = None;
    while let Ok(Some(block)) = response.next_event(EVENT).await {
        if let Some(id) = &block.id {
            last = Some(id.clone());
        }
        if let Some(data) = block.data.as_ref().filter(|data| block.is_message() && !data.is_empty()) {
            let Some(core) = core.upgrade() else { return last };
            Box::pin(core.receive(data.as_bytes())).await;
        }
    }
    last
}

/// Whether a request is one of the modern era; before the revision is known, its text says so.
fn is_modern(revision: Option<Revision>, text: &str) -> bool {
    revision.map_or_else(|| text.contains(meta::PROTOCOL_VERSION), |revision| revision.era() == Era::Modern)
}

/// The message that is the whole body of a response.
pub(super) fn message(body: Vec<u8>) -> Option<Message> {
    match parse_owned(body) {
        Ok(Packet::Message(message)) => Some(message),
        _ => None,
    }
}
