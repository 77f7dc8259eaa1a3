//! WebSocket, server end: a custom transport that no revision defines. One connection is one conversation, one text frame
//! one message. Knows neither the handshake before nor what the messages say.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::header::HeaderValue;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
use wire::trace::{Closed, Content};
use wire::{Party, Transport};

use super::conversation::{Bounds, Conversation, Outgoing};
use super::http::{Grant, Layer, Limits};
use super::link::Closing;
use super::recorder::ConnectionRecorder;
use crate::service::Service;

/// How long the peer may take to answer a close frame.
const FAREWELL: Duration = Duration::from_millis(500);
/// How much of a refused peer's data is still read, so that it receives the close frame before the reset.
const LEFTOVERS: u64 = 8 << 20;

/// How a connection comes to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The peer closed it.
    Closed,
    /// The connection broke, or the peer is silent.
    Lost,
    /// The peer does not read.
    Slow,
    /// We close, with this code.
    Close(CloseCode, &'static str),
}

impl End {
    /// Who ended it, and how it is recorded.
    const fn told(self) -> (Party, Closed) {
        match self {
            Self::Lost => (Party::Client, Closed::Reset),
            Self::Slow => (Party::Server, Closed::Aborted),
            // Where the peer closed first, this is our answer.
            Self::Closed | Self::Close(..) => (Party::Server, Closed::End),
        }
    }
}

/// What text frames pass on their way: the layer and the recorder.
#[derive(Clone, Copy)]
pub(crate) struct Frames<'c> {
    /// The endpoint's layer, where it has one.
    pub(crate) layer: Option<&'c dyn Layer>,
    /// Records the frames, if anything does.
    pub(crate) connection: Option<&'c ConnectionRecorder>,
}

impl Frames<'_> {
    fn record(self, from: Party, content: impl FnOnce() -> Content) {
        if let Some(connection) = self.connection {
            connection.record(from, content());
        }
    }

    /// Gives a received text to the conversation.
    fn came(self, text: &[u8], conversation: &Conversation) {
        self.record(Party::Client, || Content::WebSocket { bytes: text.to_vec(), text: true });
        match self.layer {
            None => conversation.hear(text),
            Some(layer) => conversation.hear(&layer.text_in(text.to_vec())),
        }
    }

    /// The frame that carries a text. Recorded before it is sent: a response must not be recorded before its request.
    fn frame(self, text: Vec<u8>) -> Result<Message, Error> {
        self.record(Party::Server, || Content::WebSocket { bytes: text.clone(), text: true });
        Ok(Message::Text(Utf8Bytes::try_from(text)?))
    }
}

/// Serves one connection until it ends. `admitted`: whose token opened it, and what it grants, where a guard demands tokens.
pub(crate) async fn serve<S>(
    service: Arc<dyn Service>,
    (io, admitted): (S, (Option<HeaderValue>, Option<Arc<Grant>>)),
    limits: &Limits,
    closing: Closing,
    frames: Frames<'_>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    frames.record(Party::Client, || Content::Opened);
    let config = WebSocketConfig::default().max_message_size(Some(limits.body)).max_frame_size(Some(limits.body));
    let socket = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
    let (mut sink, mut stream) = socket.split();
    let conversation = Conversation::new(service, Transport::WebSocket, Bounds::of(limits)).of(admitted.0, admitted.1);
    let outgoing = conversation.outgoing();
    let ping = Notify::new();
    let reading = async {
        tokio::select! {
            end = listen(&mut stream, &conversation, &ping, limits, frames) => end,
            () = closing.wait() => {
                let _ = timeout(limits.grace / 2, conversation.finish()).await;
                End::Close(CloseCode::Away, "the server ends")
            }
        }
    };
    let end = tokio::select! {
        biased;
        end = speak(&mut sink, &outgoing, &ping, limits, frames) => end,
        () = outgoing.overrun() => End::Slow,
        end = reading => end,
    };
    tracing::debug!(?end, "a WebSocket ends");
    drop(conversation);
    if end == End::Closed {
        frames.record(Party::Client, || Content::Closed(Closed::End));
    }
    if !matches!(end, End::Lost | End::Slow)
        && let Ok(socket) = sink.reunite(stream)
    {
        let _ = timeout(FAREWELL, part(socket, &outgoing, end, frames)).await;
    }
    let (whose, how) = end.told();
    frames.record(whose, || Content::Closed(how));
}

/// Receives frames; pings a silent peer.
async fn listen<S>(
    stream: &mut SplitStream<WebSocketStream<S>>,
    conversation: &Conversation,
    ping: &Notify,
    limits: &Limits,
    frames: Frames<'_>,
) -> End
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let patience = limits.keep_alive.min(limits.idle);
    let mut spoken = Instant::now();
    let mut pinged = false;
    loop {
        match timeout(patience, stream.next()).await {
            Err(_) if pinged => return End::Lost,
            Err(_) => {
                pinged = true;
                ping.notify_one();
            }
            Ok(Some(Ok(Message::Text(text)))) => {
                (spoken, pinged) = (Instant::now(), false);
                frames.came(text.as_bytes(), conversation);
            }
            Ok(Some(Ok(Message::Binary(bytes)))) => {
                frames.record(Party::Client, || Content::WebSocket { bytes: bytes.to_vec(), text: false });
                return End::Close(CloseCode::Unsupported, "messages are text frames here");
            }
            Ok(Some(Ok(Message::Close(_)))) => return End::Closed,
            Ok(Some(Ok(_))) => pinged = false,
            Ok(None) => return End::Lost,
            Ok(Some(Err(error))) => return fault(&error),
        }
        if spoken.elapsed() >= limits.idle && conversation.is_at_rest() {
            return End::Close(CloseCode::Normal, "idle for too long");
        }
    }
}

/// How the connection ends after an invalid frame.
fn fault(error: &Error) -> End {
    match error {
        Error::Capacity(_) => End::Close(CloseCode::Size, "too long a message"),
        Error::Utf8(_) => End::Close(CloseCode::Invalid, "not UTF-8"),
        Error::Protocol(_) => End::Close(CloseCode::Protocol, "not the WebSocket protocol"),
        _ => End::Lost,
    }
}

type Sink<S> = SplitSink<WebSocketStream<S>, Message>;

/// Writes the messages of the conversation, and pings. Ends only where that fails.
async fn speak<S>(sink: &mut Sink<S>, outgoing: &Outgoing, ping: &Notify, limits: &Limits, frames: Frames<'_>) -> End
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        let written = tokio::select! {
            () = outgoing.filled() => timeout(limits.write_time, write(sink, outgoing, frames)).await,
            () = ping.notified() => timeout(limits.write_time, sink.send(Message::Ping(Vec::new().into()))).await,
        };
        match written {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return End::Lost,
            Err(_) => return End::Slow,
        }
    }
}

/// Writes everything that waits, a text frame each.
async fn write<W>(sink: &mut W, outgoing: &Outgoing, frames: Frames<'_>) -> Result<(), Error>
where
    W: futures_util::Sink<Message, Error = Error> + Unpin,
{
    let waiting = outgoing.take().map_err(|_| Error::ConnectionClosed)?;
    let texts = match frames.layer {
        None => waiting,
        Some(layer) => waiting.into_iter().flat_map(|text| layer.text_out(text)).collect(),
    };
    for text in texts {
        sink.feed(frames.frame(text)?).await?;
    }
    sink.flush().await
}

/// The closing handshake (RFC 6455, section 7.1).
async fn part<S>(mut socket: WebSocketStream<S>, outgoing: &Outgoing, end: End, frames: Frames<'_>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    if let End::Close(code, reason) = end {
        if code == CloseCode::Away {
            let _ = write(&mut socket, outgoing, frames).await;
        }
        let _ = socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await;
    }
    // Reading also writes our answer to the peer's close. What is no frame any more is read away as bytes.
    while let Some(Ok(_)) = socket.next().await {}
    if matches!(end, End::Close(CloseCode::Size | CloseCode::Invalid | CloseCode::Protocol, _)) {
        let _ = tokio::io::copy(&mut socket.get_mut().take(LEFTOVERS), &mut tokio::io::sink()).await;
    }
}
