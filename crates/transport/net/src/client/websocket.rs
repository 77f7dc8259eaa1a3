//! One message per text frame over a WebSocket: a custom transport that no revision defines. Knows nothing of messages.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::header::{HeaderName, HeaderValue};
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::{ProtocolError, SubProtocolError};
use tokio_tungstenite::tungstenite::handshake::client::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use wire::Party;
use wire::trace::{Closed, Content, Limit};

use super::HttpAddress;
use super::channel::Channel;
use super::dial::{Dialer, Io};
use super::error::{OpenError, SendError};
use super::http::header_list;
use crate::tap::Written;

pub(crate) type Socket = WebSocketStream<Box<dyn Io>>;

/// How long the peer may take to answer a close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

pub(crate) struct WebSocket {
    channel: Arc<Channel>,
    sink: Mutex<Option<SplitSink<Socket, Message>>>,
    reader: AbortHandle,
}

impl WebSocket {
    pub(crate) async fn open(address: &HttpAddress, channel: Arc<Channel>) -> Result<Self, OpenError> {
        let socket = match handshake(address, &channel, true).await {
            // A server without subprotocols does not confirm ours: retry without one.
            Err(Failure::NoSubprotocol) => handshake(address, &channel, false).await,
            other => other,
        };
        let socket = socket.map_err(|failure| {
            channel.closed(Party::Client, 0, Closed::Failed);
            failure.into_open_error(address)
        })?;
        channel.write(Party::Client, 0, Content::Opened, Written::NONE);
        let (sink, stream) = socket.split();
        let reader = tokio::spawn(read(stream, channel.clone())).abort_handle();
        Ok(Self { channel, sink: Mutex::new(Some(sink)), reader })
    }

    /// Sends a text frame, or a binary one for bytes that are not UTF-8.
    pub(crate) async fn send(&self, bytes: &[u8]) -> Result<(), SendError> {
        let mut sink = self.sink.lock().await;
        let open = sink.as_mut().ok_or(SendError::Closed)?;
        self.channel.note_sent(bytes);
        let text = std::str::from_utf8(bytes).ok();
        let content = Content::WebSocket { bytes: bytes.to_vec(), text: text.is_some() };
        let frame = self.channel.write(Party::Client, 0, content, Written::NONE);
        let message = text.map_or_else(|| Message::binary(bytes.to_vec()), Message::text);
        let patience = self.channel.limits.request;
        let result = match timeout(patience, open.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(SendError::Closed),
            Err(_) => Err(SendError::Timeout { after: patience }),
        };
        if result.is_ok() {
            self.channel.tap.complete(frame);
        } else {
            *sink = None;
        }
        result
    }

    pub(crate) async fn close(&self) {
        if let Ok(mut sink) = timeout(CLOSE_TIMEOUT, self.sink.lock()).await
            && let Some(mut open) = sink.take()
        {
            self.channel.stop();
            self.channel.closed(Party::Client, 0, Closed::End);
            let _ = timeout(CLOSE_TIMEOUT, open.send(Message::Close(None))).await;
            let ended = async { self.channel.inbox.wait(|_| false, CLOSE_TIMEOUT).await };
            ended.await;
        }
        self.reader.abort();
        self.channel.inbox.end();
    }

    pub(crate) fn kill(&self) {
        self.channel.stop();
        self.reader.abort();
        if let Ok(mut sink) = self.sink.try_lock()
            && sink.take().is_some()
        {
            self.channel.closed(Party::Client, 0, Closed::Aborted);
        }
        self.channel.inbox.end();
    }
}

impl Drop for WebSocket {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

async fn read(mut stream: SplitStream<Socket>, channel: Arc<Channel>) {
    let how = loop {
        let (bytes, text) = match stream.next().await {
            Some(Ok(Message::Text(text))) => (text.as_bytes().to_vec(), true),
            Some(Ok(Message::Binary(bytes))) => (bytes.to_vec(), false),
            None | Some(Ok(Message::Close(_)) | Err(Error::ConnectionClosed)) => break Closed::End,
            Some(Ok(_)) => continue,
            Some(Err(Error::Capacity(_))) => {
                channel.limit(Limit::Message);
                break Closed::Aborted;
            }
            Some(Err(_)) => break Closed::Reset,
        };
        channel.write(Party::Server, 0, Content::WebSocket { bytes: bytes.clone(), text }, Written::NONE);
        // An invalid message is in the trace; only messages count here.
        if !channel.take_in(&bytes, |_| {}).unwrap_or(true) {
            channel.limit(Limit::Connection);
            break Closed::Aborted;
        }
    };
    let party = if how == Closed::Aborted { Party::Client } else { Party::Server };
    channel.closed(party, 0, how);
    channel.inbox.end();
}

/// Why no WebSocket could be opened.
enum Failure {
    Open(OpenError),
    Timeout(Duration),
    NoSubprotocol,
    Other(Error),
}

impl Failure {
    fn into_open_error(self, address: &HttpAddress) -> OpenError {
        let at = address.url.to_string();
        match self {
            Self::Open(error) => error,
            Self::Timeout(after) => OpenError::Timeout { at, waited_for: "WebSocket handshake", after },
            Self::NoSubprotocol => {
                OpenError::NotMcp { at, came: "a WebSocket without the subprotocol `mcp`".to_owned() }
            }
            Self::Other(Error::Http(response)) => OpenError::Http {
                at,
                status: response.status().as_u16(),
                snippet: String::from_utf8_lossy(response.body().as_deref().unwrap_or_default()).into_owned(),
            },
            Self::Other(Error::Io(error)) => OpenError::Reset { at, why: error.to_string() },
            Self::Other(other) => OpenError::NotMcp { at, came: format!("no WebSocket handshake: {other}") },
        }
    }
}

async fn handshake(address: &HttpAddress, channel: &Channel, subprotocol: bool) -> Result<Socket, Failure> {
    let request = request(address, subprotocol)?;
    let io = dial(address, channel.limits.connect).await?;
    let head = Content::Request {
        method: request.method().to_string(),
        target: request.uri().path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
        headers: header_list(request.headers()),
    };
    let cause = channel.write(Party::Client, 0, head, Written::NONE);
    let (socket, response) = upgrade(request, io, channel.limits.request, channel.limits.message_bytes).await?;
    let head = Content::Response { status: response.status().as_u16(), headers: header_list(response.headers()) };
    channel.write(Party::Server, 0, head, cause);
    Ok(socket)
}

/// Opens a socket without a trace. `patience` bounds the connection and each handshake, `limit` a message.
pub(crate) async fn open_socket(address: &HttpAddress, patience: Duration, limit: usize) -> Result<Socket, OpenError> {
    let shake = async |subprotocol| {
        let request = request(address, subprotocol)?;
        Ok(upgrade(request, dial(address, patience).await?, patience, limit).await?.0)
    };
    let opened = match shake(true).await {
        Err(Failure::NoSubprotocol) => shake(false).await,
        other => other,
    };
    opened.map_err(|failure| failure.into_open_error(address))
}

async fn dial(address: &HttpAddress, patience: Duration) -> Result<Box<dyn Io>, Failure> {
    let dialer = Dialer::new(address, patience).map_err(Failure::Open)?;
    dialer.dial().await.map_err(Failure::Open)
}

async fn upgrade(
    request: Request,
    io: Box<dyn Io>,
    patience: Duration,
    limit: usize,
) -> Result<(Socket, Response), Failure> {
    let config = WebSocketConfig::default().max_message_size(Some(limit)).max_frame_size(Some(limit));
    let upgraded = tokio_tungstenite::client_async_with_config(request, io, Some(config));
    match timeout(patience, upgraded).await {
        Err(_) => Err(Failure::Timeout(patience)),
        Ok(Err(Error::Protocol(ProtocolError::SecWebSocketSubProtocolError(SubProtocolError::NoSubProtocol)))) => {
            Err(Failure::NoSubprotocol)
        }
        Ok(Err(error)) => Err(Failure::Other(error)),
        Ok(Ok(upgraded)) => Ok(upgraded),
    }
}

fn request(address: &HttpAddress, subprotocol: bool) -> Result<Request, Failure> {
    let bad = |why: String| Failure::Open(OpenError::BadAddress { at: address.url.to_string(), why });
    let mut url = address.url.clone();
    let scheme = if matches!(url.scheme(), "https" | "wss") { "wss" } else { "ws" };
    url.set_scheme(scheme).map_err(|()| bad("not a WebSocket URL".to_owned()))?;
    let mut request = url.as_str().into_client_request().map_err(|e| bad(e.to_string()))?;
    if subprotocol {
        request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("mcp"));
    }
    for (name, value) in &address.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| bad(e.to_string()))?;
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|e| bad(e.to_string()))?;
        request.headers_mut().insert(name, value);
    }
    Ok(request)
}
