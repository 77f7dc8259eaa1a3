//! The old HTTP+SSE transport (2024-11-05 basic/transports#http-with-sse): a stream whose first event names the endpoint for
//! POSTs. Everything after the opening is [`Http`]'s.

use std::sync::Arc;

use wire::trace::Closed;

use super::HttpAddress;
use super::channel::Channel;
use super::error::{OpenError, SendError};
use super::exchange::Exchange;
use super::http::Http;
use super::outgoing::Outgoing;

/// Opens the stream and waits for its endpoint.
pub(crate) async fn open(address: &HttpAddress, channel: Arc<Channel>) -> Result<Arc<Http>, OpenError> {
    let http = Http::open(address, channel).await?;
    let result = endpoint(&http).await;
    if result.is_err() {
        http.kill().await;
    }
    result.map(|()| http)
}

async fn endpoint(http: &Arc<Http>) -> Result<(), OpenError> {
    let at = http.address.url.to_string();
    let patience = http.channel.limits.request;
    let stream = http.start(&Outgoing::bare("GET")).await.map_err(|error| match error {
        SendError::Open(error) => error,
        other => OpenError::BadAddress { at: at.clone(), why: other.to_string() },
    })?;
    let Some((status, _)) = stream.head(patience).await else { return Err(stream.failure(at, patience, "answer")) };
    if !stream.is_stream() || status != 200 {
        stream.finished(patience).await;
        let snippet = String::from_utf8_lossy(&stream.body().unwrap_or_default()).into_owned();
        return Err(match status {
            200 => OpenError::NotMcp { at, came: snippet },
            _ => OpenError::Http { at, status, snippet },
        });
    }
    let named = stream.event(|block| block.event.as_deref() == Some("endpoint"), patience).await;
    let Some(data) = named.and_then(|block| block.data) else { return Err(missing_endpoint(&stream, at, patience)) };
    let target = http.address.endpoint(&data).map_err(|why| OpenError::NotMcp { at, came: why })?;
    http.set_endpoint(target, &stream);
    Ok(())
}

fn missing_endpoint(stream: &Exchange, at: String, patience: std::time::Duration) -> OpenError {
    match stream.closed() {
        Some(Closed::End) => {
            OpenError::NotMcp { at, came: "an event stream that ended without an `endpoint` event".to_owned() }
        }
        _ => stream.failure(at, patience, "`endpoint` event"),
    }
}
