//! Services that answer requests: the reference server, a replay. Transports are written once against [`Service`] and know no
//! tools; a service knows no sockets, lines or event streams.
//!
//! The fast path has no task, no channel and no boxed future: a service that can answer at once gives [`Reply::Now`].

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use serde::Serialize;
use serde_json::Value;
use wire::json::{self, Unwritable, write_string};
use wire::{Era, Message, RequestId, Revision, Transport};

pub use wire::error_code as code;

use crate::server::http::{Body, Grant};

pub use crate::server::link::{Closing, Gone, Link, MessageSink, NoAnswer, Opening, Session};

/// Anything that answers requests.
pub trait Service: Send + Sync + 'static {
    /// Answers one request. `call.message` is a request; its `params` are present, absent or an array.
    ///
    /// Must not block. Slow answers go into [`Reply::Later`]; dropping that future cancels the request.
    fn call(&self, call: Call) -> Reply;

    /// Receives a notification. Cancellation never comes here: the transport drops the request's future.
    fn notice(&self, message: &Message, context: &Context) {
        let _ = (message, context);
    }

    /// The revisions served, newest first.
    fn revisions(&self) -> &[Revision] {
        &Revision::NEWEST_FIRST
    }

    /// The legacy revision of requests that come before `initialize`, where a connection is a session. `None` refuses them.
    fn without_handshake(&self) -> Option<Revision> {
        None
    }
}

/// One request, its context, and the link for messages that belong to it.
#[derive(Debug)]
pub struct Call {
    /// The request.
    pub message: Message,
    /// The conversation it belongs to.
    pub context: Context,
    /// Where messages that belong to this request go.
    pub link: Link,
}

/// The conversation that a message belongs to.
#[derive(Clone, Debug)]
pub struct Context {
    /// The revision spoken; for `initialize`, which has none yet, the newest legacy one.
    pub revision: Revision,
    /// The transport of the message.
    pub transport: Transport,
    /// The answer is needed in one piece, whatever the transport.
    pub whole: bool,
    /// The legacy session; none in the modern era.
    pub session: Option<Arc<Session>>,
    /// The headers of the HTTP request, where there was one.
    pub headers: Option<HeaderMap>,
    /// Whose token let the message in: a fingerprint, where a guard demands tokens.
    pub subject: Option<HeaderValue>,
    /// What that token grants. Over a WebSocket it is the token that opened it, which may have expired since.
    pub grant: Option<Arc<Grant>>,
}

impl Context {
    /// The era of the revision spoken.
    pub const fn era(&self) -> Era {
        self.revision.era()
    }
}

impl Call {
    /// The id of the request.
    ///
    /// # Panics
    /// Never for a call made by a transport: those are requests.
    pub fn id(&self) -> &RequestId {
        self.message.id().expect("a call is a request")
    }

    /// Whether it may be answered by [`Answer::passed`]: every other transport needs the text in one piece.
    pub fn takes_body(&self) -> bool {
        self.context.era() == Era::Modern && self.context.transport == Transport::StreamableHttp && !self.context.whole
    }

    /// The capabilities of the client: from `_meta` (modern) or from `initialize` (legacy).
    pub fn client_capabilities(&self) -> Option<&Value> {
        match self.context.era() {
            Era::Modern => self.message.meta()?.get(wire::meta::CLIENT_CAPABILITIES),
            Era::Legacy => Some(&self.context.session.as_ref()?.opening()?.capabilities),
        }
    }
}

/// How a service answers.
pub enum Reply {
    /// At once.
    Now(Answer),
    /// When the future resolves. It is dropped where the client cancels.
    Later(Pending),
}

/// A future answer.
pub type Pending = Pin<Box<dyn Future<Output = Answer> + Send>>;

impl Reply {
    /// A future answer.
    pub fn later(answer: impl Future<Output = Answer> + Send + 'static) -> Self {
        Self::Later(Box::pin(answer))
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::Now(answer)
    }
}

/// A JSON-RPC response, ready to be sent.
#[derive(Debug)]
pub struct Answer {
    text: Vec<u8>,
    code: Option<i64>,
    body: Option<Box<PassedBody>>,
    retry_after: Option<Duration>,
    is_own: bool,
}

/// A response that passes piece by piece, unread, in the form in which another server gave it.
#[derive(Debug)]
pub(crate) struct PassedBody {
    /// Its last event, where it is an event stream; else it is one JSON text.
    pub(crate) is_event: bool,
    pub(crate) body: Body,
}

impl Answer {
    /// `{"jsonrpc":"2.0","id":…,"result":…}`
    pub fn result<T: Serialize>(id: &RequestId, result: &T) -> Self {
        Self::result_within(256, id, result)
    }

    /// The same with a buffer of `room` bytes, where the size is about known: a long text that grows is copied.
    pub fn result_within<T: Serialize>(room: usize, id: &RequestId, result: &T) -> Self {
        Self::with(room, Some(id), "result", result)
            .unwrap_or_else(|why| Self::error(Some(id), &RpcError::internal(why.to_string())))
    }

    /// `{"jsonrpc":"2.0","id":…,"error":…}`, without `id` where there is none to echo.
    pub fn error(id: Option<&RequestId>, error: &RpcError) -> Self {
        let answer = Self::with(256, id, "error", error).unwrap_or_else(|_| Self::raw(Vec::new(), None));
        Self { code: Some(error.code), is_own: true, ..answer }
    }

    fn with<T: Serialize>(room: usize, id: Option<&RequestId>, name: &str, body: &T) -> Result<Self, Unwritable> {
        let mut text = Vec::with_capacity(room);
        text.extend_from_slice(br#"{"jsonrpc":"2.0","#);
        if let Some(id) = id {
            text.extend_from_slice(br#""id":"#);
            match id {
                RequestId::String(id) => write_string(&mut text, id),
                RequestId::Number(id) => text.extend_from_slice(id.as_bytes()),
            }
            text.push(b',');
        }
        write_string(&mut text, name);
        text.push(b':');
        json::write(&mut text, body)?;
        text.push(b'}');
        Ok(Self::raw(text, None))
    }

    /// The same with `"id":null`, as JSON-RPC demands where the id could not be read.
    pub fn error_with_null_id(error: &RpcError) -> Self {
        let value = serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": error });
        Self::raw(value.to_string().into_bytes(), Some(error.code))
    }

    /// Any text; `code` is its error code, by which HTTP chooses a status.
    pub const fn raw(text: Vec<u8>, code: Option<i64>) -> Self {
        Self { text, code, body: None, retry_after: None, is_own: false }
    }

    /// A result that passes as it comes: the one JSON text that `body` is. Only a modern request over HTTP may be answered so,
    /// see [`Call::takes_body`].
    pub fn passed(body: Body) -> Self {
        Self { body: Some(Box::new(PassedBody { is_event: false, body })), ..Self::raw(Vec::new(), None) }
    }

    /// The same of the event, with its blank line, that `body` is.
    pub fn passed_event(body: Body) -> Self {
        Self { body: Some(Box::new(PassedBody { is_event: true, body })), ..Self::raw(Vec::new(), None) }
    }

    /// The same for a client that asks too often. Over HTTP, where it is the whole response, its status is 429.
    pub fn with_retry_after(self, after: Duration) -> Self {
        Self { retry_after: Some(after), ..self }
    }

    /// Whether it is an error that this process made: what its members say can be trusted. An error in a text of another
    /// server is none.
    pub const fn is_own_error(&self) -> bool {
        self.is_own
    }

    /// The same in other words.
    pub fn with_text(self, text: Vec<u8>) -> Self {
        Self { text, ..self }
    }

    /// When a client that asks too often may ask again.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Where it passes as it comes: its body; else the text.
    pub(crate) fn into_parts(self) -> Result<Vec<u8>, PassedBody> {
        match self.body {
            Some(body) => Err(*body),
            None => Ok(self.text),
        }
    }

    /// The text; empty where the answer passes as it comes.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The text by value.
    pub fn into_text(self) -> Vec<u8> {
        self.text
    }

    /// `error.code`, where this is an error.
    pub const fn code(&self) -> Option<i64> {
        self.code
    }
}

/// A JSON-RPC error object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RpcError {
    /// One of [`code`], or a number outside JSON-RPC's reserved range.
    pub code: i64,
    /// One sentence for people.
    pub message: Cow<'static, str>,
    /// More, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// An error with `code` and `message`.
    pub fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same with `data`.
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// -32600
    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    /// -32601
    pub fn method_not_found(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("Method not found: {}", wire::escape::line(method)))
    }

    /// -32602
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// -32603
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }
}
