//! The HTTP transports, server end, on one listener: Streamable HTTP in both eras and, as options, the old HTTP+SSE and
//! WebSocket. This file listens and keeps connections; `entry` and the modules below it handle requests.

mod accept;
mod bearer;
mod buffered_body;
mod endpoints;
mod entry;
mod events;
mod guard;
mod kept;
mod layer;
mod legacy;
mod modern;
mod old_sse;
mod options;
mod outbox;
mod parser;
mod proxy;
mod request_body;
mod response;
mod response_body;
mod routing;
mod secure;
mod sessions;
mod shares;
mod upgrade;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;
use tokio_io_timeout::TimeoutStream;

pub use bytes::Bytes;
pub use hyper::body::{Body as HttpBody, Frame, SizeHint};
pub use hyper::http::request::Parts;
pub use hyper::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};

pub use self::bearer::Bearer;
pub use self::buffered_body::BufferedBody;
pub use self::endpoints::Endpoints;
pub use self::guard::{Denied, Grant, Guard, GuardRequest, GuardResponse, Head, HttpFuture, PresentedToken, SUBJECT};
pub use self::layer::{Layer, Next, Request};
use self::old_sse::SseSessions;
pub use self::options::{Document, Limits, MESSAGES_PATH, Options, OtherTransports, SSE_PATH, WEBSOCKET_PATH};
pub use self::proxy::{Allowed, ProxyError, proxy};
pub use self::response::Response;
pub use self::response_body::Body;
pub use self::routing::{Routed, Router};
use self::secure::{Handshakes, Socket};
use self::sessions::Sessions;
use self::shares::{Share, Shares, share_of};
use super::link::Closing;
use super::tls::Certificate;
use crate::service::Service;

/// The state that all requests share.
pub(crate) struct Shared {
    service: Arc<dyn Service>,
    options: Options,
    sessions: Sessions,
    sse_sessions: SseSessions,
    /// Permits for sessions that are their connection: HTTP+SSE and WebSocket.
    room: Arc<Semaphore>,
    shares: Shares,
    handshakes: Handshakes,
    closing: Closing,
    /// Further endpoints of the same listener, which have states of their own.
    endpoints: Endpoints,
}

impl Shared {
    fn new(service: Arc<dyn Service>, options: Options, closing: Closing) -> Self {
        let sessions = Sessions::new(options.limits.clone(), options.router.clone());
        let shares = Shares::new(share_of(options.limits.connections));
        let handshakes = Handshakes::new(&options.limits);
        let room = Arc::new(Semaphore::new(options.limits.sessions.min(Semaphore::MAX_PERMITS)));
        let endpoints = Endpoints::new(closing.clone());
        let sse_sessions = SseSessions::default();
        Self { service, options, sessions, sse_sessions, room, shares, handshakes, closing, endpoints }
    }
}

/// The connection a request came on.
#[derive(Clone)]
struct Peer {
    /// Its permit among the connections, held for as long as anything serves it.
    place: Arc<(OwnedSemaphorePermit, Share)>,
    /// Notified to drop the connection at once: hyper, stuck in a write to a peer that does not read, would not notice that
    /// its body has ended.
    cut: Arc<Notify>,
    /// The address that it came to, and the one that it came from; none without a socket.
    local: Option<IpAddr>,
    remote: Option<IpAddr>,
    /// The certificate that the client showed, verified when the connection began.
    certificate: Option<Arc<Certificate>>,
    /// Another server sent the request here.
    is_routed: bool,
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    endpoints: Endpoints,
    ending: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Server {
    /// Where it listens.
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Further endpoints at the same address. None are there before they are set.
    pub fn endpoints(&self) -> Endpoints {
        self.endpoints.clone()
    }

    /// Stops listening, lets long-lived requests answer, and waits a bounded time for the others.
    pub async fn shutdown(self) {
        let _ = self.ending.send(true);
        let _ = self.task.await;
    }

    /// Waits for the server to end by itself, which it does only where the listener fails.
    pub async fn wait(self) {
        let _ = self.task.await;
    }
}

/// An endpoint without a listener, which serves the byte streams that it is given. Idle sessions are not ended.
pub struct Endpoint {
    shared: Arc<Shared>,
    /// While it is held, the endpoint is not ending.
    _ending: watch::Sender<bool>,
}

impl Endpoint {
    /// An endpoint that answers with `service`.
    pub fn new(service: Arc<dyn Service>, options: Options) -> Self {
        let (ending, shared) = share(service, options);
        Self { shared, _ending: ending }
    }

    /// Serves one connection until either side ends it.
    pub async fn serve(&self, stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        if let Ok(place) = Arc::new(Semaphore::new(1)).try_acquire_owned() {
            let Some(share) = self.shared.shares.take(None) else { return };
            let peer = Peer {
                place: Arc::new((place, share)),
                cut: Arc::default(),
                local: None,
                remote: None,
                certificate: None,
                is_routed: false,
            };
            serve_stream(stream, Arc::clone(&self.shared), peer).await;
        }
    }
}

fn share(service: Arc<dyn Service>, options: Options) -> (watch::Sender<bool>, Arc<Shared>) {
    let (ending, closing) = Closing::new();
    (ending, Arc::new(Shared::new(service, options, closing)))
}

/// Listens on `address` and serves until [`Server::shutdown`], or until the [`Server`] is dropped.
pub async fn listen(service: Arc<dyn Service>, address: SocketAddr, options: Options) -> io::Result<Server> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    if let Some(guard) = &options.guard {
        guard.listening(address);
    }
    Ok(start(listener, address, service, options))
}

/// Serves in the background. No `async fn`: the code of the server is compiled once, in this crate, and not in each crate
/// that awaits [`listen`].
fn start(listener: TcpListener, address: SocketAddr, service: Arc<dyn Service>, options: Options) -> Server {
    let (ending, shared) = share(service, options);
    let endpoints = shared.endpoints.clone();
    let task = tokio::spawn(accept_all(listener, shared));
    Server { address, endpoints, ending, task }
}

async fn accept_all(listener: TcpListener, shared: Arc<Shared>) {
    let limits = shared.options.limits.clone();
    let places = Arc::new(Semaphore::new(limits.connections));
    let mut sweep = tokio::time::interval((limits.idle / 4).max(Duration::from_millis(20)));
    loop {
        tokio::select! {
            place = accept_one(&listener, &places) => match place {
                Some((stream, place)) => {
                    tokio::spawn(serve_connection(stream, Arc::clone(&shared), place));
                }
                // Probably out of descriptors: only waiting helps.
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            },
            _ = sweep.tick() => {
                shared.sessions.sweep();
                shared.endpoints.each(|endpoint| endpoint.sessions.sweep());
            }
            () = shared.closing.wait() => break,
        }
    }
    drop(listener);
    shared.sessions.hang_up();
    shared.endpoints.each(|endpoint| endpoint.sessions.hang_up());
    let everyone = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(limits.grace, places.acquire_many(everyone)).await;
    shared.sessions.end_all();
    shared.endpoints.each(|endpoint| endpoint.sessions.end_all());
}

async fn accept_one(listener: &TcpListener, places: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    let (stream, _) = listener.accept().await.ok()?;
    Some((stream, place))
}

async fn serve_connection(stream: TcpStream, shared: Arc<Shared>, place: OwnedSemaphorePermit) {
    let _ = stream.set_nodelay(true);
    let local = stream.local_addr().ok().map(|address| address.ip());
    let remote = stream.peer_addr().ok().map(|address| address.ip());
    // A peer that has its share is dropped before it is heard.
    let Some(share) = shared.shares.take(remote) else { return };
    let (stream, certificate) = match &shared.options.tls {
        None => (Socket::Plain(stream), None),
        Some(tls) => {
            let done = tokio::select! {
                done = shared.handshakes.complete(stream, tls, &shared.options.limits) => done,
                () = shared.closing.wait() => None,
            };
            let Some(done) = done else { return };
            done
        }
    };
    let place = Arc::new((place, share));
    let peer = Peer { place, cut: Arc::default(), local, remote, certificate, is_routed: false };
    serve_stream(stream, shared, peer).await;
}

async fn serve_stream(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, shared: Arc<Shared>, peer: Peer) {
    let limits = &shared.options.limits;
    let _socket = shared.options.recorder.as_ref().map(|recorder| recorder.socket());
    let service = service_fn(|request| {
        let (shared, peer) = (Arc::clone(&shared), peer.clone());
        async move { Ok::<_, std::convert::Infallible>(entry::respond(&shared, &peer, request).await) }
    });
    // A peer that does not read is dropped: the queue for it is bounded in size, but not in time.
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.write_time));
    let connection = parser::protocol(limits).serve_connection(TokioIo::new(Box::pin(stream)), service).with_upgrades();
    tokio::pin!(connection);
    let closing = shared.closing.clone();
    tokio::select! {
        biased;
        _ = &mut connection => {}
        () = peer.cut.notified() => {}
        () = closing.wait() => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(limits.grace, connection).await;
        }
    }
}
