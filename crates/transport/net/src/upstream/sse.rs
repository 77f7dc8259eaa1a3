//! The old HTTP+SSE transport (2024-11-05 basic/transports#http-with-sse): an event stream whose first event names the
//! endpoint for POSTs. Responses come on the stream, never in the response to a POST.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method};
use tokio::task::AbortHandle;
use wire::http::EVENT_STREAM;

use super::http::{Failure, HttpUpstream, Lost, Response};
use super::{Output, Queue, QueueSender, WAITING, WAITING_BYTES, queue};
use crate::client::{HttpAddress, OpenError};

/// How much of a refusal is read.
const REFUSAL: usize = 16 << 10;

/// An open stream and the endpoint that it named. Dropped, the stream is closed: with it, the session ends.
#[derive(Debug)]
pub struct Sse {
    endpoint: Arc<HttpUpstream>,
    reader: AbortHandle,
}

impl Sse {
    /// Opens the stream at `address`, which `http` reaches. Messages come out of the receiver, which ends with the stream. One
    /// may have `limit` bytes.
    pub async fn open(
        http: &HttpUpstream,
        address: &HttpAddress,
        limit: usize,
    ) -> Result<(Self, Queue<Output>), OpenError> {
        let at = || address.url.to_string();
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(EVENT_STREAM))]);
        let opened = http.send(Method::GET, headers, Bytes::new()).await;
        let mut stream = opened.map_err(|failure| match failure {
            Failure::Forbidden(refusal) => OpenError::Forbidden { at: at(), refusal },
            Failure::NotSent(why) | Failure::Unknown(why) => OpenError::Reset { at: at(), why },
        })?;
        if !stream.status.is_success() || !stream.is_event_stream() {
            let status = stream.status.as_u16();
            let body = stream.whole(REFUSAL).await.unwrap_or_default();
            let snippet = String::from_utf8_lossy(&body).into_owned();
            return Err(if stream.status.is_success() {
                OpenError::NotMcp { at: at(), came: snippet }
            } else {
                OpenError::Http { at: at(), status, snippet }
            });
        }
        let target = endpoint(&mut stream, limit).await.and_then(|named| address.endpoint(&named));
        let target = target.map_err(|came| OpenError::NotMcp { at: at(), came })?;
        let endpoint = Arc::new(http.with_target(&target)?);
        let (sender, receiver) = queue(WAITING, WAITING_BYTES);
        let reader = tokio::spawn(read(stream, sender, limit)).abort_handle();
        Ok((Self { endpoint, reader }, receiver))
    }

    /// Posts one message. The server may answer on the stream before it answers the POST.
    pub fn post(&self, message: &[u8]) -> impl Future<Output = Result<Response, Failure>> + Send + use<> {
        let (endpoint, body) = (Arc::clone(&self.endpoint), Bytes::copy_from_slice(message));
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        async move { endpoint.send(Method::POST, headers, body).await }
    }

    /// Closes the stream.
    pub fn close(&self) {
        self.reader.abort();
    }
}

impl Drop for Sse {
    fn drop(&mut self) {
        self.close();
    }
}

/// The data of the `endpoint` event, which comes first.
async fn endpoint(stream: &mut Response, limit: usize) -> Result<String, String> {
    loop {
        match stream.next_event(limit).await {
            Ok(Some(block)) if block.event.as_deref() == Some("endpoint") => return Ok(block.data.unwrap_or_default()),
            // Comments and `retry` may precede it.
            Ok(Some(block)) if block.data.is_none() => {}
            Ok(Some(_)) => return Err("an event stream whose first event is not `endpoint`".to_owned()),
            Ok(None) | Err(_) => return Err("an event stream that ended without an `endpoint` event".to_owned()),
        }
    }
}

async fn read(mut stream: Response, messages: QueueSender<Output>, limit: usize) {
    loop {
        let output = match stream.next_event(limit).await {
            Ok(Some(block)) if !block.is_message() => continue,
            Ok(Some(block)) => match block.data.filter(|data| !data.is_empty()) {
                Some(data) => Output::Message(Bytes::from(data)),
                None => continue,
            },
            Err(Lost::TooLarge) => Output::TooLong,
            Ok(None) | Err(Lost::Broken) => return,
        };
        let (stop, bytes) = (output == Output::TooLong, output.bytes());
        if messages.send(output, bytes).await.is_err() || stop {
            return;
        }
    }
}
