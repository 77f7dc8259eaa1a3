//! One message per text frame over a WebSocket: a custom transport that no revision defines.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::http::Failure;
use super::{Output, Queue, QueueSender, WAITING, WAITING_BYTES, queue};
use crate::client::{HttpAddress, OpenError, Socket, open_socket};

/// How long a write may take: a server that does not read is stuck.
const WRITE: Duration = Duration::from_secs(30);

/// An open WebSocket. Dropped, it is closed.
pub struct WebSocket {
    sink: Mutex<Option<SplitSink<Socket, Message>>>,
    reader: AbortHandle,
}

impl fmt::Debug for WebSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSocket").finish_non_exhaustive()
    }
}

impl WebSocket {
    /// Opens a socket at `address`; `connect` bounds the connection and the handshake. Messages come out of the receiver, which
    /// ends with the socket. One may have `limit` bytes.
    pub async fn open(
        address: &HttpAddress,
        connect: Duration,
        limit: usize,
    ) -> Result<(Self, Queue<Output>), OpenError> {
        let (sink, stream) = open_socket(address, connect, limit).await?.split();
        let (sender, receiver) = queue(WAITING, WAITING_BYTES);
        let reader = tokio::spawn(read(stream, sender)).abort_handle();
        Ok((Self { sink: Mutex::new(Some(sink)), reader }, receiver))
    }

    /// Sends one message as a text frame.
    pub async fn send(&self, message: &str) -> Result<(), Failure> {
        let mut guard = self.sink.lock().await;
        let sink = guard.as_mut().ok_or_else(|| Failure::NotSent("the WebSocket is closed".to_owned()))?;
        let failure = match timeout(WRITE, sink.send(Message::text(message))).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(Error::ConnectionClosed | Error::AlreadyClosed)) => {
                Failure::NotSent("the WebSocket is closed".to_owned())
            }
            Ok(Err(error)) => Failure::Unknown(format!("the WebSocket broke: {error}")),
            Err(_) => Failure::Unknown("the server does not read".to_owned()),
        };
        *guard = None;
        Err(failure)
    }

    /// Says goodbye and closes it.
    pub async fn close(&self, grace: Duration) {
        if let Ok(mut sink) = timeout(grace, self.sink.lock()).await
            && let Some(mut open) = sink.take()
        {
            let _ = timeout(grace, open.send(Message::Close(None))).await;
        }
        self.reader.abort();
    }
}

impl Drop for WebSocket {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

async fn read(mut stream: SplitStream<Socket>, messages: QueueSender<Output>) {
    loop {
        let output = match stream.next().await {
            Some(Ok(Message::Text(text))) => Output::Message(Bytes::copy_from_slice(text.as_bytes())),
            Some(Ok(Message::Binary(bytes))) => Output::Message(bytes),
            None | Some(Ok(Message::Close(_))) => return,
            Some(Ok(_)) => continue,
            Some(Err(Error::Capacity(_))) => Output::TooLong,
            Some(Err(_)) => return,
        };
        let (stop, bytes) = (output == Output::TooLong, output.bytes());
        if messages.send(output, bytes).await.is_err() || stop {
            return;
        }
    }
}
