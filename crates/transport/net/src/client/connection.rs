//! One connection to a server, whatever its transport. It sends what it is given and keeps what arrives; it must not know
//! what either should be.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use wire::trace::{Closed, Mark};
use wire::{Era, Message, RequestId, Revision, Transport};

use super::channel::Channel;
use super::exchange::AFTER_OTHER;
use super::http::Http;
use super::inbox::Waited;
use super::lenient::Found;
use super::stdio::Stdio;
use super::views::{ChildView, HttpView};
use super::websocket::WebSocket;
use super::{Address, ConnectOptions, Exchange, Limits, OpenError, Outgoing, SendError, old_sse};
use crate::tap::Tap;

/// How long to wait for another message after what looks like an echo.
const ECHO: Duration = Duration::from_secs(1);
const ECHO_POLL: Duration = Duration::from_millis(50);
/// How many messages may contain an echo.
const ECHO_WITHIN: usize = 64;
/// How long to wait for the right response after one that no request has.
const AFTER_STRAY: Duration = Duration::from_secs(2);
/// The same where nothing but such came before.
const AFTER_STRAYS: Duration = Duration::from_millis(500);

/// One child process, one HTTP client with at most one legacy session, one HTTP+SSE session, or one socket. Clones are the
/// same connection; when the last is dropped, sockets are closed and the child's group is killed.
#[derive(Clone)]
pub struct Connection(Arc<Inner>);

struct Inner {
    channel: Arc<Channel>,
    carrier: Carrier,
}

enum Carrier {
    Stdio(Stdio),
    Http(Arc<Http>),
    WebSocket(WebSocket),
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Carrier::Http(http) = &self.carrier {
            http.abort_all();
        }
    }
}

impl Connection {
    /// Starts the program, or connects. Nothing is sent yet, except the request that opens the stream of HTTP+SSE.
    pub async fn open(
        address: &Address,
        revision: Revision,
        tap: &Tap,
        options: &ConnectOptions,
    ) -> Result<Self, OpenError> {
        let channel = Channel::new(tap, address.transport(), revision, options);
        let carrier = match address {
            Address::Stdio(command) => Carrier::Stdio(Stdio::open(command, &options.children, channel.clone())?),
            Address::Http(http) => Carrier::Http(Http::open(http, channel.clone()).await?),
            Address::Sse(http) => Carrier::Http(old_sse::open(http, channel.clone()).await?),
            Address::WebSocket(http) => Carrier::WebSocket(WebSocket::open(http, channel.clone()).await?),
        };
        Ok(Self(Arc::new(Inner { channel, carrier })))
    }

    /// The connection's number in the trace.
    pub fn number(&self) -> u32 {
        self.0.channel.number
    }

    /// Its transport.
    pub fn transport(&self) -> Transport {
        self.0.channel.transport
    }

    /// The revision it was opened for.
    pub fn revision(&self) -> Revision {
        self.0.channel.revision
    }

    /// Where its frames are recorded.
    pub fn tap(&self) -> &Tap {
        &self.0.channel.tap
    }

    /// The limits it was opened with.
    pub fn limits(&self) -> &Limits {
        &self.0.channel.limits
    }

    /// Sends one message as this transport carries it: a line, a text frame, a POST with the headers of the era. Over HTTP a
    /// notification or response is sent completely before this returns, so that the next message cannot overtake it.
    pub async fn send(&self, text: &str) -> Result<Exchange, SendError> {
        let exchange = self.send_with(Outgoing::message(text)).await?;
        if matches!(self.0.carrier, Carrier::Http(_)) && !exchange.expects_response() {
            exchange.head(self.limits().request).await;
        }
        Ok(exchange)
    }

    /// The same with deviations. Waits only for a connection to send on. Deviations that only HTTP has are
    /// [`SendError::Unsupported`] on other transports.
    pub async fn send_with(&self, outgoing: Outgoing) -> Result<Exchange, SendError> {
        if let Carrier::Http(http) = &self.0.carrier {
            return http.start(&outgoing).await;
        }
        let body = match outgoing.body.as_deref() {
            Some(body) if !outgoing.is_http_only() => body,
            _ => return Err(self.unsupported("HTTP headers, methods and paths")),
        };
        match &self.0.carrier {
            Carrier::Stdio(stdio) => stdio.send(body).await?,
            Carrier::WebSocket(socket) => socket.send(body).await?,
            Carrier::Http(_) => {}
        }
        Ok(Exchange::none())
    }

    /// The response to `id`, from any stream. `None` after `patience`, or as soon as it cannot come any more: the peer is
    /// gone, or the HTTP exchange that carried the request ended without it. The mark UNANSWERED is recorded then, unless
    /// HTTP refused the request or reading was stopped.
    pub async fn response(&self, id: &RequestId, patience: Duration) -> Option<Message> {
        let begun = Instant::now();
        let wanted = |message: &Message| message.kind().is_response() && message.id() == Some(id);
        let asked = if let Carrier::Http(http) = &self.0.carrier { http.exchange_of(id) } else { None };
        let waited = tokio::select! {
            biased;
            waited = self.0.channel.inbox.wait(wanted, patience) => waited,
            waited = self.loosely_answered(id, asked.as_ref()) => waited,
            () = self.cannot_be_answered(asked.as_ref(), patience) => {
                self.0.channel.inbox.take(&wanted).0.map_or(Waited::Ended, Waited::Received)
            }
        };
        if let Some(leniency) = &self.0.channel.leniency {
            leniency.given_up(id);
        }
        if let Waited::Received(message) = waited {
            if let Carrier::Http(http) = &self.0.carrier {
                http.forget(id);
            }
            return Some(message);
        }
        if self.was_unanswered(asked.as_ref()) {
            let after_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.0.channel.mark(Mark::Unanswered { id: id.clone(), after_ms });
        }
        None
    }

    /// Resolves when `exchange` is over and no other stream may bring its response: a legacy event stream that broke may be
    /// resumed, and HTTP+SSE answers on another stream.
    async fn cannot_be_answered(&self, exchange: Option<&Exchange>, patience: Duration) {
        let Some(exchange) = exchange else { return std::future::pending().await };
        let over = exchange.finished(patience).await;
        let success = exchange.status().is_some_and(|status| (200..300).contains(&status));
        let elsewhere = match self.transport() {
            Transport::HttpSse => true,
            _ => self.revision().era() == Era::Legacy && exchange.is_stream(),
        };
        if !over || (success && elsewhere) {
            std::future::pending::<()>().await;
        }
        // Whether a response that breaks the envelope is taken for this one is known a little later.
        if self.0.channel.leniency.is_some() && exchange.holds_loose_response() {
            tokio::time::sleep(2 * AFTER_OTHER).await;
        }
    }

    /// Resolves when a response that breaks the envelope is to be taken for the one to `id`, or when there will be none: one
    /// that no request has came instead, and nothing after it. Never resolves on a connection that is not lenient.
    async fn loosely_answered(&self, id: &RequestId, asked: Option<&Exchange>) -> Waited {
        let Some(leniency) = &self.0.channel.leniency else { return std::future::pending().await };
        let found = match asked.filter(|_| self.transport() == Transport::StreamableHttp) {
            Some(exchange) => Found::Response(exchange.own_response(id, leniency).await),
            None => leniency.response(id).await,
        };
        match found {
            Found::Response(message) => Waited::Received(message),
            Found::Stray => {
                let wait = if leniency.only_strays_come() { AFTER_STRAYS } else { AFTER_STRAY };
                tokio::time::sleep(wait).await;
                Waited::TimedOut
            }
        }
    }

    fn was_unanswered(&self, asked: Option<&Exchange>) -> bool {
        let Some(exchange) = asked else { return !self.0.channel.has_stopped() };
        let refused = exchange.status().is_some_and(|status| !(200..300).contains(&status));
        !refused && exchange.closed() != Some(Closed::Aborted) && !self.0.channel.has_stopped()
    }

    /// The next message that satisfies `wanted`, also among those received and not yet taken.
    pub async fn wait_for(&self, wanted: impl Fn(&Message) -> bool, patience: Duration) -> Option<Message> {
        match self.0.channel.inbox.wait(wanted, patience).await {
            Waited::Received(message) => Some(message),
            Waited::TimedOut | Waited::Ended => None,
        }
    }

    /// The first received message that satisfies `wanted`, without waiting.
    pub fn take(&self, wanted: impl Fn(&Message) -> bool) -> Option<Message> {
        self.0.channel.inbox.take(&wanted).0
    }

    /// All messages received so far, taken or not; after [`Self::stop_recording`] only those not taken.
    pub fn received(&self) -> Vec<Message> {
        self.0.channel.inbox.all()
    }

    /// Resolves when `text` came back unchanged and nothing else came for a while: behind a terminal that echoes there may
    /// be a server that answers.
    pub async fn echoed(&self, text: &str) {
        let Ok(words) = serde_json::from_str::<Value>(text) else { return std::future::pending().await };
        // An echo comes first: among many messages it is not one.
        while self.received_count() > ECHO_WITHIN || !self.received().iter().any(|message| *message.value() == words) {
            tokio::time::sleep(ECHO_POLL).await;
        }
        tokio::time::sleep(ECHO).await;
    }

    /// From now on records nothing and keeps no message that was taken: for connections of unbounded length.
    pub fn stop_recording(&self) {
        self.0.channel.stop_recording();
    }

    /// The number of [`Self::received`] messages.
    pub fn received_count(&self) -> usize {
        self.0.channel.inbox.count()
    }

    /// Whether no more messages can come: the peer ended it, or reading was stopped.
    pub fn is_over(&self) -> bool {
        self.0.channel.inbox.is_over()
    }

    /// Whether reading was stopped: the peer exceeded a limit, or this end is closed.
    pub fn is_flooded(&self) -> bool {
        self.0.channel.has_stopped()
    }

    /// The HTTP exchange that carries the request `id`, which is not answered yet.
    pub fn exchange_of(&self, id: &RequestId) -> Option<Exchange> {
        if let Carrier::Http(http) = &self.0.carrier { http.exchange_of(id) } else { None }
    }

    /// Forgets the request `id`, whose response is not expected any more.
    pub fn forget_request(&self, id: &RequestId) {
        if let Carrier::Http(http) = &self.0.carrier {
            http.forget(id);
        }
    }

    /// Sends nothing for `span`, between the marks `window-opened` and `window-closed` with `name`.
    pub async fn quiet(&self, name: &str, span: Duration) {
        self.quiet_during(name, tokio::time::sleep(span)).await;
    }

    /// The same until `until` resolves.
    pub async fn quiet_during(&self, name: &str, until: impl Future<Output = ()>) {
        self.0.channel.mark(Mark::WindowOpened(name.to_owned()));
        until.await;
        self.0.channel.mark(Mark::WindowClosed(name.to_owned()));
    }

    /// The child process behind a connection over stdio.
    pub fn child(&self) -> Result<ChildView<'_>, SendError> {
        if let Carrier::Stdio(stdio) = &self.0.carrier {
            Ok(ChildView(stdio))
        } else {
            Err(self.unsupported("a child process"))
        }
    }

    /// The HTTP client behind a connection over Streamable HTTP or HTTP+SSE.
    pub fn http(&self) -> Result<HttpView<'_>, SendError> {
        if let Carrier::Http(http) = &self.0.carrier {
            Ok(HttpView(http))
        } else {
            Err(self.unsupported("HTTP requests"))
        }
    }

    /// The session id that the server gave over HTTP, if it gave one.
    pub fn session_id(&self) -> Option<String> {
        self.http().ok()?.session_id()
    }

    /// How the child process ended, now or within `patience`; `None` if it still runs or there is no child.
    pub async fn exited(&self, patience: Duration) -> Option<ExitStatus> {
        self.child().ok()?.exited(patience).await
    }

    /// Ends it as the specification says: a child process by closing its stdin, then TERM, then KILL; a legacy HTTP session
    /// by DELETE. Once only.
    pub async fn close(&self) {
        match &self.0.carrier {
            Carrier::Stdio(stdio) => stdio.close().await,
            Carrier::Http(http) => http.close().await,
            Carrier::WebSocket(socket) => socket.close().await,
        }
    }

    /// The same, but a child process may take `shutdown` to end, whatever the limits say.
    pub async fn close_within(&self, shutdown: Duration) {
        match &self.0.carrier {
            Carrier::Stdio(stdio) => stdio.close_within(shutdown).await,
            Carrier::Http(_) | Carrier::WebSocket(_) => self.close().await,
        }
    }

    /// Ends it at once: sockets are cut, the child's group is killed.
    pub async fn kill(&self) {
        match &self.0.carrier {
            Carrier::Stdio(stdio) => stdio.kill().await,
            Carrier::Http(http) => http.kill().await,
            Carrier::WebSocket(socket) => socket.kill(),
        }
    }

    fn unsupported(&self, what: &'static str) -> SendError {
        SendError::Unsupported { what, transport: self.transport() }
    }
}
