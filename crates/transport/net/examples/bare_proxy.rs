//! The least that a reverse proxy on these libraries can do: heads and bodies pass unread, connections are kept. It is the
//! limit that `cargo xtask bench gateway` compares the gateway with. Knows nothing of MCP.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

type Sender = SendRequest<Incoming>;

/// Connections to the one server behind it.
struct Pool {
    upstream: SocketAddr,
    idle: Mutex<Vec<Sender>>,
}

impl Pool {
    async fn take(&self) -> Result<Sender, Box<dyn std::error::Error + Send + Sync>> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(mut sender) = idle
            && sender.ready().await.is_ok()
        {
            return Ok(sender);
        }
        let stream = TcpStream::connect(self.upstream).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(sender)
    }
}

/// A response's body; its connection is kept once it has ended.
struct Passed {
    body: Option<Incoming>,
    sender: Option<Sender>,
    pool: Arc<Pool>,
}

impl Body for Passed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = std::task::ready!(Pin::new(&mut *body).poll_frame(context));
        if frame.is_none() || body.is_end_stream() {
            let pool = Arc::clone(&self.pool);
            pool.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(self.sender.take());
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

async fn pass(pool: Arc<Pool>, request: Request<Incoming>) -> Result<Response<Passed>, Infallible> {
    let sent = async {
        let mut sender = pool.take().await?;
        let response = sender.send_request(request).await?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>((sender, response))
    };
    if let Ok((sender, response)) = sent.await {
        return Ok(response.map(|body| Passed { body: Some(body), sender: Some(sender), pool }));
    }
    let mut response = Response::new(Passed { body: None, sender: None, pool });
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    Ok(response)
}

#[tokio::main]
#[expect(clippy::print_stderr, reason = "it says where it listens")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let upstream = std::env::args().nth(1).ok_or("usage: bare_proxy ADDRESS")?.parse()?;
    let pool = Arc::new(Pool { upstream, idle: Mutex::default() });
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("http://{}/mcp", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let pool = Arc::clone(&pool);
        tokio::spawn(async move {
            let service = service_fn(|request| pass(Arc::clone(&pool), request));
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
