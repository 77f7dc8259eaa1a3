//! The client end of both HTTP transports: POSTs, event streams, sessions, and how a response is read. Must not know which
//! exchanges a caller should make.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{HeaderMap, Request, Response};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};
use wire::framing::Piece;
use wire::framing::sse::{Block, Blocks};
use wire::trace::{Closed, Content, Headers, Limit, header};
use wire::{Era, Kind, Message, Party, RequestId, Revision, Transport};

use super::HttpAddress;
use super::body::Pieces;
use super::channel::Channel;
use super::error::{OpenError, SendError};
use super::exchange::{Exchange, is_event_stream};
use super::outgoing::Outgoing;
use super::pool::{Link, Pool};
use super::request::{Context, Prepared, ToolSchemas};
use crate::tap::Written;

/// How long aborted exchanges may take to end.
const UNWIND: Duration = Duration::from_millis(200);

/// One HTTP client: at most one legacy session.
pub(crate) struct Http {
    pub(crate) channel: Arc<Channel>,
    pub(crate) address: HttpAddress,
    pub(crate) pool: Pool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    session: Option<String>,
    /// The version in the answer to `initialize`.
    negotiated: Option<String>,
    /// Where POSTs of HTTP+SSE go.
    endpoint: Option<String>,
    /// The stream whose end is the connection's end.
    main: Option<u32>,
    tools: ToolSchemas,
    live: BTreeMap<u32, Exchange>,
    /// Which exchange carried which request.
    by_request: HashMap<RequestId, Exchange>,
    closed: bool,
}

/// Who ended an exchange, and how.
type End = (Party, Closed);

const ENDED: End = (Party::Server, Closed::End);
const RESET: End = (Party::Server, Closed::Reset);
const TIMED_OUT: End = (Party::Client, Closed::TimedOut);
const ABORTED: End = (Party::Client, Closed::Aborted);

impl Http {
    /// Connects once, so that an unreachable peer is an error at once.
    pub(crate) async fn open(address: &HttpAddress, channel: Arc<Channel>) -> Result<Arc<Self>, OpenError> {
        let pool = Pool::new(super::dial::Dialer::new(address, channel.limits.connect)?);
        match pool.fresh().await {
            Ok(link) => pool.give_back(link),
            Err(error) => {
                channel.closed(Party::Client, 0, Closed::Failed);
                return Err(error);
            }
        }
        channel.write(Party::Client, 0, Content::Opened, Written::NONE);
        Ok(Arc::new(Self { channel, address: address.clone(), pool, state: Mutex::default() }))
    }

    /// Sends one request; a task reads the response.
    pub(crate) async fn start(self: &Arc<Self>, outgoing: &Outgoing) -> Result<Exchange, SendError> {
        if self.state().closed {
            return Err(SendError::Closed);
        }
        let message = outgoing.body.as_deref().and_then(single_message);
        if let Some(body) = outgoing.body.as_deref() {
            self.channel.note_sent(body);
        }
        let prepared = Prepared::new(outgoing, message.as_ref(), &self.context());
        prepared.request()?;
        let asked = message.filter(|message| message.kind() == Kind::Request);
        let exchange = Exchange::new(self.channel.tap.next_exchange(), asked.is_some());
        let link = match self.pool.take().await {
            Ok(link) => link,
            Err(error) => {
                self.channel.closed(Party::Client, exchange.number(), Closed::Failed);
                return Err(error.into());
            }
        };
        let cause = self.write_request(&prepared, exchange.number());
        let initialize = asked.as_ref().filter(|m| m.method() == Some("initialize")).and_then(|m| m.id().cloned());
        self.register(&exchange, asked.as_ref().and_then(Message::id));
        let conversation = ExchangeTask { http: self.clone(), exchange: exchange.clone(), cause, initialize };
        tokio::spawn(conversation.run(prepared, link));
        Ok(exchange)
    }

    fn register(&self, exchange: &Exchange, id: Option<&RequestId>) {
        let mut state = self.state();
        state.live.insert(exchange.number(), exchange.clone());
        if let Some(id) = id {
            state.by_request.insert(id.clone(), exchange.clone());
        }
    }

    fn context(&self) -> Context {
        let state = self.state();
        let modern = self.channel.revision.era() == Era::Modern;
        let old = self.channel.transport == Transport::HttpSse;
        Context {
            address: self.address.clone(),
            endpoint: state.endpoint.clone(),
            session: state.session.clone().filter(|_| !old),
            version: if modern {
                Some(self.channel.revision.as_str().to_owned())
            } else {
                state.negotiated.clone().filter(|version| !old && has_version_header(version))
            },
            tools: modern.then(|| state.tools.clone()),
            authorizer: self.channel.authorizer.clone(),
        }
    }

    fn write_request(&self, prepared: &Prepared, exchange: u32) -> Written {
        let method = prepared.method.clone();
        let head = Content::Request { method, target: prepared.target.clone(), headers: prepared.headers.clone() };
        let head = self.channel.write(Party::Client, exchange, head, Written::NONE);
        let Some(body) = &prepared.body else { return head };
        let body = Content::Body { bytes: body.to_vec(), complete: true };
        self.channel.write(Party::Client, exchange, body, head)
    }

    /// The exchange that carried request `id`.
    pub(crate) fn exchange_of(&self, id: &RequestId) -> Option<Exchange> {
        self.state().by_request.get(id).cloned()
    }

    pub(crate) fn forget(&self, id: &RequestId) {
        self.state().by_request.remove(id);
    }

    pub(crate) fn session_id(&self) -> Option<String> {
        self.state().session.clone()
    }

    /// From now on POSTs go to `target`, and the end of `stream` is the end of the connection.
    pub(crate) fn set_endpoint(&self, target: String, stream: &Exchange) {
        let mut state = self.state();
        state.endpoint = Some(target);
        state.main = Some(stream.number());
        drop(state);
        if stream.closed().is_some() {
            self.channel.inbox.end();
        }
    }

    /// Ends the session by DELETE, if there is one, then everything else.
    pub(crate) async fn close(self: &Arc<Self>) {
        self.channel.stop();
        let has_session =
            !self.state().closed && self.session_id().is_some() && self.channel.revision.era() == Era::Legacy;
        if has_session && let Ok(exchange) = self.start(&Outgoing::bare("DELETE")).await {
            exchange.finished(self.channel.limits.shutdown).await;
        }
        self.kill().await;
    }

    /// Aborts every exchange and closes every socket.
    pub(crate) async fn kill(&self) {
        if std::mem::replace(&mut self.state().closed, true) {
            return;
        }
        self.channel.stop();
        for exchange in self.abort_all() {
            exchange.finished(UNWIND).await;
        }
        self.pool.clear();
        self.channel.closed(Party::Client, 0, Closed::End);
        self.channel.inbox.end();
    }

    pub(crate) fn abort_all(&self) -> Vec<Exchange> {
        let live: Vec<Exchange> = self.state().live.values().cloned().collect();
        live.iter().for_each(Exchange::abort);
        live
    }

    /// Keeps what later requests need from a received message.
    fn learn(&self, message: &Message, initialize: Option<&RequestId>) {
        if message.kind() != Kind::Result {
            return;
        }
        if initialize.is_some() && message.id() == initialize {
            let version = message.result().and_then(|result| result.get("protocolVersion")?.as_str());
            self.state().negotiated = version.map(str::to_owned);
        }
        if message.text().contains("x-mcp-header")
            && let Some(Value::Array(tools)) = message.result().and_then(|result| result.get("tools"))
        {
            let schema =
                |tool: &Value| Some((tool.get("name")?.as_str()?.to_owned(), tool.get("inputSchema")?.clone()));
            self.state().tools.extend(tools.iter().filter_map(schema));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn single_message(body: &[u8]) -> Option<Message> {
    match wire::message::parse(body) {
        Ok(wire::message::Packet::Message(message)) => Some(message),
        _ => None,
    }
}

/// Whether a negotiated version requires the `MCP-Protocol-Version` header: since 2025-06-18. An unknown one does.
fn has_version_header(version: &str) -> bool {
    version.parse::<Revision>().map_or(true, |revision| revision.at_least(Revision::R2025_06_18))
}

/// The task of one exchange.
struct ExchangeTask {
    http: Arc<Http>,
    exchange: Exchange,
    cause: Written,
    /// The id of the `initialize` request, if this is one.
    initialize: Option<RequestId>,
}

impl ExchangeTask {
    async fn run(self, prepared: Prepared, link: Link) {
        let (party, how) = tokio::select! {
            biased;
            () = self.exchange.aborted() => ABORTED,
            end = self.run_request(prepared, link) => end,
        };
        let number = self.exchange.number();
        self.channel().closed(party, number, how.clone());
        let mut state = self.http.state();
        state.live.remove(&number);
        let main = state.main == Some(number);
        drop(state);
        self.exchange.end(how);
        if main {
            self.channel().inbox.end();
        }
    }

    fn channel(&self) -> &Channel {
        &self.http.channel
    }

    async fn run_request(&self, prepared: Prepared, mut link: Link) -> End {
        let asked = timeout(self.channel().limits.request, self.ask(&prepared, &mut link)).await;
        let response = match asked {
            Ok(Ok(response)) => response,
            Ok(Err(end)) => return end,
            Err(_) => return TIMED_OUT,
        };
        let (parts, body) = response.into_parts();
        let (status, headers) = (parts.status.as_u16(), header_list(&parts.headers));
        let head = Content::Response { status, headers: headers.clone() };
        self.channel().write(Party::Server, self.exchange.number(), head, self.cause);
        if self.initialize.is_some() && parts.status.is_success() {
            self.http.state().session = header(&headers, "mcp-session-id").map(str::to_owned);
        }
        let streams = is_event_stream(&headers);
        self.exchange.set_head(status, headers);
        let end = if streams { self.stream(body).await } else { self.collect(body).await };
        if end == ENDED {
            self.http.pool.give_back(link);
        }
        end
    }

    /// Sends the request; once more on a new connection where an idle one turned out to be closed, but never a POST that may
    /// have arrived.
    async fn ask(&self, prepared: &Prepared, link: &mut Link) -> Result<Response<Incoming>, End> {
        let mut again = link.is_reused();
        loop {
            let request = prepared.request().map_err(|_| ABORTED)?;
            let failed = match link.send(request).await {
                Ok(response) => return Ok(response),
                Err(failed) => failed,
            };
            let seen = link.seen();
            if std::mem::take(&mut again) && failed.again {
                *link = self.http.pool.fresh().await.map_err(|_| (Party::Client, Closed::Failed))?;
                continue;
            }
            if !seen.is_empty() {
                let number = self.exchange.number();
                self.channel().write(Party::Server, number, Content::Raw(seen.clone()), self.cause);
            }
            self.exchange.fail(failed.error.to_string(), seen);
            return Err(RESET);
        }
    }

    /// Reads a body that is no event stream.
    async fn collect(&self, mut body: Incoming) -> End {
        let (begun, mut bytes) = (self.channel().tap.now(), Vec::new());
        let deadline = Instant::now() + self.channel().limits.request;
        let end = loop {
            match timeout_at(deadline, body.frame()).await {
                Err(_) => break TIMED_OUT,
                Ok(None) => break ENDED,
                Ok(Some(Err(_))) => break RESET,
                Ok(Some(Ok(frame))) => bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| &data[..])),
            }
            if bytes.len() > self.channel().limits.message_bytes {
                self.channel().limit(Limit::Message);
                break ABORTED;
            }
        };
        let content = Content::Body { bytes: bytes.clone(), complete: end == ENDED };
        self.channel().write_since(begun, Party::Server, self.exchange.number(), content, self.cause);
        self.exchange.set_body(bytes.clone());
        if end == ENDED {
            // An invalid message is in the trace; only messages count here.
            let _ = self.take_in(&bytes);
        }
        end
    }

    /// Reads an event stream, for as long as it lasts.
    async fn stream(&self, mut body: Incoming) -> End {
        let mut blocks = Blocks::new(self.channel().limits.message_bytes);
        let mut begun = None;
        let end = loop {
            let data = match body.frame().await {
                None => break ENDED,
                Some(Err(_)) => break RESET,
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            };
            begun.get_or_insert_with(|| self.channel().tap.now());
            blocks.push(&data);
            while let Some(piece) = blocks.next_block() {
                let at = begun.unwrap_or_default();
                begun = Some(self.channel().tap.now());
                if let Err(limit) = self.take_block(piece, at) {
                    self.channel().limit(limit);
                    return ABORTED;
                }
            }
            // Whatever ends its lines: the next event begins with the next bytes.
            if blocks.waiting().is_empty() {
                begun = None;
            }
        };
        let at = begun.unwrap_or_default();
        match blocks.finish() {
            Some(Piece::Rest(rest)) => {
                let rest = Content::Raw(rest.to_vec());
                self.channel().write_since(at, Party::Server, self.exchange.number(), rest, self.cause);
            }
            // The end of the last block was not certain (CR, or half of CR LF?) until the stream ended.
            Some(piece) => {
                if let Err(limit) = self.take_block(piece, at) {
                    self.channel().limit(limit);
                    return ABORTED;
                }
            }
            None => {}
        }
        end
    }

    /// Takes one block, or returns the limit that it breaks.
    fn take_block(&self, piece: Piece<'_>, at: u64) -> Result<(), Limit> {
        let Piece::Whole(bytes) = piece else { return Err(Limit::Message) };
        let number = self.exchange.number();
        self.channel().write_since(at, Party::Server, number, Content::Sse(bytes.to_vec()), self.cause);
        let block = Block::parse(bytes);
        let data = block.data.clone().filter(|data| block.is_message() && !data.is_empty());
        self.exchange.add_event(block, !self.channel().is_forgetful());
        let room = data.is_none_or(|data| self.take_in(data.as_bytes()));
        if room && !self.channel().tap.is_full() { Ok(()) } else { Err(Limit::Connection) }
    }

    /// Whether there is room for more. An invalid message takes none.
    fn take_in(&self, bytes: &[u8]) -> bool {
        let learn = |message: &Message| self.http.learn(message, self.initialize.as_ref());
        self.channel().take_in(bytes, learn).unwrap_or(true)
    }
}

/// The headers as a trace writes them; bytes that are not UTF-8 become U+FFFD.
pub fn header_list(headers: &HeaderMap) -> Headers {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes()))).collect()
}

/// The request as the HTTP library wants it.
pub(crate) type HyperRequest = Request<Pieces>;
