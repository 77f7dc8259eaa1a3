//! HTTP/1.1 connections to one origin, kept while they are idle. Knows nothing of MCP.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::body::Pieces;
use super::dial::{Dialer, Io};
use super::error::OpenError;

/// An idle connection older than this is not reused: servers close theirs after 5 s or more, and a request must not meet
/// the close.
const IDLE: Duration = Duration::from_secs(2);
/// How many connections are kept, unless [`Pool::keeping`] says otherwise.
const KEPT: usize = 16;
/// How many received bytes are kept, to show them where they are not HTTP.
const SEEN: usize = 2 << 10;

pub(crate) struct Pool {
    dialer: Dialer,
    idle: Mutex<Vec<(Link, Instant)>>,
    kept: usize,
    /// Whether the first bytes of each response are kept.
    watches: bool,
}

/// One HTTP connection. Dropped, its socket is closed.
pub(crate) struct Link {
    sender: SendRequest<Pieces>,
    driver: AbortHandle,
    seen: Arc<Mutex<Vec<u8>>>,
    /// The socket, to see whether the peer has closed it.
    socket: Option<TcpStream>,
    /// It was idle before.
    reused: bool,
}

impl Pool {
    pub(crate) fn new(dialer: Dialer) -> Self {
        Self { dialer, idle: Mutex::default(), kept: KEPT, watches: true }
    }

    /// The same, which keeps at most `kept` idle connections.
    pub(crate) fn keeping(self, kept: usize) -> Self {
        Self { kept, ..self }
    }

    /// The same for a caller that never looks at [`Link::seen`]: nothing is copied for it.
    pub(crate) fn unwatched(self) -> Self {
        Self { watches: false, ..self }
    }

    pub(crate) fn dialer(&self) -> &Dialer {
        &self.dialer
    }

    /// A connection that is ready for a request: an idle one, or a new one.
    pub(crate) async fn take(&self) -> Result<Link, OpenError> {
        while let Some(mut link) = self.pop() {
            // Mostly it is ready at once: no timer is made for that.
            let ready = match link.sender.ready().now_or_never() {
                Some(ready) => Ok(ready),
                None => timeout(Duration::from_millis(50), link.sender.ready()).await,
            };
            if ready.is_ok_and(|ready| ready.is_ok()) && link.is_quiet() {
                return Ok(link);
            }
        }
        // On the heap: requests on kept connections need no room for it.
        Box::pin(self.fresh()).await
    }

    pub(crate) async fn fresh(&self) -> Result<Link, OpenError> {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (io, socket) = self.dialer.dial_socket().await?;
        let io: Box<dyn Io> = if self.watches { Box::new(Watched { io, seen: seen.clone() }) } else { io };
        let handshake = http1::Builder::new().handshake(TokioIo::new(io)).await;
        let (sender, connection) = handshake.map_err(|_| self.dialer.timed_out("connection"))?;
        let driver = tokio::spawn(async move {
            // An error here is reported to the task that waits for the response.
            let _ = connection.with_upgrades().await;
        });
        Ok(Link { sender, driver: driver.abort_handle(), seen, socket, reused: false })
    }

    /// Keeps a connection whose last response was read to its end.
    pub(crate) fn give_back(&self, mut link: Link) {
        link.reused = true;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < self.kept && !link.sender.is_closed() {
            idle.push((link, Instant::now()));
        }
    }

    pub(crate) fn clear(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn pop(&self) -> Option<Link> {
        let now = Instant::now();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // The oldest ones come first.
        let old = idle.iter().take_while(|(_, since)| now.saturating_duration_since(*since) >= IDLE).count();
        idle.drain(..old);
        while let Some((link, _)) = idle.pop() {
            if !link.sender.is_closed() {
                return Some(link);
            }
        }
        None
    }
}

impl Link {
    pub(crate) fn sender(&mut self) -> &mut SendRequest<Pieces> {
        // Bytes before the first request are kept: a peer of another protocol sends a greeting.
        if self.reused {
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        &mut self.sender
    }

    /// Sends a request. It may be sent again where none of it was written, or where it is safe and met the end of a connection
    /// that had been idle.
    pub(crate) async fn send(&mut self, request: Request<Pieces>) -> Result<Response<Incoming>, Unsent> {
        let repeatable = self.reused && request.method().is_safe();
        self.sender().try_send_request(request).await.map_err(|mut error| {
            let unwritten = error.take_message().is_some();
            let again = unwritten || (repeatable && self.seen().is_empty());
            Unsent { again, error: error.into_error() }
        })
    }

    /// Sends a request. It is given back where none of it was written: only then may it be sent again.
    pub(crate) async fn send_once(
        &mut self,
        request: Request<Pieces>,
    ) -> Result<Response<Incoming>, (Option<Request<Pieces>>, hyper::Error)> {
        let sent = self.sender.try_send_request(request).await;
        sent.map_err(|mut error| (error.take_message(), error.into_error()))
    }

    /// Whether it was idle, so that the peer may have closed it unnoticed.
    pub(crate) const fn is_reused(&self) -> bool {
        self.reused
    }

    /// Whether nothing came while it was idle, not even its end: what is written next has a reader.
    fn is_quiet(&self) -> bool {
        let waits =
            |socket: &TcpStream| socket.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        self.socket.as_ref().is_none_or(waits)
    }

    /// The first bytes received since the last request was sent.
    pub(crate) fn seen(&self) -> Vec<u8> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// A request without a response.
pub(crate) struct Unsent {
    /// Whether it may be sent again.
    pub(crate) again: bool,
    pub(crate) error: hyper::Error,
}

/// A stream that keeps the first bytes that are read.
struct Watched {
    io: Box<dyn Io>,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.io).poll_read(cx, buf);
        let came = &buf.filled()[before..];
        if !came.is_empty() {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let room = SEEN.saturating_sub(seen.len()).min(came.len());
            seen.extend_from_slice(&came[..room]);
        }
        polled
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
