//! A reverse proxy with a pen: every request goes on to one other server as it came, every response comes back as it was
//! sent, piece by piece, and what crosses is written down. It knows nothing of MCP; only what belongs to one connection
//! (and the name of the host) is its own.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, TRANSFER_ENCODING, UPGRADE};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::accept::is_trusted;
use super::body::Body;
use super::inlet::Inlet;
use super::{Limits, Server, entry, protocol};
use crate::client::{Cuts, Dialer, Link, Pieces, Pool};
use crate::client::{HttpAddress, OpenError};
use crate::server::link::Closing;
use crate::server::tapped::{Scribe, Seat, Taps};

/// The largest body of a request that goes on.
const BODY: usize = 64 << 20;

/// What belongs to one connection and goes no further (RFC 9110, 7.6.1).
const OF_A_CONNECTION: [HeaderName; 3] = [CONNECTION, TRANSFER_ENCODING, UPGRADE];
const ALSO_OF_A_CONNECTION: [&str; 4] = ["keep-alive", "proxy-connection", "te", "trailer"];

/// Where everything goes.
struct Proxy {
    pool: Arc<Pool>,
    host: HeaderValue,
    origin: HeaderValue,
    taps: Arc<Taps>,
    limits: Limits,
    closing: Closing,
}

/// Listens on `address` and passes everything on to the origin of `to`, until the returned handle is shut down or dropped.
pub async fn proxy(address: SocketAddr, to: &HttpAddress, taps: Arc<Taps>) -> Result<Server, ProxyError> {
    let bad = |_| ProxyError::To(OpenError::BadAddress { at: to.url.to_string(), why: "its host is none".to_owned() });
    let limits = Limits::default();
    let pool = Pool::new(Dialer::new(to, limits.head_time).map_err(ProxyError::To)?);
    let authority = &to.url[url::Position::BeforeHost..url::Position::AfterPort];
    let host = HeaderValue::from_str(authority).map_err(bad)?;
    let origin = HeaderValue::from_str(&to.url.origin().ascii_serialization()).map_err(bad)?;
    let listener = TcpListener::bind(address).await.map_err(ProxyError::At)?;
    let address = listener.local_addr().map_err(ProxyError::At)?;
    let (ending, closing) = Closing::new();
    let proxy = Arc::new(Proxy { pool: Arc::new(pool), host, origin, taps, limits, closing });
    let task = tokio::spawn(accept_all(listener, proxy));
    Ok(Server { address, ending, task })
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
    // Everybody who serves a connection holds one end.
    let (open, _) = watch::channel(());
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let (proxy, open) = (Arc::clone(&proxy), open.subscribe());
                    tokio::spawn(async move {
                        serve(&proxy, stream).await;
                        drop(open);
                    });
                }
                // Out of descriptors, most likely: waiting is all that helps.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
            },
            () = proxy.closing.wait() => break,
        }
    }
    let _ = tokio::time::timeout(proxy.limits.grace, open.closed()).await;
}

async fn serve(proxy: &Arc<Proxy>, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let _socket = proxy.taps.socket();
    let service = service_fn(|request| {
        let proxy = Arc::clone(proxy);
        async move { Ok::<_, std::convert::Infallible>(pass(&proxy, request).await) }
    });
    let connection = protocol(&proxy.limits).serve_connection(TokioIo::new(stream), service);
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

/// Passes one request on and its response back.
async fn pass(proxy: &Arc<Proxy>, request: Request<Incoming>) -> entry::Response {
    let (parts, body) = request.into_parts();
    let at = proxy.taps.now(Seat::Http);
    let (_, sent) = Inlet::read(body, BODY, proxy.limits.body_time).await;
    let whole = sent.as_ref().is_none_or(|sent| sent.complete);
    let text = sent.as_ref().map(|sent| Bytes::copy_from_slice(&sent.bytes)).unwrap_or_default();
    let scribe = Scribe::of(&proxy.taps, Seat::Http, &parts, sent, at, proxy.closing.clone());
    let response = if !is_trusted(&parts.headers, &[]) {
        // The other server sees our name for it, not the one that was called: it cannot tell any more.
        plain(StatusCode::FORBIDDEN, "`Host` or `Origin` is not on this machine\n".to_owned())
    } else if whole {
        let sent = proxy.send(&parts, text).await;
        sent.unwrap_or_else(|why| plain(StatusCode::BAD_GATEWAY, format!("The server was not reached: {why}\n")))
    } else {
        plain(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large, or did not come to its end\n".to_owned())
    };
    let (head, body) = response.into_parts();
    let body = scribe.answer(&head, body);
    entry::Response::from_parts(head, body)
}

impl Proxy {
    async fn send(&self, head: &Parts, text: Bytes) -> Result<entry::Response, String> {
        let mut link = self.pool.take().await.map_err(|error| error.to_string())?;
        loop {
            let again = link.is_reused();
            let error = match link.sender().send_request(self.request(head, text.clone())).await {
                Ok(response) => return Ok(self.returned(response, link)),
                Err(error) => error,
            };
            if !(again && link.seen().is_empty()) {
                return Err(error.to_string());
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
        // A page of the proxy's own origin is to the other server one of its own.
        if headers.contains_key(ORIGIN) {
            headers.insert(ORIGIN, self.origin.clone());
        }
        *request.headers_mut() = headers;
        request
    }

    fn returned(&self, response: hyper::Response<Incoming>, link: Link) -> entry::Response {
        let (mut head, body) = response.into_parts();
        head.headers = passed_on(&head.headers);
        let passed = Passed { body, link: Some(link), pool: Arc::clone(&self.pool) };
        entry::Response::from_parts(head, Body::Passed(Box::new(passed)))
    }
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

fn plain(status: StatusCode, text: String) -> entry::Response {
    let mut response = entry::Response::new(Body::Whole(Some(text.into())));
    *response.status_mut() = status;
    response
}

/// A body as it comes from the other server, and the connection that it comes on.
pub(crate) struct Passed {
    body: Incoming,
    link: Option<Link>,
    pool: Arc<Pool>,
}

impl Passed {
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.release();
        }
        polled.map(|frame| frame.map(|frame| frame.map_err(io::Error::other)))
    }

    pub(super) fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }

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
