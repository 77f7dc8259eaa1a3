//! One HTTP request with its response so far; on transports without exchanges, an empty one that is finished. Other modules
//! fill it: no I/O here.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use wire::framing::sse::Block;
use wire::message::{self, Packet};
use wire::trace::{Closed, Headers, header};
use wire::{Kind, Message, RequestId};

use super::error::OpenError;
use super::lenient::{Leniency, LooseResponse};

/// Longer than any exchange is waited for.
const FOREVER: Duration = Duration::from_hours(1);
/// How long the right response may come after another one in the same exchange.
pub(super) const AFTER_OTHER: Duration = Duration::from_millis(30);

/// One exchange. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Exchange(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    number: u32,
    expects_response: bool,
    state: Mutex<State>,
    changed: Notify,
    stop: Notify,
}

#[derive(Debug, Default)]
struct State {
    head: Option<(u16, Headers)>,
    body: Option<Vec<u8>>,
    events: Vec<Block>,
    /// The last id and the last `retry` among all blocks, kept or not.
    last_id: Option<String>,
    retry: Option<Duration>,
    closed: Option<Closed>,
    /// What the HTTP library says about a failure.
    why: Option<String>,
    /// The bytes received in place of a response.
    seen: Vec<u8>,
}

impl State {
    /// The messages of the events after so many; without events, the body.
    fn texts_since(&self, seen: usize) -> Vec<Vec<u8>> {
        let events = self.events[seen.min(self.events.len())..].iter().filter(|block| block.is_message());
        let texts: Vec<_> = events.filter_map(|block| Some(block.data.clone()?.into_bytes())).collect();
        if texts.is_empty() { self.body.clone().into_iter().collect() } else { texts }
    }
}

impl Exchange {
    /// An exchange whose request carries a message that `expects_response` for an answer, or does not.
    pub(crate) fn new(number: u32, expects_response: bool) -> Self {
        let inner =
            Inner { number, expects_response, state: Mutex::default(), changed: Notify::new(), stop: Notify::new() };
        Self(Arc::new(inner))
    }

    /// The exchange of a transport without exchanges: number 0, finished.
    pub fn none() -> Self {
        let exchange = Self::new(0, false);
        exchange.end(Closed::End);
        exchange
    }

    /// The exchange's number in the trace; 0 on transports that have none.
    pub fn number(&self) -> u32 {
        self.0.number
    }

    /// Status and headers of the response, now or within `patience`.
    pub async fn head(&self, patience: Duration) -> Option<(u16, Headers)> {
        self.until(patience, |state| state.head.is_some() || state.closed.is_some()).await;
        self.state().head.clone()
    }

    /// The status, if the head is there.
    pub fn status(&self) -> Option<u16> {
        self.state().head.as_ref().map(|(status, _)| *status)
    }

    /// The headers of the response, if its head is there.
    pub fn headers(&self) -> Headers {
        self.state().head.as_ref().map(|(_, headers)| headers.clone()).unwrap_or_default()
    }

    /// Whether the exchange is over, now or within `patience`.
    pub async fn finished(&self, patience: Duration) -> bool {
        self.until(patience, |state| state.closed.is_some()).await
    }

    /// How the exchange ended, if it has.
    pub fn closed(&self) -> Option<Closed> {
        self.state().closed.clone()
    }

    /// The body so far as it is complete; `None` for an event stream.
    pub fn body(&self) -> Option<Vec<u8>> {
        self.state().body.clone()
    }

    /// The blocks of the event stream so far.
    pub fn events(&self) -> Vec<Block> {
        self.state().events.clone()
    }

    /// The last id that an event of the stream had; what resumes it.
    pub fn last_event_id(&self) -> Option<String> {
        self.state().last_id.clone()
    }

    /// How long the server asks to wait before the stream is resumed.
    pub fn retry(&self) -> Option<Duration> {
        self.state().retry
    }

    /// The first block that is `wanted`, now or within `patience`.
    pub async fn event(&self, wanted: impl Fn(&Block) -> bool, patience: Duration) -> Option<Block> {
        self.until(patience, |state| state.closed.is_some() || state.events.iter().any(&wanted)).await;
        self.state().events.iter().find(|block| wanted(block)).cloned()
    }

    /// Whether the response is an event stream.
    pub fn is_stream(&self) -> bool {
        self.state().head.as_ref().is_some_and(|(_, headers)| is_event_stream(headers))
    }

    /// Aborts the exchange: the socket is closed, and the trace says that the client did it.
    pub fn abort(&self) {
        self.0.stop.notify_one();
    }

    /// Resolves after [`Exchange::abort`].
    pub(crate) async fn aborted(&self) {
        self.0.stop.notified().await;
    }

    /// Whether the request carried a message that expects a response.
    pub(crate) fn expects_response(&self) -> bool {
        self.0.expects_response
    }

    /// Keeps what is known about a failure.
    pub(crate) fn fail(&self, why: String, seen: Vec<u8>) {
        let mut state = self.state();
        state.why = Some(why);
        state.seen = seen;
    }

    /// An error without an id in the body: the server could not read the request, or refused it unread.
    pub fn error_without_id(&self) -> Option<Message> {
        match message::parse(&self.body()?) {
            Ok(Packet::Message(message)) if message.kind() == Kind::Error && message.id().is_none() => Some(message),
            _ => None,
        }
    }

    /// Whether anything like a response came, whatever is wrong with it.
    pub(crate) fn holds_loose_response(&self) -> bool {
        self.state().texts_since(0).iter().any(|text| !LooseResponse::read(text).is_empty())
    }

    /// The response to the request `id` that the exchange itself carried, where its own id says another thing or it breaks the
    /// envelope. Never resolves if there is no such response.
    pub(crate) async fn own_response(&self, id: &RequestId, leniency: &Leniency) -> Message {
        let mut seen = 0;
        loop {
            self.until(FOREVER, |state| state.closed.is_some() || state.events.len() > seen).await;
            let (over, texts) = {
                let state = self.state();
                let texts = state.texts_since(seen);
                seen = state.events.len();
                (state.closed.is_some(), texts)
            };
            let loose: Vec<_> = texts.iter().flat_map(|text| LooseResponse::read(text)).collect();
            let is_plain = |text: &Vec<u8>| message::parse(text).is_ok();
            // What is as it should be comes the usual way.
            let usual = loose.iter().any(|response| response.is_exactly(id)) && texts.iter().all(is_plain);
            if !usual && !loose.is_empty() {
                tokio::time::sleep(AFTER_OTHER).await;
                // Known only once what came has been read the usual way, too.
                let is_anothers =
                    |response: &&LooseResponse| response.id().is_some_and(|other| leniency.answers_another(other, id));
                let mut own = loose.iter().filter(|response| !is_anothers(response));
                if let Some(message) = own.find_map(|response| response.answering(id)) {
                    return message;
                }
            }
            if over {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Why the exchange brought no response: it timed out, was closed, or was not HTTP.
    pub(crate) fn failure(&self, at: String, after: Duration, waited_for: &'static str) -> OpenError {
        let state = self.state();
        let why = state.why.clone().unwrap_or_else(|| "in the middle of the answer".to_owned());
        match &state.closed {
            Some(Closed::Reset) if state.seen.starts_with(b"\x15\x03") => {
                OpenError::Tls { at, why: "the peer speaks TLS there; the URL should begin with https".to_owned() }
            }
            Some(Closed::Reset) if !state.seen.is_empty() && !state.seen.starts_with(b"HTTP/") => {
                OpenError::NotMcp { at, came: format!("not even HTTP: {}", String::from_utf8_lossy(&state.seen)) }
            }
            Some(Closed::Reset | Closed::Failed | Closed::End) => OpenError::Reset { at, why },
            Some(Closed::Aborted) => {
                OpenError::NotMcp { at, came: "more than we read, and no answer in it".to_owned() }
            }
            _ => OpenError::Timeout { at, waited_for, after },
        }
    }

    pub(crate) fn set_head(&self, status: u16, headers: Headers) {
        self.state().head = Some((status, headers));
        self.0.changed.notify_waiters();
    }

    pub(crate) fn set_body(&self, body: Vec<u8>) {
        self.state().body = Some(body);
    }

    /// Adds a block, which is `kept` for later.
    pub(crate) fn add_event(&self, block: Block, kept: bool) {
        let mut state = self.state();
        if let Some(id) = block.id.clone().filter(|id| !id.is_empty()) {
            state.last_id = Some(id);
        }
        state.retry = block.retry_ms().map(Duration::from_millis).or(state.retry);
        if kept {
            state.events.push(block);
        }
        drop(state);
        self.0.changed.notify_waiters();
    }

    pub(crate) fn end(&self, how: Closed) {
        self.state().closed.get_or_insert(how);
        self.0.changed.notify_waiters();
    }

    async fn until(&self, patience: Duration, is_so: impl Fn(&State) -> bool) -> bool {
        let end = Instant::now() + patience;
        loop {
            let changed = self.0.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if is_so(&self.state()) {
                return true;
            }
            if timeout_at(end, changed).await.is_err() {
                return is_so(&self.state());
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the content type says event stream, its parameters aside.
pub(crate) fn is_event_stream(headers: &[(String, String)]) -> bool {
    let media = header(headers, "content-type").and_then(|value| value.split(';').next());
    media.is_some_and(|media| media.trim().eq_ignore_ascii_case("text/event-stream"))
}
