//! From an accepted socket to a byte stream, through TLS where the listener speaks it. Knows no request.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::options::Limits;
use super::shares::{Shares, share_of};
use crate::server::tls::{Certificate, ServerTls};

/// How a TLS connection begins: with a handshake record.
const HANDSHAKE: u8 = 22;
/// How much of a request without TLS is read before it is refused.
const REQUEST: usize = 16 << 10;
/// The refusal of a client that does not speak TLS.
const PLAIN: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\
    content-length: 43\r\n\r\nThis address speaks TLS: use https or wss.\n";

/// A client's connection, encrypted or not.
pub(super) enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// The handshakes under way.
pub(super) struct Handshakes {
    room: Semaphore,
    shares: Shares,
}

impl Handshakes {
    pub(super) fn new(limits: &Limits) -> Self {
        let most = limits.handshakes.min(Semaphore::MAX_PERMITS);
        Self { room: Semaphore::new(most), shares: Shares::new(share_of(most)) }
    }

    /// Completes a handshake within its time, and gives the certificate that the client showed. `None` where its address has
    /// no room for one more, or the client does not do its part.
    pub(super) async fn complete(
        &self,
        stream: TcpStream,
        tls: &ServerTls,
        limits: &Limits,
    ) -> Option<(Socket, Option<Arc<Certificate>>)> {
        let handshake = async {
            let mut first = [0];
            // A client that says nothing takes no place, and nothing is allocated for it.
            if stream.peek(&mut first).await.ok()? == 0 {
                return None;
            }
            let _share = self.shares.take(stream.peer_addr().ok().map(|address| address.ip()))?;
            let _room = self.room.acquire().await.ok()?;
            shake_hands(stream, first[0], tls).await
        };
        timeout(limits.handshake_time, handshake).await.ok()?
    }
}

/// `first`: the first byte, which is still to be read.
async fn shake_hands(mut stream: TcpStream, first: u8, tls: &ServerTls) -> Option<(Socket, Option<Arc<Certificate>>)> {
    if first != HANDSHAKE {
        refuse(&mut stream).await;
        return None;
    }
    let stream = match TlsAcceptor::from(tls.config()).accept(stream).await {
        Ok(stream) => stream,
        Err(error) => {
            tracing::debug!("a TLS handshake failed: {error}");
            return None;
        }
    };
    let certificate = match stream.get_ref().1.peer_certificates().and_then(<[_]>::first) {
        // A certificate that we cannot read names nobody.
        Some(certificate) => Some(Arc::new(Certificate::read(certificate)?)),
        None => None,
    };
    Some((Socket::Tls(Box::new(stream)), certificate))
}

/// Says what is wrong, after the request: a reset would overtake the answer to what is unread.
async fn refuse(stream: &mut TcpStream) {
    let mut request = Vec::new();
    while request.len() < REQUEST && !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read_buf(&mut request).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
    }
    let _ = stream.write_all(PLAIN).await;
    let _ = stream.shutdown().await;
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
