//! A reverse proxy with a pen: every request goes on to one other server as it came, every response comes back as it was
//! sent, piece by piece, and what crosses is written down. Of MCP it knows no more than where an HTTP+SSE client is told to
//! post; only what belongs to one connection (and the name of the host) is its own.

mod opening;
mod websocket;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, SEC_WEBSOCKET_EXTENSIONS,
    TRANSFER_ENCODING, UPGRADE,
};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use url::Origin;

use self::opening::Unsettled;
use self::websocket::carry_both;
use super::accept::{Access, is_own_page};
use super::buffered_body::BufferedBody;
use super::parser::protocol;
use super::response::Response;
use super::response_body::Body;
use super::{Endpoints, Limits, Server, accept_one};
use crate::client::{Cuts, Dialer, Link, Pieces, Pool};
use crate::client::{HttpAddress, OpenError};
use crate::server::link::Closing;
use crate::server::recorder::{ExchangeRecorder, ExchangeRole, HttpRecorder, session};

/// The largest body of a request that goes on.
const BODY: usize = 16 << 20;
/// How much of a body is read before it needs one of the places for long ones, and how many of those there are.
const SHORT: usize = 256 << 10;
const LONG_BODIES: usize = 4;
/// How many clients may be connected at once.
const CONNECTIONS: usize = 1024;

/// What belongs to one connection and goes no further (RFC 9110, 7.6.1).
const OF_A_CONNECTION: [HeaderName; 3] = [CONNECTION, TRANSFER_ENCODING, UPGRADE];
const ALSO_OF_A_CONNECTION: [&str; 4] = ["keep-alive", "proxy-connection", "te", "trailer"];

/// Where everything goes.
struct Proxy {
    pool: Arc<Pool>,
    host: HeaderValue,
    origin: HeaderValue,
    upstream: Origin,
    /// Headers of every request, where the client has none of that name.
    added: HeaderMap,
    /// Everybody who serves a connection holds one end.
    open: watch::Sender<()>,
    recorder: Arc<HttpRecorder>,
    limits: Limits,
    closing: Closing,
    allowed: Allowed,
    long_bodies: Semaphore,
}

/// Who may call, in addition to this machine.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// Names in `Host`, with or without a port.
    pub hosts: Vec<String>,
    /// Origins of pages, letter by letter.
    pub origins: Vec<String>,
}

/// Passes on in the background; no `async fn`, so that its code is compiled in this crate.
fn start(listener: TcpListener, address: SocketAddr, proxy: Arc<Proxy>, ending: watch::Sender<bool>) -> Server {
    // A proxy has no endpoints of its own: what is set here is never asked.
    let endpoints = Endpoints::new(proxy.closing.clone());
    let task = tokio::spawn(accept_all(listener, proxy));
    Server { address, endpoints, ending, task }
}

/// Listens on `address` and passes everything on to the origin of `to`, until the returned handle is shut down or dropped. Requests
/// get the headers of `to`; the recording shows them as the client sent them.
pub async fn proxy(
    address: SocketAddr,
    to: &HttpAddress,
    recorder: Arc<HttpRecorder>,
    allowed: Allowed,
) -> Result<Server, ProxyError> {
    let bad =
        |_| ProxyError::To(OpenError::BadAddress { at: to.url.to_string(), why: "it has no valid host".to_owned() });
    let limits = Limits::default();
    let pool = Pool::new(Dialer::new(to, limits.head_time).map_err(ProxyError::To)?);
    let authority = &to.url[url::Position::BeforeHost..url::Position::AfterPort];
    let host = HeaderValue::from_str(authority).map_err(bad)?;
    let added = added(to).ok_or_else(|| ProxyError::To(bad_header(to)))?;
    let origin = HeaderValue::from_str(&to.url.origin().ascii_serialization()).map_err(bad)?;
    let listener = TcpListener::bind(address).await.map_err(ProxyError::At)?;
    let address = listener.local_addr().map_err(ProxyError::At)?;
    let (ending, closing) = Closing::new();
    let (pool, upstream, (open, _)) = (Arc::new(pool), to.url.origin(), watch::channel(()));
    let long_bodies = Semaphore::new(LONG_BODIES);
    let proxy =
        Arc::new(Proxy { pool, host, origin, upstream, added, open, recorder, limits, closing, allowed, long_bodies });
    Ok(start(listener, address, proxy, ending))
}

/// The headers that requests get; `None` where one is invalid.
fn added(to: &HttpAddress) -> Option<HeaderMap> {
    let header = |(name, value): &(String, String)| {
        let mut value = HeaderValue::from_str(value).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, value))
    };
    to.headers.iter().map(header).collect()
}

fn bad_header(to: &HttpAddress) -> OpenError {
    OpenError::BadAddress { at: to.url.to_string(), why: "one of its headers is invalid".to_owned() }
}

/// Why nothing is passed on.
#[derive(Debug)]
pub enum ProxyError {
    /// The address cannot be listened on.
    At(io::Error),
    /// The other server has no address.
    To(OpenError),
}

async fn accept_all(listener: TcpListener, proxy: Arc<Proxy>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        tokio::select! {
            accepted = accept_one(&listener, &places) => match accepted {
                Some((stream, place)) => {
                    let (proxy, open) = (Arc::clone(&proxy), proxy.open.subscribe());
                    tokio::spawn(async move {
                        serve(&proxy, stream).await;
                        drop((open, place));
                    });
                }
                // Out of descriptors, most likely: waiting is all that helps.
                None => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
            },
            () = proxy.closing.wait() => break,
        }
    }
    let _ = tokio::time::timeout(proxy.limits.grace, proxy.open.closed()).await;
}

async fn serve(proxy: &Arc<Proxy>, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let _socket = proxy.recorder.socket();
    let local = stream.local_addr().ok().map(|address| address.ip());
    let service = service_fn(|request| {
        let proxy = Arc::clone(proxy);
        async move { Ok::<_, std::convert::Infallible>(pass(&proxy, local, request).await) }
    });
    let connection = protocol(&proxy.limits).serve_connection(TokioIo::new(stream), service).with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        biased;
        _ = &mut connection => {}
        () = proxy.closing.wait() => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(proxy.limits.grace, connection).await;
        }
    }
}

/// Passes one request on and its response back. A request that is not trusted is neither read nor recorded.
async fn pass(proxy: &Arc<Proxy>, local: Option<IpAddr>, mut request: Request<Incoming>) -> Response {
    if !proxy.trusts(local, request.headers()) {
        // The other server sees our name for it, not the one that was called: it cannot tell any more.
        let mut refusal =
            plain(StatusCode::FORBIDDEN, "`Host` or `Origin` is not one that is allowed here\n".to_owned());
        refusal.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        return refusal;
    }
    let upgrade = request.extensions_mut().remove::<OnUpgrade>();
    let (parts, body) = request.into_parts();
    let at = proxy.recorder.now(ExchangeRole::Http);
    let mut body = BufferedBody::from(body);
    body.read_ahead(SHORT, proxy.limits.body_time).await;
    // Held until the response begins: so many long bodies are in memory at once.
    let _place = if body.is_longer() { proxy.long_bodies.acquire().await.ok() } else { None };
    body.read_ahead(BODY, proxy.limits.body_time).await;
    let sent = body.sent();
    drop(body);
    if sent.is_none() && parts.method == Method::GET && session(&parts.headers).is_none() {
        return proxy.open(parts, upgrade, at).await;
    }
    let whole = sent.as_ref().is_none_or(|sent| sent.complete);
    let text = sent.as_ref().map(|sent| Bytes::copy_from_slice(&sent.bytes)).unwrap_or_default();
    let role = if proxy.recorder.is_endpoint(&parts) { ExchangeRole::Messages } else { ExchangeRole::Http };
    let exchange = ExchangeRecorder::of(&proxy.recorder, role, &parts, sent, at, proxy.closing.clone());
    let response = if whole {
        proxy.send(&parts, text).await.unwrap_or_else(unreached)
    } else {
        plain(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large, or did not come to its end\n".to_owned())
    };
    let (head, body) = response.into_parts();
    let body = exchange.answer(&head, body);
    Response::from_parts(head, body)
}

fn unreached(why: String) -> Response {
    plain(StatusCode::BAD_GATEWAY, format!("The server was not reached: {why}\n"))
}

/// Whether a request asks for a WebSocket.
fn wants_socket(headers: &HeaderMap) -> bool {
    headers.get(UPGRADE).is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

impl Proxy {
    fn trusts(&self, local: Option<IpAddr>, headers: &HeaderMap) -> bool {
        let access = Access { local, secure: false, hosts: &self.allowed.hosts, origins: &self.allowed.origins };
        if headers.contains_key(UPGRADE) { access.is_trusted_for_sockets(headers) } else { access.is_trusted(headers) }
    }

    /// Passes on what may open a stream or a socket.
    async fn open(&self, head: Parts, upgrade: Option<OnUpgrade>, at: u64) -> Response {
        let wants_socket = wants_socket(&head.headers);
        let mut request = Unsettled::new(head.clone(), at, Arc::clone(&self.recorder), self.closing.clone());
        let response = match upgrade.filter(|_| wants_socket) {
            Some(client) => self.join(&head, client, &mut request).await,
            None => self.send(&head, Bytes::new()).await,
        };
        let (head, body) = response.unwrap_or_else(unreached).into_parts();
        let body = request.answer(&self.upstream, &head, body);
        Response::from_parts(head, body)
    }

    /// Asks for a WebSocket and, where there is one, joins it to the client's.
    async fn join(&self, head: &Parts, client: OnUpgrade, asked: &mut Unsettled) -> Result<Response, String> {
        let mut request = self.request(head, Bytes::new());
        // Frames are read on their way: nothing may be agreed on that changes what they look like.
        request.headers_mut().remove(SEC_WEBSOCKET_EXTENSIONS);
        upgraded(request.headers_mut());
        let mut link = self.pool.fresh().await.map_err(|error| error.to_string())?;
        let mut response = link.sender().send_request(request).await.map_err(|error| error.to_string())?;
        let server = hyper::upgrade::on(&mut response);
        let switches = response.status() == StatusCode::SWITCHING_PROTOCOLS;
        let Some(exchange) = Some(asked).filter(|_| switches).and_then(|asked| asked.settle(ExchangeRole::Socket))
        else {
            return Ok(self.returned(response, link));
        };
        let (mut head, _) = response.into_parts();
        head.headers = passed_on(&head.headers);
        upgraded(&mut head.headers);
        let held = [self.recorder.hold(), self.recorder.hold()];
        let (connection, open, closing) = (exchange.connection(), self.open.subscribe(), self.closing.clone());
        let body = exchange.answer(&head, Body::Whole(None));
        tokio::spawn(async move {
            carry_both(client, server, connection, closing, held).await;
            drop((link, open));
        });
        Ok(Response::from_parts(head, body))
    }

    async fn send(&self, head: &Parts, text: Bytes) -> Result<Response, String> {
        let mut link = self.pool.take().await.map_err(|error| error.to_string())?;
        loop {
            let reused = link.is_reused();
            let failed = match link.send(self.request(head, text.clone())).await {
                Ok(response) => return Ok(self.returned(response, link)),
                Err(failed) => failed,
            };
            // Never twice where the server may have read it: a call may have effects.
            if !(reused && failed.again) {
                return Err(failed.error.to_string());
            }
            // An idle connection turned out to be closed.
            link = self.pool.fresh().await.map_err(|error| error.to_string())?;
        }
    }

    fn request(&self, head: &Parts, text: Bytes) -> Request<Pieces> {
        let mut request = Request::new(Pieces::new(text, &Cuts::default()));
        *request.method_mut() = head.method.clone();
        *request.uri_mut() =
            head.uri.path_and_query().map_or_else(|| "/".parse(), |path| path.as_str().parse()).unwrap_or_default();
        let mut headers = passed_on(&head.headers);
        headers.insert(HOST, self.host.clone());
        for (name, value) in &self.added {
            headers.entry(name.clone()).or_insert_with(|| value.clone());
        }
        // A compressed body could not be redacted.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        // A page of the proxy's own origin is to the other server one of its own; of any other page, it decides itself.
        let listed =
            |origin: &HeaderValue| self.allowed.origins.iter().any(|listed| listed.as_bytes() == origin.as_bytes());
        if is_own_page(&head.headers) || head.headers.get(ORIGIN).is_some_and(listed) {
            headers.insert(ORIGIN, self.origin.clone());
        }
        *request.headers_mut() = headers;
        request
    }

    fn returned(&self, response: hyper::Response<Incoming>, link: Link) -> Response {
        let (mut head, body) = response.into_parts();
        head.headers = passed_on(&head.headers);
        let passed = Passed { body, link: Some(link), pool: Arc::clone(&self.pool) };
        Response::from_parts(head, Body::boxed(passed))
    }
}

/// The headers that ask for a WebSocket, and that grant one.
fn upgraded(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
}

fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let mut passed = headers.clone();
    let named: Vec<String> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    for name in OF_A_CONNECTION {
        passed.remove(name);
    }
    for name in ALSO_OF_A_CONNECTION.into_iter().chain(named.iter().map(String::as_str)) {
        passed.remove(name);
    }
    passed
}

fn plain(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(Body::Whole(Some(text.into())));
    *response.status_mut() = status;
    response
}

/// A body as it comes from the other server, and the connection that it comes on.
struct Passed {
    body: Incoming,
    link: Option<Link>,
    pool: Arc<Pool>,
}

impl HttpBody for Passed {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.release();
        }
        polled.map(|frame| frame.map(|frame| frame.map_err(io::Error::other)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Passed {
    /// The connection is free for another request.
    fn release(&mut self) {
        if let Some(link) = self.link.take() {
            self.pool.give_back(link);
        }
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        // A response without a body is never polled.
        if self.body.is_end_stream() {
            self.release();
        }
    }
}
