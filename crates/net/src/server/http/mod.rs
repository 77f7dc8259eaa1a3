//! The Streamable HTTP transport, server end: one endpoint, both eras. This file listens and keeps connections; what a
//! request means is decided in `entry` and below.

mod accept;
mod body;
mod entry;
mod events;
mod legacy;
mod modern;
mod outbox;
mod sessions;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;

use self::sessions::Sessions;
use super::link::Closing;
use super::manners::Manners;
use crate::service::Service;

/// How the endpoint behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// The path of the endpoint.
    pub path: String,
    /// Host names beside the loopback ones that a request may name in `Host` and `Origin`.
    pub hosts: Vec<String>,
    /// Refuse a legacy request of a session at 2025-06-18 or later that lacks `MCP-Protocol-Version`.
    pub strict: bool,
    /// Misbehaviour on purpose.
    pub manners: Option<Arc<dyn Manners>>,
    /// Bounds.
    pub limits: Limits,
}

/// Bounds of the endpoint.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The largest body taken, in bytes.
    pub body: usize,
    /// How long a body may take to come.
    pub body_time: Duration,
    /// How long the head of a request may take, and how long a connection may be idle.
    pub head_time: Duration,
    /// The most bytes of a head.
    pub head: usize,
    /// The most header fields.
    pub headers: usize,
    /// The most connections at once.
    pub connections: usize,
    /// The most sessions at once.
    pub sessions: usize,
    /// After how long without a request or an open stream a session ends.
    pub idle: Duration,
    /// The most requests of one session being answered at once.
    pub flights: usize,
    /// How many events one stream keeps for a client that reads slowly or comes back.
    pub events: usize,
    /// How many bytes of events one stream keeps.
    pub event_bytes: usize,
    /// How many ended streams one session keeps for a client that comes back.
    pub streams: usize,
    /// After how long of silence a stream carries a comment.
    pub keep_alive: Duration,
    /// What `retry` tells a client that lost its connection.
    pub retry: Duration,
    /// How long answers in flight are waited for at shutdown.
    pub grace: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { path: "/mcp".to_owned(), hosts: Vec::new(), strict: false, manners: None, limits: Limits::default() }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 4 << 20,
            body_time: Duration::from_secs(30),
            head_time: Duration::from_mins(1),
            head: 64 << 10,
            headers: 100,
            connections: 16_384,
            sessions: 16_384,
            idle: Duration::from_mins(30),
            flights: 256,
            events: 1024,
            event_bytes: 8 << 20,
            streams: 8,
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_millis(500),
            grace: Duration::from_secs(2),
        }
    }
}

/// What every request of one endpoint shares.
pub(crate) struct Shared {
    service: Arc<dyn Service>,
    options: Options,
    sessions: Sessions,
    closing: Closing,
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    ending: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Server {
    /// Where it listens.
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Stops listening, lets long-lived requests answer, and waits a bounded time for what is in flight.
    pub async fn shutdown(self) {
        let _ = self.ending.send(true);
        let _ = self.task.await;
    }

    /// Waits for the server to end of itself, which it does only where the listener breaks.
    pub async fn wait(self) {
        let _ = self.task.await;
    }
}

/// Listens on `address` and serves until [`Server::shutdown`], or until the [`Server`] is dropped.
pub async fn listen(service: Arc<dyn Service>, address: SocketAddr, options: Options) -> io::Result<Server> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let (ending, closing) = Closing::new();
    let sessions = Sessions::new(options.limits.clone());
    let shared = Arc::new(Shared { service, options, sessions, closing });
    let task = tokio::spawn(accept_all(listener, shared));
    Ok(Server { address, ending, task })
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
                // Out of descriptors, most likely: waiting is all that helps.
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            },
            _ = sweep.tick() => shared.sessions.sweep(),
            () = shared.closing.wait() => break,
        }
    }
    drop(listener);
    shared.sessions.hang_up();
    let everyone = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(limits.grace, places.acquire_many(everyone)).await;
    shared.sessions.end_all();
}

async fn accept_one(listener: &TcpListener, places: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    let (stream, _) = listener.accept().await.ok()?;
    Some((stream, place))
}

async fn serve_connection(stream: TcpStream, shared: Arc<Shared>, _place: OwnedSemaphorePermit) {
    let _ = stream.set_nodelay(true);
    let limits = &shared.options.limits;
    let service = service_fn(|request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, std::convert::Infallible>(entry::respond(&shared, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(limits.head.max(8 << 10))
        .max_headers(limits.headers)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let closing = shared.closing.clone();
    tokio::select! {
        _ = &mut connection => {}
        () = closing.wait() => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(limits.grace, connection).await;
        }
    }
}
